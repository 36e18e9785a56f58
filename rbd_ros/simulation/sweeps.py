"""Projected Gauss-Seidel sweeps over joints and contacts: slower than Newton, but steady.

Each joint, each normal force and each friction force in turn is given the impulse that its law
asks for while all others stay as they are. What remains to be done shrinks with every sweep, as
each law is monotone and the effect of an impulse on its own velocity is positive.
"""

from __future__ import annotations

import math

import numpy as np

from rbd_ros.compiler.loops import compiled
from rbd_ros.simulation.joint_law import law_impulse, next_segment, NOWHERE
from rbd_ros.simulation.linear import clear, copy, dot, factorise, solve_factorised
from rbd_ros.simulation.plant import Memory, Plant

#: Largest number of sweeps.
MAX_SWEEPS = 200

#: Change of velocity in a sweep, relative to the greatest velocity, that ends the sweeps.
SMALL_CHANGE = 1e-12


@compiled
def sweep_to_rest(plant: Plant, memory: Memory, count: int, h: float) -> None:
    """Sweep until nothing changes any more; leaves `next_v` and `segment` in the memory.

    :param count: number of contact points near the ground
    :param h: time step [s]
    """
    v = memory.next_v
    n = len(v)
    factor = memory.factor
    for i in range(n):
        copy(memory.inertia[i], factor[i])
    factorise(factor, plant.row_first, plant.row_index)
    response = memory.response
    for i in range(n):
        clear(response[i])
        response[i, i] = 1.0
    for c in range(count):
        for r in range(3):
            copy(memory.jacobian[c, r], response[n + 3 * c + r])
    for row in range(n + 3 * count):
        solve_factorised(factor, plant.row_first, plant.row_index, response[row])
    copy(memory.momentum, v)
    solve_factorised(factor, plant.row_first, plant.row_index, v)

    p = memory.swept_impulse
    clear(p)
    force = memory.contact_force
    for c in range(count):
        clear(force[c])
    for _ in range(MAX_SWEEPS):
        change = 0.0
        for i in range(n):
            mobility = response[i, i]
            new = law_impulse(
                v[i] - mobility * p[i],
                mobility,
                h * plant.friction[i],
                memory.low[i],
                memory.high[i],
            )
            change = max(change, push(response[i], new - p[i], v))
            p[i] = new
        for c in range(count):
            change = max(change, sweep_contact(plant, memory, c, h, response, v, force[c]))
        fastest = 0.0
        for i in range(n):
            fastest = max(fastest, abs(v[i]))
        if change <= SMALL_CHANGE * fastest:
            break
    for i in range(n):
        memory.segment[i] = next_segment(
            NOWHERE,
            v[i],
            p[i],
            response[i, i],
            h * plant.friction[i],
            memory.low[i],
            memory.high[i],
            0.0,
        )


@compiled
def sweep_contact(
    plant: Plant,
    memory: Memory,
    c: int,
    h: float,
    response: np.ndarray,
    v: np.ndarray,
    force: np.ndarray,
) -> float:
    """Give one contact point the force of its law; returns the greatest change of a velocity.

    :param c: number of the contact point
    :param response: velocities that unit impulses cause, (nv + 3 C, nv)
    :param v: velocity, changed, (nv,)
    :param force: force at the point, changed, (3,) [N]
    """
    K, D, K_t, D_t, mu = (
        plant.contact[0],
        plant.contact[1],
        plant.contact[2],
        plant.contact[3],
        plant.contact[4],
    )
    first = len(v) + 3 * c
    J, point, gap = memory.jacobian[c], memory.found_point[c], memory.gap[c]
    x = memory.patch_x[point]

    mobility = h * dot(J[0], response[first])
    rate = dot(J[0], v) - mobility * force[0]  # normal velocity without this force
    at_rest = -K * gap - D * (gap - memory.patch_z[point]) / h
    new = max(0.0, (at_rest - (h * K + D) * rate) / (1.0 + (h * K + D) * mobility))
    change = push(response[first], h * (new - force[0]), v)
    force[0] = new

    mobility = h * (dot(J[1], response[first + 1]) + dot(J[2], response[first + 2]))
    step = 1.0 / (1.0 + (h * K_t + D_t) * mobility)
    wanted_1 = force[1] + step * (-K_t * x[0] - (h * K_t + D_t) * dot(J[1], v) - force[1])
    wanted_2 = force[2] + step * (-K_t * x[1] - (h * K_t + D_t) * dot(J[2], v) - force[2])
    length, longest = math.sqrt(wanted_1 * wanted_1 + wanted_2 * wanted_2), mu * force[0]
    if length > longest:
        wanted_1, wanted_2 = wanted_1 * (longest / length), wanted_2 * (longest / length)
    change = max(change, push(response[first + 1], h * (wanted_1 - force[1]), v))
    change = max(change, push(response[first + 2], h * (wanted_2 - force[2]), v))
    force[1], force[2] = wanted_1, wanted_2
    return change


@compiled
def push(response: np.ndarray, impulse: float, v: np.ndarray) -> float:
    """Apply an impulse; returns the greatest change of a velocity."""
    largest = 0.0
    if impulse != 0.0:
        for i in range(len(v)):
            step = impulse * response[i]
            largest = max(largest, abs(step))
            v[i] += step
    return largest
