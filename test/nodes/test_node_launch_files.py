# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`ros2 launch` of the launch files, where launch and ros2cli are installed: real processes.

Declarations and logic of the files are tested in test/launch, without processes.
"""

import contextlib
import os
from pathlib import Path
import shutil
import signal
import subprocess
import time

import pytest
from support import outside
from support.waiting import CEILING, until

ROOT = Path(__file__).resolve().parents[2]
ARM = ROOT / 'urdf' / 'two_link_arm.urdf'

pytestmark = [pytest.mark.ros, pytest.mark.slow]


@pytest.fixture(scope='module', autouse=True)
def _needs_launch():
    for package in ('launch', 'launch_ros', 'ros2launch'):
        outside.load(package)
    from ament_index_python.packages import get_package_share_directory, PackageNotFoundError

    try:
        share = get_package_share_directory('rbd_ros')
    except PackageNotFoundError:
        pytest.skip(outside.lacks('rbd_ros', f'not in the workspace: {outside.SOURCE}'))
    file = Path(share, 'launch', 'bringup.launch.py')
    if file.resolve() != ROOT / 'launch' / 'bringup.launch.py' and (
        file.read_text() != (ROOT / 'launch' / 'bringup.launch.py').read_text()
    ):
        pytest.skip('the rbd_ros of the sourced workspace is not this one')


class Launch:
    """A `ros2 launch` in a separate session, whose remaining processes are found and ended."""

    def __init__(self, ros, folder, *words):
        self._folder = Path(folder)
        self._log = self._folder / f'launch_{time.monotonic_ns()}.log'
        with open(self._log, 'w') as file:
            self._process = subprocess.Popen(
                [shutil.which('ros2'), 'launch', *words],
                stdout=file,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                cwd=folder,
                start_new_session=True,
                env={
                    **os.environ,
                    'ROS_DOMAIN_ID': str(ros.domain),
                    'ROS_LOG_DIR': str(self._folder / 'log'),
                },
                # A shell makes what runs in the background ignore SIGINT, and so may ours have.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )

    @property
    def output(self):
        return self._log.read_text()

    @property
    def running(self):
        return self._process.poll() is None

    def process(self, executable):
        """Return the number of a process of the launch."""
        for stat in Path('/proc').glob('[0-9]*/stat'):
            with contextlib.suppress(OSError):
                words = stat.with_name('cmdline').read_bytes().split(b'\0')
                parent = int(stat.read_text().rpartition(')')[2].split()[1])
                if parent == self._process.pid and any(
                    word.endswith(f'/{executable}'.encode()) for word in words[:2]
                ):
                    return int(stat.parent.name)
        raise AssertionError(f'{executable} does not run\n{self.output}')

    def signal(self, number):
        self._process.send_signal(number)

    def wait(self):
        """Return the exit code."""
        try:
            return self._process.wait(CEILING)
        except subprocess.TimeoutExpired:
            raise AssertionError(f'the launch does not end\n{self.output}') from None

    def survivors(self):
        """Return numbers of the processes of the session that are left within a generous time."""
        with contextlib.suppress(AssertionError):
            until(lambda: not self._session())
        return self._session()

    def _session(self):
        found = []
        for stat in Path('/proc').glob('[0-9]*/stat'):
            with contextlib.suppress(OSError):
                state, _, _, session = stat.read_text().rpartition(')')[2].split()[:4]
                if int(session) == self._process.pid and state != 'Z':
                    found.append(int(stat.parent.name))
        return found

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self._session():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self._process.wait()


def until_running(ros, launch, received, count=50):
    ros.until(
        lambda: len(received) > count or not launch.running,
        f'torques\n{launch.output}',
    )
    assert launch.running, launch.output


@pytest.fixture
def running(ros, tmp_path):
    """Return a launch with simulator and controller at work."""
    from sensor_msgs.msg import JointState

    commands = ros.listen(JointState, '/joint_commands')
    words = ('rbd_ros', 'bringup.launch.py', f'urdf:={ARM}', 'rviz:=false')
    with Launch(ros, tmp_path, *words) as launch:
        until_running(ros, launch, commands)
        yield launch


def test_interrupt_ends_everything_with_exit_code_0(running):
    running.signal(signal.SIGINT)
    assert running.wait() == 0, running.output
    assert not running.survivors(), running.output
    assert running.output.count('process has finished cleanly') >= 2, running.output


@pytest.mark.parametrize('node', ['simulator', 'inverse_dynamics'])
def test_death_of_a_node_ends_everything_with_exit_code_1(running, node):
    os.kill(running.process(node), signal.SIGKILL)
    assert running.wait() == 1, running.output
    assert not running.survivors(), running.output
    assert f'{node}-' in running.output and 'was ended by SIGKILL' in running.output


def test_a_requested_end_of_the_simulator_ends_the_launch_with_exit_code_0(running):
    os.kill(running.process('simulator'), signal.SIGINT)
    assert running.wait() == 0, running.output
    assert not running.survivors(), running.output


@outside.needs('setpriv')
@pytest.mark.parametrize('number', [signal.SIGKILL, signal.SIGTERM])
def test_nodes_do_not_outlive_a_launch_that_is_killed(running, number):
    running.signal(number)
    running.wait()
    assert not running.survivors(), running.output


@pytest.mark.parametrize(
    'words',
    [
        ['bringup.launch.py', 'rviz:=true', 'robot_state_publisher:=true'],
        ['bringup.launch.py', 'urdf:=no/such.urdf'],
        ['bringup.launch.py', 'initial_positons:=[0]'],
        ['simulator.launch.py', 'real_time_factor:=fast'],
    ],
)
def test_a_launch_that_cannot_start_prints_one_line_and_starts_nothing(
    ros, tmp_path, words, monkeypatch
):
    for variable in ('DISPLAY', 'WAYLAND_DISPLAY', 'QT_QPA_PLATFORM'):
        monkeypatch.delenv(variable, raising=False)
    with Launch(ros, tmp_path, 'rbd_ros', *words) as launch:
        assert launch.wait() == 1
        assert not launch.survivors()
        lines = [line for line in launch.output.splitlines() if line.startswith('[ERROR]')]
        assert len(lines) == 1, launch.output
        assert 'process started' not in launch.output and 'Traceback' not in launch.output


def test_failure_of_a_node_at_its_start_ends_the_launch_with_exit_code_1(ros, tmp_path):
    words = ('rbd_ros', 'simulator.launch.py', f'urdf:={ARM}', 'servo_bandwidth:=1e6')
    with Launch(ros, tmp_path, *words) as launch:
        assert launch.wait() == 1, launch.output
        assert 'servo_bandwidth' in launch.output and 'Traceback' not in launch.output
        assert not launch.survivors()


def test_arguments_reach_the_nodes(ros, tmp_path):
    from sensor_msgs.msg import JointState

    commands = ros.listen(JointState, '/cell/joint_commands')
    words = (
        'rbd_ros',
        'bringup.launch.py',
        f'urdf:={ARM}',
        'controller:=gravity_compensation',
        'namespace:=cell',
        'initial_positions:=[0.5, -0.25]',
        'payload_link:=tool0',
        'payload_mass:=0.25',
    )
    with Launch(ros, tmp_path, *words) as launch:
        until_running(ros, launch, commands)
        values = ros.get_parameters('/cell/simulator', ['initial_positions'])
        assert list(values[0].double_array_value) == [0.5, -0.25]
        values = ros.get_parameters('/cell/gravity_compensation', ['payload_mass', 'use_sim_time'])
        assert values[0].double_value == 0.25 and values[1].bool_value
        launch.signal(signal.SIGINT)
        assert launch.wait() == 0, launch.output


TWO_ARMS = {
    'a clock for each': (['clock:=clock'], ['clock:=clock']),
    'one owns /clock': ([], ['clock:=false']),
}


@pytest.mark.parametrize('clocks', TWO_ARMS.values(), ids=TWO_ARMS)
def test_two_arms_move_at_the_same_time(ros, tmp_path, clocks):
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import JointState
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    goals = {'left': [0.75, -0.5], 'right': [-0.5, 0.25]}
    states = {side: ros.listen(JointState, f'/{side}/joint_states') for side in goals}
    commands = {side: ros.listen(JointState, f'/{side}/joint_commands') for side in goals}
    publisher = {
        side: ros.publisher(JointTrajectory, f'/{side}/joint_trajectory', wait=False)
        for side in goals
    }
    ticks = [ros.listen(Clock, topic) for topic in ('/clock', '/left/clock', '/right/clock')]
    with contextlib.ExitStack() as stack:
        launches = {}
        for side, clock in zip(goals, clocks):
            words = ('rbd_ros', 'bringup.launch.py', f'urdf:={ARM}', 'rviz:=false')
            words += (f'namespace:={side}', f'frame_prefix:={side}/', *clock)
            # A machine that is busy with six processes is no broken robot.
            words += ('state_timeout:=10', 'command_timeout:=10')
            launches[side] = stack.enter_context(Launch(ros, tmp_path, *words))
        for side in goals:
            until_running(ros, launches[side], commands[side])
        for side, goal in goals.items():
            ros.until(publisher[side].get_subscription_count, f'a subscription of {side}')
            point = JointTrajectoryPoint(positions=goal)
            point.time_from_start.sec = 1
            publisher[side].publish(
                JointTrajectory(joint_names=['shoulder', 'elbow'], points=[point])
            )

        def arrived(side):
            if not states[side]:  # commands may be heard before states
                return False
            state = states[side][-1]
            position = dict(zip(state.name, state.position))
            error = [abs(position[n] - g) for n, g in zip(('shoulder', 'elbow'), goals[side])]
            return max(error) < 0.01

        ros.until(lambda: all(map(arrived, goals)), 'both arms at their goals')

        # Each simulator publishes on the clock it was given, and on no other.
        def publishers():
            infos = ros.node.get_publishers_info_by_topic('/clock')
            return {f'{i.node_namespace}/{i.node_name}' for i in infos}

        expected = set() if clocks[0] else {'/left/simulator'}
        ros.until(lambda: publishers() == expected, 'who publishes the clock')
        assert bool(ticks[0]) == (not clocks[0])
        assert bool(ticks[1]) == bool(ticks[2]) == bool(clocks[0])
        for launch in launches.values():
            launch.signal(signal.SIGINT)
        for launch in launches.values():
            assert launch.wait() == 0, launch.output
            assert not launch.survivors()


def test_launch_file_of_the_page_starts_two_arms(ros, tmp_path):
    from sensor_msgs.msg import JointState

    page = (ROOT / 'docs' / 'launch.md').read_text(encoding='utf-8')
    file = tmp_path / 'two_arms.launch.py'
    file.write_text(page.partition('```python\n')[2].partition('```')[0])
    commands = [ros.listen(JointState, f'/{side}/joint_commands') for side in ('left', 'right')]
    with Launch(ros, tmp_path, file) as launch:
        for received in commands:
            until_running(ros, launch, received)

        def names():
            named = ros.node.get_node_names_and_namespaces()
            return {f'{namespace}/{name}' for name, namespace in named}

        for side in ('left', 'right'):
            expected = {f'/{side}/simulator', f'/{side}/inverse_dynamics'}
            ros.until(lambda expected=expected: expected <= names(), f'both nodes in /{side}')
        launch.signal(signal.SIGINT)
        assert launch.wait() == 0, launch.output
        assert not launch.survivors()
