# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A fast, smooth motion for any arm, to show or test tracking.

Every joint swings about a center as sin(n s), with an integer n per joint, while s runs from 0 to
2 pi with a smooth start and stop: the arm ends at its start. The limits of position, velocity and
torque determine the duration. Self-collisions are not considered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Tuple

import numpy as np

from rbd_ros.control.law.friction_compensation import friction_torque
from rbd_ros.control.motion.trajectory import JointTrajectory
from rbd_ros.robot import Robot

SWINGS = (1, 2, 1, 2, 3, 2)  # swings of the first, second ... joint in one motion
WIDE_RANGE = 2.0 * np.pi  # the middle of a range beyond this is not a typical position [rad]
BENT = 0.5  # center for such joints, away from the singular straight arm [rad]
MAX_SWING = 1.0  # maximum amplitude of one swing; of n swings, each is n times smaller [rad]
MAX_SLIDE = 0.15  # likewise, of a prismatic joint [m]
PART_OF_RANGE = 0.35  # maximum amplitude relative to the joint's range; 0.5 would touch the limits
SAMPLES = 400
SEARCH_STEPS = 40


@dataclass(frozen=True)
class Demonstration:
    """A motion and its requirements for the arm.

    :param trajectory: the motion, starting and ending at the center of the swings
    :param amplitude: amplitude of each joint, (nv,) [rad or m]
    :param peak_velocity: maximum speed of each joint, (nv,) [rad/s or m/s]
    :param peak_torque: maximum torque of each joint, including friction, (nv,) [N m or N]
    :param limited_by: text about the limit that determines the duration
    """

    trajectory: JointTrajectory
    amplitude: np.ndarray
    peak_velocity: np.ndarray
    peak_torque: np.ndarray
    limited_by: str


def demonstration(
    robot: Robot,
    *,
    min_duration: float = 3.0,
    max_duration: float = 8.0,
    velocity_part: float = 0.8,
    torque_part: float = 0.7,
    point_interval: float = 0.02,
    center: Optional[Any] = None,
) -> Demonstration:
    """Return the fastest motion of its kind within the limits of the robot.

    If `max_duration` is too short, the amplitudes are reduced.

    :param robot: an arm whose joints all have one degree of freedom
    :param min_duration: minimum duration [s]
    :param max_duration: maximum duration [s]
    :param velocity_part: usable fraction of the velocity limits
    :param torque_part: usable fraction of the effort limits
    :param point_interval: time between the points of the trajectory [s]
    :param center: configuration about which the joints swing, (nq,); None: chosen
    :raises ValueError: for joints with several degrees of freedom, a center beyond the limits, or
        an arm too weak to stand still there, with the joints
    """
    if not len(robot.joint_names) == robot.nv == robot.nq:
        raise ValueError(
            'the demonstration supports arms only: each joint must have one degree of freedom'
        )
    if robot.nv == 0:
        raise ValueError('the robot has no movable joint')
    planner = _Planner(robot, velocity_part, torque_part, center)
    amplitude = planner.amplitude
    for _ in range(SEARCH_STEPS):
        if planner.violated(max_duration, amplitude) is None:
            return planner.finish(min_duration, max_duration, amplitude, point_interval)
        amplitude = 0.8 * amplitude
    raise ValueError(
        f'no motion found within the limits: {planner.violated(max_duration, amplitude)}'
    )


def smooth_phase(part: np.ndarray) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the phase from 0 to 1 and its first two derivatives, which are zero at both ends.

    :param part: elapsed fraction of the duration, between 0 and 1
    """
    x = part
    return (
        x**3 * (10.0 - 15.0 * x + 6.0 * x**2),
        30.0 * x**2 * (1.0 - x) ** 2,
        60.0 * x * (1.0 - x) * (1.0 - 2.0 * x),
    )


class _Planner:
    def __init__(self, robot: Robot, velocity_part: float, torque_part: float, center: Any):
        self.robot = robot
        self.swings = np.resize(SWINGS, robot.nv)
        self.velocity = velocity_part * robot.velocity_limits
        self.torque = torque_part * robot.effort_limits
        lower, upper = robot.lower_limits, robot.upper_limits
        sliding = np.array(
            [robot.model.body(i).urdf_type == 'prismatic' for i in robot.model.independent]
        )
        self.center = self._center(sliding) if center is None else np.array(center, dtype=float)
        if self.center.shape != (robot.nq,) or not np.isfinite(self.center).all():
            raise ValueError(f'center must be {robot.nq} finite numbers, got {center}')
        range_ = np.minimum(self.center - lower, upper - self.center)
        if (range_ < 0.0).any():
            raise ValueError(f'center is outside the limits of joint {self._names(range_ < 0.0)}')
        largest = np.where(sliding, MAX_SLIDE, MAX_SWING) / self.swings
        self.amplitude = np.minimum(largest, 2.0 * PART_OF_RANGE * range_)
        weak = np.abs(robot.gravity_torque(self.center)) > self.torque
        if weak.any():
            raise ValueError(
                f'joint {self._names(weak)} cannot hold the arm within {torque_part:.0%} of its '
                'effort limit'
            )

    def _names(self, chosen: np.ndarray) -> str:
        return ', '.join(np.array(self.robot.joint_names)[chosen])

    def _center(self, sliding: np.ndarray) -> np.ndarray:
        lower, upper = self.robot.lower_limits, self.robot.upper_limits
        narrow = upper - lower <= WIDE_RANGE
        with np.errstate(invalid='ignore'):  # inf - inf for joints without limits
            middle = (lower + upper) / 2.0
        bent = np.where(sliding, 0.0, BENT)
        return np.where(narrow, middle, np.clip(bent, lower, upper))

    def motion(
        self, duration: float, amplitude: np.ndarray, times: np.ndarray
    ) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the position, velocity and acceleration at times, each (P, nv)."""
        s, ds, dds = smooth_phase(np.clip(times / duration, 0.0, 1.0))
        angle = 2.0 * np.pi * np.outer(s, self.swings)
        rate = 2.0 * np.pi * np.outer(ds, self.swings) / duration
        growth = 2.0 * np.pi * np.outer(dds, self.swings) / duration**2
        q = self.center + amplitude * np.sin(angle)
        v = amplitude * np.cos(angle) * rate
        a = amplitude * (np.cos(angle) * growth - np.sin(angle) * rate**2)
        return q, v, a

    def peaks(self, duration: float, amplitude: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        q, v, a = self.motion(duration, amplitude, np.linspace(0.0, duration, SAMPLES))
        tau = self.robot.inverse_dynamics(q, v, a)
        tau = tau + friction_torque(v, self.robot.damping, self.robot.friction, 0.02)
        return np.abs(v).max(axis=0), np.abs(tau).max(axis=0)

    def violated(self, duration: float, amplitude: np.ndarray) -> Optional[str]:
        """Return a text about the limit that a motion exceeds most; None if it keeps all."""
        velocity, torque = self.peaks(duration, amplitude)
        if not np.isfinite(torque).all():
            return f'torque of joint {self._names(~np.isfinite(torque))} is not finite'
        candidates = []
        for what, value, limit in (
            ('velocity limit', velocity, self.velocity),
            ('effort limit', torque, self.torque),
        ):
            excess = np.divide(
                value, limit, out=np.where(value > 0.0, np.inf, 0.0), where=limit > 0.0
            )
            j = int(np.argmax(excess))
            candidates.append((excess[j], f'{what} of joint {self.robot.joint_names[j]}'))
        worst, text = max(candidates)
        return text if worst > 1.0 else None

    def finish(
        self, min_duration: float, max_duration: float, amplitude: np.ndarray, interval: float
    ) -> Demonstration:
        duration, reason = max_duration, 'shortest duration asked for'
        if self.violated(min_duration, amplitude) is None:
            duration = min_duration
        else:
            low = min_duration
            for _ in range(SEARCH_STEPS):
                middle = (low + duration) / 2.0
                problem = self.violated(middle, amplitude)
                low, duration = (low, middle) if problem is None else (middle, duration)
                reason = problem or reason
        times = np.linspace(0.0, duration, max(int(np.ceil(duration / interval)), 2) + 1)
        q, v, a = self.motion(duration, amplitude, times)
        v[[0, -1]] = a[[0, -1]] = 0.0  # exactly at rest
        trajectory = JointTrajectory(self.robot.joint_names, times, q, v, a)
        velocity, torque = self.peaks(duration, amplitude)
        return Demonstration(trajectory, amplitude, velocity, torque, reason)
