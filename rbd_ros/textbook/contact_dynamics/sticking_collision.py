# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Collision of two bodies with friction that arrests the sliding (book eq 11.66 to 11.72).

There is no torsional friction, and restitution along the normal only. The impulse through the
contact point has three components, and three conditions determine them: no tangential velocity
afterwards, and the normal one reversed, times the coefficient of restitution. The caller must
check whether so much friction is available.
"""

from typing import List, NamedTuple, Optional, Sequence, Tuple

from rbd_ros.algorithms.array import Array
from rbd_ros.algorithms.articulated_body.matrices import apply, dot
from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT, INDEPENDENT
from rbd_ros.algorithms.inertia_matrix.crba import mass_matrix
from rbd_ros.algorithms.inertia_matrix.factorization import ltdl
from rbd_ros.algorithms.inertia_matrix.singularity import require_regular_mass_matrix
from rbd_ros.algorithms.kinds import CONFIGURATION, POSITION, VELOCITY
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Frame, Model
from rbd_ros.spatial import ForceVector, MotionVector, RigidBodyInertia
from rbd_ros.spatial.scalar import Scalar, where_positive
from rbd_ros.textbook.contact_dynamics.collision import (
    contact_row,
    inverse_inertia,
    NORMAL,
    PAIR,
    relative_jacobian,
    RESTITUTION,
    VELOCITY_AFTER,
)
from rbd_ros.textbook.spatial_algebra.inverse_inertia import InverseInertia

Scalars = Sequence[Scalar]

LINEAR_IMPULSE = Array(
    'impulse', 'linear impulse on the successor at the point, along base axes', '[N s]', (3,)
)

# Fraction of the largest pivot below which nothing can move in a direction.
_IMMOVABLE = 1e-12


class StickingTwoBodyCollision(NamedTuple):
    """Result of a collision of two free bodies with sticking friction.

    :param v1: velocity of the predecessor afterwards
    :param v2: velocity of the successor afterwards
    :param impulse: lambda, (3,): along both tangents and the normal [N s]
    """

    v1: MotionVector
    v2: MotionVector
    impulse: List[Scalar]


class StickingCollision(NamedTuple):
    """Result of a collision of a tree with sticking friction.

    :param v: velocity afterwards, (nv,) [rad/s, m/s]
    :param impulse: linear impulse on the successor at the contact point, along the axes of the
        base, (3,) [N s]
    """

    v: ResultArray
    impulse: ResultArray


def two_body_sticking_collision(
    I1: Optional[RigidBodyInertia],
    I2: Optional[RigidBodyInertia],
    v1: MotionVector,
    v2: MotionVector,
    N: Sequence[ForceVector],
    restitution: Scalar,
) -> StickingTwoBodyCollision:
    """Return the velocities of two free bodies after a collision with sticking friction.

    Book eq 11.72.

    :param I1: inertia of the predecessor; None if nothing moves it
    :param I2: inertia of the successor, likewise
    :param v1: velocity of the predecessor before
    :param v2: velocity of the successor before
    :param N: unit forces [n_x, n_y, n_z] through the contact point: two tangents and the normal,
        from the predecessor to the successor; all in the same coordinates
    :param restitution: coefficient of restitution e
    """
    zeta = [n.dot(v2 - v1) for n in N]
    yielding = [
        [MotionVector.zero() if I is None else InverseInertia.of_body(I) * n for n in N]
        for I in (I1, I2)
    ]
    M = [[n.dot(a + b) for a, b in zip(*yielding)] for n in N]
    # -(1 + E) zeta with E = diag(0, 0, e).
    change = [-zeta[0], -zeta[1], -(1.0 + restitution) * zeta[2]]
    impulse = [where_positive(-zeta[2], x, 0.0) for x in solve_semidefinite(M, change)]
    dv1, dv2 = MotionVector.zero(), MotionVector.zero()
    for a, b, x in zip(*yielding, impulse):
        dv1, dv2 = dv1 - a * x, dv2 + b * x
    return StickingTwoBodyCollision(v1 + dv1, v2 + dv2, impulse)


def solve_semidefinite(M: Sequence[Scalars], b: Scalars) -> List[Scalar]:
    """Return the solution x of M x = b with a positive-semidefinite matrix, if there is one, (n,).

    Directions in which M is zero have x zero: nothing moves in them, such as out of the plane of a
    planar mechanism, and b is zero along them too.

    :param M: symmetric matrix, (n, n)
    :param b: right-hand side, (n,)
    """
    n = len(b)
    A, x = [list(row) for row in M], list(b)
    size = sum(A[k][k] for k in range(n))
    inverse: List[Scalar] = []
    for k in range(n):
        # A semidefinite matrix with a zero on its diagonal has zeros in that row: no pivot search.
        present = A[k][k] - _IMMOVABLE * size
        inverse.append(where_positive(present, 1.0 / where_positive(present, A[k][k], 1.0), 0.0))
        for i in range(k + 1, n):
            factor = A[i][k] * inverse[k]
            for j in range(k + 1, n):
                A[i][j] = A[i][j] - factor * A[k][j]
            x[i] = x[i] - factor * x[k]
    for k in reversed(range(n)):
        later = [A[k][j] * x[j] for j in range(k + 1, n)]
        x[k] = inverse[k] * (x[k] - sum(later, 0.0))
    return x


@algorithm(
    'sticking_collision',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'point': POSITION.named('point'),
        'normal': NORMAL,
        'restitution': RESTITUTION,
        'frames': PAIR,
    },
    outputs={'v': VELOCITY_AFTER, 'impulse': LINEAR_IMPULSE},
    coordinates=INDEPENDENT,
    model=EQUIVALENT,
    result=StickingCollision,
    source='RBDA eq 11.57 to 11.59, 11.66 to 11.72',
    check=require_regular_mass_matrix,
)
def sticking_collision(
    model: Model,
    q: Scalars,
    qd: Scalars,
    point: Scalars,
    normal: Scalars,
    restitution: Scalars,
    frames: Tuple[Frame, ...],
) -> StickingCollision:
    """Return the velocity of a tree after a sticking collision of two bodies, or one and the base.

    The columns of N are unit forces along the axes of the base, in which (1 + E) zeta is zeta
    + e n (n . zeta): no tangents need be chosen.

    :param q: independent configuration, (nq,) [rad, m]
    :param qd: independent velocity before, (nv,) [rad/s, m/s]
    :param point: where they touch, in base coordinates, (3,) [m]
    :param normal: unit normal from the predecessor to the successor, in base coordinates, (3,)
    :param restitution: coefficient of restitution e, (1,)
    :param frames: predecessor and successor
    """
    axes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    J = relative_jacobian(model, q, frames)
    T = [contact_row(J, ForceVector.at_point(axis, tuple(point))) for axis in axes]
    zeta = apply(T, qd)
    approach = dot(normal, zeta)
    factors = ltdl(mass_matrix(model, q))
    change = [-z - restitution[0] * approach * n for z, n in zip(zeta, normal)]
    impulse = [
        where_positive(-approach, x, 0.0)
        for x in solve_semidefinite(inverse_inertia(factors, T), change)
    ]
    u = [dot(column, impulse) for column in zip(*T)]
    return StickingCollision([v + dv for v, dv in zip(qd, factors.solve(u))], impulse)
