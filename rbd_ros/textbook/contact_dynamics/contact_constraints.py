# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact normals in joint space, separation velocities and accelerations (book 11.3)."""

from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

from rbd_ros.algorithms.closed_loops.loop_constraints import bias_motion, loop_path
from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import CONFIGURATION, VELOCITY
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Model
from rbd_ros.spatial import MotionVector
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.contact_dynamics.contact_forces import contact_forces
from rbd_ros.textbook.contact_dynamics.contact_kinds import (
    CONTACT_BIAS,
    CONTACT_JACOBIAN,
    CONTACT_NORMAL_RATES,
    CONTACT_NORMALS,
    CONTACT_POINT_RATES,
    CONTACT_POINTS,
    CONTACT_VELOCITY,
    CONTACTS,
    TANGENTS,
)

Scalars = Sequence[Scalar]
Pairs = Sequence[Tuple[int, int]]


class ContactConstraints(NamedTuple):
    """Constraints of contacts on the joints, a row for each normal and tangent, r of them.

    :param T: contact normals in joint space by columns, (nv, r): tau_c = T lambda
    :param velocity: separation velocities zeta = T^T v, (r,) [m/s]
    :param bias: Tdot^T v, so that the rate of zeta is T^T a + bias, (r,) [m/s^2]
    """

    T: Any
    velocity: ResultArray
    bias: ResultArray


@algorithm(
    'contact_constraints',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'points': CONTACT_POINTS,
        'normals': CONTACT_NORMALS,
        'point_rates': CONTACT_POINT_RATES,
        'normal_rates': CONTACT_NORMAL_RATES,
        'contacts': CONTACTS,
        'tangents': TANGENTS,
    },
    outputs={'T': CONTACT_JACOBIAN, 'velocity': CONTACT_VELOCITY, 'bias': CONTACT_BIAS},
    result=ContactConstraints,
    source='RBDA eq 11.25 to 11.31',
)
def contact_constraints(
    model: Model,
    q: Scalars,
    qd: Scalars,
    points: Scalars,
    normals: Scalars,
    point_rates: Scalars,
    normal_rates: Scalars,
    contacts: Pairs,
    tangents: bool,
) -> ContactConstraints:
    """Return the contact normals in joint space t_i = (J_s - J_p)^T n_i, and their velocities.

    Gravity accelerates both bodies of a contact alike, so it does not count.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :param points: contact points in base coordinates, (3 c,) [m]
    :param normals: unit normals from predecessor to successor in base coordinates, (3 c,); with
        tangents those of each contact after its normal, (9 c,)
    :param point_rates: velocities of the contact points, (3 c,) [m/s]
    :param normal_rates: rates of the normals and tangents, as many [1/s]
    :param contacts: bodies pc(i) and sc(i) of each contact, by number
    :param tangents: whether each contact has two tangents
    :return: T by its columns, one for each row of the problem
    """
    motion = bias_motion(model, q, qd)
    X0 = motion.X0
    bodies = {i for pair in contacts for i in pair}
    v: Dict[int, MotionVector] = {i: X0[i].inverse_apply(motion.v[i]) for i in bodies}
    a_vp: Dict[int, MotionVector] = {i: X0[i].inverse_apply(motion.a[i]) for i in bodies}
    T: List[List[Scalar]] = []
    velocity: List[Scalar] = []
    bias: List[Scalar] = []
    forces = contact_forces(points, normals, point_rates, normal_rates, 3 if tangents else 1)
    for (p, s), pairs in zip(contacts, forces):
        path = loop_path(model, p, s)
        J = {j: [X0[j].inverse_apply(c) for c in motion.S[j].columns] for j, _ in path}
        for n, ndot in pairs:
            t: List[Scalar] = [0.0] * model.tree_nv
            for j, sign in path:
                t[model.body(j).v] = [sign * column.dot(n) for column in J[j]]
            T.append(t)
            velocity.append((v[s] - v[p]).dot(n))
            bias.append((a_vp[s] - a_vp[p]).dot(n) + (v[s] - v[p]).dot(ndot))
    return ContactConstraints(T, velocity, bias)
