# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Momentum and kinetic energy of a robot with a floating base (book example 9.3)."""

from typing import NamedTuple, Sequence

from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT, INDEPENDENT
from rbd_ros.algorithms.kinds import CONFIGURATION, SCALAR, VELOCITY
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.floating_base.floating_base_kinds import BASE_MOMENTUM
from rbd_ros.textbook.floating_base.floating_equations import floating_crba
from rbd_ros.textbook.floating_base.floating_state import (
    dot,
    floating_base,
    require_floating_base,
)


class FloatingMomentum(NamedTuple):
    """Momentum and kinetic energy of a robot with a floating base.

    :param h: spatial momentum in coordinates of the base, (6,) [N m s, N s]
    :param T: kinetic energy, rotors included [J]
    """

    h: ResultArray
    T: ResultArray


@algorithm(
    'floating_momentum',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY},
    outputs={'h': BASE_MOMENTUM, 'T': SCALAR},
    result=FloatingMomentum,
    coordinates=INDEPENDENT,
    model=EQUIVALENT,
    source='RBDA example 9.3',
    check=require_floating_base,
)
def floating_momentum(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> FloatingMomentum:
    """Return the momentum h = I0c v0 + F qd and the kinetic energy T.

    T = [v0; qd]^T [[I0c, F], [F^T, H]] [v0; qd] / 2.

    Without external forces the momentum is constant, in coordinates of the world.

    :param q: independent configuration, (nq,) [rad, m]
    :param qd: independent velocity, (nv,) [rad/s, m/s]
    :return: h, (6,) [N m s, N s], and T [J]
    """
    base = floating_base(model, q, qd)
    I0c, F, H = floating_crba(base)
    joints = ForceVector.zero()
    for column, rate in zip(F, base.qd):
        joints = joints + column * rate
    h = I0c * base.v0 + joints
    twice = base.v0.dot(h) + base.v0.dot(joints)
    for row, rate in zip(H, base.qd):
        twice = twice + rate * dot(row, base.qd)
    return FloatingMomentum(h, 0.5 * twice)
