# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contacts that a step's own impulses bring about beyond those that were looked for.

Contacts are looked for by the velocities at the beginning of a step, half as fast again. What a
impact or a strong drive speeds up beyond that in the same step could pass into others: they are
looked for once more, by the velocities that were found, and the step is taken again with them.
"""

from __future__ import annotations

from rbd_ros.collision.scene.scene_bounds import has_sped_up
from rbd_ros.collision.scene.scene_reduction import drop_implied
from rbd_ros.compiler.loops import call_loop, compiled
from rbd_ros.contact.detection import body_velocities
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import State
from rbd_ros.simulation.records.workspace import Workspace
from rbd_ros.simulation.scene.scene_state import ContactState, Objects
from rbd_ros.simulation.stepping.free_bodies import (
    find_angular_velocity,
    find_twist,
    keep_objects,
    restore_objects,
)
from rbd_ros.simulation.stepping.linear import copy

#: How often contacts are looked for in a step: each time may show one more body to be reached, as
#: impacts run through a row of bodies with gaps.
LOOKS = 50

#: How many of them may leave a problem unsolved, which takes all methods of the solver each time.
UNSOLVED_LOOKS = 3


@compiled
def look_for_contacts(
    model: SimulationModel, contact_state: ContactState, work: Workspace, h: float
) -> int:
    """Find contacts; return their number with those that others imply, which are left out.

    How many there are without these is in `scene.contact_count`.

    :param h: time step [s]
    """
    scene, contacts, table = work.scene, contact_state.contacts, model.scene.table
    count = call_loop(model.scene.finder, table, scene.buffers, contacts, h)
    scene.contact_count[0] = count
    if model.scene.has_compounds:
        scene.contact_count[0] = drop_implied(table, scene.buffers, contacts, count)
    return count


@compiled
def keep_before_contact(state: State, objects: Objects, work: Workspace) -> None:
    """Keep what contacts will change before anything moves."""
    before = work.before_contact
    copy(state.v, before.v)
    # Counters too: a step that is taken again counts once.
    copy(state.counters, before.counters)
    keep_objects(objects, before.objects)


@compiled
def go_back(state: State, objects: Objects, work: Workspace) -> None:
    """Go back to what `keep_before_contact` kept."""
    before = work.before_contact
    copy(before.v, state.v)
    copy(before.counters, state.counters)
    restore_objects(objects, before.objects)
    # Angular velocity is derived from angular momentum, which has just been restored.
    for o in range(len(objects.position)):
        find_angular_velocity(objects, work.scene, o)


@compiled
def reaches_more(
    model: SimulationModel,
    objects: Objects,
    contact_state: ContactState,
    work: Workspace,
    look: int,
    seen: int,
    h: float,
) -> int:
    """Detect contacts again by the velocities at the end of the step, if anything sped up.

    :param look: how many times this has been done in the step, with this time
    :param seen: how many were found until now
    :param h: time step [s]
    :return: how many there are, which `contact_state` has then; if `seen`, those until now
    """
    buffers, tree = work.scene.buffers, model.tree
    if model.has_robot:
        body_velocities(tree, work.dynamics.columns, work.motion.next_v, buffers.ahead)
    for o in range(len(objects.position)):
        find_angular_velocity(objects, work.scene, o)
        find_twist(objects, work.scene, o, buffers.ahead[model.scene.first_object + o])
    if not has_sped_up(model.scene.table, buffers, h):
        return seen
    # Velocities ahead count besides those of the beginning: contacts found before are found again.
    buffers.look[0] = look
    count: int = look_for_contacts(model, contact_state, work, h)
    buffers.look[0] = 0
    return count
