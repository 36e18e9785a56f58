# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Default start of a simulation: neutral, in contact with the surface below."""

from __future__ import annotations

from typing import List

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.scene.scene import start_configuration
from rbd_ros.collision.scene.touchdown import MIN_SLOPE, moved_base, touchdown
from rbd_ros.model.floating_model import floating_bases
from rbd_ros.simulation.physics import Physics
from rbd_ros.simulation.stepping.step_loop import place_on_ground

#: Depth in compliant ground at which the lowest point of a base is determined [m].
_DEEP = 1e3


def default_start(physics: Physics) -> FloatArray:
    """Return the default start, (nq,): neutral within the limits, on the surface below.

    Robots of the world are as configured there; loops are closed.

    :raises ValueError: if loops cannot be closed

    >>> from rbd_ros.simulation import Physics
    >>> from rbd_ros.simulation.start.default_start import default_start
    >>> np.array_equal(default_start(Physics(robot)), robot.neutral())
    True
    """
    robot, world = physics.robot, physics.world
    # Zero is outside the limits of some joints.
    q: FloatArray = robot.clamp(robot.neutral())
    model = robot.model
    slices = {model.body(i).joint_name: at for i, (at, _) in model.independent_slices.items()}
    for each in world.moving_in(model) if world is not None else ():
        own, start = each.model, start_configuration(each)
        for i, (at, _) in own.independent_slices.items():
            q[slices[f'{each.name}/{own.body(i).joint_name}']] = start[at]
    if physics.model.has_loops and own_bases(physics):
        from rbd_ros.simulation.loops.closed_start import close_start

        q = close_start(robot, q, np.zeros(robot.nv)).q
    return stand(physics, q)


def own_bases(physics: Physics) -> List[int]:
    """Return the numbers of the free bodies that the world file does not place."""
    model, world = physics.robot.model, physics.world
    others = () if world is None else world.moving_in(model)
    prefixes = tuple(f'{each.name}/' for each in others if not each.placed_on_surface)
    return [i for i in floating_bases(model) if not model.body(i).joint_name.startswith(prefixes)]


def stand(physics: Physics, q: FloatArray) -> FloatArray:
    """Return the configuration with floating bases moved along z until they touch, (nq,).

    :param physics: the physics, unchanged
    :param q: configuration, (nq,)
    """
    model = physics.robot.model
    for base in own_bases(physics):
        if physics.scene is not None:
            height = touchdown(model, physics.scene, q.tolist(), base)
        elif physics.model.has_ground:
            height = _above_ground(physics, q, base)
        else:
            height = 0.0
        if height:
            q = moved_base(model, q, base, height)
    return q


def _above_ground(physics: Physics, q: FloatArray, base: int) -> float:
    """Return the change of height for contact of a floating base with compliant ground [m]."""
    ground, state = physics.model.ground, physics.state
    upward = float(ground.plane[0, 2])
    if upward < MIN_SLOPE:
        return 0.0
    arrays = physics.arrays()
    kept = {name: array.copy() for name, array in arrays.items()}
    # All points are in the ground there; the deepest point of the base is the lowest.
    state.q[:] = moved_base(physics.robot.model, q, base, -_DEEP)
    deepest = place_on_ground(physics.record)
    depth = -float(state.normal_deformation[deepest]) if deepest >= 0 else 0.0
    for name, array in arrays.items():
        array[...] = kept[name]
    return depth / upward - _DEEP if depth > 0.0 else 0.0
