# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Parameter files in a namespace: parameters of nodes, as read by rcl."""

import pytest
from support import outside

from rbd_ros.launching import ros2_control
from rbd_ros.launching.ros2_control import file_in_namespace, node_parameters

rclpy = outside.load('rclpy')

CONTROLLERS = """\
controller_manager:
  ros__parameters:
    update_rate: 500
    arm: {type: a/A}
/arm:
  ros__parameters:
    joints: ["1", '2']
    gains: {elbow: {p: 1e-3, i: 2.0}}
    words: 'off'
    note: |
      two
      lines
/**:
  ros__parameters:
    use_sim_time: true
right:
  arm:
    ros__parameters: {joints: [other]}
/**/hand:
  ros__parameters: {joints: [finger]}
"""
#: Nodes, and their parameters of that file in the namespace left.
EXPECTED = {
    ('controller_manager', '/left'): {'update_rate': 500, 'arm.type': 'a/A'},
    ('arm', '/left'): {
        'joints': ['1', '2'],
        'gains.elbow.p': 1e-3,
        'gains.elbow.i': 2.0,
        'words': 'off',
        'note': 'two\nlines\n',
    },
    ('arm', '/right'): {'joints': ['other']},
    ('hand', '/left'): {'joints': ['finger']},
    ('arm', '/'): {},
    ('controller_manager', '/'): {},
}


@pytest.fixture(scope='module')
def context():
    made = rclpy.Context()
    rclpy.init(context=made)
    yield made
    rclpy.shutdown(context=made)


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Return the file for the namespace left."""
    monkeypatch.setattr(ros2_control, 'log_folder', lambda: tmp_path)
    path = tmp_path / 'controllers.yaml'
    path.write_text(CONTROLLERS)
    assert file_in_namespace(str(path), '') == str(path)
    return file_in_namespace(str(path), 'left')


@pytest.mark.parametrize('node', EXPECTED, ids='-'.join)
def test_nodes_get_their_own_parameters(context, file, node):
    name, namespace = node
    made = rclpy.create_node(
        name,
        namespace=namespace,
        context=context,
        cli_args=['--ros-args', '--params-file', file],
        use_global_arguments=False,
        automatically_declare_parameters_from_overrides=True,
    )
    values = {key: each.value for key, each in made.get_parameters_by_prefix('').items()}
    made.destroy_node()
    assert values.pop('use_sim_time') is True
    values.pop('start_type_description_service', None)
    assert values == EXPECTED[node]
    read = node_parameters(file, f'{namespace.rstrip("/")}/{name}')
    assert read.pop('use_sim_time') is True
    assert flat('', read) == EXPECTED[node]


def flat(outer, values):
    """Return the nested parameters by their dotted names; numbers as rcl reads them."""
    found = {}
    for key, value in values.items():
        if isinstance(value, dict):
            found.update(flat(f'{outer}{key}.', value))
        else:
            found[outer + key] = float(value) if value == '1e-3' else value
    return found
