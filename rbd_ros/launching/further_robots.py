# SPDX-License-Identifier: Apache-2.0
"""Robots of a world file that move, which get a controller each (robot_namespaces)."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple

import yaml

from rbd_ros.bounded_files import MAX_TEXT, read_text
from rbd_ros.launching.arguments import ArgumentError, FALSE, TRUE
from rbd_ros.lookup.worlds import find_world, WorldNotFoundError
from rbd_ros.model.bounded_yaml import load_yaml
from rbd_ros.model.urdf.mesh_paths import MeshPaths


class FurtherRobot(NamedTuple):
    """A robot of a world: its name, which is its namespace, and its URDF."""

    name: str
    urdf: str


def further_robots(world: str) -> List[FurtherRobot]:
    """Return the movable robots of a world on fixed bases, which torque nodes can drive.

    The simulator reports what else is wrong with the file.

    :param world: world file, as in the parameter `world`
    :raises ArgumentError: if there is no such file, or it is none
    """
    try:
        path = find_world(world)
        content = load_yaml(read_text(path, MAX_TEXT), words=True)  # names stay texts
    except (WorldNotFoundError, OSError, ValueError, yaml.YAMLError) as error:
        text = ' '.join(str(error).split())
        raise ArgumentError(f'launch argument world: {text}') from None
    robots = content.get('robots') if isinstance(content, dict) else None
    found, paths = [], MeshPaths(str(path.parent), ())
    entries: Dict[Any, Any] = robots if isinstance(robots, dict) else {}
    for name, entry in entries.items():
        if not isinstance(entry, dict) or not _is_false(entry.get('static')):
            continue
        urdf = paths.resolve(str(entry.get('urdf')))
        if urdf is not None and not _is_true(entry.get('floating')):
            found.append(FurtherRobot(str(name), urdf))
    return found


def _is_true(word: Any) -> bool:
    return isinstance(word, str) and word.lower() in TRUE


def _is_false(word: Any) -> bool:
    return isinstance(word, str) and word.lower() in FALSE
