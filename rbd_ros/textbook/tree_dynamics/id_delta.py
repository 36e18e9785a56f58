# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Differential inverse dynamics: joint forces of accelerations alone, H qdd (book table 6.1)."""

from typing import List, Sequence

from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT
from rbd_ros.algorithms.kinds import ACCELERATION, CONFIGURATION, FORCE
from rbd_ros.model import Model
from rbd_ros.spatial import MotionVector
from rbd_ros.spatial.scalar import Scalar


@algorithm(
    'id_delta',
    inputs={'q': CONFIGURATION, 'qdd': ACCELERATION},
    outputs={'tau': FORCE},
    model=EQUIVALENT,
    source='RBDA table 6.1',
)
def id_delta(model: Model, q: Sequence[Scalar], qdd: Sequence[Scalar]) -> List[Scalar]:
    """Return the change of the joint forces with the acceleration: ID_delta(q, qdd) = H(q) qdd.

    The recursive Newton-Euler algorithm without velocities, gravity and external forces: a
    product with the inertia matrix, which is never formed. Rotor inertia is included (eq 9.28).

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qdd: acceleration of the tree, (tree_nv,) [rad/s^2, m/s^2]
    :return: ID(q, qd, qdd, fx) - ID(q, qd, 0, fx) for any qd and fx, (tree_nv,) [N m, N]

    >>> np.allclose(robot.kernel('id_delta').function(q, a), robot.mass_matrix(q) @ a)
    True
    """
    X, S, a, f = {}, {}, {0: MotionVector.zero()}, {}
    for i, body in model.outward():
        X[i] = body.joint.transform(q[body.q]) * body.tree_transform
        S[i] = body.joint.motion_subspace(q[body.q])
        a[i] = X[i] * a[body.parent] + S[i] @ qdd[body.v]
        f[i] = body.inertia * a[i]

    tau: List[Scalar] = [0.0] * model.tree_nv
    for i, body in model.inward():
        rotor = (body.armature * x for x in qdd[body.v])
        tau[body.v] = [t + r for t, r in zip(S[i].T @ f[i], rotor)]
        if body.parent != 0:
            f[body.parent] = f[body.parent] + X[i].inverse_apply(f[i])
    return tau
