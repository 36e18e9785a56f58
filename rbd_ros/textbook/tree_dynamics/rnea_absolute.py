# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recursive Newton-Euler algorithm in its basic version, in one coordinate frame (book 5.3).

All quantities are in base coordinates, so there are no transforms between a body and its parent.
It is independent of rnea.py, and also returns velocities, accelerations and forces of the bodies.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

from rbd_ros.algorithms.declaration import algorithm, Kind
from rbd_ros.algorithms.inverse_dynamics.forces import gravity_acceleration
from rbd_ros.algorithms.kinds import (
    ACCELERATION,
    BODY_ACCELERATIONS,
    BODY_VELOCITIES,
    CONFIGURATION,
    EXTERNAL_FORCES,
    FORCE,
    JOINT_FORCES,
    VELOCITY,
)
from rbd_ros.algorithms.kinematics.kinematics import (
    apparent_column_rates,
    body_transforms,
    motion_columns,
)
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector, MotionSubspace, MotionVector
from rbd_ros.spatial.scalar import Scalar


class Dynamics(NamedTuple):
    """Joint forces, and the motions and forces of bodies, in base coordinates.

    :param tau: generalized forces, (nv,) [N m, N]
    :param v: spatial velocity of each body, (bodies, 6) [rad/s, m/s]
    :param a: spatial acceleration of each body, (bodies, 6) [rad/s^2, m/s^2]
    :param f: spatial force [n; f] of the parent on each body, (bodies, 6) [N m, N]
    """

    tau: Any
    v: Any
    a: Any
    f: Any


_INPUTS: Mapping[str, Kind] = {
    'q': CONFIGURATION,
    'qd': VELOCITY,
    'qdd': ACCELERATION,
    'external_forces': EXTERNAL_FORCES,
}


@algorithm(
    'rnea_absolute',
    inputs=_INPUTS,
    outputs={'tau': FORCE},
    source='RBDA eq 5.7 to 5.11',
    pinocchio_equivalent='rnea',
)
def rnea_absolute(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> List[Scalar]:
    """Return the joint forces of an acceleration `qdd`, as `rnea` does, (tree_nv,) [N m, N].

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :param qdd: acceleration of the tree, (tree_nv,) [rad/s^2, m/s^2]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]

    >>> np.allclose(robot.kernel('rnea_absolute').function(q, v, a), tau)
    True
    """
    return list(rnea_with_motion(model, q, qd, qdd, external_forces).tau)


@algorithm(
    'rnea_with_motion',
    inputs=_INPUTS,
    outputs={
        'tau': FORCE,
        'v': BODY_VELOCITIES,
        'a': BODY_ACCELERATIONS,
        'f': JOINT_FORCES,
    },
    result=Dynamics,
    source='RBDA eq 5.7 to 5.11',
)
def rnea_with_motion(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> Dynamics:
    """Return the joint forces, and velocities, accelerations and transmitted forces of the bodies.

    Accelerations exclude gravity: that of a body at rest is zero. Arguments are those of
    `rnea_absolute`.

    :return: tau, (tree_nv,), and v, a and f by body number

    >>> result = robot.kernel('rnea_with_motion').function(q, v, a)
    >>> tool = robot.frame('wrist_3_link', 'base')
    >>> np.allclose(result.v[-1], tool.velocity(q, v))
    True
    """
    X0 = body_transforms(model, q)
    S = motion_columns(model, q, X0)
    Sring = apparent_column_rates(model, q, qd, X0)
    v, a = {0: MotionVector.zero()}, {0: MotionVector.zero()}
    f: Dict[int, ForceVector] = {}
    applied = external_forces or {}
    for i, body in model.outward():
        rates = qd[body.v]
        vJ = MotionSubspace(S[i]) @ rates
        v[i] = v[body.parent] + vJ
        # d/dt S = v x S + Sring, of which v_J x v_J = 0 is a part
        Sdot_qd = v[i].cross(vJ) + MotionSubspace(Sring[i]) @ rates
        a[i] = a[body.parent] + MotionSubspace(S[i]) @ qdd[body.v] + Sdot_qd
        inertia = X0[i].inverse_apply(body.inertia)
        f[i] = inertia * (a[i] - gravity_acceleration(model)) + v[i].cross(inertia * v[i])
        if i in applied:
            f[i] = f[i] - applied[i]

    tau: List[Scalar] = [0.0] * model.tree_nv
    for i, body in model.inward():
        rotor = (body.armature * x for x in qdd[body.v])
        tau[body.v] = [t + r for t, r in zip(MotionSubspace(S[i]).T @ f[i], rotor)]
        if body.parent != 0:
            f[body.parent] = f[body.parent] + f[i]
    return Dynamics(tau, v, a, f)
