# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pending messages of a simulation cycle: commands and external wrenches."""

from __future__ import annotations

from typing import Any, Callable, List, Mapping, Optional, Tuple, TYPE_CHECKING

from rbd_ros.nodes.simulator.commands.command_messages import Commands
from rbd_ros.nodes.simulator.commands.wrenches import ExternalWrenches
from rbd_ros.nodes.simulator.cycle.cycle_ports import Message, Ports

if TYPE_CHECKING:
    from rbd_ros.nodes.simulator.state.robot_topics import RobotTopics

CYCLES_BETWEEN_WRENCHES = 4  # polling costs time, and wrenches are not part of a control loop
MAX_MESSAGES_A_CYCLE = 50  # a flood of commands must not stop the simulation

Take = Callable[[], Message]


class CycleInputs:
    """Inputs that are polled at the beginning of a cycle.

    :param parameters: values of the simulator's parameters
    :param commands: commands of all joints
    :param wrenches: external wrenches on links and objects
    :param robot_topics: topics of further robots; None: none
    :param ports: source of messages; `use_ports` sets another
    """

    def __init__(
        self,
        parameters: Mapping[str, Any],
        commands: Commands,
        wrenches: ExternalWrenches,
        robot_topics: Optional[RobotTopics],
        ports: Ports,
    ):
        self._parameters, self._wrenches = parameters, wrenches
        self._commands, self._robot_topics = commands, robot_topics
        self._until_wrenches = 0
        self.use_ports(ports)

    def use_ports(self, ports: Ports) -> None:
        """Receive messages from other ports."""
        commands = self._commands
        # By name and in parts: two controllers may answer within one cycle, and both count.
        self._commands_in: List[Tuple[Take, Callable[[bytes, float], bool]]] = [
            (ports.take_by_order, commands.take_array),
            (ports.take_by_name, commands.take_joint_state),
        ]
        self._wrenches_in: List[Tuple[Take, str]] = [(ports.take_wrench, '')]
        if self._robot_topics is not None:
            self._commands_in += self._robot_topics.inputs
            for name, own in self._robot_topics.ports.items():
                self._wrenches_in.append((own.take_wrench, f'{name}/'))
        if self._parameters['acceleration_commands']:
            self._commands_in.append((ports.take_accelerations, commands.take_accelerations))

    def take(self, now: float) -> bool:
        """Process the received messages, oldest first, so that the newest counts.

        :param now: real time [s]
        :return: whether one of them now drives a joint
        """
        commanded = False
        for take, use in self._commands_in:
            taken, remaining = take(), MAX_MESSAGES_A_CYCLE
            while taken is not None:
                if use(taken[0], now):
                    commanded = True
                remaining -= 1
                taken = take() if remaining else None
        self._until_wrenches -= 1
        if self._until_wrenches <= 0:
            self._until_wrenches = CYCLES_BETWEEN_WRENCHES
            duration = self._parameters['external_wrench_duration']
            ramp = self._parameters['external_wrench_ramp']
            for take_wrench, robot in self._wrenches_in:
                taken, remaining = take_wrench(), MAX_MESSAGES_A_CYCLE
                while taken is not None:
                    self._wrenches.take(taken[0], duration, robot, ramp)
                    remaining -= 1
                    taken = take_wrench() if remaining else None
        return commanded

    def discard_messages(self) -> None:
        """Drop the received messages."""
        for take, _ in (*self._commands_in, *self._wrenches_in):
            for _ in range(MAX_MESSAGES_A_CYCLE):
                if take() is None:
                    break
