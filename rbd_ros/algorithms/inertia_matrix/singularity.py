# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joints that make a mass matrix singular at every configuration.

A joint that moves nothing with inertia (a massless last link, a point mass on the axis) leaves
its acceleration undetermined, and forward dynamics has no answer. Armature counts as inertia.
"""

from __future__ import annotations

from typing import Any, List, Mapping, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbd_ros.algorithms.inertia_matrix.crba import composite_inertias, mass_matrix
from rbd_ros.model import Model, ModelError, SingularMassMatrixError

# Number of configurations. The mass matrix is analytic in q: singular at random ones, it always
# is.
_SAMPLES = 2
# An inertia below this fraction of its terms is rounding.
_ROUNDING = 1e-12


def massless_joints(model: Model) -> Tuple[str, ...]:
    """Return the joints that, moved alone, store no kinetic energy at any configuration.

    Their diagonal elements of the mass matrix are zero. Joints that mimic one of them move with
    it. A joint of several degrees of freedom counts if one of its DoFs stores none.

    :return: names of the independent joints, in their order; empty for a model fit for forward
        dynamics

    >>> from rbd_ros.algorithms.inertia_matrix.singularity import massless_joints
    >>> massless_joints(model)  # none: fit for forward dynamics
    ()
    """
    found = np.ones(model.nv, bool)
    for q in _configurations(model):
        H, scale = _mass_matrix(model, q)
        found &= np.abs(np.diag(H)) <= _ROUNDING * scale
    return _joints_of(model, found)


def singular_joints(model: Model, q: Optional[ArrayLike] = None) -> Tuple[str, ...]:
    """Return the joints of a motion that stores no kinetic energy at any configuration.

    These are the massless joints and those that share a DoF, as two joints on one axis with
    nothing between them: neither is massless, but their difference moves nothing.

    :param q: test this configuration instead, (nq,); some matrices are singular only there
    :return: names of the independent joints, in their order; empty if the mass matrix is regular

    >>> from rbd_ros.algorithms.inertia_matrix.singularity import singular_joints
    >>> singular_joints(model, q)
    ()
    """
    found = np.ones(model.nv, bool)
    for sample in _configurations(model) if q is None else [np.asarray(q, float)]:
        H, scale = _mass_matrix(model, sample)
        diagonal = np.abs(np.diag(H))
        massless = diagonal <= _ROUNDING * scale
        weight = 1.0 / np.sqrt(np.where(massless, 1.0, diagonal))
        values, vectors = np.linalg.eigh(H * np.outer(weight, weight))
        null = vectors[:, np.abs(values) <= _ROUNDING * max(1, model.nv)]
        found &= massless | (np.abs(null).max(axis=1, initial=0.0) > 1e-6)
    return _joints_of(model, found)


def singularity(model: Model, runtime_bodies: Sequence[int] = ()) -> str:
    """Return the reason why the mass matrix is always singular, and the cure.

    :param runtime_bodies: bodies that get inertia at run time, whose joints are ignored
    :return: '' if it is not

    >>> from rbd_ros.algorithms.inertia_matrix.singularity import singularity
    >>> from rbd_ros.spatial import RigidBodyInertia
    >>> massless = model.with_link_inertia('wrist_3_link', RigidBodyInertia.zero())
    >>> singularity(massless)[:52]
    "the mass matrix is singular: joint 'wrist_3_joint' c"
    """
    spared = {model.body(i).joint_name for body in runtime_bodies for i in model.support(body)}
    joints = [name for name in singular_joints(model) if name not in spared]
    if not joints:
        return ''
    return (
        f'the mass matrix is singular: {"joints" if len(joints) > 1 else "joint"} '
        f'{", ".join(map(repr, joints))} can move without moving mass; give the links beyond '
        'an <inertial> (rbd_ros doctor --density takes that of shapes), the joints an armature, '
        'or make them fixed'
    )


def require_regular_mass_matrix(
    model: Model, runtime_bodies: Sequence[int], chosen: Mapping[str, Any]
) -> None:
    """Check that generalized forces determine the acceleration.

    :param runtime_bodies: bodies that get inertia at run time
    :param chosen: compile-time choices, of which 'diagonal' counts as inertia
    :raises SingularMassMatrixError: if they do not, naming the joints
    :raises ModelError: if there are loops
    """
    require_open_chains(model, runtime_bodies, chosen)
    if min(chosen.get('diagonal', ()), default=0.0) > 0.0:
        return
    problem = singularity(model, runtime_bodies)
    if problem:
        raise SingularMassMatrixError(problem)


def require_open_chains(
    model: Model, runtime_bodies: Sequence[int], chosen: Mapping[str, Any]
) -> None:
    """Check that there are no loops.

    :param runtime_bodies: bodies that get inertia at run time
    :param chosen: compile-time choices
    :raises ModelError: if there are loops, which forces on the tree would have to keep closed
    """
    if model.loops:
        names = ', '.join(repr(loop.name) for loop in model.loops)
        raise ModelError(
            f'this function ignores the loop constraints, but the robot has the loops {names}; '
            'use Robot(model.with_loops(())), which has none'
        )


def _joints_of(model: Model, dofs: NDArray[np.bool_]) -> Tuple[str, ...]:
    return tuple(
        model.body(i).joint_name for i, (_, v) in model.independent_slices.items() if dofs[v].any()
    )


def _configurations(model: Model) -> List[NDArray[np.float64]]:
    """Return random configurations, the same at every call; quaternions need not be unit."""
    rng = np.random.default_rng(1)
    return [rng.uniform(0.3, 1.3, model.nq) for _ in range(_SAMPLES)]


def _mass_matrix(
    model: Model, q: NDArray[np.float64]
) -> Tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mass matrix, (nv, nv), and the total inertia that each DoF moves, (nv,)."""
    positions = model.tree_position(q.tolist())
    H = np.array(mass_matrix(model, q.tolist()), dtype=float)
    size = np.zeros(model.tree_nv)
    for i, inertia in composite_inertias(model, positions).items():
        size[model.body(i).v] = np.abs(inertia.matrix()).max()
    # A joint and its mimic joints share a degree of freedom.
    scale = np.zeros(model.nv)
    index = np.array(model.tree_dof_index, dtype=np.int64)
    np.add.at(scale, index, np.square(model.tree_dof_ratio) * size)
    return H.reshape(model.nv, model.nv), scale
