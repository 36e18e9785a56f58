# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inputs of the derivatives of an integrator's step: a state with its derivatives, the system.

Derivatives are with respect to the state and torque at the beginning of the step, 3 nv columns.
"""

from __future__ import annotations

from typing import NamedTuple, Tuple

import numpy as np
from scipy.linalg import expm

from rbd_ros.array_types import BoolArray, FloatArray
from rbd_ros.robot import Robot
from rbd_ros.robot.wraparound import Wraparound
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import Servo


class Point(NamedTuple):
    """An intermediate state, and its derivatives by initial state and torque.

    :param dq: derivative of q along the velocities at q, (nv, 3 nv)
    :param dv: derivative of v, (nv, 3 nv)
    """

    q: FloatArray
    v: FloatArray
    dq: FloatArray
    dv: FloatArray


class System(NamedTuple):
    """The moving system, and the forces on it.

    :param tau: torque within the effort limits, and the friction of sliding joints, (nv,)
    :param dtau: its derivative, (nv, 3 nv)
    :param stuck: joints that come to rest by friction, or stay at rest, (nv,) of bool
    :param driven: whether there are servos, which make steps semi-implicit
    :param servo: servos
    :param kp: their gains where the torque is not saturated, 0 elsewhere, (nv,)
    :param kd: likewise for velocities, (nv,)
    """

    robot: Robot
    model: SimulationModel
    tau: FloatArray
    dtau: FloatArray
    stuck: BoolArray
    driven: bool
    servo: Servo
    kp: FloatArray
    kd: FloatArray

    def elastic(
        self, start: Point, lead: FloatArray, h: float
    ) -> Tuple[FloatArray, FloatArray, FloatArray]:
        """Return the force of springs and servos, its derivative, and their part in H's diagonal.

        :param lead: part of the step at which springs are evaluated, (nv,)
        :param h: time step [s], 0 for the present positions
        """
        model, position = self.model, np.maximum(self.model.position, 0)
        # A joint with one degree of freedom has one position, whose rate is its velocity.
        # Springs are implicit, at s = h lead after the beginning: x(s) = x + s v + s^2 a. The part
        # with the unknown acceleration a moves to the left side, as s^2 K on the diagonal of H.
        x, dx = start.q[position], start.dq
        ahead, dahead = h * lead * start.v, h * lead[:, None] * start.dv
        force = -model.stiffness * (x + ahead - model.spring_rest)
        change = -model.stiffness[:, None] * (dx + dahead)
        added = (h * lead) ** 2 * model.stiffness
        if self.driven:
            # Likewise the servo, at the end of the step: position x + h v + h^2 a, and
            # velocity v + h a.
            away = Wraparound(self.robot.position_periods)(self.servo.q - x)
            force += self.kp * (away - h * start.v)
            force += self.kd * (self.servo.v - start.v)
            change -= self.kp[:, None] * (dx + h * start.dv) + self.kd[:, None] * start.dv
            added = added + h * self.kd + h * h * self.kp
        return force, change, added

    def bracket(self, u: FloatArray) -> FloatArray:
        """Return the matrix ad u of the bracket [u, v] of velocities, (nv, nv)."""
        result = np.zeros((len(u), len(u)))
        for (i, j, k), value in zip(self.model.bracket_index, self.model.bracket_value):
            result[i, k] += value * u[j]
        return result

    def moved(
        self, q: FloatArray, dq: FloatArray, u: FloatArray, du: FloatArray
    ) -> Tuple[FloatArray, FloatArray]:
        """Return q exp(u), and its derivative."""
        if self.model.is_flat:
            return q + u, dq + du
        # (q exp(u)) exp(w) for small changes: exp(-ad u) carries dq along the displacement; a
        # change of u counts by the derivative of the exponential.
        n = len(u)
        # exp of [[-ad u, 1], [0, 0]] has exp(-ad u) and the sum over (-ad u)^k / (k + 1)!.
        both = np.zeros((2 * n, 2 * n))
        both[:n, :n] = -self.bracket(u)
        both[:n, n:] = np.eye(n)
        power = expm(both)[:n]
        end = np.asarray(self.robot.integrate(q, u, 1.0))
        return end, power[:, :n] @ dq + power[:, n:] @ du

    def acceleration(
        self,
        at: Point,
        damped: FloatArray,
        ddamped: FloatArray,
        added: FloatArray,
        elastic: Tuple[FloatArray, FloatArray, FloatArray],
        h: float,
    ) -> Tuple[FloatArray, FloatArray]:
        """Return the solution a of (H + added) a + C = tau - damping, and its derivative.

        :param damped: that velocity, (nv,)
        :param ddamped: its derivative, (nv, 3 nv)
        :param added: to the diagonal of H, (nv,)
        :param elastic: result of `elastic`
        :param h: time in which stuck joints lose that velocity [s]
        """
        damping = self.model.damping
        # Implicit differentiation of ID(q, v, a) + added a = f, where ID = H a + C:
        # (H + added) da = df - dID/dq dq - dID/dv dv. The derivative of H is part of that of ID.
        H = self.robot.mass_matrix(at.q) + np.diag(added + elastic[2])
        force = self.tau + elastic[0] - damping * damped - self.robot.bias_force(at.q, at.v)
        # Sticking joints lose their velocity within the step, under any forces: a = -v / h.
        H[self.stuck] = np.eye(len(force))[self.stuck]
        force[self.stuck] = -damped[self.stuck] / h
        a = np.asarray(np.linalg.solve(H, force), dtype=float)
        inverse = self.robot.derivatives.inverse_dynamics(at.q, at.v, a)
        change = self.dtau + elastic[1] - damping[:, None] * ddamped
        change -= inverse.dtau_dq @ at.dq + inverse.dtau_dv @ at.dv
        change[self.stuck] = -ddamped[self.stuck] / h
        return a, np.asarray(np.linalg.solve(H, change), dtype=float)
