# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Entities of spawn requests: a URDF object, or an entry of a world file."""

from __future__ import annotations

from dataclasses import replace
import re
from typing import Any, Tuple

import numpy as np

from rbd_ros.bounded_files import FileRejectedError, read_text
from rbd_ros.model.urdf.mesh_paths import MeshPaths
from rbd_ros.model.urdf.urdf_document import is_xacro
from rbd_ros.model.urdf.xacro_expansion import expand_xacro
from rbd_ros.nodes.messages.conversions import floating_joint_from_pose
from rbd_ros.nodes.messages.text import short_name
from rbd_ros.nodes.simulator.standard_services.standard_answers import RequestError
from rbd_ros.nodes.simulator.world.object_changes import MAX_NAME_LENGTH
from rbd_ros.nodes.simulator.world.object_poses import pose_matrix, pose_problem
from rbd_ros.spatial import PluckerTransform
from rbd_ros.world.surfaces import Surface
from rbd_ros.world.urdf_objects import urdf_object
from rbd_ros.world.world import ROBOT, WorldObject
from rbd_ros.world.world_file import read_object

# Constants of the standard.
NAME_NOT_UNIQUE, NAME_INVALID, UNSUPPORTED_FORMAT, NO_RESOURCE = 101, 102, 103, 104
NAMESPACE_INVALID, PARSE_ERROR, POSE_INVALID = 105, 106, 109

MAX_BYTES = 1024 * 1024  # of a file
NAMESPACE = re.compile(r'/?([A-Za-z_]\w*(/[A-Za-z_]\w*)*)?', re.ASCII)


def spawned(request: Any, surface: Surface, package_paths: Tuple[str, ...]) -> WorldObject:
    """Return the object of a SpawnEntity request; its name is '' if the request has none.

    :param request: of any version of the standard
    :param surface: surface of objects that declare none
    :param package_paths: directories that are searched first for package:// names
    :raises RequestError: for an invalid object
    """
    if not NAMESPACE.fullmatch(request.entity_namespace):
        raise RequestError(
            NAMESPACE_INVALID, f'{short_name(request.entity_namespace)!r} is not a valid namespace'
        )
    # Newer versions of the standard have a message for the resource.
    resource = getattr(request, 'entity_resource', request)
    text = resource.resource_string
    if resource.uri:
        text = _content(resource.uri, package_paths)
    return object_of(text, request.name, surface, package_paths)


def spawnable(uri: str, surface: Surface, package_paths: Tuple[str, ...]) -> WorldObject:
    """Return the object of a spawnable file, without a name.

    :param surface: surface of objects that declare none
    :param package_paths: directories that are searched first for package:// names
    :raises RequestError: for an invalid object
    """
    return object_of(_content(uri, package_paths), '', surface, package_paths)


def object_of(
    text: str, name: str, surface: Surface, package_paths: Tuple[str, ...]
) -> WorldObject:
    """Return the object of a text: a URDF of one link, or an entry of a world file.

    :param name: name of the object; '': that of the URDF, or none
    :raises RequestError: for an invalid object
    """
    if not text.strip():
        raise RequestError(NO_RESOURCE, 'uri and resource_string are both empty; give one')
    try:
        if not text.lstrip().startswith('<'):
            made = read_object(name or 'object', text, surface, package_paths)
            return made if name else replace(made, name='')
        if re.search(r'<sdf\b', text):
            raise RequestError(
                UNSUPPORTED_FORMAT, 'SDF is not supported; give a URDF of one link, or YAML'
            )
        if is_xacro(text):
            raise RequestError(
                UNSUPPORTED_FORMAT, 'xacro is not supported; give the expanded URDF'
            )
        return urdf_object(text, name, surface, package_paths)
    except ValueError as error:
        raise RequestError(PARSE_ERROR, str(error)) from None


def _content(uri: str, package_paths: Tuple[str, ...]) -> str:
    """Return the content of the file at a URI or an absolute path."""
    path = MeshPaths(None, package_paths).resolve(uri) if '\0' not in uri else None
    if path is None:
        raise RequestError(
            NO_RESOURCE, f'there is no file {uri[:200]!r}; give an absolute path, or package://...'
        )
    try:
        text = read_text(path, MAX_BYTES)
        return expand_xacro(path, None, {}, package_paths) if is_xacro(text) else text
    except FileRejectedError as error:
        raise RequestError(NO_RESOURCE, str(error)) from None
    except (OSError, ValueError) as error:
        raise RequestError(PARSE_ERROR, f'{path} cannot be read: {error}') from None


def checked_name(name: str, taken: bool) -> None:
    """Reject an invalid name of a new object.

    :param taken: whether the name is in use
    :raises RequestError: with the reason
    """
    if taken and name != ROBOT:
        raise RequestError(
            NAME_NOT_UNIQUE,
            f'{short_name(name)!r} is already the name of an object, link or robot; choose '
            'another name, or allow renaming',
        )
    if not name.strip() or '/' in name or name == ROBOT or len(name) > MAX_NAME_LENGTH:
        raise RequestError(
            NAME_INVALID,
            f'{short_name(name)!r} is not a valid name of an object; a name must not be empty, '
            f'not {ROBOT!r}, without a slash, and have at most {MAX_NAME_LENGTH} characters',
        )


def placed(each: WorldObject, pose: Any, frame: np.ndarray) -> WorldObject:
    """Return the object with its description's frame at a pose.

    :param pose: geometry_msgs/Pose
    :param frame: pose of the reference frame in the world, (4, 4)
    :raises RequestError: for an invalid pose
    """
    w, x, y, z, *position = floating_joint_from_pose(pose).tolist()
    problem = pose_problem(np.array(position), np.array([x, y, z, w]))
    if problem is not None:
        raise RequestError(POSE_INVALID, problem[0])
    here = frame @ pose_matrix(position, (x, y, z, w))
    return replace(each, placement=each.placement * PluckerTransform.from_pose(here.tolist()))
