"""Parameter tables: configuration files, pages and nodes name the same parameters."""

from pathlib import Path
import re

import pytest
from support import outside

outside.load('rclpy')

import yaml

from rbd_ros.nodes.gravity_compensation import GRAVITY_COMPENSATION_PARAMETERS
from rbd_ros.nodes.inverse_dynamics import INVERSE_DYNAMICS_PARAMETERS
from rbd_ros.nodes.parameters import Declaration
from rbd_ros.nodes.simulator_parameters import check_simulator_parameters, SIMULATOR_PARAMETERS

ROOT = Path(__file__).resolve().parents[2]
TABLES = {
    'simulator': SIMULATOR_PARAMETERS,
    'gravity_compensation': GRAVITY_COMPENSATION_PARAMETERS,
    'inverse_dynamics': INVERSE_DYNAMICS_PARAMETERS,
}
OF_RCLPY = {'use_sim_time', 'start_type_description_service'}
each_node = pytest.mark.parametrize('node', TABLES)


@each_node
def test_the_configuration_file_says_all_parameters_and_their_defaults(node):
    text = (ROOT / 'config' / f'{node}.yaml').read_text()
    said = yaml.safe_load(text)['/**']['ros__parameters']
    declared = {
        d.name: list(d.default) if d.kind.endswith('[]') else d.default for d in TABLES[node]
    }
    assert said == declared


@each_node
def test_the_page_of_the_node_says_all_parameters_types_and_defaults(node):
    page = (ROOT / 'docs' / 'nodes' / f'{node}.md').read_text()
    rows = {}
    section = page.split('\n## Parameters\n')[1].split('\n## ')[0]
    for line in section.splitlines():
        cells = [cell.strip() for cell in re.split(r'(?<!\\)\|', line)[1:-1]]
        if len(cells) == 5 and cells[0].startswith('`'):
            name, kind, default, live, _ = cells
            rows[name.strip('`')] = (kind, yaml.safe_load(default.strip('`')), live == 'yes')
    declared = {
        d.name: (d.kind, list(d.default) if d.kind.endswith('[]') else d.default, d.live)
        for d in TABLES[node]
    }
    assert rows == declared


@each_node
def test_every_parameter_is_described_and_its_default_is_legal(node):
    names = [d.name for d in TABLES[node]]
    assert len(set(names)) == len(names)
    for declaration in TABLES[node]:
        assert declaration.description.endswith('.'), declaration.name
        assert declaration.convert(declaration.default) == declaration.default


@each_node
def test_a_node_declares_its_table_and_nothing_else(ros, node):
    process = ros.start(node)
    names = {
        name
        for name in ros.parameter_names(f'/{node}')
        if name not in OF_RCLPY and not name.startswith('qos_overrides.')
    }
    assert names == {d.name for d in TABLES[node]}
    for descriptor in ros.describe_parameters(f'/{node}', names):
        assert descriptor.description
    assert process.stop() == 0


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
    ],
)
def test_an_illegal_parameter_ends_the_node_with_one_clear_line(ros, parameters, text):
    process = ros.start('simulator', parameters)
    assert process.wait() == 1
    ros.processes.remove(process)
    assert text in process.output()
    assert 'Traceback' not in process.output()


def test_integers_and_empty_lists_are_taken_where_numbers_and_lists_are_meant():
    number, numbers = Declaration('x', 1.0, 'A number.'), Declaration('x', (), 'Numbers.')
    assert number.convert(2) == 2.0 and type(number.convert(2)) is float
    assert numbers.convert([1, 2]) == (1.0, 2.0)
    assert numbers.convert(None) == ()


@pytest.mark.parametrize(
    'declaration, value',
    [
        (Declaration('x', 1.0, '.'), True),
        (Declaration('x', 1.0, '.'), '1'),
        (Declaration('x', 1, '.'), 1.0),
        (Declaration('x', True, '.'), 1),
        (Declaration('x', '', '.'), 1),
        (Declaration('x', (), '.'), 1.0),
        (Declaration('x', (), '.'), 'abc'),
        (Declaration('x', (), '.', element=str), [1.0]),
        (Declaration('x', 1.0, '.', positive=True), 0.0),
        (Declaration('x', 1.0, '.'), float('inf')),
        (Declaration('x', (1.0,), '.', length=1), [1.0, 2.0]),
        (Declaration('x', (), '.'), [[1.0]]),
    ],
)
def test_illegal_values_are_refused_by_name(declaration, value):
    with pytest.raises(ValueError, match='x'):
        declaration.convert(value)


def test_a_timestep_must_be_whole_nanoseconds():
    values = {d.name: d.default for d in SIMULATOR_PARAMETERS}
    assert check_simulator_parameters(values) is None
    assert 'nanoseconds' in check_simulator_parameters({**values, 'timestep': 1.0 / 3.0})
