# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A recording as messages for Foxglove and Lichtblick: frames, shapes, joints, contacts.

Messages and schemas are JSON, with the names and fields of https://docs.foxglove.dev/schemas.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, NamedTuple, Sequence, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.array_types import FloatArray
from rbd_ros.model.geometry import Color
from rbd_ros.viewer.drawn_shapes import SceneShape
from rbd_ros.viewer.page_text import arrow_length
from rbd_ros.viewer.viewer_scene import quaternions, Scene, STONE

if TYPE_CHECKING:
    from rbd_ros.viewer.motion_recording import MotionRecording

Json = Dict[str, Any]

WORLD = 'world'
CONTACT: Color = (0.85, 0.11, 0.38, 1.0)
#: Extent of the planes of a world, in radii of the scene.
_PLANE = 20.0


class Message(NamedTuple):
    """A message.

    :param topic: its topic
    :param schema: name of its schema
    :param time: time since the first frame [ns]
    :param content: its content
    """

    topic: str
    schema: str
    time: int
    content: Json


def messages(recording: MotionRecording) -> Iterator[Message]:
    """Yield the messages of a recording in order.

    :raises ValueError: for an empty recording
    """
    scene, robot = recording.scene, recording.robot
    times, poses = recording.times, recording.poses()
    joints = {
        robot.model.body(i).joint_name: at_q.start
        for i, (at_q, _) in robot.model.independent_slices.items()
        if at_q.stop - at_q.start == 1
    }
    for k, time in enumerate(times):
        now = round(1e9 * (time - times[0]))
        if k == 0:
            update = {'deletions': [], 'entities': _entities(scene, recording.radius)}
            yield Message('/scene', 'foxglove.SceneUpdate', now, update)
        transforms = [
            {
                'timestamp': _time(now),
                'parent_frame_id': WORLD,
                'child_frame_id': frame,
                'translation': _vector(pose[:3]),
                'rotation': _quaternion(pose[3:]),
            }
            for frame, pose in zip(scene.frames, poses[k])
        ]
        yield Message('/tf', 'foxglove.FrameTransforms', now, {'transforms': transforms})
        q = recording.configurations[k]
        states = [{'name': name, 'position': float(q[at])} for name, at in joints.items()]
        content = {'timestamp': _time(now), 'joints': states}
        yield Message('/joint_states', 'foxglove.JointStates', now, content)
        forces = _entity('contacts', WORLD, now)
        forces['arrows'] = [
            arrow
            for contact in recording.contacts[k]
            for arrow in _arrow(contact, scene.weight, recording.radius)
        ]
        content = {'deletions': [], 'entities': [forces]}
        yield Message('/contacts', 'foxglove.SceneUpdate', now, content)


# -- shapes


def _entities(scene: Scene, radius: float) -> List[Json]:
    """Return the entities of each frame, and the static ones."""
    still = _entity('world', WORLD)
    every = [_entity(frame, frame) for frame in scene.frames]
    for shape in scene.shapes:
        frame = scene.frame_of(shape)
        _add_shape(still if frame < 0 else every[frame], scene, shape)
    for ground in scene.grounds or ():
        side = _PLANE * radius
        thickness = 1e-3 * radius
        pose = ground.pose.copy()
        pose[:3, 3] -= 0.5 * thickness * pose[:3, 2]
        box = {'pose': _pose(pose), 'size': _vector((side, side, thickness))}
        still['cubes'].append({**box, 'color': _color(ground.color or STONE)})
    return [still, *every]


def _entity(name: str, frame: str, now: int = 0) -> Json:
    kinds = ('arrows', 'cubes', 'spheres', 'cylinders', 'lines', 'triangles', 'texts', 'models')
    return {
        'timestamp': _time(now),
        'frame_id': frame,
        'id': name,
        'lifetime': _time(0),
        'frame_locked': True,
        'metadata': [],
        **{kind: [] for kind in kinds},
    }


def _add_shape(entity: Json, scene: Scene, shape: SceneShape) -> None:
    size = shape.size
    given = {'pose': _pose(shape.placement), 'color': _color(shape.color)}
    if shape.kind == 'box':
        entity['cubes'].append({**given, 'size': _vector(size)})
    elif shape.kind == 'sphere':
        entity['spheres'].append({**given, 'size': _vector([2.0 * size[0]] * 3)})
    elif shape.kind == 'mesh':
        part = scene.parts[int(size[0])]
        points = [_vector(vertex) for vertex in part.vertices.round(7)]
        indices = part.corners.reshape(-1).tolist()
        entity['triangles'].append({**given, 'points': points, 'colors': [], 'indices': indices})
    else:
        lengths = _vector((2.0 * size[0], 2.0 * size[0], size[1]))
        entity['cylinders'].append(
            {**given, 'size': lengths, 'bottom_scale': 1.0, 'top_scale': 1.0}
        )
        if shape.kind == 'capsule':
            for end in (-0.5 * size[1], 0.5 * size[1]):
                placed = shape.placement.copy()
                placed[:3, 3] += end * placed[:3, 2]
                ball = {'pose': _pose(placed), 'size': _vector([2.0 * size[0]] * 3)}
                entity['spheres'].append({**given, **ball})


def _arrow(contact: FloatArray, weight: float, radius: float) -> Iterator[Json]:
    """Yield the arrow of a contact; none without a force."""
    force = float(np.linalg.norm(contact[3:]))
    length = arrow_length(force, weight, radius)
    if length > 0.0:
        along = contact[3:] / force
        # An arrow is along x: half a turn about the bisector of x and its direction.
        bisector = along + (1.0, 0.0, 0.0)
        size = float(np.linalg.norm(bisector))
        axis = bisector / size if size > 1e-6 else np.array([0.0, 0.0, 1.0])
        head = min(0.04 * radius, 0.5 * length)
        yield {
            'pose': {'position': _vector(contact[:3]), 'orientation': _quaternion([*axis, 0.0])},
            'shaft_length': length - head,
            'shaft_diameter': radius / 60.0,
            'head_length': head,
            'head_diameter': radius / 24.0,
            'color': _color(CONTACT),
        }


def _time(nanoseconds: int) -> Json:
    return {'sec': nanoseconds // 10**9, 'nsec': nanoseconds % 10**9}


def _vector(numbers: ArrayLike) -> Json:
    return dict(zip('xyz', np.asarray(numbers, dtype=float).tolist()))


def _quaternion(numbers: ArrayLike) -> Json:
    return dict(zip('xyzw', np.asarray(numbers, dtype=float).tolist()))


def _pose(pose: FloatArray) -> Json:
    turned = quaternions(pose[:3, :3])
    return {'position': _vector(pose[:3, 3]), 'orientation': _quaternion(turned)}


def _color(color: Color) -> Json:
    return dict(zip('rgba', color))


# -- schemas


def _object(title: str, **properties: Json) -> Json:
    return {'title': title, 'type': 'object', 'properties': properties, 'required': [*properties]}


def _list(items: Json) -> Json:
    return {'type': 'array', 'items': items}


def _schemas() -> Dict[str, Json]:
    number: Json = {'type': 'number'}
    text: Json = {'type': 'string'}
    natural: Json = {'type': 'integer', 'minimum': 0}

    def numbers(title: str, names: Sequence[str]) -> Json:
        return _object(title, **dict.fromkeys(names, number))

    vector, point = (numbers(f'foxglove.{name}', 'xyz') for name in ('Vector3', 'Point3'))
    quaternion = numbers('foxglove.Quaternion', 'xyzw')
    color = numbers('foxglove.Color', 'rgba')
    time, duration = (_object(name, sec=natural, nsec=natural) for name in ('time', 'duration'))
    pose = _object('foxglove.Pose', position=vector, orientation=quaternion)
    solid = {'pose': pose, 'size': vector, 'color': color}
    arrow = dict.fromkeys(
        ('shaft_length', 'shaft_diameter', 'head_length', 'head_diameter'), number
    )
    entity = _object(
        'foxglove.SceneEntity',
        timestamp=time,
        frame_id=text,
        id=text,
        lifetime=duration,
        frame_locked={'type': 'boolean'},
        metadata=_list(_object('foxglove.KeyValuePair', key=text, value=text)),
        arrows=_list(_object('foxglove.ArrowPrimitive', pose=pose, color=color, **arrow)),
        cubes=_list(_object('foxglove.CubePrimitive', **solid)),
        spheres=_list(_object('foxglove.SpherePrimitive', **solid)),
        cylinders=_list(
            _object('foxglove.CylinderPrimitive', bottom_scale=number, top_scale=number, **solid)
        ),
        triangles=_list(
            _object(
                'foxglove.TriangleListPrimitive',
                pose=pose,
                points=_list(point),
                color=color,
                colors=_list(color),
                indices=_list(natural),
            )
        ),
        # Unused.
        **{name: _list({'type': 'object'}) for name in ('lines', 'texts', 'models')},
    )
    deletion = _object('foxglove.SceneEntityDeletion', timestamp=time, type=natural, id=text)
    transform = _object(
        'foxglove.FrameTransform',
        timestamp=time,
        parent_frame_id=text,
        child_frame_id=text,
        translation=vector,
        rotation=quaternion,
    )
    joint = _object('foxglove.JointState', name=text, position=number)
    every = (
        _object('foxglove.FrameTransforms', transforms=_list(transform)),
        _object('foxglove.SceneUpdate', deletions=_list(deletion), entities=_list(entity)),
        _object('foxglove.JointStates', timestamp=time, joints=_list(joint)),
    )
    return {schema['title']: schema for schema in every}


#: Schemas (JSON Schema) of the messages, by name.
SCHEMAS = _schemas()
