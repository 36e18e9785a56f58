# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Distances of all pairs of shapes of a robot and a small world, against coal by pin."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Callable, List, Tuple

from measurement import Call, compare
import numpy as np
import robots
from rows import Row

from rbd_ros import Robot
from rbd_ros.collision import RobotInWorld
from sections.section import Section, Tools

NAME = 'distances'
STATES = 64
_ONE, _BATCH, _LEAST = 'one call, with gradients', f'a batch of {STATES}', 'the least distance'
_ROBOTS = (robots.PANDA_CAPSULES, robots.GO1, robots.ALLEGRO)
_WORLD = {
    'objects': {
        'floor': {'type': 'plane', 'xyz': [0, 0, -0.6]},
        'shelf': {'type': 'box', 'size': [0.3, 0.8, 0.1], 'xyz': [0.5, 0.1, 0.4]},
        'ball': {'type': 'sphere', 'radius': 0.1, 'xyz': [-0.4, 0.3, 0.5]},
    }
}


def _rows() -> List[Row]:
    return [
        Row(NAME, robot.name, what, 'x', 1.0)
        for robot in _ROBOTS
        for what in (_ONE, _BATCH, _LEAST)
    ]


def _measure(row: Row, tools: Tools) -> None:
    robot = next(each for each in _ROBOTS if each.name == row.robot)
    ours, q, theirs, states, row.freedoms = _both(robot)
    row.detail['pairs'] = len(ours.pairs)
    if row.function == _BATCH:
        out = ours.distances(q)
        mine = Call(ours.distances, (q,), states=STATES, keywords={'out': out})
    else:
        call = ours.distances if row.function == _ONE else ours.minimum
        mine = Call(call, (), [(each,) for each in q], STATES)
    row.fill(compare(mine, Call(theirs, (), [(each,) for each in states], STATES), tools.seconds))


@lru_cache(maxsize=None)
def _both(
    robot: robots.RealRobot,
) -> Tuple[RobotInWorld, np.ndarray, Callable[[np.ndarray], Any], List[np.ndarray], List[int]]:
    """Return our distances and configurations, the peer's, and both numbers of DoFs.

    The peer has the same pairs of shapes in the same poses, and its default tolerances.
    """
    import coal
    import pinocchio as pin

    path = robots.find(robot)
    ours = RobotInWorld(Robot.from_urdf(path, floating_base=robot.floating_base), _WORLD)
    if not ours.pairs:
        raise ValueError(f'{robot.name} has no pair of shapes that this package knows')
    root = (pin.JointModelFreeFlyer(),) if robot.floating_base else ()
    model = pin.buildModelFromUrdf(str(path), *root)
    shapes = pin.buildGeomFromUrdf(model, str(path), pin.GeometryType.COLLISION)
    kinds = {
        'floor': coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0),
        'shelf': coal.Box(*_WORLD['objects']['shelf']['size']),
        'ball': coal.Sphere(_WORLD['objects']['ball']['radius']),
    }
    for name, shape in kinds.items():
        at = pin.SE3(np.eye(3), np.array(_WORLD['objects'][name]['xyz'], dtype=float))
        shapes.addGeometryObject(pin.GeometryObject(name, 0, at, shape))
    for pair in ours.shapes:
        numbers = [_number(ours.robot, shapes, shape) for shape in pair]
        shapes.addCollisionPair(pin.CollisionPair(*numbers))
    data, found = model.createData(), shapes.createData()
    rng = np.random.default_rng(0)
    q = ours.robot.random_configurations(STATES, rng)
    states = [_configuration(ours.robot, pin, model, each) for each in q]

    def theirs(state: np.ndarray) -> Any:
        return pin.computeDistances(model, data, shapes, found, state)

    for mine, state in zip(q[:4], states):
        theirs(state)
        gaps = [each.min_distance for each in found.distanceResults]
        wrong = np.abs(ours.distances(mine).distance - gaps)
        # For penetrating shapes, the peer's depth is not always the minimum.
        if wrong[np.array(gaps) > 0.0].max() > 1e-4:
            raise RuntimeError(f'distances of {robot.name} differ by {wrong.max():.1g} m')
    return ours, q, theirs, states, [ours.robot.nv, model.nv]


def _number(robot: Robot, shapes: Any, shape: Any) -> int:
    """Return the index of the peer's geometry of one of our shapes."""
    owner, _, link = shape.name.partition('/')
    if not link:
        return int(shapes.getGeometryId(owner))
    own = [g for g in robot.model.geometries if g.role == 'collision' and g.link == link]
    k = next(
        k
        for k, g in enumerate(own)
        if np.array_equal(np.array(g.placement.pose(), dtype=float), shape.pose)
        and type(g.shape).__name__ == type(shape.shape).__name__
    )
    return int(shapes.getGeometryId(f'{link}_{k}'))


def _configuration(robot: Robot, pin: Any, model: Any, q: np.ndarray) -> np.ndarray:
    """Return the peer's configuration for ours, with independent mimic joints."""
    state = pin.neutral(model)
    tree = robot.model.tree_position(q.tolist())
    for _, body in robot.model.outward():
        values = tree[body.q]
        name = 'root_joint' if len(values) == 7 else body.joint_name
        joint = model.joints[model.getJointId(name)]
        if len(values) == 7:
            w, x, y, z, *position = values
            values = [*position, x, y, z, w]
        elif joint.nq == 2:
            values = [np.cos(values[0]), np.sin(values[0])]
        state[joint.idx_q : joint.idx_q + joint.nq] = values
    return state


SECTION = Section(
    'RobotInWorld: distances of all pairs of shapes of a robot and three objects, against '
    'pin.computeDistances, which has no gradients',
    _rows,
    _measure,
)
