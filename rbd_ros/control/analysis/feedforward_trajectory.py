# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Trajectories with efforts, which controllers add to their feedback."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import List, Mapping, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from rbd_ros.array_types import FloatArray
from rbd_ros.control.law.feedforward import Feedforward
from rbd_ros.control.motion.trajectory import JointTrajectory, MotionSample
from rbd_ros.control.motion.trajectory_checks import (
    check_size,
    END_VELOCITY_TOLERANCE,
    MAX_VELOCITY,
    TrajectoryError,
)
from rbd_ros.control.robot_joints import listed, shown
from rbd_ros.model import Model
from rbd_ros.robot.wraparound import Wraparound

IndexArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class FeedforwardTrajectory:
    """Points of a trajectory with efforts; arrays have one row a point.

    :param joint_names: names of the n joints
    :param times: times of the P points, (P,) [s]
    :param positions: positions, (P, n) [rad or m]
    :param velocities: velocities, (P, n); None: not given
    :param accelerations: accelerations, (P, n); None: not given
    :param efforts: efforts, (P, n) [N m or N]

    >>> from rbd_ros.control import add_feedforward
    >>> line = JointTrajectory(arm, [0.0, 1.0], [q, q + 0.2])
    >>> add_feedforward(Feedforward(robot), line).efforts[-1]  # holds the arm at the end [N m]
    array([  0.   ,  -7.8  , -20.01 ,  -1.839,   0.175,   0.   ])
    """

    joint_names: Tuple[str, ...]
    times: FloatArray
    positions: FloatArray
    velocities: Optional[FloatArray]
    accelerations: Optional[FloatArray]
    efforts: FloatArray


def add_feedforward(
    feedforward: Feedforward,
    trajectory: JointTrajectory,
    missing_joints: Optional[Mapping[str, float]] = None,
    point_spacing: Optional[float] = None,
) -> FeedforwardTrajectory:
    """Return the trajectory with its efforts.

    Missing velocities and accelerations are those of the smooth motion through the points; at a
    jump of the acceleration, the mean counts. If a motion ends at rest, the effort of its last
    point holds the robot there, since controllers keep sending it.

    :param feedforward: the robot, and its forces besides the motion
    :param trajectory: motion of some or all of its joints, in any order
    :param missing_joints: positions of the joints that it does not name [rad or m]
    :param point_spacing: maximum time between points [s]: points are inserted, and all points get
        velocities and accelerations, since controllers interpolate efforts linearly; None: no
        points, but positions that wrap at pi continue beyond it
    :raises TrajectoryError: with the joint or point, and the cure

    >>> from rbd_ros.control import add_feedforward, Feedforward, JointTrajectory
    >>> arm = Robot.from_urdf(resource_path('urdf', 'two_link_arm.urdf'))
    >>> line = JointTrajectory(arm.joint_names, [0.0, 1.0], [[0.0, 0.0], [0.5, 0.0]])
    >>> add_feedforward(Feedforward(arm), line).efforts.shape
    (2, 2)
    >>> add_feedforward(Feedforward(arm), line, point_spacing=0.1).efforts.shape
    (11, 2)
    """
    names = trajectory.joint_names
    whole = completed(feedforward, trajectory, missing_joints)
    if point_spacing is not None:
        times, q, v, a = _denser(whole, point_spacing)
    else:
        times, (q, v, a) = whole.times, _at_points(whole)
    rests = bool(np.abs(v[-1]).max() <= END_VELOCITY_TOLERANCE)
    held = a
    if rests:
        held = a.copy()
        held[-1] = 0.0
    efforts = feedforward.efforts(q, v, held)
    index = {name: i for i, name in enumerate(whole.joint_names)}
    columns = [index[name] for name in names]
    if point_spacing is None:
        given = whole.positions[:, columns], trajectory.velocities, trajectory.accelerations
        return FeedforwardTrajectory(names, times, *given, efforts[:, columns])
    return FeedforwardTrajectory(
        names, times, q[:, columns], v[:, columns], a[:, columns], efforts[:, columns]
    )


def completed(
    feedforward: Feedforward,
    trajectory: JointTrajectory,
    missing_joints: Optional[Mapping[str, float]],
) -> JointTrajectory:
    """Return the trajectory of all joints, missing ones at rest at `missing_joints`.

    Positions that wrap at pi continue beyond it (`JointTrajectory.unwrapped`).

    :raises TrajectoryError: for an unknown joint, or one whose position is missing
    """
    robot, given = feedforward.robot, dict(missing_joints or {})
    for name in trajectory.joint_names:
        check_moves(robot.model, name)
    missing = [n for n in robot.joint_names if n not in trajectory.joint_names and n not in given]
    known = [n for n in trajectory.joint_names if n in robot.joint_names]
    if missing and len(known) == len(trajectory.joint_names):
        raise TrajectoryError(
            f'the trajectory leaves out joint {listed(missing)}, on whose position the efforts '
            'depend; add it to the trajectory, or give the position at which it is held',
            missing[0],
            code='joint left out',
        )
    for name, value in given.items():
        if name not in robot.joint_names:
            raise TrajectoryError(
                f'joint {shown(name)} to be held is not a joint of the robot; there are '
                f'{listed(robot.joint_names)}',
                name,
            )
        if not math.isfinite(value):
            raise TrajectoryError(
                f'joint {shown(name)} is held at {value}; give a finite number', name
            )
    positions = np.array([given.get(name, 0.0) for name in robot.joint_names], dtype=float)
    whole = trajectory.for_joints(robot.joint_names, default_positions=positions)
    speeds = np.minimum(robot.velocity_limits, MAX_VELOCITY)
    return whole.unwrapped(Wraparound(robot.position_periods), speeds)


def check_moves(model: Model, name: str) -> None:
    """Reject a mimic joint, which follows another one, and a joint without an actuator."""
    for coupling in model.couplings:
        if model.body(coupling.body).joint_name == name:
            master = model.body(coupling.master).joint_name
            raise TrajectoryError(
                f'joint {shown(name)} mimics joint {shown(master)} and takes no effort; leave it '
                f'out and name {shown(master)}',
                name,
            )
    if name in model.joint_names and name not in model.actuated_joints:
        raise TrajectoryError(
            f'joint {shown(name)} has no actuator; leave it out and give the position at which '
            'it is held',
            name,
        )


def _at_points(trajectory: JointTrajectory) -> MotionSample:
    """Return the position, velocity and acceleration at the points, each (P, n)."""
    q, count = trajectory.positions, len(trajectory.times) - 1
    v, a = trajectory.velocities, trajectory.accelerations
    if not count:
        rest = np.zeros_like(q)
        return q, rest if v is None else v, rest if a is None else a
    numbers: Sequence[int] = range(count)
    _, starts, onwards = trajectory.within_segments(numbers, np.zeros(count))
    _, ends, before = trajectory.within_segments(numbers, np.diff(trajectory.times))
    if v is None:
        v = np.concatenate([starts, ends[-1:]])
    if a is None:
        # Mean of both sides.
        a = np.concatenate([onwards, before[-1:]])
        a[1:-1] = 0.5 * (before[:-1] + onwards[1:])
    return q, v, a


def _denser(
    trajectory: JointTrajectory, point_spacing: float
) -> Tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return times, positions, velocities, accelerations at most `point_spacing` apart."""
    if not 0.0 < point_spacing < math.inf:
        raise TrajectoryError(f'point_spacing must be positive and finite, got {point_spacing}')
    q, v, a = _at_points(trajectory)
    segment, after, pieces = subdivided(trajectory, point_spacing)
    if not len(pieces):
        return trajectory.times, q, v, a
    times = np.append(trajectory.times[segment] + after, trajectory.times[-1])
    samples: List[FloatArray] = []
    between = trajectory.within_segments(segment, after)
    first = np.cumsum(pieces) - pieces
    for at_points, sampled in zip((q, v, a), between):
        values = sampled.copy()
        values[first] = at_points[:-1]
        samples.append(np.concatenate([values, at_points[-1:]]))
    return times, samples[0], samples[1], samples[2]


def subdivided(
    trajectory: JointTrajectory, point_spacing: float, minimum: int = 1
) -> Tuple[IndexArray, FloatArray, IndexArray]:
    """Return at least `minimum` equal pieces of at most `point_spacing` [s] for each segment.

    :return: for each piece, its segment and its begin relative to that of the segment, (M,) each;
        for each segment, the number of its pieces
    :raises TrajectoryError: for too many pieces
    """
    durations = np.diff(trajectory.times)
    required = np.ceil(durations / point_spacing * (1.0 - 1e-12))
    total = float(required.sum())
    check_size(int(min(total, 1e9)) + 1, len(trajectory.joint_names))
    pieces = np.maximum(required, minimum).astype(np.intp)
    segment = np.repeat(np.arange(len(pieces)), pieces)
    number = np.arange(len(segment)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    return segment, number * (durations / pieces)[segment], pieces
