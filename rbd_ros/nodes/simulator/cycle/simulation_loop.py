# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The simulator's thread: cycles at absolute deadlines, with steps and requests in between."""

from __future__ import annotations

import queue
import threading
from time import monotonic, sleep
from typing import Any, Callable, Optional

from rbd_ros.nodes.common.cycle_timer import CycleTimer

LONG_SLEEP = 0.02  # sleeps longer than this can be interrupted by a request [s]
VERY_LONG_SLEEP = 1.0  # longer cycles republish the state [s]
MAX_LAG = 0.1  # a longer delay is not caught up: the schedule moves [s]
PAUSED_PERIOD = 0.02  # real time between two calls of `idle` while paused [s]
SLICE = 0.01  # real time of steps between two checks for requests [s]


class _Request:
    def __init__(self, work: Callable[[], Any]):
        self.work = work
        self.done = threading.Event()
        self.result: Any = None
        self.error: Optional[BaseException] = None


class Steps:
    """Cycles to run while paused, in slices.

    :param count: number of cycles
    :param on_done: called at their end, also an early one
    :param after_each: called after each cycle with the number of the remaining ones; None: not
        called
    """

    def __init__(
        self,
        count: int,
        on_done: Optional[Callable[[Steps], None]] = None,
        after_each: Optional[Callable[[int], None]] = None,
    ):
        self.left = count
        self.after_each = after_each
        self.finished = threading.Event()
        self._on_done = on_done
        self.canceled_by = ''
        self.error: Optional[BaseException] = None

    def finish(self) -> None:
        """Report that the loop has ended."""
        self.finished.set()
        if self._on_done is not None:
            self._on_done(self)


class SimulationLoop:
    """Loop that calls `cycle` in a thread at the rate of the real-time factor.

    :param period: simulated time of one cycle [s]
    :param cycle: one cycle
    :param idle: called repeatedly while paused, and between long cycles
    :param stepped: called after steps
    :param failed: called with an exception of `cycle`; the loop pauses
    :param real_time_factor: simulated seconds in a real second; 0: as many as possible
    :param paused: whether to start paused
    :param begin: called first in the thread
    :param ready: for lockstep instead of a schedule: waits for a moment, and returns whether a
        cycle is due
    """

    def __init__(
        self,
        period: float,
        cycle: Callable[[], None],
        idle: Callable[[], None],
        stepped: Callable[[], None],
        failed: Callable[[BaseException], None],
        real_time_factor: float = 1.0,
        paused: bool = False,
        begin: Callable[[], None] = lambda: None,
        ready: Optional[Callable[[], bool]] = None,
    ):
        self._period, self._begin = period, begin
        self._cycle, self._idle = cycle, idle
        self._stepped, self._failed = stepped, failed
        self.real_time_factor = real_time_factor
        #: Maximum speed of catching up a delay, relative to the schedule; 1: never. The controller
        #: must keep up.
        self.catch_up_rate = 1.0
        self._lag = 0.0  # delay to catch up [s]
        self._paused, self._ready = paused, ready
        self._steps: Optional[Steps] = None
        self._requests: queue.SimpleQueue = queue.SimpleQueue()
        self._wake = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name='simulation', daemon=True)
        self.cycles = 0
        self.overruns = 0  # cycles that began more than a period late
        # total shift of the schedule [s]
        self.lost_time = 0.0
        self.interruptions = 0  # number of pauses and resumptions
        self.timer = CycleTimer()
        self._note = self.timer.note

    @property
    def paused(self) -> bool:
        """True while paused."""
        return self._paused

    @property
    def stepping(self) -> bool:
        """True while steps are running."""
        return self._steps is not None

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread, and wait for it."""
        self._stopping = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(5.0)
        self._cancel('the end of the node')

    def request(self, work: Callable[[], Any], timeout: Optional[float] = 5.0) -> Any:
        """Run `work` in the loop between two cycles; return its result.

        :raises TimeoutError: if it is not done in time
        :raises RuntimeError: if the loop has been stopped
        """
        if self._stopping:
            raise RuntimeError('the simulation has ended')
        request = _Request(work)
        self._requests.put(request)
        self._wake.set()
        if not request.done.wait(timeout):
            raise TimeoutError('the simulation did not answer in time')
        if request.error is not None:
            raise request.error
        return request.result

    # -- only from within a request ---------------------------------------------------------------

    def set_paused(self, paused: bool) -> None:
        """Pause or resume; running steps end."""
        self._cancel('~/pause')
        self._paused = paused
        self.interruptions += 1

    def cancel_steps(self, by: str) -> None:
        """End the running steps, if any.

        :param by: the reason, for the caller of the steps
        """
        self._cancel(by)

    def begin_steps(
        self,
        count: int,
        on_done: Optional[Callable[[Steps], None]] = None,
        after_each: Optional[Callable[[int], None]] = None,
    ) -> Steps:
        """Begin `count` cycles, as fast as possible, while paused.

        :param on_done: called at their end, also an early one
        :param after_each: called after each cycle with the number of the remaining ones
        :raises RuntimeError: if the loop is not paused, or steps are running
        """
        if not self._paused:
            raise RuntimeError('the simulation is not paused; pause it before stepping')
        if self._steps is not None:
            raise RuntimeError('other steps are running; end them by ~/pause')
        self._steps = Steps(count, on_done, after_each)
        return self._steps

    # -- the thread -------------------------------------------------------------------------------

    def _run(self) -> None:
        self._begin()
        deadline = monotonic()
        while not self._stopping:
            if not self._requests.empty():
                stood_still = self._paused
                self._serve()
                if stood_still:
                    # Resuming takes time, which is no delay.
                    deadline, self._lag = monotonic(), 0.0
            if self._steps is not None:
                self._run_slice()
                deadline = monotonic()
                continue
            if self._paused:
                self._idle()
                self.timer.interrupt()  # a pause is no period
                self._wait(PAUSED_PERIOD)
                deadline = monotonic()
                continue
            factor = self.real_time_factor
            if self._ready is not None:
                if not self._is_ready():
                    continue
                begin = deadline = monotonic()
            elif factor > 0.0:
                remaining = deadline - monotonic()
                if remaining > LONG_SLEEP:
                    if remaining > VERY_LONG_SLEEP:
                        self._idle()  # for late subscribers
                    self._wait(min(remaining, 0.5))
                    # A changed factor takes effect before a far deadline.
                    deadline = min(
                        deadline,
                        monotonic() + self._period / max(self.real_time_factor, 1e-9),
                    )
                    continue
                if remaining > 0.0:
                    sleep(remaining)
                begin = monotonic()
                period = self._period / factor
                lag, deadline = begin - deadline, deadline + period
                if lag > period:
                    deadline += lag
                    self._account(lag)
                if self._lag:
                    deadline -= self._catch_up_reduction(period)
            else:
                begin = deadline = monotonic()
            try:
                self._timed_cycle(begin)
            except Exception as error:
                self._fail(error)

    def _is_ready(self) -> bool:
        try:
            return self._ready()
        except Exception as error:
            self._fail(error)
            return False

    def _fail(self, error: Exception) -> bool:
        """Pause and report an exception; the node stays responsive.

        While the node is stopping, exceptions are ignored: publishers are being destroyed.

        :return: whether it was reported
        """
        if self._stopping:
            return False
        self._paused = True
        self._failed(error)
        return True

    def _run_slice(self) -> None:
        """Run steps for a time slice."""
        steps, end = self._steps, monotonic() + SLICE
        self.timer.interrupt()
        try:
            while steps.left and not self._stopping:
                self._timed_cycle(monotonic())
                steps.left -= 1
                if steps.after_each is not None:
                    steps.after_each(steps.left)
                if monotonic() > end:
                    break
        except Exception as error:
            if self._fail(error):  # the node is stopping
                self._steps, steps.error = None, error
                steps.finish()
            return
        if not steps.left:
            self._steps = None
            self._stepped()  # publish the state before the report
            steps.finish()

    def _cancel(self, by: str) -> None:
        steps, self._steps = self._steps, None
        if steps is not None:
            steps.canceled_by = by
            steps.finish()

    def _account(self, lag: float) -> None:
        """Count a cycle that is more than a period late, and update the delay to catch up."""
        self.overruns += 1
        before = self._lag
        self._lag = before + lag if self.catch_up_rate > 1.0 and lag <= MAX_LAG else before
        self._lag = min(self._lag, MAX_LAG)
        self.lost_time += lag - (self._lag - before)

    def _catch_up_reduction(self, period: float) -> float:
        """Return the reduction of the next period to catch up [s]."""
        if self.catch_up_rate <= 1.0:  # since the delay
            self.lost_time += self._lag
            self._lag = 0.0
            return 0.0
        part = min(self._lag, period * (1.0 - 1.0 / self.catch_up_rate))
        self._lag -= part
        return part

    def _timed_cycle(self, begin: float) -> None:
        self._cycle()
        self._note(begin, monotonic())
        self.cycles += 1

    def _wait(self, duration: float) -> None:
        self._wake.wait(duration)
        self._wake.clear()

    def _serve(self) -> None:
        while True:
            try:
                request = self._requests.get_nowait()
            except queue.Empty:
                return
            try:
                request.result = request.work()
            except Exception as error:
                request.error = error
            request.done.set()
