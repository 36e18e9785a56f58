# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Torque nodes with invalid requests: they stay, and respond to the next valid one."""

import math

import pytest
from support import outside

outside.load('rclpy')

from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    GetParameterTypes,
    ListParameters,
)
from rosgraph_msgs.msg import Clock
from safety_harness import lines_of, parameter_value, Repeat, states_at, TorqueRig
from std_msgs.msg import String

LONG = 'x' * 10_000
ABSURD_NAMES = [
    [''],
    [LONG],
    ['a..b', '.', '\n', '\x1b[2J', '🦾', 'use_sim_time.', 'gravity/../gravity'],
    ['gravity'] * 10_000,
    [f'p{k}' for k in range(10_000)],
]


@pytest.fixture(scope='module', params=['gravity_compensation', 'inverse_dynamics'])
def rig(request, ros):
    rig = TorqueRig(ros, request.param, f'/{request.param[0]}', {'use_sim_time': True})
    rig.clock = rig.publisher(Clock, 'clock')
    return rig


@pytest.fixture(autouse=True)
def goes_on(rig):
    """Check that the node lives, answers requests, and answers states."""
    yield
    assert rig.process.alive()
    rig.must_set(payload_mass=0.0)
    assert rig.parameters(['payload_mass']) == {'payload_mass': 0.0}
    rig.answer()
    assert rig.all_safe()
    assert 'Traceback' not in rig.process.output()


def send(rig, kind, verb, request, count=1):
    """Send a request without demanding an answer: rclpy itself may have none to it."""
    client = rig.ros.client(kind, f'{rig.name}/{verb}')
    for _ in range(count):
        client.call_async(request)
    rig.ros.spin(0.1)


@pytest.mark.parametrize('atomically', [False, True])
@pytest.mark.parametrize('number', [10, 99, 255])
def test_parameters_of_types_that_do_not_exist_are_rejected(rig, number, atomically):
    wrong = Parameter(name='payload_mass', value=ParameterValue(type=number))
    for _ in range(30):
        results = rig.request([wrong], atomically)
        result = results if atomically else results[0]
        assert not result.successful and str(number) in result.reason


@pytest.mark.parametrize('stamp', [(-1, 0), (-(2**31), 0), (2**31 - 1, 2**32 - 1), (0, 2**32 - 1)])
def test_times_on_the_clock_that_cannot_be_are_survived(rig, stamp):
    message = Clock()
    message.clock.sec, message.clock.nanosec = stamp
    for _ in range(25):
        rig.clock.publish(message)
        rig.ros.spin(0.01)


def test_after_a_time_beyond_all_bounds_the_last_command_still_comes(rig):
    """The time of the message with the last command is that of the clock, which does not fit."""
    message = Clock()
    message.clock.sec, message.clock.nanosec = 2**31 - 1, 2**32 - 1
    rig.answer()
    with Repeat(rig.clock, [message], 20.0):
        count = len(rig.torques)
        with states_at(rig):
            rig.ros.until(lambda: len(rig.torques) > count + 20, 'torques')
        rig.ros.until(lambda: not rig.torques[-1].effort.any(), 'the last command')
        rig.must_set(payload_link='tool', payload_mass=0.1)
        assert rig.parameters(['payload_mass']) == {'payload_mass': 0.1}
        since = rig.ros.mark()
        rig.ros.until_status('last torque sent', since=since)


@pytest.mark.parametrize(
    'kind, verb',
    [
        (DescribeParameters, 'describe_parameters'),
        (GetParameters, 'get_parameters'),
        (GetParameterTypes, 'get_parameter_types'),
    ],
    ids=['describe', 'get', 'types'],
)
def test_extreme_names_of_parameters_do_no_harm(rig, kind, verb):
    for names in ABSURD_NAMES:
        send(rig, kind, verb, kind.Request(names=names), 3)


@pytest.mark.parametrize('depth', [0, 1, 2**63])
def test_extreme_prefixes_of_parameters_do_no_harm(rig, depth):
    for prefixes in ([], *ABSURD_NAMES):
        request = ListParameters.Request(prefixes=prefixes, depth=depth)
        send(rig, ListParameters, 'list_parameters', request, 2)


@pytest.mark.parametrize('atomically', [False, True])
@pytest.mark.parametrize(
    'name, value',
    [
        ('effort_limits', [math.nan] * 100_000),
        ('effort_limits', [1.0] * 100_000),
        ('payload_link', 'x' * 1_000_000),
        ('robot_description', '<robot' * 800_000),
        ('robot_description', None),
        ('joints', ['x' * 100] * 10_000),
        ('feedforward', LONG),
        (LONG, 1.0),
        ('', 1.0),
        ('qos_overrides./joint_states.subscription.depth', 1),
        ('payload_mass', math.nan),
        ('payload_mass', -math.inf),
    ],
    ids=lambda x: repr(x)[:14],
)
def test_extreme_values_of_parameters_are_rejected_in_a_short_message(
    rig, name, value, atomically
):
    results = rig.request([Parameter(name=name, value=parameter_value(value))], atomically)
    result = results if atomically else results[0]
    assert not result.successful
    # rclpy itself reports an undeclared name, unchanged.
    assert len(result.reason) < 1000 or name == LONG


@pytest.mark.parametrize('atomically', [False, True])
def test_many_parameters_in_one_request_are_answered_while_torques_continue(rig, atomically):
    # One by one, each is prepared for itself.
    masses = [0.1 + 1e-5 * k for k in range(10_000 if atomically else 500)]
    parameters = [Parameter(name='payload_link', value=parameter_value('tool'))] + [
        Parameter(name='payload_mass', value=parameter_value(m)) for m in masses
    ]
    with states_at(rig):
        count = len(rig.torques)
        rig.ros.until(lambda: len(rig.torques) > count + 20, 'torques')
        count = len(rig.torques)
        rig.request(parameters, atomically)
        rig.ros.until(lambda: len(rig.torques) > count + 20, 'torques')
    assert rig.parameters(['payload_mass']) == {'payload_mass': masses[-1]}
    rig.must_set(payload_mass=0.0, payload_link='')


def test_the_log_of_all_that_is_short(rig):
    """Last of the module: the messages about requests, without endless names."""
    assert lines_of(rig.process, 'could not be processed')
    assert max(map(len, rig.process.output().splitlines())) < 2500
    assert len(rig.process.output().splitlines()) < 200


def test_garbage_for_a_robot_description_is_rejected_and_the_next_good_one_taken(rig, ros):
    from node_harness import reliable, TWO_LINK_ARM

    # Named after the module: what the run before this one has published stays for late joiners.
    namespace = f'/topic_{rig.name.rpartition("/")[2]}'
    rig = TorqueRig(ros, 'inverse_dynamics', namespace, {'robot_description': ''}, wait=False)
    topic = f'{namespace}/robot_description'
    descriptions = ros.publisher(String, topic, reliable(1, transient_local=True))
    for text in (
        'x' * 5_000_000,
        '<robot ' + 'x' * 5_000_000,
        '<robot name="r">' * 100_000,
        '<robot name="' + LONG + '"><link name="' + LONG + '"/></robot>',
        '',
    ):
        since = ros.mark()
        descriptions.publish(String(data=text))
        status = ros.until_status('cannot be used', 'robot_description', since=since)
        assert len(status.message) <= 1200
    descriptions.publish(String(data=TWO_LINK_ARM))
    rig.answer()
