# SPDX-License-Identifier: Apache-2.0
"""Payloads that come as messages: InertiaStamped, taken as parameters, whole or not at all."""

from __future__ import annotations

from typing import Any, Dict

from geometry_msgs.msg import InertiaStamped
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter

from rbd_ros.nodes.common.communication import subscription
from rbd_ros.nodes.common.diagnostics import Diagnostics, WARN
from rbd_ros.nodes.common.parameter_table import ParameterTable
from rbd_ros.nodes.gravity.gravity_interface import PAYLOAD

SUBJECT = 'payload'


def payload_values(message: InertiaStamped) -> Dict[str, Any]:
    """Return the parameters of the payload that a message describes, by name.

    :raises ValueError: for a mass without a link
    """
    inertia, link = message.inertia, message.header.frame_id.lstrip('/')
    if not link and inertia.m != 0.0:
        raise ValueError('frame_id is empty; give it the link that carries the payload')
    names = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    return {
        'payload_link': link,
        'payload_mass': float(inertia.m),
        'payload_center_of_mass': (inertia.com.x, inertia.com.y, inertia.com.z),
        'payload_inertia': tuple(getattr(inertia, name) for name in names),
    }


class PayloadMessages:
    """Listener to payloads; each is set as the node's parameters of that name.

    :param node: the node
    :param parameters: its parameters
    :param diagnostics: where rejected messages are reported
    """

    def __init__(self, node: Node, parameters: ParameterTable, diagnostics: Diagnostics):
        self._node, self._parameters, self._diagnostics = node, parameters, diagnostics
        subscription(node, PAYLOAD, self._on_message)

    def _on_message(self, message: InertiaStamped) -> None:
        try:
            values = payload_values(message)
        except ValueError as error:
            self._refuse(str(error))
            return
        present = self._parameters.values
        changed = {name: value for name, value in values.items() if value != present[name]}
        if not changed:
            return  # a payload that is published again and again costs nothing
        result = self._node.set_parameters_atomically(
            [
                RosParameter(name, value=list(value) if isinstance(value, tuple) else value)
                for name, value in changed.items()
            ]
        )
        if not result.successful:
            self._refuse(result.reason)

    def _refuse(self, reason: str) -> None:
        self._diagnostics.event(SUBJECT, WARN, f'message rejected: {reason}', code='rejected')
