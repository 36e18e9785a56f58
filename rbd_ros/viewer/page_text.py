# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The page: one self-contained HTML file."""

from __future__ import annotations

import base64
import html
import json
import math
import re
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbd_ros.array_types import FloatArray
from rbd_ros.contact.ground import HalfSpace
from rbd_ros.viewer.drawn_shapes import SceneShape
from rbd_ros.viewer.page_parts import page_part
from rbd_ros.viewer.scene_annotations import SceneJoint
from rbd_ros.viewer.viewer_scene import Ground, Scene

#: Minimum radius of a scene, for the camera [m].
MIN_RADIUS = 0.05
_SIGNS = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], dtype=float)
_SCRIPTS = (
    *(
        'arrows.js',
        'drawings.js',
        'overlays.js',
        'pull.js',
        'camera.js',
        'hover.js',
        'plot.js',
        'panel.js',
    ),
    *('capture.js', 'recording.js', 'live.js', 'viewer.js'),
)


def page(scene: Scene, ground: Optional[HalfSpace], start: ArrayLike, **more: Any) -> str:
    """Return the text of a page that shows a scene.

    :param scene: the drawn scene
    :param ground: ground of the grid; None: no grid; not drawn in a world
    :param start: poses of the frames for the camera placement, (frames, 7)
    :param more: further data for viewer.js: times, poses and contacts of a recording; or the live
        flag, and whether there can be contacts
    """
    data = {**_scene_data(scene, ground, np.asarray(start, dtype=float)), **more}
    # A name must not close the enclosing element.
    text = json.dumps(data, allow_nan=False).replace('<', '\\u003c')
    values = {
        'TITLE': html.escape(scene.name or 'robot'),
        'STYLE': page_part('uplot.css') + page_part('page.css'),
        'LIBRARIES': page_part('three.js') + page_part('uplot.js'),
        'VIEWER': ''.join(map(page_part, _SCRIPTS)),
        'DATA': text,
    }
    return re.sub('@([A-Z]+)@', lambda found: values[found[1]], page_part('page.html'))


def floats(array: ArrayLike) -> str:
    """Return the numbers in single precision, little endian, as base64.

    >>> floats([1.0, 2.0])
    'AACAPwAAAEA='
    """
    return _base64(np.ascontiguousarray(array, dtype='<f4'))


def _base64(array: NDArray[Any]) -> str:
    return base64.b64encode(array.tobytes()).decode('ascii')


def _scene_data(scene: Scene, ground: Optional[HalfSpace], poses: FloatArray) -> Dict[str, Any]:
    parts = []
    for part in scene.parts:
        wide = len(part.vertices) > 65536
        corners = np.ascontiguousarray(part.corners, dtype='<u4' if wide else '<u2')
        parts.append(
            {'vertices': floats(part.vertices), 'corners': _base64(corners), 'wide': wide}
        )
    return {
        'links': list(scene.links),
        'objects': list(scene.objects),
        'parts': parts,
        'shapes': [_shape_data(scene, shape) for shape in scene.shapes],
        'collision': [_shape_data(scene, shape) for shape in scene.collision],
        'joints': [_joint_data(each) for each in scene.joints],
        'masses': [
            {
                'frame': each.frame,
                'mass': each.mass,
                'pose': each.pose.reshape(-1).tolist(),
                'size': each.size.tolist(),
            }
            for each in scene.masses
        ],
        'grounds': [
            {'pose': each.pose.reshape(-1).tolist(), 'color': each.color}
            for each in grounds(scene, ground)
        ],
        'reach': dict(zip(('center', 'radius'), reach(scene, poses))),
        'weight': scene.weight,
        'notices': list(scene.notices),
    }


def _shape_data(scene: Scene, shape: SceneShape) -> Dict[str, Any]:
    return {
        'frame': scene.frame_of(shape),
        'placement': shape.placement.reshape(-1).tolist(),
        'kind': shape.kind,
        'size': list(shape.size),
        'color': list(shape.color),
    }


def _joint_data(joint: SceneJoint) -> Dict[str, Any]:
    limited = math.isfinite(joint.upper - joint.lower)
    return {
        'name': joint.name,
        'position': joint.position,
        'velocity': joint.velocity,
        'limits': [joint.lower, joint.upper] if limited else None,
        'effort': joint.effort if math.isfinite(joint.effort) else None,
        'unit': joint.unit,
        'frame': joint.frame,
        'origin': joint.origin.tolist(),
        'axis': joint.axis.tolist(),
    }


def grounds(scene: Scene, ground: Optional[HalfSpace]) -> Sequence[Ground]:
    """Return the drawn planes: those of the world, or the ground, if any."""
    if scene.grounds is not None:
        return scene.grounds
    return [] if ground is None else [Ground(ground_pose(ground))]


def ground_pose(ground: HalfSpace) -> FloatArray:
    """Return the pose of a frame whose z axis is the normal of the ground, (4, 4)."""
    axes = ground.axes()
    pose = np.eye(4)
    pose[:3, :3] = axes[[1, 2, 0]].T
    pose[:3, 3] = ground.offset * axes[0]
    return pose


def reach(scene: Scene, poses: FloatArray) -> Tuple[List[float], float]:
    """Return the center and radius of the scene at these poses [m].

    Static shapes count only near moving ones.
    """
    still, moving = [], []
    for shape in scene.shapes:
        frame, points = scene.frame_of(shape), _corners(scene, shape)
        if frame < 0:
            still.append(points)
        else:
            moving.append(_placed(poses[frame], points))
    if moving:
        center, radius = _ball(np.concatenate(moving))
        far = [np.linalg.norm(points - center, axis=1).max() for points in still]
        still = [points for points, distance in zip(still, far) if distance <= 2.0 * radius]
    center, radius = _ball(np.concatenate([np.zeros((0, 3)), *moving, *still]))
    return center.tolist(), radius


def _ball(points: FloatArray) -> Tuple[FloatArray, float]:
    """Return the center of the box around points, and half of its diagonal."""
    if not len(points):
        return np.zeros(3), 0.0
    low, high = points.min(axis=0), points.max(axis=0)
    return 0.5 * (low + high), 0.5 * math.dist(low, high)


def arrow_length(force: float, weight: float, radius: float) -> float:
    """Return the length of the arrow of a force [m], as in arrows.js.

    It is proportional to the square root, so that small forces are visible beside large ones.

    :param force: force [N]
    :param weight: weight of all moving bodies [N]
    :param radius: radius of the scene [m]
    """
    return min(0.5 * radius * math.sqrt(force / (weight or 1.0)), 2.0 * radius)


def _placed(pose: FloatArray, points: FloatArray) -> FloatArray:
    # v + 2 w u x v + 2 u x (u x v) for the quaternion (u, w)
    position, u, w = pose[:3], pose[3:6], pose[6]
    turned = np.cross(u, points)
    placed: FloatArray = points + 2.0 * (w * turned + np.cross(u, turned)) + position
    return placed


def _corners(scene: Scene, shape: SceneShape) -> FloatArray:
    """Return the corners of a box around a shape, in its parent's coordinates, (8, 3) [m]."""
    size, center = shape.size, np.zeros(3)
    if shape.kind == 'mesh':
        points = scene.parts[int(size[0])].vertices
        low, high = points.min(axis=0), points.max(axis=0)
        center, half = 0.5 * (low + high), 0.5 * (high - low)
    elif shape.kind == 'box':
        half = np.array(size) / 2.0
    else:
        # A sphere has no length, and a capsule is longer by its half spheres.
        length = size[1] / 2.0 if len(size) > 1 else 0.0
        half = np.array([size[0], size[0], length + (shape.kind != 'cylinder') * size[0]])
    points = center + half * _SIGNS
    placed: FloatArray = points @ shape.placement[:3, :3].T + shape.placement[:3, 3]
    return placed
