"""Services of `simulation_interfaces` about entities, which are the movable objects of the world.

Their twists are velocity of the origin and angular velocity, both along the axes of the world.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
import re
import signal
import threading
from typing import Any, Callable, Iterator, Optional, Tuple

import numpy as np

from rbd_ros.nodes.common.conversions import (
    floating_joint_from_pose,
    motion_from_twist,
    pose_from_floating_joint,
    set_stamp,
    twist_from_motion,
)
from rbd_ros.nodes.common.text import readable, short_name, shorten
from rbd_ros.nodes.simulator.object_changes import RefusedError
from rbd_ros.nodes.simulator.poses import pose_problem
from rbd_ros.nodes.simulator.spawned_entities import (
    checked_name,
    placed,
    POSE_INVALID,
    RefusedRequestError,
    spawned,
)

FEATURES = (
    'SPAWNING',
    'SPAWNING_RESOURCE_STRING',
    'DELETING',
    'SIMULATION_RESET_SPAWNED',
    'ENTITY_STATE_GETTING',
    'ENTITY_STATE_SETTING',
)
SPAWN_FORMATS = ('urdf', 'yaml')

# Constants of the standard.
UNSUPPORTED, OK, NOT_FOUND, FAILED, INVALID_POSE = 0, 1, 2, 4, 101
LARGEST_VELOCITY = 1e5  # of an object that is placed [rad/s or m/s]
LONGEST_FILTER = 200  # characters
LONGEST_SEARCH = 0.05  # [s]


class Entities:
    """Answers to the services.

    :param simulator: node with `surroundings` and `changes`, None without a world, `loop`, and
        `parameters`
    :param msg: the package's module of messages
    """

    def __init__(self, simulator: Any, msg: Any):
        self._simulator = simulator
        self._msg = msg

    @property
    def services(self) -> Tuple[Tuple[str, str, Callable[[Any, Any], Any]], ...]:
        """Type, name and callback of each service."""
        return (
            ('GetEntities', 'get_entities', self._answering(self._names)),
            ('GetEntityState', 'get_entity_state', self._answering(self._state)),
            ('GetEntitiesStates', 'get_entities_states', self._answering(self._states)),
            ('SetEntityState', 'set_entity_state', self._answering(self._place)),
            ('SpawnEntity', 'spawn_entity', self._answering(self._spawn)),
            ('DeleteEntity', 'delete_entity', self._answering(self._delete)),
        )

    @property
    def features(self) -> Tuple[str, ...]:
        """Names of what is supported: nothing without a world."""
        return FEATURES if self._simulator.surroundings is not None else ()

    @property
    def spawn_formats(self) -> Tuple[str, ...]:
        """What entities may be described in."""
        return SPAWN_FORMATS if self._simulator.surroundings is not None else ()

    def _answering(self, work: Callable[[Any, Any], None]) -> Callable[[Any, Any], Any]:
        def answer(request: Any, response: Any) -> Any:
            code, text = OK, ''
            try:
                work(request, response)
            except RefusedRequestError as refusal:
                code, text = refusal.code, str(refusal)
            except Exception as error:  # a service must answer
                code, text = FAILED, str(error) or type(error).__name__
            response.result.result, response.result.error_message = code, readable(text)
            return response

        return answer

    # -- the services -----------------------------------------------------------------------------

    def _names(self, request: Any, response: Any) -> None:
        response.entities = list(self._matching(request.filters))

    def _states(self, request: Any, response: Any) -> None:
        names = self._matching(request.filters)
        response.entities, response.states = list(names), self._read(names)

    def _state(self, request: Any, response: Any) -> None:
        (response.state,) = self._read((self._known(request.entity),))

    def _place(self, request: Any, response: Any) -> None:
        name, state = self._known(request.entity), request.state
        surroundings = self._simulator.surroundings
        frame = state.header.frame_id
        if not self._is_world(frame):
            raise RefusedRequestError(
                FAILED,
                f'header.frame_id {short_name(frame)!r} is not the frame of the world, '
                f'{surroundings.frames.world!r}',
            )
        # Versions of the standard without these flags set all.
        pose = velocity = None
        if getattr(request, 'set_pose', True):
            w, x, y, z, *position = floating_joint_from_pose(state.pose).tolist()
            pose = np.array([*position, x, y, z, w])
            problem = pose_problem(pose[:3], pose[3:])
            if problem is not None:
                raise RefusedRequestError(INVALID_POSE, problem[0])
        if getattr(request, 'set_twist', True):
            velocity = motion_from_twist(state.twist)
            if not np.abs(velocity).max() <= LARGEST_VELOCITY:
                raise RefusedRequestError(
                    FAILED,
                    f'twist {velocity.tolist()} is not finite, or beyond {LARGEST_VELOCITY:g}',
                )
        self._simulator.loop.request(lambda: surroundings.set_state(name, pose, velocity))

    def _spawn(self, request: Any, response: Any) -> None:
        changes = self._changes
        parameters = self._simulator.parameters
        surface = changes.environment.surface
        wanted = spawned(request, surface, tuple(parameters['package_paths']))
        name = wanted.name
        if request.allow_renaming:
            name = changes.free_name(name or 'object')
        checked_name(name, changes.is_taken(name))
        frame = request.initial_pose.header.frame_id
        if not self._is_world(frame):
            raise RefusedRequestError(
                POSE_INVALID,
                f'initial_pose is in {short_name(frame)!r}, which is not the frame of the world',
            )
        changes.add(placed(replace(wanted, name=name), request.initial_pose.pose))
        response.entity_name = name

    def _delete(self, request: Any, response: Any) -> None:
        # Versions of the standard differ in what they call it.
        name = request.entity if hasattr(request, 'entity') else request.name
        try:
            self._changes.remove(name)
        except RefusedError as error:
            raise RefusedRequestError(NOT_FOUND, str(error)) from None

    # -- details ----------------------------------------------------------------------------------

    @property
    def _changes(self) -> Any:
        if self._simulator.surroundings is None:
            raise RefusedRequestError(
                FAILED, 'the simulation has no world: begin it with the parameter world'
            )
        return self._simulator.changes

    def _is_world(self, frame: str) -> bool:
        return frame in ('', 'world', self._simulator.surroundings.frames.world)

    @property
    def _objects(self) -> Tuple[str, ...]:
        surroundings = self._simulator.surroundings
        return () if surroundings is None else surroundings.objects

    def _known(self, name: str) -> str:
        if name not in self._objects:
            raise RefusedRequestError(
                NOT_FOUND,
                f'there is no movable object {short_name(name)!r}; there are '
                f'{shorten(self._objects) or "none"}',
            )
        return name

    def _matching(self, filters: Any) -> Tuple[str, ...]:
        """Names of objects that filters let through."""
        unsupported = _unsupported(filters)
        if unsupported is not None:
            raise RefusedRequestError(UNSUPPORTED, f'entities cannot be filtered by {unsupported}')
        if len(filters.filter) > LONGEST_FILTER:
            raise RefusedRequestError(FAILED, f'a filter of {len(filters.filter)} characters')
        try:
            pattern = re.compile(filters.filter)
        except (re.error, RecursionError, OverflowError) as error:
            raise RefusedRequestError(
                FAILED, f'the filter is no regular expression: {error}'
            ) from None
        try:
            with _limited(LONGEST_SEARCH):
                return tuple(name for name in self._objects if pattern.search(name))
        except TimeoutError:
            raise RefusedRequestError(FAILED, 'the filter takes too long to match') from None

    def _read(self, names: Tuple[str, ...]) -> Any:
        """States of objects as messages."""
        surroundings = self._simulator.surroundings
        if not names:
            return []
        time, motion = self._simulator.loop.request(surroundings.states)
        found = []
        for name in names:
            k = self._objects.index(name)
            state = self._msg.EntityState()
            set_stamp(state.header.stamp, time)
            state.header.frame_id = surroundings.frames.world
            px, py, pz, x, y, z, w = motion.poses[k]
            state.pose = pose_from_floating_joint(np.array([w, x, y, z, px, py, pz]))
            state.twist = twist_from_motion(np.roll(motion.twists[k], 3))
            found.append(state)
        return found


@contextlib.contextmanager
def _limited(duration: float) -> Iterator[None]:
    """Limit what is done here: a regular expression may take for ever, and nothing else goes on.

    :param duration: how long [s]
    :raises TimeoutError: when it is over
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # no signal could end it
        return

    def end(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, duration)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _unsupported(filters: Any) -> Optional[str]:
    """By what filters ask that is not known here, None if by nothing."""
    if len(getattr(filters, 'categories', ())):
        return 'categories'
    if len(getattr(getattr(filters, 'tags', None), 'tags', ())):
        return 'tags'
    if getattr(getattr(filters, 'bounds', None), 'type', 0):
        return 'bounds'
    return None
