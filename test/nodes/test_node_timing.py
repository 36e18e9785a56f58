# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Timing on /diagnostics: measurements, and levels by thresholds that change at run time."""

import pytest
from support import outside

outside.load('rclpy')

from node_harness import Feed, joint_state, TWO_LINK_ARM
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool

from rbd_ros.nodes.common.cycle_timer import Statistics
from rbd_ros.nodes.common.diagnostics import ERROR, OK, WARN
from rbd_ros.nodes.common.timing_report import judged, microseconds, rates
from rbd_ros.nodes.common.timing_thresholds import threshold_parameters

TORQUE, SIMULATOR = '/gravity_compensation', '/simulator'
KEYS = ('average', 'standard_deviation', 'min', 'max')
MEAN_RATE = 'diagnostics.threshold.periodicity.mean_error.'
MEAN_TIME = 'diagnostics.threshold.execution_time.mean_error.'
#: Longer than a busy machine keeps states from being answered [s].
SILENCE = 10.0
DEVIATION = 'diagnostics.threshold.periodicity.standard_deviation.'


@pytest.fixture(scope='module')
def domain(ros):
    """Return a domain with both nodes; the simulator's states are not those of the torque node."""
    description = {'robot_description': TWO_LINK_ARM}
    ros.start('gravity_compensation', description, ['-r', 'joint_states:=measured'])
    ros.start('simulator', {**description, 'timestep': 0.004})
    publisher = ros.publisher(JointState, 'measured')
    with Feed(publisher, joint_state(position=(0.3, -1.1)), rate=200.0) as ros.feed:
        yield ros


def newest(ros, node, good):
    """Return the first status from now on whose values, as numbers, are as they should be."""
    since = ros.mark()

    def found():
        for status in ros.diagnostics[since:]:
            values = {pair.key: float(pair.value) for pair in status.values}
            if status.name == f'{node[1:]}: timing' and 'periodicity.max' in values:
                if good(status, values):
                    return status, values
        return None

    return ros.until(found, f'timing of {node}')


def of_several(status, values):
    """Return whether it is about more than one answer: a busy machine may have given but one."""
    return all(
        values[f'{subject}.min'] < values[f'{subject}.max']
        for subject in ('periodicity', 'execution_time')
    )


def test_rate_and_execution_time_of_answers_are_reported(domain):
    # A period of 5 ms is slept, at least; states that waited for a busy machine come at once.
    def of_steady_states(status, values):
        rate, duration = values['periodicity.average'], 1e-6 * values['execution_time.average']
        return of_several(status, values) and rate < 210.0 and duration < 1.0 / rate

    _, values = newest(domain, TORQUE, of_steady_states)
    assert set(values) == {
        'update_rate',
        'overruns',
        *(f'{subject}.{key}' for subject in ('periodicity', 'execution_time') for key in KEYS),
    }
    for subject in ('periodicity', 'execution_time'):
        low, mean, high = (values[f'{subject}.{key}'] for key in ('min', 'average', 'max'))
        assert 0.0 < low < mean < high
        assert 0.0 < values[f'{subject}.standard_deviation']
    assert values['update_rate'] == values['overruns'] == 0.0


def test_a_rate_that_is_not_the_expected_one_is_an_error_until_it_is_expected(domain):
    domain.set_parameter(TORQUE, 'update_rate', 1000.0)
    status, values = newest(domain, TORQUE, lambda s, _: s.level == ERROR)
    assert 'periodicity.average: ' in status.message and 'instead of 1000 Hz' in status.message
    assert 'mean_error.error of 10 Hz' in status.message
    assert values['update_rate'] == 1000.0
    domain.set_parameters(
        TORQUE, **{f'{MEAN_RATE}error': 0.0, f'{MEAN_TIME}error': 0.0, f'{MEAN_TIME}warn': 0.0}
    )
    status, _ = newest(domain, TORQUE, lambda s, _: s.level == WARN)
    assert 'mean_error.warn of 5 Hz' in status.message
    domain.set_parameter(TORQUE, f'{MEAN_RATE}warn', 0.0)
    newest(domain, TORQUE, lambda s, _: s.level == OK and 'within' in s.message)
    domain.set_parameter(TORQUE, f'{DEVIATION}warn', 1e-6)
    status, _ = newest(domain, TORQUE, lambda s, _: s.level == WARN)
    assert 'periodicity.standard_deviation: ' in status.message
    domain.set_parameter(TORQUE, f'{DEVIATION}warn', 0.0)
    domain.set_parameter(TORQUE, 'update_rate', 0.0)


def test_answers_that_take_longer_than_a_period_are_overruns(domain):
    domain.set_parameter(TORQUE, 'update_rate', 1e6)  # a microsecond, in which none is done
    newest(domain, TORQUE, lambda _, v: v['overruns'] > 10.0)
    domain.set_parameter(TORQUE, 'update_rate', 0.0)


def test_silence_is_not_a_period(domain):
    newest(domain, TORQUE, lambda _, v: v['periodicity.min'] > 0.0)
    since, message = domain.mark(), domain.feed.message
    domain.feed.message = None
    newest(domain, TORQUE, lambda s, _: 'no data yet' in s.message)
    domain.spin(SILENCE)
    domain.feed.message = message
    newest(domain, TORQUE, lambda _, v: v['periodicity.average'] > 1.0)
    for status in domain.diagnostics[since:]:
        values = {pair.key: float(pair.value) for pair in status.values if 'period' in pair.key}
        if status.name.endswith('gravity_compensation: timing') and values:
            assert values['periodicity.min'] == 0.0 or values['periodicity.min'] > 1.0 / SILENCE


def test_execution_time_has_thresholds(domain):
    domain.set_parameter(TORQUE, f'{MEAN_TIME}warn', 1e-3)
    status, values = newest(domain, TORQUE, lambda s, _: s.level == WARN)
    assert 'execution_time.average: ' in status.message
    assert values['execution_time.average'] > 1e-3
    domain.set_parameter(TORQUE, f'{MEAN_TIME}warn', 0.0)


def test_a_warning_above_the_error_is_rejected(domain):
    for node in (TORQUE, SIMULATOR):
        result = domain.set_parameters(node, **{f'{DEVIATION}error': 1.0})[0]
        assert result.successful
        result = domain.set_parameters(node, **{f'{DEVIATION}warn': 2.0})[0]
        assert not result.successful and 'must not be above' in result.reason
        domain.set_parameter(node, f'{DEVIATION}error', 0.0)


def test_the_simulator_has_its_rate(domain):
    status, values = newest(domain, SIMULATOR, lambda _, v: v['update_rate'] > 0.0)
    assert status.level == OK
    assert values['update_rate'] == pytest.approx(250.0)
    assert values['execution_time.average'] > 0.0
    domain.set_parameter(SIMULATOR, 'real_time_factor', 2.0)
    newest(domain, SIMULATOR, lambda _, v: v['update_rate'] == 500.0)
    domain.set_parameter(SIMULATOR, 'real_time_factor', 1.0)


def test_the_simulator_is_judged_by_its_thresholds(domain):
    domain.set_parameter(SIMULATOR, f'{DEVIATION}error', 1e-6)
    newest(domain, SIMULATOR, lambda s, _: s.level == ERROR)
    domain.set_parameter(SIMULATOR, f'{DEVIATION}error', 0.0)
    newest(domain, SIMULATOR, lambda s, _: s.level == OK)


def test_a_paused_simulator_has_no_rate(domain):
    domain.call(SetBool, '/simulator/pause', SetBool.Request(data=True))
    status, values = newest(domain, SIMULATOR, lambda s, _: 'no data yet' in s.message)
    assert status.level == OK
    assert values['update_rate'] == values['periodicity.average'] == 0.0
    domain.spin(SILENCE)
    since = domain.mark()
    domain.call(SetBool, '/simulator/pause', SetBool.Request(data=False))
    newest(domain, SIMULATOR, lambda _, v: v['update_rate'] > 0.0)
    for status in domain.diagnostics[since:]:
        values = {pair.key: float(pair.value) for pair in status.values if 'period' in pair.key}
        if status.name == 'simulator: timing' and values:
            assert values['periodicity.min'] == 0.0 or values['periodicity.min'] > 1.0 / SILENCE


def test_rates_are_cycles_in_a_time():
    found = rates(Statistics(4, 0.002, 0.0001, 0.001, 0.004))
    assert found == pytest.approx(
        {'average': 500.0, 'standard_deviation': 25.0, 'min': 250.0, 'max': 1000.0}
    )
    assert set(rates(Statistics(0, 0.0, 0.0, 0.0, 0.0)).values()) == {0.0}


def test_only_values_beyond_their_threshold_are_reported_and_the_error_first():
    period, execution = Statistics(9, 0.002, 1e-4, 1e-3, 4e-3), Statistics(9, 1e-4, 1e-5, 0, 1e-3)
    found = {'periodicity': rates(period), 'execution_time': microseconds(execution)}
    values = {p.name: p.default for p in threshold_parameters((5.0, 10.0), (100.0, 200.0))}
    assert judged(found, 500.0, 9, values) == []  # 100 us are not beyond 100 us
    assert [level for level, _ in judged(found, 506.0, 9, values)] == [WARN]
    assert [level for level, _ in judged(found, 489.0, 9, values)] == [ERROR]
    assert judged(found, 489.0, 1, values) == []  # one period is no rate
    assert judged(found, 0.0, 9, values) == []
    values['diagnostics.threshold.execution_time.standard_deviation.error'] = 9.0
    [(level, text)] = judged(found, 0.0, 9, values)
    assert level == ERROR and text.startswith('execution_time.standard_deviation: 10 us, above')
