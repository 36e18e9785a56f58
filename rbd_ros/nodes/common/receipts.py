# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Receipts: whether publishers of commands have received the last state.

joint_state_topic_hardware_interface receives states in a thread of the executor of
ros2_control_node; /clock wakes another thread, whose cycle may read the state before. A parameter
service of the same node is in the callback group of that subscription, and its request arrives
after the state: its response proves that the state was received.

The request is sent twice, and the second response counts: rmw_wait() checks subscriptions before
services (rmw_fastrtps_shared_cpp/src/rmw_wait.cpp), and both messages may arrive in between. An
executor takes one request per wait, and a state before it.
"""

from __future__ import annotations

from time import monotonic
from typing import Any, Dict, Set

from rcl_interfaces.srv import GetParameterTypes
import rclpy
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy

from rbd_ros.nodes.messages.conversions import NANOSECONDS

SERVICE = 'get_parameter_types'  # requested for no parameter: the shortest response


class Receipts:
    """Receipts of the nodes that publish commands; all calls are from one thread.

    :param context: of rclpy
    :param topic: full name of the topic of the commands
    """

    def __init__(self, context: Any, topic: str):
        self._topic, self._context = topic, context
        #: Without an executor: responses are polled.
        self.node = rclpy.create_node(
            '_receipts',
            context=context,
            use_global_arguments=False,
            enable_rosout=False,
            start_parameter_services=False,
        )
        self._clients: Dict[str, Any] = {}  # by node name
        self._proven: Set[str] = set()
        self._pending: Dict[str, int] = {}  # number of the pending request
        self._wait_set: Any = None

    def close(self) -> None:
        """Destroy its node."""
        self.node.destroy_node()

    def ask(self, all_nodes: bool) -> None:
        """Request receipts for the state that has just been sent.

        :param all_nodes: also from nodes that have never answered in time, as hardware interfaces
            that receive states within their cycle
        """
        if all_nodes:
            self._poll()
        self._pending = {
            name: [client.handle.send_request(GetParameterTypes.Request()) for _ in range(2)][-1]
            for name, client in self._clients.items()
            if all_nodes or name in self._proven
        }

    def wait(self, seconds: float) -> bool:
        """Wait at most `seconds`; return whether all requested receipts have arrived."""
        end = monotonic() + seconds
        while self._pending:
            for name in list(self._pending):
                self._take(name)
            if self._pending:
                left = end - monotonic()
                if left <= 0.0:
                    return False
                self._wait(left)
        return True

    def _take(self, name: str) -> None:
        handle = self._clients[name].handle
        while (answer := handle.take_response(GetParameterTypes.Response))[0] is not None:
            if answer[0].request_id.sequence_number == self._pending[name]:
                del self._pending[name]
                self._proven.add(name)
                return

    def _wait(self, seconds: float) -> None:
        count = len(self._clients)
        self._wait_set = _rclpy.WaitSet(0, 0, 0, count, 0, 0, self._context.handle)
        self._wait_set.clear_entities()
        for name in self._pending:
            self._wait_set.add_client(self._clients[name].handle)
        self._wait_set.wait(int(seconds * NANOSECONDS))

    def _poll(self) -> None:
        """Find the nodes that publish commands now."""
        names = {
            f'{info.node_namespace.rstrip("/")}/{info.node_name}'
            for info in self.node.get_publishers_info_by_topic(self._topic)
        }
        for name in set(self._clients) - names:
            self.node.destroy_client(self._clients.pop(name))
            self._proven.discard(name)
        for name in names - set(self._clients):
            try:
                client = self.node.create_client(GetParameterTypes, f'{name}/{SERVICE}')
            except ValueError:  # the name of the node is not known yet
                continue
            if client.service_is_ready():
                self._clients[name] = client
            else:
                self.node.destroy_client(client)
