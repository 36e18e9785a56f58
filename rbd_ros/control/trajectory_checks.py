"""What makes a joint trajectory legal, and the error that says why one is not."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

END_VELOCITY_TOLERANCE = 1e-6  # [rad/s or m/s]


class TrajectoryError(ValueError):
    """A trajectory that cannot be followed.

    :param message: what is wrong, where, and how to cure it
    :param joint: name of the joint concerned, if one is
    :param point: number of the point concerned, from 0, if one is
    """

    def __init__(self, message: str, joint: Optional[str] = None, point: Optional[int] = None):
        super().__init__(message)
        self.joint = joint
        self.point = point


def checked_names(joint_names: Sequence[str]) -> Tuple[str, ...]:
    """Joint names as a tuple; there must be some, and each only once."""
    names = tuple(joint_names)
    if not names:
        raise TrajectoryError('the trajectory names no joints; fill in joint_names')
    for name in names:
        if not isinstance(name, str) or not name:
            raise TrajectoryError(f'joint names must be non-empty strings, got {name!r}')
        if names.count(name) > 1:
            raise TrajectoryError(f'joint {name!r} is named twice; name each joint once', name)
    return names


def checked_times(times: Sequence[float]) -> np.ndarray:
    """Times of the points, (P,): finite, not negative, strictly increasing."""
    try:
        result = np.array(times, dtype=float)
    except (TypeError, ValueError) as error:
        raise TrajectoryError(f'times must be numbers: {error}') from None
    if result.ndim != 1 or not len(result):
        raise TrajectoryError(
            f'a trajectory needs at least one point and one time each, got {result.shape} times'
        )
    for point, time in enumerate(result.tolist()):
        if not np.isfinite(time) or time < 0.0:
            raise TrajectoryError(
                f'point {point}: time_from_start must be finite and not negative, got {time}',
                point=point,
            )
        if point and not time > result[point - 1]:
            raise TrajectoryError(
                f'point {point}: time_from_start {time} s does not come after {result[point - 1]} '
                's of the point before; times must strictly increase',
                point=point,
            )
    return result


def checked_values(
    what: str, values: Any, names: Sequence[str], points: int
) -> Optional[np.ndarray]:
    """Values of all points as (P, n), or None where none are given.

    :param what: 'positions', 'velocities' or 'accelerations'
    :raises TrajectoryError: for missing, surplus or non-finite numbers, or only some points filled
    """
    if values is None:
        return None
    rows: List[Any] = list(values)
    lengths = [len(row) if hasattr(row, '__len__') else -1 for row in rows]
    if not any(lengths):
        return None
    if len(rows) != points:
        raise TrajectoryError(f'there are {points} times but {len(rows)} rows of {what}')
    for point, length in enumerate(lengths):
        if length == -1:
            raise TrajectoryError(
                f'{what} must have one row a point, shape ({points}, {len(names)})', point=point
            )
        if length == 0:
            raise TrajectoryError(
                f'point {point} has no {what} although other points have; give all points {what}, '
                'or none',
                point=point,
            )
        if length != len(names):
            raise TrajectoryError(
                f'point {point} has {length} {what} for {len(names)} joints; give one a joint',
                point=point,
            )
    try:
        result = np.array(rows, dtype=float)
    except (TypeError, ValueError) as error:
        raise TrajectoryError(f'{what} must be numbers: {error}') from None
    bad = np.argwhere(~np.isfinite(result))
    if len(bad):
        point, joint = (int(i) for i in bad[0])
        raise TrajectoryError(
            f'point {point}, joint {names[joint]!r}: {what} must be finite, got '
            f'{result[point, joint]}',
            names[joint],
            point,
        )
    return result


def check_end_at_rest(names: Sequence[str], velocities: np.ndarray) -> None:
    """Refuse a last point that still moves, since after it the robot is to stand still."""
    moving = np.flatnonzero(np.abs(velocities[-1]) > END_VELOCITY_TOLERANCE)
    if len(moving):
        joint, point = int(moving[0]), len(velocities) - 1
        raise TrajectoryError(
            f'point {point}, joint {names[joint]!r}: the last point has velocity '
            f'{velocities[-1, joint]:g}, but the robot stops there; end with velocity 0',
            names[joint],
            point,
        )
