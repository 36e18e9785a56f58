# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Timing as a result: latency and jitter, tolerated dead time, other rates."""

from dataclasses import replace
from fractions import Fraction
import json

import numpy as np
import pytest
from support.hil_pages import numbers_of, plots_of
from test_scenarios import scenario_of

from rbd_ros.cli.main import main
from rbd_ros.hil import Bench, Fault, FaultInjector, judge, read_scenario
from rbd_ros.hil.controllers import make_controller
from rbd_ros.hil.dead_time import delayed, find_dead_time
from rbd_ros.hil.rates import at_rates, read_rates, run_at_rates
from rbd_ros.hil.report.run_report import decimated_maxima, latency_numbers, page, series_of

SLOW = {'fault': 'latency', 'value': 0.003}


def run_of(scenario):
    return Bench(scenario).run(make_controller(scenario))


# -- latency --------------------------------------------------------------------------------------


def test_the_age_of_commands_is_the_delay_of_messages(tmp_path):
    run = run_of(read_scenario(scenario_of(tmp_path, faults=[SLOW])))
    age, age_jitter, real, real_jitter = series_of(run)
    assert np.allclose(age.values, 0.006) and np.allclose(age_jitter.values, 0.0)
    assert (age.scale, real.scale) == (1e3, 1e6)
    assert np.array_equal(real.values, run.answer_times)
    assert np.array_equal(real_jitter.values, np.abs(np.diff(run.answer_times)))
    assert len(age_jitter.values) == len(age.values) - 1


def test_percentiles_are_those_of_the_series_in_seconds(tmp_path):
    run = run_of(read_scenario(scenario_of(tmp_path)))
    times = np.arange(1.0, 1002.0)
    numbers = latency_numbers(replace(run, answer_times=times))
    assert numbers['state_to_command'] == pytest.approx(
        {'median': 501.0, 'p90': 901.0, 'p99': 991.0, 'p99.9': 1000.0, 'largest': 1001.0}
    )
    assert set(numbers['state_to_command_jitter'].values()) == {1.0}
    none = latency_numbers(replace(run, answer_times=np.zeros(0)))
    assert set(none['state_to_command'].values()) == {None}
    json.dumps(none, allow_nan=False)


def test_thinned_values_keep_the_largest():
    values = np.arange(10.0)
    assert list(decimated_maxima(values, 10)) == list(values)
    assert list(decimated_maxima(values, 4)) == [2.0, 5.0, 8.0, 9.0]


def test_a_report_has_the_percentiles_and_the_plots(tmp_path):
    main(['hil', str(scenario_of(tmp_path, faults=[SLOW])), '--report', str(tmp_path / 'r')])
    timing = json.loads((tmp_path / 'r' / 'result.json').read_text())['timing']
    assert timing['command_age']['median'] == pytest.approx(0.006)
    assert timing['state_to_command']['largest'] > 0.0
    text = (tmp_path / 'r' / 'report.html').read_text()
    for words in ('real time from state to command [us]', 'its change between cycles [us]'):
        assert f'<td>{words}</td>' in text
    assert 'for each cycle' in text and '<th>p99.9</th>' in text


def test_values_that_differ_by_rounding_alone_are_drawn(tmp_path):
    scenario = read_scenario(scenario_of(tmp_path))
    run = run_of(scenario)
    times = np.full(100, 0.123)
    times[::2] = np.nextafter(0.123, 1.0)
    even = replace(run, answer_times=times)
    titles = {
        each['x_label']: each for each in plots_of(page(scenario, even, judge(scenario, even)))
    }
    histogram = titles['real time from state to command [us]']
    counts = numbers_of(histogram['curves'][0]['values'], '<f4')
    assert counts.max() == counts.sum() == 100 and np.ptp(numbers_of(histogram['x'])) > 1e-3


# -- dead time ------------------------------------------------------------------------------------


def delays(faults, time):
    """Return the latency of states and of commands at a time."""
    injector = FaultInjector(['a'], np.array([0]))
    injector.plan(faults)
    injector.update(time)
    return tuple(injector.links[way].disturbance.latency for way in ('state', 'command'))


def test_dead_time_is_added_to_other_delays_of_commands():
    faults = (
        Fault('latency', 0.1, start_time=1.0, duration=1.0),
        Fault('latency', 0.2, channel='state', start_time=3.0, duration=1.0),
        Fault('latency', 0.3, channel='command', start_time=5.0, duration=1.0),
        Fault('drop', 0.5),
    )
    later = delayed(faults, 0.01)
    for time in (0.0, 1.5, 3.5, 5.5):
        states, commands = delays(faults, time)
        assert delays(later, time) == pytest.approx((states, commands + 0.01))
    assert Fault('drop', 0.5) in later
    assert delayed(faults, 0.0) == faults


class Counted:
    """A bench whose controller bears so many time steps of delay; counts the runs."""

    def __init__(self, scenario, bears):
        self.scenario, self.bears, self.tried = scenario, bears, []
        self.good, self.bad = run_of(scenario), None
        self.bad = replace(self.good, q=self.good.q + 1.0)

    def __call__(self, scenario):
        (late,) = {f.value for f in scenario.faults if f.channel == 'command'} or {0.0}
        steps = round(late / self.scenario.step)
        self.tried.append(steps)
        return self.good if steps <= self.bears else self.bad


@pytest.mark.parametrize('bears', [0, 1, 2, 3, 5, 8, 13, 100, 498])
def test_the_dead_time_is_found_to_a_time_step(tmp_path, bears):
    scenario = read_scenario(scenario_of(tmp_path))
    run = Counted(scenario, bears)
    reported = []
    found = find_dead_time(scenario, run, reported.append)
    assert found.tolerated == pytest.approx(bears * scenario.timestep)
    assert found.broken and found.resolution == scenario.timestep
    assert bears in run.tried and bears + 1 in run.tried
    assert len(set(run.tried)) == len(run.tried) == len(reported) <= 20
    tried = [each.dead_time for each in found.tries]
    assert tried == sorted(tried)
    kept = [each.dead_time for each in found.tries if each.verdict.passed]
    assert max(kept) == found.tolerated


def test_a_controller_that_tolerates_any_or_no_delay_is_reported(tmp_path):
    scenario = read_scenario(scenario_of(tmp_path))
    all_of_it = Counted(scenario, 10_000)
    found = find_dead_time(scenario, all_of_it)
    assert found.tolerated == scenario.duration and not found.broken
    assert max(all_of_it.tried) == scenario.steps
    found = find_dead_time(scenario, Counted(scenario, -1))
    assert found.tolerated is None and found.broken and len(found.tries) == 1


def test_the_command_finds_the_dead_time_that_a_delay_of_the_scenario_confirms(tmp_path, capsys):
    limits = {'tracking_error': 0.06}
    options = {'stiffness': 200.0}
    controller = {'python': 'controllers.py:hold', 'options': options}
    path = scenario_of(tmp_path, limits=limits, controller=controller)
    folder = tmp_path / 'r'
    assert main(['hil', str(path), '--dead-time', '--report', str(folder)]) == 0
    numbers = json.loads((folder / 'dead_time.json').read_text())
    found = numbers['dead_time']
    assert 0.0 < found < 0.1 and numbers['resolution'] == 0.001 and numbers['limit_found']
    captured = capsys.readouterr()
    assert (
        f'tolerates an additional dead time of {1e3 * found:g} ms (resolution 1 ms)'
        in captured.out
    )
    assert 'beyond: tracking error' in captured.out and 'limits not kept' in captured.err
    text = (folder / 'dead_time.html').read_text()
    assert len(plots_of(text)) == 1 and text.count('<tr>') == 1 + len(numbers['tries'])
    for late, kept in ((found, True), (found + 0.001, False)):
        faults = [{'fault': 'latency', 'value': round(late, 6), 'channel': 'command'}]
        scenario = read_scenario(
            scenario_of(tmp_path, limits=limits, controller=controller, faults=faults)
        )
        assert judge(scenario, run_of(scenario)).passed is kept


def test_a_controller_that_fails_without_dead_time_fails_the_command(tmp_path, capsys):
    path = scenario_of(tmp_path, limits={'tracking_error': 1e-9})
    assert main(['hil', str(path), '--dead-time', '--report', str(tmp_path / 'r')]) == 1
    assert 'even without' in capsys.readouterr().out
    assert json.loads((tmp_path / 'r' / 'dead_time.json').read_text())['dead_time'] is None
    path = scenario_of(tmp_path, controller={'python': 'controllers.py:raises'})
    assert main(['hil', str(path), '--dead-time', '--report', str(tmp_path / 'r')]) == 1
    assert 'beyond: the controller raised RuntimeError' in capsys.readouterr().out


# -- rates ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('text', 'found'),
    [('0.5,1,2', ['1/2', '1', '2']), (' 2 , 1/3,2', ['1/3', '2']), ('1e1', ['10'])],
)
def test_rates_are_read_in_order_and_once(text, found):
    assert [str(each) for each in read_rates(text)] == found


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('', 'not a rate'),
        ('1,fast', "'fast' is not a rate"),
        ('1/0', 'not a rate'),
        ('0', 'from 0.01 to 100'),
        ('-1', 'from 0.01 to 100'),
        ('nan', 'not a rate'),
        ('101', 'from 0.01 to 100'),
        (','.join(map(str, range(1, 14))), '13 values'),
    ],
)
def test_wrong_rates_are_rejected(text, words):
    with pytest.raises(ValueError, match=f'--rates.*{words}'):
        read_rates(text)


def test_rates_have_one_time_step_that_goes_into_all_periods(tmp_path):
    scenario = read_scenario(scenario_of(tmp_path, timestep=0.003))
    rates = [Fraction(1, 2), Fraction(2, 3), Fraction(1), Fraction(3)]
    changed = [each for _, each in at_rates(scenario, rates)]
    assert [each.timestep for each in changed] == pytest.approx([0.006, 0.0045, 0.003, 0.001])
    assert {each.step for each in changed} == {0.0005}
    assert [each.substeps for each in changed] == [12, 9, 6, 2]
    assert {each.steps for each in changed} == {1000}
    for bad in (Fraction(7), Fraction(11, 13), Fraction(2)):
        with pytest.raises(ValueError, match='no timestep of whole'):
            at_rates(replace(scenario, timestep=1e-6), [bad])


def test_a_controller_at_another_rate_is_called_so_often_and_holds_between(tmp_path):
    scenario = read_scenario(scenario_of(tmp_path))
    results = run_at_rates(
        scenario,
        [Fraction(1, 2), Fraction(1), Fraction(2)],
        lambda each, folder: run_of(each),
        tmp_path / 'r',
    )
    assert [len(each.run.answer_times) for each in results] == [250, 500, 1000]
    assert {len(each.run.time) for each in results} == {1000}
    for each, held in zip(results, (4, 2, 1)):
        torque = each.run.torque.reshape(-1, held, 2)
        assert np.array_equal(torque, np.repeat(torque[:, :1], held, axis=1))
        assert len(np.unique(torque[:, 0, 0])) > 200
        assert np.isclose(np.nanmax(each.run.delay), (held - 1) * 0.0005)
    # The faster, the nearer to the desired motion, or nearly so; and never the same.
    assert len({each.run.digest for each in results}) == 3


def test_the_same_rate_is_the_same_run_bitwise(tmp_path):
    scenario = read_scenario(scenario_of(tmp_path, faults=[SLOW]))
    [(_, same)] = at_rates(scenario, [Fraction(1)])
    assert (same.timestep, same.substeps) == (scenario.timestep, 1)
    assert run_of(same).digest == run_of(scenario).digest


def test_the_factory_of_a_controller_gets_the_period_of_the_rate(tmp_path):
    scenario = read_scenario(scenario_of(tmp_path))
    (tmp_path / 'controllers.py').write_text(
        'def hold(robot, trajectory, timestep):\n'
        '    return lambda time, q, v: [timestep, time % timestep < 1e-9]\n'
    )
    [(_, half)] = at_rates(scenario, [Fraction(1, 2)])
    run = run_of(half)
    assert (half.timestep, half.substeps, half.step) == (0.002, 2, 0.001)
    assert np.all(run.torque[:, 0] == 0.002)


@pytest.mark.slow
def test_the_command_compares_rates(tmp_path, capsys):
    path, folder = scenario_of(tmp_path), tmp_path / 'r'
    words = ['hil', str(path), '--rates', '0.5,1,2', '--report', str(folder)]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert '3 of 3 rates kept all limits' in out and 'rate 0.5 (500 Hz)' in out
    numbers = json.loads((folder / 'rates.json').read_text())
    assert [each['rate'] for each in numbers] == [0.5, 1.0, 2.0]
    assert [each['period'] for each in numbers] == [0.002, 0.001, 0.0005]
    assert all(each['passed'] and each['timing'] for each in numbers)
    text = (folder / 'rates.html').read_text()
    errors, torques = plots_of(text)
    assert [each['name'] for each in errors['curves']] == [
        '0.5 (500 Hz)',
        '1 (1000 Hz)',
        '2 (2000 Hz)',
    ]
    assert torques['y_label'] == 'torque / limit'
    for name in ('rate_0.5', 'rate_1', 'rate_2'):
        assert (folder / name / 'junit.xml').is_file() and f'href="{name}/report.html"' in text
    path = scenario_of(tmp_path, limits={'tracking_error': 1e-9})
    assert main(words) == 1 and '0 of 3 rates' in capsys.readouterr().out


@pytest.mark.parametrize(
    ('words', 'text'),
    [
        (['--dead-time', '--rates', '1'], '--dead-time and --rates cannot be combined'),
        (['--dead-time', '--seeds', '3'], '--dead-time and a campaign'),
        (['--rates', '1', '--replay', '3'], '--rates and a campaign'),
        (['--rates', 'x'], 'is not a rate'),
    ],
)
def test_contradictory_options_are_reported(tmp_path, capsys, words, text):
    path = scenario_of(tmp_path)
    assert main(['hil', str(path), '--report', str(tmp_path / 'r'), *words]) == 1
    assert text in capsys.readouterr().err


def test_timing_of_a_scenario_without_limits_is_rejected(tmp_path, capsys):
    path = scenario_of(tmp_path, limits=None)
    for words in (['--dead-time'], ['--rates', '1']):
        assert main(['hil', str(path), '--report', str(tmp_path / 'r'), *words]) == 1
        assert 'add some under limits:' in capsys.readouterr().err
    blocked = tmp_path / 'file'
    blocked.write_text('')
    path = scenario_of(tmp_path)
    for words in (['--dead-time'], ['--rates', '1']):
        assert main(['hil', str(path), '--report', str(blocked / 'r'), *words]) == 1
        assert 'cannot be written' in capsys.readouterr().err
