# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The velocity at the end of a step of a robot with loops: solver.py in independent velocities.

With v = sum of y_k n_k over the `basis` n of motions with closed loops, constraint forces vanish
and H is the identity. Held joints prescribe sums of the y; if several hold the same motion, as
friction in all joints of a linkage does, one of them carries the load until it slides.
"""

from __future__ import annotations

import math

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.compiler.loops import compiled
from rbd_ros.simulation.loops.loop_directions import (
    add_multipliers,
    correct,
    HELD,
    HELD_RANK,
    RANK,
    respond,
    triangulate,
)
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import State
from rbd_ros.simulation.records.workspace import Dynamics, Loops, Problem
from rbd_ros.simulation.stepping.ground_contact import add_contacts
from rbd_ros.simulation.stepping.joint_law import friction_impulse, held_velocity, is_held
from rbd_ros.simulation.stepping.linear import add_scaled, clear, copy, copy_rows, dot, solve_dense


@compiled
def find_closed_velocity(
    model: SimulationModel, state: State, problem: Problem, v: FloatArray, h: float
) -> None:
    """Compute the velocity at the end of a step without friction, limits and contacts.

    :param v: the result, (nv,)
    :param h: time step [s]
    """
    copy(problem.momentum, v)
    respond(model, problem.loops, v)
    keep_loop_force(model, state, problem, v, h)


@compiled
def hold_joints(segment: IntArray, problem: Problem) -> None:
    """Compute `motions`: the first ones move the held joints, the others do not."""
    loops, n = problem.loops, len(segment)
    free, count = n - loops.counts[RANK], 0
    for i in range(n):
        # v_i = sum of y_k (n_k)_i: the row of the held joint in the coordinates y.
        if is_held(segment[i]):
            for k in range(free):
                loops.held_rows[count, k] = loops.basis[k, i]
            for k in range(free, n):
                loops.held_rows[count, k] = 0.0
            # Mobility of the joint alone
            loops.held_reference[count] = math.sqrt(1.0 / problem.inertia[i, i])
            loops.held_joint[count] = i
            count += 1
    loops.counts[HELD] = count
    loops.counts[HELD_RANK] = triangulate(
        loops.held_rows, loops.held_reflectors, loops.held_reference, loops.held_order, count, free
    )
    for k in range(free):
        copy(loops.basis[k], loops.motions[k])
    for k in range(loops.counts[HELD_RANK]):
        # The reflections that triangulate the held rows transform the basis: afterwards held
        # joints depend on the first `HELD_RANK` coordinates alone.
        turn_motions(loops, loops.held_reflectors[k], free)


@compiled
def turn_motions(loops: Loops, u: FloatArray, free: int) -> None:
    """Reflect the coordinates of `motions`.

    :param u: unit vector of the reflection
    :param free: number of motions
    """
    along = loops.spare
    clear(along)
    for k in range(free):
        add_scaled(u[k], loops.motions[k], along)
    for k in range(free):
        add_scaled(-2.0 * u[k], along, loops.motions[k])


@compiled
def solve_closed(
    model: SimulationModel,
    segment: IntArray,
    problem: Problem,
    v: FloatArray,
    count: int,
    h: float,
) -> None:
    """Solve for v with the loops closed and the laws replaced by their segments and slopes.

    :param v: velocity at the end of the step, a result, (nv,)
    :param count: number of contact points near the ground
    :param h: time step [s]
    """
    loops, n, x = problem.loops, len(v), problem.solution
    hold_joints(segment, problem)
    free, held, y = n - loops.counts[RANK], loops.counts[HELD_RANK], loops.coefficients
    copy(problem.momentum, x)
    has_contacts = False
    if model.has_ground:
        copy_rows(problem.inertia, problem.system)
        has_contacts = add_contacts(problem, count, h)
    for i in range(n):
        if not is_held(segment[i]):
            x[i] += friction_impulse(segment[i], h * model.friction[i])
    clear(y)
    for k in range(held):
        i = loops.held_joint[loops.held_order[k]]
        rest = held_velocity(segment[i], problem.low[i], problem.high[i])
        for j in range(k):
            rest -= loops.held_rows[k, j] * y[j]
        # Forward substitution: prescribed velocities of held joints give y.
        y[k] = rest / loops.held_rows[k, k]
    for k in range(held, free):
        # H is the identity here, so the free coordinates are the projected momentum.
        y[k] = dot(loops.motions[k], x)
    # Compliant contacts add damping to H, which couples the free coordinates.
    if has_contacts:
        solve_with_contacts(problem, held, free)
    clear(v)
    for k in range(free):
        add_scaled(y[k], loops.motions[k], v)
    # Exactly: a sticking joint must not creep.
    for k in range(held):
        i = loops.held_joint[loops.held_order[k]]
        v[i] = held_velocity(segment[i], problem.low[i], problem.high[i])


@compiled
def solve_with_contacts(problem: Problem, held: int, free: int) -> None:
    """Solve for `coefficients` with contacts, which couple the motions.

    :param held: number of prescribed motions
    :param free: number of motions
    """
    loops = problem.loops
    n, S, y, image = len(loops.coefficients), loops.system, loops.coefficients, loops.spare
    for k in range(n):
        clear(S[k])
        # Rows of prescribed coordinates are those of the identity: these stay unchanged.
        S[k, k] = 1.0
    for j in range(free):
        for i in range(n):
            image[i] = dot(problem.system[i], loops.motions[j])
        for k in range(held, free):
            S[k, j] = dot(loops.motions[k], image)
    solve_dense(S, y)


@compiled
def find_held_impulse(
    model: SimulationModel, segment: IntArray, problem: Problem, v: FloatArray, h: float
) -> None:
    """Compute `impulse` of friction, limits and contacts, for a velocity with closed loops.

    :param v: velocity at the end of the step, (nv,)
    :param h: time step [s]
    """
    loops, n, p = problem.loops, len(v), problem.impulse
    # Before the first solve, the held joints have no motions yet.
    hold_joints(segment, problem)
    rest = loops.correction
    for i in range(n):
        p[i] = problem.contact_impulse[i]
        if not is_held(segment[i]):
            p[i] += friction_impulse(segment[i], h * model.friction[i])
        # H v - H v_0 - h tau - p: the load of held joints and loops.
        rest[i] = dot(problem.inertia[i], v) - problem.momentum[i] - p[i]
    find_held_forces(loops, rest)
    for k in range(loops.counts[HELD_RANK]):
        p[loops.held_joint[loops.held_order[k]]] += loops.coefficients[k]


@compiled
def find_held_forces(loops: Loops, load: FloatArray) -> None:
    """Compute `coefficients`: forces of held joints with the work of a load on `motions`.

    :param load: generalized force, (nv,)
    """
    y, held = loops.coefficients, loops.counts[HELD_RANK]
    # The transpose of the forward substitution from prescribed velocities to motions.
    for k in range(held - 1, -1, -1):
        y[k] = dot(loops.motions[k], load)
        for j in range(k + 1, held):
            y[k] -= loops.held_rows[j, k] * y[j]
        y[k] /= loops.held_rows[k, k]


@compiled
def keep_loop_force(
    model: SimulationModel, state: State, problem: Problem, v: FloatArray, h: float
) -> None:
    """Compute `loop_force` and `loop_jacobian` of a semi-implicit step.

    :param v: velocity at the end of the step, (nv,)
    :param h: time step [s]
    """
    loops, n, rest = problem.loops, len(v), problem.loops.spare
    clear(state.loop_force)
    for i in range(n):
        rest[i] = dot(problem.inertia[i], v) - problem.momentum[i] - problem.impulse[i]
    # An impulse over the step becomes a force.
    add_multipliers(model, loops, rest, 1.0 / h, state.loop_force)
    # The loops allow that velocity at the beginning. The force of the acceleration with K a = k
    # rotates it as positions follow.
    correct(model, loops, loops.bias, loops.correction)
    for i in range(n):
        rest[i] = dot(problem.inertia[i], loops.correction)
    add_multipliers(model, loops, rest, 1.0, state.loop_force)
    copy_rows(loops.jacobian, state.loop_jacobian)


@compiled
def keep_stage_force(
    model: SimulationModel, state: State, dynamics: Dynamics, loops: Loops, a: FloatArray
) -> None:
    """Compute `loop_force` and `loop_jacobian` of a stage without held joints.

    :param a: acceleration, (nv,) [rad/s^2, m/s^2]
    """
    rest = loops.spare
    clear(state.loop_force)
    for i in range(len(a)):
        rest[i] = dot(dynamics.mass[i], a) + dynamics.bias[i] - state.torque[i]
    add_multipliers(model, loops, rest, 1.0, state.loop_force)
    copy_rows(loops.jacobian, state.loop_jacobian)
