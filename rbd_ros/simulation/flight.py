"""Momentum of free-floating robots, conserved to rounding.

Euler steps of the velocity of a floating base, which is in the coordinates of a body that turns,
let the momentum of a tumbling robot grow. So after each step the velocity of the base is set to
the one at which the robot's total momentum is what it was plus the impulse of all forces from
outside, and the base is moved by the tiny way that puts the centre of mass where this momentum
takes it: on an exact parabola in free fall. Both corrections are of second order in h.

The six rows of the mass matrix that belong to the floating joint are all that is needed: times v
they are the momentum of the robot [n; p] in base-body coordinates about the origin of that body,
and their own six columns are its inertia [[I, m c x], [-m c x, m]].
"""

from __future__ import annotations

import numpy as np

from rbd_ros.compiler.loops import call_kernel, compiled, matrix, vector
from rbd_ros.simulation.linear import clear, dot, solve_dense
from rbd_ros.simulation.plant import Memory, Plant


@compiled
def forecast_flight(plant: Plant, memory: Memory, h: float) -> None:
    """Find momentum and centre of mass at the end of the step, from `mass` and the forces."""
    R, c = matrix(3, 3), vector(3)
    spin, push, couple, force = vector(3), vector(3), vector(3), vector(3)
    for flyer in range(len(plant.free_flyers)):
        at, first = plant.free_flyers[flyer, 0], plant.free_flyers[flyer, 1]
        rotation(memory.q, at, R)
        m = centre_of_mass(memory.mass, first, c)
        for r in range(3):
            spin[r] = dot(memory.mass[first + r], memory.v)
            push[r] = dot(memory.mass[first + 3 + r], memory.v)
            couple[r] = outside_force(plant, memory, first + r, h)
            force[r] = outside_force(plant, memory, first + 3 + r, h)
        for r in range(3):  # the moments are about the centre of mass from here on
            s, t = (r + 1) % 3, (r + 2) % 3
            spin[r] -= c[s] * push[t] - c[t] * push[s]
            spin[r] += h * (couple[r] - c[s] * force[t] + c[t] * force[s])
        for r in range(3):
            push[r] += h * force[r]
        for r in range(3):
            memory.flight_spin[flyer, r] = dot(R[r], spin)
            memory.flight_push[flyer, r] = dot(R[r], push) + h * m * plant.free_gravity[flyer, r]
            way = h * memory.flight_push[flyer, r] / m if m > 0.0 else 0.0
            memory.flight_centre[flyer, r] = memory.q[at + 4 + r] + dot(R[r], c) + way


@compiled
def outside_force(plant: Plant, memory: Memory, i: int, h: float) -> float:
    """Force from outside, gravity left out, along one degree of freedom of a floating joint."""
    return memory.drive[i] + memory.impulse[i] / h - plant.damping[i] * memory.next_v[i]


@compiled
def land_flight(plant: Plant, memory: Memory) -> None:
    """Correct `next_v` and `next_q` of the floating joints to what was forecast."""
    call_kernel(plant.mass_matrix, memory.next_q, memory.mass_flat)
    R, c, A, x = matrix(3, 3), vector(3), matrix(6, 6), vector(6)
    for flyer in range(len(plant.free_flyers)):
        at, first = plant.free_flyers[flyer, 0], plant.free_flyers[flyer, 1]
        m = centre_of_mass(memory.mass, first, c)
        if not m > 0.0:
            continue
        rotation(memory.next_q, at, R)
        clear(x)
        for r in range(3):
            for k in range(3):
                x[r] += R[k, r] * memory.flight_spin[flyer, k]
                x[3 + r] += R[k, r] * memory.flight_push[flyer, k]
        for r in range(3):
            s, t = (r + 1) % 3, (r + 2) % 3
            x[r] += c[s] * x[3 + t] - c[t] * x[3 + s]
            memory.next_q[at + 4 + r] = memory.flight_centre[flyer, r] - dot(R[r], c)
        for r in range(6):
            for k in range(len(memory.v)):
                if first <= k < first + 6:
                    A[r, k - first] = memory.mass[first + r, k]
                else:
                    x[r] -= memory.mass[first + r, k] * memory.next_v[k]
        solve_dense(A, x)
        for r in range(6):
            memory.next_v[first + r] = x[r]


@compiled
def centre_of_mass(mass: np.ndarray, first: int, c: np.ndarray) -> float:
    """Mass, and centre of mass (3,) in body coordinates, from the rows of a floating joint."""
    m = mass[first + 5, first + 5]
    scale = 1.0 / m if m > 0.0 else 0.0
    c[0] = scale * mass[first + 2, first + 4]
    c[1] = scale * mass[first, first + 5]
    c[2] = scale * mass[first + 1, first + 3]
    return m


@compiled
def rotation(q: np.ndarray, at: int, R: np.ndarray) -> None:
    """Rotation matrix, (3, 3), of the unit quaternion (w, x, y, z) that begins at q[at]."""
    w, x, y, z = q[at], q[at + 1], q[at + 2], q[at + 3]
    R[0, 0], R[0, 1], R[0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    R[1, 0], R[1, 1], R[1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    R[2, 0], R[2, 1], R[2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
