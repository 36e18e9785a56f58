# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""MCAP files as read by the library, against the recording and the schemas."""

import json

import numpy as np
import pytest
from support import outside

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.viewer import make_scene, MotionRecording
from rbd_ros.viewer.foxglove import messages, SCHEMAS

WORLD = {
    'objects': {
        'floor': {'type': 'plane', 'color': [0.5, 0.6, 0.7]},
        'box': {'type': 'box', 'size': [0.1, 0.2, 0.3], 'static': False, 'mass': 1.0},
        'pill': {'type': 'capsule', 'radius': 0.1, 'length': 0.4, 'xyz': [1, 0, 1]},
        'ball': {'type': 'sphere', 'radius': 0.1, 'xyz': [1, 0, 1]},
        'hill': {'type': 'height_field', 'size': [1, 1], 'heights': [[0, 0], [0, 1]]},
    }
}


@pytest.fixture(scope='module')
def recording():
    robot = Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))
    made = MotionRecording(robot, make_scene(robot.model, world=WORLD))
    rng = np.random.default_rng(5)
    for k in range(4):
        moved = np.eye(4)
        moved[:3, 3] = rng.normal(size=3)
        contacts = rng.normal(size=(k, 6))
        made.add(10.0 + 0.5 * k, robot.random_configuration(rng), moved[None], contacts)
    return made


@pytest.fixture(scope='module')
def read(recording, tmp_path_factory):
    """Return messages of a file, as the library reads them: topic -> [(schema, time, content)]."""
    reader = outside.load('mcap.reader')
    path = tmp_path_factory.mktemp('mcap') / 'motion.mcap'
    recording.write(path)
    found = {}
    with path.open('rb') as stream:
        for schema, channel, message in reader.make_reader(stream).iter_messages():
            assert channel.message_encoding == 'json' and schema.encoding == 'jsonschema'
            assert json.loads(schema.data) == SCHEMAS[schema.name]
            content = json.loads(message.data)
            found.setdefault(channel.topic, []).append((schema.name, message.log_time, content))
    return found


def test_topics_times_and_schemas(read):
    assert {topic: entries[0][0] for topic, entries in read.items()} == {
        '/scene': 'foxglove.SceneUpdate',
        '/tf': 'foxglove.FrameTransforms',
        '/joint_states': 'foxglove.JointStates',
        '/contacts': 'foxglove.SceneUpdate',
    }
    for topic, entries in read.items():
        times = [time for _, time, _ in entries]
        assert times == ([0] if topic == '/scene' else [0, 5 * 10**8, 10**9, 15 * 10**8])


def conforms(value, schema, where):
    """Check a message against its schema, and that nothing is beside it."""
    kind = schema['type']
    if kind == 'object':
        assert isinstance(value, dict), where
        if 'properties' in schema:
            assert set(value) == set(schema['required']), where
        for name, part in schema.get('properties', {}).items():
            conforms(value[name], part, f'{where}.{name}')
    elif kind == 'array':
        for k, part in enumerate(value):
            conforms(part, schema['items'], f'{where}[{k}]')
    else:
        types = {'number': (int, float), 'integer': int, 'string': str, 'boolean': bool}
        assert isinstance(value, types[kind]), where


def test_messages_conform_to_their_schemas(recording):
    for topic, schema, _, content in messages(recording):
        conforms(json.loads(json.dumps(content)), SCHEMAS[schema], topic)


def test_frames_are_those_of_the_recording(read, recording):
    for k, (_, _, content) in enumerate(read['/tf']):
        found = content['transforms']
        assert [each['child_frame_id'] for each in found] == list(recording.scene.frames)
        assert {each['parent_frame_id'] for each in found} == {'world'}
        for each, pose in zip(found, recording.poses()[k]):
            parts = [*each['translation'].values(), *each['rotation'].values()]
            assert np.allclose(parts, pose)


def test_joints_are_those_of_the_recording(read, recording):
    for q, (_, _, content) in zip(recording.configurations, read['/joint_states']):
        found = {joint['name']: joint['position'] for joint in content['joints']}
        assert found == dict(zip(recording.robot.joint_names, q))


def test_shapes_lie_on_their_frames(read, recording):
    ((_, _, content),) = read['/scene']
    entities = {entity['id']: entity for entity in content['entities']}
    assert set(entities) == {'world', *recording.scene.frames}
    assert all(entity['frame_id'] == name for name, entity in entities.items())
    (box,) = entities['box']['cubes']
    assert box['size'] == {'x': 0.1, 'y': 0.2, 'z': 0.3}
    world = entities['world']
    (floor,) = world['cubes']
    assert floor['color'] == {'r': 0.5, 'g': 0.6, 'b': 0.7, 'a': 1.0}
    assert 0.0 < floor['size']['z'] < 0.01 and floor['size']['x'] == floor['size']['y'] > 10.0
    top = floor['pose']['position']['z'] + 0.5 * floor['size']['z']
    assert np.isclose(top, 0.0, atol=1e-12)
    (can,) = world['cylinders']
    assert can['size'] == {'x': 0.2, 'y': 0.2, 'z': 0.4}
    assert can['bottom_scale'] == can['top_scale'] == 1.0
    heights = sorted(round(ball['pose']['position']['z'], 9) for ball in world['spheres'])
    assert heights == [0.8, 1.0, 1.2]
    assert all(ball['size'] == {'x': 0.2, 'y': 0.2, 'z': 0.2} for ball in world['spheres'])
    (hill,) = world['triangles']
    assert len(hill['points']) == 4 and len(hill['indices']) == 6
    # Cylinders of the arm's own shapes.
    shapes = [shape for shape in recording.scene.shapes if shape.kind == 'cylinder']
    assert sum(len(entity['cylinders']) for entity in entities.values()) == len(shapes) + 1


def test_arrows_point_along_the_forces(read, recording):
    for contacts, (_, _, content) in zip(recording.contacts, read['/contacts']):
        (entity,) = content['entities']
        assert len(entity['arrows']) == len(contacts)
        for arrow, contact in zip(entity['arrows'], contacts):
            assert np.allclose([*arrow['pose']['position'].values()], contact[:3])
            x, y, z, w = arrow['pose']['orientation'].values()
            along = [1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)]
            assert np.allclose(along, contact[3:] / np.linalg.norm(contact[3:]))
            length = arrow['shaft_length'] + arrow['head_length']
            force = np.linalg.norm(contact[3:]) / recording.scene.weight
            assert np.isclose(length, 0.5 * recording.radius * np.sqrt(force))


def test_an_arrow_against_x_and_one_without_a_force(recording):
    made = MotionRecording(recording.robot, recording.scene)
    forces = [[0, 0, 0, -2.0, 0, 0], [0, 0, 0, 0, 0, 0]]
    made.add(0.0, recording.robot.neutral(), contacts=forces)
    (content,) = (each.content for each in messages(made) if each.topic == '/contacts')
    (arrow,) = content['entities'][0]['arrows']
    assert arrow['pose']['orientation'] == {'x': 0.0, 'y': 0.0, 'z': 1.0, 'w': 0.0}


def test_a_missing_library_is_reported_with_the_install_command(recording, monkeypatch, tmp_path):
    monkeypatch.setitem(__import__('sys').modules, 'mcap.writer', None)
    with pytest.raises(ValueError, match=r"needs the library mcap: pip install 'rbd_ros\[rec"):
        recording.write(tmp_path / 'motion.mcap')
    assert not (tmp_path / 'motion.mcap').exists()


def test_other_endings_are_rejected(recording, tmp_path):
    with pytest.raises(
        ValueError, match=r'motion.gif has an unknown type; give a page \(.html\), a video'
    ):
        recording.write(tmp_path / 'motion.gif')
