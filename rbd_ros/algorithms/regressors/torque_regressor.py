# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Regressors of the joint forces: tau = Y pi, linear in the inertial parameters of all bodies.

Sources: book 2.13 and 9.7 for the linearity; Atkeson, An and Hollerbach, "Estimation of inertial
parameters of manipulator loads and links" (Int. J. Robotics Research 1986) for the recursion;
Slotine and Li, "On the adaptive control of robot manipulators" (Int. J. Robotics Research 1987)
for the form with reference velocities.
"""

from typing import Dict, List, Mapping, Sequence, Tuple

from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.inverse_dynamics.coriolis import VelocityFactor
from rbd_ros.algorithms.inverse_dynamics.forces import gravity_acceleration
from rbd_ros.algorithms.kinds import ACCELERATION, CONFIGURATION, TORQUE_REGRESSOR, VELOCITY
from rbd_ros.model import Model
from rbd_ros.spatial import (
    ForceVector,
    MotionSubspace,
    MotionVector,
    PluckerTransform,
    RigidBodyInertia,
)
from rbd_ros.spatial.scalar import Scalar

Matrix = List[List[Scalar]]


def unit_inertias() -> Tuple[RigidBodyInertia, ...]:
    """Return the ten inertias with one unit parameter each, which span all inertias.

    They are in the order of `RigidBodyInertia.parameters`.
    """
    return tuple(
        RigidBodyInertia.from_parameters([1.0 if i == k else 0.0 for i in range(10)])
        for k in range(10)
    )


@algorithm(
    'torque_regressor',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY, 'qdd': ACCELERATION},
    outputs={'Y': TORQUE_REGRESSOR},
    source='Atkeson, An and Hollerbach 1986; RBDA 9.7',
    pinocchio_equivalent='computeJointTorqueRegressor',
)
def torque_regressor(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> Matrix:
    """Return the regressor of inverse dynamics.

    tau = Y pi, plus the forces that accelerate the rotors.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :param qdd: acceleration of the tree, (tree_nv,) [rad/s^2, m/s^2]
    :return: Y, (tree_nv, 10 bodies): ten columns for each body, in its coordinates and in the
        order of `RigidBodyInertia.parameters`
    """
    X, S, v, a = {}, {}, {0: MotionVector.zero()}, {0: -gravity_acceleration(model)}
    f: Dict[int, List[ForceVector]] = {}
    for i, body in model.outward():
        joint = body.joint.calc(q[body.q], qd[body.v])
        S[i] = joint.S
        X[i] = joint.X * body.tree_transform
        v[i] = X[i] * v[body.parent] + joint.v
        a[i] = X[i] * a[body.parent] + S[i] @ qdd[body.v] + joint.c + v[i].cross(joint.v)
        f[i] = [I * a[i] + v[i].cross(I * v[i]) for I in unit_inertias()]
    return joint_forces(model, X, S, f)


@algorithm(
    'slotine_li_regressor',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'qd_r': VELOCITY.named('v_r'),
        'qdd_r': ACCELERATION.named('a_r'),
    },
    outputs={'Y': TORQUE_REGRESSOR},
    source='Slotine and Li 1987; Niemeyer and Slotine 1991',
)
def slotine_li_regressor(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qd_r: Sequence[Scalar],
    qdd_r: Sequence[Scalar],
) -> Matrix:
    """Return the regressor of H a_r + C v_r + tau_g, with the C of `coriolis_matrix`.

    With this C, Hdot - 2 C is skew-symmetric, so adaptation by this regressor is stable. With v_r
    = v and a_r = a it is the regressor of inverse dynamics.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :param qd_r: reference velocity of the tree, (tree_nv,) [rad/s, m/s]
    :param qdd_r: reference acceleration of the tree, (tree_nv,) [rad/s^2, m/s^2]
    :return: Y, (tree_nv, 10 bodies), as that of `torque_regressor`
    """
    X, S, v = {}, {}, {0: MotionVector.zero()}
    v_r, a_r = {0: MotionVector.zero()}, {0: -gravity_acceleration(model)}
    f: Dict[int, List[ForceVector]] = {}
    for i, body in model.outward():
        joint = body.joint.calc(q[body.q], qd[body.v])
        S[i] = joint.S
        Sring = body.joint.motion_subspace_rate(q[body.q], qd[body.v])
        X[i] = joint.X * body.tree_transform
        v[i] = X[i] * v[body.parent] + joint.v
        v_J = S[i] @ qd_r[body.v]
        v_r[i] = X[i] * v_r[body.parent] + v_J
        rate = Sring @ qd_r[body.v] + v[i].cross(v_J)
        a_r[i] = X[i] * a_r[body.parent] + S[i] @ qdd_r[body.v] + rate
        f[i] = [I * a_r[i] + VelocityFactor.of(I, v[i]).apply(v_r[i]) for I in unit_inertias()]
    return joint_forces(model, X, S, f)


def joint_forces(
    model: Model,
    X: Mapping[int, PluckerTransform],
    S: Mapping[int, MotionSubspace],
    f: Mapping[int, Sequence[ForceVector]],
) -> Matrix:
    """Return the joint forces that balance each of ten forces on each body, by columns.

    :param X: transform from the parent's coordinates, by body number
    :param S: motion subspace of each joint, by body number
    :param f: forces on each body in its coordinates, by body number [N m, N]
    :return: (tree_nv, 10 bodies) [N m, N]
    """
    Y: Matrix = [[0.0] * (10 * len(model.bodies)) for _ in range(model.tree_nv)]
    for i, _ in model.outward():
        for k, F in enumerate(f[i]):
            j = i
            while True:
                for row, s in zip(range(model.tree_nv)[model.body(j).v], S[j].columns):
                    Y[row][10 * (i - 1) + k] = s.dot(F)
                if model.body(j).parent == 0:
                    break
                F = X[j].inverse_apply(F)
                j = model.body(j).parent
    return Y
