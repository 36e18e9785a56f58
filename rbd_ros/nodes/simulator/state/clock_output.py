# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Simulated time on /clock: at a rate, or every cycle for a controller manager."""

from __future__ import annotations

import math
from time import monotonic
from typing import Any, Callable, Mapping, Sequence

from rbd_ros.nodes.messages.conversions import NANOSECONDS
from rbd_ros.nodes.simulator.cycle.cycle_ports import Ports
from rbd_ros.nodes.simulator.interface.simulator_parameters import ADAPTIVE
from rbd_ros.wire import ClockWriter

CONTROLLER_MANAGER = 'controller_manager'  # substring of the names of such nodes


class ClockOutput:
    """Messages of simulated time.

    :param parameters: values of the simulator's parameters
    :param timestep: simulated time of a cycle [ns]
    :param ports: sink of messages; `use_ports` sets another
    """

    def __init__(self, parameters: Mapping[str, Any], timestep: int, ports: Ports):
        self._timestep, self._rate = timestep, parameters['clock_publish_rate']
        self._is_adaptive = parameters['clock_policy'] == ADAPTIVE and self._rate > 0.0
        self._period = self._period_of(self._rate)
        #: Simulated time at which the next message is due [ns].
        self.due: float = 0
        #: Real time of the last message [s].
        self.last_at = 0.0
        self._followed = False
        self._message = ClockWriter()
        self.use_ports(ports)

    def _period_of(self, rate: float) -> float:
        """Return the simulated time between messages [ns]."""
        return max(NANOSECONDS / rate, self._timestep) if rate > 0.0 else math.inf

    @property
    def is_followed(self) -> bool:
        """True if the last check found a controller manager that follows the clock."""
        return self._followed

    def use_ports(self, ports: Ports) -> None:
        """Send messages to other ports."""
        self._send = ports.send_clock

    def send_due(self, time: int) -> None:
        """Send the message that is due.

        :param time: simulated time [ns]
        """
        self.due = max(self.due + self._period, time)
        self.send(time)

    def send(self, time: int) -> None:
        """Send a message now.

        :param time: simulated time [ns]
        """
        self.last_at = monotonic()
        self._message.set_stamp_ns(time)
        self._send(self._message.data())

    def follow_listeners(self, listeners: Callable[[], Sequence[str]], time: int) -> None:
        """Publish every cycle while a controller manager follows; callable from any thread.

        /clock wakes a controller manager: at 200 Hz with 100 messages a second it runs 100 cycles.
        For other nodes, so many messages are a waste.

        :param listeners: returns the names of the nodes that follow /clock
        :param time: simulated time [ns]
        """
        self._followed = any(CONTROLLER_MANAGER in name for name in listeners())
        if not self._is_adaptive:
            return
        period = self._period_of(math.inf if self._followed else self._rate)
        if period != self._period:
            self._period = period
            self.due = math.ceil(time / period) * period
