# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Documented values of all parameters, by all interfaces of a node: YAML changes none.

rcl itself reads the command line and files. `ros2 param load` is rclpy's function, and `dump`
writes as ros2param 0.32 (Jazzy) does.
"""

from itertools import cycle, islice
import json

import pytest
from support import outside

outside.load('rclpy')

import rclpy
from rclpy.parameter import (
    get_parameter_value,
    Parameter,
    parameter_dict_from_yaml_file,
    parameter_value_to_python,
)
from test_node_parameters import each_node, INTERFACES
import yaml

from rbd_ros.hil import read_faults
from rbd_ros.nodes.common.parameter_table import ParameterTable

SMALL = 1e-7  # written without a point, by Python and by users
#: As docs/hil_how_to.md writes them, and as files do.
FAULTS = (
    '[{fault: actuator_failure, joints: [elbow]}]',
    'faults: [{fault: latency, value: 0.02}, {fault: drop, value: 0.05}]',
    '{faults: [{fault: actuator_failure}]}',
    '# two of them\nfaults:\n  - fault: drop\n    value: 0.1  # a tenth\n  - {fault: power_cut}\n',
    'faults: []',
)
#: What YAML makes something else of than a text, and still `ros2 param load` sends.
TEXTS = ('1', '0x10', '1.50', '1e-3', 'off', '~', "'a'", 'a #1', 'a\nb', '[]', '[1, 2]', '[a, b]')


def documented(parameter):
    """Return the legal values of a parameter, the default first."""
    default = parameter.default
    found = [default]
    if parameter.is_list:
        elements = list(parameter.choices) or {float: [SMALL, 1.0, 2.5], int: [1, 2]}.get(
            parameter.element, ['on', 'no', '1']
        )
        length = parameter.length or len(elements)
        found.append(tuple(islice(cycle(elements), length)))
        found.append(tuple(islice(cycle(elements), parameter.length or 1)))
    elif parameter.name == 'robot_description':
        found.append('<robot name="x">\n  <link name="a"/>\n</robot>\n')
    elif parameter.name == 'faults':
        found.extend(map(parameter.convert, FAULTS))
    elif parameter.choices:
        found.extend(parameter.choices)
    elif type(default) is bool:
        found.append(not default)
    elif type(default) in (int, float):
        kind = type(default)
        bounds = [kind(x) for x in (parameter.minimum, parameter.maximum) if x is not None]
        found.extend([*bounds, *([SMALL] if kind is float else [])])
    return [value for value in found if legal(parameter, value)]


def legal(parameter, value):
    try:
        return parameter.convert(value) == value
    except ValueError:
        return False


def rounds(node):
    """Yield the values by name, as many times as it takes for each documented one to come."""
    known = {each.name: documented(each) for each in INTERFACES[node].parameters}
    for k in range(max(map(len, known.values()))):
        yield {name: values[k % len(values)] for name, values in known.items()}


def plain(value):
    return list(value) if isinstance(value, tuple) else value


@pytest.fixture(scope='module')
def context():
    made = rclpy.Context()
    rclpy.init(context=made)
    yield made
    rclpy.shutdown(context=made)


def table(context, node, arguments=()):
    """Return the table of the parameters of a node that was started with arguments.

    The node itself.
    """
    made = rclpy.create_node(
        'a_node', context=context, cli_args=['--ros-args', *arguments], use_global_arguments=False
    )
    try:
        return ParameterTable(made, INTERFACES[node].parameters), made
    except BaseException:
        made.destroy_node()
        raise


def typed(value):
    """Return what users write on a command line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        quote = "'{}'".format if value and isinstance(value[0], str) else str
        return f'[{", ".join(quote(each) for each in value)}]'
    needs_quotes = isinstance(value, str) and ('\n' in value or value.startswith('['))
    return json.dumps(value) if needs_quotes else str(value)


@each_node
def test_documented_values_are_accepted_on_the_command_line(context, node):
    for values in rounds(node):
        given = {name: value for name, value in values.items() if value not in ((), '')}
        words = [word for name, x in given.items() for word in ('-p', f'{name}:={typed(x)}')]
        read, made = table(context, node, words)
        made.destroy_node()
        assert {name: read[name] for name in given} == given


@each_node
def test_documented_values_are_accepted_in_a_file(context, node, tmp_path):
    """As the pages write them: words without quotes."""
    path = tmp_path / 'parameters.yaml'
    for values in rounds(node):
        given = {name: value for name, value in values.items() if value not in ((), '')}
        lines = [f'    {name}: {typed(value)}\n' for name, value in given.items()]
        path.write_text('/**:\n  ros__parameters:\n' + ''.join(lines))
        read, made = table(context, node, ['--params-file', str(path)])
        made.destroy_node()
        assert {name: read[name] for name in given} == given


def given(made, values):
    """Return the rejected values of a node.

    Lists that are not empty among them.
    """
    parameters = [Parameter(name, value=plain(x)) for name, x in values.items() if x != ()]
    return [each.reason for each in made.set_parameters(parameters) if not each.successful]


def dump(made, names, path):
    """Write parameters of a node as `ros2 param dump` does."""
    content = {}
    for name in names:
        inside, *parts = content, *name.split('.')
        for part in parts[:-1]:
            inside = inside.setdefault(part, {})
        message = made.get_parameter(name).get_parameter_value()
        inside[parts[-1]] = parameter_value_to_python(message)
    path.write_text(yaml.dump({'/a_node': {'ros__parameters': content}}, default_flow_style=False))


def load(made, path):
    """Return the rejections of a file by `ros2 param load`, and its number of parameters."""
    loaded = parameter_dict_from_yaml_file(str(path), target_nodes=['/a_node']).values()
    results = made.set_parameters([Parameter.from_parameter_msg(each) for each in loaded])
    return [each.reason for each in results if not each.successful], len(results)


@each_node
def test_documented_values_go_through_dump_and_load(context, node, tmp_path):
    path = tmp_path / 'dump.yaml'
    for values in rounds(node):
        first, made = table(context, node)
        first.free = lambda: True  # those that are not live as well
        assert not given(made, values)
        dump(made, values, path)
        kept = dict(first.values)
        first.free = lambda: False  # nothing has changed, so that all may be set
        assert load(made, path) == ([], len(values))
        assert first.values == kept
        made.destroy_node()
        read, again = table(context, node, ['--params-file', str(path), '-r', '__node:=a_node'])
        again.destroy_node()
        assert read.values == kept


@each_node
@pytest.mark.parametrize('text', TEXTS)
def test_texts_that_look_like_yaml_go_through_dump_and_load(context, node, text, tmp_path):
    texts = [p for p in INTERFACES[node].parameters if p.scalar is str and not p.choices]
    # A text that is another one for YAML is a new value where there may be one.
    is_text = isinstance(yaml.safe_load(text), str)
    values = {
        p.name: (text, 'b') if p.is_list else text
        for p in texts
        if p.name != 'faults' and not (p.live and is_text)
    }
    first, made = table(context, node)
    first.free = lambda: True
    assert not given(made, values)
    first.free = lambda: False
    dump(made, values, tmp_path / 'dump.yaml')
    kept = dict(first.values)
    assert load(made, tmp_path / 'dump.yaml') == ([], len(values))
    assert first.values == kept
    made.destroy_node()


@pytest.mark.parametrize('text', FAULTS)
def test_faults_are_loaded_by_another_node_than_that_which_dumped_them(context, text, tmp_path):
    """`ros2 param load` fails on a text that is a mapping, before it asks the node."""
    dumped, made = table(context, 'simulator')
    assert not given(made, {'faults': text})
    assert made.get_parameter('faults').value == dumped['faults']
    dump(made, ['faults'], tmp_path / 'dump.yaml')
    made.destroy_node()
    read, other = table(context, 'simulator')
    assert load(other, tmp_path / 'dump.yaml') == ([], 1)
    other.destroy_node()
    meant = '' if text == 'faults: []' else text
    assert read['faults'] == dumped['faults'] and bool(meant) == bool(read['faults'])
    if meant:
        joints = ['elbow']
        assert read_faults(read['faults'], joints) == read_faults(text, joints)
        first = read['faults'].index('fault:')
        line = read['faults'].count('\n', 0, first)  # as the message that rejects it names it
        assert line == text.count('\n', 0, text.index('fault:'))


@pytest.mark.parametrize(
    'name, text, value',
    [
        ('solver_tolerance', '1e-9', 1e-9),
        ('gravity', '[0, 0, -9.81]', (0.0, 0.0, -9.81)),
        ('gravity', '[0, 1e-3, -9]', (0.0, 1e-3, -9.0)),
    ],
)
def test_numbers_that_param_set_reads_as_strings_are_numbers(context, name, text, value):
    read, made = table(context, 'simulator')
    read.free = lambda: True
    message = get_parameter_value(text)
    assert message.type in (4, 9)  # what rclpy sends: a text, or several
    given = Parameter(name, value=parameter_value_to_python(message))
    (result,) = made.set_parameters([given])
    made.destroy_node()
    assert result.successful, result.reason
    assert read[name] == value


@pytest.mark.parametrize('name, value', [('snapshot_name', True), ('snapshot_name', 1)])
def test_values_that_yaml_reads_otherwise_are_rejected_with_the_cure(context, name, value):
    read, made = table(context, 'simulator')
    (result,) = made.set_parameters([Parameter(name, value=value)])
    made.destroy_node()
    assert not result.successful and 'put it in quotes' in result.reason


def test_a_read_only_parameter_may_be_set_to_its_value(context):
    made = rclpy.create_node('a_node', context=context, use_global_arguments=False)
    ParameterTable(made, (), read_only={'use_sim_time': 'it has its own'})
    results = made.set_parameters([Parameter('use_sim_time', value=x) for x in (False, True)])
    made.destroy_node()
    assert [each.successful for each in results] == [True, False]
