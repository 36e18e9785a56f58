# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A step of a robot in a world: rigid contact with friction, joint limits and joint friction.

Contacts are found at the beginning of the step. Those that bounce do so first, at the present
velocities. Then forces are found such that nothing penetrates at the end of the step: a velocity
may close a gap but no more. Contacts, joint limits and joint friction of an island are one problem
(contact_problem.py), solved by constraints/solvers. If the velocities exceed joint limits without
rows, or reach further contacts, the step is repeated with these (scene_robot.py,
speculative_contacts.py). Finally positions follow, and overlaps are corrected
(position_correction.py).
"""

from __future__ import annotations

from typing import Tuple

from rbd_ros.compiler.loops import compiled
from rbd_ros.simulation.integrators.integrator import (
    NOTHING,
    VELOCITY,
)
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import (
    CONTACTS,
    DROPPED,
    ExternalForces,
    GroundContactPoints,
    NEAR,
    State,
    UNCONVERGED,
)
from rbd_ros.simulation.records.workspace import Workspace
from rbd_ros.simulation.scene.contact_cache import load_impulses, store_impulses
from rbd_ros.simulation.scene.contact_jacobians import find_jacobians
from rbd_ros.simulation.scene.friction_moments import find_angular_jacobians
from rbd_ros.simulation.scene.impacts import collide, may_rebound
from rbd_ros.simulation.scene.island import end_island, solve_island
from rbd_ros.simulation.scene.islands import find_islands, list_contacts
from rbd_ros.simulation.scene.matrix_free_islands import (
    any_yields,
    MATRIX_FREE_THRESHOLD,
    solve_matrix_free,
)
from rbd_ros.simulation.scene.position_correction import correct_positions, correct_robot
from rbd_ros.simulation.scene.scene_robot import (
    end_robot,
    exceeds_limits,
    find_free_velocity,
    hold_bases,
    load_on_robot,
    place_robot,
    respond_to_contacts,
)
from rbd_ros.simulation.scene.scene_state import ContactState, NOW, Objects
from rbd_ros.simulation.scene.speculative_contacts import (
    find_step_contacts,
    go_back,
    keep_before_contact,
    MAX_SEARCHES,
    MAX_UNSOLVED,
    reaches_more,
)
from rbd_ros.simulation.scene.split_islands import solve_split_island
from rbd_ros.simulation.stepping.free_bodies import (
    accelerate_objects,
    are_lost,
    find_wrenches,
    move_objects,
    place_objects,
)
from rbd_ros.simulation.stepping.linear import clear, is_finite
from rbd_ros.simulation.stepping.semi_implicit_step import (
    commit_step,
    integrate_configuration,
    prepare,
    take_integrator_step,
)

#: Duration of an impact [s]: almost zero, so that servos have no effect.
IMPACT_DURATION = 1e-12


@compiled
def take_scene_substep(
    model: SimulationModel,
    state: State,
    external_forces: ExternalForces,
    unused: GroundContactPoints,
    objects: Objects,
    contact_state: ContactState,
    work: Workspace,
    h: float,
) -> bool:
    """Advance by h; return False, with q and v unchanged, if a velocity is not finite.

    :param unused: contacts with the ground, which a world does not have
    """
    # 1. Impulses of the last step become the warm start of contacts found again.
    store_impulses(contact_state)
    place_objects(model.scene, objects, work.scene)
    if model.has_external_forces:
        find_wrenches(model.scene, external_forces, objects, work.scene)
    if model.has_robot:
        place_robot(model, state, external_forces, work)
        for kind in range(2):
            clear(work.scene.has_row[kind])
    keep_before_contact(state, objects, work)
    # 2. Collision detection at the beginning of the step, with a margin for speculative contacts.
    seen = find_step_contacts(model, contact_state, work, h)
    found, robot_in_contact, unsolved = VELOCITY, False, 0
    # 3. Velocities at the end of the step. Impulses may accelerate bodies towards others that were
    # not tested: then the step is repeated with these pairs.
    for search in range(MAX_SEARCHES):
        before = state.counters[UNCONVERGED]
        found, robot_in_contact = find_velocities(
            model, state, external_forces, unused, objects, contact_state, work, h
        )
        # Limits become rows only once exceeded. Each round adds at least one, so it ends.
        while robot_in_contact and exceeds_limits(model, work):
            go_back(state, objects, work)
            found, robot_in_contact = find_velocities(
                model, state, external_forces, unused, objects, contact_state, work, h
            )
        if found == NOTHING:
            return False
        if search == MAX_SEARCHES - 1:
            # Further bodies in the row are unknown.
            state.counters[UNCONVERGED] += 1
            break
        if state.counters[UNCONVERGED] > before:
            unsolved += 1
        if unsolved == MAX_UNSOLVED:
            # Unconverged velocities would trigger further searches again and again.
            break
        now = reaches_more(model, objects, contact_state, work, search + 1, seen, h)
        if now == seen:
            break
        seen = now
        go_back(state, objects, work)

    # 4. Positions follow from the velocities (semi-implicit Euler), then overlaps are corrected.
    if model.has_robot:
        if found == VELOCITY:
            integrate_configuration(model, state, work, h)
    corrected = correct_positions(model, state, objects, contact_state, work, robot_in_contact, h)
    if model.has_robot:
        correct_robot(model, state, work, corrected, h)
        if not is_finite(work.motion.next_v) or not is_finite(work.motion.next_q):
            return False
    if model.scene.has_objects:
        # Velocities and momenta that are not finite give such poses too.
        move_objects(model.scene.bodies, objects, work.scene, h)
        if are_lost(objects, work.scene):
            return False
    # 5. Commit: q and v of the robot take their values at the end of the step.
    if model.has_robot:
        commit_step(model, state, work.motion, work.problem.impulse, h)
    return True


@compiled
def find_velocities(
    model: SimulationModel,
    state: State,
    external_forces: ExternalForces,
    unused: GroundContactPoints,
    objects: Objects,
    contact_state: ContactState,
    work: Workspace,
    h: float,
) -> Tuple[int, bool]:
    """Compute the velocities at the end of the step with the present contacts.

    Those of the robot are `next_v`, those of objects change in place, and impacts change `v`.

    :return: known results of the robot, velocity or position, see integrator.py, and
        whether the robot is at any contact
    """
    scene, problem, contacts = work.scene, work.problem, contact_state.contacts
    count = scene.contact_count[0]
    contact_state.counts[NOW] = state.counters[NEAR] = count
    state.counters[DROPPED] += scene.buffers.dropped[0]
    # Warm start: contacts are matched with those of the last step by feature and position.
    load_impulses(contact_state, count)
    load = 0.0
    if model.has_free_bases:
        load = load_on_robot(model, contact_state, count)
    robot_in_contact = find_jacobians(model, work.dynamics.columns, contacts, count, scene)
    if model.scene.has_friction_moments:
        find_angular_jacobians(model, work.dynamics.columns, contacts, count, scene)
    find_islands(model.scene, contacts, count, scene)
    clear(contact_state.residuals)

    rows, found = 0, VELOCITY
    if model.has_robot:
        clear(problem.impulse)
        if robot_in_contact:
            respond_to_contacts(model, state, contacts, work, count, h)
        else:
            # Without contacts the robot moves as without a world, bitwise identically.
            found = take_integrator_step(model, state, external_forces, unused, work, 0, h)
            if found == NOTHING:
                return NOTHING, False
    # Servos are implicit in h, but have no effect during an impact: responses are first computed
    # for a duration of almost zero, then for h.
    rebounds = False
    if model.has_servos:
        rebounds = robot_in_contact and may_rebound(model, contacts, count)
        if rebounds:
            respond_to_contacts(model, state, contacts, work, count, IMPACT_DURATION)
    if model.scene.bounces:
        if collide(model, state, objects, contact_state, work, count, h):
            if robot_in_contact:
                prepare(model, state, work.dynamics, problem, h)
    if model.has_servos:
        if rebounds:
            respond_to_contacts(model, state, contacts, work, count, h)
    if robot_in_contact:
        rows = find_free_velocity(model, work, h)
    # Gravity and external wrenches come before the impulses of contacts.
    if model.scene.has_objects:
        accelerate_objects(model.scene.bodies, objects, scene, h)
    solve_islands(model, state, objects, contact_state, work, rows, robot_in_contact, h)
    if model.has_robot:
        if robot_in_contact:
            end_robot(model, state, contact_state, work, rows, h)
        if not is_finite(work.motion.next_v):
            return NOTHING, False
        if model.has_free_bases:
            hold_bases(model, contact_state, count, load, work)
    return found, robot_in_contact


@compiled
def solve_islands(
    model: SimulationModel,
    state: State,
    objects: Objects,
    contact_state: ContactState,
    work: Workspace,
    rows: int,
    robot_in_contact: bool,
    h: float,
) -> None:
    """Solve for the forces in each island of bodies in contact.

    :param rows: number of rows of joints
    :param robot_in_contact: whether the robot is at any contact
    """
    scene, count = work.scene, contact_state.counts[NOW]
    clear(scene.gathered)
    # Islands share no movable body: their problems are independent. Only island 0, that of the
    # robot, has rows of joints.
    for island in range(len(scene.label)):
        if scene.label[island] != island:
            continue
        n = list_contacts(island, scene)
        if model.scene.has_objects:
            # Islands of objects alone: joints couple the contacts of a robot.
            if n > 0 and not (island == 0 and robot_in_contact):
                yields, solved = any_yields(contact_state, scene, n), False
                if n <= MATRIX_FREE_THRESHOLD and not yields:
                    solved = solve_island(model, objects, contact_state, work, n, 0, h)
                    yields = True
                if not solved and not solve_matrix_free(
                    model.scene, objects, contact_state, scene, n, yields, h
                ):
                    state.counters[UNCONVERGED] += 1
                end_island(model, objects, contact_state, work, n)
                continue
        m = rows if island == 0 else 0
        if n + m == 0:
            continue
        # Of the robot: more contacts than the matrix has room for.
        if n > len(scene.friction):
            if not solve_split_island(model, state, objects, contact_state, work, m, h):
                state.counters[UNCONVERGED] += 1
            continue
        if not solve_island(model, objects, contact_state, work, n, m, h):
            state.counters[UNCONVERGED] += 1
        end_island(model, objects, contact_state, work, n)
    state.counters[CONTACTS] = 0
    for c in range(count):
        state.counters[CONTACTS] += contact_state.impulse[c, 0] > 0.0
