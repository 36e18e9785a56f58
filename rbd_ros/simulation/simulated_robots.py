# SPDX-License-Identifier: Apache-2.0
"""Robots of a world that move: they and the robot that is in the world are simulated as one."""

from __future__ import annotations

from typing import Dict, Optional

from rbd_ros import model
from rbd_ros.model import Model
from rbd_ros.robot import Robot
from rbd_ros.world.world import World


def simulated_robot(robot: Optional[Robot], world: Optional[World]) -> Robot:
    """Return the robot of all that has joints: the given one, and the movable robots of a world.

    Its own joints and links keep their names, those of others are called 'name/joint'. A robot
    that has them already stays what it is.

    :param robot: the robot; None if there are but those of the world
    :param world: what is around it
    :raises ValueError: without a robot and a world
    :raises ModelError: if a name of the robot is that of a joint or link of another one
    """
    if world is None:
        if robot is None:
            raise ValueError('without a robot there must be a world; give one, or a Robot')
        return robot
    parts: Dict[str, Model] = {} if robot is None else {'': robot.model}
    there = () if robot is None else world.moving_in(robot.model)
    others = [each for each in world.robots if each.movable and each not in there]
    if not others:
        if robot is None:
            return Robot.from_urdf('<robot name="nobody"><link name="world"/></robot>')
        return robot
    parts.update((each.name, each.model) for each in others)
    return Robot(
        model.combine_models(
            parts,
            {each.name: each.base_placement for each in others},
            # A robot that does not move has no gravity of its own.
            robot.model.gravity if robot is not None and robot.nv else world.gravity,
        )
    )
