# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Signals at any time, over DDS: exit code 0, no traceback, and a last command if one is due.

Times are random with a fixed seed. The node cannot cover the interpreter's start: a signal is sent
once the process has installed its handlers.
"""

import itertools
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from support import outside
from support.fresh_python import python_path
from support.waiting import CEILING, until

outside.load('rclpy')

from node_harness import NodeProcess, reliable, Ros, TWO_LINK_ARM
from rcl_interfaces.msg import Parameter
from rcl_interfaces.srv import SetParameters
from rclpy.serialization import serialize_message
from safety_harness import parameter_value, POSE, Repeat, states_at, TorqueRig
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

NODES = ('gravity_compensation', 'inverse_dynamics', 'simulator', 'trajectory_feedforward')
TORQUE_NODES = NODES[:2]
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
INSTANTS = 4  # of the start-up of each node, spread over all of it
SOON = 30.0  # seconds; nothing here takes more than a few, unless the machine is very busy

_namespaces = itertools.count()


def until_handled(process, number=signal.SIGTERM):
    """Wait until the process has a handler for a signal."""

    def handled():
        assert process.alive(), process.output()
        with open(f'/proc/{process.process.pid}/status') as status:
            caught = next(line for line in status if line.startswith('SigCgt'))
        return int(caught.split()[1], 16) >> (number - 1) & 1

    until(handled, lambda: 'a handler of signals: ' + process.output(), lambda: time.sleep(0.002))


def assert_ended_well(process):
    """Check that it ends soon, with code 0, and says nothing that frightens."""
    begin = time.monotonic()
    assert process.wait() == 0, process.output()
    assert time.monotonic() - begin < SOON
    for word in ('Traceback', 'Error', 'Exception', 'FATAL', 'core dumped', 'terminate called'):
        assert word not in process.output(), process.output()


def parameters(module):
    values = {'robot_description': TWO_LINK_ARM}
    if module == 'inverse_dynamics':
        values.update(feedforward='gravity', feedback='none')
    return values


@pytest.fixture(scope='module')
def start_up_time(ros):
    """Return the seconds that a node takes from its handlers to its first diagnostics as a whole.

    By name.
    """
    times = {}
    for module in NODES:
        process = NodeProcess(ros.folder, ros.domain, module, parameters(module))
        until_handled(process)
        begin, since = time.monotonic(), ros.mark()
        ros.until(
            lambda m=module, s=since: any(d.name.startswith(m) for d in ros.diagnostics[s:]),
            'diagnostics',
        )
        times[module] = time.monotonic() - begin
        process.stop()
    return times


@pytest.fixture(params=[False, True], ids=['machine code kept', 'compiling'])
def compiling(request, tmp_path, monkeypatch):
    """Return whether nodes find no machine code on disk."""
    if request.param:
        monkeypatch.setenv('RBD_ROS_CACHE_DIR', str(tmp_path))
    return request.param


@pytest.mark.parametrize('module', NODES)
def test_a_signal_at_any_instant_of_start_up_ends_the_node(ros, start_up_time, compiling, module):
    rng = np.random.default_rng(NODES.index(module))
    longest = start_up_time[module] * (2.0 if compiling else 1.0)
    for k in range(INSTANTS):
        process = NodeProcess(ros.folder, ros.domain, module, parameters(module))
        until_handled(process)
        time.sleep(longest * (k + rng.uniform()) / (INSTANTS))
        process.process.send_signal(STOP_SIGNALS[rng.integers(3)])
        if rng.integers(2):
            time.sleep(rng.uniform(0.0, 0.3))
            process.process.send_signal(STOP_SIGNALS[rng.integers(3)])
        assert_ended_well(process)


@pytest.mark.parametrize('module', NODES)
def test_a_signal_while_a_robot_from_the_topic_is_being_compiled_ends_the_node(
    ros, tmp_path, monkeypatch, module
):
    rng = np.random.default_rng(5)
    for k in range(2):
        monkeypatch.setenv('RBD_ROS_CACHE_DIR', str(tmp_path / str(k)))
        space = f'topic_{module}_{k}'  # its own: diagnostics of the one before may come late
        topic = f'/{space}/robot_description'
        descriptions = ros.publisher(String, topic, reliable(1, transient_local=True), wait=False)
        descriptions.publish(String(data=TWO_LINK_ARM))
        process = NodeProcess(ros.folder, ros.domain, module, None, ('-r', f'__ns:=/{space}'))
        ros.until(
            lambda s=space: any(d.name.startswith(f'{s}/') for d in ros.diagnostics),
            'diagnostics',
        )
        time.sleep(rng.uniform(0.0, 1.0))
        process.process.send_signal(STOP_SIGNALS[k % 3])
        assert_ended_well(process)


START_UP_THAT_FAILS = """
import sys
from rbd_ros.nodes.common import node_process

def create():
    node_process._signals.count += int(sys.argv[1])  # signals that have arrived a moment ago
    raise ValueError('parameters are rejected from now on')

def load():
    import rclpy.node
    return create

raise SystemExit(node_process.run_node(load, []))
"""


@pytest.mark.parametrize('signals, code', [(0, 1), (1, 0), (2, 0)])
def test_an_error_during_start_up_after_a_signal_is_not_a_failure(ros, signals, code):
    done = subprocess.run(
        [sys.executable, '-c', START_UP_THAT_FAILS, str(signals)],
        env={**os.environ, 'ROS_DOMAIN_ID': str(ros.domain), 'PYTHONPATH': python_path()},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == code, done.stdout
    assert ('rejected from now on' in done.stdout) == (code == 1)


INTERRUPTED_HALF_MADE = """
import os, signal, time
from rbd_ros.nodes.common import node_process

class Handle:
    def __init__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(1.0)
        self.made = True
    def __del__(self):
        self.made  # AttributeError

def create():
    Handle()

def load():
    import rclpy.node
    return create

raise SystemExit(node_process.run_node(load, []))
"""


def test_an_object_half_made_at_a_signal_prints_nothing(ros):
    done = subprocess.run(
        [sys.executable, '-c', INTERRUPTED_HALF_MADE],
        env={**os.environ, 'ROS_DOMAIN_ID': str(ros.domain), 'PYTHONPATH': python_path()},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=CEILING,
    )
    assert done.returncode == 0, done.stdout
    assert 'Exception ignored' not in done.stdout and 'Traceback' not in done.stdout


CAUGHT = """
import ctypes, os, signal, threading, time
from rbd_ros.nodes.common import node_process

def end():
    os.kill(os.getpid(), signal.SIGTERM)

node_process.END_TIMEOUT = 0.5
node_process.START_UP_TIMEOUT = 0.1

class Node:
    def __init__(self):
        import rclpy
        self.real = rclpy.create_node('caught')
    def __getattr__(self, name):
        return getattr(self.real, name)
    def start(self):
        {start}
    def stop(self):
        {stop}

def load():
    import rclpy.node
    return Node

raise SystemExit(node_process.run_node(load, []))
"""


@pytest.mark.parametrize(
    'caught, code',
    [
        # A last command has all the time that it wants, until a second signal.
        (
            {
                'start': 'end()',
                'stop': 'time.sleep(1.0); print("told", flush=True); end(); time.sleep(60.0)',
            },
            1,
        ),
        ({'start': 'end()', 'stop': 'time.sleep(1.0); print(end="told")'}, 0),
        # The process is not taken apart: that takes long after compiling.
        ({'start': 'end()', 'stop': 'threading.Timer(60.0, end).start(); print(end="told")'}, 0),
        # What has nothing to command, in machine code: a robot or a world that is compiled.
        (
            {
                'start': 'node_process._signals._interruptible = True; '
                'signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM]); '
                'threading.Timer(0.1, end).start(); ctypes.CDLL(None).sleep(60)',
                'stop': 'pass',
            },
            0,
        ),
    ],
)
def test_a_program_that_catches_the_signal_ends_nonetheless(ros, caught, code):
    done = subprocess.run(
        [sys.executable, '-c', CAUGHT.format(**caught)],
        env={**os.environ, 'ROS_DOMAIN_ID': str(ros.domain), 'PYTHONPATH': python_path()},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=CEILING,
    )
    assert done.returncode == code, done.stdout
    # Where it was caught is printed.
    assert ('most recent call first' in done.stdout) == (code == 1)
    assert ('told' in done.stdout) == ('told' in caught['stop'])


# -- while commanding -----------------------------------------------------------------------------


@pytest.fixture
def commanding(tmp_path):
    """Start a torque node, and leave it when it has sent torques.

    In a ROS domain of its own: Fast DDS may take a node for one that ended in the last 20 s, see
    docs/safety.md.
    """
    with Ros(tmp_path) as ros:

        def begin(module, **more):
            rig = TorqueRig(
                ros, module, f'/signals{next(_namespaces)}', {**parameters(module), **more}
            )
            with states_at(rig):
                ros.until(lambda: len(rig.torques) > 5, 'torques')
            return rig

        yield begin


def assert_ended_with_zero(rig):
    assert_ended_well(rig.process)
    rig.ros.until(lambda: not rig.torques[-1].effort.any(), 'the last command')


@pytest.mark.parametrize('number', STOP_SIGNALS)
@pytest.mark.parametrize('module', TORQUE_NODES)
def test_a_signal_while_commanding_sends_the_last_command(commanding, module, number):
    rig = commanding(module)
    with states_at(rig, rate=500.0):
        rig.ros.until(lambda: rig.torques[-1].effort.any(), 'torques')
        rig.process.process.send_signal(number)
        assert_ended_with_zero(rig)


@pytest.mark.parametrize('seed', range(2))
@pytest.mark.parametrize('module', TORQUE_NODES)
def test_further_signals_during_shutdown_do_not_cost_the_last_command(commanding, module, seed):
    rng = np.random.default_rng(seed)
    rig = commanding(module)
    with states_at(rig, rate=500.0):
        rig.ros.until(lambda: rig.torques[-1].effort.any(), 'torques')
        for _ in range(5):
            rig.process.process.send_signal(STOP_SIGNALS[rng.integers(3)])
            time.sleep(rng.choice([0.0, 0.002, 0.02, 0.1]))
            if not rig.process.alive():
                break
        assert_ended_with_zero(rig)


@pytest.mark.parametrize('module', TORQUE_NODES)
def test_a_signal_before_the_first_state_ends_without_a_command(ros, module):
    rig = TorqueRig(ros, module, f'/signals{next(_namespaces)}', parameters(module))
    ros.spin(0.2)
    rig.process.process.send_signal(signal.SIGINT)
    assert_ended_well(rig.process)
    ros.processes.remove(rig.process)
    ros.spin(0.2)
    assert not rig.torques


@pytest.mark.parametrize('module', TORQUE_NODES)
def test_a_signal_in_the_midst_of_a_long_request_ends_the_node_soon(commanding, module):
    """Ten thousand changes of a mass, each of which takes some milliseconds."""
    rig = commanding(module)
    rig.must_set(payload_link='tool')
    client = rig.ros.client(SetParameters, f'{rig.name}/set_parameters')
    with states_at(rig):
        rig.ros.until(lambda: rig.torques[-1].effort.any(), 'torques')
        client.call_async(
            SetParameters.Request(
                parameters=[
                    Parameter(name='payload_mass', value=parameter_value(0.1 + 1e-5 * k))
                    for k in range(10_000)
                ]
            )
        )
        rig.ros.spin(1.0)
        rig.process.process.send_signal(signal.SIGINT)
        assert_ended_with_zero(rig)


def test_a_signal_in_the_midst_of_long_trajectories_ends_the_node_soon(commanding):
    rig = commanding('inverse_dynamics')
    points = 50_000
    message = JointTrajectory(joint_names=['shoulder', 'elbow'])
    for k in range(points):
        point = JointTrajectoryPoint(positions=[POSE[0], POSE[1] + 1e-6 * k])
        point.time_from_start.sec, point.time_from_start.nanosec = divmod(10_000_000 * k, 10**9)
        message.points.append(point)
    trajectories = rig.publisher(JointTrajectory, 'joint_trajectory')
    data = serialize_message(message)
    with states_at(rig), Repeat(trajectories, [data], 20.0):
        rig.ros.until(lambda: rig.torques[-1].effort.any(), 'torques')
        rig.ros.spin(0.7)
        rig.process.process.send_signal(signal.SIGTERM)
        assert_ended_with_zero(rig)


# -- the simulator --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'state, number',
    zip(('running', 'as fast as possible', 'paused', 'slow'), (*STOP_SIGNALS, signal.SIGINT)),
)
def test_a_signal_ends_the_simulator_whatever_it_does(ros, state, number):
    values = {
        'running': {},
        'as fast as possible': {'real_time_factor': 0.0},
        'paused': {'start_paused': True},
        'slow': {'real_time_factor': 1e-6},
    }[state]
    namespace = f'/signals{next(_namespaces)}'
    process = NodeProcess(
        ros.folder,
        ros.domain,
        'simulator',
        {**parameters('simulator'), **values},
        ('-r', f'__ns:={namespace}', '-r', f'/clock:={namespace}/clock'),
    )
    states = ros.listen(JointState, f'{namespace}/joint_states', reliable(1))
    ros.until(lambda: states, 'a state')
    for _ in range(3):
        if process.alive():
            process.process.send_signal(number)
        time.sleep(0.01)
    assert_ended_well(process)
