# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots and objects of a simulation as entities: their names, kinds, poses, velocities, bounds.

The simulated robot is the entity 'robot'; further robots and the objects of the world have their
own names. Poses are those of root links and object frames. Twists are the angular velocity and the
velocity of the origin, along the axes of the world.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from rbd_ros.algorithms.kinematics.kinematics import body_transforms
from rbd_ros.collision.scene.scene import start_configuration
from rbd_ros.collision.shapes.bounding_boxes import bounding_box, union
from rbd_ros.model import Model
from rbd_ros.nodes.simulator.start.base_placement import base_body
from rbd_ros.nodes.simulator.world.object_poses import row_matrix
from rbd_ros.world.world import ROBOT, World, WorldRobot

# Categories of the standard.
CATEGORY_ROBOT, CATEGORY_DYNAMIC, CATEGORY_STATIC = 1, 4, 5


class RobotEntity(NamedTuple):
    """A robot.

    :param name: entity name
    :param model: model of this robot only
    :param prefix: prefix of its links and joints in the simulation
    :param base: indices of its floating base in q and v; None: it is fixed
    :param standing: link poses of a static robot; None: the robot is movable
    """

    name: str
    model: Model
    prefix: str
    base: Optional[Tuple[int, int]]
    standing: Optional[Mapping[str, np.ndarray]]

    @property
    def root(self) -> str:
        """Name of its root link, without the prefix."""
        return next(iter(self.model.links))


class EntityMotion(NamedTuple):
    """Pose, (4, 4), and twist of an entity: angular velocity, velocity, (6,) [rad/s, m/s]."""

    pose: np.ndarray
    twist: np.ndarray


class EntityRegistry:
    """Registry of the entities in the simulation of a node.

    :param simulator: node with `cycle`, `loop` and `world_interface`
    """

    def __init__(self, simulator: Any):
        self._node = simulator

    # -- entities ---------------------------------------------------------------------------------

    @property
    def world(self) -> World:
        """Environment of the robot; empty without a world."""
        cycle = self._node.cycle
        return (cycle and cycle.simulator.world) or World()

    @property
    def robots(self) -> Dict[str, RobotEntity]:
        """Robots by name; empty without a description."""
        cycle = self._node.cycle
        if cycle is None:
            return {}
        model, found = cycle.simulator.robot.model, {}
        if cycle.described.model.links:
            found[ROBOT] = self._moving(ROBOT, cycle.described.model, '')
        moving = self.world.moving_in(model)
        for each in self.world.robots:
            if each in moving:
                found[each.name] = self._moving(each.name, each.model, f'{each.name}/')
            else:
                poses = standing_links(each)
                found[each.name] = RobotEntity(each.name, each.model, '', None, poses)
        return found

    def _moving(self, name: str, model: Model, prefix: str) -> RobotEntity:
        whole = self._node.cycle.simulator.robot.model
        i = base_body(whole, prefix)
        base = None
        if i is not None:
            at_q, at_v = whole.independent_slices[i]
            base = at_q.start, at_v.start
        return RobotEntity(name, model, prefix, base, None)

    @property
    def names(self) -> Tuple[str, ...]:
        """Names of all entities: robots, then objects."""
        return (*self.robots, *(each.name for each in self.world.objects))

    def category(self, name: str) -> int:
        """Return the category of an entity in the standard, by its kind."""
        if name in self.robots:
            return CATEGORY_ROBOT
        return CATEGORY_DYNAMIC if self.world[name].movable else CATEGORY_STATIC

    def description(self, name: str) -> str:
        """Return the description of an entity, in words."""
        robot = self.robots.get(name)
        if robot is None:
            each = self.world[name]
            return f'{type(each.shape).__name__.lower()}, {"movable" if each.movable else "fixed"}'
        kind = 'floating base' if robot.base is not None else 'fixed base'
        if robot.standing is not None:
            kind = 'stands still'
        return f'{robot.model.name}, {len(robot.model.joint_names)} joints, {kind}'

    # -- motion -----------------------------------------------------------------------------------

    def motion(self, names: Sequence[str]) -> Tuple[int, List[EntityMotion]]:
        """Return the simulated time [ns] and the motion of entities at that time."""
        return self._node.loop.request(lambda: self._motion(names))

    def _motion(self, names: Sequence[str]) -> Tuple[int, List[EntityMotion]]:
        cycle, robots, rest = self._node.cycle, self.robots, np.zeros(6)
        simulator, world_interface = cycle.simulator, self._node.world_interface
        objects: Dict[str, EntityMotion] = {}
        if world_interface is not None:
            _, motion = world_interface.states()
            for name, pose, twist in zip(world_interface.objects, motion.poses, motion.twists):
                objects[name] = EntityMotion(row_matrix(pose), np.roll(twist, 3))
        links = simulator.robot.forward_kinematics(simulator.q) if robots else {}
        found = []
        for name in names:
            robot = robots.get(name)
            if robot is None:
                known = objects.get(name)
                found.append(known or EntityMotion(self.world[name].pose, rest))
            elif robot.standing is not None:
                found.append(EntityMotion(robot.standing[robot.root], rest))
            else:
                pose, twist = links[robot.prefix + robot.root], rest
                if robot.base is not None:
                    v, R = simulator.v[robot.base[1] :][:6], pose[:3, :3]
                    twist = np.concatenate([R @ v[:3], R @ v[3:]])
                found.append(EntityMotion(pose, twist))
        return cycle.time_ns, found

    def place_base(
        self, robot: RobotEntity, pose: Optional[np.ndarray], twist: Optional[np.ndarray]
    ) -> None:
        """Set pose and velocity of the floating base of a robot.

        :param pose: position [m], quaternion x, y, z, w, (7,); None: unchanged
        :param twist: angular velocity and velocity of the origin of the root link, along the axes
            of the world, (6,) [rad/s, m/s]; None: unchanged
        """
        assert robot.base is not None
        at_q, at_v = robot.base
        self._node.loop.request(lambda: self._node.cycle.place_base(at_q, at_v, pose, twist))

    # -- bounds -----------------------------------------------------------------------------------

    def boxes(self, names: Sequence[str]) -> List[Tuple[np.ndarray, ...]]:
        """Return the bounding boxes of entities along the axes of the world.

        None or one for each, (2, 3) [m].

        :raises ValueError: for an unreadable mesh
        """
        _, motions = self.motion(names)
        robots = self.robots
        links: Mapping[str, np.ndarray] = {}
        if robots:
            simulator = self._node.cycle.simulator
            links = self._node.loop.request(
                lambda: dict(simulator.robot.forward_kinematics(simulator.q))
            )
        found = []
        for name, motion in zip(names, motions):
            if name in robots:
                found.append(union(_shapes_of_robot(robots[name], links)))
            else:
                found.append((bounding_box(self.world[name].shape, motion.pose),))
        return found


def _shapes_of_robot(robot: RobotEntity, links: Mapping[str, np.ndarray]) -> Iterator[np.ndarray]:
    """Yield the boxes of the collision shapes of a robot."""
    for each in robot.model.geometries:
        if each.role != 'collision':
            continue
        link = robot.model.link(each.link)
        poses, prefix = (links, robot.prefix) if robot.standing is None else (robot.standing, '')
        body = poses[prefix + each.link] @ np.linalg.inv(np.array(link.placement.pose(), float))
        yield bounding_box(each.shape, body @ np.array(each.placement.pose(), dtype=float))


def standing_links(robot: WorldRobot) -> Dict[str, np.ndarray]:
    """Return the poses in the world of the links of a static robot, by name, (4, 4).

    :param robot: a robot of a world
    """
    model = robot.model
    X0 = body_transforms(model, model.tree_position(start_configuration(robot)))
    return {
        name: np.array((link.placement * X0[link.body] * robot.base_placement).pose(), dtype=float)
        for name, link in model.links.items()
    }
