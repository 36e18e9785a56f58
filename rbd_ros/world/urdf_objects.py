# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Movable objects described by a URDF of one link."""

from __future__ import annotations

import os
from typing import Iterable, Optional, Union

import numpy as np

from rbd_ros.model import load_urdf
from rbd_ros.model.geometry import Mesh
from rbd_ros.world.surfaces import Surface
from rbd_ros.world.world import WorldObject
from rbd_ros.world.world_file import WorldFileError

#: Tolerance between the frames of collision shape and link [m, 1].
SAME_FRAME = 1e-9


def urdf_object(
    text: str,
    name: str = '',
    surface: Optional[Surface] = None,
    package_paths: Iterable[Union[str, os.PathLike[str]]] = (),
) -> WorldObject:
    """Return the movable object of a URDF with one link, its inertia and collision shape.

    The collision shape is at the origin of the link, whose frame is that of the object. A mesh is
    replaced by its convex hull, like those of robots.

    :param text: the URDF, or the path of its file
    :param name: name of the object; '': that of the robot in the URDF
    :param surface: its surface; None: the default `Surface()`
    :param package_paths: directories that are searched first for package:// names
    :raises ModelError: for a description that cannot be converted to a model
    :raises WorldFileError: if it is not a single such link, with the cure

    >>> from rbd_ros.world.urdf_objects import urdf_object
    >>> inertia = '<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/>'
    >>> shape = '<collision><geometry><sphere radius="0.05"/></geometry></collision>'
    >>> link = f'<link name="l"><inertial><mass value="2"/>{inertia}</inertial>{shape}</link>'
    >>> ball = urdf_object(f'<robot name="ball">{link}</robot>')
    >>> ball.name, ball.shape.radius, ball.inertia.mass
    ('ball', 0.05, 2.0)
    """
    # With a floating base, so that the only link is a body with an inertia.
    model = load_urdf(text, floating_base=True, package_paths=package_paths)
    name = name or model.name
    where = f'URDF of {name[:80]!r}'
    if len(model.links) != 1:
        raise WorldFileError(
            f'{where}: it has {len(model.links)} links, but an object must have one; enter it '
            'under "robots" of the world file'
        )
    shapes = [each for each in model.geometries if each.role == 'collision']
    if len(shapes) != 1:
        raise WorldFileError(
            f'{where}: it has {len(shapes)} collision shapes, but an object must have one; give '
            'one'
        )
    (shape,) = shapes
    # A `WorldObject` has a single frame for shape, pose and inertia.
    if np.abs(np.array(shape.placement.pose(), dtype=float) - np.eye(4)).max() > SAME_FRAME:
        raise WorldFileError(
            f'{where}: its collision shape has an <origin> that is not zero; move the frame of '
            'the link there'
        )
    if isinstance(shape.shape, Mesh) and shape.shape.path is None:
        raise WorldFileError(
            f'{where}: {shape.shape.uri[:200]} was not found; add the folder of its package to '
            'package_paths'
        )
    body = model.bodies[0]
    if not body.inertia.mass > 0.0:
        raise WorldFileError(f'{where}: its link has no mass; add an inertial element')
    # Colors belong to visuals; an object shows its collision shape in the first color.
    seen = [each.color for each in model.geometries if each.color is not None]
    color = None
    if seen:
        red, green, blue, alpha = map(float, seen[0])
        color = red, green, blue, alpha
    return WorldObject(
        name,
        shape.shape,
        surface=surface or Surface(),
        inertia=body.inertia,
        color=color,
        convex=True,
    )
