# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recursive Newton-Euler algorithm of `Robot.inverse_dynamics` (book 5.3, 5.4).

The equations are those of the book's table 5.1 (textbook/tree_dynamics/rnea_spatial.py), with a
third fewer operations, for two reasons. Accelerations are the classical ones of the point at the
body's origin instead of spatial ones (a' = a + [0; w x v], book 2.11), so linear velocities are
not needed, as in the original version of the algorithm (book 5.4, table 5.2). And both
accelerations of a point at r by rotation, alpha x r and w x (w x r), are one matrix, Omega = alpha
x + (w x)(w x): the point's acceleration is A + Omega r, the body's force m A + Omega h, and its
moment h x A plus the axial vector of Omega P - (Omega P)^T, with P = tr(I)/2 1 - I the second
moments of its mass.
"""

from typing import Dict, List, Mapping, Optional, Sequence, Tuple

from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT
from rbd_ros.algorithms.hinge_trees.hinge_frames import has_few_free_hinges
from rbd_ros.algorithms.hinge_trees.hinge_inverse_dynamics import hinge_inverse_dynamics
from rbd_ros.algorithms.inverse_dynamics.forces import gravity_acceleration, to_body_coordinates
from rbd_ros.algorithms.kinds import ACCELERATION, CONFIGURATION, EXTERNAL_FORCES, FORCE, VELOCITY
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector, linear3, MotionSubspace, RigidBodyInertia
from rbd_ros.spatial.linear3 import add, apply, cross, Matrix3, subtract, Vector3, ZERO3
from rbd_ros.spatial.rotation import rotation_rates
from rbd_ros.spatial.scalar import Scalar


@algorithm(
    'inverse_dynamics',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'qdd': ACCELERATION,
        'external_forces': EXTERNAL_FORCES,
    },
    outputs={'tau': FORCE},
    model=EQUIVALENT,
    source='RBDA 5.3 and 5.4',
    pinocchio_equivalent='rnea',
    specialization=hinge_inverse_dynamics,
    applicable_when=has_few_free_hinges,
)
def rnea(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> List[Scalar]:
    """Return the joint forces that make the tree accelerate by `qdd`.

    Rotor inertia is included (book eq 9.28), joint friction is not. The kernel of a tree of few
    free hinges is made of `hinge_inverse_dynamics`, the recursion by axial screws, if that takes
    fewer operations; all other kernels are made of this function.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :param qdd: acceleration of the tree, (tree_nv,) [rad/s^2, m/s^2]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :return: generalized forces, (tree_nv,) [N m, N]
    """
    S, f = transmitted_forces(model, q, qd, qdd, external_forces)
    tau: List[Scalar] = [0.0] * model.tree_nv
    for i, body in model.outward():
        rotor = (body.armature * x for x in qdd[body.v])
        tau[body.v] = [t + r for t, r in zip(S[i].T @ f[i], rotor)]
    return tau


def transmitted_forces(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> Tuple[Dict[int, MotionSubspace], Dict[int, ForceVector]]:
    """Return the forces f_i that joints transmit to their bodies, by body number.

    Arguments are those of `rnea`.

    :return: motion subspaces, and forces, both in body coordinates
    """
    base = -gravity_acceleration(model)
    X, S, f = {}, {}, {}
    w, alpha, A, Omega = {0: ZERO3}, {0: base.angular}, {0: base.linear}, {}
    Omega[0] = rotation_rates(w[0], alpha[0])
    for i, body in model.outward():
        p, joint = body.parent, body.joint.calc(q[body.q], qd[body.v])
        S[i] = joint.S
        X[i] = joint.X * body.tree_transform
        E, r = X[i].E, X[i].r
        relative = S[i] @ qdd[body.v] + joint.c
        w[i] = add(apply(E, w[p]), joint.v.angular)
        alpha[i] = add(add(apply(E, alpha[p]), relative.angular), cross(w[i], joint.v.angular))
        # Coriolis' 2 w x v_J, where S qdd is relative to the moving body: hence (2 w - w_J)
        twice = subtract(linear3.scale(2, w[i]), joint.v.angular)
        A[i] = add(
            add(apply(E, add(A[p], apply(Omega[p], r))), relative.linear),
            cross(twice, joint.v.linear),
        )
        Omega[i] = rotation_rates(w[i], alpha[i])
        f[i] = body_force(body.inertia, A[i], Omega[i])
    for i, force in to_body_coordinates(model, X, external_forces).items():
        f[i] = f[i] - force

    for i, body in model.inward():
        if body.parent != 0:
            f[body.parent] = f[body.parent] + X[i].inverse_apply(f[i])
    return S, f


@algorithm(
    'bias_force',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY, 'external_forces': EXTERNAL_FORCES},
    outputs={'C': FORCE},
    model=EQUIVALENT,
    source='RBDA eq 6.2',
    pinocchio_equivalent='nonLinearEffects',
)
def bias_force(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> List[Scalar]:
    """Return the bias force C of H qdd + C = tau: ID(q, qd, 0, fx), (tree_nv,) (book eq 6.2).

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    """
    return rnea(model, q, qd, [0.0] * model.tree_nv, external_forces)


@algorithm(
    'gravity_torque',
    inputs={'q': CONFIGURATION},
    outputs={'tau': FORCE},
    model=EQUIVALENT,
    source='RBDA 5.3',
    pinocchio_equivalent='computeGeneralizedGravity',
)
def gravity_torque(model: Model, q: Sequence[Scalar]) -> List[Scalar]:
    """Return the joint forces that hold the tree still against gravity.

    ID(q, 0, 0), (tree_nv,) [N m, N].

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    """
    zero = [0.0] * model.tree_nv
    return rnea(model, q, zero, zero)


def body_force(inertia: RigidBodyInertia, A: Vector3, Omega: Matrix3) -> ForceVector:
    """Return the force [n; f] that accelerates a body, in body coordinates [N m, N].

    :param inertia: inertia of the body
    :param A: classical acceleration of the body's origin, (3,) [m/s^2]
    :param Omega: `rotation_rates` of the body, (3, 3) [1/s^2]
    """
    P = second_moments(inertia)
    OP = linear3.multiply(Omega, P)
    couple = (OP[2][1] - OP[1][2], OP[0][2] - OP[2][0], OP[1][0] - OP[0][1])
    return ForceVector(
        add(cross(inertia.h, A), couple),
        add(linear3.scale(inertia.mass, A), apply(Omega, inertia.h)),
    )


def second_moments(inertia: RigidBodyInertia) -> Matrix3:
    """Return the second moments of mass P about the origin, (3, 3).

    P = integral of r r^T = tr(I)/2 1 - I.

    :param inertia: inertia of a body; P is in its coordinates [kg m^2]
    """
    xx, xy, yy, xz, yz, zz = inertia.I
    half = 0.5 * (xx + yy + zz)
    return ((half - xx, -xy, -xz), (-xy, half - yy, -yz), (-xz, -yz, half - zz))
