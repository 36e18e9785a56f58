# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Height at which a robot with a floating base touches the surface below it.

Found by conservative advancement (Mirtich 1996): a translating body cannot touch another one
before their distance over its rate of decrease has passed.
"""

from __future__ import annotations

from typing import NamedTuple, Optional, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from rbd_ros.algorithms.kinematics.kinematics import body_transforms
from rbd_ros.array_types import FloatArray
from rbd_ros.collision.arrays import (
    MAX_POINTS,
)
from rbd_ros.collision.scene.scene import Scene
from rbd_ros.collision.scene.scene_arrays import (
    buffer_sizes,
    SceneBuffers,
    SceneContacts,
    with_pairs,
)
from rbd_ros.collision.scene.scene_search import scene_contacts_of
from rbd_ros.compiler.loops import allocate, Record
from rbd_ros.model import Model
from rbd_ros.spatial import PluckerTransform

#: Gap, or depth, at which bodies count as touching [m].
TOUCH = 1e-7

#: Minimum vertical component of the normal of a surface below, 84 degrees from level ground.
MIN_SLOPE = 0.1

#: First and maximum distance of the search downwards [m].
NEAR, FAR = 0.05, 1e4

#: Maximum number of heights tried upwards and downwards.
TRIES = 200

#: Duration of a step without motion [s].
_INSTANT = 1e-9


def touchdown(model: Model, scene: Scene, q: Sequence[float], base: int) -> float:
    """Return the change of height at which a floating base touches the surface below it [m].

    A penetrating robot is lifted until it is free, and a free one is lowered. The base keeps its
    height if nothing is below it, or if lifting fails.

    :param model: model of the robot
    :param scene: its shapes, and those of its environment
    :param q: configuration, (nq,)
    :param base: number of the floating base's body

    >>> from rbd_ros.world import read_world
    >>> from rbd_ros.collision.scene.scene import make_scene
    >>> from rbd_ros.collision.scene.touchdown import touchdown
    >>> walker = Robot.from_urdf('urdf/quadruped.urdf', floating_base=True)
    >>> scene = make_scene(walker.model, read_world({'objects': {'floor': {'type': 'plane'}}}))
    >>> round(touchdown(walker.model, scene, walker.neutral(), 1), 6)
    0.422
    """
    moving = {base}
    for i, body in model.outward():
        if body.parent in moving:
            moving.add(i)
    heights = _Heights(model, scene, q, moving)
    if not len(heights.pairs):
        return 0.0
    lifted = _lifted(heights)
    return 0.0 if lifted is None else _lowered(heights, lifted)


def moved_base(model: Model, q: FloatArray, base: int, height: float) -> FloatArray:
    """Return the configuration with a floating base moved along the z axis of the world, (nq,).

    :param model: model of the robot
    :param q: configuration, (nq,)
    :param base: number of the floating base's body
    :param height: distance [m]

    >>> from rbd_ros.collision.scene.touchdown import moved_base
    >>> walker = Robot.from_urdf('urdf/quadruped.urdf', floating_base=True)
    >>> moved_base(walker.model, walker.neutral(), 1, 0.5)[:7]
    array([1. , 0. , 0. , 0. , 0. , 0. , 0.5])
    """
    at, body = model.independent_slices[base][0], model.body(base)
    upward = np.array(_transform(model, q, base).E, dtype=float)[:, 2]
    result = np.array(q, dtype=float)
    result[at] = body.joint.integrate(q[at].tolist(), [0.0, 0.0, 0.0, *(height * upward)])
    return result


def base_height(model: Model, q: FloatArray, base: int) -> float:
    """Return the height of a floating base, along the z axis of the world [m].

    :param model: model of the robot
    :param q: configuration, (nq,)
    :param base: number of the floating base's body

    >>> from rbd_ros.collision.scene.touchdown import base_height, moved_base
    >>> walker = Robot.from_urdf('urdf/quadruped.urdf', floating_base=True)
    >>> base_height(walker.model, moved_base(walker.model, walker.neutral(), 1, 0.5), 1)
    0.5
    """
    return float(_transform(model, q, base).r[2])


def _transform(model: Model, q: FloatArray, base: int) -> PluckerTransform:
    """Transform from world coordinates to those of a floating base."""
    body = model.body(base)
    return (
        body.joint.transform(q[model.independent_slices[base][0]].tolist()) * body.tree_transform
    )


class _Found(NamedTuple):
    """Contacts at a height: their gaps [m], and the decrease of the gaps per meter of descent."""

    gap: FloatArray
    slope: FloatArray

    @property
    def deep(self) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self.gap < -TOUCH
        return found


class _Heights:
    """Contacts of some bodies of a robot that are moved up or down.

    :param moving: numbers of the bodies
    """

    def __init__(self, model: Model, scene: Scene, q: Sequence[float], moving: Set[int]):
        table = scene.table
        moves = np.isin(table.body_id[table.pair], list(moving))
        self.pairs = np.flatnonzero(moves.sum(axis=1) == 1)
        # Normals are from the first shape to the second.
        self._sign = np.where(moves[self.pairs, 1], 1.0, -1.0)
        most = len(self.pairs) * MAX_POINTS
        fewer = with_pairs(table, self.pairs)
        sizes = {'scene_bodies': scene.body_count, 'contacts': most, **buffer_sizes(fewer)}
        self._buffers = allocate(SceneBuffers, **sizes)
        self._contacts = allocate(SceneContacts, contacts=most)
        for body, transform in body_transforms(model, model.tree_position(q)).items():
            pose = np.array(transform.pose(), dtype=float)
            self._buffers.pose[body] = [*pose[:3, :3].ravel(), *pose[:3, 3]]
        first = scene.body_count - len(scene.objects)
        for o, each in enumerate(scene.objects):
            pose = np.array(each.pose, dtype=float)
            self._buffers.pose[first + o] = [*pose[:3, :3].ravel(), *pose[:3, 3]]
        self._moving = sorted(moving)
        self._z = self._buffers.pose[self._moving, 11]
        self._buffers.velocity[self._moving, 5] = -1.0  # one meter down per unit of time
        self._records = [Record(each) for each in (fewer, self._buffers, self._contacts)]

    def at(self, height: float, reach: float = _INSTANT) -> _Found:
        """Return the contacts that are closed or within a reach below [m]."""
        self._buffers.pose[self._moving, 11] = self._z + height
        self._buffers.listed[:] = 0
        count = scene_contacts_of(*self._records, reach)
        found = self._contacts
        slope = self._sign[found.pair[:count]] * found.frame[:count, 0, 2]
        return _Found(found.gap[:count].copy(), slope)


def _lifted(heights: _Heights) -> Optional[float]:
    """Return a height without deep penetration, or None."""
    height = 0.0
    for _ in range(TRIES):
        found = heights.at(height)
        if not found.deep.any():
            return height
        gap, slope = found.gap[found.deep], found.slope[found.deep]
        height += float((-gap / np.maximum(slope, MIN_SLOPE)).max())
    return None


def _lowered(heights: _Heights, start: float) -> float:
    """Return the height at which a robot, free at the given height, touches the surface below.

    Without a surface it is the given height.
    """
    height, reach = start, NEAR
    for _ in range(TRIES):
        found = heights.at(height, reach)
        below = found.slope > MIN_SLOPE
        gap, slope = found.gap[below], found.slope[below]
        if len(gap) and gap.min() <= TOUCH:
            return height
        if not len(gap):
            if reach > FAR:
                return start
            step, reach = reach, 2.0 * reach
        else:
            step = float((gap / slope).min())
        if heights.at(height - step).deep.any():
            return _touching(heights, height - step, height)
        height -= step
    return height


def _touching(heights: _Heights, deep: float, free: float) -> float:
    """Return the height of first contact between a penetrating and a free height."""
    while free - deep > TOUCH:
        middle = 0.5 * (deep + free)
        if heights.at(middle).deep.any():
            deep = middle
        else:
            free = middle
    return free
