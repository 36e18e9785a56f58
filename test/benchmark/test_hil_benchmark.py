# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""HIL benchmark: goals, and short runs of its parts."""

import json

import numpy as np
import pytest
from support.hil_benchmark import campaigns, figure, hil, lockstep, soak

from rbd_ros.hil.faults.disturbances import MessageLink

FACTS = {
    'machine': {'cpu': 'a processor', 'cores': 2, 'system': 'Linux'},
    'versions': {'python': '3.11', 'numpy': '2.0'},
    'middleware': 'some',
}


def nothing(done, of):
    """Take no notice of progress."""


@pytest.mark.parametrize(
    ('made', 'verdict'),
    [
        (figure.at_least('p', 'rate', 4000.0, 4000.0), 'PASS'),
        (figure.at_least('p', 'rate', 3999.0, 4000.0), 'BELOW'),
        (figure.at_most('p', 'growth', 1.0, 1.0), 'PASS'),
        (figure.at_most('p', 'growth', 1.01, 1.0), 'BELOW'),
        (figure.reported('p', 'delay', 3.0), ''),
    ],
)
def test_a_figure_may_be_as_large_or_small_as_its_goal(made, verdict):
    assert made.verdict == verdict
    assert figure.cells(made)[-1] == verdict


def test_the_table_counts_figures_with_a_goal():
    figures = [
        figure.at_least('p', 'a', 2.5, 2.0),
        figure.at_most('p', 'b', 3.0, 2.0),
        figure.reported('p', 'c', 7.0),
    ]
    *_, last = figure.report(FACTS, figures)
    assert last == '1 of 2 goals are reached, 1 are not'
    lines = list(figure.markdown(FACTS, figures))
    assert lines[0] == 'Measured on a processor, 2 cores, Linux, Python 3.11, NumPy 2.0, some.'
    assert lines[-1] == '| p | c | 7 |  |  |' and lines[-3].endswith('| at least 2 | PASS |')


def test_the_slower_run_counts_and_states_must_be_the_same():
    delays = np.full(10, 1e-4)
    runs = lockstep.Run(5000.0, delays, 'x'), lockstep.Run(3000.0, 3.0 * delays, 'x')
    rate, faster, same, median, *_ = lockstep.figures(100, runs)
    assert (rate.value, rate.verdict, faster.value) == (3000.0, 'BELOW', 5000.0)
    assert same.verdict == 'PASS' and median.value == pytest.approx(200.0)
    other = runs[0], runs[1]._replace(digest='y')
    assert lockstep.figures(100, other)[2].verdict == 'BELOW'


def by_name(figures):
    return {each.what.split(',')[0]: each for each in figures}


def test_a_soak_finds_lost_messages_and_non_finite_values(monkeypatch):
    monkeypatch.setattr(soak, 'BLOCK', 500)
    found = by_name(soak.measure(4000, nothing))
    assert found['messages that the counters do not account for'].value == 0.0
    assert found['values that are not finite'].value == 0.0
    assert found['messages lost'].value > 0.0
    # A message that vanishes, and a torque that is no number, are noticed.
    receive, calls = MessageLink.receive, []

    def forgetful(self, time):
        message = receive(self, time)
        calls.extend([message] if message is not None else [])
        return None if message is not None and len(calls) == 50 else message

    monkeypatch.setattr(MessageLink, 'receive', forgetful)
    found = by_name(soak.measure(1000, nothing))
    assert found['messages that the counters do not account for'].verdict == 'BELOW'


def test_faults_of_a_soak_are_of_all_kinds_that_act_live():
    rng = np.random.default_rng(0)
    kinds = {each.kind for _ in range(300) for each in soak.random_faults(rng, ('a', 'b'))}
    assert kinds == {
        *soak._OF_MESSAGES,
        *soak._OF_JOINTS,
        'actuator_failure',
        'joint_lock',
        'power_cut',
    }


def test_a_killed_worker_costs_its_run_alone(tmp_path):
    failed, without, victims = campaigns.killed(tmp_path, 6, 0.2, nothing)
    assert failed.value <= 1.0 and without.value == 0.0 and victims.value == 1.0


def test_the_command_measures_writes_and_judges(tmp_path, capsys, monkeypatch):
    page, results = tmp_path / 'page.md', tmp_path / 'results.json'
    page.write_text(f'before\n{hil.PART.blank}\nafter\n', encoding='utf-8')
    monkeypatch.setattr(soak, 'BLOCK', 500)
    words = ['--parts', 'soak', '--steps', '2000', '--json', str(results)]
    assert hil.main([*words, '--document', str(page)]) == 0
    assert '4 of 4 goals are reached' in capsys.readouterr().out
    text = page.read_text(encoding='utf-8')
    assert text.startswith('before') and '| soak |' in text
    assert {each['part'] for each in json.loads(results.read_text())['figures']} == {'soak'}
    # Parts that were measured before come along.
    other = json.loads(results.read_text())
    other['figures'][0]['part'] = 'lockstep'
    results.write_text(json.dumps(other))
    assert hil.main([*words[:4], '--with', str(results)]) == 0
    assert 'lockstep' in capsys.readouterr().out
    with pytest.raises(SystemExit):
        hil.main(['--parts', 'soup'])
    assert "there is no 'soup'" in capsys.readouterr().err
