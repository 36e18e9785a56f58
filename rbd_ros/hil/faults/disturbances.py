# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A message link with delay, loss and duplication; seeded, in simulated time."""

from __future__ import annotations

import heapq
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from rbd_ros.array_types import AnyArray, FloatArray

#: Maximum number of messages under way; further ones are lost and counted.
MAX_UNDER_WAY = 100_000


class Disturbance(NamedTuple):
    """Disturbance of messages.

    :param latency: constant delay [s]
    :param jitter: maximum additional delay, uniform from zero [s]
    :param drop: probability of loss
    :param duplicate: probability of duplication
    """

    latency: float = 0.0
    jitter: float = 0.0
    drop: float = 0.0
    duplicate: float = 0.0


#: No disturbance.
NONE = Disturbance()


class MessageLink:
    """Delay line of messages.

    :param generator: source of random numbers
    """

    def __init__(self, generator: np.random.Generator):
        self._generator = generator
        self._waiting: List[Tuple[float, int, Any]] = []
        self._number = 0
        self.disturbance = NONE
        #: Numbers of sent, lost and duplicated messages.
        self.sent = self.dropped = self.duplicated = 0

    @property
    def quiet(self) -> bool:
        """True if messages pass at once, and none is under way."""
        return not self._waiting and self.disturbance is NONE

    def send(self, message: Any, time: float) -> None:
        """Send a message into the link.

        :param time: present time [s]
        """
        latency, jitter, drop, duplicate = self.disturbance
        self.sent += 1
        # One random number for each possible effect, independent of the others: the loss of a
        # message does not change the next one.
        chance = self._generator.random
        lost = drop > 0.0 and chance() < drop
        twice = duplicate > 0.0 and chance() < duplicate
        delays = [latency + (jitter * chance() if jitter > 0.0 else 0.0) for _ in range(1 + twice)]
        if lost or len(self._waiting) >= MAX_UNDER_WAY:
            self.dropped += 1
            return
        self.duplicated += twice
        for delay in delays:
            self._number += 1  # messages that are due together keep their order
            heapq.heappush(self._waiting, (time + delay, self._number, message))

    def receive(self, time: float) -> Optional[Any]:
        """Return the next due message; None if there is none.

        :param time: present time [s]
        """
        # Times are sums of steps, so rounding is tolerated.
        if self._waiting and self._waiting[0][0] <= time + 1e-9:
            return heapq.heappop(self._waiting)[2]
        return None

    def clear(self) -> None:
        """Drop the messages under way."""
        self._waiting.clear()

    def snapshot(self) -> Dict[str, Any]:
        """Return the state of the link: messages under way, and the random state."""
        return {
            'random': self._generator.bit_generator.state,
            'waiting': [list(each) for each in self._waiting],
            'number': self._number,
        }

    def restore(self, snapshot: Dict[str, Any], shift: float = 0.0) -> None:
        """Restore a `snapshot`; counters continue.

        :param shift: present time minus the time of the snapshot [s]
        """
        self._generator.bit_generator.state = snapshot['random']
        self._waiting = [
            (time + shift, number, each) for time, number, each in snapshot['waiting']
        ]
        heapq.heapify(self._waiting)
        self._number = snapshot['number']


class SensorFaults:
    """Faults of measured positions and velocities of joints.

    They apply in physical order: backlash between joint and encoder, offset, noise, quantization.

    :param count: number of joints, n
    :param generator: source of random numbers
    """

    def __init__(self, count: int, generator: np.random.Generator):
        self._generator = generator
        self.position_noise, self.velocity_noise = np.zeros(count), np.zeros(count)
        self.position_bias, self.velocity_bias = np.zeros(count), np.zeros(count)
        self.quantization, self.backlash = np.zeros(count), np.zeros(count)
        self._held = np.full(count, np.nan)  # position of the encoder within the backlash
        #: Whether there is a fault.
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
        :param joints: indices of the joints, (k,)
        """
        self._by_kind[kind][joints] = value
        self.active = True

    def snapshot(self) -> Dict[str, Any]:
        """Return the state besides the faults: random state, and position in the backlash."""
        return {'random': self._generator.bit_generator.state, 'held': self._held.tolist()}

    def restore(self, snapshot: Dict[str, Any]) -> None:
        """Restore a `snapshot`."""
        self._generator.bit_generator.state = snapshot['random']
        self._held[:] = snapshot['held']

    def measure(self, q: FloatArray, v: FloatArray) -> Tuple[FloatArray, FloatArray]:
        """Return the measured positions and velocities, (n,) each.

        :param q: positions, (n,) [rad, m]
        :param v: velocities, (n,) [rad/s, m/s]
        """
        if not self.active:
            self._held[:] = np.nan
            return q, v
        q, v = np.array(q), np.array(v)
        play = self.backlash > 0.0
        # A new backlash begins with the encoder in its middle.
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
