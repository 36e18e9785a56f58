# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""States and time of the robot at its start, published during compilation.

With an empty cache, the first compilation takes seconds, with a world a minute. Controllers that
start beside the simulator need messages meanwhile: a controller manager on simulated time does
nothing before the first /clock, and its spawners give up.
"""

from __future__ import annotations

import threading
from time import monotonic
from typing import Any, Mapping

import numpy as np

from rbd_ros.nodes.messages.conversions import NANOSECONDS
from rbd_ros.nodes.simulator.commands.control_tag import ControlTag
from rbd_ros.nodes.simulator.commands.driven_joints import single_joints
from rbd_ros.nodes.simulator.cycle.cycle_ports import Ports
from rbd_ros.nodes.simulator.start.closed_loop_start import holding_effort
from rbd_ros.nodes.simulator.start.initial_state import first_time, held_configuration
from rbd_ros.nodes.simulator.state.clock_output import ClockOutput
from rbd_ros.nodes.simulator.state.state_output import shown_fields, state_period
from rbd_ros.robot import Robot
from rbd_ros.wire import JointStateWriter

PERIOD = 2e-3  # minimum real time between two checks [s]
# Maximum real time that one check catches up [s]: the compiler blocks this thread, and followers
# would jump with the time.
MAX_STEP = 0.01
PAUSED_PERIOD = 0.02  # real time between two messages while paused [s]


class HeldStart:
    """Publisher of the initial state and time in its own thread; a context manager.

    Nothing moves; commands wait for the first cycle.

    :param parameters: values of the simulator's parameters
    :param tag: interfaces of the joints in the robot description
    :param ports: sink of messages
    :raises ValueError: for initial positions that do not fit the robot
    """

    def __init__(self, robot: Robot, parameters: Mapping[str, Any], tag: ControlTag, ports: Ports):
        self._timestep = round(parameters['timestep'] * NANOSECONDS)
        self._factor = parameters['real_time_factor'] or 1.0
        self._paused = parameters['start_paused']
        self._state_period = state_period(parameters['state_publish_rate'], self._timestep)
        self._clock = ClockOutput(parameters, self._timestep, ports)
        self._ports, self._time = ports, first_time(parameters)
        self._state_due: float = self._time
        self._clock.due = self._time
        self._message = self._held_state(robot, parameters, tag)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name='held start', daemon=True)

    @staticmethod
    def _held_state(
        robot: Robot, parameters: Mapping[str, Any], tag: ControlTag
    ) -> JointStateWriter:
        names, at_q, at_v = single_joints(robot.model)
        shown = tag.shown(names, parameters['state_fields'])
        message = JointStateWriter(names, shown_fields(shown))
        q = held_configuration(robot, names, at_q, parameters)
        effort = np.zeros(robot.nv)
        if parameters['initial_command'] != 'zero':
            effort = holding_effort(robot, q)
        for field, joints in (
            ('position', q[at_q]),
            ('velocity', np.zeros(len(names))),
            ('effort', effort[at_v]),
        ):
            values, there = getattr(message, field), shown[field]
            values[:] = np.nan
            values[there] = joints[there]
        return message

    def __enter__(self) -> HeldStart:
        self._publish()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> int:
        """End, and return the simulated time at which to continue [ns].

        It is later than all published times, unless the simulation is paused.
        """
        self._done.set()
        if self._thread.is_alive():  # a signal may have interrupted the start
            self._thread.join()
        return self._time if self._paused else self._time + self._timestep

    def _run(self) -> None:
        period = PAUSED_PERIOD if self._paused else PERIOD
        then, credit = monotonic(), 0.0
        while not self._done.wait(period):
            now = monotonic()
            credit += min(now - then, max(MAX_STEP, period)) * self._factor * NANOSECONDS
            then = now
            if self._paused:
                self._state_due = self._clock.due = self._time
            else:
                count = int(credit // self._timestep)
                credit -= count * self._timestep
                self._time += count * self._timestep
            self._publish()

    def _publish(self) -> None:
        if self._time >= self._state_due:
            self._state_due = max(self._state_due + self._state_period, self._time)
            self._message.set_stamp_ns(self._time)
            self._ports.send_state(self._message.data())
        if self._time >= self._clock.due:
            self._clock.send_due(self._time)
