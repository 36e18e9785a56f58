# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Collision of two bodies at a point without friction, with restitution (book eq 11.60 to 11.65).

The impulse is lambda n along the contact normal n, transmitted from the predecessor to the
successor. Bodies that separate already exert none.
"""

from dataclasses import replace
from typing import List, NamedTuple, Optional, Sequence, Tuple

from rbd_ros.algorithms.array import Array, Choice
from rbd_ros.algorithms.articulated_body.matrices import dot
from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT, INDEPENDENT
from rbd_ros.algorithms.inertia_matrix.crba import mass_matrix
from rbd_ros.algorithms.inertia_matrix.factorization import LTDL, ltdl
from rbd_ros.algorithms.inertia_matrix.singularity import require_regular_mass_matrix
from rbd_ros.algorithms.kinds import CONFIGURATION, POSITION, SCALAR, VELOCITY
from rbd_ros.algorithms.kinematics.jacobians import jacobian
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Frame, Model
from rbd_ros.spatial import ForceVector, MotionVector, PluckerTransform, RigidBodyInertia
from rbd_ros.spatial.scalar import Scalar, where_positive
from rbd_ros.textbook.spatial_algebra.inverse_inertia import InverseInertia

Scalars = Sequence[Scalar]


def _pair(model: Model, names: Sequence[Optional[str]]) -> Tuple[Frame, ...]:
    if isinstance(names, str) or names is None or len(names) != 2:
        raise ValueError(f'a collision needs two links or joints, got {names!r}')
    frames = tuple(
        Frame(0, PluckerTransform.identity()) if name is None else model.frame(name)
        for name in names
    )
    if frames[0].body == frames[1].body:
        raise ValueError(
            f'{names[0] or "the base"!r} and {names[1] or "the base"!r} belong to one body and '
            'cannot collide; name links of two bodies'
        )
    return frames


#: The colliding bodies: predecessor and successor.
PAIR = Choice(
    'frames',
    'predecessor and successor of the contact, links or joints by name, None for the fixed base',
    _pair,
)
NORMAL = Array('normal', 'unit normal of the contact in base coordinates', '', (3,))
RESTITUTION = Array('restitution', 'coefficient of restitution, 0 to 1', '', (), call_default=0.0)
VELOCITY_AFTER = replace(VELOCITY, meaning='velocity after the collision')


class TwoBodyCollision(NamedTuple):
    """Result of a collision of two free bodies.

    :param v1: velocity of the predecessor afterwards
    :param v2: velocity of the successor afterwards
    :param impulse: lambda, along the normal [N s]
    """

    v1: MotionVector
    v2: MotionVector
    impulse: Scalar


class Collision(NamedTuple):
    """Result of a collision of a tree.

    :param v: velocity afterwards, (nv,) [rad/s, m/s]
    :param impulse: lambda, along the normal [N s]
    """

    v: ResultArray
    impulse: ResultArray


def two_body_collision(
    I1: Optional[RigidBodyInertia],
    I2: Optional[RigidBodyInertia],
    v1: MotionVector,
    v2: MotionVector,
    n: ForceVector,
    restitution: Scalar,
) -> TwoBodyCollision:
    """Return the velocities of two free bodies after a collision without friction (book eq 11.65).

    :param I1: inertia of the predecessor; None if it is fixed
    :param I2: inertia of the successor, likewise
    :param v1: velocity of the predecessor before
    :param v2: velocity of the successor before
    :param n: contact normal as a unit force, from the predecessor to the successor; all in the
        same coordinates
    :param restitution: coefficient of restitution e
    """
    zeta = n.dot(v2 - v1)
    dv1, dv2 = (_yielding(inertia, n) for inertia in (I1, I2))
    M = n.dot(dv1 + dv2)
    impulse = where_positive(-zeta, -(1.0 + restitution) * zeta / M, 0.0)
    return TwoBodyCollision(v1 - dv1 * impulse, v2 + dv2 * impulse, impulse)


def _yielding(inertia: Optional[RigidBodyInertia], n: ForceVector) -> MotionVector:
    """Step change of a body's velocity per unit impulse."""
    return MotionVector.zero() if inertia is None else InverseInertia.of_body(inertia) * n


def contact_row(J: Sequence[Scalars], force: ForceVector) -> List[Scalar]:
    """Return the joint-space direction t = J^T n of a unit contact force (book eq 11.25), (nv,).

    :param J: Jacobian of the velocity of the successor relative to the predecessor, (6, nv)
    :param force: unit force on the successor; both in base coordinates
    """
    return [dot(tuple(force), column) for column in zip(*J)]


def relative_jacobian(model: Model, q: Scalars, frames: Tuple[Frame, ...]) -> List[List[Scalar]]:
    """Return the Jacobian J_s - J_p of the velocity of a successor relative to a predecessor.

    :param q: independent configuration, (nq,) [rad, m]
    :param frames: predecessor and successor
    :return: in base coordinates, angular rows first
    """
    tree_q = model.tree_position(q)
    J_p, J_s = (
        model.independent_columns(jacobian(model, tree_q, frame, 'base')) for frame in frames
    )
    return [[s - p for s, p in zip(*rows)] for rows in zip(J_s, J_p)]


def inverse_inertia(factors: LTDL, T: Sequence[Scalars]) -> List[List[Scalar]]:
    """Return the matrix M = T^T H^-1 T (book eq 11.35), bitwise symmetric, (n, n).

    :param factors: of H
    :param T: its columns as rows, (n, nv)
    """
    Y = [factors.solve_transposed(t) for t in T]
    scaled = [[d * y for d, y in zip(factors.D_inverse, row)] for row in Y]
    n = range(len(T))
    return [[dot(Y[max(i, j)], scaled[min(i, j)]) for j in n] for i in n]


@algorithm(
    'frictionless_collision',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'point': POSITION.named('point'),
        'normal': NORMAL,
        'restitution': RESTITUTION,
        'frames': PAIR,
    },
    outputs={'v': VELOCITY_AFTER, 'impulse': SCALAR},
    coordinates=INDEPENDENT,
    model=EQUIVALENT,
    result=Collision,
    source='RBDA eq 11.25, 11.35, 11.57 to 11.65',
    check=require_regular_mass_matrix,
)
def frictionless_collision(
    model: Model,
    q: Scalars,
    qd: Scalars,
    point: Scalars,
    normal: Scalars,
    restitution: Scalars,
    frames: Tuple[Frame, ...],
) -> Collision:
    """Return the velocity of a tree after a frictionless collision of two bodies.

    One of them may be the base.

    In joint space: M = t^T H^-1 t takes the place of n . (I1^-1 + I2^-1) n, so that the impulse is
    the same for two bodies that are joined to nothing.

    :param q: independent configuration, (nq,) [rad, m]
    :param qd: independent velocity before, (nv,) [rad/s, m/s]
    :param point: contact point in base coordinates, (3,) [m]
    :param normal: unit normal from the predecessor to the successor, in base coordinates, (3,)
    :param restitution: coefficient of restitution e, (1,)
    :param frames: predecessor and successor
    """
    n = ForceVector.at_point(tuple(normal), tuple(point))
    t = contact_row(relative_jacobian(model, q, frames), n)
    zeta = dot(t, qd)
    factors = ltdl(mass_matrix(model, q))
    ((M,),) = inverse_inertia(factors, [t])
    impulse = where_positive(-zeta, -(1.0 + restitution[0]) * zeta / M, 0.0)
    return Collision([v + dv * impulse for v, dv in zip(qd, factors.solve(t))], impulse)
