# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""State of a tree with a floating base, body 0, for the functions of this folder (book 9.3).

There is no joint between the base and the world. The velocity v_0, gravity and external forces are
in floating-base coordinates; nothing depends on the pose of the base.
"""

from __future__ import annotations

from typing import Any, Dict, Mapping, NamedTuple, Optional, Sequence

from rbd_ros.algorithms.inertia_matrix.factorization import LTDL, ltdl
from rbd_ros.algorithms.inertia_matrix.singularity import (
    require_open_chains,
    require_regular_mass_matrix,
)
from rbd_ros.algorithms.inverse_dynamics.forces import gravity_acceleration
from rbd_ros.algorithms.momentum.centroidal import rows_of
from rbd_ros.model import Model, ModelError
from rbd_ros.model.floating_model import not_floating, with_fixed_base
from rbd_ros.spatial import (
    ArticulatedBodyInertia,
    ForceVector,
    MotionVector,
    RigidBodyInertia,
)
from rbd_ros.spatial.scalar import Scalar

Scalars = Sequence[Scalar]
Forces = Mapping[int, ForceVector]


class FloatingBase(NamedTuple):
    """A tree on a floating base, and its state without the pose of the base.

    :param tree: the tree; its body 0 is the base, and its coordinates are those of the joints
    :param inertia: inertia I_0 of the base, in its coordinates
    :param v0: spatial velocity of the base, in its coordinates
    :param a_g: acceleration of gravity, in coordinates of the base
    :param q: configuration of all joints of the tree, (tree.tree_nq,) [rad, m]
    :param qd: their velocity, (tree.tree_nv,) [rad/s, m/s]
    :param forces: external force on each body in coordinates of the base, by number; 0 is the base
    """

    tree: Model
    inertia: RigidBodyInertia
    v0: MotionVector
    a_g: MotionVector
    q: Scalars
    qd: Scalars
    forces: Forces

    @property
    def force_on_base(self) -> ForceVector:
        """External force on the base itself, in its coordinates."""
        return self.forces.get(0, ForceVector.zero())


def floating_base(
    model: Model,
    q: Scalars,
    qd: Scalars,
    external_forces: Optional[Forces] = None,
) -> FloatingBase:
    """Remove the joint of six degrees of freedom of a model's floating base (book 9.3).

    :param model: model whose body 1 moves freely and carries all others
    :param q: independent configuration, (nq,), that of the base first [rad, m]
    :param qd: independent velocity, (nv,), that of the base first [rad/s, m/s]
    :param external_forces: force on each body in coordinates of the world, by number in `model`
    :raises ModelError: if the model has no floating base
    """
    base, tree = model.body(1), with_fixed_base(model)
    X = base.joint.transform(q[base.q]) * base.tree_transform
    # Forces on links fixed to the world have no effect.
    forces = {i - 1: X.apply(f) for i, f in (external_forces or {}).items() if i > 0}
    return FloatingBase(
        tree,
        base.inertia,
        MotionVector.from_array(qd[base.v]),
        X * gravity_acceleration(model),
        tree.tree_position(q[base.joint.nq :]),
        tree.tree_velocity(qd[base.joint.nv :]),
        forces,
    )


def require_floating_base(
    model: Model, runtime_bodies: Sequence[int], chosen: Mapping[str, Any]
) -> None:
    """Check that a model is a tree on a floating base.

    :param runtime_bodies: bodies that get inertia at run time
    :param chosen: compile-time choices
    :raises ModelError: if it is not
    """
    require_open_chains(model, runtime_bodies, chosen)
    problem = not_floating(model)
    if problem:
        raise ModelError(problem)


def require_floating_mass(
    model: Model, runtime_bodies: Sequence[int], chosen: Mapping[str, Any]
) -> None:
    """Check that a model is a tree on a floating base whose motion is determined by forces.

    :param runtime_bodies: bodies that get inertia at run time
    :param chosen: compile-time choices
    :raises ModelError: if it is none
    :raises SingularMassMatrixError: if they do not
    """
    require_floating_base(model, runtime_bodies, chosen)
    require_regular_mass_matrix(model, runtime_bodies, chosen)


def dot(a: Scalars, b: Scalars) -> Scalar:
    """Return the scalar product of two arrays."""
    return sum((x * y for x, y in zip(a, b)), 0.0)


def factors(inertia: RigidBodyInertia | ArticulatedBodyInertia) -> LTDL:
    """Return the factors of an inertia, to solve for accelerations."""
    return ltdl(rows_of(inertia))


def accelerated(inertia: LTDL, force: ForceVector) -> MotionVector:
    """Return the acceleration I^-1 f that a force causes.

    :param inertia: factors of the inertia
    """
    return MotionVector.from_array(inertia.solve(list(force)))


def composite(
    tree: Model, X: Mapping[int, Any], inertia: RigidBodyInertia
) -> Dict[int, RigidBodyInertia]:
    """Return the inertia I^c of each body and its subtree, the base included, by number.

    :param tree: the tree on the base
    :param X: transform from parent to body coordinates, by body number
    :param inertia: inertia of the base
    """
    Ic = {0: inertia, **{i: body.inertia for i, body in tree.outward()}}
    for i, body in tree.inward():
        Ic[body.parent] = Ic[body.parent] + X[i].inverse_apply(Ic[i])
    return Ic
