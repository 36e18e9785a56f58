"""One classical Runge-Kutta step of fourth order on the robot's configuration space.

Forces that jump are found by the implicit solve of the semi-implicit step (solver.py) and held
over the step: sliding friction, contact forces, and damping too stiff for an explicit method.
Joints that stick, or rest at a limit, take no part. A step in which a joint comes to rest,
reverses, or reaches a limit is semi-implicit as a whole.

Configurations of floating and planar joints are found by the exponential map (Runge-Kutta-Munthe-
Kaas): with q(t) = q(0) exp(u), the displacement obeys du/dt = v + u x v / 2 + u x (u x v) / 12 +
O(u^4 v).
"""

from __future__ import annotations

import math

import numpy as np

from rbd_ros.compiler.loops import call_kernel, compiled, merged
from rbd_ros.simulation.joint_law import (
    BACKWARD,
    FORWARD,
    friction_impulse,
    held_velocity,
    is_held,
)
from rbd_ros.simulation.linear import (
    add_scaled,
    clear,
    copy,
    factorise,
    solve_factorised,
)
from rbd_ros.simulation.plant import Memory, Plant
from rbd_ros.simulation.semi_implicit import move
from rbd_ros.simulation.surroundings import find_drive


@compiled
def runge_kutta_step(plant: Plant, memory: Memory, solved: bool, h: float) -> bool:
    """Find `next_q` and `next_v` at the end of a step from the present state.

    :param solved: whether the implicit solve has been done; if not, no force jumps
    :return: whether the step is valid; if not, it is to be done in another way
    """
    copy(memory.q, memory.part_q)
    copy(memory.v, memory.part_v)
    solution, held = memory.stages[5], 0
    clear(memory.held_force)
    if solved:
        copy(memory.next_v, solution)
        held = hold_forces(plant, memory, h)
        if held < 0:
            return False
    else:
        clear(memory.impulse)
    travel(plant, memory, held, h)
    copy(memory.part_q, memory.q)
    copy(memory.part_v, memory.v)
    if is_allowed(plant, memory, held):
        return True
    copy(solution, memory.next_v)
    return False


@compiled
def is_at_limit(plant: Plant, memory: Memory) -> bool:
    """Return whether any joint is at a limit or beyond."""
    for i in range(len(plant.position)):
        if plant.position[i] >= 0:
            q = memory.q[plant.position[i]]
            if q <= plant.lower[i] or q >= plant.upper[i]:
                return True
    return False


@merged
def hold_forces(plant: Plant, memory: Memory, h: float) -> int:
    """Find `held_force` from the solution of the implicit solve.

    :return: number of joints that are held; -1 if a joint stops or reverses in this step
    """
    held, v = 0, memory.v
    for i in range(len(v)):
        segment, box = memory.segment[i], h * plant.friction[i]
        force = memory.contact_impulse[i] / h
        if is_held(segment):
            held += 1
            if v[i] != held_velocity(segment, memory.low[i], memory.high[i]):
                return -1
        elif box > 0.0:
            if (segment == FORWARD and v[i] < 0.0) or (segment == BACKWARD and v[i] > 0.0):
                return -1
            force += friction_impulse(segment, box) / h
        force -= (plant.damping[i] - plant.explicit_damping[i]) * memory.next_v[i]
        memory.held_force[i] = force
    return held


@merged
def travel(plant: Plant, memory: Memory, held: int, h: float) -> None:
    """Take the four stages from `part_q` and `part_v`; leaves `next_q` and `next_v`."""
    n = len(memory.v)
    u, a, rate = memory.stages[0], memory.stages[1], memory.stages[2]
    total_rate, total_a = memory.stages[3], memory.stages[4]
    clear(u)
    clear(total_rate)
    clear(total_a)
    for stage in range(5):
        if stage > 0:
            part = 0.5 * h if stage < 3 else h
            for i in range(n):
                u[i] = part * rate[i] if stage < 4 else total_rate[i]
                memory.move_v[i] = u[i]
                change = part * a[i] if stage < 4 else total_a[i]
                memory.next_v[i] = memory.part_v[i] + change
            move(plant, memory, memory.part_q)
        if stage == 4:
            break
        if stage > 0:
            copy(memory.next_q, memory.q)
            copy(memory.next_v, memory.v)
            find_drive(plant, memory)
        displacement_rate(plant, memory, u, rate)
        accelerate(plant, memory, held, a)
        weight = h / 6.0 if stage == 0 or stage == 3 else h / 3.0
        add_scaled(weight, rate, total_rate)
        add_scaled(weight, a, total_a)


@compiled
def accelerate(plant: Plant, memory: Memory, held: int, a: np.ndarray) -> None:
    """Acceleration at the state of a stage; joints that are held have none."""
    n = len(memory.v)
    for i in range(n):
        memory.torque[i] = (
            memory.drive[i] + memory.held_force[i] - plant.explicit_damping[i] * memory.v[i]
        )
    if held == 0:
        call_kernel(plant.smooth_dynamics, memory.state, a)
        return
    call_kernel(plant.mass_matrix, memory.state, memory.mass_flat)
    call_kernel(plant.bias_force, memory.state, memory.bias)
    A = memory.mass
    for i in range(n):
        a[i] = memory.torque[i] - memory.bias[i]
    for i in range(n):
        if is_held(memory.segment[i]):
            for j in range(n):
                A[i, j] = 0.0
                A[j, i] = 0.0
            A[i, i] = 1.0
            a[i] = 0.0
    factorise(A, plant.row_first, plant.row_index)
    solve_factorised(A, plant.row_first, plant.row_index, a)


@merged
def is_allowed(plant: Plant, memory: Memory, held: int) -> bool:
    """Return whether the end of the step is finite, within the limits and not too fast."""
    for i in range(len(plant.position)):
        v = memory.next_v[i]
        if not (abs(v) <= plant.speed[i] and abs(v) < math.inf):
            return False
        resting = held > 0 and is_held(memory.segment[i])
        if plant.position[i] >= 0 and not resting:
            q = memory.next_q[plant.position[i]]
            if not plant.lower[i] <= q <= plant.upper[i]:
                return False
    return True


@compiled
def displacement_rate(plant: Plant, memory: Memory, u: np.ndarray, rate: np.ndarray) -> None:
    """Rate of the displacement u from the start of a step, at the present velocity, (nv,).

    The derivative of the exponential, inverted to third order, for velocities in the moving body:
    v + [u, v] / 2 + [u, [u, v]] / 12 (Munthe-Kaas 1998).
    """
    v, first, second = memory.v, memory.stages[6], memory.stages[7]
    copy(v, rate)
    if len(plant.bracket_value) == 0:
        return
    bracket(plant, u, v, first)
    bracket(plant, u, first, second)
    for i in range(len(v)):
        rate[i] += 0.5 * first[i] + second[i] / 12.0


@compiled
def bracket(plant: Plant, u: np.ndarray, v: np.ndarray, result: np.ndarray) -> None:
    """Lie bracket of two velocities, (nv,)."""
    clear(result)
    for t in range(len(plant.bracket_value)):
        i, j, k = plant.bracket_index[t, 0], plant.bracket_index[t, 1], plant.bracket_index[t, 2]
        result[i] += plant.bracket_value[t] * u[j] * v[k]
