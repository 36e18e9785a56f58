# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Checks of time in a ROS graph, and of its nodes."""

import pytest

from rbd_ros.doctor.graph import check_graph, lifecycle_findings, middleware_findings
from rbd_ros.doctor.graph_snapshot import Endpoint, Graph, ReceivedClock, some, Topic
from rbd_ros.doctor.graph_time import clock_findings, sim_time_findings

KIND = 'rosgraph_msgs/msg/Clock'
TEXT = 'std_msgs/msg/String'
ARRIVALS = tuple(0.01 * k for k in range(101))


def graph(sim_time, *topics):
    return Graph(tuple(name for name, _ in sim_time), topics, sim_time=tuple(sim_time))


def heard_by(*nodes, name='/clock', source='/simulator'):
    out = (Endpoint(source, KIND),) if source else ()
    return Topic(name, out, tuple(Endpoint(node, KIND) for node in nodes))


def clock(factor, arrivals=ARRIVALS):
    return ReceivedClock('/clock', 1.0, arrivals, tuple(20.0 + factor * each for each in arrivals))


def facts(findings):
    return [(finding.level, finding.message) for finding in findings]


# -- whose time nodes take


@pytest.mark.parametrize(
    'sim_time',
    [
        [('/a', True), ('/b', True), ('/simulator', False)],
        [('/a', True)],
        [('/a', True), ('/simulator', True)],
        [('/simulator', False)],
        [],
    ],
)
def test_nodes_that_all_follow_the_clock_are_fine(sim_time):
    assert sim_time_findings(graph(sim_time, heard_by('/a', '/b'))) == []


def test_nodes_without_a_clock_are_fine():
    assert sim_time_findings(graph([('/a', False), ('/b', False)])) == []
    # something else of that name is no time
    other = Topic('/clock', (Endpoint('/simulator', 'std_msgs/msg/Header'),))
    assert sim_time_findings(graph([('/a', False)], other)) == []


def test_a_clock_may_have_another_name():
    clocks = (
        heard_by('/left/a', name='/left/clock', source='/left/simulator'),
        heard_by('/right/a', name='/right/clock', source='/right/simulator'),
    )
    assert sim_time_findings(graph([('/left/a', True), ('/right/a', True)], *clocks)) == []


def test_nodes_that_disagree_are_reported():
    sim_time = [('/b', False), ('/a', True), ('/c', False), ('/simulator', False)]
    (finding,) = sim_time_findings(graph(sim_time, heard_by('/a')))
    assert finding.level == 'warn' and finding.subject == 'use_sim_time'
    assert finding.message == (
        '/b, /c use the system time, although /simulator publishes simulated time '
        '(/clock), which /a follows'
    )
    assert finding.cure.startswith('ros2 param set /b use_sim_time true')


def test_a_clock_without_subscribers_is_reported():
    (finding,) = sim_time_findings(graph([('/b', False)], heard_by()))
    assert finding.level == 'warn'
    assert finding.message == (
        '/b uses the system time, although /simulator publishes simulated time '
        '(/clock), which no node follows'
    )


@pytest.mark.parametrize('topics', [(), (heard_by('/a', '/b', source=''),)])
def test_simulated_time_without_a_publisher_is_an_error(topics):
    (finding,) = sim_time_findings(graph([('/a', True), ('/c', False)], *topics))
    assert finding.level == 'error' and finding.message.startswith('/a follows simulated time')
    (finding,) = sim_time_findings(graph([('/a', True), ('/b', True)], *topics))
    assert (
        '/a, /b follow simulated' in finding.message
        and 'their time stands at 0' in finding.message
    )


def test_a_time_of_another_topic_does_not_count():
    sim_time = [('/a', True), ('/b', True)]
    (finding,) = sim_time_findings(graph(sim_time, heard_by('/b', name='/left/clock')))
    assert finding.level == 'error' and finding.message.startswith('/a follows simulated time')
    assert 'remap' in finding.cure


# -- how the clock runs


@pytest.mark.parametrize(('factor', 'level'), [(0.91, 'ok'), (1.0, 'ok'), (1.09, 'ok')])
def test_a_clock_of_about_real_time_is_fine(factor, level):
    assert facts(clock_findings(clock(factor))) == [
        (level, f'simulated time runs at {factor:.3g} times real time')
    ]


@pytest.mark.parametrize(('factor', 'cure'), [(0.5, 'faster machine'), (3.0, 'set the real-time')])
def test_a_clock_far_from_real_time_is_reported(factor, cure):
    (finding,) = clock_findings(clock(factor))
    assert (finding.level, finding.subject) == ('warn', 'topic /clock')
    assert finding.message == f'simulated time runs at {factor:g} times real time'
    assert cure in finding.cure


def test_a_clock_that_stands_is_reported():
    assert facts(clock_findings(clock(0.0))) == [('warn', 'simulated time stands still')]
    slowly = clock(0.0, (0.0, 0.5, 1.0))
    assert facts(clock_findings(slowly)) == [('warn', 'simulated time stands still')]


def test_a_clock_that_ran_back_is_reported():
    received = ReceivedClock('/clock', 1.0, (0.0, 0.1, 0.2), (5.0, 0.0, 5.2))
    assert facts(clock_findings(received)) == [
        ('warn', 'simulated time went back during the measurement')
    ]


def test_a_clock_that_comes_seldom_is_reported():
    _, finding = clock_findings(clock(1.0, (0.0, 0.2, 0.4)))
    assert finding.level == 'warn' and finding.message.startswith('messages come at 5 Hz')
    assert len(clock_findings(clock(1.0, tuple(0.09 * k for k in range(20))))) == 1


@pytest.mark.parametrize('arrivals', [(), (0.3,), (0.3, 0.3)])
def test_a_clock_of_too_few_messages_is_reported(arrivals):
    received = clock(1.0, arrivals)
    assert received.factor is None
    (finding,) = clock_findings(received)
    assert finding.level == 'warn' and f'{len(arrivals)} messages came in 1 s' in finding.message


# -- nodes


def test_managed_nodes_that_do_not_act_are_reported_with_the_way_to_it():
    states = [
        ('/d', 'activating'),
        ('/c', 'finalized'),
        ('/b', 'inactive'),
        ('/e', 'active'),
        ('/a', 'unconfigured'),
    ]
    found = lifecycle_findings(states)
    assert [finding.subject for finding in found] == ['node /a', 'node /b', 'node /c', 'node /d']
    assert {finding.level for finding in found} == {'warn'}
    assert found[0].cure == 'ros2 lifecycle set /a configure, then ros2 lifecycle set /a activate'
    assert found[1].cure.startswith('ros2 lifecycle set /b activate')
    assert 'start it again' in found[2].cure and 'wait' in found[3].cure


def test_different_middleware_is_reported_once():
    def ends(kinds):
        return tuple(
            Endpoint(f'/{k}', KIND, middleware=kind) for k, kind in enumerate(kinds) if kind != '-'
        )

    def found(out, into=()):
        return middleware_findings(Graph(('/0',), (Topic('/t', ends(out), ends(into)),)))

    assert found(['Fast DDS', 'Fast DDS', '']) == [] == found([])
    (finding,) = found(['Fast DDS'], ['-', 'Cyclone DDS', 'Fast DDS'])
    assert (finding.level, finding.subject) == ('warn', 'RMW')
    assert 'Cyclone DDS: /1; Fast DDS: /0, /2' in finding.message


def test_all_of_it_is_part_of_the_judgment_of_a_graph():
    whole = Graph(
        ('/a', '/b'),
        (
            Topic(
                '/t', (Endpoint('/a', TEXT, middleware='x'), Endpoint('/b', TEXT, middleware='y'))
            ),
        ),
        clocks=(clock(0.5),),
        sim_time=(('/a', True),),
        states=(('/b', 'inactive'),),
    )
    subjects = [finding.subject for finding in check_graph(whole)]
    assert subjects == ['RMW', 'node /b', 'use_sim_time', 'topic /clock']


def test_many_names_are_not_all_reported():
    names = [f'/{k}' for k in range(10)]
    assert some(names[:8]) == ', '.join(names[:8])
    assert some(names) == ', '.join(names[:8]) + ' and 2 more'
