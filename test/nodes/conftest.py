# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the node tests; without rclpy they are skipped, with the reason."""

import pytest
from support import outside


def pytest_collection_modifyitems(items):
    """Mark the tests that talk over DDS."""
    for item in items:
        if {'ros', 'commanding'} & {*getattr(item, 'fixturenames', ())}:
            item.add_marker(pytest.mark.ros)


@pytest.fixture(scope='module')
def ros(tmp_path_factory):
    """Return a ROS domain for one module, with a test node in it."""
    outside.load('rclpy')
    from node_harness import Ros

    with Ros(tmp_path_factory.mktemp('nodes')) as domain:
        yield domain
