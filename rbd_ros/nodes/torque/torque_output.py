# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Torques as messages: a JointState by name and a Float64MultiArray by order."""

from __future__ import annotations

from typing import Any, Callable, List, Sequence, Tuple

import numpy as np
from rclpy.node import Node

from rbd_ros.nodes.common.communication import flush, publisher, raw
from rbd_ros.nodes.common.node_interface import Topic
from rbd_ros.nodes.messages.joint_names import JointNames
from rbd_ros.nodes.messages.text import shorten
from rbd_ros.nodes.torque.torque_interface import EFFORT_COMMANDS, JOINT_COMMANDS
from rbd_ros.wire import Float64MultiArrayWriter, JointStateWriter


class TorqueOutput:
    """Publishes torques on `joint_commands` and `effort_commands`.

    :param joint_names: joints of the robot, in its order
    :param joints: joints to command, in the order of the array; empty: all
    :param form: published messages, one of `FORMS`
    :param field: field of the message by name
    :param array: topic of the message by order
    :raises ValueError: if `joints` are not distinct joints of the robot
    """

    def __init__(
        self,
        node: Node,
        joint_names: Sequence[str],
        joints: Sequence[str],
        form: str,
        field: str = 'effort',
        array: Topic = EFFORT_COMMANDS,
    ):
        self.names = tuple(joints) or tuple(joint_names)
        naming = JointNames(joint_names).naming(self.names)
        if naming.unknown:
            raise ValueError(f'parameter joints: the robot has no joint {shorten(naming.unknown)}')
        self._joints = np.array(naming.target, dtype=np.int64)
        self._by_name = JointStateWriter(self.names, (field,))
        self._by_order = Float64MultiArrayWriter(len(self.names))
        self._publishers: List[Any] = []
        self._outputs: List[Tuple[Callable[[bytes], None], Callable[[], bytes]]] = []
        if form in ('both', 'joint_state'):
            self._add(publisher(node, JOINT_COMMANDS), self._by_name)
        if form in ('both', 'array'):
            self._add(publisher(node, array), self._by_order)

    def _add(self, target: Any, writer: Any) -> None:
        self._publishers.append(target)
        self._outputs.append((raw(target), writer.data))

    @property
    def places(self) -> Tuple[np.ndarray, ...]:
        """Views of the messages for machine code, see `TorqueMessages`."""
        return self._joints, self._by_name.stamp, self._by_name.effort, self._by_order.values

    def send(self, last: bool = False) -> None:
        """Publish the messages unchanged.

        :param last: whether it is the last command; without effect here
        """
        for send, data in self._outputs:
            send(data())

    def flush(self) -> None:
        """Wait until subscribers have received all messages."""
        for each in self._publishers:
            flush(each)
