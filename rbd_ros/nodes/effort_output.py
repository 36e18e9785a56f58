"""Torques as messages: a JointState by name and a Float64MultiArray by order, filled in place."""

from __future__ import annotations

from typing import Sequence

from builtin_interfaces.msg import Time
import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from rbd_ros.nodes.conversions import ArrayBuffer, JointNames, JointStateBuffer, shorten
from rbd_ros.nodes.runtime import flush, quality_of_service, topic_options

FORMS = ('both', 'joint_state', 'array')


class EffortOutput:
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
        self._publishers = []
        self._by_name, self._by_order = (
            JointStateBuffer(names, ('effort',)),
            ArrayBuffer(len(names)),
        )
        for chosen, kind, topic, message in (
            ('joint_state', JointState, 'joint_commands', self._by_name.message),
            ('array', Float64MultiArray, 'effort_commands', self._by_order.message),
        ):
            if form in ('both', chosen):
                publisher = node.create_publisher(
                    kind, topic, quality_of_service(1), **topic_options()
                )
                self._publishers.append((publisher, message))
        self.count = 0

    def publish(self, torque: np.ndarray, stamp: Time) -> None:
        """Publish.

        :param torque: torques of all joints of the robot, (n,) [N m or N]
        :param stamp: time of the state that they answer
        """
        values = torque if self._select is None else torque[self._select]
        self._by_name.effort[:] = values
        self._by_order.data[:] = values
        self._by_name.message.header.stamp = stamp
        for publisher, message in self._publishers:
            publisher.publish(message)
        self.count += 1

    def flush(self) -> None:
        """Wait until what was published has arrived."""
        for publisher, _ in self._publishers:
            flush(publisher)
