# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Torque nodes under hostile input, over DDS: only valid torques are published.

Parameters are applied or rejected together, no message or request stops torques, and the last
command always follows.
"""

import math

import numpy as np
import pytest
from support import outside

outside.load('rclpy')

from rcl_interfaces.msg import Parameter
from safety_harness import (
    FRICTION_ARM,
    parameter_value,
    POSE,
    torque_of,
    TorqueRig,
)

from rbd_ros import Robot
from rbd_ros.control import LawSettings, payload_parameters, TorqueLaw
from rbd_ros.nodes import gravity_compensation, inverse_dynamics

VISCOUS, COULOMB = (0.3, 0.3), (0.5, 0.5)
NODES = {
    'gravity_compensation': gravity_compensation,
    'inverse_dynamics': inverse_dynamics,
}
WORDS = {'payload_link': ('', 'base', 'upper', 'lower', 'tool')}


@pytest.fixture(scope='module')
def gravity(ros):
    return TorqueRig(
        ros,
        'gravity_compensation',
        '/gravity',
        {'robot_description': FRICTION_ARM, 'state_timeout': 0.0, 'payload_transition_time': 0.0},
    )


@pytest.fixture(scope='module')
def inverse(ros):
    return TorqueRig(
        ros,
        'inverse_dynamics',
        '/inverse',
        {'robot_description': FRICTION_ARM, 'state_timeout': 0.0},
    )


@pytest.fixture(params=['gravity', 'inverse'])
def rig(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(autouse=True)
def nothing_unsafe(request):
    rigs = [request.getfixturevalue(n) for n in ('gravity', 'inverse', 'rig')
            if n in request.fixturenames]  # fmt: skip
    yield
    for rig in rigs:
        assert rig.process.alive()
        assert rig.all_safe()
        assert 'Traceback' not in rig.process.output()


# -- parameters: reported values are effective
# -----------------------------------------------------


def declared(rig):
    module = NODES[rig.name.rpartition('/')[2]]
    return {p.name: p for p in module.INTERFACE.parameters if p.live}


def all_of(rig):
    module = NODES[rig.name.rpartition('/')[2]]
    return [p.name for p in module.INTERFACE.parameters]


def owed_by_inverse_dynamics(values, held):
    """Return the law of inverse_dynamics for the parameters that it reports.

    Holding position `held`.
    """
    robot = Robot.from_urdf(FRICTION_ARM)
    link = values['payload_link']
    payload = payload_parameters(
        values['payload_mass'], values['payload_center_of_mass'], values['payload_inertia']
    )
    limits = robot.effort_limits
    if values['effort_limits']:
        limits = np.minimum(limits, np.broadcast_to(values['effort_limits'], (2,)))
    settings = LawSettings.for_robot(
        robot,
        gravity=values['gravity'],
        payload=payload if link else None,
        effort_limits=limits,
        transition_velocity=values['coulomb_smoothing_velocity'] or None,
        **inverse_dynamics.law_options(robot, values),
    )
    law = TorqueLaw(robot, settings, payload_link=link or None)

    def torque(q, v):
        law.reset()
        requested = law(np.array(q), np.array(v), np.array(held))
        return np.clip(requested, -limits, limits)

    return torque, not settings.ki.any()


def check_torque(rig, rng, held=POSE):
    """Check that the torque is that of a law made from what the node reports."""
    values = rig.parameters(all_of(rig))
    v = rng.uniform(-1.0, 1.0, 2)
    if rig.name.endswith('gravity_compensation'):
        q = rng.uniform(-2.5, 2.5, 2)
        owed = torque_of(values, q, v, VISCOUS, COULOMB)
        assert rig.answer(q, v) == pytest.approx(owed, rel=1e-9, abs=1e-9), values
        return values
    torque, without_integral = owed_by_inverse_dynamics(values, held)
    # An integral grows with the error: with one, only states without are the same every time.
    q = held + rng.uniform(-0.1, 0.1, 2) * without_integral
    assert rig.answer(q, v) == pytest.approx(torque(q, v), rel=1e-9, abs=1e-9), values
    return values


def legal_value(rng, parameter):
    if parameter.name in WORDS:
        return str(rng.choice(WORDS[parameter.name]))
    if parameter.choices:
        return str(rng.choice(parameter.choices))
    if parameter.scalar is bool:
        return bool(rng.integers(2))
    if parameter.name == 'payload_inertia':
        a, b, c = rng.uniform(0.0, 1.0, 3)
        return [b + c, 0.0, 0.0, a + c, 0.0, a + b]
    low = -10.0 if (parameter.minimum or 0.0) < 0.0 else 0.01
    if not parameter.is_list:
        return float(rng.uniform(low, 10.0))
    length = parameter.length or int(rng.choice([0, 1, 2]))
    return [float(x) for x in rng.uniform(low, 10.0, length)]


def extreme_value(rng, parameter):
    """Return a value at the limits of the legal range, or just beyond."""
    if parameter.scalar is not float:
        return legal_value(rng, parameter)
    ends = [
        e
        for bound in (parameter.minimum, parameter.maximum)
        if bound is not None
        for e in (bound, math.nextafter(bound, math.inf), math.nextafter(bound, -math.inf))
    ]
    ends += [0.0, -0.0, 5e-324, 1e-300, 1e100, 1e200, 1.7e308]
    if not parameter.is_list:
        return float(rng.choice(ends))
    length = parameter.length or int(rng.choice([1, 2]))
    return [float(rng.choice(ends)) for _ in range(length)]


def illegal_value(rng, parameter):
    values = [math.nan, math.inf, -math.inf, 'word', True, 2**62, -1.0, None]
    values += [['a', 'b'], 'x' * 5000, [math.nan], [1.0] * 5, [1.0] * 1000, [], [math.inf, 0.0]]
    return values[rng.integers(len(values))]


@pytest.mark.parametrize('seed', [1, 2])
def test_the_torque_is_that_of_the_reported_parameters_after_any_sequence_of_sets(rig, seed):
    rng = np.random.default_rng(seed)
    remembering = (
        'torque_rate_limit',
        'payload_transition_time',
        'mode',
    )  # the torque depends on the past
    parameters = {n: p for n, p in declared(rig).items() if n not in remembering}
    rig.answer(POSE)
    makers = (legal_value, extreme_value, illegal_value)
    accepted = rejected = 0
    for _ in range(40):
        names = rng.choice(list(parameters), rng.integers(1, 5), replace=False)
        asked = {
            str(name): makers[rng.choice(3, p=(0.6, 0.25, 0.15))](rng, parameters[name])
            for name in names
        }
        before = rig.parameters(all_of(rig))
        atomically = bool(rng.integers(2))
        results = rig.set(atomically, **asked)
        results = [results] * len(asked) if atomically else results
        expected = dict(before)
        for (name, value), result in zip(asked.items(), results):
            if result.successful:
                accepted += 1
                expected[name] = list(value) if isinstance(value, (list, tuple)) else value
            else:
                rejected += 1
                assert result.reason and len(result.reason) <= 1000
        after = check_torque(rig, rng)
        assert {n: after[n] for n in parameters} == {n: expected[n] for n in parameters}
    assert accepted > 20 and rejected > 10  # otherwise little was tried


@pytest.fixture
def defaults(rig):
    """Have a rig as it was started, and leave it so."""
    values = {n: p.default for n, p in declared(rig).items() if n != 'payload_transition_time'}

    def restore():
        result = rig.set(True, **values)
        assert result.successful, result.reason

    restore()
    yield
    restore()


def test_a_limit_is_applied_after_a_payload_beyond_all_bounds(rig, defaults):
    rig.must_set(payload_link='tool', payload_mass=1.0)
    result = rig.set(payload_center_of_mass=[1e200, 0.0, 0.0])[0]
    assert not result.successful and 'payload_center_of_mass' in result.reason
    rig.must_set(effort_limits=[1.0])
    assert np.abs(rig.answer((0.0, 0.0))).max() == 1.0


@pytest.mark.parametrize(
    'bad',
    [
        {'payload_mass': -1.0},
        {'payload_center_of_mass': [0.0, math.nan, 0.0]},
        {'effort_limits': [1.0, 2.0, 3.0]},
        {'timeout_command': 'fly'},
        {'state_timeout': 1.0},
        {'payload_link': 'no such link'},
        {'payload_inertia': [1.0, 0.0, 0.0, 1.0, 0.0, 5.0]},
        {'gravity': None},
        {'no_such_parameter': 1.0},
        {'use_sim_time': 'yes'},
    ],
    ids=lambda bad: next(iter(bad)),
)
@pytest.mark.parametrize('last', [False, True])
def test_one_bad_parameter_rejects_all_that_are_set_with_it(rig, bad, last):
    before = rig.parameters(all_of(rig))
    good = {'effort_limits': [2.5], 'payload_link': 'lower', 'gravity': [0.0, 0.0, -1.0]}
    good = {name: value for name, value in good.items() if name not in bad}
    asked = {**good, **bad} if last else {**bad, **good}
    result = rig.set(True, **asked)
    assert not result.successful and result.reason
    assert rig.parameters(all_of(rig)) == before
    check_torque(rig, np.random.default_rng(0))


def test_the_last_of_two_values_of_one_request_counts(rig, defaults):
    twice = [
        Parameter(name='effort_limits', value=parameter_value([value])) for value in (3.0, 1.5)
    ]
    assert rig.request(twice, atomically=True).successful
    assert rig.parameters(['effort_limits']) == {'effort_limits': [1.5]}
    assert np.abs(rig.answer((0.0, 0.0))).max() == 1.5


@pytest.mark.parametrize(
    'name, value, words',
    [
        ('payload_mass', -1.0, ['negative']),
        ('payload_mass', 1e300, ['payload_mass', 'at most 100000']),
        (
            'payload_center_of_mass',
            [0.0, 0.0, 1e300],
            ['payload_center_of_mass[2]', 'at most 100'],
        ),
        ('gravity', [0.0, 0.0, 1e300], ['gravity[2]', 'at most 1000']),
        ('effort_limits', [-1.0], ['negative']),
        ('torque_rate_limit', -1.0, ['negative']),
        ('torque_rate_limit', math.nan, ['finite']),
    ],
)
def test_a_rejection_names_the_legal_values(rig, name, value, words):
    reason = rig.set(**{name: value})[0].reason
    assert all(word in reason for word in words), reason


@pytest.mark.parametrize('name', ['gravity', 'joints', 'robot_description', 'use_sim_time'])
def test_no_parameter_can_be_deleted(rig, name):
    before = rig.parameters([name])
    assert not rig.set(**{name: None})[0].successful
    assert not rig.set(True, **{name: None}).successful
    assert rig.parameters([name]) == before
