# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Servos of the joints: torques of position and velocity errors at the end of a step.

A servo has tau = clip(feed-forward + kp (q_d - q) + kd (v_d - v)), saturated at the effort limit.
With q and v those of the end of the step, q + h v' and v', this is

    tau = clip(rest_torque - slope v'),     rest_torque = feed-forward + kp (q_d - q) + kd v_d
                                            slope = kd + h kp

so h `slope` is a part of the inertia: a step is stable for any gains. q_d - q is taken modulo
2 pi for joints without limits (robot/wraparound.py). Steps with servos are semi-implicit with any
integrator: q + h v' is then the position at the end, and a stiff saturated servo comes to rest
instead of oscillating. A saturated torque is constant. Each servo is on one of three segments; the
step is solved, servos that have left their segments are moved, and it is solved again. From one
limit to the other takes two such rounds: the law is monotone, and only the middle segment has the
slope. Moving all at once may cycle for coupled joints; moving one at a time, always the first, is
finite (Murty 1974).
"""

from __future__ import annotations

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import compiled
from rbd_ros.robot.wraparound import whole_periods
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import State

#: Segments of the law: saturated at the negative limit, free, saturated at the positive limit.
LOW, FREE, HIGH = -1, 0, 1

#: Number of rounds that move all servos off their segment; then of rounds that move one. After
#: these, servos only saturate and are no longer released, so it ends within the limits.
JOINT_ROUNDS, SINGLE_ROUNDS = 10, 40

#: Excess of a torque over a limit, relative to its terms, that counts as rounding.
ROUNDING = 1e-13


@compiled
def is_driven(state: State, i: int) -> bool:
    """Return whether a degree of freedom has a servo."""
    driven: bool = state.servo.kp[i] > 0.0 or state.servo.kd[i] > 0.0
    return driven


@compiled
def any_servos(state: State) -> bool:
    """Return whether any degree of freedom has a servo."""
    for i in range(len(state.v)):
        if is_driven(state, i):
            return True
    return False


@compiled
def begin_servos(state: State) -> None:
    """Take the torques of servos out of `applied`: the solver finds them."""
    for i in range(len(state.applied)):
        if is_driven(state, i):
            state.applied[i] = 0.0


@compiled
def add_servos(
    model: SimulationModel, state: State, inertia: FloatArray, momentum: FloatArray, h: float
) -> None:
    """Add the servos to the equation for the velocity at the end of the step, on their segments.

    :param inertia: H, (nv, nv)
    :param momentum: right-hand side b, (nv,)
    :param h: time step [s]
    """
    servo = state.servo
    for i in range(len(momentum)):
        if not is_driven(state, i):
            continue
        if model.effort[i] == 0.0:
            servo.segment[i] = HIGH
        kp, kd, at = servo.kp[i], servo.kd[i], model.position[i]
        servo.slope[i] = kd + h * kp
        error = servo.q[i] - state.q[at]
        error -= whole_periods(error, model.period[i], model.period_rate[i])
        servo.rest_torque[i] = servo.torque[i] + kp * error + kd * servo.v[i]
        if servo.segment[i] == FREE:
            inertia[i, i] += h * servo.slope[i]
            momentum[i] += h * servo.rest_torque[i]
        else:
            momentum[i] += h * servo.segment[i] * model.effort[i]


@compiled
def servo_torque(model: SimulationModel, state: State, i: int, v: float) -> float:
    """Return the torque of the servo of a degree of freedom, within the effort limit.

    :param v: velocity at the end of the step
    """
    effort, requested = model.effort[i], state.servo.rest_torque[i] - state.servo.slope[i] * v
    if state.servo.segment[i] != FREE:
        cut: float = state.servo.segment[i] * effort
        return cut
    torque: float = min(max(requested, -effort), effort)
    return torque


@compiled
def move_servos(model: SimulationModel, state: State, v: FloatArray, rounds: int) -> bool:
    """Move servos that have left their segments; return whether any was moved.

    :param v: velocity of the solution with these segments, (nv,)
    :param rounds: number of moves in this step
    """
    servo, moved = state.servo, False
    for i in range(len(v)):
        effort = model.effort[i]
        # A servo without effort never moves.
        if not is_driven(state, i) or effort == 0.0:
            continue
        braking = servo.slope[i] * v[i]
        requested = servo.rest_torque[i] - braking
        slack = ROUNDING * (abs(servo.rest_torque[i]) + abs(braking) + effort)
        found = servo.segment[i]
        if found == FREE:
            if requested > effort + slack:
                found = HIGH
            elif requested < -effort - slack:
                found = LOW
        elif rounds < JOINT_ROUNDS + SINGLE_ROUNDS and found * requested < effort - slack:
            found = FREE
        if found != servo.segment[i]:
            servo.segment[i] = found
            moved = True
            if JOINT_ROUNDS <= rounds < JOINT_ROUNDS + SINGLE_ROUNDS:
                break
    return moved


@compiled
def end_servos(model: SimulationModel, state: State, v: FloatArray) -> bool:
    """Compute `applied` and `saturated` of the servos; return whether any torque is saturated.

    :param v: velocity at the end of the step, (nv,)
    """
    cut = False
    for i in range(len(v)):
        if is_driven(state, i):
            state.applied[i] = servo_torque(model, state, i, v[i])
            state.saturated[i] = 1 if state.servo.segment[i] != FREE else 0
        cut = cut or state.saturated[i] == 1
    return cut
