# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Acknowledgments of states by a hardware interface."""

from types import SimpleNamespace

import pytest
from support import outside

rclpy = outside.load('rclpy')

from rbd_ros.nodes.common.receipts import Receipts


class LateLook:
    """Client of a node that has just looked for states when one comes, and then a request.

    It takes what rclcpp does: rmw_wait() of rmw_fastrtps_shared_cpp/src/rmw_wait.cpp looks for
    states first; Executor::get_next_ready_executable() of rclcpp/src/rclcpp/executor.cpp takes
    them first, and one request each time.
    """

    def __init__(self):
        self.handle, self.sent, self.answered = self, 0, 0
        self.looks, self.taken = 0, False

    def send_request(self, _):
        self.sent += 1
        return self.sent

    def take_response(self, _):
        self.taken = self.looks > 0
        self.looks += 1
        if self.answered == self.sent:
            return None, None
        self.answered += 1
        identifier = SimpleNamespace(sequence_number=self.answered)
        return SimpleNamespace(request_id=identifier), object()


@pytest.fixture
def receipts():
    context = rclpy.Context()
    rclpy.init(context=context)
    made = Receipts(context, '/joint_commands')
    yield made
    made.close()
    rclpy.shutdown(context=context)


def test_a_request_that_is_seen_before_the_state_does_not_count(receipts, monkeypatch):
    client = LateLook()
    monkeypatch.setattr(receipts, '_clients', {'/hardware': client})
    monkeypatch.setattr(receipts, '_poll', lambda: None)
    receipts.ask(all_nodes=True)
    assert receipts.wait(1.0)
    assert client.taken
