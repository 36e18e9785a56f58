# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Reference motions by DOP853, E. Hairer's method of order 8, in SciPy's implementation.

Each step has local coordinates, q = q0 exp(u), see dense_output.py. SciPy's solver restarts at
each step, in u and v; the proposed length of the next step carries over.
"""

from __future__ import annotations

import math
from typing import Any, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.textbook.simulation.dense_output import Acceleration, Group


class Dop853Step:
    """A step with dense output.

    :param group: space of the configurations
    :param solver: SciPy's solver, after this step
    :param q: configuration at its beginning, (nq,)
    """

    def __init__(self, group: Group, solver: Any, q: FloatArray):
        self.t, self.h = float(solver.t_old), float(solver.t - solver.t_old)
        #: Time at the end of the step [s]; t + h may differ by rounding.
        self.end = float(solver.t)
        self._group, self._solver, self._q = group, solver, q
        self._within: Any = None

    def at(self, delta: float) -> Tuple[FloatArray, FloatArray]:
        """Return the configuration, (nq,), and velocity, (nv,), at a time of the step.

        :param delta: fraction of the step, 0 to 1
        """
        if delta == 1.0:
            y = self._solver.y
        else:
            # The interpolant takes three more stages, so it is computed on demand.
            self._within = self._within or self._solver.dense_output()
            y = self._within(self.t + delta * self.h)
        n = len(y) // 2
        return self._group.moved(self._q, y[:n]), y[n:].copy()


def take_dop853_step(
    group: Group,
    acceleration: Acceleration,
    t: float,
    q: FloatArray,
    v: FloatArray,
    end: float,
    h: float,
    rtol: float,
    atol: float,
    max_step: float,
) -> Tuple[Dop853Step, float]:
    """Take one step, as long as tolerances allow.

    :param group: space of the configurations
    :param acceleration: acceleration at a time, a configuration and a velocity
    :param t: time [s]
    :param q: configuration, (nq,)
    :param v: velocity, (nv,)
    :param end: end time, which no step exceeds [s]
    :param h: initial step length [s]
    :param rtol: error relative to the velocity, and to 1 rad or 1 m
    :param atol: absolute error
    :param max_step: longest step [s]
    :return: the step, and the proposed length of the next one [s]
    :raises FloatingPointError: if the step length underflows
    """
    # Imported here because it takes 0.2 s and is rarely needed.
    from scipy.integrate import DOP853

    n = len(v)

    def rate(time: float, y: FloatArray) -> FloatArray:
        u, moving = y[:n], y[n:]
        there = group.moved(q, u)
        return np.concatenate(
            [group.displacement_rate(u, moving), acceleration(time, there, moving)]
        )

    # The displacement begins at zero, so relative errors are relative to 1 rad or 1 m.
    absolute = np.concatenate([np.full(n, atol + rtol), np.full(n, atol)])
    longest = min(max_step, group.maximum_step(v))
    first = min(h, longest, end - t)
    solver = DOP853(
        rate,
        t,
        np.concatenate([np.zeros(n), v]),
        end,
        max_step=longest,
        rtol=rtol,
        atol=absolute,
        first_step=first,
    )
    with np.errstate(all='ignore'):
        solver.step()
    if solver.status == 'failed' or not np.isfinite(solver.y).all():
        raise FloatingPointError(
            f'the motion cannot be continued beyond {t:g} s: it becomes infinite or jumps, or '
            'the tolerances are too tight'
        )
    return Dop853Step(group, solver, q), solver.h_abs if solver.h_abs > 0.0 else math.inf
