# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Check of a trajectory against the limits of a robot, with margins and feasible speeds.

Positions and velocities are judged by the extrema of their polynomials, efforts at samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

from rbd_ros.array_types import FloatArray
from rbd_ros.control.analysis.feedforward_trajectory import completed, subdivided
from rbd_ros.control.law.feedforward import EffortParts, Feedforward
from rbd_ros.control.motion.extrema import extrema
from rbd_ros.control.motion.time_scaling import excluded_speeds, feasible_speeds
from rbd_ros.control.motion.trajectory import JointTrajectory
from rbd_ros.control.motion.trajectory_checks import END_VELOCITY_TOLERANCE

#: Samples of the efforts in a trajectory, and in each segment of one that has not too many. They
#: are at the same places however long the motion takes.
SAMPLES, SAMPLES_OF_SEGMENT, MANY_SEGMENTS = 1000, 4, 10_000

#: Part of a joint's maximum velocity that is rounding: Coulomb friction would follow its sign.
REST = 1e-9

#: By how much, relative to the limit, the fastest motion may exceed one, for limits that are
#: reached on purpose; and by how much it may be so in the end.
ROUNDING, TOLERANCE = 1e-8, 3e-8


@dataclass(frozen=True)
class Margin:
    """Margin of a joint where it comes closest to one of its limits.

    :param joint: name of the joint
    :param quantity: 'effort', 'velocity' or 'position'
    :param margin: limit minus value; negative beyond it [N m, N, rad/s, m/s, rad or m]
    :param value: the value there
    :param limit: the limit, with the sign of the value
    :param time: time of the trajectory [s]

    >>> from rbd_ros.control import Margin
    >>> Margin('elbow', 'velocity', -0.25, 2.25, 2.0, 0.5).within_limits  # 2.25 > 2 rad/s
    False
    """

    joint: str
    quantity: str
    margin: float
    value: float
    limit: float
    time: float

    @property
    def within_limits(self) -> bool:
        """True if the limit is kept, up to rounding."""
        return self.margin >= -TOLERANCE * max(abs(self.limit), 1.0)


@dataclass(frozen=True)
class TrajectoryReport:
    """Result of `check_trajectory`.

    :param margins: the worst one of each joint of the trajectory and each of its limits
    :param duration: time from the first point to the last [s]
    :param min_time_scale: minimum factor of all times that keeps all limits; 0: any factor; None:
        there is none
    :param safe_time_scale: minimum factor such that all larger ones keep the limits; None: none,
        because a limit is exceeded at rest
    :param obstacles: limits that are exceeded at any speed: by positions, or by efforts that hold
        the robot against gravity and Coulomb friction

    >>> from rbd_ros.control import check_trajectory
    >>> line = JointTrajectory(arm, [0.0, 1.0], [q, q + 0.2])
    >>> report = check_trajectory(Feedforward(robot), line)
    >>> report.within_limits, report.margins_of('velocity')['elbow_joint'].margin
    (True, 2.8416)
    """

    margins: Tuple[Margin, ...]
    duration: float
    min_time_scale: Optional[float]
    safe_time_scale: Optional[float]
    obstacles: Tuple[Margin, ...]

    @property
    def within_limits(self) -> bool:
        """True if the trajectory keeps all limits without scaling."""
        return all(margin.within_limits for margin in self.margins)

    def margins_of(self, quantity: str) -> Dict[str, Margin]:
        """Return the worst margins of 'effort', 'velocity' or 'position' by joint, if limited."""
        return {m.joint: m for m in self.margins if m.quantity == quantity}


def check_trajectory(
    feedforward: Feedforward,
    trajectory: JointTrajectory,
    missing_joints: Optional[Mapping[str, float]] = None,
    *,
    velocity_limits: Any = None,
) -> TrajectoryReport:
    """Return the worst margins of a trajectory to the limits of its joints, and its time scales.

    Extrema of positions and velocities are exact. Efforts are sampled at a thousand or more times,
    including both sides of each point. Joints that the trajectory does not name are checked for
    effort, since they are held.

    :param feedforward: the robot, its forces besides the motion, and its effort limits
    :param trajectory: motion of some or all of its joints, in any order
    :param missing_joints: positions of the joints that it does not name [rad or m]
    :param velocity_limits: maximum speeds, (nv,) in the order of the robot; None: the robot's
    :raises TrajectoryError: with the joint or point, and the cure

    >>> from rbd_ros.control import check_trajectory, Feedforward, JointTrajectory
    >>> arm = Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))
    >>> ends = [[0.0] * 6, [3.0, -1.0, 1.0, 0.0, 0.0, 0.0]]
    >>> motion = JointTrajectory(arm.joint_names, [0.0, 1.0], ends)
    >>> report = check_trajectory(Feedforward(arm), motion)
    >>> report.within_limits, round(report.min_time_scale, 3)
    (False, 1.432)
    """
    robot = feedforward.robot
    whole = completed(feedforward, trajectory, missing_joints)
    limits = feedforward.settings.effort_limits
    speeds = robot.velocity_limits if velocity_limits is None else np.asarray(velocity_limits)
    if np.shape(speeds) != (robot.nv,) or not (speeds >= 0.0).all():
        raise ValueError(
            f'velocity_limits must be {robot.nv} numbers that are not negative, one for each joint'
        )
    times, _, parts = _sampled(feedforward, whole)
    positions, velocities, slowest = _motion_margins(robot, whole, speeds)
    efforts = _effort_margins(whole.joint_names, times, parts.total, limits)
    margins = [m for m in (*positions, *velocities) if m.joint in trajectory.joint_names]
    held = _effort_margins(whole.joint_names, times, parts.static, limits)
    obstacles = [m for m in margins if m.quantity == 'position' and not m.within_limits]
    obstacles += [m for m in held if not m.within_limits]
    low, high = excluded_speeds(*parts, limits * (1.0 + ROUNDING))
    found = feasible_speeds(low, high, 1.0 / slowest if slowest > 0.0 else np.inf)
    possible = found is not None and not any(m.quantity == 'position' for m in obstacles)
    return TrajectoryReport(
        margins=(*efforts, *margins),
        duration=trajectory.duration,
        min_time_scale=_factor(found.fastest) if found is not None and possible else None,
        safe_time_scale=_factor(found.safe)
        if found is not None and possible and found.safe
        else None,
        obstacles=tuple(obstacles),
    )


def effort_samples(
    feedforward: Feedforward,
    trajectory: JointTrajectory,
    missing_joints: Optional[Mapping[str, float]] = None,
) -> Tuple[FloatArray, FloatArray]:
    """Return the efforts that `check_trajectory` samples, ordered by time.

    A point has two samples if acceleration or friction jumps there; the ends have samples at rest.

    :param feedforward: see `check_trajectory`
    :param missing_joints: positions of the joints that it does not name
    :return: times, (N,) [s], and efforts of all joints, (N, nv) [N m or N]
    """
    whole = completed(feedforward, trajectory, missing_joints)
    times, segment, parts = _sampled(feedforward, whole)
    # Samples that end a segment precede those that begin the next one, despite rounding.
    order = np.lexsort((segment, np.round(times, 9)))
    return times[order], parts.total[order]


def _factor(speed: float) -> float:
    return 0.0 if np.isinf(speed) else 1.0 / speed


def _sampled(
    feedforward: Feedforward, trajectory: JointTrajectory
) -> Tuple[FloatArray, NDArray[np.intp], EffortParts]:
    """Return the times, segments and efforts of samples: at points, in between and at the ends.

    The robot rests at the first point before the motion and at the last one after it, unless the
    motion does not end at rest.
    """
    q, ends = trajectory.positions, trajectory.times[[0, -1]]
    if len(q) == 1:
        still = np.zeros_like(q)
        return ends[:1], np.zeros(1, dtype=int), feedforward.parts(q, still, still)
    count = len(q) - 1
    segment, after, _ = subdivided(
        trajectory,
        trajectory.duration / SAMPLES,
        SAMPLES_OF_SEGMENT if count <= MANY_SEGMENTS else 1,
    )
    segment = np.append(segment, np.arange(count))
    after = np.append(after, np.diff(trajectory.times))
    motion = trajectory.within_segments(segment, after)
    times, v = trajectory.times[segment] + after, motion[1]
    v[np.abs(v) <= REST * np.abs(v).max(axis=0)] = 0.0
    rests = np.abs(v[[0, -1]]).max(axis=1) <= END_VELOCITY_TOLERANCE
    still = np.zeros((int(rests.sum()), q.shape[1]))
    here = q[[0, -1]][rests]
    moments = (np.concatenate([x, y]) for x, y in zip(motion, (here, still, still)))
    return (
        np.append(times, ends[rests]),
        np.append(segment, np.array([-1, count])[rests]),
        feedforward.parts(*moments),
    )


def _effort_margins(
    names: Tuple[str, ...], times: FloatArray, efforts: FloatArray, limits: FloatArray
) -> List[Margin]:
    worst = np.abs(efforts).argmax(axis=0)
    result = []
    for j, name in enumerate(names):
        if np.isfinite(limits[j]):
            value = float(efforts[worst[j], j])
            limit = float(np.copysign(limits[j], value))
            margin = float(limits[j] - abs(value))
            result.append(Margin(name, 'effort', margin, value, limit, float(times[worst[j]])))
    return result


def _motion_margins(
    robot: Any, trajectory: JointTrajectory, speeds: FloatArray
) -> Tuple[List[Margin], List[Margin], float]:
    """Return the worst margins of position and velocity, and the velocities' time factor."""
    positions, velocities, factor = [], [], 0.0
    for j, name in enumerate(trajectory.joint_names):
        lower, upper = float(robot.lower_limits[j]), float(robot.upper_limits[j])
        low, high = extrema(trajectory, j)
        ends = [
            Margin(name, 'position', margin, value, limit, time)
            for margin, value, limit, time in (
                (low[0] - lower, low[0], lower, low[1]),
                (upper - high[0], high[0], upper, high[1]),
            )
            if np.isfinite(limit)
        ]
        if ends:
            positions.append(min(ends, key=lambda m: m.margin))
        if np.isfinite(speeds[j]):
            value, time = max(extrema(trajectory, j, velocity=True), key=lambda end: abs(end[0]))
            limit = float(np.copysign(speeds[j], value))
            margin = float(speeds[j] - abs(value))
            velocities.append(Margin(name, 'velocity', margin, value, limit, time))
            if value:
                ratio = abs(value) / speeds[j] if speeds[j] else np.inf
                factor = max(factor, float(ratio) / (1.0 + ROUNDING))
    return positions, velocities, factor
