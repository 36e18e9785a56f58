"""Semi-implicit Euler steps: v' from the forces at q and v, then q' from v'.

Damping, joint friction, limits and contacts are taken at the end of the step (solver.py). A robot
that touches nothing, has no Coulomb friction and reaches no limit needs the articulated-body
algorithm alone.
"""

from __future__ import annotations

import math

import numpy as np

from rbd_ros.compiler.loops import call_kernel, compiled, merged
from rbd_ros.simulation.flight import forecast_flight, land_flight
from rbd_ros.simulation.joint_law import LOWER, UPPER
from rbd_ros.simulation.linear import copy, dot
from rbd_ros.simulation.plant import GUARDED, LIMITED, Memory, Plant, UNCONVERGED
from rbd_ros.simulation.solver import solve_velocity


@merged
def step_freely(plant: Plant, memory: Memory, h: float) -> bool:
    """Find `next_v` without friction, limits and contacts; returns whether it violates nothing."""
    n = len(memory.v)
    a = memory.bias
    for i in range(n):
        memory.torque[i] = memory.drive[i] - plant.damping[i] * memory.v[i]
    call_kernel(plant.forward_dynamics, memory.state, a)
    allowed = True
    for i in range(n):
        v = memory.v[i] + h * a[i]
        memory.next_v[i] = v
        memory.impulse[i] = 0.0
        allowed = allowed and abs(v) <= plant.speed[i] and abs(v) < math.inf
        if plant.position[i] >= 0:
            q = memory.q[plant.position[i]] + h * v
            allowed = allowed and plant.lower[i] <= q <= plant.upper[i]
    if allowed and len(plant.free_flyers) > 0:
        call_kernel(plant.mass_matrix, memory.state, memory.mass_flat)
    return allowed


@compiled
def step_constrained(plant: Plant, memory: Memory, count: int, h: float) -> bool:
    """Find `next_v` with friction, limits and contacts; returns whether it is finite."""
    n = len(memory.v)
    prepare(plant, memory, h)
    copy(memory.v, memory.next_v)
    if not solve_velocity(plant, memory, count, h):
        memory.counters[UNCONVERGED] += 1
    limited, guarded, finite = False, False, True
    for i in range(n):
        finite = finite and abs(memory.next_v[i]) < math.inf
        if memory.segment[i] == LOWER or memory.segment[i] == UPPER:
            if abs(memory.next_v[i]) >= plant.speed[i]:
                guarded = True
            else:
                limited = True
    memory.counters[LIMITED] += limited
    memory.counters[GUARDED] += guarded
    return finite


@compiled
def prepare(plant: Plant, memory: Memory, h: float) -> None:
    """Find `inertia`, `momentum`, `low` and `high`: the linear part of the solver's equation."""
    n = len(memory.v)
    q, v = memory.q, memory.v
    call_kernel(plant.mass_matrix, memory.state, memory.mass_flat)
    call_kernel(plant.bias_force, memory.state, memory.bias)
    for i in range(n):
        copy(memory.mass[i], memory.inertia[i])
        memory.momentum[i] = dot(memory.inertia[i], v) + h * (memory.drive[i] - memory.bias[i])
        memory.inertia[i, i] += h * plant.damping[i]
        memory.low[i], memory.high[i] = -plant.speed[i], plant.speed[i]
        if plant.position[i] >= 0:
            at = q[plant.position[i]]
            memory.low[i] = max(memory.low[i], min(0.0, (plant.lower[i] - at) / h))
            memory.high[i] = min(memory.high[i], max(0.0, (plant.upper[i] - at) / h))


@merged
def follow_velocity(plant: Plant, memory: Memory, h: float) -> None:
    """Find `next_q` at the end of the step from `next_v`; corrects the velocity of free flyers."""
    n = len(memory.v)
    if len(plant.free_flyers) > 0:
        forecast_flight(plant, memory, h)
    for i in range(n):
        memory.move_v[i] = h * memory.next_v[i]
    move(plant, memory, memory.q)
    if len(plant.free_flyers) > 0:
        land_flight(plant, memory)


@compiled
def move(plant: Plant, memory: Memory, q: np.ndarray) -> None:
    """Find `next_q`, reached from q by the displacement `move_v`."""
    if plant.simple == 1:
        for k in range(len(q)):
            memory.next_q[k] = q[k] + memory.move_v[k]
    else:
        copy(q, memory.move_q)
        call_kernel(plant.integrate, memory.move, memory.next_q)
