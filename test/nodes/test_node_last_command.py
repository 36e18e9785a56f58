# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Last commands and the rate of torque, over DDS: torques always end, within the rate.

The times are those at which the middleware sent the messages. A busy machine may delay a message
after its torque was computed, so rates have a tolerance, which is much less than a jump.
"""

import itertools
import signal
import time
from types import SimpleNamespace

import numpy as np
import pytest
from support import outside

outside.load('rclpy')

from node_harness import joint_state, Ros, stamp
from safety_harness import FREE_ARM, gravity_of, NAMES, Repeat, REST, states_at, TorqueRig
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

NODES = ('gravity_compensation', 'inverse_dynamics')
RATE = 20.0  # [N m/s]; the torques that are changed here are some 20 N m
SLACK = 0.5  # [s]

# Feedback would change with the position, and so would the torque.
ONLY_GRAVITY = {'feedforward': 'gravity', 'feedback': 'none'}

_namespaces = itertools.count()


def start(ros, module, **parameters):
    if module == 'inverse_dynamics':
        parameters = {**ONLY_GRAVITY, **parameters}
    return TorqueRig(ros, module, f'/n{next(_namespaces)}', parameters)


def worst_excess(torques, rate=RATE):
    """Return how far torques changed beyond the rate, over any stretch of time [N m]."""
    at = np.array([t.at for t in torques])
    effort = np.array([t.effort for t in torques])
    worst = 0.0
    for sign in (1.0, -1.0):
        height = sign * effort - rate * at[:, None]
        worst = max(worst, (height - np.minimum.accumulate(height)).max())
    return worst


def keeps_the_rate(rig, since=0):
    return worst_excess(rig.torques[since:]) <= RATE * SLACK


@pytest.fixture(scope='module', params=NODES)
def slow(request, ros):
    """Yield the node with a limited rate."""
    rig = start(ros, request.param, torque_rate_limit=RATE, state_timeout=0.5)
    yield rig
    rig.process.stop()


@pytest.fixture(autouse=True)
def nothing_unsafe(request):
    yield
    if 'slow' in request.fixturenames:
        rig = request.getfixturevalue('slow')
        assert rig.process.alive()
        assert rig.all_safe()
        assert 'Traceback' not in rig.process.output()


def settled(rig, position, publish):
    """Repeat `publish` until the torque of a position is reached."""
    owed = gravity_of(position)

    def reached():
        publish()
        return np.abs(rig.torques[-1].effort - owed).max() < 1e-6 if rig.torques else False

    rig.ros.until(reached, f'the torque at {position}')


POSES = ((0.0, 0.0), (3.0, 0.1))  # gravity to one side, and to the other


STAMPS = {
    'present': lambda k: time.time(),
    'repeated': lambda k: 1e9,
    'early': lambda k: time.time() - 10.0 * (k % 2),
    'zero': lambda k: 0.0,
    'ahead': lambda k: 1e9 + 3600.0 * (k % 100_000),
    'negative': lambda k: -1e6 + k,
}


@pytest.mark.parametrize('kind', STAMPS)
def test_the_torque_rate_is_limited_for_any_stamps_of_states(slow, kind):
    count = itertools.count()

    def publish(position, number=20):
        for _ in range(number):
            message = joint_state(NAMES, position, REST)
            stamp(message, STAMPS[kind](next(count)))
            slow.states.publish(message)

    def begin_this_time_line():
        """Older states count as a new time line if they come in order."""
        for k in range(5):
            message = joint_state(NAMES, POSES[0], REST)
            stamp(message, STAMPS[kind](0) - 5.0 + k)
            slow.states.publish(message)
            slow.ros.spin(0.05)

    if kind != 'zero':
        begin_this_time_line()
    here, there = POSES
    if slow.torques and slow.torques[-1].effort[0] * gravity_of(here)[0] < 0.0:
        here, there = there, here  # from where the torque is to the other side
    settled(slow, here, lambda: publish(here))
    since = len(slow.torques) - 1
    settled(slow, there, lambda: publish(there))
    assert keeps_the_rate(slow, since)


def test_the_rate_holds_when_parameters_change(slow):
    with states_at(slow, POSES[0]):
        settled(slow, POSES[0], lambda: None)
        since = len(slow.torques) - 1
        for values in (
            {'gravity': [0.0, 0.0, 9.81]},
            {'payload_link': 'tool'},
            {'payload_mass': 3.0},
            {'payload_center_of_mass': [-1.0, 0.0, 0.0]},
            {'payload_mass': 0.0},
            {'payload_link': ''},
            {'effort_limits': [100.0]},
            {'torque_rate_limit': 0.5 * RATE},
            {'torque_rate_limit': RATE},
            {'gravity': [0.0, 0.0, -9.81]},
        ):
            slow.must_set(**values)
            slow.ros.spin(0.15)
        assert keeps_the_rate(slow, since)


def test_the_rate_holds_on_silence_and_when_states_come_back_in_the_midst(slow):
    with states_at(slow, POSES[0]):
        settled(slow, POSES[0], lambda: None)
    since = len(slow.torques) - 1
    owed = np.abs(gravity_of(POSES[0])).max()
    slow.ros.until(lambda: np.abs(slow.torques[-1].effort).max() < 0.5 * owed, 'half the way')
    with states_at(slow, POSES[0]):
        settled(slow, POSES[0], lambda: None)
    slow.ros.until(lambda: not slow.torques[-1].effort.any(), 'the last command')
    assert keeps_the_rate(slow, since)


# -- the end --------------------------------------------------------------------------------------


@pytest.fixture
def commanding(tmp_path):
    """Start a node that has been commanding the torque of POSES[0], in a ROS domain of its own.

    Fast DDS may take a node for one that ended in the last 20 s, see docs/safety.md.
    """
    with Ros(tmp_path) as ros:

        def begin(module, **parameters):
            rig = start(ros, module, **parameters)
            with states_at(rig, POSES[0]):
                settled(rig, POSES[0], lambda: None)
            return rig

        yield begin


def ended_well(rig, code):
    counts = [-1]

    def all_heard():
        rig.ros.spin(0.3)
        counts.append(len(rig.torques))
        return counts[-1] == counts[-2]

    rig.ros.until(all_heard, 'the last torque')
    assert code == 0
    assert 'Traceback' not in rig.process.output()
    assert rig.all_safe()


@pytest.mark.parametrize('module', NODES)
@pytest.mark.parametrize('command', ['zero', 'gravity'])
def test_the_rate_holds_at_shutdown(commanding, module, command):
    rig = commanding(module, torque_rate_limit=RATE, state_timeout=0.0, shutdown_command=command)
    since = len(rig.torques) - 1
    code = rig.process.stop()
    ended_well(rig, code)
    assert keeps_the_rate(rig, since)
    last = gravity_of(POSES[0]) if command == 'gravity' else np.zeros(2)
    assert rig.torques[-1].effort == pytest.approx(last)


@pytest.mark.parametrize('module', NODES)
def test_a_second_signal_ends_the_ramp_at_once_with_the_last_command(commanding, module):
    rig = commanding(module, torque_rate_limit=0.01, state_timeout=0.0)  # 2000 s down to zero
    rig.process.process.send_signal(signal.SIGINT)
    count = len(rig.torques)
    rig.ros.until(lambda: len(rig.torques) > count + 10, 'steps of the ramp')
    assert np.abs(rig.torques[-1].effort).max() > 1.0
    code = rig.process.stop()
    ended_well(rig, code)
    assert not rig.torques[-1].effort.any()


@pytest.mark.parametrize('module', NODES)
@pytest.mark.parametrize(
    'on_silence, at_end', [('zero', 'gravity'), ('gravity', 'zero'), ('zero', 'none')]
)
def test_a_signal_while_states_have_failed_ends_with_one_last_command(
    commanding, module, on_silence, at_end
):
    """Two last commands must not take turns: the newer one counts, and none ends what began."""
    rate = 10.0  # the way takes some seconds
    rig = commanding(
        module,
        torque_rate_limit=rate,
        state_timeout=0.2,
        timeout_command=on_silence,
        shutdown_command=at_end,
    )
    begin = rig.torques[-1].effort
    if on_silence == 'gravity':  # where the torque is: another payload gives it somewhere to go
        with states_at(rig, POSES[0]):
            rig.must_set(payload_link='tool')
            rig.must_set(payload_mass=1.0)
    rig.ros.until(lambda: np.abs(rig.torques[-1].effort - begin).max() > 1.0, 'part of the way')
    since = len(rig.torques) - 1
    code = rig.process.stop()
    ended_well(rig, code)
    assert worst_excess(rig.torques[since:], rate) <= rate * SLACK  # of some 10 N m
    last = gravity_of(POSES[0]) if at_end == 'gravity' else np.zeros(2)
    rig.ros.until(lambda: rig.torques[-1].effort == pytest.approx(last), 'the last command')


@pytest.mark.parametrize('module', NODES)
def test_a_signal_in_the_midst_of_a_flood_of_states_ends_with_the_last_command(commanding, module):
    rig = commanding(module, state_timeout=0.1)
    with states_at(rig, POSES[0], rate=2000.0):
        rig.ros.spin(0.2)
        code = rig.process.stop(signal.SIGTERM)
    ended_well(rig, code)
    assert not rig.torques[-1].effort.any()


# -- torques that are none ------------------------------------------------------------------------


@pytest.mark.parametrize('gravity', ['nan', 'inf', 'raises'])
def test_where_gravity_cannot_be_worked_out_the_last_torque_is_zero(gravity):
    """No parameters lead there any more; the last command must come nevertheless."""
    from rbd_ros.nodes.torque.torque_node import TorqueNode

    def torque(q):
        if gravity == 'raises':
            raise FloatingPointError('not finite')
        return np.array([1.0, float(gravity)])

    events = []
    node = SimpleNamespace(
        robot=SimpleNamespace(nv=2),
        _prepared=SimpleNamespace(law=SimpleNamespace(gravity=torque)),
        _loop=SimpleNamespace(last_state=SimpleNamespace(q=np.zeros(2))),
        diagnostics=SimpleNamespace(event=lambda *event: events.append(event)),
    )
    assert list(TorqueNode._last_torque(node, 'gravity')) == [0.0, 0.0]
    assert 'zero instead of gravity' in events[0][2]


def trajectory(position, seconds=1):
    point = JointTrajectoryPoint(positions=[float(x) for x in position])
    point.time_from_start.sec = seconds
    return JointTrajectory(joint_names=list(NAMES), points=[point])


@pytest.mark.parametrize('command', ['zero', 'gravity'])
def test_a_trajectory_without_bounds_never_leaves_a_torque_standing(commanding, command):
    rig = commanding(
        'inverse_dynamics',
        robot_description=FREE_ARM,
        feedforward='inverse_dynamics',
        feedback='pd',
        check_limits=False,
        start_tolerance=0.0,
        timeout_command=command,
    )
    trajectories = rig.publisher(JointTrajectory, 'joint_trajectory')
    last = gravity_of(POSES[0]) if command == 'gravity' else np.zeros(2)
    for position in (
        (1e308, 0.0),
        (float('nan'), 0.0),
        (float('inf'), 0.0),
        (1e200, -1e200),
    ):
        since, count = rig.ros.mark(), len(rig.torques)
        with states_at(rig, POSES[0]):
            rig.ros.until(lambda n=count: len(rig.torques) > n + 20, 'torques')
            trajectories.publish(trajectory(position))
            rig.ros.until_status('trajectory rejected', 'trajectory', since=since)
            count = len(rig.torques)
            rig.ros.until(lambda n=count: len(rig.torques) > n + 60, 'torques after it')
        rig.ros.until(
            lambda: np.abs(rig.torques[-1].effort - last).max() < 1e-9, 'the last command'
        )
    assert all(np.isfinite(t.effort).all() for t in rig.torques)


@pytest.mark.parametrize('module', NODES)
def test_nan_states_end_with_the_last_command_at_any_rate(commanding, module):
    """Only a torque that was sent keeps the watchdog quiet."""
    rig = commanding(module, timeout_command='zero')
    bad = [
        joint_state(NAMES, position, velocity)
        for position, velocity in (
            ((np.nan, 0.0), REST),
            ((0.0, 0.0), (np.inf, 0.0)),
            ((1e308, 0.0), REST),
            ((-1e308, 1e308), (1e308, -1e308)),
            ((5e5, 0.0), REST),
        )
    ]
    with Repeat(rig.states, bad, 500.0, stamped=True):
        rig.ros.until(lambda: not rig.torques[-1].effort.any(), 'the last command')
        count = len(rig.torques)
        rig.ros.spin(0.5)
        assert len(rig.torques) == count
