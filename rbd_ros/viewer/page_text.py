"""The page: one HTML file that holds all that it needs, and loads nothing from anywhere."""

from __future__ import annotations

import base64
from functools import lru_cache
import html
import json
import math
from pathlib import Path
import re
from typing import Any, Dict, Optional

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbd_ros.contact.ground import HalfSpace
from rbd_ros.viewer.scene import Scene

FloatArray = NDArray[np.float64]

_FOLDER = Path(__file__).parent / 'page'


def page(scene: Scene, ground: Optional[HalfSpace], start: ArrayLike, **more: Any) -> str:
    """Text of a page that shows a scene.

    :param scene: what there is to see
    :param ground: what the grid is drawn on, None for z = 0
    :param start: poses of the links that the camera is placed for, (links, 7)
    :param more: what else viewer.js is to know: times and poses of a recording, or that it is live
    """
    data = {**_scene_data(scene, ground or HalfSpace(), np.asarray(start, dtype=float)), **more}
    # No name of a link may end the element that it stands in.
    text = json.dumps(data, allow_nan=False).replace('<', '\\u003c')
    values = {
        'TITLE': html.escape(scene.name or 'robot'),
        'THREE': _part('three.js'),
        'VIEWER': _part('viewer.js'),
        'DATA': text,
    }
    return re.sub('@([A-Z]+)@', lambda found: values[found[1]], _part('page.html'))


def floats(array: ArrayLike) -> str:
    """Numbers in single precision, little endian, as base64.

    >>> floats([1.0, 2.0])
    'AACAPwAAAEA='
    """
    return _base64(np.ascontiguousarray(array, dtype='<f4'))


@lru_cache(maxsize=None)
def _part(name: str) -> str:
    return (_FOLDER / name).read_text(encoding='utf-8')


def _base64(array: NDArray[Any]) -> str:
    return base64.b64encode(array.tobytes()).decode('ascii')


def _scene_data(scene: Scene, ground: HalfSpace, poses: FloatArray) -> Dict[str, Any]:
    index = {link: k for k, link in enumerate(scene.links)}
    parts = []
    for part in scene.parts:
        wide = len(part.vertices) > 65536
        corners = np.ascontiguousarray(part.corners, dtype='<u4' if wide else '<u2')
        parts.append(
            {'vertices': floats(part.vertices), 'corners': _base64(corners), 'wide': wide}
        )
    return {
        'links': list(scene.links),
        'parts': parts,
        'shapes': [
            {
                'link': index[shape.link],
                'placement': shape.placement.reshape(-1).tolist(),
                'kind': shape.kind,
                'size': list(shape.size),
                'colour': list(shape.colour),
            }
            for shape in scene.shapes
        ],
        'ground': _ground_pose(ground).reshape(-1).tolist(),
        'reach': _reach(scene, poses),
        'notices': list(scene.notices),
    }


def _ground_pose(ground: HalfSpace) -> FloatArray:
    """Pose of a frame whose z axis is the normal of the ground, (4, 4)."""
    axes = ground.axes()
    pose = np.eye(4)
    pose[:3, :3] = axes[[1, 2, 0]].T
    pose[:3, 3] = ground.offset * axes[0]
    return pose


def _reach(scene: Scene, poses: FloatArray) -> Dict[str, Any]:
    """Centre and radius of what there is to see at these poses [m]."""
    index = {link: k for k, link in enumerate(scene.links)}
    corners = [np.zeros((1, 3))]
    signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], dtype=float)
    for shape in scene.shapes:
        size = shape.size
        if shape.kind == 'mesh':
            points = scene.parts[int(size[0])].vertices
            low, high = points.min(axis=0), points.max(axis=0)
            points = 0.5 * (low + high) + 0.5 * (high - low) * signs
        else:
            half = {
                'box': np.array(size) / 2.0,
                'sphere': np.array([size[0]] * 3),
                'cylinder': np.array([size[0], size[0], size[-1] / 2.0]),
            }[shape.kind]
            points = half * signs
        points = points @ shape.placement[:3, :3].T + shape.placement[:3, 3]
        position, (x, y, z, w) = poses[index[shape.link], :3], poses[index[shape.link], 3:]
        # v + 2 w u x v + 2 u x (u x v) for the quaternion (u, w)
        u = np.array([x, y, z])
        turned = np.cross(u, points)
        corners.append(points + 2.0 * (w * turned + np.cross(u, turned)) + position)
    every = np.concatenate(corners[1:] or corners)
    low, high = every.min(axis=0), every.max(axis=0)
    return {
        'centre': (0.5 * (low + high)).tolist(),
        'radius': 0.5 * math.dist(low, high),
    }
