# SPDX-License-Identifier: Apache-2.0
"""Limits of torque and of its rate of change in real time."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
import math
from typing import Any, Callable, cast, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from rbd_ros.compiler import Definition, make_kernel
from rbd_ros.compiler.loops import compiled
from rbd_ros.compiler.runtime.kernel import InterpretedKernel, Kernel
from rbd_ros.compiler.source import source_digest
from rbd_ros.control.control_arrays import BoolArray, FloatArray
from rbd_ros.spatial.scalar import absolute, clip, Scalar, where_positive

#: In place of an infinite limit of a torque or of its change [N m or N]: one infinite input makes
#: all results of a kernel NaN.
UNLIMITED = 1e300


def limited(
    torque: Sequence[Scalar],
    last: Sequence[Scalar],
    step: Sequence[Scalar],
    limits: Sequence[Scalar],
) -> List[Scalar]:
    """Return the torque within its limits, and the number of joints beyond theirs, (nv + 1,).

    The maximum change comes last, so it holds for any two torques. A torque that was within other
    limits, which have been lowered since, comes down by that change.

    :param torque: requested torque, (nv,) [N m or N]
    :param last: torque before, (nv,) [N m or N]
    :param step: maximum change from there, (nv,) [N m or N]
    :param limits: effort limits, (nv,) [N m or N]
    """
    result, beyond = [], 0.0
    for x, before, change, limit in zip(torque, last, step, limits):
        high, low, allowed = before + change, before - change, clip(x, limit)
        reachable = where_positive(
            allowed - high, high, where_positive(low - allowed, low, allowed)
        )
        result.append(reachable)
        # Of the requested torque, whatever the change would have made of it.
        beyond = beyond + where_positive(absolute(x) - limit, 1.0, 0.0)
    return [*result, beyond]


@lru_cache(maxsize=None)
def _kernel(n: int) -> Union[Kernel, InterpretedKernel]:
    """Return the machine code of `limited` for `n` joints."""
    inputs = tuple((name, n) for name in ('torque', 'last', 'step', 'limits'))
    key = {'source': source_digest('rbd_ros.compiler.runtime.kernel', limited)}
    return make_kernel(Definition.of_one_output('limited_torque', inputs, (n + 1,), limited, key))


@dataclass(frozen=True, eq=False)
class TorqueLimits:
    """Limits of a `TorqueLimiter`; the arrays are copied and read-only.

    :param effort_limits: maximum torques, (nv,) [N m or N], inf where there is none
    :param rate: maximum rate of change, one number or (nv,) [N m/s or N/s]; None: any
    :raises ValueError: for a wrong shape, NaN or a negative limit

    >>> TorqueLimits(robot.effort_limits, rate=1000.0).rate
    array([1000., 1000., 1000., 1000., 1000., 1000.])
    >>> TorqueLimits([-1.0])
    Traceback (most recent call last):
        ...
    ValueError: effort limits must be one number for each joint, and not negative
    """

    effort_limits: FloatArray
    rate: Optional[FloatArray] = None
    finite_limits: FloatArray = field(init=False)  # `effort_limits` with UNLIMITED for infinity

    def __post_init__(self) -> None:
        limits = np.array(self.effort_limits, dtype=float)
        if limits.ndim != 1 or not (limits >= 0.0).all():
            raise ValueError('effort limits must be one number for each joint, and not negative')
        rate = self.rate
        if rate is not None:
            try:
                rate = np.broadcast_to(np.asarray(rate, dtype=float), limits.shape).copy()
            except ValueError:
                raise ValueError(
                    f'the rate of torque must be one number or {limits.size}, got shape '
                    f'{np.shape(rate)}'
                ) from None
            if not (rate > 0.0).all():
                raise ValueError('the rate of torque must be positive')
            rate.flags.writeable = False
        limits.flags.writeable = False
        object.__setattr__(self, 'effort_limits', limits)
        object.__setattr__(self, 'finite_limits', np.minimum(limits, UNLIMITED))
        object.__setattr__(self, 'rate', rate)


class LimiterMemory(NamedTuple):
    """Memory of a `TorqueLimiter`, for machine code that does all that a call of it does.

    :param address: address of the kernel, for `call_kernel`
    :param inputs: inputs of the kernel, packed, (4 nv,): requested torque, `last`, `step`, limits
    :param last: part of the inputs: torque before, (nv,) [N m or N]
    :param step: part of the inputs: maximum change from there, (nv,) [N m or N]
    :param rate: maximum rate of change, (nv,) [N m/s or N/s]; negative: any
    :param result: buffer for the output of the kernel, (nv + 1,)
    :param unlimited: what stands for a change without a limit [N m or N]
    :param standing: of the last torque: its time [s]; 1.0 if there is one, or 0.0; at how many
        joints the requested torque was beyond the effort limits; (3,)
    """

    address: int
    inputs: FloatArray
    last: FloatArray
    step: FloatArray
    rate: FloatArray
    result: FloatArray
    unlimited: float
    standing: FloatArray


@compiled
def limiter_elapsed(limiter: LimiterMemory, now: float) -> float:
    """Return the real time in which the torque may have changed [s]; negative.

    Its change is not limited.

    :param limiter: memory of the limiter
    :param now: time of a monotonic clock [s]
    """
    if limiter.standing[1] == 0.0 or (len(limiter.rate) > 0 and limiter.rate[0] < 0.0):
        return -1.0
    elapsed = now - limiter.standing[0]
    return elapsed if elapsed > 0.0 else 0.0  # NaN is no time either


@compiled
def limiter_sent(limiter: LimiterMemory, now: float) -> None:
    """Note that the last torque has been sent; the time never runs back.

    :param limiter: memory of the limiter
    :param now: time of a monotonic clock [s]
    """
    if now > limiter.standing[0]:
        limiter.standing[0] = now


@compiled
def limiter_passed(limiter: LimiterMemory, now: float, beyond: float) -> None:
    """Note that a torque has been computed.

    :param limiter: memory of the limiter
    :param now: time of a monotonic clock [s]
    :param beyond: at how many joints the requested torque was beyond the effort limits
    """
    limiter.standing[1] = 1.0
    limiter.standing[2] = beyond
    limiter_sent(limiter, now)


class TorqueLimiter:
    """Limiter of torques to the effort limits, and of their rate of change in real time.

    Any two torques that it returns differ by no more than the rate allows in the time between
    them, whatever becomes of the limits. With constant effort limits no torque is beyond them; one
    that is, as they have just been lowered, comes down at the rate. One thread calls it; others
    may assign `limits` meanwhile.

    :param effort_limits: maximum torques, (nv,) [N m or N], inf where none
    :param rate: maximum rate of change, one number or (nv,) [N m/s or N/s]; None: any
    :raises ValueError: for a wrong shape, NaN or a negative limit

    >>> limiter = TorqueLimiter(np.full(6, 10.0), rate=1000.0)  # [N m], [N m/s]
    >>> limiter(np.full(6, 20.0), 0.0)  # the first one is limited in size alone
    array([10., 10., 10., 10., 10., 10.])
    >>> limiter.saturated.all(), limiter.saturating
    (True, True)
    >>> limiter(np.zeros(6), 0.002)  # 2 ms later: 2 N m less
    array([8., 8., 8., 8., 8., 8.])
    >>> limiter.towards(np.zeros(6), 1.0)
    array([0., 0., 0., 0., 0., 0.])
    >>> limiter.at(np.zeros(6)), limiter.last
    (True, array([0., 0., 0., 0., 0., 0.]))
    >>> limiter.sent(1.0005)  # it took so long: the rate counts from then on
    >>> limiter.limits = TorqueLimits(np.full(6, 5.0))  # lower, without a rate
    >>> limiter(np.full(6, -20.0), 1.001)
    array([-5., -5., -5., -5., -5., -5.])
    >>> limiter.reset()
    >>> limiter.last is None
    True
    """

    def __init__(self, effort_limits: Any, rate: Any = None):
        limits = TorqueLimits(effort_limits, rate)
        n = limits.effort_limits.size
        kernel, inputs = _kernel(n), np.zeros((4, n))
        self._limited = cast(Callable[..., FloatArray], kernel.function)
        self._any_step: FloatArray = np.full(n, UNLIMITED)
        # Packed, where machine code finds it: see `memory`.
        self._requested, self._before, step, self._finite_limits = inputs
        self._rate = np.zeros(n)
        #: For machine code that does what a call does; only for the thread that calls.
        self.memory = LimiterMemory(
            int(kernel.address),
            inputs.ravel(),
            self._before,
            step,
            self._rate,
            np.zeros(n + 1),
            UNLIMITED,
            np.zeros(3),
        )
        self._standing = self.memory.standing
        self._torque = slice(n)  # of what comes out
        self._take(limits)
        self.reset()

    @property
    def saturating(self) -> bool:
        """True if the last requested torque was beyond the effort limits."""
        return bool(self._standing[2] > 0.0)

    @property
    def saturated(self) -> BoolArray:
        """At which joints the last requested torque was beyond the effort limits, (nv,) bool."""
        beyond: BoolArray = np.abs(self._requested) > self._limits.effort_limits
        return beyond

    @property
    def limits(self) -> TorqueLimits:
        """Limits in force; others, of the same number of joints, may be assigned at any time.

        :raises ValueError: for another number of joints
        """
        return self._limits

    @limits.setter
    def limits(self, limits: TorqueLimits) -> None:
        if limits.effort_limits.shape != self._limits.effort_limits.shape:
            raise ValueError(
                f'limits must have {self._limits.effort_limits.size} numbers, got '
                f'{limits.effort_limits.size}'
            )
        self._take(limits)

    def _take(self, limits: TorqueLimits) -> None:
        self._finite_limits[:] = limits.finite_limits
        self._rate[:] = -1.0 if limits.rate is None else limits.rate
        self._limits = limits

    @property
    def last(self) -> Optional[FloatArray]:
        """Last torque returned, (nv,) [N m or N]; None if there is none since a reset."""
        return self._before.copy() if self._standing[1] else None

    def __call__(self, torque: FloatArray, now: float) -> FloatArray:
        """Return the torque within the limits, (nv,) [N m or N].

        The rate limits the change from the torque returned last; the first one may be any. If no
        time has passed since then, or `now` is earlier, the last torque is returned again.

        :param torque: requested torque, (nv,) [N m or N]
        :param now: time of a monotonic clock [s]
        :raises FloatingPointError: if the torque is NaN; nothing is changed
        """
        limits, step, elapsed = self._limits, self._any_step, limiter_elapsed(self.memory, now)
        if elapsed >= 0.0 and limits.rate is not None:
            step = limits.rate * elapsed
        result = self._limited(torque, self._before, step, limits.finite_limits)
        beyond = result.item(-1)
        if not beyond >= 0.0:
            if np.isnan(torque).any():
                raise FloatingPointError('the torque is NaN and cannot be limited')
            # The machine code takes no infinity either.
            torque, step = (np.clip(x, -UNLIMITED, UNLIMITED) for x in (torque, step))
            result = self._limited(torque, self._before, step, limits.finite_limits)
            beyond = result.item(-1)
        self._requested[:] = torque
        self._before[:] = applied = result[self._torque]
        limiter_passed(self.memory, now, beyond)
        return applied

    def sent(self, now: float) -> None:
        """Note that the last torque has been sent: its change counts from then on.

        Who sends it some time after it was computed says so, lest two messages shortly after each
        other differ by what the time in which the first one was delayed would allow.

        :param now: time of a monotonic clock [s]
        """
        limiter_sent(self.memory, now)

    @property
    def standing(self) -> Optional[Tuple[FloatArray, float]]:
        """Last torque, (nv,), and its time [s]; None if there is none since a reset.

        >>> limiter = TorqueLimiter(np.full(6, 10.0), rate=1000.0)
        >>> limiter.standing is None
        True
        """
        return (self._before.copy(), float(self._standing[0])) if self._standing[1] else None

    def resume(self, torque: FloatArray, time: float) -> None:
        """Go on from a torque that was sent already, as by a limiter before this one.

        :param torque: that torque, (nv,) [N m or N]
        :param time: when it was sent, by the same clock [s]

        >>> limiter = TorqueLimiter(np.full(6, 10.0), rate=1000.0)
        >>> limiter.resume(np.full(6, 3.0), 5.0)
        >>> limiter(np.zeros(6), 5.001)
        array([2., 2., 2., 2., 2., 2.])
        """
        self._before[:], self._standing[:2] = torque, (time, 1.0)

    def towards(self, target: FloatArray, now: float) -> FloatArray:
        """Return the next torque towards a final one, as fast as the rate allows, (nv,).

        In [N m or N].

        Call it again until it returns the target within the effort limits; without a rate that
        is at once.

        :param target: torque to end at, (nv,)
        :param now: time of a monotonic clock [s]
        """
        return self(target, now)

    def at(self, target: FloatArray) -> bool:
        """Return whether the torque returned last is `target` within the effort limits."""
        limits = self._limits.effort_limits
        return bool(self._standing[1]) and bool(
            (self._before == np.minimum(np.maximum(target, -limits), limits)).all()
        )

    def reset(self) -> None:
        """Forget the last torque, so that the next one may be any."""
        self._standing[:2] = -math.inf, 0.0
