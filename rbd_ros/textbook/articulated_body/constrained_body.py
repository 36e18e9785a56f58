# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Dynamics of one rigid body that a joint connects to a fixed base, by three methods (book 3.6).

All give the acceleration of the body for a force f on it: I a + p = f + f_c, where the constraint
force f_c does no work. Quantities are in coordinates of the body; matrices are lists of rows.
"""

from typing import List, NamedTuple, Sequence

from rbd_ros.algorithms.articulated_body.matrices import (
    add,
    apply,
    combine,
    dot,
    inverse,
    Matrix,
    subtract,
    symmetric,
    Vector,
)
from rbd_ros.algorithms.inertia_matrix.factorization import ltdl
from rbd_ros.spatial import ForceVector, MotionSubspace, MotionVector, RigidBodyInertia
from rbd_ros.spatial.scalar import Scalar

Scalars = Sequence[Scalar]


class ApparentInertia(NamedTuple):
    """Response a = Phi f + b of a constrained body.

    :param Phi: apparent inverse inertia, (6, 6): its range is that of S, its null space that of
        the constraint forces
    :param b: bias acceleration, without a force, (6,) [rad/s^2, m/s^2]
    """

    Phi: Matrix
    b: Vector


class GeneralizedEquation(NamedTuple):
    """Equation H qdd + C = tau of a constrained body.

    :param H: inertia matrix, (nf, nf)
    :param C: bias force, (nf,)
    """

    H: Matrix
    C: Vector


class ConstrainedMotion(NamedTuple):
    """Acceleration of a constrained body, and its constraint force.

    :param a: acceleration [rad/s^2, m/s^2]
    :param constraint: variables lambda of the constraint force f_c = T lambda, (6 - nf,)
    """

    a: MotionVector
    constraint: Vector


def apparent_inertia(
    I: RigidBodyInertia, p: ForceVector, S: MotionSubspace, c: MotionVector
) -> ApparentInertia:
    """Return the apparent inverse inertia and bias acceleration of a constrained body.

    Phi = S (S^T I S)^-1 S^T and b = c - Phi (I c + p) (book eq 3.54 and 3.55).

    :param I: inertia of the body
    :param p: bias force, v x* I v less the weight [N m, N]
    :param S: motion subspace of the joint
    :param c: velocity-product acceleration, a = S qdd + c [rad/s^2, m/s^2]

    >>> from rbd_ros.textbook.articulated_body.constrained_body import apparent_inertia
    >>> from rbd_ros.spatial import ForceVector, MotionVector
    >>> hand = model.bodies[-1]
    >>> S = hand.joint.motion_subspace([0.0])
    >>> Phi, b = apparent_inertia(hand.inertia, ForceVector.zero(), S, MotionVector.zero())
    >>> np.linalg.matrix_rank(Phi)  # it can turn about its hinge, and do nothing else
    1
    """
    columns = [list(s) for s in S.columns]
    weights = inverse(generalized_equation(I, p, S, c).H)
    scaled = [combine(columns, row) for row in weights]
    Phi = symmetric(
        [
            [dot([s[i] for s in columns], [x[j] for x in scaled]) for j in range(6)]
            for i in range(6)
        ]
    )
    return ApparentInertia(Phi, subtract(list(c), apply(Phi, list(I * c + p))))


def constrained_motion(
    I: RigidBodyInertia,
    p: ForceVector,
    T: Sequence[ForceVector],
    c: MotionVector,
    f: ForceVector,
) -> ConstrainedMotion:
    """Return the acceleration and constraint force from both equations at once (book eq 3.60).

    [[I, T], [T^T, 0]] [a; -lambda] = [f - p; T^T c], where T^T c is -Tdot^T v. The matrix is
    regular but not definite: lambda comes first, by T^T I^-1 T.

    :param I: inertia of the body, positive definite
    :param p: bias force, v x* I v less the weight [N m, N]
    :param T: constraint forces of the joint
    :param c: velocity-product acceleration, T^T a = T^T c [rad/s^2, m/s^2]
    :param f: force on the body [N m, N]

    >>> from rbd_ros.textbook.articulated_body.constrained_body import constrained_motion
    >>> from rbd_ros.spatial import ForceVector, MotionVector
    >>> hand = model.bodies[-1]
    >>> T = hand.joint.constraint_forces([0.0])
    >>> push = ForceVector.at_point((0.0, 0.0, 10.0), (0.1, 0.0, 0.0))  # [N], [m]
    >>> none = ForceVector.zero(), MotionVector.zero()
    >>> motion = constrained_motion(hand.inertia, none[0], T, none[1], push)
    >>> np.allclose([force.dot(motion.a) for force in T], 0.0)  # the hinge holds
    True
    """
    factors = ltdl(I.matrix().tolist())
    columns = [list(column) for column in T]
    yielding = [factors.solve(column) for column in columns]
    free = factors.solve(list(f - p))
    mobility = symmetric([[dot(s, t) for t in yielding] for s in columns])
    wrong = subtract(list(c), free)
    constraint = ltdl(mobility).solve([dot(column, wrong) for column in columns])
    return ConstrainedMotion(
        MotionVector.from_array(add(free, combine(yielding, constraint))), constraint
    )


def generalized_equation(
    I: RigidBodyInertia, p: ForceVector, S: MotionSubspace, c: MotionVector
) -> GeneralizedEquation:
    """Return the equation of motion in the joint's coordinates: H = S^T I S, C = S^T (I c + p).

    Generalized forces are tau = S^T f: f itself, and with it the constraint force, is lost (book
    eq 3.61 to 3.64). Arguments are those of `apparent_inertia`.

    >>> from rbd_ros.textbook.articulated_body.constrained_body import generalized_equation
    >>> from rbd_ros.spatial import ForceVector, MotionVector
    >>> hand = model.bodies[-1]
    >>> S = hand.joint.motion_subspace([0.0])
    >>> H, C = generalized_equation(hand.inertia, ForceVector.zero(), S, MotionVector.zero())
    >>> np.allclose(H[0][0], robot.mass_matrix(q)[5, 5])  # [kg m^2]
    True
    """
    H: List[List[Scalar]] = [S.T @ (I * s) for s in S.columns]
    return GeneralizedEquation(symmetric(H), S.T @ (I * c + p))
