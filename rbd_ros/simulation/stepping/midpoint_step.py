# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Compiled step of the integrator midpoint; see integrators/midpoint.py."""

from __future__ import annotations

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import call_kernel, compiled
from rbd_ros.simulation.integrators.integrator import EVERYTHING, FRICTION_ROUNDS, VELOCITY
from rbd_ros.simulation.records.simulation_state import FORCES, State
from rbd_ros.simulation.records.workspace import Substep
from rbd_ros.simulation.stepping.displacement import is_allowed, is_at_limit, move_at
from rbd_ros.simulation.stepping.external_forces import find_applied_force
from rbd_ros.simulation.stepping.free_base import correct_from_middle, predict_from_middle
from rbd_ros.simulation.stepping.joint_law import LOWER, UPPER
from rbd_ros.simulation.stepping.linear import clear, copy, dot
from rbd_ros.simulation.stepping.semi_implicit_step import spring_torque, step_constrained
from rbd_ros.simulation.stepping.solver import solve_velocity


@compiled
def step_by_midpoint(step: Substep) -> int:
    """Compute `next_v`, and `next_q` if nothing stops the motion; return which."""
    # With a joint at a limit or a contact near, the implicit solve decides whether it stops
    # anything.
    if step.near > 0 or is_at_limit(step.model, step.state):
        found: int = step_constrained(step)
        impulse = step.work.problem.contact_impulse
        if found != VELOCITY or is_stopped(step.state, impulse, step.near > 0):
            return found
    if midpoint_step(step):
        return EVERYTHING
    solved: int = step_constrained(step)
    return solved


@compiled
def midpoint_step(step: Substep) -> bool:
    """Compute `next_q` and `next_v` at the end of a step from the present state.

    :return: whether the step is valid; if not, the caller takes it in another way
    """
    model, state, work, h = step.model, step.state, step.work, step.h
    motion, middle = work.motion, work.integrator
    move_at(model, motion, state.q, state.v, 0.5 * h)
    copy(motion.next_q, middle.q)
    acting = False
    if model.has_external_forces:
        acting = state.counters[FORCES] > 0
        if acting:
            # In the middle. Kernels read `state`.
            copy(state.q, middle.start_q)
            copy(middle.q, state.q)
            find_applied_force(model, state, step.external_forces, work.dynamics)
            copy(middle.start_q, state.q)
    solving = model.frictional == 1
    if model.has_springs:
        # The kernel's diagonal is that of a whole step.
        if h != model.timestep:
            solving = True
    valid = True
    if solving:
        valid = solve_in_the_middle(step)
    else:
        accelerate_freely(step)
    if valid:
        move_at(model, motion, middle.q, motion.next_v, 0.5 * h)
        valid = is_allowed(model, state, motion, 0)
    if not valid:
        # The caller takes the step in another way, with the forces at its beginning.
        if acting:
            find_applied_force(model, state, step.external_forces, work.dynamics)
        return False
    if model.has_free_bases:
        call_kernel(model.mass_matrix, state.packed, work.dynamics.mass)
        predict_from_middle(model, state, work, middle.q, h)
        correct_from_middle(model, work, middle.q, h)
    return True


@compiled
def accelerate_freely(step: Substep) -> None:
    """Compute `next_v` without friction."""
    model, state, work, h = step.model, step.state, step.work, step.h
    middle, a, next_v = work.integrator, work.dynamics.acceleration, work.motion.next_v
    clear(work.problem.impulse)  # reported by `settle` as force of constraints
    copy(state.v, middle.v)
    for i in range(len(next_v)):
        v = state.v[i]
        middle.torque[i] = work.dynamics.applied_force[i] - model.damping[i] * v
        if model.has_springs:
            middle.torque[i] -= spring_torque(model, state, i, h * model.spring_lead[i] * v)
    middle.duration[0] = h
    call_kernel(model.dynamics, middle.packed, a)
    for i in range(len(next_v)):
        next_v[i] = state.v[i] + h * a[i]


@compiled
def solve_in_the_middle(step: Substep) -> bool:
    """Compute `next_v` with friction; return whether it is exact and below the guard on speed."""
    model, state, work = step.model, step.state, step.work
    middle, v, next_v = work.integrator, state.v, work.motion.next_v
    # Contacts without force do not count.
    without = Substep(model, state, step.external_forces, step.contacts, work, 0, step.h)
    call_kernel(model.mass_matrix, middle.packed, work.dynamics.mass)
    copy(v, middle.v)
    copy(v, next_v)
    for _ in range(FRICTION_ROUNDS):
        call_kernel(model.bias_force, middle.packed, work.dynamics.bias)
        prepare_middle(without)
        if not solve_velocity(without):
            return False
        for i in range(len(v)):
            middle.v[i] = 0.5 * (v[i] + next_v[i])
    return not is_stopped(state, work.problem.impulse, False)


@compiled
def prepare_middle(step: Substep) -> None:
    """Compute `inertia`, `momentum`, `low` and `high` from H and C of the middle."""
    model, state, dynamics, h = step.model, step.state, step.work.dynamics, step.h
    problem, v, H = step.work.problem, state.v, step.work.problem.inertia
    for i in range(len(v)):
        copy(dynamics.mass[i], H[i])
        implicit = model.implicit_damping[i]
        # Damping that acts on v.
        force = dynamics.applied_force[i] - (model.damping[i] - implicit) * v[i]
        problem.momentum[i] = dot(H[i], v) + h * (force - dynamics.bias[i])
        H[i, i] += h * implicit
        if model.has_springs:
            # At q + h lead v + (h lead)^2 a, with a = (v' - v) / h.
            lead = h * model.spring_lead[i]
            ahead = (lead - lead * model.spring_lead[i]) * v[i]
            problem.momentum[i] -= h * spring_torque(model, state, i, ahead)
            H[i, i] += lead * lead * model.stiffness[i]
        problem.low[i], problem.high[i] = -model.speed[i], model.speed[i]


@compiled
def is_stopped(state: State, impulse: FloatArray, touching: bool) -> bool:
    """Return whether a limit or a contact stops a motion in the last solution.

    :param impulse: generalized impulse of all contacts, (nv,)
    :param touching: whether there are contacts at all
    """
    for i in range(len(impulse)):
        if state.segment[i] == LOWER or state.segment[i] == UPPER:
            return True
        if touching and impulse[i] != 0.0:
            return True
    return False
