# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Explicit Runge-Kutta methods whose steps can be interpolated (book 11.5, eq 11.45 to 11.51).

A method fits a polynomial to the rates of a step. The integral of the polynomial is the solution
at the end of the step and at every time within it. With delta from 0 to 1 over a step h,

    y(delta) = y0 + h sum_i w_i(delta) k_i,     w_i(delta) = sum_j W_ij delta^j, j = 1, 2, ...

Configurations that form no vector space are integrated in local coordinates of each step: q = q0
exp(u), where u is the displacement from the start of the step, which obeys

    du/dt = v + [u, v]/2 + [u, [u, v]]/12 - ...     (H. Munthe-Kaas, 1998)

so that quaternions keep unit length at any step size.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Callable, List, NamedTuple, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.robot import Robot

#: Acceleration at a time, a configuration and a velocity.
Acceleration = Callable[[float, FloatArray, FloatArray], FloatArray]

# B_k / k! with Bernoulli's numbers, for k = 2, 4, ...: the series of u/(exp(u) - 1), whose odd
# terms are zero but for the first. At 0.5 rad, the remainder is below 1e-12.
_BERNOULLI = (
    1.0 / 12.0,
    -1.0 / 720.0,
    1.0 / 30240.0,
    -1.0 / 1209600.0,
    1.0 / 47900160.0,
)

#: Maximum angle per step of a joint whose motions do not commute [rad].
MAXIMUM_TURN = 0.5


class Method(NamedTuple):
    """An explicit Runge-Kutta method with dense output.

    :param A: coefficients of the stages, (s, s)
    :param c: times of the stages, as fractions of the step, (s,)
    :param W: coefficients of the interpolating weights, (s, degree); their sums over the powers
        are the weights b of the end of the step
    :param error_weights: b minus the weights of an embedded method of lower order, (s,); empty
        without one
    :param ends: whether the last stage is the end of the step, and thus the first of the next
    """

    name: str
    order: int
    A: FloatArray
    c: FloatArray
    W: FloatArray
    error_weights: FloatArray
    ends: bool = False

    def weights(self, delta: float) -> FloatArray:
        """Return the weights w_i of the rates in the displacement at a time of the step, (s,).

        :param delta: fraction of the step, 0 to 1
        """
        powers: FloatArray = delta ** np.arange(1.0, self.W.shape[1] + 1.0)
        weights: FloatArray = self.W @ powers
        return weights

    def slope_weights(self, delta: float) -> FloatArray:
        """Return the weights of the rates in the polynomial p that approximates dy/dt, (s,).

        :param delta: fraction of the step, 0 to 1
        """
        powers = np.arange(1.0, self.W.shape[1] + 1.0)
        weights: FloatArray = self.W @ (powers * delta ** (powers - 1.0))
        return weights


def _method(
    name: str,
    order: int,
    A: List[List[float]],
    W: List[List[float]],
    error: Tuple[float, ...] = (),
    ends: bool = False,
) -> Method:
    full = np.zeros((len(A), len(A)))
    for i, row in enumerate(A):
        full[i, : len(row)] = row
    return Method(name, order, full, full.sum(axis=1), np.array(W), np.array(error), ends)


#: Euler's method, whose p is constant (book eq 11.47 to 11.49).
EULER = _method('euler', 1, [[]], [[1.0]])

#: Heun's method with a second stage at two thirds of the step, whose p is linear (eq 11.50,
#: 11.51).
HEUN = _method('heun', 2, [[], [2.0 / 3.0]], [[1.0, -0.75], [0.0, 0.75]])

#: The classical Runge-Kutta method of fourth order; its dense output is of third order.
RK4 = _method(
    'rk4',
    4,
    [[], [0.5], [0.0, 0.5], [0.0, 0.0, 1.0]],
    [
        [1.0, -1.5, 2.0 / 3.0],
        [0.0, 1.0, -2.0 / 3.0],
        [0.0, 1.0, -2.0 / 3.0],
        [0.0, -0.5, 2.0 / 3.0],
    ],
)

#: The pair of J. Dormand and P. Prince (1980) of orders 5 and 4, with the dense output of fourth
#: order by L. Shampine (1986).
RK45 = _method(
    'rk45',
    5,
    [
        [],
        [1 / 5],
        [3 / 40, 9 / 40],
        [44 / 45, -56 / 15, 32 / 9],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
        [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ],
    [
        [
            1.0,
            -8048581381 / 2820520608,
            8663915743 / 2820520608,
            -12715105075 / 11282082432,
        ],
        [0.0, 0.0, 0.0, 0.0],
        [
            0.0,
            131558114200 / 32700410799,
            -68118460800 / 10900136933,
            87487479700 / 32700410799,
        ],
        [
            0.0,
            -1754552775 / 470086768,
            14199869525 / 1410260304,
            -10690763975 / 1880347072,
        ],
        [
            0.0,
            127303824393 / 49829197408,
            -318862633887 / 49829197408,
            701980252875 / 199316789632,
        ],
        [0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
        [0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423],
    ],
    (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40),
    ends=True,
)

#: The methods by name.
METHODS = {method.name: method for method in (EULER, HEUN, RK4, RK45)}


class Group:
    """Configuration space of a robot, a Lie group."""

    def __init__(self, robot: Robot):
        self.robot = robot
        model = robot.model
        self.is_flat = all(model.body(i).joint.is_flat for i in model.independent)
        # Lie brackets of unit velocities: the commutators of motions along them.
        self._bracket = np.zeros((robot.nv, robot.nv, robot.nv))
        for i, (_, at_v) in model.independent_slices.items():
            joint, units = model.body(i).joint, np.eye(model.body(i).joint.nv)
            for j, u in enumerate(units, at_v.start):
                for k, v in enumerate(units, at_v.start):
                    self._bracket[at_v, j, k] = joint.bracket(u.tolist(), v.tolist())

    def moved(self, q: FloatArray, displacement: FloatArray) -> FloatArray:
        """Return the configuration reached from q by a displacement, (nq,).

        :param q: configuration, (nq,)
        :param displacement: u, (nv,) [rad, m]
        """
        return q + displacement if self.is_flat else self.robot.integrate(q, displacement)

    def displacement_rate(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return the rate at velocity v of the displacement u since the start of a step, (nv,)."""
        if self.is_flat or not u.any():
            return v
        ad = self._ad(u)
        term = ad @ v
        rate: FloatArray = v + 0.5 * term
        for coefficient in _BERNOULLI:
            term = ad @ term
            rate = rate + coefficient * term
            term = ad @ term
        return rate

    def maximum_step(self, v: FloatArray) -> float:
        """Return the longest step at which the series of `displacement_rate` holds [s].

        It depends on angular velocities: they are the eigenvalues of [v, .], divided by i.
        """
        if self.is_flat:
            return math.inf
        ad = self._ad(v)
        square = -0.5 * float(np.einsum('ij,ji', ad, ad))
        return MAXIMUM_TURN / math.sqrt(square) if square > 0.0 else math.inf

    def _ad(self, u: FloatArray) -> FloatArray:
        """Return the matrix of the Lie bracket [u, .], (nv, nv)."""
        ad: FloatArray = np.einsum('ijk,j->ik', self._bracket, u)
        return ad


@dataclass(frozen=True)
class DenseStep:
    """A time step with dense output.

    :param group: space of the configurations
    :param t: time at its beginning [s]
    :param h: its length [s]
    :param q: configuration at its beginning, (nq,)
    :param v: velocity at its beginning, (nv,)
    :param rates: rates k_i of displacement and velocity, (s, 2 nv)
    """

    group: Group
    method: Method
    t: float
    h: float
    q: FloatArray
    v: FloatArray
    rates: FloatArray

    def at(self, delta: float) -> Tuple[FloatArray, FloatArray]:
        """Return the configuration, (nq,), and velocity, (nv,), at a time of the step (eq 11.46).

        :param delta: fraction of the step, 0 to 1
        """
        change = self.h * (self.method.weights(delta) @ self.rates)
        n = len(self.v)
        return self.group.moved(self.q, change[:n]), self.v + change[n:]

    def slope(self, delta: float) -> Tuple[FloatArray, FloatArray]:
        """Return the polynomial p at a time: rates of displacement and velocity, (nv,) each.

        Eq 11.45.

        :param delta: fraction of the step, 0 to 1
        """
        p = self.method.slope_weights(delta) @ self.rates
        n = len(self.v)
        return p[:n], p[n:]

    @property
    def error(self) -> Tuple[FloatArray, FloatArray]:
        """Estimated errors of displacement and velocity at the end of the step, (nv,) each.

        They are the differences to the embedded method.
        """
        change = self.h * (self.method.error_weights @ self.rates)
        n = len(self.v)
        return change[:n], change[n:]

    @property
    def last_acceleration(self) -> FloatArray:
        """Acceleration at the end of the step, if that is the last stage, (nv,)."""
        return self.rates[-1, len(self.v) :]


def take_step(
    group: Group,
    method: Method,
    acceleration: Acceleration,
    t: float,
    q: FloatArray,
    v: FloatArray,
    h: float,
    first: FloatArray,
) -> DenseStep:
    """Take a step of a Runge-Kutta method.

    :param group: space of the configurations
    :param acceleration: acceleration at a time, a configuration and a velocity
    :param t: time [s]
    :param q: configuration, (nq,)
    :param v: velocity, (nv,) [rad/s, m/s]
    :param h: length of the step [s]
    :param first: acceleration at its beginning, (nv,)
    """
    n, stages = len(v), len(method.c)
    rates = np.zeros((stages, 2 * n))
    rates[0, :n], rates[0, n:] = v, first
    for i in range(1, stages):
        change = h * (method.A[i, :i] @ rates[:i])
        u, moving = change[:n], v + change[n:]
        there = group.moved(q, u)
        rates[i, :n] = group.displacement_rate(u, moving)
        rates[i, n:] = acceleration(t + method.c[i] * h, there, moving)
    return DenseStep(group, method, t, h, q, v, rates)
