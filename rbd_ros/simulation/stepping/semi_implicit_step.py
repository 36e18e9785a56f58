# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Compiled semi-implicit step, and the step of the selected integrator.

See integrators/semi_implicit.py.
"""

from __future__ import annotations

import math

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import call_kernel, compiled
from rbd_ros.simulation.integrators.integrator import NOTHING, VELOCITY
from rbd_ros.simulation.loops.loop_closing import follow_loops
from rbd_ros.simulation.loops.loop_directions import find_loops, fix_held
from rbd_ros.simulation.loops.loop_solver import find_closed_velocity, keep_loop_force
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import (
    ExternalForces,
    GroundContactPoints,
    GUARDED,
    LIMITED,
    State,
    UNCONVERGED,
)
from rbd_ros.simulation.records.workspace import Dynamics, Motion, Problem, Substep, Workspace
from rbd_ros.simulation.stepping.displacement import CLOSED, move_at
from rbd_ros.simulation.stepping.free_base import correct_free_bases, predict_free_bases
from rbd_ros.simulation.stepping.joint_law import LOWER, UPPER
from rbd_ros.simulation.stepping.joint_servo import (
    add_servos,
    any_servos,
    JOINT_ROUNDS,
    move_servos,
    SINGLE_ROUNDS,
)
from rbd_ros.simulation.stepping.linear import clear, copy, dot, is_finite
from rbd_ros.simulation.stepping.solver import solve_velocity


@compiled
def step_by_euler(step: Substep) -> int:
    """Compute `next_v`; return whether it is finite."""
    # Most steps violate no constraint: the first attempt has no solver.
    constrained = step.model.frictional == 1 or step.near > 0
    # In a divided step, the kernel's implicit damping is that of another time step.
    if step.model.damped == 1 and step.h != step.model.timestep:
        constrained = True
    if not constrained and step_freely(step):
        return VELOCITY
    found: int = step_constrained(step)
    return found


@compiled
def step_freely(step: Substep) -> bool:
    """Compute `next_v` without friction, limits and contacts; damping is that of a whole step.

    :return: whether it is finite, within the guard on speed, and within the limits after the step
    """
    model, state, work, h = step.model, step.state, step.work, step.h
    dynamics, next_v = work.dynamics, work.motion.next_v
    clear(work.problem.impulse)
    if model.has_loops:
        prepare(model, state, dynamics, work.problem, h)
        find_closed_velocity(model, state, work.problem, next_v, h)
    else:
        # Damping at the initial velocity; its change over the step, h d a, is on the diagonal of
        # the kernel's inertia matrix. Likewise springs, at the position of that velocity.
        for i in range(len(next_v)):
            state.torque[i] = dynamics.applied_force[i] - model.damping[i] * state.v[i]
            if model.has_springs:
                state.torque[i] -= spring_torque(model, state, i, h * state.v[i])
        call_kernel(model.dynamics, state.packed, dynamics.acceleration)
        for i in range(len(next_v)):
            next_v[i] = state.v[i] + h * dynamics.acceleration[i]
    allowed = True
    for i in range(len(next_v)):
        v = next_v[i]
        allowed = allowed and abs(v) <= model.speed[i] and abs(v) < math.inf
        # Only joints with one position have limits; there a displacement simply adds.
        if model.position[i] >= 0:
            q = state.q[model.position[i]] + h * v
            allowed = allowed and model.lower[i] <= q <= model.upper[i]
    if model.has_free_bases:
        # A constrained step has it already; `predict_free_bases` needs it in both cases.
        if allowed:
            call_kernel(model.mass_matrix, state.packed, dynamics.mass)
    return allowed


@compiled
def spring_torque(model: SimulationModel, state: State, i: int, ahead: float) -> float:
    """Return the torque that balances the spring of a joint.

    :param i: degree of freedom
    :param ahead: displacement beyond the present position [rad, m]
    """
    if model.stiffness[i] == 0.0:
        return 0.0
    lag = state.q[model.position[i]] + ahead - model.spring_rest[i]
    torque: float = model.stiffness[i] * lag
    return torque


@compiled
def step_constrained(step: Substep) -> int:
    """Compute `next_v` with friction, limits and contacts.

    :return: `VELOCITY`, or `NOTHING` if it is not finite
    """
    model, state, h = step.model, step.state, step.h
    problem, next_v, counters = step.work.problem, step.work.motion.next_v, state.counters
    prepare(model, state, step.work.dynamics, problem, h)
    # Warm start: the velocity and the segments of the last step.
    copy(state.v, next_v)
    solved = solve_velocity(step)
    if model.has_servos:
        rounds = 0
        while move_servos(model, state, next_v, rounds):
            rounds += 1
            prepare(model, state, step.work.dynamics, problem, h)
            solved = solve_velocity(step)
        solved = solved and rounds <= JOINT_ROUNDS + SINGLE_ROUNDS
    if not solved:
        counters[UNCONVERGED] += 1
    if model.has_loops:
        keep_loop_force(model, state, problem, next_v, h)
        fix_held(state.segment, problem.loops)
    limited, guarded = False, False
    for i in range(len(next_v)):
        if state.segment[i] == LOWER or state.segment[i] == UPPER:
            # Velocity limits are counted separately.
            if abs(next_v[i]) >= model.speed[i]:
                guarded = True
            else:
                limited = True
    counters[LIMITED] += limited
    counters[GUARDED] += guarded
    return VELOCITY if is_finite(next_v) else NOTHING


@compiled
def prepare(
    model: SimulationModel, state: State, dynamics: Dynamics, problem: Problem, h: float
) -> None:
    """Compute `inertia`, `momentum`, `low` and `high` of the linear part of the equation."""
    q, v, H = state.q, state.v, problem.inertia
    call_kernel(model.mass_matrix, state.packed, dynamics.mass)
    call_kernel(model.bias_force, state.packed, dynamics.bias)
    for i in range(len(v)):
        copy(dynamics.mass[i], H[i])
        problem.momentum[i] = dot(H[i], v) + h * (dynamics.applied_force[i] - dynamics.bias[i])
        # After the momentum, which is the robot's: damping acts at the end of the step.
        H[i, i] += h * model.damping[i]
        if model.has_springs:
            problem.momentum[i] -= h * spring_torque(model, state, i, 0.0)
            H[i, i] += h * h * model.stiffness[i]
        problem.low[i], problem.high[i] = -model.speed[i], model.speed[i]
        # Limits on positions become limits on the velocity that leads there within the step.
        if model.position[i] >= 0:
            at = q[model.position[i]]
            # A joint outside its limits may stay there: `settle` moves it back without changing
            # its velocity.
            below, above = at - model.lower[i], model.upper[i] - at
            problem.low[i] = max(problem.low[i], -below / h if below > CLOSED else 0.0)
            problem.high[i] = min(problem.high[i], above / h if above > CLOSED else 0.0)
    if model.has_servos:
        add_servos(model, state, H, problem.momentum, h)
    if model.has_loops:
        find_loops(model, state, H, problem.loops)


@compiled
def integrate_configuration(
    model: SimulationModel, state: State, work: Workspace, h: float
) -> None:
    """Compute `next_q` at the end of the step from `next_v`; corrects free bases' velocities."""
    # Before anything moves: `mass` and q of the beginning belong together.
    if model.has_free_bases:
        predict_free_bases(model, state, work, h)
    if model.has_loops:
        follow_loops(model, state, work, h)
    else:
        move_at(model, work.motion, state.q, work.motion.next_v, h)
    if model.has_free_bases:
        correct_free_bases(model, work.dynamics, work.motion, work.free_bases, True)


@compiled
def take_integrator_step(
    model: SimulationModel,
    state: State,
    external_forces: ExternalForces,
    contacts: GroundContactPoints,
    work: Workspace,
    count: int,
    h: float,
) -> int:
    """Compute `next_v`, and `next_q` if the integrator does so; return which of them.

    :param count: number of contact points near a compliant ground
    :param h: time step [s]
    """
    step = Substep(model, state, external_forces, contacts, work, count, h)
    driven = False
    if model.has_servos:
        driven = any_servos(state)
    found: int = step_constrained(step) if driven else model.integrator_step(step)
    return found


@compiled
def commit_step(
    model: SimulationModel, state: State, motion: Motion, impulse: FloatArray, h: float
) -> None:
    """Make `next_q` and `next_v` the state.

    :param impulse: generalized impulse of friction, limits and contacts, (nv,)
    """
    for i in range(len(state.v)):
        state.constraint_force[i] = impulse[i] / h
    # Only here: a failed step has changed neither.
    copy(motion.next_v, state.v)
    copy(motion.next_q, state.q)
