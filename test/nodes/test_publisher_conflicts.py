# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Publishers without a name in the graph; other conflicts are in test_simulator_safety.py."""

from types import SimpleNamespace

from support import outside

outside.load('rclpy')

from rbd_ros.nodes.simulator.commands.publisher_conflicts import ConflictMonitor

UNKNOWN = SimpleNamespace(
    node_namespace='_NODE_NAMESPACE_UNKNOWN_', node_name='_NODE_NAME_UNKNOWN_'
)


def named(name):
    """Return the publisher of a node, as the graph has it."""
    return SimpleNamespace(node_namespace='/', node_name=name)


class Graph:
    """Stand-in of a node and its diagnostics for `ConflictMonitor`; reports are in `reported`.

    Real middleware reports names late, but not on request.
    """

    def __init__(self, *publishers):
        self.publishers, self.reported = publishers, []

    def get_namespace(self):
        """Return the namespace of the simulator."""
        return '/'

    def get_name(self):
        """Return the name of the simulator."""
        return 'simulator'

    def get_publishers_info_by_topic(self, topic):
        """Return the publishers of every topic."""
        return list(self.publishers)

    def event(self, subject, level, message, code):
        """Record a report."""
        self.reported.append(message)


def test_a_conflict_is_reported_as_soon_as_the_other_node_has_a_name():
    graph = Graph(named('simulator'), UNKNOWN)
    monitor = ConflictMonitor(graph, graph)
    for _ in range(3):
        monitor.report_simulators(['/clock'])
    assert graph.reported == []
    graph.publishers = (named('simulator'), named('other'))
    monitor.report_simulators(['/clock'])
    assert len(graph.reported) == 1 and '/other publishes /clock as well' in graph.reported[0]


def test_a_conflict_with_a_node_that_never_gets_a_name_is_reported_too():
    graph = Graph(named('simulator'), UNKNOWN)
    monitor = ConflictMonitor(graph, graph)
    for _ in range(6):
        monitor.report_simulators(['/clock'])
    assert len(graph.reported) == 1 and 'a node without a name' in graph.reported[0]


def test_a_publisher_without_a_name_restarts_the_monitor():
    graph = Graph(named('simulator'), UNKNOWN)
    monitor = ConflictMonitor(graph, graph)
    for _ in range(4):
        monitor.report_simulators(['/clock'])
        graph.publishers = (named('simulator'),)
        monitor.report_simulators(['/clock'])
        graph.publishers = (named('simulator'), UNKNOWN)
        monitor.report_simulators(['/clock'])
    assert graph.reported == []


def test_controllers_without_names_wait_as_well():
    graph = Graph(named('left'), UNKNOWN)
    monitor = ConflictMonitor(graph, graph)
    monitor.report_controllers('/command', '/efforts', [['elbow'], ['elbow']])
    assert graph.reported == []
    graph.publishers = (named('left'), named('right'))
    monitor.report_controllers('/command', '/efforts', [['elbow'], ['elbow']])
    assert '/left' in graph.reported[0] and '/right' in graph.reported[0]


def test_a_controller_may_be_silent_for_some_looks():
    graph = Graph(named('left'), named('right'))
    graph.get_publishers_info_by_topic = lambda topic: (
        graph.publishers if topic == '/command' else []
    )
    monitor = ConflictMonitor(graph, graph)
    monitor.report_controllers('/command', '/efforts', [['elbow'], ['wrist']])
    for _ in range(4):
        monitor.report_controllers('/command', '/efforts', [['elbow']])
        monitor.report_controllers('/command', '/efforts', [])
        monitor.report_controllers('/command', '/efforts', [['wrist']])
    assert graph.reported == []
    for _ in range(6):
        monitor.report_controllers('/command', '/efforts', [['elbow']])
    assert len(graph.reported) == 1 and 'may command the same joints' in graph.reported[0]


def test_controllers_that_have_not_sent_anything_yet_are_waited_for():
    """As hardware interfaces of ros2_control, of which each tag is one, before they are active."""
    graph = Graph(named('left'), named('right'))
    graph.get_publishers_info_by_topic = lambda topic: (
        graph.publishers if topic == '/command' else []
    )
    monitor = ConflictMonitor(graph, graph)
    for heard in ([], [], [['elbow']], [['elbow'], ['wrist']]):
        monitor.report_controllers('/command', '/efforts', heard)
    assert graph.reported == []
    graph.publishers = (named('left'), named('right'), named('third'))
    for _ in range(6):
        monitor.report_controllers('/command', '/efforts', [['elbow'], ['wrist']])
    assert len(graph.reported) == 1 and '/third' in graph.reported[0]


def test_controllers_for_different_joints_conflict_once_both_command_one():
    graph = Graph(named('left'), named('right'))
    graph.get_publishers_info_by_topic = lambda topic: (
        graph.publishers if topic == '/command' else []
    )
    monitor = ConflictMonitor(graph, graph)
    monitor.report_controllers('/command', '/efforts', [['elbow'], ['wrist']])
    monitor.report_controllers('/command', '/efforts', [['elbow'], ['elbow', 'wrist']])
    assert len(graph.reported) == 1 and 'may command elbow' in graph.reported[0]
