# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Configurations as points of a manifold (book 4.4): integration of velocities."""

from typing import List, Sequence

from rbd_ros.algorithms.declaration import algorithm, INDEPENDENT
from rbd_ros.algorithms.kinds import CONFIGURATION, TIME, UNIFORM, VELOCITY
from rbd_ros.model import Model
from rbd_ros.spatial.scalar import Scalar


@algorithm(
    'integrate',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY, 'dt': TIME},
    outputs={'q': CONFIGURATION},
    coordinates=INDEPENDENT,
    source='RBDA eq 4.12 to 4.15',
    pinocchio_equivalent='integrate',
)
def integrate(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], dt: Sequence[Scalar]
) -> List[Scalar]:
    """Return the configuration after motion at a constant velocity, (nq,) [rad, m].

    Joint by joint, the exponential map: exact for rotations too, and quaternions have unit length.

    :param q: configuration, (nq,) [rad, m]
    :param qd: velocity, (nv,) [rad/s, m/s]
    :param dt: time, (1,) [s]
    """
    step = [rate * dt[0] for rate in qd]
    result: List[Scalar] = []
    for i, (at_q, at_v) in model.independent_slices.items():
        result.extend(model.body(i).joint.integrate(q[at_q], step[at_v]))
    return result


@algorithm(
    'difference',
    inputs={'q0': CONFIGURATION.named('q0'), 'q1': CONFIGURATION.named('q1')},
    outputs={'v': VELOCITY},
    coordinates=INDEPENDENT,
    source='RBDA 4.4',
    pinocchio_equivalent='difference',
)
def difference(model: Model, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> List[Scalar]:
    """Return the velocity that leads from `q0` to `q1` in unit time, (nv,) [rad/s, m/s].

    Joint by joint, the logarithm, which `integrate` undoes. Orientations take the shorter way.

    :param q0: configuration at first, (nq,) [rad, m]
    :param q1: configuration at last, (nq,) [rad, m]
    """
    result: List[Scalar] = []
    for i, (at_q, _) in model.independent_slices.items():
        result.extend(model.body(i).joint.difference(q0[at_q], q1[at_q]))
    return result


@algorithm(
    'random_configuration',
    inputs={'u': UNIFORM},
    outputs={'q': CONFIGURATION},
    coordinates=INDEPENDENT,
    source='Shoemake, Graphics Gems III, for orientations',
)
def random_configuration(model: Model, u: Sequence[Scalar]) -> List[Scalar]:
    """Return the configuration within the limits of all joints, (nq,) [rad, m].

    :param u: numbers uniform in [0, 1), as many as the joints take together
    """
    result: List[Scalar] = []
    first = 0
    for i in model.independent_slices:
        body = model.body(i)
        last = first + body.joint.uniforms
        limits = model.limits[i]
        result.extend(body.joint.sample(u[first:last], limits.lower, limits.upper))
        first = last
    return result
