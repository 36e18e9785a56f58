# SPDX-License-Identifier: Apache-2.0
"""Rivals whose names the middleware has not told yet; all else is in test_simulator_safety.py."""

from types import SimpleNamespace

from rbd_ros.nodes.simulator.rivals import Rivals

UNKNOWN = SimpleNamespace(
    node_namespace='_NODE_NAMESPACE_UNKNOWN_', node_name='_NODE_NAME_UNKNOWN_'
)


def named(name):
    """Return the publisher of a node, as the graph has it."""
    return SimpleNamespace(node_namespace='/', node_name=name)


class Graph:
    """What `Rivals` asks of a node and of its diagnostics; what it tells is in `told`.

    Real middleware tells names late, but not when it is asked to.
    """

    def __init__(self, *publishers):
        self.publishers, self.told = publishers, []

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
        """Take what is reported."""
        self.told.append(message)


def test_a_rival_is_told_of_as_soon_as_it_has_a_name():
    graph = Graph(named('simulator'), UNKNOWN)
    rivals = Rivals(graph, graph)
    for _ in range(3):
        rivals.look_for_simulators(['/clock'])
    assert graph.told == []
    graph.publishers = (named('simulator'), named('other'))
    rivals.look_for_simulators(['/clock'])
    assert len(graph.told) == 1 and '/other publishes /clock as well' in graph.told[0]


def test_a_rival_that_never_gets_a_name_is_told_of_all_the_same():
    graph = Graph(named('simulator'), UNKNOWN)
    rivals = Rivals(graph, graph)
    for _ in range(6):
        rivals.look_for_simulators(['/clock'])
    assert len(graph.told) == 1 and 'a node without a name' in graph.told[0]


def test_looks_begin_anew_with_each_one_without_a_name():
    graph = Graph(named('simulator'), UNKNOWN)
    rivals = Rivals(graph, graph)
    for _ in range(4):
        rivals.look_for_simulators(['/clock'])
        graph.publishers = (named('simulator'),)
        rivals.look_for_simulators(['/clock'])
        graph.publishers = (named('simulator'), UNKNOWN)
        rivals.look_for_simulators(['/clock'])
    assert graph.told == []


def test_controllers_without_names_wait_as_well():
    graph = Graph(named('left'), UNKNOWN)
    rivals = Rivals(graph, graph)
    rivals.look_for_controllers('/command', '/efforts', [['elbow'], ['elbow']])
    assert graph.told == []
    graph.publishers = (named('left'), named('right'))
    rivals.look_for_controllers('/command', '/efforts', [['elbow'], ['elbow']])
    assert '/left' in graph.told[0] and '/right' in graph.told[0]


def test_a_controller_may_be_silent_for_some_looks():
    graph = Graph(named('left'), named('right'))
    graph.get_publishers_info_by_topic = lambda topic: (
        graph.publishers if topic == '/command' else []
    )
    rivals = Rivals(graph, graph)
    rivals.look_for_controllers('/command', '/efforts', [['elbow'], ['wrist']])
    for _ in range(4):
        rivals.look_for_controllers('/command', '/efforts', [['elbow']])
        rivals.look_for_controllers('/command', '/efforts', [])
        rivals.look_for_controllers('/command', '/efforts', [['wrist']])
    assert graph.told == []
    for _ in range(6):
        rivals.look_for_controllers('/command', '/efforts', [['elbow']])
    assert len(graph.told) == 1 and 'may command the same joints' in graph.told[0]


def test_controllers_that_have_not_sent_anything_yet_are_waited_for():
    """As hardware interfaces of ros2_control, of which each tag is one, before they are active."""
    graph = Graph(named('left'), named('right'))
    graph.get_publishers_info_by_topic = lambda topic: (
        graph.publishers if topic == '/command' else []
    )
    rivals = Rivals(graph, graph)
    for heard in ([], [], [['elbow']], [['elbow'], ['wrist']]):
        rivals.look_for_controllers('/command', '/efforts', heard)
    assert graph.told == []
    graph.publishers = (named('left'), named('right'), named('third'))
    for _ in range(6):
        rivals.look_for_controllers('/command', '/efforts', [['elbow'], ['wrist']])
    assert len(graph.told) == 1 and '/third' in graph.told[0]


def test_controllers_for_different_joints_are_rivals_once_both_command_one():
    graph = Graph(named('left'), named('right'))
    graph.get_publishers_info_by_topic = lambda topic: (
        graph.publishers if topic == '/command' else []
    )
    rivals = Rivals(graph, graph)
    rivals.look_for_controllers('/command', '/efforts', [['elbow'], ['wrist']])
    rivals.look_for_controllers('/command', '/efforts', [['elbow'], ['elbow', 'wrist']])
    assert len(graph.told) == 1 and 'may command elbow' in graph.told[0]
