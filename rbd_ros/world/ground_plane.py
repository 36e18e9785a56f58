# SPDX-License-Identifier: Apache-2.0
"""Level ground as a world: one plane, which touches a robot rigidly."""

from __future__ import annotations

from typing import Optional, Sequence

from rbd_ros.model import Model
from rbd_ros.model.geometry import Plane
from rbd_ros.spatial import PluckerTransform
from rbd_ros.world.surfaces import Surface
from rbd_ros.world.world import ROBOT, World, WorldObject

#: Name of the plane.
GROUND = 'ground'


def level_ground(
    model: Model,
    height: float = 0.0,
    friction: float = 0.8,
    links: Optional[Sequence[str]] = None,
) -> World:
    """Return a world that has only solid ground z <= height.

    :param model: model of the robot on it, whose gravity that of the world is
    :param height: of the plane [m]
    :param friction: coefficient of Coulomb friction, also of links with each other
    :param links: links that touch it; None for all that move
    :raises ValueError: for a negative friction, or an unknown link

    >>> from rbd_ros.world import level_ground
    >>> world = level_ground(robot.model, height=-0.5, links=['tool0'])
    >>> world.names, world['ground'].pose[2, 3]
    (('robot', 'ground'), -0.5)
    >>> [world.can_collide(f'robot/{link}', 'ground') for link in ('tool0', 'wrist_3_link')]
    [True, False]
    """
    # `model.link` raises ValueError with similar names. A misspelled link would fall through.
    for link in links or ():
        model.link(link)
    # The surface of the world is that of the links as well: the pair of a link and the ground has
    # this friction, the mean of two equal coefficients.
    surface = Surface((float(friction), float(friction)))
    placement = PluckerTransform.translation((0.0, 0.0, float(height)))
    return World(
        (WorldObject(GROUND, Plane(), placement, surface),),
        # A world lists the pairs without contact; `links` lists those with it.
        disabled_collisions=frozenset(
            (f'{ROBOT}/{link}', GROUND)
            for link in model.links
            if links is not None and link not in links
        ),
        gravity=model.gravity,
        surface=surface,
    )
