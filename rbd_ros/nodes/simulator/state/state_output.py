# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Messages of the simulated robot's state: joint_states, and the pose of a floating base."""

from __future__ import annotations

from time import monotonic
from typing import List, Mapping, Optional, TYPE_CHECKING

import numpy as np

from rbd_ros.nodes.messages.conversions import NANOSECONDS
from rbd_ros.nodes.simulator.commands.command_messages import Commands
from rbd_ros.nodes.simulator.cycle.compiled_cycle import StateMessage
from rbd_ros.nodes.simulator.cycle.cycle_ports import Ports
from rbd_ros.simulation import Simulator
from rbd_ros.wire import JointStateWriter

if TYPE_CHECKING:
    from rbd_ros.nodes.simulator.state.robot_topics import RobotTopics


class StateOutput:
    """Messages of the state; in a cycle, machine code writes their numbers (compiled_cycle.py).

    :param commands: commands of all joints, in their order
    :param shown: joints that have each field (control_tag.py)
    :param period: simulated time between two messages [ns]
    :param has_base: whether the root link floats
    :param ports: sink of messages; `use_ports` sets another
    """

    def __init__(
        self,
        simulator: Simulator,
        commands: Commands,
        shown: Mapping[str, np.ndarray],
        period: float,
        has_base: bool,
        ports: Ports,
    ):
        self._simulator, self._commands, self._shown = simulator, commands, shown
        self._period, self._has_base, self._ports = period, has_base, ports
        #: Simulated time at which the next message is due [ns].
        self.due: float = 0
        #: Real time of the last message [s].
        self.last_at = 0.0
        #: The state message.
        self.message = self.new_message()
        #: Publishes the state of each robot, if they have their own topics.
        self.robot_topics: Optional[RobotTopics] = None

    @property
    def fields(self) -> List[str]:
        """Fields of the message."""
        return shown_fields(self._shown)

    def new_message(self) -> JointStateWriter:
        """Return a message with the layout of the state, with NaN in unused fields."""
        message = JointStateWriter(self._commands.names, self.fields)
        for values in (message.position, message.velocity, message.effort):
            values[:] = np.nan
        return message

    def numbers(self) -> StateMessage:
        """Return views of the message's numbers, for machine code."""
        message, shown = self.message, self._shown
        return StateMessage(
            message.stamp,
            message.position,
            message.velocity,
            message.effort,
            positions_of=shown['position'],
            velocities_of=shown['velocity'],
            efforts_of=shown['effort'],
        )

    def use_ports(self, ports: Ports) -> None:
        """Send messages to other ports."""
        self._ports = ports

    def write(self, time: int, effort: np.ndarray) -> None:
        """Fill in the message from the simulation.

        :param time: simulated time [ns]
        :param effort: forces on the joints, (nv,) [N m or N]
        """
        simulator, commands, message = self._simulator, self._commands, self.message
        for values, joints, field in (
            (message.position, simulator.q[commands.at_q], 'position'),
            (message.velocity, simulator.v[commands.at_v], 'velocity'),
            (message.effort, effort[commands.at_v], 'effort'),
        ):
            shown = self._shown[field]
            values[shown] = joints[shown]
        message.set_stamp_ns(time)

    def publish(self, time: int, effort: np.ndarray) -> None:
        """Fill in the message, as `write` does, and send it now."""
        self.last_at = monotonic()
        self.write(time, effort)
        self._send(time)

    def send_due(self, time: int, now: float) -> None:
        """Send the due message that the cycle has written.

        :param time: simulated time [ns]
        :param now: real time [s]
        """
        self.due = max(self.due + self._period, time)
        self.last_at = now
        self._send(time)

    def send_complete(self, data: bytes) -> None:
        """Send a message of the state on the topic of all joints."""
        self._ports.send_state(data)

    def _send(self, time: int) -> None:
        if self.robot_topics is None:
            self._ports.send_state(self.message.data())
        else:
            self.robot_topics.send(self.message)
        if self._has_base:
            self._ports.send_base(self._simulator.q[:7], self._simulator.v[:6], time)


def shown_fields(shown: Mapping[str, np.ndarray]) -> List[str]:
    """Return the fields of the state message: those of any joint, and position.

    ros2_control hardware always reads positions.

    :param shown: joints that have each field (control_tag.py)
    """
    return [name for name in shown if name == 'position' or shown[name].size]


def state_period(rate: float, timestep: int) -> float:
    """Return the time between two state messages [ns], at least a cycle.

    :param rate: parameter state_publish_rate [Hz]; 0: every cycle
    :param timestep: simulated time of a cycle [ns]

    >>> state_period(100.0, 1_000_000), state_period(0.0, 1_000_000)
    (10000000.0, 1000000)
    """
    return max(NANOSECONDS / rate, timestep) if rate > 0.0 else timestep
