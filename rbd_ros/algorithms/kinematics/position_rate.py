# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rate of the configuration, which differs from the velocity for quaternions (book 3.1)."""

from dataclasses import replace
from typing import List, Sequence

from rbd_ros.algorithms.declaration import algorithm, INDEPENDENT
from rbd_ros.algorithms.kinds import CONFIGURATION, VELOCITY
from rbd_ros.model import Model
from rbd_ros.spatial.scalar import Scalar

POSITION_RATE = replace(
    CONFIGURATION,
    symbol='q_rate',
    meaning='rate of the configuration',
    unit='[rad/s, m/s]',
    to_tree=None,
    tangents=None,
)


@algorithm(
    'position_rate',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY},
    outputs={'q_rate': POSITION_RATE},
    coordinates=INDEPENDENT,
    source='RBDA 3.1, 4.4, eq 4.13',
)
def position_rate(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> List[Scalar]:
    """Return the derivative of the configuration by time, Q(q) qd.

    The book's qdfn, (nq,) [rad/s, m/s].

    It has as many numbers as the configuration: four for an orientation.

    :param q: configuration, (nq,) [rad, m]
    :param qd: velocity, (nv,) [rad/s, m/s]

    >>> np.allclose(robot.kernel('position_rate').function(q, v), v)  # hinges only
    True
    """
    result: List[Scalar] = []
    for i, (at_q, at_v) in model.independent_slices.items():
        result.extend(model.body(i).joint.position_rate(q[at_q], qd[at_v]))
    return result
