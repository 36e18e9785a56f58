# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Requests are repeated until a response, by a client that loses some responses."""

from support import outside

from rbd_ros.nodes.common import repeated_request
from rbd_ros.nodes.common.repeated_request import RepeatedRequest

outside.load('rclpy')

from rclpy.task import Future


class Client:
    """A client whose answers come when the test says so."""

    def __init__(self):
        self.ready, self.sent = False, []

    def service_is_ready(self):
        return self.ready

    def call_async(self, request):
        self.sent.append((request, Future()))
        return self.sent[-1][1]


def test_a_request_is_sent_when_its_server_is_there_and_again_until_it_is_answered(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(repeated_request, 'monotonic', lambda: now[0])
    client = Client()
    request = RepeatedRequest(client, 'which parameters?')
    assert not request.answered() and request.response() is None and not client.sent
    client.ready = True
    for count in (1, 2, 3):
        for _ in range(3):  # however often it is looked at
            assert not request.answered()
        assert [each for each, _ in client.sent] == ['which parameters?'] * count
        now[0] += repeated_request.PERIOD
    client.sent[0][1].set_exception(RuntimeError('lost'))
    assert not request.answered() and len(client.sent) == 4
    client.sent[1][1].set_result('these')
    assert request.answered() and request.response() == 'these' and len(client.sent) == 4
