# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Demos over real DDS leave no processes and files, however they are stopped."""

import os
from pathlib import Path
import signal

import pytest
from support import outside

from rbd_ros.nodes.bench.domains import free_domain

outside.load('rclpy')
pytestmark = [pytest.mark.ros, pytest.mark.slow]


STAGES = (
    'planning a motion',
    'are starting, in l',
    'are running',
    'gravity + feedback',
    'real time',
)


@pytest.mark.parametrize('stage', STAGES)
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_stopped_at_any_time_it_leaves_nothing_running(start, stage, number):
    demo = start('two_link_arm')
    demo.wait_for(stage)
    demo.process.send_signal(number)
    assert demo.wait() == 128 + number, demo.text()
    assert 'all processes have ended' in demo.text()
    assert demo.nothing_left()


def test_two_demos_at_once_do_not_meet(start, tmp_path):
    """Each takes a separate domain; otherwise the arms would receive each other's torques."""
    first = start('two_link_arm', '--no-plot')
    first.wait_for('are running')
    domains, own = set(), int(os.environ.get('ROS_DOMAIN_ID') or 0)
    for process in first.relatives():
        variables = Path(f'/proc/{process}/environ').read_bytes().split(b'\0')
        domains |= {v for v in variables if v.startswith(b'ROS_DOMAIN_ID=')}
    taken = {int(domain.partition(b'=')[2]) for domain in domains} - {0, own}
    assert len(taken) == 1
    domain, lock = free_domain(taken.pop() - 1)
    lock.close()
    assert domain not in taken


def test_killed_it_leaves_nothing_running(start):
    demo = start('two_link_arm')
    demo.wait_for('are running')
    demo.process.kill()
    assert demo.nothing_left()


@pytest.mark.parametrize('name', ['simulator', 'inverse_dynamics', 'recorder'])
def test_a_process_that_dies_ends_the_demo_with_its_name(start, name):
    demo = start('two_link_arm')
    demo.wait_for('are running')
    room = 'demonstration' if name == 'recorder' else 'nodes'
    module = f'rbd_ros.{room}.{name}'.encode()
    victims = [p for p in demo.relatives() if module in Path(f'/proc/{p}/cmdline').read_bytes()]
    assert len(victims) == 1
    os.kill(victims[0], signal.SIGKILL)
    assert demo.wait() == 2, demo.text()
    assert f'{name}: ended' in demo.text()
    assert demo.nothing_left()
