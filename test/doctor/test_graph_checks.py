# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Checks of snapshots of a ROS graph."""

from dataclasses import replace

import pytest

from rbd_ros.doctor.graph import (
    check_graph,
    joint_findings,
    publisher_findings,
    quality_findings,
    rate_findings,
)
from rbd_ros.doctor.graph_snapshot import Endpoint, Graph, ReceivedStates, Topic

STATE, ARRAY = 'sensor_msgs/msg/JointState', 'std_msgs/msg/Float64MultiArray'
DRIVER, USER = Endpoint('/driver', STATE), Endpoint('/user', STATE)
EVENLY = tuple(0.01 * k for k in range(100))
RECEIVED = ReceivedStates('/joint_states', 1.0, EVENLY, (('shoulder', 'elbow'),))


def levels(findings):
    return [finding.level for finding in findings]


@pytest.mark.parametrize('out', [0, 1])
@pytest.mark.parametrize('into', [0, 1])
def test_only_best_effort_to_reliable_is_silent(out, into):
    topic = Topic('/t', (replace(DRIVER, reliable=bool(out)),), (replace(USER, reliable=into),))
    found = quality_findings(topic)
    assert levels(found) == (['error'] if into and not out else [])
    if found:
        assert found[0].subject == 'topic /t' and 'best effort' in found[0].cure


@pytest.mark.parametrize('out', [False, True])
@pytest.mark.parametrize('into', [False, True])
def test_only_volatile_to_transient_local_is_silent(out, into):
    topic = Topic('/t', (replace(DRIVER, durable=out),), (replace(USER, durable=into),))
    found = quality_findings(topic)
    assert levels(found) == (['error'] if into and not out else [])
    assert all('/driver publishes volatile, /user subscribes to' in each.message for each in found)


@pytest.mark.parametrize(
    ('offered', 'asked', 'silent'),
    [(0.0, 0.0, 0), (0.1, 0.0, 0), (0.1, 0.1, 0), (0.05, 0.1, 0), (0.2, 0.1, 1), (0.0, 0.1, 1)],
)
def test_deadlines_must_be_as_short_as_requested(offered, asked, silent):
    ends = (replace(DRIVER, deadline=offered),), (replace(USER, deadline=asked),)
    assert len(quality_findings(Topic('/t', *ends))) == silent


def test_types_must_be_one():
    (finding,) = quality_findings(Topic('/t', (DRIVER,), (replace(USER, type=ARRAY),)))
    assert finding.level == 'error' and STATE in finding.message and ARRAY in finding.message


def test_each_pair_is_reported_once():
    out = replace(DRIVER, reliable=False)
    found = quality_findings(Topic('/t', (out, out), (USER, replace(USER, node='/other'))))
    assert len(found) == 2


@pytest.mark.parametrize(
    ('name', 'kind', 'level'),
    [
        ('/joint_states', STATE, 'warn'),
        ('/left/joint_commands', STATE, 'warn'),
        ('/effort_commands', ARRAY, 'error'),
        ('/controller/commands', ARRAY, 'error'),
        ('/clock', 'rosgraph_msgs/msg/Clock', 'error'),
        ('/robot_description', 'std_msgs/msg/String', 'warn'),
        ('/rosout', 'rcl_interfaces/msg/Log', None),
    ],
)
def test_topics_of_a_robot_have_one_publisher(name, kind, level):
    two = tuple(Endpoint(node, kind) for node in ('/b', '/a'))
    listener = (Endpoint('/c', kind),)
    found = publisher_findings(Topic(name, two, listener))
    assert levels(found) == ([] if level is None else [level])
    assert all('/a, /b' in each.message and each.cure for each in found)
    assert publisher_findings(Topic(name, two[:1], listener)) == []


def test_topics_with_one_end_alone_are_reported():
    (finding,) = publisher_findings(Topic('/joint_states', (), (USER,)))
    assert (finding.level, finding.message) == ('warn', '/user waits, and no node publishes')
    (finding,) = publisher_findings(Topic('/joint_commands', (DRIVER,)))
    assert (finding.level, finding.message) == (
        'warn',
        '/driver publishes, and no node subscribes',
    )
    # states need no subscriber
    assert publisher_findings(Topic('/joint_states', (DRIVER,))) == []


def test_even_joint_states_are_fine():
    (finding,) = rate_findings(RECEIVED)
    assert (finding.level, finding.message) == ('ok', 'messages come at 100 Hz')


@pytest.mark.parametrize('arrivals', [(), (0.5,)])
def test_silence_is_reported(arrivals):
    (finding,) = rate_findings(replace(RECEIVED, arrivals=arrivals))
    assert finding.level == 'warn' and f'{len(arrivals)} messages came in 1 s' in finding.message


def test_rates_and_gaps_are_reported():
    assert levels(rate_findings(replace(RECEIVED, arrivals=(0.0, 0.03, 0.06)))) == ['warn']
    gap = (*EVENLY, 1.25)
    assert levels(rate_findings(replace(RECEIVED, arrivals=gap))) == ['ok', 'warn']
    fast = tuple(0.001 * k for k in range(100))
    assert levels(rate_findings(replace(RECEIVED, arrivals=(*fast, 0.14)))) == ['ok']
    assert levels(rate_findings(replace(RECEIVED, arrivals=(*fast, 0.16)))) == ['ok', 'warn']
    assert rate_findings(replace(RECEIVED, arrivals=fast))[0].message == 'messages come at 1000 Hz'
    assert (
        'gap between two messages is 0.26 s'
        in rate_findings(replace(RECEIVED, arrivals=gap))[1].message
    )


def test_messages_that_make_no_sense_are_reported():
    found = rate_findings(replace(RECEIVED, odd_lengths=2, not_finite=3, stamped=False))
    assert levels(found) == ['ok', 'error', 'error', 'warn']
    assert found[1].message.startswith('2 of 100') and found[2].message.startswith('3 of 100')


def test_joints_are_compared_with_those_of_the_robot():
    names = ['shoulder', 'elbow']
    assert joint_findings(RECEIVED, ('x', names)) == []
    assert joint_findings(RECEIVED) == []
    order = joint_findings(RECEIVED, ('x', names[::-1]))
    assert levels(order) == ['ok'] and 'match them by name' in order[0].cure
    parts = replace(RECEIVED, orders=(('elbow',), ('shoulder',)))
    assert joint_findings(parts, ('x', names)) == []
    (missing,) = joint_findings(RECEIVED, ('x', [*names, 'wrist']))
    assert missing.level == 'warn' and 'wrist of x: no states' in missing.message
    (twice,) = joint_findings(replace(RECEIVED, orders=(('elbow', 'shoulder', 'elbow'),)))
    assert twice.level == 'error' and 'elbow twice' in twice.message


def test_the_robot_is_the_given_one_or_that_of_the_neighboring_topic():
    graph = Graph(
        ('/driver',),
        (Topic('/left/joint_states', (DRIVER,)),),
        (replace(RECEIVED, topic='/left/joint_states'),),
        (('/robot_description', ('finger',)), ('/left/robot_description', ('wrist',))),
    )
    whats = [finding.message for finding in check_graph(graph)]
    assert any('wrist of /left/robot_description: no states' in what for what in whats)
    assert not any('finger' in what for what in whats)
    whats = [finding.message for finding in check_graph(graph, ['shoulder', 'elbow', 'toe'])]
    assert any('toe of the robot given: no states' in what for what in whats)


def test_a_good_graph_is_reported_as_good():
    graph = Graph(('/driver', '/user'), (Topic('/joint_states', (DRIVER,), (USER,)),), (RECEIVED,))
    found = check_graph(graph)
    assert levels(found) == ['ok', 'ok'] and found[0].message.startswith('2 nodes, 1 topics')


def test_nodes_of_one_name_are_reported():
    found = check_graph(Graph(('/driver', '/driver', '/user')))
    assert [(each.level, each.subject) for each in found] == [('warn', 'node /driver')]


def test_an_empty_graph_is_reported():
    (finding,) = check_graph(Graph())
    assert finding.level == 'warn' and 'ROS_DOMAIN_ID' in finding.cure
