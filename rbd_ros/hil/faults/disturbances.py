# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A way that messages take, which delays, loses and doubles them; seeded, in simulated time."""

from __future__ import annotations

import heapq
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from rbd_ros.array_types import AnyArray, FloatArray

#: Messages that may be under way; a flood beyond that is lost, and counted.
MAX_UNDER_WAY = 100_000


class Disturbance(NamedTuple):
    """Disturbance of messages.

    :param latency: delay of all [s]
    :param jitter: largest further delay, uniform from zero on [s]
    :param drop: probability of being lost
    :param duplicate: probability of coming twice
    """

    latency: float = 0.0
    jitter: float = 0.0
    drop: float = 0.0
    duplicate: float = 0.0


#: What happens without faults.
NONE = Disturbance()


class MessageLink:
    """Delay line of messages: each comes out when it is due.

    :param generator: source of chance
    """

    def __init__(self, generator: np.random.Generator):
        self._generator = generator
        self._waiting: List[Tuple[float, int, Any]] = []
        self._number = 0
        self.disturbance = NONE
        #: Messages that went in, were lost, and came twice.
        self.sent = self.dropped = self.duplicated = 0

    @property
    def quiet(self) -> bool:
        """True if messages pass at once, and none is under way."""
        return not self._waiting and self.disturbance is NONE

    def send(self, message: Any, time: float) -> None:
        """Send a message into the link.

        :param time: when [s]
        """
        latency, jitter, drop, duplicate = self.disturbance
        self.sent += 1
        # One number for each possibility that there is, whatever comes of the others: a message
        # that is lost does not change what happens to the next.
        chance = self._generator.random
        lost = drop > 0.0 and chance() < drop
        twice = duplicate > 0.0 and chance() < duplicate
        delays = [latency + (jitter * chance() if jitter > 0.0 else 0.0) for _ in range(1 + twice)]
        if lost or len(self._waiting) >= MAX_UNDER_WAY:
            self.dropped += 1
            return
        self.duplicated += twice
        for delay in delays:
            self._number += 1  # what is due at the same time comes in the order of going in
            heapq.heappush(self._waiting, (time + delay, self._number, message))

    def receive(self, time: float) -> Optional[Any]:
        """Return the next message that is due, None if there is none.

        :param time: what time it is [s]
        """
        # Times are sums of steps: what is due but for rounding is due.
        if self._waiting and self._waiting[0][0] <= time + 1e-9:
            return heapq.heappop(self._waiting)[2]
        return None

    def clear(self) -> None:
        """Forget the messages under way."""
        self._waiting.clear()

    def snapshot(self) -> Dict[str, Any]:
        """Return the state of the link: messages under way, and the state of chance."""
        return {
            'random': self._generator.bit_generator.state,
            'waiting': [list(each) for each in self._waiting],
            'number': self._number,
        }

    def restore(self, snapshot: Dict[str, Any], shift: float = 0.0) -> None:
        """Restore a `snapshot`; counts continue.

        :param shift: how much later it is now than it was then [s]
        """
        self._generator.bit_generator.state = snapshot['random']
        self._waiting = [
            (time + shift, number, each) for time, number, each in snapshot['waiting']
        ]
        heapq.heapify(self._waiting)
        self._number = snapshot['number']


class SensorFaults:
    """Measured positions and velocities of joints.

    The order is that of the real thing: play between joint and encoder, its offset and noise, and
    last its steps.

    :param count: number of joints, n
    :param generator: source of chance
    """

    def __init__(self, count: int, generator: np.random.Generator):
        self._generator = generator
        self.position_noise, self.velocity_noise = np.zeros(count), np.zeros(count)
        self.position_bias, self.velocity_bias = np.zeros(count), np.zeros(count)
        self.quantization, self.backlash = np.zeros(count), np.zeros(count)
        self._held = np.full(count, np.nan)  # position of the encoder within its play
        #: Whether anything is wrong at all.
        self.active = False
        self._by_kind = {
            name: getattr(self, name)
            for name in (
                'position_noise',
                'velocity_noise',
                'position_bias',
                'velocity_bias',
                'quantization',
                'backlash',
            )
        }

    def clear(self) -> None:
        """Remove all faults."""
        for values in self._by_kind.values():
            values[:] = 0.0
        self.active = False

    def set(self, kind: str, joints: AnyArray, value: float) -> None:
        """Set a fault of joints.

        :param kind: 'position_noise', 'velocity_noise', 'position_bias', 'velocity_bias',
            'quantization' or 'backlash'
        :param joints: their places, (k,)
        """
        self._by_kind[kind][joints] = value
        self.active = True

    def snapshot(self) -> Dict[str, Any]:
        """Return what measurements depend on beside the faults.

        State of chance, place in the play.
        """
        return {'random': self._generator.bit_generator.state, 'held': self._held.tolist()}

    def restore(self, snapshot: Dict[str, Any]) -> None:
        """Restore a `snapshot`."""
        self._generator.bit_generator.state = snapshot['random']
        self._held[:] = snapshot['held']

    def measure(self, q: FloatArray, v: FloatArray) -> Tuple[FloatArray, FloatArray]:
        """Return the measured positions and velocities, (n,) each, for those of the joints.

        :param q: positions, (n,) [rad, m]
        :param v: velocities, (n,) [rad/s, m/s]
        """
        if not self.active:
            self._held[:] = np.nan
            return q, v
        q, v = np.array(q), np.array(v)
        play = self.backlash > 0.0
        # Where the play begins now, the encoder stands in the middle of it.
        self._held = np.where(play & np.isfinite(self._held), self._held, q)
        if play.any():
            half = 0.5 * self.backlash
            held = np.clip(self._held, q - half, q + half)
            v[play & (held == self._held)] = 0.0
            self._held = held
            q[play] = held[play]
        q += self.position_bias
        v += self.velocity_bias
        draw = self._generator.standard_normal
        if self.position_noise.any():
            q += self.position_noise * draw(len(q))
        if self.velocity_noise.any():
            v += self.velocity_noise * draw(len(v))
        stepped = self.quantization > 0.0
        if stepped.any():
            steps = self.quantization[stepped]
            q[stepped] = steps * np.round(q[stepped] / steps)
        return q, v
