# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The world of the simulated robot, from the parameters of the node."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Mapping, Optional

import numpy as np

from rbd_ros.lookup.worlds import find_world
from rbd_ros.model import Model
from rbd_ros.model.urdf.mesh_paths import MeshPaths
from rbd_ros.world.world import World
from rbd_ros.world.world_file import read_world


def srdf_of(parameters: Mapping[str, Any]) -> Optional[str]:
    """Return the SRDF of the robot: XML, or the path of its file; None if the parameter is empty.

    :param parameters: values of the simulator's parameters
    :raises ValueError: for a package:// URI that is not found
    """
    given: str = parameters['robot_description_semantic'].strip()
    if not given.startswith('package://'):
        return given or None
    path = MeshPaths(None, parameters['package_paths']).resolve(given)
    if path is None:
        raise ValueError(
            f'parameter robot_description_semantic: {given[:200]!r} was not found below '
            'package_paths and AMENT_PREFIX_PATH; install the package and source its workspace'
        )
    return path


#: Frame of the world, the reference of object poses.
WORLD_FRAME = 'world'


def world_of(parameters: Mapping[str, Any], robot: Optional[Model] = None) -> Optional[World]:
    """Return the environment of the robot; None if the parameter `world` is empty.

    :param parameters: values of the simulator's parameters
    :param robot: model of the robot, if known: the objects must not have names of its links, and
        it must have the links that the file names
    :raises ValueError: with the error in the file, or its conflict with the parameters
    """
    name = parameters['world'].strip()
    if not name:
        return None
    try:
        path = find_world(name, parameters['package_paths'])
        world = read_world(path, robot, parameters['package_paths'])
    except ValueError as error:
        raise ValueError(f'world {name!r} cannot be used: {error}') from None
    if not np.allclose(world.gravity, parameters['gravity'], rtol=0.0, atol=1e-12):
        raise ValueError(
            f'world {name!r} has the gravity {list(world.gravity)}, parameter gravity is '
            f'{list(parameters["gravity"])}: give both the same value'
        )
    srdf = srdf_of(parameters)
    if srdf is not None:
        world = replace(world, srdf=srdf)
    if robot is not None:
        try:
            check_names(world, robot, parameters['odom_frame'])
        except ValueError as error:
            raise ValueError(f'world {name!r}: {error}') from None
    return world


def check_names(world: World, robot: Model, odom_frame: str) -> None:
    """Reject movable objects with the frame name of another object or a link.

    :param odom_frame: reference frame of a floating base's pose
    :raises ValueError: with the object
    """
    for each in world.movable:
        if each.name in (WORLD_FRAME, odom_frame.strip('/')):
            raise ValueError(
                f'object {each.name!r} has the name of the frame of the world; give it another '
                'name'
            )
        if each.name in robot.links:
            raise ValueError(
                f'object {each.name!r} has the name of a link of the robot, so both frames would '
                'have one name; give it another name'
            )
