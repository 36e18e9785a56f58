# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recursive Newton-Euler algorithm in the book's spatial vectors (book 5.3, table 5.1).

Kernels are compiled from rnea.py, the same equations in classical accelerations.
"""

from typing import List, Mapping, Optional, Sequence

from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT
from rbd_ros.algorithms.inverse_dynamics.forces import gravity_acceleration, to_body_coordinates
from rbd_ros.algorithms.kinds import ACCELERATION, CONFIGURATION, EXTERNAL_FORCES, FORCE, VELOCITY
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector, MotionVector
from rbd_ros.spatial.scalar import Scalar


@algorithm(
    'rnea',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'qdd': ACCELERATION,
        'external_forces': EXTERNAL_FORCES,
    },
    outputs={'tau': FORCE},
    model=EQUIVALENT,
    source='RBDA table 5.1',
    pinocchio_equivalent='rnea',
)
def rnea_spatial(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> List[Scalar]:
    """Return the joint forces that make the tree accelerate by `qdd` (book table 5.1).

    Rotor inertia is included (book eq 9.28), joint friction is not.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :param qdd: acceleration of the tree, (tree_nv,) [rad/s^2, m/s^2]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :return: generalized forces tau = ID(q, qd, qdd, fx), (tree_nv,) [N m, N]

    >>> from rbd_ros.textbook.tree_dynamics.rnea_spatial import rnea_spatial
    >>> forces = rnea_spatial(model, q.tolist(), v.tolist(), a.tolist())  # the text, on floats
    >>> np.allclose(forces, tau)
    True
    >>> np.allclose(robot.kernel('rnea').function(q, v, a), tau)  # compiled
    True
    """
    X, S, v, a, f = {}, {}, {0: MotionVector.zero()}, {0: -gravity_acceleration(model)}, {}
    for i, body in model.outward():
        joint = body.joint.calc(q[body.q], qd[body.v])
        S[i] = joint.S
        X[i] = joint.X * body.tree_transform
        v[i] = X[i] * v[body.parent] + joint.v
        a[i] = X[i] * a[body.parent] + S[i] @ qdd[body.v] + joint.c + v[i].cross(joint.v)
        f[i] = body.inertia * a[i] + v[i].cross(body.inertia * v[i])
    for i, force in to_body_coordinates(model, X, external_forces).items():
        f[i] = f[i] - force

    tau: List[Scalar] = [0.0] * model.tree_nv
    for i, body in model.inward():
        rotor = (body.armature * x for x in qdd[body.v])
        tau[body.v] = [t + r for t, r in zip(S[i].T @ f[i], rotor)]
        if body.parent != 0:
            f[body.parent] = f[body.parent] + X[i].inverse_apply(f[i])
    return tau
