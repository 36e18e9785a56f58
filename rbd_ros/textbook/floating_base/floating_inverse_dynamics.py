# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Floating-base inverse dynamics: joints with given motion on a free base (book 9.5)."""

from typing import Any, List, Mapping, NamedTuple, Optional, Sequence

from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT, INDEPENDENT
from rbd_ros.algorithms.inverse_dynamics.forces import to_body_coordinates
from rbd_ros.algorithms.kinds import CONFIGURATION, EXTERNAL_FORCES, VELOCITY
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.floating_base.floating_base_kinds import (
    BASE_ACCELERATION,
    JOINT_ACCELERATION,
    JOINT_FORCE,
)
from rbd_ros.textbook.floating_base.floating_state import (
    accelerated,
    composite,
    factors,
    floating_base,
    FloatingBase,
    require_floating_base,
)


class FloatingInverseDynamics(NamedTuple):
    """Result of inverse dynamics of a robot with a floating base.

    :param a0: spatial acceleration of the base in its coordinates, (6,) [rad/s^2, m/s^2]
    :param tau: generalized forces of the joints, (nv - 6,) [N m, N]
    """

    a0: ResultArray
    tau: Any


@algorithm(
    'floating_inverse_dynamics',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'qdd': JOINT_ACCELERATION,
        'external_forces': EXTERNAL_FORCES,
    },
    outputs={'a0': BASE_ACCELERATION, 'tau': JOINT_FORCE},
    result=FloatingInverseDynamics,
    coordinates=INDEPENDENT,
    model=EQUIVALENT,
    source='RBDA table 9.6',
    check=require_floating_base,
)
def floating_inverse_dynamics(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> FloatingInverseDynamics:
    """Return the acceleration of the base and the joint forces for joint accelerations.

    :param q: independent configuration, (nq,) [rad, m]
    :param qd: independent velocity, (nv,) [rad/s, m/s]
    :param qdd: independent acceleration of the joints, (nv - 6,) [rad/s^2, m/s^2]
    :param external_forces: force on each body in world coordinates, by body number [N m, N]
    :return: a0, (6,) [rad/s^2, m/s^2], and tau, (nv - 6,) [N m, N]
    """
    base = floating_base(model, q, qd, external_forces)
    a0, tau = by_composite_bodies(base, base.tree.tree_velocity(qdd))
    return FloatingInverseDynamics(a0, base.tree.independent_force(tau))


def by_composite_bodies(base: FloatingBase, qdd: Sequence[Scalar]) -> FloatingInverseDynamics:
    """Return the acceleration of the base and the joint forces, with rotors (book table 9.6).

    p^c_i is the force on a body and its subtree if the base had only the acceleration of gravity,
    which counts as -a_g.

    :param base: tree on a floating base, and its state
    :param qdd: acceleration of all joints of the tree, (tree.tree_nv,) [rad/s^2, m/s^2]
    :return: a0, (6,) [rad/s^2, m/s^2], and tau, (tree.tree_nv,) [N m, N]
    """
    tree = base.tree
    X, S, v, ar, pc = {}, {}, {0: base.v0}, {0: -base.a_g}, {}
    for i, body in tree.outward():
        joint = body.joint.calc(base.q[body.q], base.qd[body.v])
        S[i] = joint.S
        X[i] = joint.X * body.tree_transform
        v[i] = X[i] * v[body.parent] + joint.v
        ar[i] = X[i] * ar[body.parent] + joint.c + v[i].cross(joint.v) + joint.S @ qdd[body.v]
        pc[i] = body.inertia * ar[i] + v[i].cross(body.inertia * v[i])
    for i, force in to_body_coordinates(tree, X, base.forces).items():
        pc[i] = pc[i] - force
    # The printed table has f_i of another body here: it must be that on the base.
    pc[0] = base.inertia * ar[0] + v[0].cross(base.inertia * v[0]) - base.force_on_base

    Ic = composite(tree, X, base.inertia)
    for i, body in tree.inward():
        pc[body.parent] = pc[body.parent] + X[i].inverse_apply(pc[i])

    a0 = {0: -accelerated(factors(Ic[0]), pc[0])}  # by number of the body whose coordinates it has
    tau: List[Scalar] = [0.0] * tree.tree_nv
    for i, body in tree.outward():
        a0[i] = X[i] * a0[body.parent]
        rotor = (body.armature * x for x in qdd[body.v])
        tau[body.v] = [t + r for t, r in zip(S[i].T @ (Ic[i] * a0[i] + pc[i]), rotor)]
    return FloatingInverseDynamics(a0[0], tau)
