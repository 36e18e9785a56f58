# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Islands of the robot with more contacts than a matrix has room for, as in a full bin.

Contacts at the robot are solved with a matrix, those among objects without one
(matrix_free_islands.py), in turns: each with the last impulses of the other (block Gauss-Seidel).
"""

from __future__ import annotations

import math

from rbd_ros.compiler.loops import compiled, load_vec, norm, stack_array
from rbd_ros.constraints.friction_space import ROUGH
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import DROPPED, State
from rbd_ros.simulation.records.workspace import Workspace
from rbd_ros.simulation.scene.friction_moments import apply_friction_moment
from rbd_ros.simulation.scene.island import apply_impulse_to_objects, end_island, solve_island
from rbd_ros.simulation.scene.islands import at_robot, first_of
from rbd_ros.simulation.scene.matrix_free_islands import any_yields, solve_matrix_free
from rbd_ros.simulation.scene.scene_state import (
    CHANGING,
    ContactState,
    Objects,
    SceneModel,
    SceneWork,
)
from rbd_ros.simulation.stepping.free_bodies import find_angular_velocity
from rbd_ros.simulation.stepping.linear import clear
from rbd_ros.simulation.stepping.rotations import load_matrix

#: Maximum number of turns. They start with the impulses of the last step, so that a heap at rest
#: needs two; a robot that pushes into one needs tens.
MAX_TURNS = 60


@compiled
def solve_split_island(
    model: SimulationModel,
    state: State,
    objects: Objects,
    contact_state: ContactState,
    work: Workspace,
    m: int,
    h: float,
) -> bool:
    """Solve for the impulses of the robot's island, and apply them.

    Contacts at the robot that exceed the matrix are dropped, and counted.

    :param m: number of rows of joints
    :param h: time step [s]
    :return: whether both problems are solved, and another turn would change the velocities of
        objects by less than 1e-6 of their maximum
    """
    scene, solved = work.scene, False
    drop_excess(model, state, contact_state, scene)
    # The velocities of objects include all impulses but those that are solved for.
    for robot in range(2):
        n = list_part(model, contact_state, scene, robot == 1)
        add_impulses(model, objects, contact_state, scene, n, 1.0)
    velocities_settled(model.scene, objects, scene, h)
    for _ in range(MAX_TURNS):
        clear(contact_state.residuals)
        solved = True
        n = list_part(model, contact_state, scene, False)
        if model.scene.has_objects:
            if n > 0:
                yields = any_yields(contact_state, scene, n)
                add_impulses(model, objects, contact_state, scene, n, -1.0)
                solved = solve_matrix_free(
                    model.scene, objects, contact_state, scene, n, yields, h
                )
                add_impulses(model, objects, contact_state, scene, n, 1.0)
        n = list_part(model, contact_state, scene, True)
        add_impulses(model, objects, contact_state, scene, n, -1.0)
        for a in range(n):
            # Not the last impulses again: the velocities of objects are others.
            contact_state.steady[scene.listed[a]] = CHANGING
        # Both sums get the impulses of rows of joints here, those of contacts in the end.
        clear(scene.gathered)
        clear(work.problem.impulse)
        solved = solve_island(model, objects, contact_state, work, n, m, h) and solved
        add_impulses(model, objects, contact_state, scene, n, 1.0)
        if velocities_settled(model.scene, objects, scene, h):
            break
        solved = False
    for robot in range(2):
        n = list_part(model, contact_state, scene, robot == 1)
        add_impulses(model, objects, contact_state, scene, n, -1.0)
        end_island(model, objects, contact_state, work, n)
    return solved


@compiled
def list_part(
    model: SimulationModel, contact_state: ContactState, work: SceneWork, robot: bool
) -> int:
    """List contacts of the robot's island in `listed`; return their number.

    :param robot: whether contacts at the robot, up to the room of the matrix, or all others
    """
    n = 0
    for k in range(first_of(work.contact_end, 0), work.contact_end[0]):
        c = work.contact_order[k]
        if at_robot(model.scene, contact_state.contacts, c) == robot:
            if not robot or n < len(work.friction):
                work.listed[n] = c
                n += 1
    return n


@compiled
def drop_excess(
    model: SimulationModel, state: State, contact_state: ContactState, work: SceneWork
) -> None:
    """Clear the impulses of contacts at the robot that exceed the matrix, and count them."""
    room = len(work.friction)
    for k in range(first_of(work.contact_end, 0), work.contact_end[0]):
        c = work.contact_order[k]
        if at_robot(model.scene, contact_state.contacts, c):
            room -= 1
            if room < 0:
                state.counters[DROPPED] += 1
                clear(contact_state.impulse[c])
                if model.scene.has_friction_moments:
                    clear(contact_state.moment[c])


@compiled
def add_impulses(
    model: SimulationModel,
    objects: Objects,
    contact_state: ContactState,
    work: SceneWork,
    n: int,
    sign: float,
) -> None:
    """Add the impulses of listed contacts to the objects, or subtract them.

    :param n: number of contacts
    :param sign: 1, or -1 to subtract
    """
    contacts, signed = contact_state.contacts, stack_array(3)
    for a in range(n):
        c = work.listed[a]
        signed[0:3] = sign * load_vec(contact_state.impulse[c], 3)
        apply_impulse_to_objects(model, objects, contacts, work, c, signed)
        if model.scene.has_friction_moments:
            signed[0:3] = sign * load_vec(contact_state.moment[c], 3)
            apply_friction_moment(model, objects, contacts, work, c, signed)
    for o in range(len(objects.velocity)):
        find_angular_velocity(objects, work, o)


@compiled
def velocities_settled(model: SceneModel, objects: Objects, work: SceneWork, h: float) -> bool:
    """Return whether the velocities of objects are those of the last call, to 1e-6.

    Rotations count by their energy: that of the change of an angular velocity, per mass.

    :param h: time step [s]
    """
    change, most = 0.0, h * norm(load_vec(model.bodies.gravity, 3))
    for o in range(len(objects.velocity)):
        last, mass = work.last_state[o], model.bodies.mass[o]
        v, L = load_vec(objects.velocity[o], 3), load_vec(objects.angular_momentum[o], 3)
        turn, mobility = L - load_vec(last, 3), load_matrix(work.mobility[o])
        change = max(change, norm(v - load_vec(last, 3, 3)))
        change = max(change, math.sqrt(max(turn @ (mobility @ turn), 0.0) / mass))
        most = max(most, norm(v), math.sqrt(max(L @ (mobility @ L), 0.0) / mass))
        last[0:3], last[3:6] = L, v
    settled: bool = change <= ROUGH * most
    return settled
