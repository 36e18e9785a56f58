# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rolling without slipping: constraints that are linear in the velocity alone (book 3.4).

Neither body moves relative to the other where they touch, K v = 0 with three rows a contact, which
no function of the configuration has as its rate (eq 3.29): a ball that rolls has three DoFs of
velocity, and yet gets to any place in any orientation. Their derivative is an equation like that
of any other constraint, K a = k (eq 3.30).
"""

from typing import NamedTuple, Sequence

from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import CONFIGURATION, VELOCITY
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Model
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.contact_dynamics.contact_constraints import contact_constraints, Pairs
from rbd_ros.textbook.contact_dynamics.contact_kinds import (
    CONTACT_NORMAL_RATES,
    CONTACT_NORMALS,
    CONTACT_POINT_RATES,
    CONTACT_POINTS,
    CONTACTS,
    ROLLING_BIAS,
    ROLLING_JACOBIAN,
    ROLLING_VELOCITY,
    TANGENTS,
)

Scalars = Sequence[Scalar]


class RollingConstraints(NamedTuple):
    """Constraints K v = 0 and K a = k, a row for each direction of each contact.

    :param K: Jacobian, (r, nv)
    :param velocity: velocity of slip and separation K v, (r,) [m/s]
    :param k: right-hand side of K a = k, (r,) [m/s^2]
    """

    K: ResultArray
    velocity: ResultArray
    k: ResultArray


@algorithm(
    'rolling_constraints',
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
    outputs={'K': ROLLING_JACOBIAN, 'velocity': ROLLING_VELOCITY, 'k': ROLLING_BIAS},
    result=RollingConstraints,
    source='RBDA eq 3.29, 3.30',
)
def rolling_constraints(
    model: Model,
    q: Scalars,
    qd: Scalars,
    points: Scalars,
    normals: Scalars,
    point_rates: Scalars,
    normal_rates: Scalars,
    contacts: Pairs,
    tangents: bool,
) -> RollingConstraints:
    """Return the rows of rolling contacts: K = T^T and k = -Tdot^T v, with tangents in T.

    Arguments are those of `contact_constraints`.
    """
    T, velocity, bias = contact_constraints(
        model, q, qd, points, normals, point_rates, normal_rates, contacts, tangents
    )
    return RollingConstraints(T, velocity, [-x for x in bias])
