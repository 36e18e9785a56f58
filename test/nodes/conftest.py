"""Fixtures of the node tests; without rclpy they are skipped, with the reason."""

import importlib.util

import pytest

HAS_ROS = importlib.util.find_spec('rclpy') is not None
collect_ignore_glob = []


def pytest_collection_modifyitems(items):
    """Mark the tests that talk over DDS."""
    for item in items:
        if 'ros' in getattr(item, 'fixturenames', ()):
            item.add_marker(pytest.mark.ros)


@pytest.fixture(scope='module')
def ros(tmp_path_factory):
    """Return a ROS domain for one module, with a test node in it."""
    pytest.importorskip('rclpy', reason='rclpy is not installed')
    from node_harness import Ros

    with Ros(tmp_path_factory.mktemp('nodes')) as domain:
        yield domain
