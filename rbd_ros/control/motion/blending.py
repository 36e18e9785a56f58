# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Blending of one motion into another without a jump.

An `Offset` is the difference of position and velocity to the old motion at the moment of change.
It decays to zero while the new path is followed. The path is slowed meanwhile such that both
together keep the velocity limits: with the path within limits L and followed at the rate r,
|r v + dx/dt| <= r L + |dx/dt|, so r = 1 - max |dx/dt| / L over the joints. A `Ramp` starts or
stops the motion by a speed factor between 0 and 1, the tempo (speed scaling).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.control.motion.trajectory import MotionSample

# Fraction of the velocity limit for the decay of a distance, 1.875 / 4 at the maximum. An offset
# that first moves away, up to the limit, then returns within it.
DISTANCE_TIME = 4.0
# Speed for the decay if a joint has no limit, and minimum speed for joints with a very low one.
DEFAULT_SPEED, LOWEST_SPEED = 1.0, 0.05  # [rad/s or m/s]
NEGLIGIBLE = 1e-12  # negligible offset [rad, m, rad/s or m/s]


class Still:
    """A path that stays at a position.

    :param q: position, (n,)
    """

    end_time = 0.0

    def __init__(self, q: FloatArray):
        self._q = q
        self._rest = np.zeros_like(q)

    def sample(self, t: float) -> MotionSample:
        """Return the position, velocity and acceleration, each (n,), at any time `t`."""
        return self._q, self._rest, self._rest


class Ramp:
    """Speed scaling of a motion, `tempo`, that rises from 0 to 1 or falls from 1 to 0 smoothly.

    :param duration: duration [s]
    :param begin: initial tempo
    :param end: final tempo
    """

    def __init__(self, duration: float, begin: float, end: float):
        self._duration, self._begin, self._change = duration, begin, end - begin
        self._u = self._area = 0.0
        self.tempo = begin

    @classmethod
    def up(cls, duration: float) -> Ramp:
        """Create a ramp from rest to full speed, in `duration` [s]."""
        return cls(duration, 0.0, 1.0)

    @classmethod
    def down(cls, present: Optional[Ramp], duration: float) -> Ramp:
        """Create a ramp to rest from the present tempo.

        :param present: the replaced ramp; None: the motion has full speed
        :param duration: duration [s]
        """
        if present is not None and present.stops:
            return present
        return cls(duration, 1.0 if present is None else present.tempo, 0.0)

    @property
    def stops(self) -> bool:
        """True if it ends at rest."""
        return self._begin + self._change == 0.0

    @property
    def over(self) -> bool:
        """True if the tempo has reached its last value."""
        return self._u >= 1.0

    def advance(self, step: float) -> Tuple[float, float, float]:
        """Advance by `step` [s]; return the motion's step [s], the tempo and its rate [1/s]."""
        before = self._area
        u = self._u + step / self._duration
        beyond = max(u - 1.0, 0.0)
        self._u = u = min(u, 1.0)
        # The tempo is begin + change (3 u^2 - 2 u^3), and the area below it:
        self._area = self._begin * u + self._change * u**3 * (1.0 - 0.5 * u)
        end = self._begin + self._change
        self.tempo = end if u == 1.0 else self._begin + self._change * u * u * (3.0 - 2.0 * u)
        rate = 6.0 * self._change * u * (1.0 - u) / self._duration
        return (self._area - before + beyond * end) * self._duration, self.tempo, rate


class Bounds(NamedTuple):
    """Limits of a path, and of path and offset together, each (n,).

    :param lower: minimum positions [rad or m]
    :param upper: maximum positions
    :param velocity: maximum speeds [rad/s or m/s]
    """

    lower: FloatArray
    upper: FloatArray
    velocity: FloatArray

    def of(self, joints: Any) -> Bounds:
        """Return those of some of the joints, by their indices."""
        return Bounds(self.lower[joints], self.upper[joints], self.velocity[joints])


class Coasting:
    """A path at constant velocity, as far as a `Ramp.down` permits, within limits.

    :param q: initial position, (n,)
    :param v: velocity, (n,) [rad/s or m/s]
    :param bounds: position limits; a joint beyond them does not move further
    :param ramp_time: duration of the ramp; the time of the path is half of it [s]
    """

    def __init__(self, q: FloatArray, v: FloatArray, bounds: Bounds, ramp_time: float):
        self._q, self._v, self._rest = q, v, np.zeros_like(q)
        self._lower, self._upper = np.minimum(q, bounds.lower), np.maximum(q, bounds.upper)
        self.end_time = 0.5 * ramp_time

    def sample(self, t: float) -> MotionSample:
        """Return the position, velocity and acceleration, each (n,), at time `t` of the path."""
        free = self._q + self._v * min(t, self.end_time)
        q = np.minimum(np.maximum(free, self._lower), self._upper)
        return q, np.where((q == free) & (t < self.end_time), self._v, 0.0), self._rest


class Offset:
    """Difference between an old motion and a new path, which decays in a certain time.

    For each joint it is a quintic polynomial of time with zero acceleration at both ends. An
    offset is constant; `after` returns that of a later time.

    :param distance: initial difference of positions, (n,)
    :param velocity: its initial rate of change, (n,)
    :param bounds: limits of path and offset together
    :param duration: duration [s]
    """

    def __init__(
        self, distance: FloatArray, velocity: FloatArray, bounds: Bounds, duration: float
    ):
        self._terms = np.array([distance, duration * velocity])
        self._bounds, self._per_limit = bounds, 1.0 / bounds.velocity
        self._duration = duration
        self._set(0.0)

    @classmethod
    def between(
        cls,
        old: Tuple[FloatArray, FloatArray],
        new: Tuple[FloatArray, FloatArray],
        bounds: Bounds,
        ramp_time: float,
    ) -> Optional[Offset]:
        """Return the offset from an old motion to a path, or None if there is no difference.

        :param old: position and velocity of the old motion, each (n,)
        :param new: position and velocity of the path
        :param bounds: limits of the path
        :param ramp_time: approximate time in which a joint reaches its velocity limit [s]
        """
        (q0, v0), (q, v) = old, new
        # Limits that the old motion or the path exceeds already are widened, so that it can
        # continue.
        lower, upper = np.minimum(np.minimum(q0, q), bounds.lower), np.maximum(q0, q)
        upper = np.maximum(upper, bounds.upper)
        limits = np.maximum(np.maximum(bounds.velocity, LOWEST_SPEED), np.abs(v0))
        limits = np.maximum(limits, np.abs(v))
        # The maximum rate r of the path for which |v0 - r v| <= (1 - r) L.
        with np.errstate(divide='ignore', invalid='ignore'):
            rates = np.concatenate([(limits - v0) / (limits - v), (limits + v0) / (limits + v)])
        rate = float(np.where(rates < 1.0, rates, 1.0).min(initial=1.0))
        distance, velocity = q0 - q, v0 - rate * v
        far, fast = np.abs(distance), np.abs(velocity)
        if max(far.max(initial=0.0), fast.max(initial=0.0)) <= NEGLIGIBLE:
            return None
        speed = np.where(np.isfinite(limits), limits, np.maximum(fast, DEFAULT_SPEED))
        duration = max(
            (DISTANCE_TIME * far / speed).max(),
            np.sqrt(6.0 * ramp_time * far / speed).max(),
            (2.0 * ramp_time * fast / speed).max(),
        )
        return cls(distance, velocity, Bounds(lower, upper, limits), float(duration))

    def _set(self, u: float) -> None:
        """Compute the offset and its two derivatives at the fraction `u` of its duration."""
        w, h = 1.0 - u, self._duration
        w2, u2 = w * w, u * u
        basis = np.array(
            (
                w2 * w * (1.0 + 3.0 * u + 6.0 * u2),
                u * w2 * w * (1.0 + 3.0 * u),
                -30.0 * u2 * w2 / h,
                w2 * (1.0 + 2.0 * u - 15.0 * u2) / h,
                -60.0 * u * w * (1.0 - 2.0 * u) / (h * h),
                -12.0 * u * w * (3.0 - 5.0 * u) / (h * h),
            )
        ).reshape(3, 2)
        self._u = u
        self._now = np.dot(basis, self._terms)

    @property
    def over(self) -> bool:
        """True if the offset has decayed to zero."""
        return self._u >= 1.0

    def after(self, step: float) -> Tuple[Offset, float]:
        """Return the offset after `step` [s], and the advance of the path meanwhile [s]."""
        result = object.__new__(Offset)
        result._terms, result._duration = self._terms, self._duration
        result._bounds, result._per_limit = self._bounds, self._per_limit
        result._set(min(self._u + step / self._duration, 1.0))
        # From the limits within this step, not from the integral of the rate.
        used = (np.abs(result._now[0] - self._now[0]) * self._per_limit).max()
        return result, max(step - float(used), 0.0)

    def added_to(self, q: FloatArray, v: FloatArray, a: FloatArray) -> MotionSample:
        """Return the position, velocity and acceleration of path and offset together, each (n,).

        :param q: position of the path, (n,)
        :param v: its velocity by its own time, (n,)
        :param a: its acceleration by its own time, (n,)
        """
        x, dx, ddx = self._now
        used = np.abs(dx) * self._per_limit
        worst = int(used.argmax())
        rate = 1.0 - float(used[worst])
        change = float(ddx[worst] * self._per_limit[worst])
        change = -change if dx[worst] > 0.0 else change
        free = q + x
        v, a = rate * v + dx, rate * rate * a + change * v + ddx
        q = np.minimum(np.maximum(free, self._bounds.lower), self._bounds.upper)
        stopped = q != free
        if stopped.any():
            v[stopped] = a[stopped] = 0.0
        return q, v, a
