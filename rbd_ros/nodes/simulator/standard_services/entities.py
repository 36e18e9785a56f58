# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Services of `simulation_interfaces` about entities: robots, and the objects of the world.

Twists are the velocity of the origin and the angular velocity, along the axes of the world.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Optional, Tuple

from geometry_msgs.msg import Vector3
import numpy as np

from rbd_ros.nodes.messages.conversions import (
    floating_joint_from_pose,
    motion_from_twist,
    pose_from_floating_joint,
    set_stamp,
    twist_from_motion,
)
from rbd_ros.nodes.messages.text import short_name, shorten
from rbd_ros.nodes.simulator.standard_services.entity_filters import (
    checked_boxes,
    finite_box,
    matching,
)
from rbd_ros.nodes.simulator.standard_services.entity_info import EntityInfos
from rbd_ros.nodes.simulator.standard_services.entity_registry import EntityRegistry
from rbd_ros.nodes.simulator.standard_services.spawned_entities import (
    checked_name,
    placed,
    POSE_INVALID,
    spawned,
)
from rbd_ros.nodes.simulator.standard_services.standard_answers import (
    answering,
    Callback,
    FAILED,
    NOT_FOUND,
    OK,
    RequestError,
)
from rbd_ros.nodes.simulator.world.object_changes import ChangeRejectedError
from rbd_ros.nodes.simulator.world.object_poses import (
    matrix_row,
    NO_LINK,
    pose_problem,
    row_matrix,
)
from rbd_ros.spatial import PluckerTransform

FEATURES = (
    'ENTITY_STATE_GETTING',
    'ENTITY_STATE_SETTING',
    'ENTITY_INFO_GETTING',
    'ENTITY_INFO_SETTING',
    'ENTITY_TAGS',
    'ENTITY_CATEGORIES',
    'ENTITY_BOUNDS',
    'ENTITY_BOUNDS_BOX',
    'ENTITY_BOUNDS_CONVEX',
)
WITH_WORLD = (
    'SPAWNING',
    'SPAWNING_RESOURCE_STRING',
    'SPAWNING_ENTITIES',
    'DELETING',
    'SIMULATION_RESET_SPAWNED',
)
SPAWN_FORMATS = ('urdf', 'yaml')

# Constants of the standard.
INVALID_POSE = 101
SPAWN_FAILED = 150
BOUNDS_EMPTY, BOUNDS_BOX = 0, 1
MAX_VELOCITY = 1e5  # of a placed entity [rad/s or m/s]
MAX_SPAWNED = 100  # in one request


class Entities:
    """Callbacks of the services.

    :param simulator: node with `world_interface` and `changes` (None without a world), `loop`, and
        `parameters`
    :param msg: message module of the package
    """

    def __init__(self, simulator: Any, msg: Any):
        self._simulator = simulator
        self._msg = msg
        self._registry = EntityRegistry(simulator)
        self._infos = EntityInfos(self._registry)

    @property
    def services(self) -> Tuple[Tuple[str, str, Callback], ...]:
        """Type, name and callback of each service."""
        return (
            ('GetEntities', 'get_entities', answering(self._names)),
            ('GetEntityState', 'get_entity_state', answering(self._state)),
            ('GetEntitiesStates', 'get_entities_states', answering(self._states)),
            ('SetEntityState', 'set_entity_state', answering(self._place)),
            ('GetEntityInfo', 'get_entity_info', answering(self._info)),
            ('SetEntityInfo', 'set_entity_info', answering(self._set_info)),
            ('GetEntityBounds', 'get_entity_bounds', answering(self._bounds)),
            ('SpawnEntity', 'spawn_entity', answering(self._spawn)),
            ('SpawnEntities', 'spawn_entities', answering(self._spawn_all)),
            ('DeleteEntity', 'delete_entity', answering(self._delete)),
        )

    @property
    def features(self) -> Tuple[str, ...]:
        """Names of supported features: spawning needs a world."""
        return FEATURES + (WITH_WORLD if self._simulator.world_interface is not None else ())

    @property
    def spawn_formats(self) -> Tuple[str, ...]:
        """Formats of the descriptions of entities."""
        return SPAWN_FORMATS if self._simulator.world_interface is not None else ()

    # -- the services -----------------------------------------------------------------------------

    def _names(self, request: Any, response: Any) -> None:
        response.entities = list(self._matching(request.filters))

    def _states(self, request: Any, response: Any) -> None:
        names = self._matching(request.filters)
        response.entities, response.states = list(names), self._read(names)

    def _state(self, request: Any, response: Any) -> None:
        (response.state,) = self._read((self._known(request.entity),))

    def _info(self, request: Any, response: Any) -> None:
        info = self._infos.of(self._known(request.entity))
        response.info.category.category = info.category
        response.info.description, response.info.tags = info.description, list(info.tags)

    def _set_info(self, request: Any, response: Any) -> None:
        self._infos.set(self._known(request.entity), request.info)

    def _bounds(self, request: Any, response: Any) -> None:
        name = self._known(request.entity)
        (boxes,) = checked_boxes(self._registry, (name,))
        box = finite_box(boxes)
        response.bounds.type = BOUNDS_EMPTY if box is None else BOUNDS_BOX
        # The standard has the upper right corner first.
        corners = [] if box is None else [box[1], box[0]]
        response.bounds.points = [self._vector(corner) for corner in corners]

    @staticmethod
    def _vector(values: np.ndarray) -> Vector3:
        x, y, z = values.tolist()
        return Vector3(x=x, y=y, z=z)

    def _place(self, request: Any, response: Any) -> None:
        name, state = self._known(request.entity), request.state
        frame = self._pose_of(state.header.frame_id, FAILED)
        # Versions of the standard without these flags always set all.
        pose = velocity = None
        if getattr(request, 'set_pose', True):
            w, x, y, z, *position = floating_joint_from_pose(state.pose).tolist()
            pose = np.array([*position, x, y, z, w])
            problem = pose_problem(pose[:3], pose[3:])
            if problem is not None:
                raise RequestError(INVALID_POSE, problem[0])
            pose = matrix_row(frame @ row_matrix(pose))
        if getattr(request, 'set_twist', True):
            velocity = motion_from_twist(state.twist)
            if not np.abs(velocity).max() <= MAX_VELOCITY:
                raise RequestError(
                    FAILED,
                    f'twist {velocity.tolist()} is not finite, or beyond {MAX_VELOCITY:g}',
                )
            velocity = (frame[:3, :3] @ velocity.reshape(2, 3, 1)).ravel()
        moved = velocity is not None and velocity.any()
        if getattr(request, 'set_acceleration', False):
            a = state.acceleration
            given = (a.linear.x, a.linear.y, a.linear.z, a.angular.x, a.angular.y, a.angular.z)
            moved = moved or any(given)
        self._move(name, pose, velocity, moved)

    def _move(
        self,
        name: str,
        pose: Optional[np.ndarray],
        velocity: Optional[np.ndarray],
        moved: bool,
    ) -> None:
        """Set pose and velocity of an entity, depending on its kind.

        :param pose: position [m], quaternion x, y, z, w, (7,); None: unchanged
        :param velocity: angular velocity and velocity, (6,); None: unchanged
        :param moved: whether a motion is requested
        """
        robot = self._registry.robots.get(name)
        if robot is not None:
            if robot.base is None:
                raise RequestError(
                    FAILED, f'the base of {name!r} is fixed; its joints move by commands'
                )
            self._registry.place_base(robot, pose, velocity)
            return
        world_interface = self._simulator.world_interface
        if name in world_interface.objects:
            self._simulator.loop.request(lambda: world_interface.set_state(name, pose, velocity))
            return
        if moved:
            raise RequestError(FAILED, f'{name!r} is static and cannot have a velocity')
        if pose is not None:
            self._changes.move(name, PluckerTransform.from_pose(row_matrix(pose).tolist()))

    def _spawn_all(self, request: Any, response: Any) -> None:
        requested = request.spawn_requests
        if len(requested) > MAX_SPAWNED:
            raise RequestError(FAILED, f'too many objects; spawn at most {MAX_SPAWNED} at a time')
        results = []
        for each in requested:
            results.append(answering(self._spawn)(each, self._msg.SpawnResult()))
        response.results = results
        failed = [k for k, result in enumerate(results) if result.result.result != OK]
        if failed:
            raise RequestError(
                SPAWN_FAILED,
                f'{len(failed)} of {len(results)} failed; the first: '
                f'{results[failed[0]].result.error_message}',
            )

    def _spawn(self, request: Any, response: Any) -> None:
        changes = self._changes
        parameters = self._simulator.parameters
        surface = changes.world.surface
        requested = spawned(request, surface, tuple(parameters['package_paths']))
        name = requested.name
        if request.allow_renaming:
            name = changes.free_name(name or 'object')
        checked_name(name, changes.is_in_use(name))
        given = request.initial_pose
        frame = self._pose_of(given.header.frame_id, POSE_INVALID)
        changes.add(placed(replace(requested, name=name), given.pose, frame))
        response.entity_name = name

    def _delete(self, request: Any, response: Any) -> None:
        # The field's name depends on the version of the standard.
        name = request.entity if hasattr(request, 'entity') else request.name
        try:
            self._changes.remove(name)
        except ChangeRejectedError as error:
            raise RequestError(NOT_FOUND, str(error)) from None

    # -- details ----------------------------------------------------------------------------------

    @property
    def _changes(self) -> Any:
        if self._simulator.world_interface is None:
            raise RequestError(
                FAILED, 'the simulation has no world; start it with the parameter world'
            )
        return self._simulator.changes

    @property
    def _world_frame(self) -> str:
        world_interface = self._simulator.world_interface
        return NO_LINK if world_interface is None else world_interface.frames.world

    def _pose_of(self, frame: str, code: int) -> np.ndarray:
        """Return the pose of a frame, the world's or a link's, in the world, (4, 4).

        :param code: result code for another frame
        """
        if frame in ('', NO_LINK, self._world_frame):
            return np.eye(4)
        world_interface = self._simulator.world_interface
        simulation = self._simulator.cycle.simulator
        link = frame if world_interface is None else world_interface.frames.local(frame)
        if link not in simulation.robot.model.links:
            raise RequestError(
                code,
                f'header.frame_id {short_name(frame)!r} is neither the frame of the world, '
                f'{self._world_frame!r}, nor a link of the robot',
            )
        pose: np.ndarray = self._simulator.loop.request(
            lambda: simulation.robot.forward_kinematics(simulation.q)[link]
        )
        return pose

    def _known(self, name: str) -> str:
        names = self._registry.names
        if name not in names:
            raise RequestError(
                NOT_FOUND,
                f'there is no entity {short_name(name)!r}; there are {shorten(names) or "none"}',
            )
        return name

    def _matching(self, filters: Any) -> Tuple[str, ...]:
        """Return the names of entities that pass the filters."""
        return matching(self._registry, self._infos, filters)

    def _read(self, names: Tuple[str, ...]) -> Any:
        """Return the states of entities as messages."""
        if not names:
            return []
        time, motions = self._registry.motion(names)
        found = []
        for motion in motions:
            state = self._msg.EntityState()
            set_stamp(state.header.stamp, time)
            state.header.frame_id = self._world_frame
            px, py, pz, x, y, z, w = matrix_row(motion.pose)
            state.pose = pose_from_floating_joint(np.array([w, x, y, z, px, py, pz]))
            state.twist = twist_from_motion(motion.twist)
            found.append(state)
        return found
