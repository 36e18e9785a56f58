# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of a smooth step of `Simulator` by its state and its torque.

They are those of the discrete map of the integrator, not of the motion in continuous time: the
chain rule through its stages, with the derivatives of inverse dynamics (`Robot.derivatives`). For
joints whose velocities do not commute, displacements u are differentiated by the derivative of the
exponential, sum of (-ad u)^k / (k + 1)! with the bracket ad u of velocities. Momentum correction
of free bases and external wrenches have no such derivative: see `differences`. An integrator
declares the derivative of its step, or uses differences.
"""

from __future__ import annotations

from typing import List, NamedTuple, Tuple, TYPE_CHECKING

import numpy as np

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.simulation.differentiated_step import Point, System
from rbd_ros.simulation.integrators.integrator import integrators
from rbd_ros.simulation.records.simulation_state import (
    CONTACTS,
    FORCES,
    GUARDED,
    LIMITED,
    SUBSTEPS,
    UNCONVERGED,
    WHOLE,
)
from rbd_ros.simulation.stepping.joint_law import BACKWARD, FORWARD, STICK
from rbd_ros.simulation.stepping.joint_servo import FREE
from rbd_ros.simulation.stepping.step_division import count_substeps, find_substep

if TYPE_CHECKING:
    from rbd_ros.simulation.simulator import Simulator


#: Increments of positions, velocities and (relative to their magnitude) torques.
INCREMENT = 1e-3

#: Central differences of sixth order: multiples of the increment, and weights.
STENCIL: Tuple[Tuple[float, float], ...] = tuple(
    (sign * k, sign * weight)
    for k, weight in ((1.0, 45.0 / 60.0), (2.0, -9.0 / 60.0), (3.0, 1.0 / 60.0))
    for sign in (1.0, -1.0)
)

NOT_SMOOTH = (
    'the step is not smooth: a joint limit, a contact or the velocity guard becomes active in '
    'it, or friction or torque saturation of a joint changes'
)


class _Steps:
    """Steps from the present state and its neighbors.

    :param simulator: the simulation; each step is undone
    :param tau: torque, (nv,) [N m, N]
    :raises ValueError: if the step is not smooth
    """

    def __init__(self, simulator: Simulator, tau: FloatArray):
        self._simulator, self._tau = simulator, tau
        self._before = simulator.snapshot()
        self._q, self._v = simulator.q, simulator.v
        self.q, self.v = self._step(simulator.q, simulator.v, tau)
        self._kind = self._found

    def change(self, dq: FloatArray, dv: FloatArray, dtau: FloatArray) -> FloatArray:
        """Return the difference of the results of a neighboring step and this one, (2 nv,).

        :param dq: difference of the initial configurations, along the velocities, (nv,)
        :param dv: difference of the velocities, (nv,)
        :param dtau: difference of the torques, (nv,)
        """
        robot = self._simulator.robot
        q = np.asarray(robot.integrate(self._q, dq, 1.0))
        end, v = self._step(q, self._v + dv, self._tau + dtau)
        if any(not np.array_equal(one, other) for one, other in zip(self._found, self._kind)):
            raise ValueError(NOT_SMOOTH)
        return np.concatenate([robot.difference(self.q, end), v - self.v])

    def _step(
        self, q: FloatArray, v: FloatArray, tau: FloatArray
    ) -> Tuple[FloatArray, FloatArray]:
        simulator = self._simulator
        state = simulator.physics.state
        try:
            state.q[:], state.v[:] = q, v
            counters = state.counters.copy()
            simulator.step(tau)
            changes = state.counters - counters
            if changes[[LIMITED, GUARDED, UNCONVERGED]].any() or state.counters[CONTACTS]:
                raise ValueError(NOT_SMOOTH)
            self._found = (
                changes[SUBSTEPS],
                state.segment.copy(),
                state.servo.segment.copy(),
                state.saturated.copy(),
            )
            return simulator.q, simulator.v
        finally:
            simulator.restore(self._before)


def differences(
    simulator: Simulator, tau: FloatArray
) -> Tuple[FloatArray, FloatArray, FloatArray]:
    """Return the configuration and velocity after a step, and its derivatives by differences.

    The differences are of sixth order, of the whole step. With increments of 1e-3 their error is
    rounding, some 1e-12 of the values.

    :param tau: torque, (nv,) [N m, N]
    :return: q, v, and the derivatives of both, along the velocities, by q, v and tau, (2 nv, 3 nv)
    :raises ValueError: if the step is not smooth
    """
    n = len(tau)
    steps, none = _Steps(simulator, tau), np.zeros(n)
    effort = simulator.physics.model.effort
    columns: List[FloatArray] = []
    for unit in np.eye(n):
        columns.append(_slope(steps, unit, none, none, INCREMENT))
    for unit in np.eye(n):
        columns.append(_slope(steps, none, unit, none, INCREMENT))
    for i, unit in enumerate(np.eye(n)):
        # Not across the effort limit, where the torque saturates.
        margin = 0.3 * abs(effort[i] - abs(tau[i]))
        size = min(INCREMENT * (1.0 + abs(tau[i])), margin)
        if size == 0.0:
            raise ValueError(NOT_SMOOTH)
        columns.append(_slope(steps, none, none, unit, size))
    return steps.q, steps.v, np.array(columns).T


def _slope(
    steps: _Steps, dq: FloatArray, dv: FloatArray, dtau: FloatArray, size: float
) -> FloatArray:
    """Return the derivative along a direction, with increments of a size."""
    total = np.zeros(2 * len(dtau))
    for k, weight in STENCIL:
        x = k * size
        total += weight / size * steps.change(x * dq, x * dv, x * dtau)
    return total


#: Difference from the simulator's own step that counts as rounding, relative to the velocity.
_ROUNDING = 1e-8


class StepDerivatives(NamedTuple):
    """State after a step, and its derivatives by the state before and by the torque.

    Derivatives of and by configurations are along the velocities, as in `Robot.derivatives`: a
    quaternion counts as its three degrees of freedom.

    :param q: configuration after the step, (nq,) [rad, m]
    :param v: velocity after it, (nv,) [rad/s, m/s]
    :param dq_dq: change of that configuration by the one before, (nv, nv)
    :param dq_dv: by the velocity before, (nv, nv)
    :param dq_dtau: by the torque, (nv, nv)
    :param dv_dq: change of the velocity by the configuration before, (nv, nv)
    :param dv_dv: by the velocity before, (nv, nv)
    :param dv_dtau: by the torque, (nv, nv)
    """

    q: FloatArray
    v: FloatArray
    dq_dq: FloatArray
    dq_dv: FloatArray
    dq_dtau: FloatArray
    dv_dq: FloatArray
    dv_dv: FloatArray
    dv_dtau: FloatArray


def step_derivatives(simulator: Simulator, tau: FloatArray) -> StepDerivatives:
    """See `Simulator.step_derivatives`."""
    physics = simulator.physics
    model, n = physics.model, physics.robot.nv
    if model.has_loops:
        raise ValueError(
            f'{physics.robot.name!r} has kinematic loops, for which step derivatives are not '
            'supported'
        )
    if physics.state.counters[FORCES] > 0:
        return _by_differences(simulator, tau)
    taken = _taken(simulator, tau)
    slides = np.select([taken.segment == FORWARD, taken.segment == BACKWARD], [-1.0, 1.0])
    # A saturated torque is constant.
    applied, free = np.clip(tau, -model.effort, model.effort), np.abs(tau) <= model.effort
    servo = physics.state.servo
    # A servo replaces the torque of its joint; saturated, it is constant as well.
    driven = (servo.kp > 0.0) | (servo.kd > 0.0)
    if driven.any():
        free = np.where(driven, taken.servo_segment == FREE, free)
        applied = np.where(driven, np.where(free, tau, taken.applied), applied)
    dtau = np.zeros((n, 3 * n))
    dtau[:, 2 * n :] = np.diag(free.astype(float))
    stuck = (taken.segment == STICK) & (model.friction > 0.0)
    system = System(
        physics.robot,
        model,
        applied + slides * model.friction,
        dtau,
        stuck,
        bool(driven.any()),
        servo,
        np.where(free, servo.kp, 0.0),
        np.where(free, servo.kd, 0.0),
    )
    # Columns are derivatives by q, v and tau at the beginning, in this order.
    nothing, one = np.zeros((n, n)), np.eye(n)
    at = Point(
        simulator.q,
        simulator.v,
        np.hstack([one, nothing, nothing]),
        np.hstack([nothing, one, nothing]),
    )
    # With servos, all steps are semi-implicit.
    step = integrators()['semi_implicit' if system.driven else simulator.integrator].derivative
    # Substeps are as long as those of the simulator. Their number and lengths are piecewise
    # constant in the state, so they are not differentiated.
    parts = count_substeps(model, at.v)
    for _ in range(parts):
        left = model.timestep / parts
        while left > 0.0:
            h = _substep(simulator, at, left) if taken.divided else left
            end = step(system, at, h) if step else None
            if end is None:
                return _by_differences(simulator, tau)
            at, left = end, left - h
    # If both differ, the simulator's step was not smooth: a contact, a position limit, or a
    # reversal of friction.
    close = _ROUNDING * (1.0 + np.abs(at.v).max(initial=0.0))
    same = np.allclose(taken.q, at.q, rtol=_ROUNDING, atol=close)
    if not (same and np.allclose(taken.v, at.v, rtol=_ROUNDING, atol=close)):
        raise ValueError(NOT_SMOOTH)
    return StepDerivatives(at.q, at.v, *np.hsplit(at.dq, 3), *np.hsplit(at.dv, 3))


def derivatives_of_steps(simulator: Simulator, torques: FloatArray) -> StepDerivatives:
    """Return the derivatives of steps under torques (steps, nv), one after another, stacked."""
    before, found = simulator.snapshot(), []
    try:
        for tau in torques:
            found.append(step_derivatives(simulator, tau))
            simulator.step(tau)
    finally:
        simulator.restore(before)
    n, nq = torques.shape[1], simulator.robot.nq
    shapes = [(nq,), (n,), *[(n, n)] * 6]
    return StepDerivatives(
        *(
            np.array([each[k] for each in found]).reshape(len(found), *shape)
            for k, shape in enumerate(shapes)
        )
    )


def _by_differences(simulator: Simulator, tau: FloatArray) -> StepDerivatives:
    q, v, D = differences(simulator, tau)
    n = len(tau)
    return StepDerivatives(q, v, *np.hsplit(D[:n], 3), *np.hsplit(D[n:], 3))


class _Taken(NamedTuple):
    """A step of the simulator, undone.

    :param segment: segment of its law of each joint (joint_law.py), (nv,)
    :param servo_segment: likewise of each servo (joint_servo.py), (nv,)
    :param applied: torque, (nv,) [N m, N]
    :param divided: whether inertia has divided it (step_division.py)
    """

    q: FloatArray
    v: FloatArray
    segment: IntArray
    servo_segment: IntArray
    applied: FloatArray
    divided: bool


def _taken(simulator: Simulator, tau: FloatArray) -> _Taken:
    # Only the step itself determines the friction segments of joints: it is taken, and undone by
    # the snapshot.
    before = simulator.snapshot()
    try:
        simulator.step(tau)
        state = simulator.physics.state
        segment, servo_segment = state.segment.copy(), state.servo.segment.copy()
        divided = not state.counters[WHOLE]
        return _Taken(simulator.q, simulator.v, segment, servo_segment, simulator.tau, divided)
    finally:
        simulator.restore(before)


def _substep(simulator: Simulator, at: Point, left: float) -> float:
    """Return the length of the next substep within the rest of a step."""
    physics = simulator.physics
    state = physics.state
    q, v = state.q.copy(), state.v.copy()
    state.q[:], state.v[:] = at.q, at.v
    try:
        return float(find_substep(physics.model, state, physics.fields.work, left))
    finally:
        state.q[:], state.v[:] = q, v
