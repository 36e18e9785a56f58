# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Exceptions in subscriptions and services are reported and answered, and block nothing."""

import time

import pytest
from support import outside

outside.load('rclpy')

from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock

from rbd_ros.nodes.common.guarded_node import GuardedNode


@pytest.fixture
def node(ros, monkeypatch):
    node = GuardedNode('guarded', context=ros.context)

    def no_pause(duration):
        raise AssertionError(f'{duration} s in which nothing else is done')

    monkeypatch.setattr(time, 'sleep', no_pause)
    yield node
    monkeypatch.undo()
    node.destroy_node()


def test_rejected_messages_block_nothing(node):
    """Each is digested at once: a flood of bad times must not delay trajectories and requests."""
    taken = []
    subscription = node.create_subscription(Clock, 'clock', taken.append, QoSProfile(depth=1))
    bad, good = Clock(), Clock()
    bad.clock.sec = -1
    for _ in range(1000):
        subscription.callback(bad)
    assert not taken
    subscription.callback(good)
    assert taken == [good]


def test_rejected_requests_block_nothing(node):
    def raising(request, response):
        raise ValueError('makes no sense')

    service = node.create_service(SetParameters, 'set', raising)
    request = SetParameters.Request(parameters=[Parameter(name='x', value=ParameterValue())] * 3)
    for _ in range(1000):
        response = service.callback(request, SetParameters.Response())
        assert [r.successful for r in response.results] == [False] * 3
        assert 'makes no sense' in response.results[0].reason
