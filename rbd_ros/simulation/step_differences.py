# SPDX-License-Identifier: Apache-2.0
"""Derivatives of a smooth step by differences of sixth order of the very step.

For steps whose texts are not differentiated: those that correct the momentum of free bases, and
those under external wrenches. With increments of 1e-3 their error is that of rounding, some 1e-12
of the values.
"""

from __future__ import annotations

from typing import List, Tuple, TYPE_CHECKING

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.simulation.records.simulation_state import (
    CONTACTS,
    GUARDED,
    LIMITED,
    SUBSTEPS,
    UNCONVERGED,
)

if TYPE_CHECKING:
    from rbd_ros.simulation.simulator import Simulator

#: Increments of positions, velocities and (relative to their size) torques.
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

    :param simulator: the simulation, which each step leaves as it was
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
        """Return how another step ends, beside this one: along the velocities, and those, (2 nv,).

        :param dq: where it begins beside this one, along the velocities, (nv,)
        :param dv: likewise of the velocity, (nv,)
        :param dtau: of the torque, (nv,)
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
    """Return the configuration and velocity after a step, and its derivatives.

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
        # Not over the edge of the effort limit, at which the torque is cut.
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
