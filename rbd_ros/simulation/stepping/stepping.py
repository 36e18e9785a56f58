# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The stepping loop, which Python calls with the GIL released until all steps are done."""

from __future__ import annotations

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import call_kernel, call_loop, compiled, entry_point
from rbd_ros.simulation.integrators.integrator import NOTHING, VELOCITY
from rbd_ros.simulation.loops.loop_closing import close_positions, project
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import (
    BUSY,
    ExternalForces,
    FORCES,
    GroundContactPoints,
    NEAR,
    REJECTED,
    SATURATED,
    State,
    STEPS,
    SUBSTEPS,
    WHOLE,
)
from rbd_ros.simulation.records.workspace import Access, Commands, PhysicsRecord, Workspace
from rbd_ros.simulation.scene.scene_step import take_scene_substep
from rbd_ros.simulation.scene.servo import take_servo_substep
from rbd_ros.simulation.stepping.displacement import return_joints
from rbd_ros.simulation.stepping.external_forces import age_external_forces, find_applied_force
from rbd_ros.simulation.stepping.free_bodies import restore_objects, save_objects
from rbd_ros.simulation.stepping.ground_contact import (
    detect_contacts,
    start_contacts,
    update_deformations,
)
from rbd_ros.simulation.stepping.joint_servo import begin_servos, end_servos
from rbd_ros.simulation.stepping.linear import copy, is_finite
from rbd_ros.simulation.stepping.semi_implicit_step import (
    commit_step,
    integrate_configuration,
    take_integrator_step,
)
from rbd_ros.simulation.stepping.step_division import (
    count_substeps,
    find_substep,
    needs_inertial_rate,
)

#: Maximum error of a loop in `close_loops` that counts as rounded model data [rad, m].
ROUNDED = 1e-3


@compiled
def saturate(model: SimulationModel, commands: Commands, state: State) -> bool:
    """Compute `applied`, the torque within the effort limits; return whether any is saturated."""
    cut = False
    for i in range(len(commands.torque)):
        requested = commands.torque[i]
        # Joints without an effort limit have an infinite one.
        state.applied[i] = min(max(requested, -model.effort[i]), model.effort[i])
        state.saturated[i] = 1 if state.applied[i] != requested else 0
        cut = cut or state.saturated[i] == 1
    return cut


@compiled
def find_forces(
    model: SimulationModel,
    state: State,
    external_forces: ExternalForces,
    contacts: GroundContactPoints,
    work: Workspace,
    h: float,
) -> int:
    """Compute `applied_force` and the contact points near the ground in the present state.

    :return: number of contact points near the ground
    """
    dynamics = work.dynamics
    placed = find_applied_force(model, state, external_forces, dynamics)
    # Contacts of the previous step are over, even without detection.
    state.counters[NEAR] = 0
    count = 0
    if model.has_ground:
        if not placed:
            call_kernel(model.contact_kinematics, state.packed, dynamics.kinematics)
        count = detect_contacts(model, state, dynamics, contacts, work.problem, h)
    return count


@compiled
def take_substep(physics: PhysicsRecord, h: float) -> bool:
    """Advance by h; return False, with q and v unchanged, if the velocity is not finite."""
    model, state, contacts, work = physics.model, physics.state, physics.contacts, physics.work
    count = find_forces(model, state, physics.external_forces, contacts, work, h)
    found = take_integrator_step(model, state, physics.external_forces, contacts, work, count, h)
    if found == NOTHING:
        return False
    if found == VELOCITY:
        integrate_configuration(model, state, work, h)
    # Loop closing and momentum correction change both: NaN is detected afterwards.
    if model.has_loops or model.has_free_bases:
        if not is_finite(work.motion.next_v) or not is_finite(work.motion.next_q):
            return False
    return_joints(model, state.q, work.motion, h)
    commit_step(model, state, work.motion, work.problem.impulse, h)
    # Last: the forces of this step follow from the deformations at its beginning.
    if model.has_ground:
        update_deformations(model.ground, state, contacts, count, h)
    return True


@compiled
def take_any_substep(physics: PhysicsRecord, h: float) -> bool:
    """Advance by h, in a world or not; return False if the dynamics are not finite."""
    done: bool = True
    if not physics.model.has_scene:
        done = take_substep(physics, h)
    elif physics.model.has_servos:
        done = take_servo_substep(physics, h)
    else:
        done = take_scene_substep(
            physics.model,
            physics.state,
            physics.external_forces,
            physics.contacts,
            physics.objects,
            physics.contact_state,
            physics.work,
            h,
        )
    return done


@compiled
def step_once(physics: PhysicsRecord) -> bool:
    """Advance by one step; return False, with q and v unchanged, if it is not finite."""
    model, state, work, objects = physics.model, physics.state, physics.work, physics.objects
    # For the mean acceleration, and for undo if a substep fails.
    copy(state.q, state.start_q)
    copy(state.v, state.start_v)
    # By the speed at its beginning: acceleration within this step divides the next one, unless
    # inertia divides it.
    parts = count_substeps(model, state.v)
    h = model.timestep if parts == 1 else model.timestep / parts
    watched = False
    if model.has_robot:
        watched = needs_inertial_rate(model, state)
    if model.has_scene:
        save_objects(objects, work.scene.start_state)
    if model.has_servos:
        begin_servos(state)
    substeps = 0
    for _ in range(parts):
        left = h
        while left > 0.0:
            substep = left
            if watched:
                substep = find_substep(model, state, work, left)
            if not take_any_substep(physics, substep):
                copy(state.start_q, state.q)
                copy(state.start_v, state.v)
                if model.has_scene:
                    restore_objects(objects, work.scene.start_state)
                return False
            left -= substep
            substeps += 1
    if model.has_servos:
        state.counters[SATURATED] += end_servos(model, state, work.motion.next_v)
    for i in range(len(state.v)):
        state.acceleration[i] = (state.v[i] - state.start_v[i]) / model.timestep
    state.counters[WHOLE] = 1 if substeps == parts else 0
    if model.has_external_forces:
        if state.counters[FORCES] > 0:
            age_external_forces(physics.external_forces, state)
    state.counters[STEPS] += 1
    state.counters[SUBSTEPS] += substeps - 1
    return True


@entry_point
def advance(physics: PhysicsRecord, count: int) -> int:
    """Take `count` steps under the commands.

    :return: number of steps taken; fewer than `count` if the dynamics stopped being finite;
        `REJECTED` if the commands are not finite: nothing is changed
    """
    model, state = physics.model, physics.state
    if not is_finite(physics.commands.torque):
        return REJECTED
    # Commands are the same in all steps, and so is their saturation.
    cut = saturate(model, physics.commands, state)
    if model.has_servos:
        copy(physics.commands.torque, state.servo.torque)
        cut = False  # servos set it in each step
    for step in range(count):
        if not step_once(physics):
            return step
        state.counters[SATURATED] += cut
    return count


@entry_point
def step_unless_locked(
    physics: PhysicsRecord, access: Access, torque: FloatArray, count: int
) -> int:
    """Take steps under a torque, unless the mutex of the simulation is held.

    With the GIL held, this is atomic for all other threads: none can acquire the mutex or write
    the torque in between.

    :return: as `advance`; `BUSY`, with nothing changed, if the mutex is held, or the torque is no
        plain array
    """
    if access.held[0] != 0 or len(torque) != len(physics.commands.torque):
        return BUSY
    copy(torque, physics.commands.torque)
    return call_loop(access.advance, physics, count)


@entry_point
def close_loops(physics: PhysicsRecord) -> int:
    """Close loops that rounding leaves open at the start, and project the velocity onto them.

    :return: number of the first loop with a larger error, -1 if there is none
    """
    model, state, motion = physics.model, physics.state, physics.work.motion
    dynamics, loops = physics.work.dynamics, physics.work.problem.loops
    call_kernel(model.loop_closure, state.q, loops.closure)
    for loop in range(len(model.loop_first) - 1):
        for c in range(model.loop_first[loop], model.loop_first[loop + 1]):
            if not abs(loops.residual[c]) <= ROUNDED:
                return loop
    copy(state.q, motion.next_q)
    if not close_positions(model, motion, dynamics, loops):
        return 0
    copy(motion.next_q, state.q)
    call_kernel(model.mass_matrix, state.q, dynamics.mass)
    project(model, state.v, dynamics, loops)
    return -1


@entry_point
def place_on_ground(physics: PhysicsRecord) -> int:
    """Start contact with the ground at the present configuration.

    :return: the deepest contact point in the ground, -1 if there is none
    """
    deepest: int = start_contacts(physics.model, physics.state, physics.work.dynamics)
    return deepest
