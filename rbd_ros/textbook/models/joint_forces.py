# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forces across a joint: active force and bearing load (book 3.5, example 3.2).

The force f_J that a joint transmits is T_a tau + T lambda. The joint determines the
constraint-force subspace T. The mechanism of its motor determines the active-force subspace T_a,
which changes lambda, the load on the bearings, but not the motion.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Sequence

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.array_types import FloatArray
from rbd_ros.model.joints import JointType


class JointForce(NamedTuple):
    """A force across a joint, in two parts (book eq 3.34), in successor coordinates.

    :param tau: generalized forces of the motor, (nv,) [N m, N]
    :param constraint: constraint-force variables lambda, (6 - nv,) [N m, N]
    :param active: T_a tau, (6,) [N m, N]
    :param load: T lambda, load of the bearings, (6,) [N m, N]
    """

    tau: FloatArray
    constraint: FloatArray
    active: FloatArray
    load: FloatArray


def active_forces(joint: JointType, q: Sequence[float]) -> FloatArray:
    """Return the active-force subspace T_a = S (S^T S)^-1, (6, nv): T_a^T S = 1 (book eq 3.35).

    This is one of many choices: that of a motor on the joint's axis.

    :param joint: type of the joint
    :param q: its position, (nq,) [rad, m]

    >>> from rbd_ros.textbook.models.joint_forces import active_forces
    >>> active_forces(model.body(1).joint, [0.0])[:, 0]  # a couple about z
    array([0., 0., 1., 0., 0., 0.])
    """
    S = _columns(joint.motion_subspace(q).columns)
    return np.asarray(np.linalg.pinv(S).T)


def split_force(
    joint: JointType, q: Sequence[float], force: ArrayLike, active: Optional[ArrayLike] = None
) -> JointForce:
    """Split the force across a joint into active force and bearing load.

    Book eq 3.34.

    :param joint: type of the joint
    :param q: its position, (nq,) [rad, m]
    :param force: force [n; f] that the joint transmits to its successor, in successor coordinates,
        (6,) [N m, N], such as `Robot.reactions` gives
    :param active: active-force subspace T_a, (6, nv), with T_a^T S = 1; None: `active_forces`
    :raises ValueError: if T_a has a wrong shape or is not dual to S

    >>> from rbd_ros.textbook.models.joint_forces import split_force
    >>> force = robot.reactions(q, v, a)[0]  # across the first joint
    >>> parts = split_force(model.body(1).joint, q[:1], force)
    >>> np.allclose(parts.tau, tau[0]), np.allclose(parts.active + parts.load, force)
    (True, True)
    """
    S = _columns(joint.motion_subspace(q).columns)
    T = _columns(joint.constraint_forces(q))
    T_a = active_forces(joint, q) if active is None else np.asarray(active, dtype=float)
    if T_a.shape != S.shape or not np.allclose(T_a.T @ S, np.eye(joint.nv), atol=1e-9):
        raise ValueError(
            f'the active forces of {joint!r} must be a matrix of shape {S.shape} with T_a^T S = 1'
        )
    f = np.asarray(force, dtype=float)
    tau = S.T @ f
    active_part = T_a @ tau
    constraint = np.linalg.lstsq(T, f - active_part, rcond=None)[0] if T.size else np.empty(0)
    return JointForce(tau, constraint, active_part, f - active_part)


def _columns(vectors: Sequence[Any]) -> FloatArray:
    """Return the spatial vectors as the columns of a matrix, (6, n)."""
    return np.array([x.to_array() for x in vectors], dtype=float).reshape(-1, 6).T
