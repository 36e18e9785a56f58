# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Topics of several robots in one simulation, in their namespaces.

Without the parameter `robot_namespaces`, all robots share one joint_states. With it, these topics
belong to the described robot, and each further robot has the same topics below its name.
"""

from __future__ import annotations

from dataclasses import replace
import re
from typing import Any, Callable, Dict, List, Protocol, Sequence, Tuple

import numpy as np
from rclpy.node import Node

from rbd_ros.nodes.common.communication import publisher, raw, subscription
from rbd_ros.nodes.common.guarded_node import polled
from rbd_ros.nodes.common.node_interface import Topic
from rbd_ros.nodes.simulator.commands.command_messages import Commands
from rbd_ros.nodes.simulator.commands.robot_commands import RobotCommands
from rbd_ros.nodes.simulator.cycle.cycle_ports import Message
from rbd_ros.nodes.simulator.cycle.ros_ports import taker
from rbd_ros.nodes.simulator.interface.simulator_interface import INTERFACE
from rbd_ros.wire import JointStateWriter

NAMESPACE = re.compile(r'[A-Za-z_]\w*', re.ASCII)


class RobotPorts(Protocol):
    """Sources and sinks of messages of a further robot, all serialized."""

    def take_by_name(self) -> Message:
        """Take the oldest JointState with commands."""

    def take_by_order(self) -> Message:
        """Take the oldest Float64MultiArray with commands."""

    def take_wrench(self) -> Message:
        """Take the oldest WrenchStamped."""

    def send_state(self, data: bytes) -> None:
        """Send a JointState."""


class RosRobotPorts:
    """The ports of a further robot as topics of a node.

    :param name: name of the robot
    """

    def __init__(self, node: Node, name: str):
        def subscribe(topic: str) -> Any:
            return subscription(node, _topic(name, topic), polled, raw=True)

        self._by_name, self._by_order = subscribe('joint_commands'), subscribe('effort_commands')
        self.take_by_name = taker(self._by_name)
        self.take_by_order = taker(self._by_order)
        self.take_wrench = taker(subscribe('external_wrench'))
        self._states = publisher(node, _topic(name, 'joint_states'))
        self.send_state: Callable[[bytes], None] = raw(self._states)

    @property
    def command_topics(self) -> List[str]:
        """Full names of the topics with commands."""
        return [self._by_name.topic_name, self._by_order.topic_name]

    @property
    def output_topic(self) -> str:
        """Full name of the topic that needs to have no other publisher."""
        return self._states.topic_name


class RobotTopics:
    """Separate topics for the robots of a simulation.

    :param whole: commands of all joints
    :param robots: names of the further robots
    :param fields: fields of `joint_states`
    :param send: sends the state of the described robot
    :param make: creates the ports of a further robot
    """

    def __init__(
        self,
        whole: Commands,
        robots: Sequence[str],
        fields: Sequence[str],
        send: Callable[[bytes], None],
        make: Callable[[str], RobotPorts],
    ):
        self.ports = {name: make(name) for name in robots}
        self.commands: Dict[str, Commands] = {
            name: RobotCommands(whole, f'{name}/') for name in robots
        }
        prefixes = [f'{name}/' for name in robots]
        own = [k for k, joint in enumerate(whole.names) if not joint.startswith(tuple(prefixes))]
        self._states = [(*_writer(whole.names, own, '', fields), send)]
        for name, prefix in zip(robots, prefixes):
            joints = [k for k, joint in enumerate(whole.names) if joint.startswith(prefix)]
            writer = _writer(whole.names, joints, prefix, fields)
            self._states.append((*writer, self.ports[name].send_state))

    @property
    def inputs(self) -> List[Tuple[Callable[[], Message], Callable[[bytes, float], bool]]]:
        """Sources of commands, each with the function that applies them."""
        found: List[Tuple[Any, Any]] = []
        for name, ports in self.ports.items():
            commands = self.commands[name]
            found.append((ports.take_by_order, commands.take_array))
            found.append((ports.take_by_name, commands.take_joint_state))
        return found

    def send(self, whole: JointStateWriter) -> None:
        """Send the state of each robot.

        :param whole: state of all joints, in the order of the commands
        """
        for joints, state, send in self._states:
            for values, of_all in (
                (state.position, whole.position),
                (state.velocity, whole.velocity),
                (state.effort, whole.effort),
            ):
                if values.size:
                    values[:] = of_all[joints]
            state.stamp[:] = whole.stamp
            send(state.data())


def _topic(robot: str, name: str) -> Topic:
    return replace(INTERFACE.topic(f'<robot>/{name}'), name=f'{robot}/{name}')


def check_names(robots: Sequence[str]) -> None:
    """Reject names that are no valid namespace.

    :raises ValueError: with the robot
    """
    for name in robots:
        if not NAMESPACE.fullmatch(name):
            raise ValueError(
                f'robot {name!r} of the world needs a namespace by robot_namespaces, but its '
                'name is not valid for one; use letters, digits and underscores, no digit first'
            )


def own_joints(names: Sequence[str], robots: Sequence[str]) -> List[str]:
    """Return the joints that belong to no further robot."""
    prefixes = tuple(f'{name}/' for name in robots)
    return [name for name in names if not name.startswith(prefixes)]


def _writer(
    names: Sequence[str], joints: Sequence[int], prefix: str, fields: Sequence[str]
) -> Tuple[np.ndarray, JointStateWriter]:
    own = [names[k][len(prefix) :] for k in joints]
    return np.array(joints, dtype=np.intp), JointStateWriter(own, fields)
