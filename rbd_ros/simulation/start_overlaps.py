"""Where a robot overlaps other things at the start: for a warning, found in plain Python."""

from __future__ import annotations

from typing import NamedTuple, Optional

import numpy as np

from rbd_ros.collision.arrays import HEIGHT_FIELD, MESH
from rbd_ros.collision.scene import Scene
from rbd_ros.collision.scene_contacts import find_scene_contacts, STIFFNESS
from rbd_ros.contact.arrays import FloatArray
from rbd_ros.simulation.assembly import make_world
from rbd_ros.simulation.free_bodies import place_objects
from rbd_ros.simulation.plant import Plant
from rbd_ros.simulation.scene.robot import place_robot

#: Duration of a step in which nothing moves [s].
_INSTANT = 1e-9


class Overlap(NamedTuple):
    """The deepest overlap.

    :param first: whose the one shape is
    :param second: whose the other one is
    :param depth: penetration depth [m]
    :param pairs: how many pairs of shapes are as deep as was asked for
    """

    first: str
    second: str
    depth: float
    pairs: int


def deepest_overlap(scene: Scene, plant: Plant, q: FloatArray, least: float) -> Optional[Overlap]:
    """Deepest overlap of the robot in rigid contact, with itself and with all else.

    Triangle meshes and height fields are left out, which would take long here.

    :param scene: shapes and pairs
    :param plant: constants of the simulation
    :param q: configuration, (nq,)
    :param least: depth that counts [m]
    :return: None if there is none

    >>> from rbd_ros.simulation.start_overlaps import deepest_overlap
    >>> ball = {'type': 'sphere', 'radius': 0.1, 'xyz': [0.0, 0.23, 1.08]}
    >>> world = Simulator(robot, world={'objects': {'ball': ball}}).world
    >>> deepest_overlap(world.scene, world.plant, robot.neutral(), 1e-3).second
    'ball'
    """
    table = plant.scene.table
    concave = np.isin(table.kind, (MESH, HEIGHT_FIELD))[table.pair].any(axis=1)
    on_robot = (table.carrier > 0) & (table.carrier < plant.scene.first_object)
    rigid = table.surface[:, STIFFNESS] == 0.0
    wanted = np.flatnonzero(on_robot[table.pair].any(axis=1) & rigid & ~concave)
    if not len(wanted):
        return None
    fewer = table._replace(
        pair=table.pair[wanted],
        surface=table.surface[wanted],
        direction=table.direction[wanted],
        directed_by=table.directed_by[wanted],
        group=table.group[wanted],
    )
    fields = make_world(
        plant._replace(scene=plant.scene._replace(table=fewer), has_external_forces=False), len(q)
    )
    fields.state.q[:] = q
    for array, start in zip(fields.objects, plant.scene.start):
        array[...] = start
    work, contacts = fields.work, fields.touches.contacts
    place_objects(fields.plant.scene, fields.objects, work.scene)
    place_robot(fields.plant, fields.state, fields.external_forces, work)
    count, _ = find_scene_contacts(fewer, work.scene.room, _INSTANT, contacts)
    deep = np.flatnonzero(contacts.gap[:count] < -least)
    if not len(deep):
        return None
    worst = int(deep[np.argmin(contacts.gap[deep])])
    # Of each pair, shapes of robots come first.
    first, second = scene.names_of(int(wanted[contacts.pair[worst]]))
    pairs = len(np.unique(contacts.pair[deep]))
    return Overlap(first, second, -float(contacts.gap[worst]), pairs)
