# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Trajectories prepared and checked outside the control loop, which then uses them whole."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from rbd_ros.array_types import FloatArray
from rbd_ros.control.motion.blending import Bounds, Offset, Still
from rbd_ros.control.motion.path_motion import Path
from rbd_ros.control.motion.trajectory import JointTrajectory
from rbd_ros.control.motion.trajectory_checks import (
    check_known,
    MAX_POSITION,
    MAX_VELOCITY,
    TrajectoryError,
)
from rbd_ros.control.robot_joints import shown
from rbd_ros.robot.wraparound import Wraparound

NANOSECONDS = 1_000_000_000
Indices = NDArray[np.intp]
MAX_DELAY = 3600.0  # a later begin indicates another clock [s]


class MotionPlan(NamedTuple):
    """A prepared and checked motion, which `DesiredMotion.follow` starts.

    :param trajectory: the motion; None: stop
    :param joints: indices of its joints, (m,); all for a stop
    :param entry: time of the trajectory at which it is entered [s]
    :param begin: time of the states at which it begins [ns]; None: as soon as possible
    :param clock: time of the motion's own clock at which it is entered [s]
    :param starts_at_rest: whether it begins from rest, and therefore at any time
    :param epochs: numbers of the motions of its joints that it continues, (m,)
    :param bounds: limits of the trajectory
    :param text: description for the log
    """

    trajectory: Optional[JointTrajectory]
    joints: Indices
    entry: float
    begin: Optional[int]
    clock: float
    starts_at_rest: bool
    epochs: Indices
    bounds: Bounds
    text: str

    def has_joints(self, joints: Indices) -> bool:
        """Return whether it moves any of these joints."""
        return np.intersect1d(self.joints, joints).size > 0

    def continues(self, epochs: Indices) -> bool:
        """Return whether it still continues the present motions, given all epochs, (n,)."""
        return bool((epochs[self.joints] == self.epochs).all())


class GroupSnapshot(NamedTuple):
    """Motion of a group of joints at one moment, for other threads.

    :param joints: indices of the joints in the robot, (m,)
    :param rows: indices of the joints in the path, (m,)
    :param path: the path
    :param s: present time of the path [s]
    :param offset: difference to the previous motion; None: none
    :param q: position, of all joints of the path
    :param v: velocity, likewise
    """

    joints: Indices
    rows: Indices
    path: Path
    s: float
    offset: Optional[Offset]
    q: FloatArray
    v: FloatArray

    def expected(self, delay: float) -> Tuple[FloatArray, FloatArray]:
        """Return the estimate of position and velocity after a delay [s], each (m,)."""
        q, v = self.q, self.v
        if delay != 0.0:
            q, v, a = self.path.sample(self.s + delay)
            if self.offset is not None:
                q, v, a = self.offset.after(delay)[0].added_to(q, v, a)
        return q[self.rows], v[self.rows]


class MotionSnapshot(NamedTuple):
    """The motion at one moment, for other threads.

    :param epochs: number of each joint's motion, which each interruption raises, (n,)
    :param groups: groups of joints; a later one overrides earlier ones
    """

    epochs: Indices
    groups: Tuple[GroupSnapshot, ...]

    def expected(self, delay: float) -> Tuple[FloatArray, FloatArray]:
        """Return estimate of position and velocity of all joints after a delay [s], each (n,)."""
        q, v = np.empty((2, len(self.epochs)))
        for group in self.groups:
            q[group.joints], v[group.joints] = group.expected(delay)
        return q, v

    def motion_after_start(self, plan: MotionPlan) -> MotionSnapshot:
        """Return the motion after the next state has started a plan that begins now."""
        q, v = (values[plan.joints] for values in self.expected(0.0))
        path = Still(q) if plan.trajectory is None else plan.trajectory
        rows = np.arange(len(plan.joints))
        group = GroupSnapshot(plan.joints, rows, path, plan.entry, None, q, v)
        return self._replace(groups=(*self.groups, group))


class TrajectoryPoints(NamedTuple):
    """Points of a trajectory, as arguments of `DesiredMotion.plan`."""

    times: Any
    positions: Any
    velocities: Any
    accelerations: Any


class MotionPlanner:
    """Planner of motions of a robot, independent of its present motion.

    :param names: names of the joints
    :param limits: their limits
    :param wraparound: continuous joints
    """

    def __init__(self, names: Sequence[str], limits: Bounds, wraparound: Wraparound):
        self._names, self._limits, self._wraparound = names, limits, wraparound

    def plan(
        self,
        motion: MotionSnapshot,
        clock: float,
        joint_names: Sequence[str],
        points: TrajectoryPoints,
        *,
        now: int,
        begin: int,
        allow_partial: bool,
        check_limits: bool,
        start_tolerance: float,
    ) -> MotionPlan:
        """See `DesiredMotion.plan`.

        :param motion: the motion that the plan continues
        :param clock: time of the plan's clock [s]
        """
        if not len(points.times):
            text = 'stop: the node holds the current desired position'
            whole = np.arange(len(self._names))
            return MotionPlan(
                None, whole, 0.0, None, clock, False, motion.epochs, self._limits, text
            )
        check_known(joint_names, self._names)
        elapsed = (now - begin) / NANOSECONDS if begin else 0.0
        if -elapsed > MAX_DELAY:
            raise TrajectoryError(
                f'trajectory begins in {-elapsed:.0f} s: header.stamp must be in the time of '
                'joint_states, or 0',
                code='trajectory in the far future',
            )
        trajectory = JointTrajectory(joint_names, *points)
        if elapsed > 0.0 and elapsed >= trajectory.end_time:
            raise TrajectoryError(
                f'trajectory ended {elapsed - trajectory.end_time:.3f} s ago',
                code='trajectory in the past',
            )
        entry = max(elapsed, 0.0)
        named = trajectory.joint_names if allow_partial else self._names
        order = [j for j, name in enumerate(self._names) if name in named]
        trajectory = trajectory.for_joints([self._names[j] for j in order])
        joints: Indices = np.array(order)
        limits, wraparound = self._limits.of(joints), self._wraparound.of(joints)
        q, v = (values[joints] for values in motion.expected(max(-elapsed, 0.0)))
        if wraparound.any:
            speeds = np.minimum(limits.velocity, MAX_VELOCITY)
            trajectory = trajectory.unwrapped(wraparound, speeds)
            # The robot moves to the turn of the trajectory, as in ros2_control's controller.
            q = wraparound.nearest(q, trajectory.sample(entry)[0])
        trajectory = trajectory.starting_from(q, v, entry)
        bounds = _checked_bounds(trajectory, limits, check_limits)
        _check_start(trajectory.joint_names, trajectory.sample(entry)[0] - q, start_tolerance)
        start = f'in {-elapsed:.3f} s' if elapsed < 0.0 else 'now'
        text = (
            f'trajectory of {len(points.times)} points, {trajectory.end_time:g} s, begins {start}'
        )
        later = begin if elapsed < 0.0 else None
        waits = not begin and not motion.expected(0.0)[1][joints].any()
        clock += max(-elapsed, 0.0)
        epochs = motion.epochs[joints]
        return MotionPlan(trajectory, joints, entry, later, clock, waits, epochs, bounds, text)


def _checked_bounds(trajectory: JointTrajectory, limits: Bounds, check_limits: bool) -> Bounds:
    """Return the limits of a trajectory: those of its joints, or wider ones if permitted."""
    if check_limits:
        speeds = np.minimum(limits.velocity, MAX_VELOCITY)
        trajectory.check_limits(limits.lower, limits.upper, speeds)
        return limits
    n = len(limits.velocity)
    most = np.full(n, MAX_POSITION)
    trajectory.check_limits(-most, most, np.full(n, MAX_VELOCITY))
    return Bounds(-most, most, np.maximum(limits.velocity, trajectory.speed_bounds()))


def _check_start(names: Sequence[str], jump: FloatArray, tolerance: float) -> None:
    worst = int(np.argmax(np.abs(jump)))
    if 0.0 < tolerance < abs(jump[worst]):
        raise TrajectoryError(
            f'trajectory begins {abs(jump[worst]):.3f} rad or m away from the desired position '
            f'of joint {shown(names[worst])} (start_tolerance {tolerance:g}); give its first '
            'point a time_from_start, in which the robot moves there',
            names[worst],
            0,
            code='trajectory begins too far away',
        )
