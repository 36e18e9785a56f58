"""The whole demo over real DDS: it passes, and nothing stays behind however it is stopped."""

import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import time
import uuid

import pytest
from support import outside

from rbd_ros.demonstration import demo as demo_module

outside.load('rclpy')
pytestmark = [pytest.mark.ros, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
LONGEST = 300.0  # the first run of all compiles the simulation [s]
PATIENCE = 15.0


class Demo:
    """A demo in a process, marked in its environment so that its children can be found."""

    def __init__(self, folder, *arguments):
        self.mark = f'RBD_ROS_TEST_MARK={uuid.uuid4()}'
        name, _, value = self.mark.partition('=')
        environment = {**os.environ, 'PYTHONPATH': str(ROOT), name: value}
        environment.pop('DISPLAY', None)
        command = [sys.executable, '-m', 'rbd_ros.cli.main', 'demo', *arguments]
        command += ['-o', str(folder)]
        self.output = folder / 'output.txt'
        with open(self.output, 'wb') as output:
            self.process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def text(self):
        return self.output.read_text(errors='replace')

    def wait_for(self, text):
        deadline = time.monotonic() + LONGEST
        while text not in self.text():
            assert self.process.poll() is None, self.text()
            assert time.monotonic() < deadline, self.text()
            time.sleep(0.02)

    def relatives(self):
        """Processes that carry the mark and live, the demo among them."""
        found = []
        for folder in Path('/proc').glob('[0-9]*'):
            try:
                if self.mark.encode() in (folder / 'environ').read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
        return found

    def nothing_left(self):
        deadline = time.monotonic() + PATIENCE
        while self.relatives() and time.monotonic() < deadline:
            time.sleep(0.05)
        return not self.relatives()

    def end(self):
        for process in self.relatives():
            os.kill(process, signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def start(tmp_path):
    demos = []

    def begin(*arguments):
        demos.append(Demo(tmp_path, *arguments))
        return demos[-1]

    yield begin
    for demo in demos:
        demo.end()


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


STAGES = ('planning a motion', 'are starting', 'are running', 'gravity + feedback')


@pytest.mark.parametrize('stage', STAGES)
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_stopped_at_any_time_it_leaves_nothing_running(start, stage, number):
    demo = start('two_link_arm')
    demo.wait_for(stage)
    if stage == 'planning a motion':
        time.sleep(0.1)  # the handlers are set just after this is said
    demo.process.send_signal(number)
    assert demo.process.wait(PATIENCE) == 128 + number, demo.text()
    assert 'nothing is left running' in demo.text()
    assert demo.nothing_left()


def test_two_demos_at_once_do_not_meet(start, tmp_path):
    """Each takes a domain of its own; otherwise the arms would get each other's torques."""
    first = start('two_link_arm', '--no-plot')
    first.wait_for('are running')
    domains = set()
    for process in first.relatives():
        variables = Path(f'/proc/{process}/environ').read_bytes().split(b'\0')
        domains |= {v for v in variables if v.startswith(b'ROS_DOMAIN_ID=')}
    taken = {int(domain.partition(b'=')[2]) for domain in domains} - {0}
    assert len(taken) == 1
    assert demo_module.free_domain() not in taken


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
    assert demo.process.wait(PATIENCE) == 2, demo.text()
    assert f'{name}: ended' in demo.text()
    assert demo.nothing_left()
