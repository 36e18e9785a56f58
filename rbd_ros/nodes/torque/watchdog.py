"""A watchdog in a thread of its own, where no message can block it."""

from __future__ import annotations

import threading
import time
from typing import Callable, Optional

SHORTEST_PERIOD, LONGEST_PERIOD = 0.002, 0.05  # between two looks [s]
SIMULATED_PATIENCE = 10.0  # real time-outs after which simulated time is not waited for any more
LEAST_SIMULATED_PATIENCE = 2.0  # likewise [s]


class Watchdog:
    """Calls `expired` once when it has not been fed for `timeout` seconds.

    A pause of the whole process (a busy machine, a stopped process) is not counted against the one
    who feeds: after it he gets the time of one look to feed, since what he waits for may lie
    there.

    :param timeout: longest time between meals [s]; 0: never expires
    :param expired: called in the watchdog's thread; if it raises, it is called again at the next
        look
    :param simulated_time: present simulated time [s], None if there is none; it must have passed
        as well, unless it stands still for very long
    """

    def __init__(
        self,
        timeout: float,
        expired: Callable[[], None],
        simulated_time: Callable[[], Optional[float]] = lambda: None,
    ):
        self.timeout = timeout
        self._expired = expired
        self._simulated_time = simulated_time
        self._fed = time.monotonic()
        self._fed_simulated: Optional[float] = None
        self._hungry = False  # nothing to watch before the first meal
        self.fired = False
        self._stopping = threading.Event()
        self._period = min(max(timeout / 8.0, SHORTEST_PERIOD), LONGEST_PERIOD)
        self._patience = max(SIMULATED_PATIENCE * timeout, LEAST_SIMULATED_PATIENCE)
        self._thread = threading.Thread(target=self._run, name='watchdog', daemon=True)

    def start(self) -> None:
        """Begin to watch; nothing expires before the first meal."""
        if self.timeout > 0.0:
            self._thread.start()

    def stop(self) -> None:
        """End; returns when the thread has."""
        self._stopping.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(5.0)

    def feed(self, now: float) -> None:
        """Note that all was well at a monotonic time [s]."""
        self._fed = now
        self._fed_simulated = None  # looked up by the watchdog, which has the time
        self._hungry = True
        self.fired = False

    def age(self, now: float) -> float:
        """Real time since the last meal [s]."""
        return now - self._fed

    def interrupted(self, now: float, elapsed: float) -> bool:
        """Whether the time since the last meal was too long, be it noticed by a look or not.

        :param now: monotonic time [s]
        :param elapsed: what has passed in the time of the states [s]
        """
        if self.fired or not 0.0 < self.timeout < now - self._fed:
            return self.fired
        return elapsed > self.timeout or self._simulated_time() is None

    def _run(self) -> None:
        delay = self._period
        while True:
            asleep_since = time.monotonic()
            if self._stopping.wait(delay):
                return
            now = time.monotonic()
            overslept = now - asleep_since - delay > self._period
            delay = self._period
            if overslept or self.fired or not self._hungry:
                continue
            simulated = self._simulated_time()
            if self._starved(now, simulated):
                self.fired = True
                try:
                    self._expired()
                except Exception:  # it has reported that itself
                    self.fired = False
            elif simulated is None:
                # Nothing can be wrong before: seldom is cheap.
                delay = max(self._fed + self.timeout - now, SHORTEST_PERIOD)

    def _starved(self, now: float, simulated: Optional[float]) -> bool:
        if self._fed_simulated is None:
            self._fed_simulated = simulated
        age = now - self._fed
        if age <= self.timeout:
            return False
        if simulated is None or self._fed_simulated is None:
            return True
        return simulated - self._fed_simulated > self.timeout or age > self._patience
