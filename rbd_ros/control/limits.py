"""Limits of torque: saturation at the effort limits, and of its rate of change in real time."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
import math
from typing import Any, List, NamedTuple, Optional, Sequence

import numpy as np

from rbd_ros.compiler import Definition, make_kernel
from rbd_ros.compiler.kernel import BaseKernel
from rbd_ros.compiler.source import source_digest
from rbd_ros.spatial.scalar import absolute, clip, Scalar, where_positive

#: Stands for a torque, or a change of torque, without a limit [N m or N].
UNLIMITED = 1e300


def limited(
    torque: Sequence[Scalar],
    last: Sequence[Scalar],
    step: Sequence[Scalar],
    limits: Sequence[Scalar],
) -> List[Scalar]:
    """Torque within its limits, and at how many joints it was beyond the effort limits, (nv + 1,).

    Saturation has the last word, also when the limits have just been lowered.

    :param torque: torque wanted, (nv,)
    :param last: torque before, (nv,)
    :param step: greatest change from there, (nv,)
    :param limits: effort limits, (nv,)
    """
    result, beyond = [], 0.0
    for x, before, change, limit in zip(torque, last, step, limits):
        high, low = before + change, before - change
        reachable = where_positive(x - high, high, where_positive(low - x, low, x))
        result.append(clip(reachable, limit))
        beyond = beyond + where_positive(absolute(x) - limit, 1.0, 0.0)
    return [*result, beyond]


@lru_cache(maxsize=None)
def _kernel(n: int) -> BaseKernel:
    """Machine code of `limited` for so many joints."""
    inputs = tuple((name, n) for name in ('torque', 'last', 'step', 'limits'))
    key = {'source': source_digest('rbd_ros.compiler.kernel', limited)}
    return make_kernel(Definition.of_one_output('limited_torque', inputs, (n + 1,), limited, key))


@dataclass(frozen=True, eq=False)
class TorqueLimits:
    """What a `TorqueLimiter` keeps to; the arrays are copied and read-only.

    :param effort_limits: greatest torques, (nv,) [N m or N], inf where there is none
    :param rate: greatest change of torque, one number or (nv,) [N m/s or N/s]; None: any
    :raises ValueError: for a wrong shape, NaN or a negative limit
    """

    effort_limits: np.ndarray
    rate: Optional[np.ndarray] = None
    finite_limits: np.ndarray = field(init=False)  # a very great number where there is none

    def __post_init__(self):
        limits = np.array(self.effort_limits, dtype=float)
        if limits.ndim != 1 or not (limits >= 0.0).all():
            raise ValueError('effort limits must be one number a joint and not negative')
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
    """What machine code needs to limit a torque by itself; it must do all that a call does.

    :param address: of the kernel, for `call_kernel`
    :param inputs: its inputs, packed: torque wanted, (nv,), and what follows
    :param last: part of the inputs: torque before, (nv,) [N m or N]
    :param step: part of the inputs: greatest change from there, (nv,) [N m or N]
    :param rate: greatest change in a second, (nv,) [N m/s or N/s]
    :param result: room for what comes out, (nv + 1,)
    :param unlimited: stands for a change without a limit [N m or N]
    """

    address: int
    inputs: np.ndarray
    last: np.ndarray
    step: np.ndarray
    rate: np.ndarray
    result: np.ndarray
    unlimited: float


class TorqueLimiter:
    """Cuts torques at effort limits, and their change per real time if a rate is given.

    No torque beyond the effort limits ever comes out, whatever the rate. One thread calls; others
    may assign `limits` meanwhile.

    :param effort_limits: greatest torques, (nv,) [N m or N], inf where none
    :param rate: greatest change of torque, one number or (nv,) [N m/s or N/s]; None: any
    :raises ValueError: for a wrong shape, NaN or a negative limit
    """

    def __init__(self, effort_limits: Any, rate: Any = None):
        limits = TorqueLimits(effort_limits, rate)
        n = limits.effort_limits.size
        kernel, inputs = _kernel(n), np.zeros((4, n))
        self._limited, self._any_step = kernel.function, np.full(n, UNLIMITED)
        # Packed, where machine code finds it: see `memory`.
        self._wanted, self._before, step, self._finite_limits = inputs
        self._rate = np.zeros(n)
        #: For machine code that does what a call does, in the thread that calls
        self.memory = LimiterMemory(
            int(kernel.address),
            inputs.ravel(),
            self._before,
            step,
            self._rate,
            np.zeros(n + 1),
            UNLIMITED,
        )
        self._torque = slice(n)  # of what comes out
        self._take(limits)
        self._started = False
        self._time = -math.inf
        #: Whether the last torque wanted was beyond the effort limits
        self.saturating = False

    @property
    def saturated(self) -> np.ndarray:
        """At which joints the last torque wanted was beyond the effort limits, (nv,) bool."""
        return np.abs(self._wanted) > self._limits.effort_limits

    @property
    def limits(self) -> TorqueLimits:
        """What it keeps to; assign others at any time, of the same number of joints.

        :raises ValueError: for another number of joints
        """
        return self._limits

    @limits.setter
    def limits(self, limits: TorqueLimits) -> None:
        if limits.effort_limits.shape != self._limits.effort_limits.shape:
            raise ValueError(
                f'limits must be of {self._limits.effort_limits.size} joints, got '
                f'{limits.effort_limits.size}'
            )
        self._take(limits)

    def _take(self, limits: TorqueLimits) -> None:
        self._finite_limits[:] = limits.finite_limits
        self._rate[:] = UNLIMITED if limits.rate is None else limits.rate
        self._limits = limits

    @property
    def last(self) -> Optional[np.ndarray]:
        """Last torque that came out, (nv,); None: none since the beginning or a reset."""
        return self._before.copy() if self._started else None

    def __call__(self, torque: np.ndarray, now: float) -> np.ndarray:
        """Torque within the limits, (nv,); it is also what the next one is compared with.

        Without a torque before, the rate limits nothing. Torques at the same time or an earlier
        one than the last are that last one: no real time has passed in which to change.

        :param torque: torque wanted, (nv,)
        :param now: time of a monotonic clock [s]
        :raises FloatingPointError: if the torque is not a number; nothing is changed
        """
        limits, step, elapsed = self._limits, self._any_step, self.elapsed(now)
        if elapsed >= 0.0 and limits.rate is not None:
            step = limits.rate * elapsed
        result = self._limited(torque, self._before, step, limits.finite_limits)
        beyond = result.item(-1)
        if not beyond >= 0.0:
            if np.isnan(torque).any():
                raise FloatingPointError('a torque that is not a number cannot be limited')
            # The machine code takes no infinity either.
            torque, step = (np.clip(x, -UNLIMITED, UNLIMITED) for x in (torque, step))
            result = self._limited(torque, self._before, step, limits.finite_limits)
            beyond = result.item(-1)
        self._wanted[:] = torque
        self._before[:] = applied = result[self._torque]
        self.passed(now, beyond)
        return applied

    def elapsed(self, now: float) -> float:
        """Real time in which the torque may have changed [s]; negative: its change is not limited.

        :param now: time of a monotonic clock [s]
        """
        if self._limits.rate is None or not self._started:
            return -1.0
        elapsed = now - self._time
        return elapsed if elapsed > 0.0 else 0.0  # NaN is no time either

    def passed(self, now: float, beyond: float) -> None:
        """Note that a torque has come out.

        :param now: time of a monotonic clock [s]
        :param beyond: at how many joints the torque wanted was beyond the effort limits
        """
        self.saturating, self._started = beyond > 0.0, True
        if now > self._time:
            self._time = now

    def towards(self, target: np.ndarray, now: float) -> np.ndarray:
        """Next torque on the way to a last command, as fast as the rate allows.

        Call it again until it returns the target within the effort limits; without a rate that
        is at once.

        :param target: torque to end at, (nv,)
        :param now: time of a monotonic clock [s]
        """
        return self(target, now)

    def at(self, target: np.ndarray) -> bool:
        """Whether the last torque that came out is this one, within the effort limits."""
        limits = self._limits.effort_limits
        return self._started and bool(
            (self._before == np.minimum(np.maximum(target, -limits), limits)).all()
        )

    def reset(self) -> None:
        """Forget the last torque, so that the next one may be any."""
        self._started = False
        self._time = -math.inf
