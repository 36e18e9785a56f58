# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A watchdog in its own thread, which messages cannot block."""

from __future__ import annotations

import math
import threading
import time
from typing import Callable, Optional

import numpy as np

MIN_PERIOD, MAX_PERIOD = 0.002, 0.05  # between two checks [s]
# Real time, in timeouts and in seconds, after which it expires although simulated time stands
# still.
REAL_TIMEOUT_FACTOR = 10.0
MIN_REAL_TIMEOUT = 2.0


class Watchdog:
    """Calls `expired` once when it has not been fed for `timeout`.

    A pause of the whole process (a busy machine, a stopped process) does not count: one more
    period follows it, since the next state may have arrived.

    :param timeout: maximum time between two feeds [s]; 0: never expires
    :param expired: called in the watchdog's thread; called again at the next check if it raises
    :param simulated_time: returns the present simulated time [s], None: none; the timeout must
        have passed in it as well, except for very long times
    :param begin: called first in the watchdog's thread
    """

    def __init__(
        self,
        timeout: float,
        expired: Callable[[], None],
        simulated_time: Callable[[], Optional[float]] = lambda: None,
        begin: Callable[[], None] = lambda: None,
    ):
        self.timeout = timeout
        #: Ends the present torque, as after a timeout
        self.expired = expired
        self._simulated_time, self._begin = simulated_time, begin
        #: Time of the last feed [s], (1,); machine code may set it while armed
        self.fed = np.full(1, time.monotonic())
        # Simulated time after the last feed, and the time of that.
        self._fed_simulated: Optional[float] = None
        self._fed_at_lookup = -math.inf
        self._armed = False  # not before the first feed
        self.fired = False
        self._stopping = threading.Event()
        self._period = min(max(timeout / 8.0, MIN_PERIOD), MAX_PERIOD)
        self._real_timeout = max(REAL_TIMEOUT_FACTOR * timeout, MIN_REAL_TIMEOUT)
        self._thread = threading.Thread(target=self._run, name='watchdog', daemon=True)

    def start(self) -> None:
        """Start the thread; it does not expire before the first feed."""
        if self.timeout > 0.0 and self._thread.ident is None:
            self._thread.start()

    @property
    def armed(self) -> bool:
        """True if it can expire."""
        return self._armed

    def disarm(self) -> None:
        """Disarm the watchdog until it is fed again."""
        self._armed = self.fired = False

    def stop(self) -> None:
        """End the thread, and wait for it."""
        self._stopping.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(5.0)

    def feed(self, now: float) -> None:
        """Feed it: a torque was sent at the monotonic time `now` [s]."""
        self.fed[0] = now
        self._armed = True
        self.fired = False

    def age(self, now: float) -> float:
        """Return the real time since the last feed [s], at the monotonic time `now` [s]."""
        return now - self.fed.item()

    def interrupted(self, now: float, elapsed: float) -> bool:
        """Return whether the timeout has passed, even before the next check.

        :param now: monotonic time [s]
        :param elapsed: time that has passed by the stamps of the states [s]
        """
        if self.fired or not 0.0 < self.timeout < now - self.fed.item():
            return self.fired
        return elapsed > self.timeout or self._simulated_time() is None

    def _run(self) -> None:
        self._begin()
        delay = self._period
        while True:
            asleep_since = time.monotonic()
            if self._stopping.wait(delay):
                return
            now = time.monotonic()
            overslept = now - asleep_since - delay > self._period
            delay = self._period
            if overslept or self.fired or not self._armed:
                continue
            simulated = self._simulated_time()
            if self._is_overdue(now, simulated):
                self.fired = True
                try:
                    self.expired()
                except Exception:  # already reported
                    self.fired = False
            elif simulated is None:
                # It cannot expire before that.
                delay = max(self.fed.item() + self.timeout - now, MIN_PERIOD)

    def _is_overdue(self, now: float, simulated: Optional[float]) -> bool:
        fed = self.fed.item()
        if self._fed_at_lookup != fed or self._fed_simulated is None:
            # Outside of the control loop.
            self._fed_simulated, self._fed_at_lookup = simulated, fed
        age = now - fed
        if age <= self.timeout:
            return False
        if simulated is None or self._fed_simulated is None:
            return True
        return simulated - self._fed_simulated > self.timeout or age > self._real_timeout
