# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Many messages through each node: none is lost, counters are exact, memory does not grow.

`benchmark/ros.py --parts endurance --messages 10000000` does the same for hours.
"""

from pathlib import Path

import pytest
from support import outside

outside.load('rclpy')

from support.ros_benchmark import endurance

MESSAGES = 20_000
SECONDS = 5.0  # on a slow machine fewer messages are enough
WARM_SECONDS = 4.0

pytestmark = [
    pytest.mark.ros,
    pytest.mark.skipif(not Path('/proc/self/status').exists(), reason='needs Linux'),
]


@pytest.mark.parametrize('node', endurance.PARAMETERS)
def test_many_messages_lose_nothing_and_do_not_increase_memory(node):
    found = endurance.run(node, MESSAGES, SECONDS, warm_seconds=WARM_SECONDS)
    assert found.messages > 50 and found.sent > 10
    assert found.lost == 0
    assert found.drift == 0.0
    assert len(found.memory) > 2
    assert found.growth <= endurance.MAX_GROWTH
