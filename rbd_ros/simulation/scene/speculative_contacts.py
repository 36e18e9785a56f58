# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Repeated contact search for bodies that a step's own impulses accelerate.

The search uses 1.5 times the velocities at the beginning of a step. Bodies that an impact or a
strong drive accelerates beyond that could pass through others: contacts are searched again by the
velocities found, and the step is repeated with them.
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
    restore_objects,
    save_objects,
)
from rbd_ros.simulation.stepping.linear import copy

#: Maximum number of searches in a step: each may reach one more body, as impacts run through a row
#: of bodies with gaps.
MAX_SEARCHES = 50

#: Maximum number of them after an unsolved problem, each of which takes all methods of the solver.
MAX_UNSOLVED = 3


@compiled
def find_step_contacts(
    model: SimulationModel, contact_state: ContactState, work: Workspace, h: float
) -> int:
    """Find contacts; return their number including implied ones, which are dropped.

    `scene.contact_count` is the number without these.

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
    """Store the state that contacts change, before anything moves."""
    before = work.before_contact
    copy(state.v, before.v)
    # Counters too: a repeated step counts once.
    copy(state.counters, before.counters)
    save_objects(objects, before.objects)


@compiled
def go_back(state: State, objects: Objects, work: Workspace) -> None:
    """Restore the state of `keep_before_contact`."""
    before = work.before_contact
    copy(before.v, state.v)
    copy(before.counters, state.counters)
    restore_objects(objects, before.objects)
    # Angular velocity follows from the restored angular momentum.
    for o in range(len(objects.position)):
        find_angular_velocity(objects, work.scene, o)


@compiled
def reaches_more(
    model: SimulationModel,
    objects: Objects,
    contact_state: ContactState,
    work: Workspace,
    search: int,
    seen: int,
    h: float,
) -> int:
    """Detect contacts again by the velocities at the end of the step, if anything sped up.

    :param search: number of this search in the step
    :param seen: number of contacts found before
    :param h: time step [s]
    :return: number of contacts, now in `contact_state`; if `seen`, those found before
    """
    buffers, tree = work.scene.buffers, model.tree
    if model.has_robot:
        body_velocities(tree, work.dynamics.columns, work.motion.next_v, buffers.ahead)
    for o in range(len(objects.position)):
        find_angular_velocity(objects, work.scene, o)
        find_twist(objects, work.scene, o, buffers.ahead[model.scene.first_object + o])
    if not has_sped_up(model.scene.table, buffers, h):
        return seen
    # Velocities ahead count besides the initial ones, so earlier contacts are found again.
    buffers.search[0] = search
    count: int = find_step_contacts(model, contact_state, work, h)
    buffers.search[0] = 0
    return count
