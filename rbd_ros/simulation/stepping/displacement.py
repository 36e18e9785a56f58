# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Displacement of a configuration, and corrections of joints outside their limits."""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import call_kernel, compiled
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import State
from rbd_ros.simulation.records.workspace import Motion
from rbd_ros.simulation.stepping.joint_law import is_held
from rbd_ros.simulation.stepping.linear import copy

#: Distance from a limit, or of two surfaces, that counts as zero [rad, m]: the remainder of a
#: closed gap by rounding and the solver's tolerance. Closing it as well would require velocities
#: of a body with redundant contacts that contradict each other slightly.
CLOSED = 1e-10


@compiled
def move(model: SimulationModel, motion: Motion, q: FloatArray) -> None:
    """Compute `next_q`, the configuration q displaced by `displacement`.

    :param q: configuration to move from, (nq,)
    """
    if model.is_flat:
        for k in range(len(q)):
            motion.next_q[k] = q[k] + motion.displacement[k]
    else:
        copy(q, motion.from_q)
        call_kernel(model.integrate, motion.packed, motion.next_q)


@compiled
def move_at(
    model: SimulationModel, motion: Motion, q: FloatArray, v: FloatArray, duration: float
) -> None:
    """Compute `next_q`, reached from q at a constant velocity.

    :param q: configuration to move from, (nq,)
    :param v: the velocity, (nv,)
    """
    for i in range(len(v)):
        motion.displacement[i] = duration * v[i]
    move(model, motion, q)


@compiled
def is_at_limit(model: SimulationModel, state: State) -> bool:
    """Return whether any joint is at a limit of position or speed, or beyond."""
    for i in range(len(model.position)):
        if abs(state.v[i]) >= model.speed[i]:
            return True
        if model.position[i] >= 0:
            q = state.q[model.position[i]]
            # At a limit the joint may be held, which only the implicit solve decides.
            if q <= model.lower[i] or q >= model.upper[i]:
                return True
    return False


@compiled
def is_allowed(model: SimulationModel, state: State, motion: Motion, held: int) -> bool:
    """Return whether the end of the step is finite, within the limits and not too fast.

    :param held: number of joints that are held
    """
    for i in range(len(model.position)):
        v = motion.next_v[i]
        # Negated, so that NaN is not allowed.
        if not (abs(v) <= model.speed[i] and abs(v) < math.inf):
            return False
        # A joint resting at its limit may exceed it by rounding.
        resting = held > 0 and is_held(state.segment[i])
        if model.position[i] >= 0 and not resting:
            q = motion.next_q[model.position[i]]
            if not model.lower[i] <= q <= model.upper[i]:
                return False
    return True


@compiled
def correction_bounds(
    model: SimulationModel, i: int, moved: float, h: float
) -> Tuple[float, float]:
    """Return the bounds of the correction of a joint's position in a step, the lower one first.

    A correction has no velocity, but a drive does not get faster by it: the velocity limit bounds
    the sum of both displacements.

    :param i: degree of freedom
    :param moved: displacement of the joint by its velocity in the step [rad, m]
    :param h: time step [s]
    """
    most, farthest = model.return_speed[i] * h, model.speed[i] * h
    lower = min(0.0, max(-most, -farthest - moved))
    return lower, max(0.0, min(most, farthest - moved))


@compiled
def returned(model: SimulationModel, i: int, q: float, back: float, forward: float) -> float:
    """Return the position of a joint, moved back if it is outside its limits.

    Positions are moved, not velocities: a joint outside its limit by rounding returns at once, one
    that was put there slowly, and neither gains energy.

    :param i: degree of freedom
    :param q: its position [rad, m]
    :param back: lower bound of the correction, see `correction_bounds`
    :param forward: its upper bound
    """
    result: float = q
    if q < model.lower[i]:
        result = min(model.lower[i], q + forward)
    elif q > model.upper[i]:
        result = max(model.upper[i], q + back)
    return result


@compiled
def return_joints(model: SimulationModel, q: FloatArray, motion: Motion, h: float) -> None:
    """Move joints of `next_q` that are outside their limits back.

    :param q: configuration at the beginning of the step, (nq,)
    :param h: time step [s]
    """
    # With loops, moving one joint moves others: loop_closing.py has done it.
    if not model.has_loops:
        for i in range(len(model.position)):
            at = model.position[i]
            if at >= 0:
                back, forward = correction_bounds(model, i, motion.next_q[at] - q[at], h)
                motion.next_q[at] = returned(model, i, motion.next_q[at], back, forward)
