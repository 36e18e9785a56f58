# SPDX-License-Identifier: Apache-2.0
"""Fast path of joint states: machine code reads messages like their publisher's last one.

At one message a millisecond, the interpreter runs with cold caches: reading and checking a message
in Python costs more than the whole torque law.
"""

from __future__ import annotations

import math
from typing import Callable, NamedTuple, Optional, Tuple

import numpy as np

from rbd_ros.compiler.loops import compiled, entry_point, load_f64, load_i64, Record
from rbd_ros.robot.wraparound import whole_periods, Wraparound
from rbd_ros.wire import has_layout, Layout, make_pattern, Pattern

STAMP = 4  # where the time stamp of a JointState is [bytes]
NANOSECONDS = 1_000_000_000
LOW_HALF = 0xFFFFFFFF


class StatePattern(NamedTuple):
    """Pattern of the messages of one publisher.

    :param layout: words that they contain
    :param position: where the positions begin, in the order of the robot [bytes]
    :param velocity: where the velocities begin, likewise [bytes]
    """

    layout: Layout
    position: int
    velocity: int


class LastState(NamedTuple):
    """The state before, and what the next one is compared with.

    :param q: positions, (n,) [rad or m]
    :param v: velocities, (n,) [rad/s or m/s]
    :param stamp: time [ns], (1,); 0: the next state takes the slow path
    :param lower: minimum plausible positions, (n,) [rad or m]
    :param upper: maximum plausible positions, (n,) [rad or m]
    :param max_velocity: maximum plausible speed [rad/s or m/s]
    :param max_change: maximum change of position from state to state, all joints together
        (root of the sum of squares) [rad or m]
    :param periods: periods of positions, 0 where there are none, (n,) [rad]
    :param rates: 1 / period, likewise, (n,) [1/rad]
    :param seen: real time at which it came [s], (1,); -inf: that has been noted elsewhere
    :param elapsed: time from the state before to it [ns], (1,)
    :param count: how many states have been taken, (1,)
    """

    q: np.ndarray
    v: np.ndarray
    stamp: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    max_velocity: float
    max_change: float
    periods: np.ndarray
    rates: np.ndarray
    seen: np.ndarray
    elapsed: np.ndarray
    count: np.ndarray


@compiled
def taken(pattern: StatePattern, last: LastState, data: bytes, size: int, now: float) -> int:
    """Take a message that has the pattern and a plausible time and state.

    :param data: the serialized message
    :param size: its number of bytes
    :param now: present time of a steady clock [s]
    :return: time since the state before [ns], always positive; 0 if the message was not taken:
        then nothing has been changed
    """
    if not has_layout(pattern.layout, data, size):
        return 0
    time = load_i64(data, STAMP)
    seconds, nanoseconds = time & LOW_HALF, (time >> 32) & LOW_HALF
    stamp = seconds * NANOSECONDS + nanoseconds
    # The upper half of the range are negative seconds.
    if last.stamp[0] <= 0 or stamp <= last.stamp[0] or seconds > LOW_HALF // 2:
        return 0
    change = 0.0
    for j in range(len(last.q)):
        q = load_f64(data, pattern.position + 8 * j)
        v = load_f64(data, pattern.velocity + 8 * j)
        # Comparisons with NaN are false.
        if not (last.lower[j] <= q <= last.upper[j] and abs(v) <= last.max_velocity):
            return 0
        ahead = q - last.q[j]
        change += (ahead - whole_periods(ahead, last.periods[j], last.rates[j])) ** 2
    if not change <= last.max_change**2:
        return 0
    elapsed = stamp - last.stamp[0]
    last.stamp[0] = stamp
    for j in range(len(last.q)):
        last.q[j] = load_f64(data, pattern.position + 8 * j)
        last.v[j] = load_f64(data, pattern.velocity + 8 * j)
    last.seen[0] = now
    last.elapsed[0] = elapsed
    last.count[0] += 1
    return elapsed


@entry_point
def take_state(pattern: StatePattern, last: LastState, data: bytes, size: int, now: float) -> int:
    """Take a message as `taken` does."""
    return taken(pattern, last, data, size, now)


def _take_nothing(data: bytes, size: int, now: float) -> int:
    """Stand in for `take_state` until a layout has been learned: take no message."""
    return 0


class FastStateReader:
    """Reader of one publisher's messages, as long as they are regular.

    :param size: number of joints
    :param bounds: minimum and maximum plausible position, each (n,), and maximum plausible speed
    :param max_change: maximum change of position, see `LastState`
    :param wraparound: which joints turn for ever
    """

    def __init__(
        self,
        size: int,
        bounds: Tuple[np.ndarray, np.ndarray, float],
        max_change: float,
        wraparound: Wraparound,
    ):
        #: Positions and velocities of the last one, (n,); changed in place by the next
        self.q, self.v = np.zeros((2, size))
        self._stamp, self._elapsed, self._count = np.zeros((3, 1), dtype=np.int64)
        self._seen = np.full(1, -math.inf)
        #: Record of the last state
        self.last = Record(
            LastState(
                self.q,
                self.v,
                self._stamp,
                *bounds,
                max_change,
                wraparound.periods,
                wraparound.rates,
                self._seen,
                self._elapsed,
                self._count,
            )
        )
        #: Record of the pattern of the messages that are taken, if there are any
        self.pattern: Optional[Record] = None
        # Compile now, not when the first message comes.
        self.learn(make_pattern(bytes(8), b'\xff' * 8, 0, {'position': 0, 'velocity': 0}))
        self.forget()

    def learn(self, pattern: Optional[Pattern]) -> bool:
        """Begin to take messages of a pattern instead of others.

        :param pattern: of messages with all joints in the order of the robot
        :return: whether it can be done
        """
        if pattern is None or not {'position', 'velocity'} <= set(pattern.values):
            return False
        own = StatePattern(
            pattern.layout,
            position=pattern.values['position'],
            velocity=pattern.values['velocity'],
        )
        self.pattern = Record(own)
        #: Take a message, of bytes, their number and the time, if it is regular: see `taken`
        self.take: Callable[[bytes, int, float], int] = take_state.bind(
            self.pattern, self.last, release_gil=False
        )
        return True

    def forget(self) -> None:
        """Take no message any more."""
        self.take, self.pattern = _take_nothing, None

    @property
    def count(self) -> int:
        """Number of states that have been taken."""
        return self._count.item()

    @property
    def stamp(self) -> int:
        """Time of the last one [ns]; 0: the next one takes the slow path."""
        return self._stamp.item()

    @property
    def elapsed(self) -> int:
        """Time from the state before to the last one [ns]."""
        return self._elapsed.item()

    @property
    def seen(self) -> float:
        """Real time at which the last one came [s]; -inf: there is none that was not noted."""
        return self._seen.item()

    def noted(self) -> None:
        """Mark the last one as noted elsewhere."""
        self._seen[0] = -math.inf

    def expect(self, q: np.ndarray, v: np.ndarray, stamp: int) -> None:
        """Set what the next message is compared with.

        :param q: positions, (n,) [rad or m]
        :param v: velocities, (n,) [rad/s or m/s]
        :param stamp: time [ns]; 0: the next one takes the slow path
        """
        self.q[:], self.v[:], self._stamp[0] = q, v, stamp
