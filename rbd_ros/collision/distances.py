# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Distances of a robot from its environment and from itself, with their gradients."""

from __future__ import annotations

from dataclasses import replace
import math
import os
import threading
from typing import (
    Any,
    Callable,
    Dict,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Type,
    TypeVar,
    Union,
)

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.array_types import FloatArray, real_numbers
from rbd_ros.collision.distance_loops import (
    DistanceBuffers,
    DistanceStates,
    find_distances,
    find_nearest,
    NearestStates,
)
from rbd_ros.collision.distance_table import (
    chosen_pairs,
    make_distance_table,
    ModeledRobot,
    NamePair,
)
from rbd_ros.collision.queries import checked_pose
from rbd_ros.collision.scene.scene import make_scene, neutral_configuration, SceneShape
from rbd_ros.compiler.loops import allocate, Record
from rbd_ros.model.errors import unknown_name
from rbd_ros.world.world import World

#: Number of configurations between checks for signals, as of Ctrl-C.
_SLICE = 256

_AnyStates = TypeVar('_AnyStates', DistanceStates, NearestStates)


class Distances(NamedTuple):
    """Distances of P pairs, with their nearest or deepest points.

    For B configurations, all arrays have a leading axis of length B.

    :param distance: signed distances, negative where shapes penetrate, (P,) [m]
    :param points_a: points on the surfaces of the first shapes, in world coordinates, (P, 3) [m];
        NaN beyond `max_distance`
    :param points_b: points on the surfaces of the second shapes, (P, 3) [m]; likewise
    :param normal: unit normals from the first shapes to the second, (P, 3); likewise
    :param gradient: rates of the distances per velocity of the robot, (P, nv) [m/rad, 1]; zero
        beyond `max_distance`

    >>> from rbd_ros.collision import RobotInWorld
    >>> world = {'objects': {'floor': {'type': 'plane'}}}
    >>> found = RobotInWorld(robot, world, [('floor', 'robot/wrist_3_link')]).distances(q)
    >>> found.distance, found.gradient @ v  # [m], and how fast that changes [m/s]
    (array([0.]), array([0.]))
    """

    distance: FloatArray
    points_a: FloatArray
    points_b: FloatArray
    normal: FloatArray
    gradient: FloatArray


class Minimum(NamedTuple):
    """The minimum distance of all pairs, with its points.

    For B configurations, all have a leading axis of length B, or are tuples of length B.

    :param names: owners of the shapes: 'robot/link', or the name of an object
    :param pair: number of the pair
    :param distance: signed distance, negative where the shapes penetrate [m]
    :param point_a: point on the surface of the first shape, in world coordinates, (3,) [m]
    :param point_b: point on the surface of the second shape, (3,) [m]
    :param normal: unit normal from the first shape to the second, (3,)
    :param gradient: rate of the distance per velocity of the robot, (nv,) [m/rad, 1]

    >>> from rbd_ros.collision import Minimum, RobotInWorld
    >>> least = RobotInWorld(robot, {'objects': {'floor': {'type': 'plane'}}}).minimum(q)
    >>> isinstance(least, Minimum), least.gradient.shape
    (True, (6,))
    """

    names: Any
    pair: Any
    distance: Any
    point_a: FloatArray
    point_b: FloatArray
    normal: FloatArray
    gradient: FloatArray


class RobotInWorld:
    """A robot in its environment, for distance queries.

    The pairs are those that may touch in a `Simulator` (see docs/world.md) and of which at least
    one shape moves with the robot. World coordinates are those of the robot's base. Movable
    objects have their start poses, or those of `poses`. Movable robots of the world move if they
    are parts of the robot, as of `Simulator.robot`; else they stay as configured. For a robot with
    kinematic loops, configurations and velocities are those of the tree; the loops need not be
    closed. The gradient is without the explicit time dependence of joints.

    :param robot: the robot, a `Robot`
    :param world: path of a world file, a mapping with the same content, or a `World`; None
        for self-collision of the robot alone
    :param pairs: restricts the pairs to those between these names, in this order; names are those
        of objects and robots, or with a link, as 'robot/tool0'. None: all pairs
    :param srdf: path of an SRDF file of the robot, or its XML; None: that of the world
    :raises SrdfError: naming its line and the cure
    :raises ValueError: for an unknown name, and for a pair without a distance
    :raises WorldFileError: naming file, line, entry and cure

    >>> from rbd_ros.collision import RobotInWorld
    >>> arm = RobotInWorld(robot, 'config/table_world.yaml', [('robot/wrist_3_link', 'ball')])
    >>> arm.robot is robot, arm.pairs
    (True, (('robot/wrist_3_link', 'ball'),))
    """

    def __init__(
        self,
        robot: ModeledRobot,
        world: Union[None, World, Mapping[str, Any], str, os.PathLike[str]] = None,
        pairs: Optional[Sequence[NamePair]] = None,
        srdf: Union[None, str, os.PathLike[str]] = None,
    ):
        self.robot, self._requested_pairs = robot, pairs
        model = robot.model
        if world is None:
            world = World()
        elif not isinstance(world, World):
            from rbd_ros.world.world_file import read_world

            world = read_world(world, robot=model)
        if srdf is not None:
            world = replace(world, srdf=os.fspath(srdf))
        #: The environment of the robot.
        self.world = world
        scene = make_scene(model, world, neutral_configuration(model))
        chosen = chosen_pairs(scene, world, model, pairs)
        #: Names of the pairs; a link with several shapes makes several of them.
        self.pairs: Tuple[NamePair, ...] = tuple(
            (scene.shapes[a].name, scene.shapes[b].name) for a, b in chosen
        )
        #: Names of the movable objects.
        self.objects: Tuple[str, ...] = tuple(each.name for each in scene.objects)
        #: Pairs and links without a distance, and why.
        self.notices: Tuple[str, ...] = scene.notices
        #: The shapes of each pair.
        self.shapes: Tuple[Tuple[SceneShape, SceneShape], ...] = tuple(
            (scene.shapes[a], scene.shapes[b]) for a, b in chosen
        )
        # Shapes of the robot's bodies come first.
        used = sorted(
            {i for pair in chosen for i in pair},
            key=lambda i: (not 0 < scene.shapes[i].body_id <= len(model.bodies), i),
        )
        self._shapes = [scene.shapes[i] for i in used]
        self._moving = sum(0 < each.body_id <= len(model.bodies) for each in self._shapes)
        self._first_object = len(model.bodies) + 1
        self._start = {each.name: np.array(each.pose, dtype=float) for each in scene.objects}
        self._table = Record(make_distance_table(scene, used, self._moving, chosen, robot))
        self._sizes = {
            'nq': model.nq,
            'nv': model.nv,
            'bodies': len(model.bodies) + 1,
            'tree_nv': model.tree_nv,
            'shapes': len(used),
            'pairs': len(chosen),
        }
        # Calls write to buffers, so each thread has its own.
        self._of_thread = threading.local()

    def __reduce__(self) -> Tuple[Any, ...]:
        # Created again: its memory belongs to the threads of this process.
        return type(self), (self.robot, self.world, self._requested_pairs)

    def distances(
        self,
        q: ArrayLike,
        max_distance: float = math.inf,
        poses: Optional[Mapping[str, ArrayLike]] = None,
        out: Optional[Sequence[FloatArray]] = None,
    ) -> Distances:
        """Return the distances of all pairs, in one or many configurations.

        Where a distance has kinks, as between parallel faces, the gradient is that of one of the
        nearest points.

        :param q: configuration, (nq,), or many, (B, nq) [rad, m]; all results of one that is not
            finite are NaN
        :param max_distance: pairs further apart get this distance, without points and with zero
            gradient, at almost no cost [m]
        :param poses: poses of movable objects in the world, by name, (4, 4) [1, m]; other objects
            have their start poses
        :param out: arrays to write into, as this method returns them
        :raises ValueError: for a wrong shape or dtype, an unknown object, and an invalid pose

        >>> from rbd_ros.collision import RobotInWorld
        >>> arm = RobotInWorld(robot, {'objects': {'floor': {'type': 'plane'}}})
        >>> found = arm.distances(q)
        >>> ahead = arm.distances(robot.integrate(q, v, 1e-6))
        >>> np.allclose((ahead.distance - found.distance) / 1e-6, found.gradient @ v, atol=1e-4)
        True
        >>> arm.distances([q, q], max_distance=0.1).distance.max()
        0.1
        """
        if not max_distance >= 0.0:  # NaN as well
            raise ValueError(f'max_distance must be a number from 0 on, got {max_distance}')
        states, batch = self._configurations(q)
        buffers = self._buffers(poses)
        count, pairs, nv = len(states), len(self.pairs), self._sizes['nv']
        shapes: Tuple[Tuple[int, ...], ...] = (
            (pairs,),
            (pairs, 3),
            (pairs, 3),
            (pairs, 3),
            (pairs, nv),
        )
        if batch:
            shapes = tuple((count, *shape) for shape in shapes)
        if out is None:
            results = Distances(*map(np.empty, shapes))
        else:
            results = Distances(*_checked_out(out, shapes))
            # `out` may share memory with `q`, which is read during writing.
            states = states.copy() if _overlap(states, results) else states
        most = float(max_distance)
        if not pairs:
            return results
        if batch:
            record = Record(DistanceStates(states, *results))
            run = find_distances.bind(self._table, buffers.record, record)
            # Machine code cannot be interrupted: signals are handled between slices.
            for begin in range(0, count, _SLICE):
                run(begin, min(begin + _SLICE, count), most)
        else:
            # One state, as in a control loop: bound once, so that a call creates its results only.
            fields, run = buffers.bound(find_distances, DistanceStates)
            fields.q[0] = states[0]
            run(0, 1, most)
            for result, array in zip(results, fields[1:]):
                result[...] = array[0]
        return results

    def minimum(self, q: ArrayLike, poses: Optional[Mapping[str, ArrayLike]] = None) -> Minimum:
        """Return the minimum distance of all pairs, in one or many configurations.

        It is the minimum of `distances`, found without testing pairs that are far apart.

        :param q: configuration, (nq,), or many, (B, nq) [rad, m]; for one that is not finite, the
            number of the pair is -1, the names are empty, and the rest is NaN
        :param poses: see `distances`
        :raises ValueError: as `distances`, and if there is no pair

        >>> from rbd_ros.collision import RobotInWorld
        >>> arm = RobotInWorld(robot, 'config/table_world.yaml')
        >>> least = arm.minimum(q)
        >>> least.distance == arm.distances(q).distance.min()
        True
        >>> least.names == arm.pairs[least.pair]
        True
        """
        if not self.pairs:
            raise ValueError('no pair of shapes can collide; `notices` gives the reasons')
        states, batch = self._configurations(q)
        buffers = self._buffers(poses)
        if not batch:
            fields, run = buffers.bound(find_nearest, NearestStates)
            fields.q[0] = states[0]
            run(0, 1)
            number = int(fields.pair[0])
            rest = [each[0].copy() for each in fields[3:]]
            return Minimum(self._names(number), number, float(fields.distance[0]), *rest)
        many = allocate(NearestStates, states=len(states), **self._sizes)._replace(q=states)
        run = find_nearest.bind(self._table, buffers.record, Record(many))
        for begin in range(0, len(states), _SLICE):
            run(begin, min(begin + _SLICE, len(states)))
        return Minimum(tuple(map(self._names, many.pair.tolist())), *many[1:])

    def _names(self, pair: int) -> NamePair:
        return self.pairs[pair] if pair >= 0 else ('', '')

    def _configurations(self, q: ArrayLike) -> Tuple[FloatArray, bool]:
        """Return the configurations, (B, nq), and whether q had an axis for them."""
        array = real_numbers('q', q)
        nq = self._sizes['nq']
        if array.ndim not in (1, 2) or array.shape[-1] != nq:
            raise ValueError(f'q must have shape ({nq},) or (B, {nq}), got {array.shape}')
        batch = array.ndim == 2
        # Not -1 rows: a robot without joints has configurations too.
        rows = len(array) if batch else 1
        return np.ascontiguousarray(array).reshape(rows, nq), batch

    def _buffers(self, poses: Optional[Mapping[str, ArrayLike]]) -> _Buffers:
        """Return the buffers of this thread, with the objects at their poses."""
        buffers: Optional[_Buffers] = getattr(self._of_thread, 'buffers', None)
        if buffers is None:
            buffers = self._of_thread.buffers = _Buffers(self._table, self._sizes)
            self._place(buffers, {})
        # Without poses now and in the last call, objects are at their start poses already.
        if poses or buffers.posed:
            given = {}
            for name, pose in (poses or {}).items():
                if name not in self._start:
                    raise ValueError(unknown_name('movable object', str(name)[:80], self._start))
                # All names and poses are checked before any is stored.
                given[name] = checked_pose(f'the pose of {name!r}', pose)
            self._place(buffers, given)
        return buffers

    def _place(self, buffers: _Buffers, poses: Mapping[str, FloatArray]) -> None:
        for g in range(self._moving, len(self._shapes)):
            shape, pose = self._shapes[g], self._shapes[g].pose
            if shape.body_id >= self._first_object:
                pose = poses.get(shape.name, self._start[shape.name]) @ pose
            buffers.fields.shape_pose[g] = [*pose[:3, :3].ravel(), *pose[:3, 3]]
        buffers.posed = bool(poses)


class _Buffers:
    """Buffers of machine code, of one thread.

    :param table: constants
    :param sizes: sizes of the records
    """

    def __init__(self, table: Record, sizes: Dict[str, int]):
        self.fields = allocate(DistanceBuffers, **sizes)
        self.record = Record(self.fields)
        #: Whether any object has another pose than at the start.
        self.posed = False
        self._table, self._sizes = table, sizes
        self._bound: Dict[Any, Tuple[Any, Callable[..., int]]] = {}

    def bound(self, loop: Any, kind: Type[_AnyStates]) -> Tuple[_AnyStates, Callable[..., int]]:
        """Return the record of one configuration, and a loop bound to it."""
        if kind not in self._bound:
            states = allocate(kind, states=1, **self._sizes)
            self._bound[kind] = (
                states,
                loop.bind(self._table, self.record, Record(states), release_gil=False),
            )
        return self._bound[kind]


def _checked_out(
    out: Sequence[FloatArray], shapes: Sequence[Tuple[int, ...]]
) -> Sequence[FloatArray]:
    if not isinstance(out, (tuple, list)) or len(out) != len(shapes):
        raise ValueError(
            f'out must hold arrays for {", ".join(Distances._fields)}, as distances returns them, '
            f'got {type(out).__name__}' + (f' of {len(out)}' if hasattr(out, '__len__') else '')
        )
    for name, shape, array in zip(Distances._fields, shapes, out):
        if not isinstance(array, np.ndarray) or array.dtype != np.float64:
            kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
            raise ValueError(f'out: {name} must be an array of float64, got {kind}')
        if array.shape != shape:
            raise ValueError(f'out: {name} must have shape {shape}, got {array.shape}')
        if not array.flags.carray:
            raise ValueError(f'out: {name} must be contiguous, aligned and writeable')
    for k, array in enumerate(out):
        if _overlap(array, out[:k]):
            raise ValueError(f'out: {Distances._fields[k]} shares memory with another')
    return out


def _overlap(array: FloatArray, others: Sequence[FloatArray]) -> bool:
    return any(np.may_share_memory(array, other) for other in others)
