# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joint trajectories: points in time and the smooth motion through them, sampled at any time."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import Any, Iterator, Optional, Sequence, Tuple, TYPE_CHECKING

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.control.motion import polynomials
from rbd_ros.control.motion.polynomials import time_sliced
from rbd_ros.control.motion.trajectory_checks import (
    check_end_at_rest,
    check_known,
    check_size,
    checked_names,
    checked_times,
    checked_values,
    SHORTEST_SEGMENT,
    TrajectoryError,
)
from rbd_ros.control.robot_joints import listed, shown

if TYPE_CHECKING:
    from rbd_ros.robot.wraparound import Wraparound

# Position, velocity and acceleration at one time, each (n,).
MotionSample = Tuple[FloatArray, FloatArray, FloatArray]


class JointTrajectory:
    """Motion of named joints through points given at times.

    With accelerations, quintics join the points; with velocities only, cubic Hermite polynomials;
    with positions only, the twice differentiable cubic spline with rest at both ends. A trajectory
    is at rest before its first point and after its last one.

    :param joint_names: names of the n joints
    :param times: times of the P points since the start, strictly increasing, (P,) [s]
    :param positions: positions at the points, (P, n) [rad or m]
    :param velocities: velocities, (P, n) [rad/s or m/s]; None or empty rows: not given
    :param accelerations: accelerations, (P, n) [rad/s^2 or m/s^2]; None or empty rows: not given
    :param allow_nonzero_end_velocity: whether the last point may have a velocity, although the
        joints stop there
    :raises TrajectoryError: if it cannot be followed, with joint, point and cure

    >>> line = JointTrajectory(['a', 'b'], [1.0, 3.0], [[0.0, 0.0], [1.0, 0.5]])
    >>> line.start_time, line.end_time, line.duration
    (1.0, 3.0, 2.0)
    >>> line.prepare()  # otherwise when it is first sampled
    >>> line.sample(2.0)
    (array([0.5 , 0.25]), array([0.75 , 0.375]), array([0., 0.]))
    >>> line.speed_bounds()
    array([0.75 , 0.375])
    >>> line.for_joints(['b', 'c', 'a'], default_positions=[0.0, 7.0, 0.0]).positions
    array([[0. , 7. , 0. ],
           [0.5, 7. , 1. ]])
    >>> line.starting_from([0.2, 0.2]).times
    array([0., 1., 3.])
    >>> line.check_limits([-1.0, -1.0], [1.0, 1.0], [0.5, 2.0])
    Traceback (most recent call last):
        ...
    rbd_ros.control.motion.trajectory_checks.TrajectoryError: after point 0, joint ...
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        times: Sequence[float],
        positions: Any,
        velocities: Any = None,
        accelerations: Any = None,
        *,
        allow_nonzero_end_velocity: bool = False,
    ):
        self.joint_names = checked_names(joint_names)
        self.times = checked_times(times)
        points = len(self.times)
        q = checked_values('positions', positions, self.joint_names, points)
        v = checked_values('velocities', velocities, self.joint_names, points)
        a = checked_values('accelerations', accelerations, self.joint_names, points)
        if q is None:
            raise TrajectoryError('the points have no positions; give each point positions')
        if a is not None and v is None:
            raise TrajectoryError('the points have accelerations but no velocities; give both')
        if v is not None and not allow_nonzero_end_velocity:
            check_end_at_rest(self.joint_names, v)
        self._set(q, v, a)

    def _set(
        self,
        q: FloatArray,
        v: Optional[FloatArray],
        a: Optional[FloatArray],
        initial_velocity: Optional[FloatArray] = None,
    ) -> None:
        self.positions, self.velocities, self.accelerations = q, v, a
        self._initial_velocity = initial_velocity
        self._segments: FloatArray = np.zeros((0, 4, q.shape[1]))
        self._knots: Optional[array[float]] = None

    def prepare(self) -> None:
        """Compute the polynomials now instead of at their first use."""
        self._prepared()

    def _prepared(self) -> array[float]:
        """Return the times of the points in a searchable array; compute the polynomials first."""
        if self._knots is not None:
            return self._knots
        q, v, a = self.positions, self.velocities, self.accelerations
        if len(q) == 1:
            segments: FloatArray = np.zeros((0, 4, q.shape[1]))
        elif v is not None and a is not None:
            segments = polynomials.quintic(self.times, q, v, a)
        elif v is not None:
            segments = polynomials.cubic(self.times, q, v)
        else:
            segments = polynomials.clamped_spline(self.times, q, self._initial_velocity)
        self._quintic = segments.shape[1] == 6
        self._segments = segments
        knots = array('d')
        knots.frombytes(self.times.tobytes())
        self._knots = knots  # last: other threads see it after the polynomials
        return knots

    # -- times and samples ------------------------------------------------------------------------

    @property
    def start_time(self) -> float:
        """Time of the first point [s]."""
        return float(self.times[0])

    @property
    def end_time(self) -> float:
        """Time of the last point [s]."""
        return float(self.times[-1])

    @property
    def duration(self) -> float:
        """Time from the first to the last point [s]."""
        return self.end_time - self.start_time

    def sample(self, t: float) -> MotionSample:
        """Return the position, velocity and acceleration at time `t` [s], each (n,).

        Velocity and acceleration are zero before the first point, and at and after the last one.
        """
        knots = self._knots
        if knots is None:
            knots = self._prepared()
        if t >= knots[-1] or t < knots[0]:
            result = np.zeros((3, len(self.joint_names)))
            result[0] = self.positions[-1 if t >= knots[-1] else 0]
            return result[0], result[1], result[2]
        k = bisect_right(knots, t) - 1
        s = t - knots[k]
        s2 = s * s
        s3 = s2 * s
        # Powers of s and their first two derivatives. A new array, for thread safety.
        if self._quintic:
            s4 = s2 * s2
            basis = np.array(
                (1.0, s, s2, s3, s4, s4 * s,
                 0.0, 1.0, 2.0 * s, 3.0 * s2, 4.0 * s3, 5.0 * s4,
                 0.0, 0.0, 2.0, 6.0 * s, 12.0 * s2, 20.0 * s3)
            ).reshape(3, 6)  # fmt: skip
        else:
            basis = np.array(
                (1.0, s, s2, s3, 0.0, 1.0, 2.0 * s, 3.0 * s2, 0.0, 0.0, 2.0, 6.0 * s)
            ).reshape(3, 4)
        q, v, a = np.dot(basis, self._segments[k])
        return q, v, a

    def within_segments(self, segment: Any, after: Any) -> MotionSample:
        """Return the positions, velocities and accelerations within segments, each (M, n).

        At the ends of a segment they are those of its polynomial.

        :param segment: indices of the segments, (M,)
        :param after: times since their begin, (M,) [s]
        """
        self.prepare()
        c, t = self._segments[np.asarray(segment)], np.asarray(after, dtype=float)
        result = np.zeros((3, len(t), len(self.joint_names)))
        # Horner's scheme for the polynomial and its two derivatives.
        for k in range(c.shape[1])[::-1]:
            for order, factor in enumerate((1.0, k, k * (k - 1.0))):
                if k >= order:
                    result[order] = result[order] * t[:, None] + factor * c[:, k]
        return result[0], result[1], result[2]

    def coefficients(self, joint: int) -> FloatArray:
        """Return coefficients of a joint's polynomials, lowest power first, (4 or 6, segments).

        Their variable is the time since the begin of a segment [s].
        """
        self.prepare()
        return self._segments[:, :, joint].T

    # -- variants ---------------------------------------------------------------------------------

    def scale_time(self, factor: float) -> JointTrajectory:
        """Return the trajectory through the same positions with `factor` times the duration.

        >>> JointTrajectory(['a'], [0.0, 2.0], [[0.0], [1.0]]).scale_time(1.5).times
        array([0., 3.])
        """
        if not 0.0 < factor < np.inf:
            raise TrajectoryError(f'the factor must be positive and finite, got {factor}')
        result = self._copy(self.joint_names)
        result.times = checked_times((self.times * factor).tolist())
        v, a, first = self.velocities, self.accelerations, self._initial_velocity
        result._set(
            self.positions,
            None if v is None else v / factor,
            None if a is None else a / factor**2,
            None if first is None else first / factor,
        )
        return result

    def starting_from(
        self, positions: Any, velocities: Any = None, time: float = 0.0
    ) -> JointTrajectory:
        """Return the trajectory from the robot's state at `time`, as ros2_control does.

        If the first point is not later than `time`, this is the trajectory itself; otherwise a
        point is inserted before the others.

        :param positions: position of the joints, (n,)
        :param velocities: their velocity, (n,); None: at rest
        :param time: time of this state in the trajectory [s]
        """
        if self.start_time - time < SHORTEST_SEGMENT:
            return self
        q = self._row('positions', positions)
        v = np.zeros_like(q) if velocities is None else self._row('velocities', velocities)
        result = self._copy(self.joint_names)
        check_size(len(self.times) + 1, len(q))
        result.times = np.concatenate([[float(time)], self.times])

        def after(first: FloatArray, values: FloatArray) -> FloatArray:
            longer = np.empty((len(values) + 1, len(first)))
            longer[0] = first
            for here in time_sliced(*values.shape):
                longer[here.start + 1 : here.stop + 1] = values[here]
            return longer

        result._set(
            after(q, self.positions),
            None if self.velocities is None else after(v, self.velocities),
            None if self.accelerations is None else after(np.zeros_like(q), self.accelerations),
            initial_velocity=v,
        )
        return result

    def unwrapped(self, wraparound: Wraparound, velocity: FloatArray) -> JointTrajectory:
        """Return the trajectory with wrapped angles of continuous joints unwrapped.

        A segment is shifted by whole turns if it exceeds the velocity limit of a continuous joint,
        and the shifted one does not: points within +-pi look like that where the joint passes pi.
        All other segments are unchanged.

        :param wraparound: continuous joints
        :param velocity: maximum speeds, (n,) [rad/s or m/s]

        >>> from rbd_ros.robot.wraparound import Wraparound
        >>> line = JointTrajectory(['a'], [0.0, 0.1, 0.2], [[3.0], [3.1], [-3.1]])
        >>> line.unwrapped(Wraparound([2.0 * np.pi]), np.array([3.0])).positions.round(3)
        array([[3.   ],
               [3.1  ],
               [3.183]])
        """
        n = len(self.joint_names)
        q: Optional[FloatArray] = None
        last: FloatArray = np.zeros(n)
        for here in time_sliced(len(self.times) - 1, n):
            after = slice(here.start + 1, here.stop + 1)
            change = self.positions[after] - self.positions[here]
            most = velocity * (self.times[after] - self.times[here])[:, None]
            shorter = wraparound(change)
            leaps = (np.abs(change) > most) & (np.abs(shorter) <= most)
            if q is None and not leaps.any():
                continue
            q = self.positions.copy() if q is None else q
            turns = last + np.cumsum(np.where(leaps, shorter - change, 0.0), axis=0)
            q[after] += turns
            last = turns[-1]
        if q is None:
            return self
        result = self._copy(self.joint_names)
        result.times = self.times
        result._set(q, self.velocities, self.accelerations, self._initial_velocity)
        return result

    def for_joints(
        self, joint_names: Sequence[str], default_positions: Any = None
    ) -> JointTrajectory:
        """Return the trajectory for more joints, or for the same ones in another order.

        :param joint_names: names of N joints, including all of the trajectory
        :param default_positions: positions of all joints, (N,), used for those that the trajectory
            does not name; None: it must name all
        :raises TrajectoryError: for a joint of the trajectory that is not among them, or a missing
            one without `default_positions`
        """
        requested = checked_names(joint_names)
        if requested == self.joint_names:
            return self
        check_known(self.joint_names, requested)
        index = {name: i for i, name in enumerate(requested)}
        columns = [index.pop(name) for name in self.joint_names]
        if index and default_positions is None:
            raise TrajectoryError(
                f'the trajectory leaves out joint {listed(index)}; give all joints of the robot',
                next(iter(index)),
            )
        result = self._copy(requested)
        result.times = self.times
        check_size(len(self.times), len(requested))

        def spread(values: FloatArray, base: FloatArray) -> FloatArray:
            wide = np.empty((len(values), len(requested)))
            for here in time_sliced(*wide.shape):
                wide[here] = base
                wide[here, columns] = values[here]
            return wide

        rest, initial = np.zeros(len(requested)), self._initial_velocity
        base = rest if default_positions is None else result._row('positions', default_positions)
        result._set(
            spread(self.positions, base),
            None if self.velocities is None else spread(self.velocities, rest),
            None if self.accelerations is None else spread(self.accelerations, rest),
            None if initial is None else spread(initial[None], rest)[0],
        )
        return result

    def _copy(self, joint_names: Tuple[str, ...]) -> JointTrajectory:
        result = object.__new__(JointTrajectory)
        result.joint_names = joint_names
        return result

    def _row(self, what: str, values: Any) -> FloatArray:
        rows = checked_values(what, [np.asarray(values, dtype=float)], self.joint_names, 1)
        if rows is None:
            raise TrajectoryError(f'there are no {what}; give one for each joint')
        row: FloatArray = rows[0]
        return row

    # -- limits -----------------------------------------------------------------------------------

    def check_limits(self, lower: Any, upper: Any, velocity: Any, tolerance: float = 1e-6) -> None:
        """Reject a trajectory that exceeds limits, at the points or between them.

        :param lower: minimum positions, (n,) [rad or m], -inf: no limit
        :param upper: maximum positions, (n,) [rad or m], inf: no limit
        :param velocity: maximum speeds, (n,) [rad/s or m/s], inf: no limit
        :param tolerance: tolerated excess [rad, m, rad/s or m/s]
        :raises TrajectoryError: with the joint, the point before, the value and the limit
        """
        lower, upper = np.asarray(lower) - tolerance, np.asarray(upper) + tolerance
        velocity = np.asarray(velocity) + tolerance
        self._check_points(lower, upper, velocity)
        for here, duration, control in self._pieces():
            slope = polynomials.slope_control_values(control)
            slope /= duration[:, None]
            out = polynomials.beyond(control, lower, upper)
            out |= polynomials.beyond(slope, -velocity, velocity)
            if out.any():
                k, j = (int(i) for i in np.argwhere(out)[0])
                self._reject_segment(here.start + k, j, lower, upper, velocity)

    def speed_bounds(self) -> FloatArray:
        """Return tight upper bounds of the joints' speeds, (n,) [rad/s or m/s]."""
        result = np.zeros(len(self.joint_names))
        for _, duration, control in self._pieces():
            slope = polynomials.slope_control_values(control) / duration[:, None]
            halves = polynomials.cut(slope.reshape(len(slope), -1), 0.5)
            speed = np.abs(halves).max(axis=0).reshape(-1, len(result))
            np.maximum(result, speed.max(axis=0), out=result)
        return result

    def _pieces(self) -> Iterator[Tuple[slice, FloatArray, FloatArray]]:
        """Yield parts of the trajectory: slice of segments, their durations and control values."""
        self.prepare()
        durations = self.times[1:] - self.times[:-1]
        for here in time_sliced(len(durations), self._segments[0].size if len(durations) else 1):
            duration = durations[here]
            c = polynomials.in_durations(self._segments[here], duration)
            yield here, duration, polynomials.control_values(c)

    def _check_points(self, lower: FloatArray, upper: FloatArray, velocity: FloatArray) -> None:
        for here in time_sliced(*self.positions.shape):
            q = self.positions[here]
            beyond = (q < lower) | (q > upper)
            if beyond.any():
                point, joint = (int(i) for i in np.argwhere(beyond)[0])
                self._reject_position(
                    here.start + point, joint, q[point, joint], lower, upper, 'at'
                )
            if self.velocities is None:
                continue
            speed = np.abs(self.velocities[here])
            if (speed > velocity).any():
                point, joint = (int(i) for i in np.argwhere(speed > velocity)[0])
                self._reject_speed(here.start + point, joint, speed[point, joint], velocity, 'at')

    def _reject_segment(
        self, k: int, j: int, lower: FloatArray, upper: FloatArray, velocity: FloatArray
    ) -> None:
        duration = self.times[k + 1] - self.times[k]
        c = self._segments[k][:, j] * duration ** np.arange(self._segments.shape[1])
        low, high = polynomials.extrema(c)
        if low < lower[j] or high > upper[j]:
            worst = low if low < lower[j] else high
            self._reject_position(k, j, worst, lower, upper, 'after')
        slowest, fastest = polynomials.extrema(c[1:] * np.arange(1, len(c)))
        self._reject_speed(k, j, max(-slowest, fastest) / duration, velocity, 'after')

    def _reject_position(
        self, point: int, j: int, value: float, lower: FloatArray, upper: FloatArray, where: str
    ) -> None:
        name = self.joint_names[j]
        raise TrajectoryError(
            f'{where} point {point}, joint {shown(name)} would be at {value:.6g}, outside its '
            f'limits [{lower[j]:.6g}, {upper[j]:.6g}]; move the points away from the limits',
            name,
            point,
        )

    def _reject_speed(
        self, point: int, j: int, value: float, velocity: FloatArray, where: str
    ) -> None:
        name = self.joint_names[j]
        raise TrajectoryError(
            f'{where} point {point}, joint {shown(name)} would move at {value:.6g}, above its '
            f'limit of {velocity[j]:.6g}; make the motion at least '
            f'{value / max(velocity[j], 1e-300):.3g} times as long',
            name,
            point,
        )
