# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inertia and Coriolis matrices as sums over links of products of Jacobians.

With the Jacobians of the center of mass of each link, J_t of its velocity and J_R of its angular
velocity, H = sum J_t^T m J_t + J_R^T I J_R, and their time derivatives yield a Coriolis matrix.
The cost is cubic in the number of joints; only the positions are recursive.
"""

from typing import Iterator, List, NamedTuple, Sequence, Tuple

from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import CONFIGURATION, INERTIA_MATRIX, MATRIX, VELOCITY
from rbd_ros.algorithms.kinematics.kinematics import (
    apparent_column_rates,
    body_velocities,
    motion_columns,
)
from rbd_ros.model import Model
from rbd_ros.spatial import MotionVector
from rbd_ros.spatial.linear3 import (
    add,
    apply,
    cross,
    dot,
    full,
    Matrix3,
    scale,
    subtract,
    Vector3,
    ZERO3,
)
from rbd_ros.spatial.scalar import is_zero, Scalar

Matrix = List[List[Scalar]]


class LinkJacobian(NamedTuple):
    """Nonzero columns of the Jacobians of one body.

    :param mass: mass m [kg]
    :param I: rotational inertia about the center of mass, in body coordinates, (3, 3) [kg m^2]
    :param places: degrees of freedom of the tree that move the body, in the order of the columns
    :param t: columns of J_t, velocity of the center of mass along the axes of the base
    :param R: columns of J_R, angular velocity in body coordinates
    :param t_rate: columns of the time derivative of J_t
    :param R_rate: columns of the time derivative of J_R
    """

    mass: Scalar
    I: Matrix3
    places: Tuple[int, ...]
    t: List[Vector3]
    R: List[Vector3]
    t_rate: List[Vector3]
    R_rate: List[Vector3]


@algorithm(
    'mass_matrix_from_jacobians',
    inputs={'q': CONFIGURATION},
    outputs={'H': INERTIA_MATRIX},
    source='sum of J_t^T m J_t + J_R^T I J_R over links',
    pinocchio_equivalent='crba',
)
def mass_matrix_from_jacobians(model: Model, q: Sequence[Scalar]) -> Matrix:
    """Return the joint-space inertia matrix as a sum over links, rotor inertia included.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :return: H, (tree_nv, tree_nv) [kg m^2, kg m, kg]

    >>> H = robot.kernel('mass_matrix_from_jacobians').function(q)
    >>> np.allclose(H, robot.mass_matrix(q))
    True
    """
    n = model.tree_nv
    H: Matrix = [[0.0] * n for _ in range(n)]
    for link in link_jacobians(model, q, [0.0] * n):
        for i, t, R in zip(link.places, link.t, link.R):
            momentum, spin = scale(link.mass, t), apply(link.I, R)
            for j, other_t, other_R in zip(link.places, link.t, link.R):
                H[j][i] = H[j][i] + dot(other_t, momentum) + dot(other_R, spin)
    for _, body in model.outward():
        for k in range(n)[body.v]:
            H[k][k] = H[k][k] + body.armature
    return H


@algorithm(
    'coriolis_matrix_from_jacobians',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY},
    outputs={'C': MATRIX},
    source='sum of J_t^T m Jdot_t + J_R^T I Jdot_R - J_R^T (I J_R qd) x J_R over links',
)
def coriolis_matrix_from_jacobians(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> Matrix:
    """Return a Coriolis matrix as a sum over links: C qd is the velocity-product force.

    dH/dt - 2 C is skew-symmetric as with `coriolis_matrix`, but C differs from it and from that of
    the Christoffel symbols. The symmetry needs J_R and I in body coordinates, where I is constant.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :return: C, (tree_nv, tree_nv) [kg m^2/s, kg m/s, kg/s]

    >>> C = robot.kernel('coriolis_matrix_from_jacobians').function(q, v)
    >>> np.allclose(C @ v, robot.coriolis_torque(q, v))
    True
    """
    n = model.tree_nv
    C: Matrix = [[0.0] * n for _ in range(n)]
    for link in link_jacobians(model, q, qd):
        w = ZERO3
        for k, R in zip(link.places, link.R):
            w = add(w, scale(qd[k], R))
        spin = apply(link.I, w)
        for j, R, t_rate, R_rate in zip(link.places, link.R, link.t_rate, link.R_rate):
            force = scale(link.mass, t_rate)
            couple = subtract(apply(link.I, R_rate), cross(spin, R))
            for i, other_t, other_R in zip(link.places, link.t, link.R):
                C[i][j] = C[i][j] + dot(other_t, force) + dot(other_R, couple)
    return C


def link_jacobians(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> Iterator[LinkJacobian]:
    """Yield the Jacobians of each body's center of mass and their time derivatives.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    """
    X0, v_body = body_velocities(model, q, qd)
    S = motion_columns(model, q, X0)
    Sring = apparent_column_rates(model, q, qd, X0)
    v = {i: X0[i].inverse_apply(v_body[i]) for i in v_body}
    Sdot = {i: [v[i].cross(s) + ring for s, ring in zip(S[i], Sring[i])] for i in S}
    for i, body in model.outward():
        if is_zero(body.inertia.mass):
            m, center, I = 0.0, ZERO3, full(body.inertia.I)
        else:
            m, center, I = body.inertia.mass_center()
        c = X0[i].inverse_point(center)
        c_rate = v[i].velocity_at(c)
        path = list(reversed(model.support(i)))
        columns = [(s, rate) for j in path for s, rate in zip(S[j], Sdot[j])]
        yield LinkJacobian(
            m,
            I,
            model.support_dofs(i),
            [s.velocity_at(c) for s, _ in columns],
            [apply(X0[i].E, s.angular) for s, _ in columns],
            [add(rate.velocity_at(c), cross(s.angular, c_rate)) for s, rate in columns],
            # d/dt (E s) = E (ds/dt - w x s)
            [apply(X0[i].E, _seen_from(v[i], s, rate)) for s, rate in columns],
        )


def _seen_from(v: MotionVector, s: MotionVector, rate: MotionVector) -> Vector3:
    """Return the rate of the angular part of a column, apparent in a body of velocity v, (3,)."""
    return subtract(rate.angular, cross(v.angular, s.angular))
