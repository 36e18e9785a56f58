# SPDX-License-Identifier: Apache-2.0
"""A way that messages take, which delays, loses and doubles them; seeded, in simulated time."""

from __future__ import annotations

import heapq
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

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
    """Messages go in at one time, and come out when they are due.

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
