"""The one place that sends torques: limits, messages, and the last command."""

from __future__ import annotations

import threading
import time
from typing import Callable, Optional

import numpy as np

from rbd_ros.control import TorqueLimiter
from rbd_ros.nodes.torque.output import TorqueOutput

RAMP_PERIOD = 0.005  # between two steps towards a last command whose rate is limited [s]


class Commander:
    """Sends torques within their limits.

    The control loop, the watchdog and the end of the node ask for it, each in its own thread.

    :param output: where torques go
    :param limiter: limits of torque and of its rate in real time
    """

    def __init__(self, output: TorqueOutput, limiter: TorqueLimiter):
        self._output = output
        self.limiter = limiter
        self._lock = threading.Lock()
        self._closed = False
        self._target: Optional[np.ndarray] = None  # of a last command under way
        self.commanding = False  # whether a torque stands that was no last command
        self.ever = False  # whether any torque was sent
        self.sent = 0
        self.saturated = 0

    def send(self, torque: np.ndarray, stamp: int) -> np.ndarray:
        """Send a torque of the law, cut at the limits, and return what was sent, (n,).

        :param torque: (n,) [N m or N], finite
        :param stamp: time of the state that it answers [ns]
        """
        with self._lock:
            applied = self.limiter(torque, time.monotonic())
            self._output.publish(applied, stamp)
            self.commanding = self.ever = True
            self.sent += 1
            if self.limiter.saturating:
                self.saturated += 1
        return applied

    def close(self) -> Optional[np.ndarray]:
        """Let no last command go on but the final one: two of them would take turns for ever.

        :return: where one under way was to end, (n,), or None
        """
        with self._lock:
            self._closed = True
            return self._target

    def finish(
        self,
        torque: np.ndarray,
        stamp: Callable[[], int],
        hurry: threading.Event,
        final: bool = False,
    ) -> bool:
        """Send a last torque, step by step where its rate is limited.

        :param torque: where to end, (n,) [N m or N]
        :param stamp: present time [ns]
        :param hurry: when it is set, the last step is taken at once, whatever the rate
        :param final: whether it is the last of all, which `close` does not end
        :return: whether it was reached; not if the control loop sent a torque in between
        """
        with self._lock:
            before = self.sent
            self._target = torque
        try:
            while True:
                with self._lock:
                    if self.sent != before or (self._closed and not final):
                        return False
                    if hurry.is_set():
                        self.limiter.reset()
                    self._output.publish(self.limiter.towards(torque, time.monotonic()), stamp())
                    if self.limiter.at(torque):
                        self.commanding = False
                        return True
                hurry.wait(RAMP_PERIOD)
        finally:
            self._target = None

    def flush(self) -> None:
        """Wait until what was sent has arrived."""
        self._output.flush()
