# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Compensation of joint friction: the friction torque for a controller to add."""

from __future__ import annotations

from typing import Union

import numpy as np

from rbd_ros.array_types import FloatArray


def friction_torque(
    v: FloatArray,
    viscous: FloatArray,
    coulomb: FloatArray,
    transition_velocity: Union[float, FloatArray],
) -> FloatArray:
    """Return the torque that compensates friction: viscous v + coulomb tanh(v / transition).

    The hyperbolic tangent replaces the sign of v, which would chatter around rest.

    :param v: velocity, (..., nv) [rad/s or m/s]
    :param viscous: viscous damping, (nv,) [N m s/rad or N s/m]
    :param coulomb: Coulomb friction, (nv,) [N m or N]
    :param transition_velocity: velocity with 76 % of the Coulomb friction (tanh 1), one number or
        (nv,) [rad/s or m/s]
    :return: torque, (..., nv) [N m or N]

    >>> friction_torque(np.array([0.0, 0.05, 1.0]), np.full(3, 2.0), np.full(3, 4.0), 0.05)
    array([0.   , 3.146, 6.   ])
    """
    torque: FloatArray = viscous * v + coulomb * np.tanh(v / transition_velocity)
    return torque
