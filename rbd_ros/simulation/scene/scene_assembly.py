# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Assembly of the constants of a world, and of the initial state of its objects."""

from __future__ import annotations

from typing import Dict, Optional, Sequence

import numpy as np

from rbd_ros import model
from rbd_ros.array_types import FloatArray
from rbd_ros.collision.arrays import (
    MAX_POINTS,
)
from rbd_ros.collision.scene.scene import make_scene, neutral_configuration, Scene
from rbd_ros.collision.scene.scene_arrays import (
    buffer_sizes,
    EXPONENT,
    RESTITUTION,
    ROLLING,
    SceneTable,
    TORSIONAL,
)
from rbd_ros.collision.scene.scene_search import finder_of
from rbd_ros.collision.shapes.scene_shapes import tables_for
from rbd_ros.compiler.loops import allocate
from rbd_ros.constraints.solvers.body_matrix import matrix_sizes
from rbd_ros.model import Model
from rbd_ros.robot import Robot
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.scene.scene_state import FreeBodies, Objects, SceneModel
from rbd_ros.world.world import World, WorldObject

#: Maximum number of contacts in a step: in a world of few objects, and per object of many (boxes
#: in a full grid have 12 each, those of a pile four); more are dropped and counted. Maximum number
#: of contacts in one dense problem: islands with more are solved otherwise (split_islands.py). It
#: is at least MATRIX_FREE_THRESHOLD (matrix_free_islands.py), up to which objects alone have one.
MAX_SCENE_CONTACTS, CONTACTS_PER_OBJECT, MAX_ISLAND = 1024, 12, 128


def scene_of(robot: Robot, world: World) -> Scene:
    """Return the scene of a robot in a world.

    :raises ValueError: if their gravities differ
    """
    # Different gravities would let objects and robot fall differently; a robot without joints does
    # not fall.
    if robot.nv and not np.allclose(world.gravity, robot.gravity, rtol=0.0, atol=1e-12):
        raise ValueError(
            f'gravity of the world is {tuple(world.gravity)}, that of robot {robot.name!r} '
            f'{tuple(map(float, robot.gravity))}; give both the same, such as by '
            'Robot.from_urdf(..., gravity=...)'
        )
    return make_scene(robot.model, world, neutral_configuration(robot.model))


def make_scene_model(
    scene: Optional[Scene],
    world: Optional[World],
    bodies: int,
    tolerance: float,
    iterations: int,
    poisson: bool = False,
) -> SceneModel:
    """Return the constants of a world for compiled loops; empty if there is none.

    :param bodies: number of bodies of the robot
    :param tolerance: see `SceneModel`
    :param iterations: likewise
    :param poisson: likewise
    """
    objects = scene.objects if scene else ()
    count = len(objects)
    inertias = [each.inertia.mass_center() for each in objects if each.inertia is not None]
    table = scene.table if scene else _empty_table()
    return SceneModel(
        table,
        # Compiled for flags of this table; by address, so that steps need not be recompiled.
        finder_of(table) if scene else 0,
        FreeBodies(
            mass=np.array([each[0] for each in inertias], dtype=float),
            inertia=np.array([each[2] for each in inertias], dtype=float).reshape(count, 3, 3),
            center=np.array([each[1] for each in inertias], dtype=float).reshape(count, 3),
            gravity=np.array(world.gravity if world else (0.0, 0.0, 0.0), dtype=float),
        ),
        bodies + 1,
        float(tolerance),
        int(iterations),
        starting_objects(objects),
        # Flags are compile-time constants: absent features cost neither code nor time.
        has_objects=count > 0,
        has_compounds=bool((table.group >= 0).any()),
        bounces=bool((table.surface[:, RESTITUTION] > 0.0).any()),
        has_friction_moments=bool((table.surface[:, [TORSIONAL, ROLLING]] > 0.0).any()),
        has_nonlinear_springs=bool((table.surface[:, EXPONENT] > 0.0).any()),
        poisson=poisson,
    )


def starting_objects(objects: Sequence[WorldObject]) -> Objects:
    """Return the state of objects as the world describes their start."""
    count = len(objects)
    state = allocate(Objects, objects=count)
    for o, each in enumerate(objects):
        motion = np.array([*each.velocity.angular, *each.velocity.linear], dtype=float)
        place(state, o, each, np.array(each.pose, dtype=float), motion)
    return state


def place(
    state: Objects, o: int, each: WorldObject, pose: FloatArray, velocity: FloatArray
) -> None:
    """Store pose and velocity of an object.

    :param state: the state, changed
    :param o: number of the object
    :param pose: homogeneous matrix of its frame in the world, (4, 4)
    :param velocity: angular velocity and velocity of its origin in object coordinates, (6,)
    """
    assert each.inertia is not None
    _, center, inertia = (np.array(x, dtype=float) for x in each.inertia.mass_center())
    R = pose[:3, :3]
    state.quaternion[o] = quaternion(R)
    state.position[o] = pose[:3, 3] + R @ center
    state.angular_momentum[o] = R @ inertia @ velocity[:3]
    # From the object's origin to its center of mass, the reference of the equations of motion.
    state.velocity[o] = R @ (velocity[3:] + np.cross(velocity[:3], center))


def quaternion(R: FloatArray) -> FloatArray:
    """Return the unit quaternion of a rotation matrix, w first, (4,).

    :param R: rotation matrix, (3, 3)
    """
    # The dominant eigenvector of this matrix is the quaternion (Bar-Itzhack 2000), in full
    # precision in all cases.
    (a, b, c), (d, e, f), (g, h, i) = R
    K = np.array(
        [
            [a + e + i, h - f, c - g, d - b],
            [h - f, a - e - i, b + d, c + g],
            [c - g, b + d, e - a - i, f + h],
            [d - b, c + g, f + h, i - a - e],
        ]
    )
    q: FloatArray = np.linalg.eigh(K)[1][:, 3]
    # q and -q are the same rotation: a fixed sign makes states comparable.
    return q if q[0] >= 0.0 else -q


def scene_sizes(model: SimulationModel) -> Dict[str, int]:
    """Return the sizes of the records of a world; all zero without one.

    :param model: constants of the simulation
    """
    scene, nv = model.scene, len(model.damping)
    if not model.has_scene:
        names = (
            'objects',
            'contacts',
            'nodes',
            'scene_bodies',
            'shapes',
            'pairs',
            'object_pairs',
            'cells',
            'cell_shapes',
            'joint_rows',
            'joint_blocks',
            'island_rows',
            'moment_contacts',
            'springs',
        )
        return dict.fromkeys((*names, *'NnmBCKSP', 'S1', 'P2'), 0)
    sizes, objects = buffer_sizes(scene.table), len(scene.bodies.mass)
    most_contacts = max(MAX_SCENE_CONTACTS, CONTACTS_PER_OBJECT * objects)
    contacts = min(sizes['pairs'] * MAX_POINTS, most_contacts)
    # Rows of joints: both limits and friction of each degree of freedom.
    cones, rows = min(contacts, MAX_ISLAND), 3 * nv
    # About normal and tangents of each contact.
    moments = 3 * cones if scene.has_friction_moments else 0
    # With Poisson's law, tangential impulses of rebounding contacts are moments too.
    most = max(rows + moments, 2 * cones + moments if scene.poisson else 0)
    return {
        'objects': objects,
        'contacts': contacts,
        'nodes': objects + 1,
        'scene_bodies': scene.first_object + objects,
        **sizes,
        'joint_rows': rows,
        'joint_blocks': rows // 3 + 1,
        # Rows of joints come in blocks of three.
        'island_rows': 3 * cones + rows + 3 + moments,
        'moment_contacts': contacts if scene.has_friction_moments else 0,
        'springs': contacts if scene.has_nonlinear_springs else 0,
        'N': 3 * cones + most,
        'n': cones,
        'B': objects,
        'C': contacts,
        'K': contacts if scene.has_friction_moments else 0,
        **matrix_sizes(objects),
        'm': most,
    }


def _empty_table() -> SceneTable:
    nothing, whole = np.zeros(0), np.zeros(0, dtype=np.int64)
    return SceneTable(
        kind=whole,
        size=nothing.reshape(0, 3),
        body_id=whole,
        placement=nothing.reshape(0, 12),
        reach=nothing,
        arm=nothing,
        body_arm=nothing,
        pair=whole.reshape(0, 2),
        surface=nothing.reshape(0, 9),
        direction=nothing.reshape(0, 3),
        directed_by=whole,
        group=whole,
        of_robot=whole,
        tables=tables_for([], []),
        material=whole,
        meeting=whole.reshape(0, 0),
        excluded=whole,
        level=whole,
        width=nothing,
        has_object_pairs=False,
    )


def simulated_robot(robot: Optional[Robot], world: Optional[World]) -> Robot:
    """Return one robot for everything with joints: the given one, and movable robots of a world.

    Its own joints and links keep their names, those of others are called 'name/joint'. A robot
    that includes them already stays as it is.

    :param robot: the robot; None for those of the world alone
    :param world: its environment
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
            # A robot that does not move has no own gravity.
            robot.model.gravity if robot is not None and robot.nv else world.gravity,
        )
    )
