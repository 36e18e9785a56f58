"""Fixtures of the node tests; without rclpy they are skipped, with the reason."""

import pytest
from support import outside

# Attacks: hours of hostile input in minutes. Not yet proven quiet enough to decide every run.
ADVERSARIAL = (
    'test_node_floods',
    'test_node_last_command',
    'test_node_requests',
    'test_node_safety',
    'test_node_signals',
    'test_node_time',
    'test_simulator_safety',
)


def pytest_collection_modifyitems(config, items):
    """Mark the tests that talk over DDS; leave out the attacks unless they are asked for."""
    skip = pytest.mark.skip(reason='an attack on the nodes: run with --adversary')
    for item in items:
        if 'ros' in getattr(item, 'fixturenames', ()):
            item.add_marker(pytest.mark.ros)
        if item.path.stem in ADVERSARIAL and not config.getoption('--adversary', False):
            item.add_marker(skip)


@pytest.fixture(scope='module')
def ros(tmp_path_factory):
    """Return a ROS domain for one module, with a test node in it."""
    outside.load('rclpy')
    from node_harness import Ros

    with Ros(tmp_path_factory.mktemp('nodes')) as domain:
        yield domain
