"""Torques as messages: a JointState by name and a Float64MultiArray by order, patched in place."""

from __future__ import annotations

from typing import Sequence

import numpy as np
from rclpy.node import Node

from rbd_ros.nodes.common.communication import flush, publisher
from rbd_ros.nodes.common.conversions import representable
from rbd_ros.nodes.common.joint_names import JointNames
from rbd_ros.nodes.common.text import shorten
from rbd_ros.nodes.common.wire import Float64MultiArrayWriter, JointStateWriter
from rbd_ros.nodes.torque.interface import EFFORT_COMMANDS, JOINT_COMMANDS


class TorqueOutput:
    """Publishes torques on `joint_commands` and `effort_commands`.

    :param node: the node
    :param joint_names: joints of the robot, in its order
    :param joints: joints to command, in the order of the array; empty: all
    :param form: which messages are published, one of `FORMS`
    :raises ValueError: if `joints` are not different joints of the robot
    """

    def __init__(self, node: Node, joint_names: Sequence[str], joints: Sequence[str], form: str):
        names = tuple(joints) or tuple(joint_names)
        naming = JointNames(joint_names).naming(names)
        if naming.unknown:
            raise ValueError(f'parameter joints: the robot has no joint {shorten(naming.unknown)}')
        self._select = None if naming.in_order else naming.target
        self._by_name = JointStateWriter(names, ('effort',))
        self._by_order = Float64MultiArrayWriter(len(names))
        self._name_publisher = self._order_publisher = None
        if form in ('both', 'joint_state'):
            self._name_publisher = publisher(node, JOINT_COMMANDS)
        if form in ('both', 'array'):
            self._order_publisher = publisher(node, EFFORT_COMMANDS)

    def publish(self, torque: np.ndarray, stamp: int) -> None:
        """Publish.

        :param torque: torques of all joints of the robot, (n,) [N m or N]
        :param stamp: time of the state that they answer [ns]
        """
        values = torque if self._select is None else torque[self._select]
        if self._name_publisher is not None:
            self._by_name.effort[:] = values
            # A stamp that came in may be beyond what goes out: that must not cost a torque.
            self._by_name.set_stamp_ns(representable(stamp))
            self._name_publisher.publish(self._by_name.data())
        if self._order_publisher is not None:
            self._by_order.values[:] = values
            self._order_publisher.publish(self._by_order.data())

    def flush(self) -> None:
        """Wait until what was published has arrived."""
        for each in (self._name_publisher, self._order_publisher):
            if each is not None:
                flush(each)
