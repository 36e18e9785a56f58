# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Torque nodes in floods of large messages, over DDS: torques continue, the watchdog works.

A torque for each state would be 200 a second. A flood must leave at least a tenth of them, for any
load of the machine; a node that is blocked for a second per message sends one.
"""

import itertools
import time

import numpy as np
import pytest
from support import outside

outside.load('rclpy')

from node_harness import joint_state
from rcl_interfaces.msg import Parameter
from rcl_interfaces.srv import SetParameters
from rclpy.serialization import serialize_message
from safety_harness import (
    lines_of,
    NAMES,
    parameter_value,
    POSE,
    Repeat,
    states_at,
    TorqueRig,
)
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

TIMEOUT = 0.2
SOON = 25 * TIMEOUT  # for the last command, on a busy machine
ENOUGH = 200  # torques in a flood
RATE = 20.0  # of large messages [Hz]
POINTS = 30_000
LONG = 'x' * 10_000


def state_bytes(names, numbers=None):
    """Return the state whose joints are where they are in POSE.

    Another place would be a contradiction.
    """
    numbers = len(names) if numbers is None else numbers
    position = [dict(zip(NAMES, POSE)).get(name, 0.0) for name in names]
    position += [0.0] * (numbers - len(names))
    return serialize_message(joint_state(names, position, [0.0] * numbers))


def trajectory_bytes(points, names=NAMES, reach=1e-3, repeat=1):
    """Return the trajectory around POSE, whose points are 10 ms apart."""
    message = JointTrajectory(joint_names=list(names) * repeat)
    n = len(message.joint_names)
    for k in range(points):
        position = [0.0] * n
        position[: len(POSE)] = np.array(POSE) + reach * np.sin(1e-3 * k)
        point = JointTrajectoryPoint(positions=position)
        point.time_from_start.sec, point.time_from_start.nanosec = divmod(
            10_000_000 * (k + 1), 1_000_000_000
        )
        message.points.append(point)
    return serialize_message(message)


def uneven_trajectory_bytes(points):
    """Return every second point carries efforts, so no two points are alike in the message."""
    message = JointTrajectory(joint_names=list(NAMES))
    for k in range(points):
        point = JointTrajectoryPoint(positions=list(POSE), effort=[0.0] * (k % 5))
        point.time_from_start.sec = k
        message.points.append(point)
    return serialize_message(message)


STATES = {
    'a name 10 000 times': lambda: state_bytes(['shoulder'] * 10_000),
    'two names 10 000 times': lambda: state_bytes(list(NAMES) * 5_000),
    '10 000 names of others': lambda: state_bytes([f'joint_{k}' for k in range(10_000)]),
    '1000 names of others': lambda: state_bytes([*(f'joint_{k}' for k in range(1000)), 'elbow']),
    'a name of a megabyte': lambda: state_bytes(['x' * 1_000_000, 'elbow']),
    'a megabyte of numbers': lambda: state_bytes(NAMES, 60_000),
}
TRAJECTORIES = {
    'a name 10 000 times': lambda: trajectory_bytes(3, repeat=5_000),
    '10 000 names of others': lambda: trajectory_bytes(3, [f'joint_{k}' for k in range(10_000)]),
    'a name of a megabyte': lambda: trajectory_bytes(3, ['x' * 1_000_000, 'elbow']),
    '30 000 points': lambda: trajectory_bytes(POINTS),
    '30 000 points that are not alike': lambda: uneven_trajectory_bytes(POINTS),
    '30 000 points beyond limits': lambda: trajectory_bytes(POINTS, reach=1.0),
    'no points': lambda: trajectory_bytes(0),
}


@pytest.fixture(scope='module', params=['gravity_compensation', 'inverse_dynamics'])
def rig(request, ros):
    rig = TorqueRig(
        ros,
        request.param,
        f'/{request.param[0]}',
        {'state_timeout': TIMEOUT, 'use_sim_time': False},
    )
    rig.more_states = rig.publisher(JointState, 'joint_states')
    if request.param == 'inverse_dynamics':
        rig.trajectories = rig.publisher(JointTrajectory, 'joint_trajectory')
    yield rig
    rig.process.stop()
    ros.processes.remove(rig.process)


@pytest.fixture(autouse=True)
def nothing_unsafe(rig):
    del rig.torques[:-1]
    yield
    assert rig.process.alive()
    assert rig.all_safe()
    assert 'Traceback' not in rig.process.output()


def torques_go_on(rig, flood, at_least=3):
    """Torques come, and large messages are sent meanwhile."""
    count = len(rig.torques)
    rig.ros.until(
        lambda: len(rig.torques) >= count + ENOUGH and flood.sent >= at_least,
        'torques in the flood',
    )


def withstands(rig, publisher, data, rate=RATE):
    """Check that torques continue in a flood, and end with the last one when states end."""
    with Repeat(publisher, [data], rate) as flood:
        with states_at(rig):
            rig.ros.until(lambda: rig.torques and rig.torques[-1].effort.any(), 'torques')
            torques_go_on(rig, flood)
        rig.ros.until(lambda: not rig.torques[-1].effort.any(), 'the last command')
        assert rig.gaps(-10).max() < SOON


@pytest.mark.parametrize('what', STATES)
def test_torques_continue_in_a_flood_of_large_states(rig, what):
    withstands(rig, rig.more_states, STATES[what]())


@pytest.mark.parametrize('what', TRAJECTORIES)
def test_torques_continue_in_a_flood_of_large_trajectories(rig, what):
    if not hasattr(rig, 'trajectories'):
        pytest.skip('gravity compensation follows no trajectories')
    # Megabytes each: preparing one takes the better part of a second, beside the control loop.
    withstands(rig, rig.trajectories, TRAJECTORIES[what](), 0.25 * RATE)


def test_torques_continue_in_a_flood_of_states_with_names_invented_each_time(rig):
    numbers = itertools.count()

    def invented():
        k = next(numbers)
        return state_bytes([*(f'n{k}_{i}' for i in range(300)), 'elbow'])

    messages = [invented() for _ in range(200)]
    with states_at(rig), Repeat(rig.more_states, messages, 100.0) as flood:
        torques_go_on(rig, flood, 50)


def test_torques_continue_in_a_flood_of_large_requests(rig):
    client = rig.ros.client(SetParameters, f'{rig.name}/set_parameters')
    request = SetParameters.Request(
        parameters=[
            Parameter(name='payload_link', value=parameter_value('x' * 500_000)),
            *(Parameter(name='kp', value=parameter_value([1.0] * 100)) for _ in range(100)),
        ]
    )
    with states_at(rig):
        count = len(rig.torques)
        for _ in range(5):
            client.call_async(request)
            rig.ros.spin(0.02)
        rig.ros.until(lambda: len(rig.torques) >= count + ENOUGH, 'torques')
    rig.ros.until(lambda: not rig.torques[-1].effort.any(), 'the last command')
    rig.must_set(payload_mass=0.0)


def test_many_changes_are_shown_a_few_times_a_second(rig):
    """Each trajectory that is followed is a change; diagnostics cost more than taking it."""
    if not hasattr(rig, 'trajectories'):
        pytest.skip('gravity compensation follows no trajectories')
    with states_at(rig):
        count = len(rig.torques)
        rig.ros.until(lambda: len(rig.torques) > count, 'a torque')
        shown, begin = rig.ros.mark(), time.monotonic()
        with Repeat(rig.trajectories, [trajectory_bytes(1, reach=0.0)], 1000.0) as flood:
            rig.ros.until(lambda: flood.sent > 500, 'trajectories')
        rig.ros.until_status('trajectory of 1 points', 'trajectory', since=shown)
        duration = time.monotonic() - begin
    name = f'{rig.name[1:]}: trajectory'
    seen = [s for s in rig.ros.diagnostics[shown:] if s.name == name]
    # At once as long as there are few, then at the timer's and at the changes' ten a second each.
    assert 1 <= len(seen) < 15 + 25 * duration


def test_a_flood_of_bad_states_alone_ends_with_the_last_command(rig):
    """There is no pause in which a watchdog without a thread could check."""
    with states_at(rig):
        rig.ros.until(lambda: rig.torques and rig.torques[-1].effort.any(), 'torques')
    with Repeat(rig.more_states, [state_bytes(['shoulder'] * 1000)], 2000.0):
        rig.ros.until(lambda: not rig.torques[-1].effort.any(), 'the last command')
        assert rig.gaps(-10).max() < SOON


def test_repeated_bad_states_give_few_lines_in_the_log(rig):
    bad = [
        joint_state(['wing'], [0.0]),
        joint_state(NAMES, [0.0]),
        joint_state(NAMES, [np.nan, 0.0]),
        joint_state(NAMES, [1e300, 0.0]),
        joint_state(NAMES, [100.0, 0.0]),
        joint_state(),
        joint_state([LONG] * 2, [0.0, 0.0]),
        *(joint_state([f'wing_{k}', 'elbow'], [np.nan, np.nan]) for k in range(100)),
    ]
    rig.ros.spin(0.5)
    lines = len(rig.process.output().splitlines())
    begin = time.monotonic()
    with Repeat(rig.more_states, bad, 1000.0, stamped=True) as flood:
        rig.ros.until(lambda: flood.sent > 1500, 'the flood')
    logged = rig.process.output().splitlines()[lines:]
    # Nine kinds of problems, each at most every 5 s: at once, and once more for each 5 s begun.
    assert len(logged) <= 9 * (2 + (time.monotonic() - begin) // 5.0)
    assert all(len(line) < 1500 for line in logged)
    assert not lines_of(rig.process, '()')
