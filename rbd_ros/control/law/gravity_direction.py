# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Direction of gravity in the base of a robot: from its mounting, or from an IMU on it."""

from __future__ import annotations

from typing import Optional, Sequence

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.spatial.rotation import rpy_rotation

#: Tolerance of the norm of a quaternion, and relative tolerance of a measured acceleration to
#: gravity.
QUATERNION_TOLERANCE, MAGNITUDE_TOLERANCE = 0.05, 0.1

#: Angular velocity above which an acceleration does not measure gravity [rad/s].
STILL = 0.2

#: Time constant of the filter of accelerations [s].
ACCELERATION_FILTER = 0.5


def mounted_gravity(gravity: Sequence[float], rpy: Sequence[float]) -> FloatArray:
    """Return the gravity in base coordinates, (3,) [m/s^2], of a robot mounted with a tilt.

    :param gravity: gravity in the axes of the world, (3,) [m/s^2]
    :param rpy: orientation of the base in the world: roll, pitch, yaw as in URDF, (3,) [rad]

    >>> from rbd_ros.control.law.gravity_direction import mounted_gravity
    >>> mounted_gravity([0, 0, -9.81], [0, np.pi / 2, 0])  # on a wall, its z axis along the floor
    array([9.81, 0.  , 0.  ])
    """
    R: FloatArray = np.array(rpy_rotation(*(float(angle) for angle in rpy)))
    turned: FloatArray = R.T @ np.asarray(gravity, dtype=float)
    return turned


def down_of_orientation(quaternion: Sequence[float]) -> FloatArray:
    """Return the unit vector downwards in the axes of an IMU, (3,).

    :param quaternion: orientation of the IMU in the world, z upwards: x, y, z, w
    :raises ValueError: if it is not a unit quaternion
    """
    x, y, z, w = (float(part) for part in quaternion)
    length = float(np.sqrt(x * x + y * y + z * z + w * w))
    if not abs(length - 1.0) <= QUATERNION_TOLERANCE:  # NaN compares false
        raise ValueError(f'its orientation is not a unit quaternion: its norm is {length:g}')
    x, y, z, w = x / length, y / length, z / length, w / length
    return np.array([2.0 * (w * y - x * z), -2.0 * (w * x + y * z), 2.0 * (x * x + y * y) - 1.0])


def down_from_acceleration(acceleration: Sequence[float], gravity: float) -> FloatArray:
    """Return the vector downwards in the axes of an accelerometer at rest, about a unit vector.

    :param acceleration: measured acceleration, upwards at rest, (3,) [m/s^2]
    :param gravity: magnitude of gravity [m/s^2]
    :raises ValueError: if its magnitude differs from that of gravity
    """
    measured: FloatArray = np.array(acceleration, dtype=float)
    magnitude = float(np.linalg.norm(measured))
    if not abs(magnitude - gravity) <= MAGNITUDE_TOLERANCE * gravity:
        raise ValueError(
            f'its linear acceleration has the magnitude {magnitude:.4g} m/s^2, which differs too '
            f'much from gravity, {gravity:.4g} m/s^2'
        )
    return -measured / gravity


class FilteredDirection:
    """First-order low-pass filter of vectors, which begins at the first one.

    :param time_constant: time constant [s]
    """

    def __init__(self, time_constant: float = ACCELERATION_FILTER):
        self._time_constant = time_constant
        self._value: Optional[FloatArray] = None

    def __call__(self, value: FloatArray, dt: float) -> FloatArray:
        """Return the filtered vector, (3,), for a value `dt` [s] after the last one."""
        if self._value is None:
            self._value = value.copy()
        weight = max(dt, 0.0) / (max(dt, 0.0) + self._time_constant)
        self._value = self._value + weight * (value - self._value)
        return self._value


class TurningDirection:
    """Unit vector that rotates towards a goal at a limited rate, along the shortest path.

    :param direction: initial direction, (3,), not zero
    :param rate: maximum rate [rad/s]
    """

    def __init__(self, direction: Sequence[float], rate: float):
        self.direction = unit(direction)
        self.rate = rate
        #: Goal, a unit vector, (3,); assignable at any time
        self.goal = self.direction

    def advance(self, dt: float) -> FloatArray:
        """Return the direction `dt` [s] later, (3,)."""
        here, goal = self.direction, self.goal
        if goal is here:
            return here
        across: FloatArray = goal - (goal @ here) * here
        angle = float(np.arctan2(np.linalg.norm(across), goal @ here))
        step = self.rate * max(dt, 0.0)
        if angle <= step:
            self.direction = goal
            return goal
        length = float(np.linalg.norm(across))
        if length < 1e-9:  # opposite: all paths have the same length
            across = np.cross(here, np.eye(3)[int(np.argmin(np.abs(here)))])
            length = float(np.linalg.norm(across))
        self.direction = unit(np.cos(step) * here + np.sin(step) * across / length)
        return self.direction


def unit(vector: Sequence[float]) -> FloatArray:
    """Return the unit vector along a vector, (3,).

    :raises ValueError: for a zero vector
    """
    result: FloatArray = np.array(vector, dtype=float)
    length = float(np.linalg.norm(result))
    if not 1e-6 < length < np.inf:
        raise ValueError(f'{vector} has no direction')
    return result / length
