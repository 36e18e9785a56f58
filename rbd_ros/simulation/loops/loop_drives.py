# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Drives of a robot with loops: servo torques for prescribed accelerations.

Hybrid dynamics, as in loop_solver.py, for accelerations: a = sum of y_k n_k + c, where c alone
satisfies the constraints, K c = k. Servos prescribe sums of the y. If several prescribe the same
motion, one does, and the others exert no torque; likewise for gravity compensation.
"""

from __future__ import annotations

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import call_kernel, compiled
from rbd_ros.simulation.loops.loop_directions import (
    correct,
    find_basis,
    find_loops,
    HELD_RANK,
    RANK,
)
from rbd_ros.simulation.loops.loop_solver import find_held_forces, hold_joints
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import State
from rbd_ros.simulation.records.workspace import Problem
from rbd_ros.simulation.stepping.joint_law import FORWARD, STICK
from rbd_ros.simulation.stepping.linear import add_scaled, clear, copy, dot


@compiled
def closed_hybrid_dynamics(
    model: SimulationModel,
    state: State,
    problem: Problem,
    known: FloatArray,
    forward: FloatArray,
    found: FloatArray,
) -> None:
    """Compute accelerations and forces of a robot with loops in the present state.

    :param problem: buffer
    :param known: forces where `forward` is 1, accelerations elsewhere, (nv,)
    :param forward: 1 where the force is known, 0 where the acceleration is, (nv,)
    :param found: accelerations, then forces, (2 nv,)
    """
    n, loops, force, a = len(known), problem.loops, problem.momentum, problem.swept_velocity
    call_kernel(model.mass_matrix, state.packed, problem.inertia)
    call_kernel(model.bias_force, state.packed, problem.impulse)
    find_loops(model, state, problem.inertia, loops)
    find_basis(model, loops)
    for i in range(n):
        # The friction segments of held and free joints
        problem.swept_segment[i] = STICK if forward[i] == 0.0 else FORWARD
        force[i] = forward[i] * known[i] - problem.impulse[i]
    hold_joints(problem.swept_segment, problem)
    free, held, y = n - loops.counts[RANK], loops.counts[HELD_RANK], loops.coefficients
    correct(model, loops, loops.bias, loops.correction)
    clear(y)
    for k in range(held):
        i = loops.held_joint[loops.held_order[k]]
        rest = known[i] - loops.correction[i]
        for j in range(k):
            rest -= loops.held_rows[k, j] * y[j]
        y[k] = rest / loops.held_rows[k, k]
    copy(loops.correction, a)
    for k in range(free):
        # The motion prescribed by the loops is orthogonal to the others.
        along = y[k] if k < held else dot(loops.motions[k], force)
        add_scaled(along, loops.motions[k], a)
    for i in range(n):
        found[i] = a[i]
        found[n + i] = forward[i] * known[i]
        loops.spare[i] = dot(problem.inertia[i], a) - force[i]
    find_held_forces(loops, loops.spare)
    for k in range(held):
        found[n + loops.held_joint[loops.held_order[k]]] = y[k]


@compiled
def balance_by_held(
    model: SimulationModel, state: State, problem: Problem, forward: FloatArray, load: FloatArray
) -> None:
    """Replace a generalized force by forces of some joints with the same effect on the robot.

    Components that these joints do not move are ignored.

    :param problem: buffer
    :param forward: 0 for the joints that may carry the load, 1 for the others, (nv,)
    :param load: the force, then theirs, (nv,)
    """
    loops = problem.loops
    call_kernel(model.mass_matrix, state.packed, problem.inertia)
    find_loops(model, state, problem.inertia, loops)
    find_basis(model, loops)
    for i in range(len(load)):
        problem.swept_segment[i] = STICK if forward[i] == 0.0 else FORWARD
    hold_joints(problem.swept_segment, problem)
    find_held_forces(loops, load)
    clear(load)
    for k in range(loops.counts[HELD_RANK]):
        load[loops.held_joint[loops.held_order[k]]] = loops.coefficients[k]
