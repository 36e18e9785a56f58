# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The contact problem of a rigid-body system: zeta_dot = M lambda + d (book 11.3)."""

from typing import List, Mapping, NamedTuple, Optional, Sequence

from rbd_ros.algorithms.articulated_body.matrices import dot, transposed
from rbd_ros.algorithms.declaration import algorithm, INDEPENDENT
from rbd_ros.algorithms.inertia_matrix.crba import mass_matrix
from rbd_ros.algorithms.inertia_matrix.factorization import ltdl
from rbd_ros.algorithms.inertia_matrix.singularity import require_regular_mass_matrix
from rbd_ros.algorithms.inverse_dynamics.rnea import rnea
from rbd_ros.algorithms.kinds import ACCELERATION, CONFIGURATION, EXTERNAL_FORCES, FORCE, VELOCITY
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.contact_dynamics.contact_constraints import contact_constraints, Pairs
from rbd_ros.textbook.contact_dynamics.contact_kinds import (
    CONTACT_FREE,
    CONTACT_INVERSE_INERTIA,
    CONTACT_JACOBIAN,
    CONTACT_NORMAL_RATES,
    CONTACT_NORMALS,
    CONTACT_POINT_RATES,
    CONTACT_POINTS,
    CONTACT_RESPONSE,
    CONTACT_VELOCITY,
    CONTACTS,
    TANGENTS,
)

Scalars = Sequence[Scalar]


class ContactEquations(NamedTuple):
    """Coefficients of zeta_dot = M lambda + d, and of a = free + response lambda.

    :param M: separation accelerations per contact force T^T H^-1 T, (r, r) [1/kg]; symmetric,
        positive-semidefinite, and positive-definite if the columns of T are independent
    :param d: separation accelerations without contact forces, (r,) [m/s^2]
    :param T: contact normals in joint space by columns, (nv, r)
    :param velocity: separation velocities zeta = T^T v, (r,) [m/s]
    :param response: accelerations per contact force H^-1 T, (nv, r)
    :param free: accelerations without contact forces H^-1 (tau - C), (nv,) [rad/s^2, m/s^2]
    """

    M: ResultArray
    d: ResultArray
    T: ResultArray
    velocity: ResultArray
    response: ResultArray
    free: ResultArray


@algorithm(
    'contact_equations',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'tau': FORCE,
        'points': CONTACT_POINTS,
        'normals': CONTACT_NORMALS,
        'point_rates': CONTACT_POINT_RATES,
        'normal_rates': CONTACT_NORMAL_RATES,
        'contacts': CONTACTS,
        'tangents': TANGENTS,
        'external_forces': EXTERNAL_FORCES,
    },
    outputs={
        'M': CONTACT_INVERSE_INERTIA,
        'd': CONTACT_FREE,
        'T': CONTACT_JACOBIAN,
        'velocity': CONTACT_VELOCITY,
        'response': CONTACT_RESPONSE,
        'free': ACCELERATION,
    },
    coordinates=INDEPENDENT,
    result=ContactEquations,
    source='RBDA eq 11.34 to 11.36',
    check=require_regular_mass_matrix,
)
def contact_equations(
    model: Model,
    q: Scalars,
    qd: Scalars,
    tau: Scalars,
    points: Scalars,
    normals: Scalars,
    point_rates: Scalars,
    normal_rates: Scalars,
    contacts: Pairs,
    tangents: bool,
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> ContactEquations:
    """Return the contact equations of a tree with gears, from the factors of its inertia matrix.

    With H = L^T D L, M is Y^T D^-1 Y, where L^T Y = T: bitwise symmetric.

    :param q: independent configuration, (nq,) [rad, m]
    :param qd: independent velocity, (nv,) [rad/s, m/s]
    :param tau: independent generalized forces, (nv,) [N m, N]
    :param points: contact points in base coordinates, (3 c,) [m]
    :param normals: unit normals, and tangents if chosen, (3 c,) or (9 c,)
    :param point_rates: velocities of the contact points, (3 c,) [m/s]
    :param normal_rates: rates of the normals and tangents [1/s]
    :param contacts: bodies pc(i) and sc(i) of each contact, by number
    :param tangents: whether each contact has two tangents
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    """
    tree_q, tree_qd = model.tree_position(q), model.tree_velocity(qd)
    rows, velocity, bias = contact_constraints(
        model, tree_q, tree_qd, points, normals, point_rates, normal_rates, contacts, tangents
    )
    t = model.independent_columns(rows)  # columns of T
    C = model.independent_force(
        rnea(model, tree_q, tree_qd, [0.0] * model.tree_nv, external_forces)
    )
    factors = ltdl(mass_matrix(model, q))
    free = factors.solve([x - c for x, c in zip(tau, C)])
    d = [dot(column, free) + rest for column, rest in zip(t, bias)]
    Y = [factors.solve_transposed(column) for column in t]
    scaled = [[x * y for x, y in zip(factors.D_inverse, column)] for column in Y]
    lower: List[List[Scalar]] = [
        [dot(Y[i], scaled[j]) for j in range(i + 1)] for i in range(len(Y))
    ]
    n = range(len(t))
    M = [[lower[max(i, j)][min(i, j)] for j in n] for i in n]
    response = transposed([factors.solve(column) for column in t])
    return ContactEquations(M, d, transposed(t), velocity, response, free)
