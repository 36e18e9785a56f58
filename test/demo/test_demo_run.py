# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The whole demo over real DDS; its verdict does not depend on other load of the machine."""

import os
import re

import numpy as np
import pytest
from support import outside
from support.demo_process import Demo
from support.waiting import busy_loops

from rbd_ros.demonstration.demo import LAWS, REAL_TIME
from rbd_ros.demonstration.experiment import Recording

outside.load('rclpy')
pytestmark = [pytest.mark.ros, pytest.mark.slow]


def verdict(demo):
    """Return the last line, which has the time first."""
    return demo.text().splitlines()[-1].partition('] ')[2]


def test_concurrent_demos_have_the_same_figures(tmp_path):
    """With two busy loops on each core every state and torque is the same, bit for bit."""
    folders = [tmp_path / name for name in ('one', 'other')]
    for folder in folders:
        folder.mkdir()
    with busy_loops(2 * os.cpu_count()):
        demos = [Demo(folder) for folder in folders]
        try:
            for demo in demos:
                assert demo.wait() == 0, demo.text()
                assert demo.nothing_left()
        finally:
            for demo in demos:
                demo.end()
    times = re.match(r'PASS: inverse dynamics tracks (\d+) times closer', verdict(demos[0]))
    assert int(times.group(1)) >= 10
    assert verdict(demos[1]) == verdict(demos[0])
    for law in LAWS:
        one, other = (Recording.load(folder / f'{law.key}.npz') for folder in folders)
        for name in ('start', 'state_stamps', 'q', 'v', 'effort'):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
        assert set(np.diff(one.state_stamps)) == {1_000_000}  # none is lost
    tables = [(folder / 'table.txt').read_text().partition('real time')[0] for folder in folders]
    assert tables[0] == tables[1]
    assert 'times closer than feedback alone' in tables[0]
    assert (folders[0] / 'tracking.png').stat().st_size > 50_000
    assert Recording.load(folders[0] / f'{REAL_TIME}.npz').state_stamps.size


def test_a_threshold_that_is_not_reached_is_exit_code_1(start):
    demo = start('two_link_arm', '--threshold', '1e9', '--no-plot')
    assert demo.wait() == 1, demo.text()
    assert verdict(demo).startswith('FAIL')
