# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Compiled step of the integrator rk4; see integrators/rk4.py."""

from __future__ import annotations

from typing import Any

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import call_kernel, compiled
from rbd_ros.simulation.integrators.integrator import EVERYTHING, NOTHING, VELOCITY
from rbd_ros.simulation.loops.loop_closing import close_positions, settle_loops
from rbd_ros.simulation.loops.loop_directions import (
    correct,
    find_directions,
    find_loops,
    fix_held,
    respond,
)
from rbd_ros.simulation.loops.loop_solver import keep_stage_force
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.workspace import Substep
from rbd_ros.simulation.stepping.displacement import is_allowed, is_at_limit, move
from rbd_ros.simulation.stepping.external_forces import find_applied_force
from rbd_ros.simulation.stepping.joint_law import (
    BACKWARD,
    FORWARD,
    friction_impulse,
    held_velocity,
    is_held,
)
from rbd_ros.simulation.stepping.linear import (
    add_scaled,
    clear,
    copy,
    factorize,
    solve_factorized,
)
from rbd_ros.simulation.stepping.semi_implicit_step import spring_torque, step_constrained


@compiled
def step_by_runge_kutta(step: Substep) -> int:
    """Compute `next_v`, and `next_q` if no force interrupts the step; return which."""
    model = step.model
    constrained = model.frictional == 1 or step.near > 0
    constrained = constrained or model.stiff == 1 or is_at_limit(model, step.state)
    for _ in range(2):
        if constrained and step_constrained(step) == NOTHING:
            return NOTHING
        if runge_kutta_step(step, constrained):
            return EVERYTHING
        # The first attempt assumes that no force interrupts the step. If it ends beyond a limit,
        # the second one begins with the implicit solve.
        if constrained:
            break
        constrained = True
    return VELOCITY


@compiled
def runge_kutta_step(step: Substep, solved: bool) -> bool:
    """Compute `next_q` and `next_v` at the end of a step from the present state.

    :param solved: whether the implicit solve has been done; if not, no force is discontinuous
    :return: whether the step is valid; if not, the caller takes it in another way
    """
    model, state, work, h = step.model, step.state, step.work, step.h
    problem, dynamics, motion, stages = work.problem, work.dynamics, work.motion, work.integrator
    held = 0
    copy(state.q, stages.q)
    copy(state.v, stages.v)
    clear(stages.held_force)
    if solved:
        # Kept, since the stages overwrite `next_v`.
        copy(motion.next_v, stages.implicit_v)
        # Discontinuous forces are those of the implicit solve, constant in all stages: the order
        # of the method requires smooth forces.
        held = hold_forces(step)
        if held < 0:
            return False
    else:
        clear(problem.impulse)  # reported by `settle` as force of constraints
    travel(step, held, solved)
    # The stages have overwritten `state`, which the kernels read.
    copy(stages.q, state.q)
    copy(stages.v, state.v)
    if is_allowed(model, state, motion, held):
        if not model.has_loops:
            return True
        # The stages close loops to fourth order; this, to rounding.
        if close_positions(model, motion, dynamics, problem.loops):
            settle_loops(model, state, motion, dynamics, problem, h)
            return True
    # The caller takes the step in another way, from the velocity of the implicit solve or with the
    # forces at its beginning, which the stages have overwritten.
    copy(stages.implicit_v, motion.next_v)
    find_applied_force(model, state, step.external_forces, dynamics)
    # The momentum of free bases needs the mass matrix, which stages with held joints have replaced
    # by its factors.
    if model.has_free_bases and held > 0:
        call_kernel(model.mass_matrix, state.packed, dynamics.mass)
    if model.has_loops:
        if solved:
            # Likewise for the constraints.
            call_kernel(model.mass_matrix, state.packed, dynamics.mass)
            find_loops(model, state, problem.inertia, problem.loops)
            fix_held(state.segment, problem.loops)
    return False


@compiled
def hold_forces(step: Substep) -> int:
    """Compute `held_force` from the implicit solve.

    :return: number of held joints; -1 if a joint stops or reverses in this step
    """
    model, state, problem, h = step.model, step.state, step.work.problem, step.h
    stages, v, held = step.work.integrator, state.v, 0
    for i in range(len(v)):
        segment, box = state.segment[i], h * model.friction[i]
        force = problem.contact_impulse[i] / h
        if is_held(segment):
            held += 1
            # Only a joint that already has this velocity keeps it smoothly.
            if v[i] != held_velocity(segment, problem.low[i], problem.high[i]):
                return -1
        elif box > 0.0:
            # Friction that reverses within the step is not constant.
            if (segment == FORWARD and v[i] < 0.0) or (segment == BACKWARD and v[i] > 0.0):
                return -1
            force += friction_impulse(segment, box) / h
        # Only damping that is too stiff: the rest acts at each stage.
        force -= (model.damping[i] - model.explicit_damping[i]) * stages.implicit_v[i]
        if model.has_springs:
            if model.explicit_stiffness[i] == 0.0:
                force -= spring_torque(model, state, i, h * stages.implicit_v[i])
        stages.held_force[i] = force
    return held


@compiled
def travel(step: Substep, held: int, solved: bool) -> None:
    """Take the four stages of a step; leaves `next_q` and `next_v`.

    :param held: number of held joints
    :param solved: whether the implicit solve has been done
    """
    model, state, work, h = step.model, step.state, step.work, step.h
    motion, stages = work.motion, work.integrator
    u, a, rate = stages.displacement, stages.acceleration, stages.rate
    clear(u)
    clear(stages.total_rate)
    clear(stages.total_acceleration)
    for stage in range(5):  # the fifth is the end of the step
        if stage > 0:
            # Two stages in the middle of the step, one at its end.
            part = 0.5 * h if stage < 3 else h
            for i in range(len(u)):
                u[i] = part * rate[i] if stage < 4 else stages.total_rate[i]
                motion.displacement[i] = u[i]
                change = part * a[i] if stage < 4 else stages.total_acceleration[i]
                motion.next_v[i] = stages.v[i] + change
            move(model, motion, stages.q)
        if stage == 4:
            break
        # The caller has computed the forces at the beginning of the step.
        if stage > 0:
            copy(motion.next_q, state.q)
            copy(motion.next_v, state.v)
            find_applied_force(model, state, step.external_forces, work.dynamics)
        find_displacement_rate(model, state.v, stages)
        accelerate(step, held)
        if model.has_loops:
            if stage == 0 and not solved:
                keep_stage_force(model, state, work.dynamics, work.problem.loops, a)
        # 1/6, 1/3, 1/3, 1/6: the two stages in the middle count twice.
        weight = h / 6.0 if stage == 0 or stage == 3 else h / 3.0
        add_scaled(weight, rate, stages.total_rate)
        add_scaled(weight, a, stages.total_acceleration)


@compiled
def accelerate(step: Substep, held: int) -> None:
    """Compute the acceleration of a stage with closed loops; that of held joints is zero.

    :param held: number of held joints
    """
    model, state, stages, tree = step.model, step.state, step.work.integrator, step.model.tree
    dynamics, loops = step.work.dynamics, step.work.problem.loops
    a, force = stages.acceleration, state.torque
    for i in range(len(a)):
        damping = model.explicit_damping[i] * state.v[i]
        force[i] = dynamics.applied_force[i] + stages.held_force[i] - damping
        if model.has_springs:
            if model.explicit_stiffness[i] > 0.0:
                force[i] -= spring_torque(model, state, i, 0.0)
    if held == 0 and not model.has_loops:
        # The articulated-body algorithm, which needs no H.
        call_kernel(model.dynamics, state.packed, a)
        return
    call_kernel(model.mass_matrix, state.packed, dynamics.mass)
    call_kernel(model.bias_force, state.packed, dynamics.bias)
    if model.has_loops:
        find_loops(model, state, dynamics.mass, loops)
        if held > 0:
            fix_held(state.segment, loops)
            find_directions(model, dynamics.mass, loops.jacobian, loops)
    for i in range(len(a)):
        a[i] = 0.0 if held > 0 and is_held(state.segment[i]) else force[i] - dynamics.bias[i]
    if model.has_loops:
        respond(model, loops, a)
        correct(model, loops, loops.bias, loops.correction)
        add_scaled(1.0, loops.correction, a)
        return
    # Rows of held joints become those of the identity: the others move as if these were welded.
    for i in range(len(a)):
        if is_held(state.segment[i]):
            for j in range(len(a)):
                dynamics.mass[i, j] = dynamics.mass[j, i] = 0.0
            dynamics.mass[i, i] = 1.0
    factorize(dynamics.mass, tree)
    solve_factorized(dynamics.mass, tree, a)


@compiled
def find_displacement_rate(model: SimulationModel, v: FloatArray, stages: Any) -> None:
    """Compute the rate of the displacement u from the start of a step, at the velocity v, (nv,).

    The derivative of the exponential, inverted to third order, for velocities in the moving body:
    v + [u, v] / 2 + [u, [u, v]] / 12 (Munthe-Kaas 1998).
    """
    first, second, u = stages.first_bracket, stages.second_bracket, stages.displacement
    copy(v, stages.rate)
    if len(model.bracket_value) == 0:  # revolute and prismatic joints commute with themselves
        return
    bracket(model, u, v, first)
    bracket(model, u, first, second)
    for i in range(len(v)):
        # Coefficients B_k / k! of the series, with Bernoulli numbers. The third is zero, so this
        # is enough for fourth order.
        stages.rate[i] += 0.5 * first[i] + second[i] / 12.0


@compiled
def bracket(model: SimulationModel, u: FloatArray, v: FloatArray, result: FloatArray) -> None:
    """Lie bracket of two velocities, (nv,): the sparse sum of its terms c u_j v_k."""
    clear(result)
    for t in range(len(model.bracket_value)):
        i, j, k = model.bracket_index[t, 0], model.bracket_index[t, 1], model.bracket_index[t, 2]
        result[i] += model.bracket_value[t] * u[j] * v[k]
