"""Joint trajectories: points in time, the smooth motion through them, sampled at 1 kHz."""

from __future__ import annotations

from bisect import bisect_right
import difflib
from typing import Any, Optional, Sequence, Tuple

import numpy as np

from rbd_ros.control import polynomials
from rbd_ros.control.trajectory_checks import (
    check_end_at_rest,
    checked_names,
    checked_times,
    checked_values,
    TrajectoryError,
)


class JointTrajectory:
    """Motion of named joints through points given at times.

    With accelerations the points are joined by quintics, with velocities alone by cubic Hermite
    polynomials, and with positions alone by the cubic spline that is twice differentiable and at
    rest at both ends. Before the first point the joints stand at it, after the last at that one.

    :param joint_names: names of the n joints
    :param times: times of the P points since the start, strictly increasing, (P,) [s]
    :param positions: positions at the points, (P, n) [rad or m]
    :param velocities: velocities, (P, n) [rad/s or m/s]; None or empty rows: not given
    :param accelerations: accelerations, (P, n) [rad/s^2 or m/s^2]; None or empty rows: not given
    :param allow_nonzero_end_velocity: whether the last point may move although the joints stop
    :raises TrajectoryError: if it cannot be followed; the message names joint, point and cure
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
        q: np.ndarray,
        v: Optional[np.ndarray],
        a: Optional[np.ndarray],
        initial_velocity: Optional[np.ndarray] = None,
    ) -> None:
        self.positions, self.velocities, self.accelerations = q, v, a
        self._initial_velocity = initial_velocity
        if len(q) == 1:
            self._segments = []
        elif a is not None:
            self._segments = list(polynomials.quintic(self.times, q, v, a))
        elif v is not None:
            self._segments = list(polynomials.cubic(self.times, q, v))
        else:
            self._segments = list(polynomials.clamped_spline(self.times, q, initial_velocity))
        self._knots = self.times.tolist()
        self._powers = np.zeros((3, 6))
        self._powers[0, 0] = self._powers[1, 1] = 1.0
        self._powers[2, 2] = 2.0

    # -- times and samples ------------------------------------------------------------------------

    @property
    def start_time(self) -> float:
        """Time of the first point [s]."""
        return self._knots[0]

    @property
    def end_time(self) -> float:
        """Time of the last point [s]."""
        return self._knots[-1]

    @property
    def duration(self) -> float:
        """Time from the first to the last point [s]."""
        return self._knots[-1] - self._knots[0]

    def sample(self, t: float) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position, velocity and acceleration at time `t` [s], each (n,).

        The first point at rest before it, the last at rest from its time on. One thread at a time.
        """
        knots = self._knots
        if t >= knots[-1] or t < knots[0]:
            result = np.zeros((3, len(self.joint_names)))
            result[0] = self.positions[-1 if t >= knots[-1] else 0]
            return result[0], result[1], result[2]
        k = bisect_right(knots, t) - 1
        s = t - knots[k]
        s2 = s * s
        s3, s4 = s2 * s, s2 * s2
        powers = self._powers
        powers[0, 1:] = s, s2, s3, s4, s4 * s
        powers[1, 2:] = 2.0 * s, 3.0 * s2, 4.0 * s3, 5.0 * s4
        powers[2, 3:] = 6.0 * s, 12.0 * s2, 20.0 * s3
        q, v, a = powers @ self._segments[k]
        return q, v, a

    # -- variants ---------------------------------------------------------------------------------

    def starting_from(
        self, positions: Any, velocities: Any = None, time: float = 0.0
    ) -> JointTrajectory:
        """Trajectory that begins at `time` where the robot is, as ROS has it.

        Nothing is changed if the first point is not later than `time`; later points stay.

        :param positions: position of the joints, (n,)
        :param velocities: their velocity, (n,); None: at rest
        :param time: when they are there, in the time of the trajectory [s]
        """
        if self.start_time <= time:
            return self
        q = self._row('positions', positions)
        v = np.zeros_like(q) if velocities is None else self._row('velocities', velocities)
        result = self._copy(self.joint_names)
        result.times = np.concatenate([[float(time)], self.times])
        result._set(
            np.vstack([q, self.positions]),
            None if self.velocities is None else np.vstack([v, self.velocities]),
            None
            if self.accelerations is None
            else np.vstack([np.zeros_like(q), self.accelerations]),
            initial_velocity=v,
        )
        return result

    def for_joints(self, joint_names: Sequence[str], hold: Any = None) -> JointTrajectory:
        """Trajectory of other joints, or of the same in another order.

        :param joint_names: names of the N joints wanted; all joints of the trajectory among them
        :param hold: where joints stay that the trajectory leaves out, (N,); None: none may be
        :raises TrajectoryError: for a joint not wanted, or one left out with nothing to hold
        """
        wanted = checked_names(joint_names)
        for name in self.joint_names:
            if name not in wanted:
                close = difflib.get_close_matches(name, wanted, 3, 0.4) or wanted[:20]
                raise TrajectoryError(
                    f'joint {name!r} of the trajectory is not one of the robot; there are '
                    f'{", ".join(close)}',
                    name,
                )
        if wanted == self.joint_names:
            return self
        absent = [name for name in wanted if name not in self.joint_names]
        if absent and hold is None:
            raise TrajectoryError(
                f'the trajectory leaves out joint {", ".join(map(repr, absent))}; give all '
                'joints of the robot',
                absent[0],
            )
        columns = np.array([wanted.index(name) for name in self.joint_names])
        result = self._copy(wanted)
        result.times = self.times

        def spread(values: Optional[np.ndarray], base: Any) -> Optional[np.ndarray]:
            if values is None:
                return None
            wide = np.tile(np.asarray(base, dtype=float), (*values.shape[:-1], 1))
            wide[..., columns] = values
            return wide.reshape(*values.shape[:-1], len(wanted))

        rest = np.zeros(len(wanted))
        base = rest if hold is None else result._row('positions', hold)
        result._set(
            spread(self.positions, base),
            spread(self.velocities, rest),
            spread(self.accelerations, rest),
            spread(self._initial_velocity, rest),
        )
        return result

    def _copy(self, joint_names: Tuple[str, ...]) -> JointTrajectory:
        result = object.__new__(JointTrajectory)
        result.joint_names = joint_names
        return result

    def _row(self, what: str, values: Any) -> np.ndarray:
        return checked_values(what, [np.asarray(values, dtype=float)], self.joint_names, 1)[0]

    # -- limits -----------------------------------------------------------------------------------

    def check_limits(
        self, lower: Any, upper: Any, velocity: Any, tolerance: float = 1e-6
    ) -> None:
        """Refuse a trajectory beyond limits, at the points or between them.

        :param lower: least positions, (n,), -inf where none
        :param upper: greatest positions, (n,), inf where none
        :param velocity: greatest speeds, (n,), inf where none
        :param tolerance: how far beyond is still accepted [rad, m, rad/s or m/s]
        :raises TrajectoryError: naming the joint, the point after which, the value and the limit
        """
        lower, upper = np.asarray(lower) - tolerance, np.asarray(upper) + tolerance
        velocity = np.asarray(velocity) + tolerance
        self._check_points(lower, upper, velocity)
        durations = np.diff(self.times)
        for k, (segment, duration) in enumerate(zip(self._segments, durations)):
            sizes = np.abs(segment) * duration ** np.arange(6.0)[:, None]
            reach = sizes[1:].sum(axis=0)
            speed = (sizes[1:] * np.arange(1.0, 6.0)[:, None]).sum(axis=0) / duration
            # Bounds first, roots only for the joints that might really be beyond.
            start = segment[0]
            doubtful = (start - reach < lower) | (start + reach > upper)
            for j in np.flatnonzero(doubtful | (speed > velocity)):
                self._check_segment(k, int(j), segment[:, j], duration, lower, upper, velocity)

    def _check_points(self, lower: np.ndarray, upper: np.ndarray, velocity: np.ndarray) -> None:
        beyond = (self.positions < lower) | (self.positions > upper)
        if beyond.any():
            point, joint = (int(i) for i in np.argwhere(beyond)[0])
            self._refuse_position(point, joint, self.positions[point, joint], lower, upper, 'at')
        if self.velocities is not None and (np.abs(self.velocities) > velocity).any():
            point, joint = (int(i) for i in np.argwhere(np.abs(self.velocities) > velocity)[0])
            self._refuse_speed(point, joint, abs(self.velocities[point, joint]), velocity, 'at')

    def _check_segment(self, k, j, segment, duration, lower, upper, velocity) -> None:
        t = polynomials.extremes(segment, duration)
        q = np.polynomial.polynomial.polyval(t, segment)
        if q.min() < lower[j] or q.max() > upper[j]:
            worst = q.min() if q.min() < lower[j] else q.max()
            self._refuse_position(k, j, worst, lower, upper, 'after')
        slope = segment[1:] * np.arange(1, 6)
        t = polynomials.extremes(np.append(slope, 0.0), duration)
        speed = np.abs(np.polynomial.polynomial.polyval(t, slope)).max()
        if speed > velocity[j]:
            self._refuse_speed(k, j, speed, velocity, 'after')

    def _refuse_position(self, point, j, value, lower, upper, where: str) -> None:
        name = self.joint_names[j]
        raise TrajectoryError(
            f'{where} point {point}, joint {name!r} would be at {value:.6g}, beyond its limits '
            f'[{lower[j]:.6g}, {upper[j]:.6g}]; keep the points further from them',
            name,
            point,
        )

    def _refuse_speed(self, point, j, value, velocity, where: str) -> None:
        name = self.joint_names[j]
        raise TrajectoryError(
            f'{where} point {point}, joint {name!r} would move at {value:.6g}, its limit is '
            f'{velocity[j]:.6g}; take at least {value / max(velocity[j], 1e-300):.3g} times as '
            'long',
            name,
            point,
        )
