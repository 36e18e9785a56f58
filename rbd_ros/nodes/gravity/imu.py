# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Gravity in the base from an IMU on the robot, with checks of its messages.

A rejected message is reported and changes nothing: the last valid direction stays. Gravity turns
to a new direction at a limited rate.
"""

from __future__ import annotations

import math
import time
from typing import Any, Callable, Dict, Optional

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import Imu

from rbd_ros.control.law.gravity_direction import (
    down_from_acceleration,
    down_of_orientation,
    FilteredDirection,
    STILL,
    TurningDirection,
    unit,
)
from rbd_ros.nodes.common.communication import subscription
from rbd_ros.nodes.common.diagnostics import Diagnostics, OK, WARN
from rbd_ros.nodes.gravity.gravity_interface import IMU
from rbd_ros.nodes.messages.text import shorten
from rbd_ros.robot import Robot

SUBJECT = 'imu'
UNKNOWN = -1.0  # first element of a covariance if the quantity is not measured (sensor_msgs/Imu)
MAX_STEP = 0.1  # maximum time by which gravity turns in one step [s]


class ImuGravity:
    """Gravity that follows an IMU.

    :param configuration: returns the last measured configuration, (nq,), or None
    :param gravity: gravity before the first message, in base coordinates, (3,) [m/s^2]; its
        magnitude always applies
    :param values: parameters of the node
    :param diagnostics: diagnostics of the node
    """

    def __init__(
        self,
        node: Node,
        robot: Robot,
        configuration: Callable[[], Optional[np.ndarray]],
        gravity: np.ndarray,
        values: Dict[str, Any],
        diagnostics: Diagnostics,
    ):
        self._robot, self._configuration, self._diagnostics = robot, configuration, diagnostics
        #: Magnitude of gravity [m/s^2]; assignable at any time
        self.magnitude = float(np.linalg.norm(gravity))
        self._frame, self._timeout = values['imu_frame'], values['imu_timeout']
        self._turning = TurningDirection(gravity, values['gravity_slew_rate'])
        self._filter = FilteredDirection()
        self._last = -math.inf
        self._poses: Dict[str, Any] = {}
        self._used = ''
        diagnostics.condition(SUBJECT, WARN, f'waiting for messages on {IMU.name}', code='waiting')
        diagnostics.add_values(SUBJECT, self.values)
        subscription(node, IMU, self._on_message)

    def advance(self, dt: float) -> np.ndarray:
        """Return gravity in base coordinates `dt` [s] later, (3,) [m/s^2]; in the control loop."""
        step = min(dt, MAX_STEP) if dt > 0.0 else 0.0
        return self.magnitude * self._turning.advance(step)

    @property
    def direction(self) -> np.ndarray:
        """Present unit vector downwards in base coordinates, (3,)."""
        return self._turning.direction

    # -- messages, in the executor ----------------------------------------------------------------

    def _on_message(self, message: Imu) -> None:
        try:
            pose = self._pose(self._frame or message.header.frame_id.lstrip('/'))
            goal = self._direction(message, pose)
        except ValueError as error:
            self._diagnostics.event(SUBJECT, WARN, f'message rejected: {error}', code='rejected')
            return
        if goal is None:
            return
        self._turning.goal = goal
        self._last = time.monotonic()
        self._diagnostics.condition(
            SUBJECT, OK, f'gravity follows {self._used}', code=f'good {self._used}'
        )

    def _pose(self, frame: str) -> np.ndarray:
        """Return the orientation of the IMU in the base, (3, 3).

        :raises ValueError: for an unknown link, or an unknown state of the robot
        """
        if not frame:
            raise ValueError(
                'frame_id is empty; give it the link that carries the IMU, or set imu_frame'
            )
        if frame not in self._robot.link_names:
            raise ValueError(
                f'the robot has no link {shorten([frame])}; set imu_frame to the link that '
                'carries the IMU'
            )
        q = self._configuration()
        if q is None:
            raise ValueError('no joint states yet, so the orientation of the IMU is unknown')
        if frame not in self._poses:
            self._poses[frame] = self._robot.frame(frame).pose
        return self._poses[frame](q)[:3, :3]

    def _direction(self, message: Imu, R: np.ndarray) -> Optional[np.ndarray]:
        """Return the unit vector downwards in the base, (3,); None if the message has none.

        :raises ValueError: for invalid numbers
        """
        if message.orientation_covariance[0] != UNKNOWN:
            o = message.orientation
            self._used = 'the orientation of the IMU'
            return unit(R @ down_of_orientation((o.x, o.y, o.z, o.w)))
        if message.linear_acceleration_covariance[0] == UNKNOWN:
            raise ValueError('it has neither orientation nor linear acceleration')
        a, w = message.linear_acceleration, message.angular_velocity
        down = down_from_acceleration((a.x, a.y, a.z), self.magnitude)
        # A rotating sensor also accelerates. A covariance says whether the rate is measured.
        turning = math.sqrt(w.x * w.x + w.y * w.y + w.z * w.z)
        if message.angular_velocity_covariance[0] != UNKNOWN and not turning <= STILL:
            if math.isnan(turning):
                raise ValueError('its angular velocity is not a number')
            return None
        now = time.monotonic()
        self._used = 'the acceleration of the IMU'
        pause = now - self._last if self._last > -math.inf else 0.0
        return unit(self._filter(R @ down, min(pause, self._timeout)))

    # -- reports ----------------------------------------------------------------------------------

    def every_second(self) -> None:
        """Report that no usable message has come for some time."""
        age = time.monotonic() - self._last
        if math.isfinite(age) and age > self._timeout:
            self._diagnostics.condition(
                SUBJECT,
                WARN,
                f'no usable message for {self._timeout:g} s: the last direction of gravity is '
                'kept',
                code='stale',
            )

    def values(self) -> Dict[str, Any]:
        """Return the key-value pairs for diagnostics."""
        g = self.magnitude * self._turning.direction
        return {f'gravity_{axis}': float(x) for axis, x in zip('xyz', g)}
