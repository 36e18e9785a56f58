# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Checks of a joint trajectory's names, times and numbers, and their error.

Trajectories come from untrusted senders: every check takes linear time, and the messages have a
bounded length.
"""

from __future__ import annotations

from array import array
from typing import Any, Optional, Sequence, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.control.motion.polynomials import time_sliced
from rbd_ros.control.robot_joints import listed, shown
from rbd_ros.model.errors import similar_names

END_VELOCITY_TOLERANCE = 1e-6  # [rad/s or m/s]
MAX_POINTS = 200_000
MAX_NUMBERS = 4_000_000  # points times joints
MAX_NAMES = 100_000
MAX_TIME = 1e6  # [s]
SHORTEST_SEGMENT = 1e-6  # [s]
# Above any real joint, in rad or m and s. A position of 1e308 would overflow.
MAX_POSITION, MAX_VELOCITY, MAX_ACCELERATION = 1e5, 1e4, 1e7
MAXIMUM = {
    'positions': (MAX_POSITION, 'rad or m'),
    'velocities': (MAX_VELOCITY, 'rad/s or m/s'),
    'accelerations': (MAX_ACCELERATION, 'rad/s^2 or m/s^2'),
}


class TrajectoryError(ValueError):
    """A trajectory that cannot be followed.

    :param message: problem, place and cure
    :param joint: name of the joint, if any
    :param point: index of the point, from 0, if any
    :param code: short classification of the error, for counting
    """

    def __init__(
        self,
        message: str,
        joint: Optional[str] = None,
        point: Optional[int] = None,
        code: str = 'trajectory not valid',
    ):
        super().__init__(message)
        self.joint = joint
        self.point = point
        self.code = code


def checked_names(joint_names: Sequence[str]) -> Tuple[str, ...]:
    """Return the joint names as a tuple; there must be some, without duplicates."""
    if len(joint_names) > MAX_NAMES:
        raise TrajectoryError(
            f'the trajectory names {len(joint_names)} joints, which is too many for a robot'
        )
    names = tuple(joint_names)
    if not names:
        raise TrajectoryError('the trajectory names no joints; fill in joint_names')
    seen = set()
    for name in names:
        if not isinstance(name, str) or not name:
            raise TrajectoryError(f'joint names must be non-empty strings, got {shown(name)}')
        if name in seen:
            raise _named_twice(name)
        seen.add(name)
    return names


def _named_twice(name: str) -> TrajectoryError:
    return TrajectoryError(f'joint {shown(name)} is named twice; name each joint once', name)


def check_known(names: Sequence[str], requested: Sequence[str]) -> None:
    """Reject unknown and duplicate names.

    At most one name more than requested ones is checked: then one of them is wrong.
    """
    known, seen = frozenset(requested), set()
    for name in names:
        if not isinstance(name, str) or name not in known:
            raise TrajectoryError(
                f'joint {shown(name)} of the trajectory is not a joint of the robot; there are '
                f'{listed(similar_names(name, requested, 3, 0.4) or requested)}',
                name,
            )
        if name in seen:
            raise _named_twice(name)
        seen.add(name)


def checked_times(times: Sequence[float]) -> FloatArray:
    """Return the times of the points, (P,): finite, not negative, strictly increasing."""
    if not isinstance(times, np.ndarray) and not hasattr(times, '__len__'):
        times = list(times)
    shape = np.shape(times) if isinstance(times, np.ndarray) else (len(times),)
    if len(shape) != 1 or not shape[0]:
        raise TrajectoryError(
            f'a trajectory needs at least one point and one time for each, got {shape} times'
        )
    check_size(shape[0], 1)
    result = np.empty(shape)
    try:
        for here in time_sliced(*shape):
            result[here] = times[here]
    except (TypeError, ValueError) as error:
        raise TrajectoryError(f'times must be numbers: {str(error)[:200]}') from None
    bad = ~((result >= 0.0) & (result <= MAX_TIME))
    if bad.any():
        point = int(np.argmax(bad))
        time = result[point]
        if np.isfinite(time) and time > 0.0:
            raise TrajectoryError(
                f'point {point}: time_from_start {time:g} s is beyond {MAX_TIME:g} s; check '
                'its unit, and send a long motion in parts',
                point=point,
            )
        raise TrajectoryError(
            f'point {point}: time_from_start must be finite and not negative, got {time}',
            point=point,
        )
    _check_durations(result)
    return result


def _check_durations(times: FloatArray) -> None:
    durations = times[1:] - times[:-1]
    short = durations < SHORTEST_SEGMENT
    if not short.any():
        return
    point = int(np.argmax(short)) + 1
    if durations[point - 1] > 0.0:
        raise TrajectoryError(
            f'point {point}: time_from_start {times[point]} s is only {durations[point - 1]:.2g} '
            f's after the previous point, less than {SHORTEST_SEGMENT:g} s; remove one of the '
            'two points',
            point=point,
        )
    raise TrajectoryError(
        f'point {point}: time_from_start {times[point]} s is not after {times[point - 1]} s of '
        'the previous point; times must strictly increase',
        point=point,
    )


def check_size(points: int, joints: int) -> None:
    """Reject more points than can be processed in a second or stored."""
    if points > MAX_POINTS or points * joints > MAX_NUMBERS:
        raise TrajectoryError(
            f'the trajectory has {points} points for {joints} joints, more than {MAX_POINTS} '
            f'points or {MAX_NUMBERS} numbers; send it in parts or with fewer points, since the '
            'node interpolates smoothly'
        )


def checked_values(
    what: str, values: Any, names: Sequence[str], points: int
) -> Optional[FloatArray]:
    """Return the values of all points as (P, n); None if none are given.

    :param what: 'positions', 'velocities' or 'accelerations'
    :param values: an array (P, n), or P rows of any type; copied slice by slice
    :raises TrajectoryError: for missing, surplus, non-finite or implausible numbers, or if only
        some points have values
    """
    if values is None:
        return None
    rows = values if hasattr(values, '__len__') else list(values)
    if not _any_filled(what, rows, names, points):
        return None
    if len(rows) != points:
        raise TrajectoryError(f'there are {points} times but {len(rows)} rows of {what}')
    n = len(names)
    check_size(points, n)
    result = np.empty((points, n))
    for here in time_sliced(points, n):
        _check_lengths(what, rows, here, n)
        try:
            result[here] = _block(rows[here], n)
        except (TypeError, ValueError) as error:
            raise TrajectoryError(f'{what} must be numbers: {str(error)[:200]}') from None
        # One comparison also detects NaN.
        if not np.abs(result[here]).max() <= MAXIMUM[what][0]:
            _reject_values(what, result[here], here.start, names)
    return result


def _any_filled(what: str, rows: Any, names: Sequence[str], points: int) -> bool:
    if isinstance(rows, np.ndarray) and rows.ndim == 2:
        return rows.size > 0
    for here in time_sliced(len(rows), 4):
        for point in range(here.start, here.stop):
            row = rows[point]
            if not hasattr(row, '__len__'):
                raise TrajectoryError(
                    f'{what} must have one row for each point, shape ({points}, {len(names)})',
                    point=point,
                )
            if len(row):
                return True
    return False


def _check_lengths(what: str, rows: Any, here: slice, n: int) -> None:
    if isinstance(rows, np.ndarray) and rows.ndim == 2:
        lengths = [rows.shape[1]]
    else:
        try:
            lengths = [len(row) for row in rows[here]]
        except TypeError:
            lengths = [len(row) if hasattr(row, '__len__') else -1 for row in rows[here]]
    if lengths.count(n) == len(lengths):
        return
    at, length = next((i, length) for i, length in enumerate(lengths) if length != n)
    point = here.start + at
    if length == -1:
        text = f'{what} of point {point} must be a row of {n} numbers'
    elif length == 0:
        text = (
            f'point {point} has no {what} although other points have; give all points {what}, or '
            'none'
        )
    else:
        text = f'point {point} has {length} {what} for {n} joints; give one for each joint'
    raise TrajectoryError(text, point=point)


def _block(rows: Any, n: int) -> FloatArray:
    """Return the rows of equal length, joined arrays of doubles as in messages, as one array."""
    if isinstance(rows, np.ndarray):
        return rows
    # Sets instead of a loop, without a call for each row.
    if {type(row) for row in rows} == {array} and {row.typecode for row in rows} == {'d'}:
        return np.frombuffer(b''.join(rows)).reshape(-1, n)
    return np.array(rows, dtype=float)


def _reject_values(what: str, block: FloatArray, start: int, names: Sequence[str]) -> None:
    most, unit = MAXIMUM[what]
    row, joint = (int(i) for i in np.argwhere(~(np.abs(block) <= most))[0])
    name, value, point = names[joint], block[row, joint], start + row
    if np.isfinite(value):
        text = (
            f'{what} of {value:.6g} are implausible for any joint (above {most:g} {unit}); check '
            'the units and the sender'
        )
    else:
        text = f'{what} must be finite, got {value}'
    raise TrajectoryError(f'point {point}, joint {shown(name)}: {text}', name, point)


def check_end_at_rest(names: Sequence[str], velocities: FloatArray) -> None:
    """Reject a last point with a velocity, since the robot stops there."""
    moving = np.flatnonzero(np.abs(velocities[-1]) > END_VELOCITY_TOLERANCE)
    if len(moving):
        joint, point = int(moving[0]), len(velocities) - 1
        raise TrajectoryError(
            f'point {point}, joint {shown(names[joint])}: the last point has velocity '
            f'{velocities[-1, joint]:g}, but the robot stops there; end with velocity 0',
            names[joint],
            point,
        )
