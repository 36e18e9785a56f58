# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Overlaps of a robot with itself and with convex shapes at the start of a simulation.

They are computed on request, in plain Python, which is too slow for every reset.
"""

from __future__ import annotations

from typing import List, NamedTuple, Optional

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.scene.scene import Scene
from rbd_ros.collision.scene.scene_arrays import with_pairs
from rbd_ros.collision.scene.scene_search import scene_contacts_of
from rbd_ros.compiler.loops import Record
from rbd_ros.simulation.records.record_assembly import make_physics_record
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.scene.scene_robot import place_robot
from rbd_ros.simulation.start.start_overlaps import are_rigid, are_simple
from rbd_ros.simulation.stepping.free_bodies import place_objects

#: Duration of a step without motion [s].
_INSTANT = 1e-9


class Overlap(NamedTuple):
    """The deepest overlap.

    :param first: owner of one shape
    :param second: owner of the other one
    :param depth: penetration depth [m]
    :param pairs: number of pairs of shapes at least that deep
    """

    first: str
    second: str
    depth: float
    pairs: int


def deepest_overlap(
    scene: Scene, model: SimulationModel, q: FloatArray, min_depth: float
) -> Optional[Overlap]:
    """Return the deepest overlap of the robot in rigid contact, with itself and its environment.

    Triangle meshes and height fields are omitted, as they would take long here.

    :param scene: shapes and pairs
    :param model: constants of the simulation
    :param q: configuration, (nq,)
    :param min_depth: depth that counts [m]
    :return: None if there is none

    >>> from rbd_ros.simulation.start.robot_overlaps import deepest_overlap
    >>> ball = {'type': 'sphere', 'radius': 0.1, 'xyz': [0.0, 0.23, 1.08]}
    >>> physics = Simulator(robot, world={'objects': {'ball': ball}}).physics
    >>> deepest_overlap(physics.scene, physics.model, robot.neutral(), 1e-3).second
    'ball'
    """
    table = model.scene.table
    rigid = are_rigid(model.scene, np.arange(len(table.pair)))
    counted = np.flatnonzero(rigid & are_simple(model.scene, table.pair))
    if not len(counted):
        return None
    fewer = with_pairs(table, counted)
    fields = make_physics_record(
        model._replace(scene=model.scene._replace(table=fewer), has_external_forces=False), len(q)
    )
    fields.state.q[:] = q
    for array, start in zip(fields.objects, model.scene.start):
        array[...] = start
    work, contacts = fields.work, fields.contact_state.contacts
    place_objects(fields.model.scene, fields.objects, work.scene)
    place_robot(fields.model, fields.state, fields.external_forces, work)
    records = Record(fewer), Record(work.scene.buffers), Record(contacts)
    count = scene_contacts_of(*records, _INSTANT)
    deep = np.flatnonzero(contacts.gap[:count] < -min_depth)
    if not len(deep):
        return None
    worst = int(deep[np.argmin(contacts.gap[deep])])
    # Shapes of robots come first in pairs.
    first, second = scene.names_of(int(counted[contacts.pair[worst]]))
    pairs = len(np.unique(contacts.pair[deep]))
    return Overlap(first, second, -float(contacts.gap[worst]), pairs)


def robot_warnings(
    scene: Scene, model: SimulationModel, q: FloatArray, min_depth: float
) -> List[str]:
    """Return warnings of a robot and convex shapes that overlap at the start.

    :param scene: shapes and pairs
    :param model: constants of the simulation
    :param q: configuration, (nq,)
    :param min_depth: minimum depth of a warning [m]

    >>> from rbd_ros.simulation.start.robot_overlaps import robot_warnings
    >>> ball = {'type': 'sphere', 'radius': 0.1, 'xyz': [0.0, 0.23, 1.08]}
    >>> physics = Simulator(robot, world={'objects': {'ball': ball}}).physics
    >>> len(robot_warnings(physics.scene, physics.model, robot.neutral(), 1e-3))
    1
    """
    found = deepest_overlap(scene, model, q, min_depth)
    if found is None:
        return []
    others = f', the deepest of {found.pairs} pairs' if found.pairs > 1 else ''
    return [
        f'{found.first!r} starts {1e3 * found.depth:.1f} mm deep in {found.second!r}{others} and '
        'is moved out slowly, as far as its joints allow; start at another position, or disable '
        'their contact by `disable_collisions` of a world, or contact_links for a ground'
    ]
