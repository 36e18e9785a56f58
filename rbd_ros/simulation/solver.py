"""The velocity at the end of a step, with joint friction, joint limits and contacts, all implicit.

It solves for v' and the forces, h being the time step and H containing the implicit damping,

    H v' = b + h J^T f + p,     f = law of soft contact at J v' (contact/law.py),
                                p = law of the joints at v' (joint_law.py)

by Newton's method on the active parts of the laws: joints that are held drop out, contacts are
replaced by their slopes, and what is left is linear. As all laws but friction at sliding contacts
are piecewise linear, the result is exact once the parts no longer change. If they keep changing,
Gauss-Seidel sweeps (sweeps.py) find the parts first.
"""

from __future__ import annotations

import numpy as np

from rbd_ros.compiler.loops import compiled, matrix, merged, vector
from rbd_ros.contact.law import contact_force
from rbd_ros.simulation.joint_law import friction_impulse, held_velocity, is_held, next_segment
from rbd_ros.simulation.linear import (
    add_scaled,
    clear,
    copy,
    dot,
    factorise,
    solve_dense,
    solve_factorised,
)
from rbd_ros.simulation.plant import Memory, Plant
from rbd_ros.simulation.sweeps import sweep_to_rest

#: Newton steps before and after the sweeps.
MAX_NEWTON = 12

#: Relative change of forces and impulses that counts as rounding.
ROUNDING = 1e-12


@merged
def solve_velocity(plant: Plant, memory: Memory, count: int, h: float) -> bool:
    """Solve for `next_v`, `contact_force`, `impulse` and `segment`, beginning with what is there.

    :param count: number of contact points near the ground; their data are in the memory
    :param h: time step [s]
    :return: whether it is exact; else it is what the sweeps arrived at
    """
    velocity, segment = memory.found_v, memory.found_segment
    for attempt in range(3):
        if newton(plant, memory, count, h, MAX_NEWTON if attempt < 2 else 0):
            return True
        if attempt == 0:
            sweep_to_rest(plant, memory, count, h)
            copy(memory.next_v, velocity)
            copy(memory.segment, segment)
        else:
            copy(velocity, memory.next_v)
            copy(segment, memory.segment)
    return False


@merged
def newton(plant: Plant, memory: Memory, count: int, h: float, steps: int) -> bool:
    """Newton steps from `memory.next_v` and `memory.segment`; returns whether they arrived.

    Without steps it only finds the forces at that velocity.
    """
    v, segment = memory.next_v, memory.segment
    slack = 0.0
    for i in range(len(v)):
        slack = max(slack, ROUNDING * abs(memory.momentum[i]))
    for step in range(steps + 1):
        if step > 0:
            solve_linear(plant, memory, count, h)
        settled = linearise(plant, memory, count, h) <= ROUNDING
        find_impulse(memory)
        if step == 0:
            continue
        for i in range(len(v)):
            found = next_segment(
                segment[i],
                v[i],
                memory.impulse[i] - memory.contact_impulse[i],
                1.0 / memory.inertia[i, i],
                h * plant.friction[i],
                memory.low[i],
                memory.high[i],
                slack,
            )
            if found != segment[i]:
                segment[i] = found
                settled = False
        if settled:
            return True
    return False


@compiled
def linearise(plant: Plant, memory: Memory, count: int, h: float) -> float:
    """Find contact forces at `next_v`, their generalized impulse, and a linear forecast of them.

    :return: greatest error of the forecast made before, relative to the greatest force
    """
    largest, error = 0.0, 0.0
    rate, force, slope = vector(3), vector(3), matrix(3, 3)
    clear(memory.contact_impulse)
    for c in range(count):
        J, point = memory.jacobian[c], memory.found_point[c]
        for r in range(3):
            rate[r] = dot(J[r], memory.next_v)
        contact_force(
            rate,
            memory.gap[c],
            memory.patch_z[point],
            memory.patch_x[point],
            plant.contact,
            h,
            force,
            slope,
        )
        for r in range(3):
            forecast = memory.intercept[c, r] + dot(memory.slope[c, r], rate)
            largest = max(largest, abs(force[r]))
            error = max(error, abs(force[r] - forecast))
        for r in range(3):
            memory.contact_force[c, r] = force[r]
            copy(slope[r], memory.slope[c, r])
            memory.intercept[c, r] = force[r] - dot(slope[r], rate)
            if force[r] != 0.0:
                add_scaled(h * force[r], J[r], memory.contact_impulse)
    return error / largest if error > 0.0 and largest > 0.0 else error


@compiled
def solve_linear(plant: Plant, memory: Memory, count: int, h: float) -> None:
    """Solve for `memory.next_v` with the laws replaced by their segments and slopes."""
    v, segment = memory.next_v, memory.segment
    n = len(v)
    A, x = memory.system, memory.solution
    for i in range(n):
        copy(memory.inertia[i], A[i])
        x[i] = memory.momentum[i]
    pressed = False
    for c in range(count):
        if memory.slope[c, 0, 0] != 0.0:
            pressed = True
            add_contact(
                memory.jacobian[c], memory.intercept[c], memory.slope[c], h, A, x, memory.product
            )
    for i in range(n):
        if is_held(segment[i]):
            held = held_velocity(segment[i], memory.low[i], memory.high[i])
            for j in range(n):
                if held != 0.0 and not is_held(segment[j]):
                    x[j] -= A[j, i] * held
                A[i, j] = 0.0
                A[j, i] = 0.0
            A[i, i] = 1.0
            x[i] = held
        else:
            x[i] += friction_impulse(segment[i], h * plant.friction[i])
    if pressed:
        solve_dense(A, x)
    else:
        factorise(A, plant.row_first, plant.row_index)
        solve_factorised(A, plant.row_first, plant.row_index, x)
    copy(x, v)
    for i in range(n):
        if is_held(segment[i]):
            v[i] = held_velocity(segment[i], memory.low[i], memory.high[i])


@compiled
def add_contact(
    J: np.ndarray,
    intercept: np.ndarray,
    slope: np.ndarray,
    h: float,
    A: np.ndarray,
    x: np.ndarray,
    product: np.ndarray,
) -> None:
    """Add the forecast of one contact to the system: A -= h J^T slope J, x += h J^T intercept.

    :param product: room for h slope J, (3, nv)
    """
    n = len(x)
    for i in range(n):
        for r in range(3):
            product[r, i] = h * (
                slope[r, 0] * J[0, i] + slope[r, 1] * J[1, i] + slope[r, 2] * J[2, i]
            )
    for i in range(n):
        a, b, c = J[0, i], J[1, i], J[2, i]
        if a != 0.0 or b != 0.0 or c != 0.0:
            x[i] += h * (a * intercept[0] + b * intercept[1] + c * intercept[2])
            for j in range(n):
                A[i, j] -= a * product[0, j] + b * product[1, j] + c * product[2, j]


@compiled
def find_impulse(memory: Memory) -> None:
    """Generalized impulse that the velocity takes: `impulse` = H v' - b."""
    for i in range(len(memory.next_v)):
        memory.impulse[i] = dot(memory.inertia[i], memory.next_v) - memory.momentum[i]
