# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Replacement of the world of a running simulation.

Preparation takes a tenth of a second for a robot with meshes, the switch a fraction of a
millisecond, so a simulation in another thread pauses for the switch only.
"""

from __future__ import annotations

from typing import Any, Dict, NamedTuple, Tuple

import numpy as np

from rbd_ros.array_types import IntArray
from rbd_ros.collision.scene.scene import Scene
from rbd_ros.collision.scene.scene_arrays import pairs_of_shapes, shapes_of_pairs
from rbd_ros.compiler.loops import Record
from rbd_ros.robot import Robot
from rbd_ros.simulation.records.mutex import Mutex
from rbd_ros.simulation.records.record_assembly import make_physics_record
from rbd_ros.simulation.records.simulation_state import FORCES
from rbd_ros.simulation.records.workspace import PhysicsRecord
from rbd_ros.simulation.scene.scene_assembly import make_scene_model, scene_of
from rbd_ros.simulation.scene.scene_state import ContactState, NOW
from rbd_ros.simulation.stepping.step_loop import bind_steps, Steps
from rbd_ros.world.world import World

#: Sizes of arrays that have a row for each contact.
PER_CONTACT = ('contacts', 'moment_contacts')

#: A record, which is a named tuple.
AnyRecord = Any


class PreparedScene(NamedTuple):
    """Data for the switch of a simulation to another world.

    :param scene: its shapes
    :param fields: the records
    :param record: their table
    :param steps: the step loop, compiled
    :param before: table of the replaced records
    :param old: previous shapes
    :param shapes: new number of each of them, -1 for removed ones
    :param body_ids: new number of each previous body, 0 for removed ones
    """

    world: World
    scene: Scene
    fields: PhysicsRecord
    record: Record
    steps: Steps
    before: Record
    old: Scene
    shapes: IntArray
    body_ids: IntArray


def prepare_scene(
    robot: Robot, world: World, old: Scene, before: Record, mutex: Mutex
) -> PreparedScene:
    """Prepare a simulation for another world without changing it.

    :param world: new environment
    :param old: present shapes
    :param before: table of the present records
    :param mutex: of the threads that use the simulation
    :raises ValueError: if the world cannot be that of the robot
    """
    scene = scene_of(robot, world)
    fields: PhysicsRecord = before.fields  # type: ignore[assignment]
    model = fields.model
    constants = make_scene_model(
        scene, world, len(robot.model.bodies), model.scene.tolerance, model.scene.iterations
    )
    # New arrays beside the old ones, which the simulation uses until it switches.
    made = make_physics_record(model._replace(scene=_able(constants, model.scene)), robot.nq)
    # The robot's records stay: machine code of others may have their addresses.
    made = made._replace(
        commands=fields.commands,
        state=fields.state,
        external_forces=fields.external_forces,
        contacts=fields.contacts,
    )
    record = Record(made)
    return PreparedScene(
        world,
        scene,
        made,
        record,
        bind_steps(record, mutex),
        before,
        old,
        _same_shapes(old, scene),
        _same_bodies(old, scene),
    )


def _able(constants: AnyRecord, before: AnyRecord) -> AnyRecord:
    """Return constants for machine code that keeps all earlier features, already compiled."""
    changed = {}
    for name, new, old in zip(constants._fields, constants, before):
        if isinstance(new, tuple):
            changed[name] = _able(new, old)
        elif isinstance(new, bool):
            # Code for features of the old world stays in use, and need not be compiled while a
            # simulation waits.
            changed[name] = new or old
    return constants._replace(**changed)


def carry_over(old: Scene, prepared: PreparedScene) -> None:
    """Copy the state of a simulation to the records of another world.

    Objects of both worlds keep their motion; others are at their start. Contacts persist with
    their warm start. Wrenches on removed objects end.

    :param old: present shapes
    :param prepared: data of the other world, changed
    """
    scene, new = prepared.scene, prepared.fields
    fields: PhysicsRecord = prepared.before.fields  # type: ignore[assignment]
    names = {each.name: o for o, each in enumerate(old.objects)}
    for array, source, start in zip(new.objects, fields.objects, new.model.scene.start):
        array[...] = start
        for o, each in enumerate(scene.objects):
            if each.name in names:
                # By name: numbers of objects change when an earlier one is removed.
                array[o] = source[names[each.name]]
    _carry_contacts(fields.contact_state, new.contact_state, prepared)
    _carry_forces(fields, prepared.body_ids)


def _carry_contacts(source: ContactState, target: ContactState, prepared: PreparedScene) -> None:
    before = source.contacts.pair[: int(source.counts[NOW])]
    shapes = prepared.shapes[shapes_of_pairs(prepared.old.table, before)]
    pairs = pairs_of_shapes(prepared.scene.table, shapes)
    # Impulses warm-start the next step: without them, objects at rest would start from zero
    # forces.
    kept = np.flatnonzero(pairs >= 0)
    # The loops expect contacts in the order of their pairs.
    kept = kept[np.argsort(pairs[kept], kind='stable')][: len(target.impulse)]
    _copy_rows(source, target, kept)
    count = len(kept)
    target.contacts.pair[:count] = pairs[kept]
    target.contacts.body_id[:count] = prepared.body_ids[source.contacts.body_id[kept]]
    # The step before the last has no contacts here.
    target.counts[:] = 0
    target.counts[NOW] = count


def _carry_forces(fields: PhysicsRecord, body_ids: IntArray) -> None:
    if not fields.model.has_external_forces:
        return
    use = fields.external_forces.use
    for row in use:
        if row[2] != 0:
            # Body 0 is the world, which always stays.
            gone = row[0] > 0 and body_ids[row[0]] == 0
            row[0], row[2] = body_ids[row[0]], 0 if gone else row[2]
    fields.state.counters[FORCES] = int(np.count_nonzero(use[:, 2]))


def _copy_rows(source: Tuple[Any, ...], target: Tuple[Any, ...], rows: IntArray) -> None:
    """Copy rows of arrays with one row per contact, and all other arrays whole."""
    declared: Dict[str, Any] = type(source)._field_defaults  # type: ignore[attr-defined]
    for name, each, into in zip(declared, source, target):
        if isinstance(each, tuple):
            _copy_rows(each, into, rows)
        elif declared[name].shape[0] in PER_CONTACT:
            # Moments are empty if nothing had any until now.
            into[: len(rows)] = each[rows] if len(each) else 0.0
        else:
            into[...] = each


def _same_shapes(old: Scene, new: Scene) -> IntArray:
    """Return the new number of each shape of the old scene, -1 for removed ones."""
    seen: Dict[str, int] = {}
    numbers: Dict[Tuple[str, int], int] = {}
    for k, each in enumerate(new.shapes):
        # A body may have several shapes: they correspond in their order.
        seen[each.name] = seen.get(each.name, -1) + 1
        numbers[each.name, seen[each.name]] = k
    seen.clear()
    found = []
    for each in old.shapes:
        seen[each.name] = seen.get(each.name, -1) + 1
        found.append(numbers.get((each.name, seen[each.name]), -1))
    return np.array(found, dtype=np.int64)


def _same_bodies(old: Scene, new: Scene) -> IntArray:
    """Return the new number of each body of the old scene, 0 for removed ones."""
    first = old.body_count - len(old.objects)
    names = {each.name: first + o for o, each in enumerate(new.objects)}
    found = [*range(first), *(names.get(each.name, 0) for each in old.objects)]
    return np.array(found, dtype=np.int64)
