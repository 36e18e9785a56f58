# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Benchmark of nodes: goals, and evaluation of numbers."""

import argparse

import pytest
from support.ros_benchmark import board, endurance, loops, row, section, start, table


def found(node='inverse_dynamics', **changes):
    counters = dict.fromkeys((*endurance.SENT[node], *endurance.REJECTED[node]), 5.0)
    after = dict(counters, **dict.fromkeys(endurance.SENT[node], 15.0))
    given = {
        'messages': 10,
        'sent': 10,
        'lost': 0,
        'elapsed': 1.0,
        'stamps': 1.0,
        'memory': [90.0, 90.5, 90.25],
        'before': {**counters, 'time': 0.5, 'steps': 500.0},
        'after': {**after, 'time': 1.5, 'steps': 1500.0},
        **changes,
    }
    return endurance.Found(node, **given)


def test_a_ratio_is_the_median_of_the_rounds():
    made = row.compared('node', 'time', [2.0, 30.0, 4.0], [1.0, 10.0, 4.0], 2.0)
    assert (made.ratio, made.value, made.bare) == (2.0, 4.0, 4.0)
    assert made.ratio_quartiles == [1.0, 3.0]
    assert made.holds and made.verdict == 'PASS' and made.goal == '2 x' and made.limit == 2.0


@pytest.mark.parametrize('largest, verdict', [(1.99, 'BELOW'), (2.0, 'PASS')])
def test_one_round_is_enough_for_a_verdict(largest, verdict):
    assert row.compared('node', 'time', [2.0], [1.0], largest).verdict == verdict


@pytest.mark.parametrize('value, verdict', [(1.0, 'PASS'), (1.001, 'BELOW')])
def test_a_value_may_be_as_large_as_its_goal(value, verdict):
    assert row.at_most('node', 'memory', value, 1.0).verdict == verdict


def test_growth_is_the_largest_ever_above_the_first():
    assert found().growth == 0.5
    assert found(memory=[90.0, 80.0]).growth == 0.0


@pytest.mark.parametrize('node', endurance.PARAMETERS)
def test_counters_that_agree_do_not_drift(node):
    assert found(node).drift == 0.0


@pytest.mark.parametrize('node', endurance.PARAMETERS)
@pytest.mark.parametrize('change', [1.0, -1.0])
def test_each_counter_of_sent_messages_is_compared(node, change):
    for name in endurance.SENT[node]:
        after = dict(found(node).after)
        after[name] += change
        assert found(node, after=after).drift == 1.0


@pytest.mark.parametrize('node', endurance.PARAMETERS)
def test_a_rejected_message_is_a_drift(node):
    for name in endurance.REJECTED[node]:
        assert found(node, after={**found(node).after, name: 7.0}).drift == 2.0


def test_simulated_time_is_that_of_the_steps():
    assert found('simulator', after={**found('simulator').after, 'steps': 1400.0}).drift == 100.0


def test_a_board_is_seen_by_those_who_map_it(tmp_path):
    mine = board.Board.create(tmp_path / 'board')
    theirs = board.Board(tmp_path / 'board')
    assert not theirs.running and theirs.first == theirs.cycles == theirs.latencies == 0
    mine.begin()
    mine.cycles += 1
    first = theirs.first
    mine.cycles += 1
    assert theirs.running and theirs.cycles == 2 and theirs.first == first > 0
    for latency in (5, 6, 7):
        mine.note(latency)
    assert theirs.since(1) == [6, 7]


def test_a_board_keeps_the_newest_latencies(tmp_path):
    mine = board.Board.create(tmp_path / 'board')
    for latency in range(board.RING + 3):
        mine.note(latency)
    assert mine.since(0) == list(range(3, board.RING + 3))


def test_the_section_of_the_whole_benchmark_has_all_ratios():
    rows = {(each.robot, each.function): each for each in section.SECTION.rows()}
    for node, ratios in loops.MAX_RATIOS.items():
        for quantity, largest in ratios.items():
            assert rows[node, quantity].floor == largest
        assert {(node, name) for name in (loops.RATE, loops.MEMORY, loops.THREADS)} <= set(rows)


def test_torque_nodes_run_together_with_the_echo():
    assert start.TORQUE_NODES == ['inverse_dynamics', 'gravity_compensation']


def test_the_goals_are_those_that_were_promised():
    ratios = {loops.MEDIAN: 1.1, loops.LATE: 1.25, loops.TIME: 1.2}
    assert loops.MAX_RATIOS['gravity_compensation'] == ratios
    assert loops.MAX_RATIOS['inverse_dynamics'] == ratios
    assert loops.MAX_RATIOS['simulator'] == {loops.TIME: 1.3}
    assert (start.MAX_START_TIME, endurance.MAX_GROWTH) == (1.5, 1.0)


FACTS = {
    'machine': {'cpu': 'some processor', 'cores': 2, 'system': 'Linux'},
    'versions': {'python': '3.12', 'numpy': '2.0'},
    'middleware': 'some middleware',
    'rounds': 3,
    'seconds': 1.0,
}


def test_the_document_has_a_line_for_each_row():
    rows = [
        row.compared('node', 'time', [3.0, 3.0], [2.0, 2.0], 1.2),
        row.at_most('node', 'lost', 0, 0.0),
    ]
    lines = list(table.markdown(FACTS, rows))
    assert lines[-2:] == [
        '| node | time | 3.0 | 2.0 | 1.50 x | 1.50 .. 1.50 | 1.2 x | BELOW |',
        '| node | lost | 0 |  |  |  | 0 | PASS |',
    ]
    assert '1 of 2 goals are reached, 1 are not' in list(table.report(FACTS, rows))


def test_a_plot_needs_ratios(tmp_path):
    rows = [row.compared('node', 'time', [3.0, 3.0], [2.0, 2.0], 1.2)]
    pytest.importorskip('matplotlib')
    table.plot(FACTS, rows, str(tmp_path / 'nodes.png'))
    assert (tmp_path / 'nodes.png').stat().st_size > 1000
    with pytest.raises(ValueError, match='nothing to plot'):
        table.plot(FACTS, [row.at_most('node', 'lost', 0, 0.0)], str(tmp_path / 'none.png'))


@pytest.mark.parametrize('option', ['--parts', '--nodes'])
def test_an_unknown_name_is_rejected(option, capsys):
    from support.ros_benchmark import ros

    with pytest.raises(SystemExit):
        ros.main([option, 'simulater'])
    assert "there is no 'simulater'" in capsys.readouterr().err


def test_nothing_is_measured_of_a_part_without_its_node():
    from support.ros_benchmark import ros

    arguments = argparse.Namespace(progress=False)
    assert ros.measure(arguments, ['inverse_dynamics'], ['real_time']) == []
