# SPDX-License-Identifier: Apache-2.0
"""Semi-implicit Euler steps: v' from the forces at q and v, then q' from v'.

Damping, springs, servos, joint friction, limits and contacts are taken at the end of the step
(solver.py). A robot that touches nothing, has neither Coulomb friction nor servos and reaches no
limit needs the articulated-body algorithm alone.
"""

from __future__ import annotations

import math

from rbd_ros.compiler.loops import call_kernel, compiled
from rbd_ros.simulation.displacement import CLOSED, move
from rbd_ros.simulation.free_base import correct_free_bases, predict_free_bases
from rbd_ros.simulation.joint_law import LOWER, UPPER
from rbd_ros.simulation.joint_servo import add_servos, move_servos, ONE_BY_ONE, TOGETHER
from rbd_ros.simulation.linear import clear, copy, dot
from rbd_ros.simulation.loop_closing import follow_loops
from rbd_ros.simulation.loop_directions import find_loops, fix_held
from rbd_ros.simulation.loop_solver import find_closed_velocity, keep_loop_force
from rbd_ros.simulation.plant import Plant
from rbd_ros.simulation.solver import solve_velocity
from rbd_ros.simulation.state import GroundContactPoints, GUARDED, LIMITED, State, UNCONVERGED
from rbd_ros.simulation.workspace import Dynamics, Problem, Workspace


@compiled
def step_freely(plant: Plant, state: State, work: Workspace, h: float) -> bool:
    """Find `next_v` without friction, limits and contacts.

    :param h: time step [s]; with damping or springs, that of `plant`
    :return: whether it is finite, within the guard on speed, and within the limits after the step
    """
    dynamics, next_v = work.dynamics, work.motion.next_v
    n = len(state.v)
    clear(work.problem.impulse)
    if plant.has_loops:
        prepare(plant, state, dynamics, work.problem, h)
        find_closed_velocity(plant, state, work.problem, next_v, h)
    else:
        a = dynamics.acceleration
        # Damping at the velocity of the beginning; how it changes over the step, h d a, is on the
        # diagonal of the kernel's inertia matrix.
        for i in range(n):
            state.torque[i] = dynamics.applied_force[i] - plant.damping[i] * state.v[i]
            if plant.has_springs:
                # Likewise springs, where the velocity of the beginning leads.
                state.torque[i] -= spring_torque(plant, state, i, h * state.v[i])
        call_kernel(plant.forward_dynamics, state.packed, a)
        for i in range(n):
            next_v[i] = state.v[i] + h * a[i]
    allowed = True
    for i in range(n):
        v = next_v[i]
        allowed = allowed and abs(v) <= plant.speed[i] and abs(v) < math.inf
        # Limits are those of joints with one position, to which a displacement simply adds.
        if plant.position[i] >= 0:
            q = state.q[plant.position[i]] + h * v
            allowed = allowed and plant.lower[i] <= q <= plant.upper[i]
    if plant.has_free_bases:
        # A constrained step has it already; `predict_free_bases` needs it in both cases.
        if allowed:
            call_kernel(plant.mass_matrix, state.packed, dynamics.mass)
    return allowed


@compiled
def spring_torque(plant: Plant, state: State, i: int, ahead: float) -> float:
    """Return the torque that it takes to hold the spring of a joint.

    :param i: degree of freedom
    :param ahead: how far the joint is beyond its present position [rad, m]
    """
    if plant.stiffness[i] == 0.0:
        return 0.0
    lag = state.q[plant.position[i]] + ahead - plant.spring_rest[i]
    torque: float = plant.stiffness[i] * lag
    return torque


@compiled
def step_constrained(
    plant: Plant,
    state: State,
    contacts: GroundContactPoints,
    work: Workspace,
    count: int,
    h: float,
) -> bool:
    """Find `next_v` with friction, limits and contacts; return whether it is finite.

    :param count: number of contact points near the ground
    :param h: time step [s]
    """
    problem, next_v, counters = work.problem, work.motion.next_v, state.counters
    prepare(plant, state, work.dynamics, problem, h)
    # The solver begins with the velocity and the segments of the last step, which rarely change.
    copy(state.v, next_v)
    solved = solve_velocity(plant, state, contacts, problem, next_v, count, h)
    if plant.has_servos:
        rounds = 0
        while move_servos(plant, state, next_v, rounds):
            rounds += 1
            prepare(plant, state, work.dynamics, problem, h)
            solved = solve_velocity(plant, state, contacts, problem, next_v, count, h)
        solved = solved and rounds <= TOGETHER + ONE_BY_ONE
    if not solved:
        counters[UNCONVERGED] += 1
    if plant.has_loops:
        keep_loop_force(plant, state, problem, next_v, h)
        fix_held(state.segment, problem.loops)
    limited, guarded, finite = False, False, True
    for i in range(len(next_v)):
        finite = finite and abs(next_v[i]) < math.inf
        if state.segment[i] == LOWER or state.segment[i] == UPPER:
            # Those of the speed are one more pair of limits, counted apart from the others.
            if abs(next_v[i]) >= plant.speed[i]:
                guarded = True
            else:
                limited = True
    counters[LIMITED] += limited
    counters[GUARDED] += guarded
    return finite


@compiled
def prepare(plant: Plant, state: State, dynamics: Dynamics, problem: Problem, h: float) -> None:
    """Find `inertia`, `momentum`, `low` and `high`: the linear part of the solver's equation."""
    q, v, H = state.q, state.v, problem.inertia
    call_kernel(plant.mass_matrix, state.packed, dynamics.mass)
    call_kernel(plant.bias_force, state.packed, dynamics.bias)
    for i in range(len(v)):
        copy(dynamics.mass[i], H[i])
        problem.momentum[i] = dot(H[i], v) + h * (dynamics.applied_force[i] - dynamics.bias[i])
        # After the momentum, which is that of the robot: damping acts at the end of the step.
        H[i, i] += h * plant.damping[i]
        if plant.has_springs:
            problem.momentum[i] -= h * spring_torque(plant, state, i, 0.0)
            H[i, i] += h * h * plant.stiffness[i]
        problem.low[i], problem.high[i] = -plant.speed[i], plant.speed[i]
        # Limits on positions as limits on the velocity that leads there within the step.
        if plant.position[i] >= 0:
            at = q[plant.position[i]]
            # A joint that is outside its limits already may stay there: `settle` moves it back
            # without giving it any speed.
            below, above = at - plant.lower[i], plant.upper[i] - at
            problem.low[i] = max(problem.low[i], -below / h if below > CLOSED else 0.0)
            problem.high[i] = min(problem.high[i], above / h if above > CLOSED else 0.0)
    if plant.has_servos:
        add_servos(plant, state, H, problem.momentum, h)
    if plant.has_loops:
        find_loops(plant, state, H, problem.loops)


@compiled
def follow_velocity(plant: Plant, state: State, work: Workspace, h: float) -> None:
    """Find `next_q` at the end of the step from `next_v`; corrects the velocity of free bases."""
    # Before anything moves: `mass` is that of the beginning, and q is needed with it.
    if plant.has_free_bases:
        impulse, next_v = work.problem.impulse, work.motion.next_v
        predict_free_bases(plant, state, work.dynamics, impulse, next_v, work.free_bases, h)
    if plant.has_loops:
        follow_loops(plant, state, work, h)
    else:
        motion = work.motion
        for i in range(len(motion.next_v)):
            motion.displacement[i] = h * motion.next_v[i]
        move(plant, motion, state.q)
    if plant.has_free_bases:
        correct_free_bases(plant, work.dynamics, work.motion, work.free_bases, True)
