"""The stepping loop: what Python calls, with the GIL released until all steps are done."""

from __future__ import annotations

import numpy as np

from rbd_ros.compiler.loops import entry_point, merged
from rbd_ros.simulation.linear import copy
from rbd_ros.simulation.plant import (
    MAX_PARTS,
    Memory,
    Plant,
    SATURATED,
    STEPS,
    SUBSTEPS,
    TURN_PER_PART,
    WRENCHES,
)
from rbd_ros.simulation.runge_kutta import is_at_limit, runge_kutta_step
from rbd_ros.simulation.semi_implicit import follow_velocity, step_constrained, step_freely
from rbd_ros.simulation.surroundings import let_patches_follow, press_patches, survey

#: Speed at which a joint that begins outside its limits is moved back [rad/s or m/s].
RETURN_SPEED = 0.5


@merged
def saturate(plant: Plant, memory: Memory) -> bool:
    """Find `applied`, `wanted` within the effort limits; returns whether any was cut."""
    cut = False
    for i in range(len(memory.wanted)):
        wanted = memory.wanted[i]
        memory.applied[i] = min(max(wanted, -plant.effort[i]), plant.effort[i])
        memory.saturated[i] = 1 if memory.applied[i] != wanted else 0
        cut = cut or memory.saturated[i] == 1
    return cut


@merged
def parts_of_step(plant: Plant, memory: Memory) -> int:
    """Into how many parts to divide the step, so that no joint turns far in one of them."""
    turn = 0.0
    for i in range(len(plant.turning)):
        turn = max(turn, plant.turning[i] * abs(memory.v[i]))
    turn *= plant.timestep
    if turn <= TURN_PER_PART:
        return 1
    return int(min(np.ceil(turn / TURN_PER_PART), MAX_PARTS))


@merged
def age_wrenches(memory: Memory) -> None:
    """Count down the steps that the external wrenches last."""
    acting = 0
    for w in range(len(memory.wrench_use)):
        if memory.wrench_use[w, 2] > 0:
            memory.wrench_use[w, 2] -= 1
        if memory.wrench_use[w, 2] != 0:
            acting += 1
    memory.counters[WRENCHES] = acting


@merged
def step_part(plant: Plant, memory: Memory, h: float) -> bool:
    """Advance by h; returns False, with q and v unchanged, if the velocity is not finite."""
    count = survey(plant, memory, h)
    constrained = plant.frictional == 1 or count > 0
    done = False
    if plant.runge_kutta == 1:
        constrained = constrained or plant.stiff == 1 or is_at_limit(plant, memory)
    elif not constrained:
        constrained = not step_freely(plant, memory, h)
    for _ in range(2):
        if constrained and not step_constrained(plant, memory, count, h):
            return False
        if plant.runge_kutta == 0:
            break
        done = runge_kutta_step(plant, memory, constrained, h)
        if done or constrained:
            break
        constrained = True
    if not done:
        follow_velocity(plant, memory, h)
    settle(plant, memory, count, h)
    return True


@merged
def settle(plant: Plant, memory: Memory, count: int, h: float) -> None:
    """Make `next_q` and `next_v` the state, and let the surroundings follow."""
    for i in range(len(memory.v)):
        at = plant.position[i]
        if at >= 0:  # joints outside their limits return, those beyond by rounding at once
            q = memory.next_q[at]
            if q < plant.lower[i]:
                memory.next_q[at] = min(plant.lower[i], q + RETURN_SPEED * h)
            elif q > plant.upper[i]:
                memory.next_q[at] = max(plant.upper[i], q - RETURN_SPEED * h)
        memory.constraint[i] = memory.impulse[i] / h
    copy(memory.next_v, memory.v)
    copy(memory.next_q, memory.q)
    let_patches_follow(plant, memory, count, h)


@merged
def step_once(plant: Plant, memory: Memory) -> bool:
    """Advance by one step; returns False, with q and v unchanged, if it is not finite."""
    copy(memory.q, memory.start_q)
    copy(memory.v, memory.start_v)
    parts = parts_of_step(plant, memory)
    h = plant.timestep if parts == 1 else plant.timestep / parts
    for _ in range(parts):
        if not step_part(plant, memory, h):
            copy(memory.start_q, memory.q)
            copy(memory.start_v, memory.v)
            return False
    for i in range(len(memory.v)):
        memory.acceleration[i] = (memory.v[i] - memory.start_v[i]) / plant.timestep
    if memory.counters[WRENCHES] > 0:
        age_wrenches(memory)
    memory.counters[STEPS] += 1
    memory.counters[SUBSTEPS] += parts - 1
    return True


@entry_point
def advance(plant: Plant, memory: Memory, count: int) -> int:
    """Take `count` steps under the torque `wanted`.

    :return: how many were taken; fewer than `count` if the dynamics stopped being finite
    """
    cut = saturate(plant, memory)
    for step in range(count):
        if not step_once(plant, memory):
            return step
        memory.counters[SATURATED] += cut
    return count


@entry_point
def place_on_ground(plant: Plant, memory: Memory) -> int:
    """Begin contact at the present configuration.

    :return: the contact point that is deepest in the ground, -1 if there is none
    """
    return press_patches(plant, memory)
