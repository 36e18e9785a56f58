# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""One declaration of a node: descriptors, configuration file, page and graph agree."""

from importlib import import_module
from pathlib import Path
import re

import pytest
from support import outside

outside.load('rclpy')

from rcl_interfaces.msg import ParameterType
from support import interface_text
import yaml

from rbd_ros.control import DAMPING_RATIO, NATURAL_FREQUENCY, STATE_LOSS_POLICIES
from rbd_ros.nodes.common.node_interface import Parameter
from rbd_ros.nodes.inverse_dynamics import INTERFACE as INVERSE_DYNAMICS
from rbd_ros.nodes.simulator.interface.simulator_interface import (
    check_simulator_parameters,
    INTERFACE as SIMULATOR,
)

ROOT = Path(__file__).resolve().parents[2]
OF_RCLPY = {'use_sim_time', 'start_type_description_service'}
TOPICS_OF_RCLPY = {'/parameter_events', '/rosout', '/clock'}
SERVICES_OF_RCLPY = re.compile(
    r'/(\w*parameters\w*|get_parameter_types|get_type_description|(get|set)_logger_levels?)$'
)


def interfaces():
    """Return the interfaces of all nodes, found as setup.py finds them."""
    nodes = ROOT / 'rbd_ros' / 'nodes'
    names = [p.stem for p in nodes.glob('*.py') if p.stem != '__init__']
    names += [p.parent.name for p in nodes.glob('*/__main__.py')]
    return {name: import_module(f'rbd_ros.nodes.{name}').INTERFACE for name in sorted(names)}


INTERFACES = interfaces()
PAGES = interface_text.pages(ROOT / 'docs' / 'nodes', INTERFACES.values())
each_node = pytest.mark.parametrize('node', INTERFACES)


def test_the_nodes_are_found():
    assert list(INTERFACES) == [
        'external_torque_observer',
        'gravity_compensation',
        'inverse_dynamics',
        'simulator',
        'trajectory_feedforward',
        'udp_bridge',
    ]
    assert all(interface.name == name for name, interface in INTERFACES.items())


@each_node
def test_the_configuration_file_agrees_with_the_declaration(node):
    """scripts/update_node_pages writes it."""
    text = (ROOT / 'config' / f'{node}.yaml').read_text()
    assert text == interface_text.yaml_text(INTERFACES[node])
    loaded = yaml.safe_load(text)['/**']['ros__parameters']
    assert loaded == {
        name: list(default) if isinstance(default, tuple) else default
        for name, default in INTERFACES[node].defaults.items()
    }


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.path.stem)
def test_the_tables_of_a_page_agree_with_the_declarations(page):
    """scripts/update_node_pages writes them."""
    assert page.path.read_text() == interface_text.updated(page)


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.path.stem)
def test_a_page_names_all_parameters_and_a_table_describes_them(page):
    text = page.path.read_text()
    tables = text + ''.join(other.path.read_text() for other in page.others)
    for parameter in page.interface.parameters:
        assert f'`{parameter.name}`' in text
        assert f'| `{parameter.name}` | {parameter.kind} |' in tables


@each_node
def test_every_parameter_is_described_and_bounded_and_its_default_is_legal(node):
    names = [d.name for d in INTERFACES[node].parameters]
    assert len(set(names)) == len(names)
    for declaration in INTERFACES[node].parameters:
        assert declaration.description.endswith('.'), declaration.name
        assert declaration.convert(declaration.default) == declaration.default
        if declaration.scalar in (int, float):
            assert declaration.maximum is not None, declaration.name
            assert declaration.positive or declaration.minimum is not None, declaration.name


@each_node
def test_a_node_has_the_declared_interface_and_nothing_else(ros, node):
    interface = INTERFACES[node]
    process = ros.start(node, {'robot_description_file': str(ROOT / 'urdf/two_link_arm.urdf')})
    names = {
        name
        for name in ros.parameter_names(f'/{node}')
        if name not in OF_RCLPY and not name.startswith('qos_overrides.')
    }
    assert names == set(interface.defaults)
    check_descriptors(interface, ros.describe_parameters(f'/{node}', sorted(names)))
    expected = {
        direction: {
            topic.name.replace('~', f'/{node}') if topic.name[0] in '~/' else f'/{topic.name}'
            for topic in interface.topics
            if topic.direction == direction
            and 'without' not in topic.optional
            and 'floating' not in topic.optional
            and 'world' not in topic.optional
            and not topic.optional.startswith('with ')  # some value of a parameter
            and not topic.name.startswith('<')
        }
        for direction in ('in', 'out')
    }
    services = {s.name.replace('~', f'/{node}') for s in interface.services if not s.optional}

    def all_listed():
        subscribed, published, offered = shown(ros, node)
        inputs, outputs = subscribed >= expected['in'], published >= expected['out']
        return inputs and outputs and offered >= services

    ros.until(all_listed, 'all topics and services')
    subscribed, published, offered = shown(ros, node)
    assert subscribed - TOPICS_OF_RCLPY == expected['in'] - TOPICS_OF_RCLPY
    published = {topic for topic in published if '/_action/' not in topic}
    assert published - TOPICS_OF_RCLPY == expected['out'] - TOPICS_OF_RCLPY
    # Where control_msgs is installed, actions are offered by services of theirs.
    own = {s for s in offered if not SERVICES_OF_RCLPY.search(s) and '/_action/' not in s}
    assert own == services
    assert process.stop() == 0


def shown(ros, node):
    """Return the topics subscribed to and published, and services, of a node and its helpers."""
    graph = ros.node
    mine = [n for n, _ in graph.get_node_names_and_namespaces() if n.startswith(node)]
    return tuple(
        {name for each in mine for name, _ in look(each, '/')}
        for look in (
            graph.get_subscriber_names_and_types_by_node,
            graph.get_publisher_names_and_types_by_node,
            graph.get_service_names_and_types_by_node,
        )
    )


def check_descriptors(interface, descriptors):
    """Check what `ros2 param describe` shows: type, meaning, range."""
    types = {
        'bool': ParameterType.PARAMETER_BOOL,
        'int': ParameterType.PARAMETER_INTEGER,
        'double': ParameterType.PARAMETER_DOUBLE,
        'string': ParameterType.PARAMETER_STRING,
        'int[]': ParameterType.PARAMETER_INTEGER_ARRAY,
        'double[]': ParameterType.PARAMETER_DOUBLE_ARRAY,
        'string[]': ParameterType.PARAMETER_STRING_ARRAY,
    }
    declared = {d.name: d for d in interface.parameters}
    for descriptor in descriptors:
        declaration = declared[descriptor.name]
        assert descriptor.description == declaration.description
        assert descriptor.type == types[declaration.kind], descriptor.name
        if declaration.scalar is float:
            (bounds,) = descriptor.floating_point_range
            assert bounds.to_value == declaration.maximum
        elif declaration.scalar is int:
            (bounds,) = descriptor.integer_range
            assert bounds.to_value == declaration.maximum
        for choice in declaration.choices:
            assert choice in descriptor.additional_constraints
        assert ('start only' in descriptor.additional_constraints) != declaration.live


def test_defaults_that_control_decides_are_those_of_control():
    assert INVERSE_DYNAMICS.defaults['natural_frequency'] == NATURAL_FREQUENCY
    assert INVERSE_DYNAMICS.defaults['damping_ratio'] == DAMPING_RATIO
    policies = {p.name: p.choices for p in INVERSE_DYNAMICS.parameters}['state_loss_policy']
    assert set(policies) == set(STATE_LOSS_POLICIES)


@pytest.mark.parametrize(
    'parameters, text',
    [
        ({'timestep': -1.0}, 'timestep must be greater than 0'),
        ({'timestep': 1.5e-9}, 'timestep must be at least 1e-06'),
        ({'timestep': 'soon'}, "timestep must be a number, got 'soon'"),
        ({'initial_command': 'fly'}, 'initial_command must be one of hold, gravity, zero'),
        ({'gravity': [0.0, 1.0]}, 'gravity must have 3 elements, got 2'),
        ({'servo_bandwidth': 1e5}, 'too high for a timestep'),
        ({'initial_joints': ['a']}, 'initial_joints has 1 names, initial_positions 0 numbers'),
        ({'initial_base_pose': [0.0] * 7}, 'is not a unit quaternion'),
        ({'initial_base_pose': [0.0] * 3}, 'initial_base_pose has 3 numbers: give 7 (x, y, z, '),
        (
            {'initial_base_pose': [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.3]},  # w first, 0.3 m up
            'the order is x, y, z [m], quaternion x, y, z, w',
        ),
    ],
)
def test_an_illegal_parameter_ends_the_node_with_one_clear_line(ros, parameters, text):
    process = ros.start('simulator', parameters)
    assert process.wait() == 1
    ros.processes.remove(process)
    assert text in process.output()
    assert 'Traceback' not in process.output()


def test_integers_and_empty_lists_are_taken_where_numbers_and_lists_are_meant():
    number, numbers = Parameter('x', 1.0, 'A number.'), Parameter('x', (), 'Numbers.')
    assert number.convert(2) == 2.0 and type(number.convert(2)) is float
    assert numbers.convert([1, 2]) == (1.0, 2.0)
    assert numbers.convert(None) == ()


@pytest.mark.parametrize(
    'declaration, value',
    [
        (Parameter('x', 1.0, '.'), True),
        (Parameter('x', 1.0, '.'), '1'),
        (Parameter('x', 1, '.'), 1.0),
        (Parameter('x', True, '.'), 1),
        (Parameter('x', '', '.'), 1),
        (Parameter('x', (), '.'), 1.0),
        (Parameter('x', (), '.'), 'abc'),
        (Parameter('x', (), '.', element=str), [1.0]),
        (Parameter('x', 1.0, '.', positive=True), 0.0),
        (Parameter('x', 1.0, '.'), float('inf')),
        (Parameter('x', (1.0,), '.', length=1), [1.0, 2.0]),
        (Parameter('x', (), '.'), [[1.0]]),
    ],
)
def test_illegal_values_are_rejected_by_name(declaration, value):
    with pytest.raises(ValueError, match='x'):
        declaration.convert(value)


def test_a_timestep_must_be_whole_nanoseconds():
    values = SIMULATOR.defaults
    check_simulator_parameters(values)
    with pytest.raises(ValueError, match='nanoseconds'):
        check_simulator_parameters({**values, 'timestep': 1.0 / 3.0})
