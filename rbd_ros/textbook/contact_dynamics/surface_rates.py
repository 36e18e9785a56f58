# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rates of contact points and normals of smooth surfaces (book 11.6; Montana 1988).

On a curved surface the normal changes with the point, n(p), and its rate enters the equations of
motion. Let the outward normal of the predecessor's surface change by W dp as the point moves by dp
over it, and the successor's point by R dn as its outward normal changes by dn. The point moves
over both surfaces, by c over the predecessor's, so that

    point_rate  = v_p + c                 velocities v_p, v_s of the bodies' points that touch
    normal_rate = w_p x n + W c           angular velocities w_p, w_s
    c = u + R ((w_s - w_p) x n - W c)     u = v_s - v_p, tangential

A sphere of radius r has R = r 1 as a successor and W = 1/r as a predecessor, a bowl W = -1/r, a
plane W = 0, a vertex R = 0.
"""

from typing import List, NamedTuple, Sequence

from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import CONFIGURATION, VELOCITY
from rbd_ros.algorithms.kinematics.kinematics import body_velocities
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Model
from rbd_ros.spatial import linear3, MotionVector
from rbd_ros.spatial.linear3 import Matrix3, Vector3
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.contact_dynamics.contact_constraints import Pairs
from rbd_ros.textbook.contact_dynamics.contact_kinds import (
    CONTACT_CURVATURES,
    CONTACT_NORMAL_RATES,
    CONTACT_NORMALS,
    CONTACT_POINT_RATES,
    CONTACT_POINTS,
    CONTACT_RADII,
    CONTACTS,
    TANGENTS,
)

Scalars = Sequence[Scalar]


class SurfaceRates(NamedTuple):
    """Rates of contacts of smooth surfaces, in base coordinates.

    :param point_rates: velocities of the contact points, (3 c,) [m/s]
    :param normal_rates: rates of the normals, and tangents if chosen, (3 c,) or (9 c,) [1/s]
    """

    point_rates: ResultArray
    normal_rates: ResultArray


@algorithm(
    'surface_rates',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'points': CONTACT_POINTS,
        'normals': CONTACT_NORMALS,
        'curvatures': CONTACT_CURVATURES,
        'radii': CONTACT_RADII,
        'contacts': CONTACTS,
        'tangents': TANGENTS,
    },
    outputs={'point_rates': CONTACT_POINT_RATES, 'normal_rates': CONTACT_NORMAL_RATES},
    result=SurfaceRates,
    source='RBDA 11.6; Montana 1988',
)
def surface_rates(
    model: Model,
    q: Scalars,
    qd: Scalars,
    points: Scalars,
    normals: Scalars,
    curvatures: Scalars,
    radii: Scalars,
    contacts: Pairs,
    tangents: bool,
) -> SurfaceRates:
    """Return the rates of contact points and normals; tangents rotate with the normal only.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :param points: contact points in base coordinates, (3 c,) [m]
    :param normals: unit normals from predecessor to successor, (3 c,); with tangents those of each
        contact after its normal, (9 c,)
    :param curvatures: W of each predecessor in base coordinates, by rows, (9 c,) [1/m]
    :param radii: R of each successor in base coordinates, by rows, (9 c,) [m]
    :param contacts: bodies pc(i) and sc(i) of each contact, by number
    :param tangents: whether each contact has two tangents
    """
    X0, v_body = body_velocities(model, q, qd)
    v = {i: X0[i].inverse_apply(v_body[i]) for pair in contacts for i in pair}
    point_rates: List[Scalar] = []
    normal_rates: List[Scalar] = []
    rows = 3 if tangents else 1
    for i, (p, s) in enumerate(contacts):
        C = linear3.vector3(points[3 * i : 3 * i + 3])
        axes = [
            linear3.vector3(normals[3 * k : 3 * k + 3]) for k in range(rows * i, rows * (i + 1))
        ]
        n = axes[0]
        W, R = _matrix(curvatures[9 * i : 9 * i + 9]), _matrix(radii[9 * i : 9 * i + 9])
        relative = v[s] - v[p]
        u = _across(_at(relative, C), n)
        turning = linear3.apply(R, linear3.cross(relative.angular, n))
        c = _solve(_plus_one(linear3.multiply(R, W)), linear3.add(u, turning))
        point_rates.extend(linear3.add(_at(v[p], C), c))
        ndot = linear3.add(linear3.cross(v[p].angular, n), linear3.apply(W, c))
        normal_rates.extend(ndot)
        for t in axes[1:]:
            normal_rates.extend(linear3.cross(linear3.cross(n, ndot), t))
    return SurfaceRates(point_rates, normal_rates)


def _at(v: MotionVector, point: Vector3) -> Vector3:
    """Return the velocity of the body at a point."""
    return linear3.add(v.linear, linear3.cross(v.angular, point))


def _across(u: Vector3, n: Vector3) -> Vector3:
    """Return the part of a vector that is perpendicular to a unit vector."""
    return linear3.subtract(u, linear3.scale(linear3.dot(u, n), n))


def _matrix(values: Scalars) -> Matrix3:
    return linear3.matrix3((values[0:3], values[3:6], values[6:9]))


def _plus_one(A: Matrix3) -> Matrix3:
    return linear3.add_matrices(A, linear3.IDENTITY3)


def _solve(A: Matrix3, b: Vector3) -> Vector3:
    """Return the solution of A x = b by Cramer's rule."""
    x, y, z = linear3.transpose(A)
    yz, zx, xy = linear3.cross(y, z), linear3.cross(z, x), linear3.cross(x, y)
    k = 1.0 / linear3.dot(x, yz)
    return linear3.scale(k, (linear3.dot(b, yz), linear3.dot(b, zx), linear3.dot(b, xy)))
