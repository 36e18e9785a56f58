# SPDX-License-Identifier: Apache-2.0
"""Moving a configuration by a displacement, and back between the joint limits."""

from __future__ import annotations

from typing import Tuple

from rbd_ros.compiler.loops import call_kernel, compiled
from rbd_ros.contact.contact_arrays import FloatArray
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.workspace import Motion
from rbd_ros.simulation.stepping.linear import copy

#: Maximum speed at which positions are moved otherwise than by the velocity: joints that are
#: outside their limits, loops that are open, bodies that overlap. It holds for every joint, and
#: for every point of an object. Nothing is thrown, for velocities do not change [rad/s, m/s].
RETURN_SPEED = 0.5

#: Distance from a limit, or of two surfaces, that counts as none [rad, m]. It is what rounding and
#: the last digits of the solver leave of one that was closed. To close it as well would be to ask
#: what holds a body at several places for velocities that contradict each other by as little.
CLOSED = 1e-10


@compiled
def move(model: SimulationModel, motion: Motion, q: FloatArray) -> None:
    """Find `next_q`, reached from q by `displacement`.

    :param q: configuration to move from, (nq,)
    """
    if model.is_flat:
        for k in range(len(q)):
            motion.next_q[k] = q[k] + motion.displacement[k]
    else:
        copy(q, motion.from_q)
        call_kernel(model.integrate, motion.packed, motion.next_q)


@compiled
def correction_bounds(
    model: SimulationModel, i: int, moved: float, h: float
) -> Tuple[float, float]:
    """Return the bounds of the correction of a joint's position in a step, the lower one first.

    A correction has no velocity, but a drive does not go faster for it: what the velocity and the
    correction move together is what the velocity limit allows.

    :param i: degree of freedom
    :param moved: how far the velocity has moved the joint in the step [rad, m]
    :param h: time step [s]
    """
    most, farthest = model.return_speed[i] * h, model.speed[i] * h
    lower = min(0.0, max(-most, -farthest - moved))
    return lower, max(0.0, min(most, farthest - moved))


@compiled
def returned(model: SimulationModel, i: int, q: float, back: float, forward: float) -> float:
    """Return the position of a joint moved towards its limits if it is beyond one.

    Positions are moved, not velocities: a joint that is beyond its limit by rounding returns at
    once, one that was put there slowly, and neither gains energy by it.

    :param i: degree of freedom
    :param q: its position [rad, m]
    :param back: lower bound of the correction, see `correction_bounds`
    :param forward: upper bound of it
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
    # With loops, where one joint is moved others are: loop_closing.py has done it.
    if not model.has_loops:
        for i in range(len(model.position)):
            at = model.position[i]
            if at >= 0:
                back, forward = correction_bounds(model, i, motion.next_q[at] - q[at], h)
                motion.next_q[at] = returned(model, i, motion.next_q[at], back, forward)
