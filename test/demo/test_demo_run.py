"""The whole demo over real DDS, for which it needs the machine to itself."""

import re

import pytest
from support import outside
from support.demo_process import LONGEST

outside.load('rclpy')
pytestmark = [pytest.mark.ros, pytest.mark.slow]


def test_inverse_dynamics_tracks_ten_times_closer_than_feedback_alone(start, tmp_path):
    demo = start()
    assert demo.process.wait(LONGEST) == 0, demo.text()
    times = re.search(r'PASS: inverse dynamics tracks (\d+) times closer', demo.text())
    assert int(times.group(1)) >= 10
    assert (tmp_path / 'tracking.png').stat().st_size > 50_000
    assert 'times closer than feedback alone' in (tmp_path / 'table.txt').read_text()
    assert demo.nothing_left()


def test_a_threshold_that_is_not_reached_is_exit_code_1(start):
    demo = start('two_link_arm', '--threshold', '1e9', '--no-plot')
    assert demo.process.wait(LONGEST) == 1, demo.text()
    assert 'FAIL' in demo.text()
