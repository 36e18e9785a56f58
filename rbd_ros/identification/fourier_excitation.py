# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Motions that excite the parameters of a robot: finite Fourier series within its limits.

The condition number of the equations is the amplification of effort noise in the estimates; the
choice of the amplitudes reduces it. Motions begin and end at rest in the same place.

Source: Swevers, Ganseman, Tukel, De Schutter and Van Brussel, "Optimal robot excitation and
identification" (IEEE T-RA 1997).
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any, Callable, Mapping, Optional, Tuple

import numpy as np
from scipy.optimize import minimize

from rbd_ros.algorithms.regressors.base_parameters import BaseParameters
from rbd_ros.control import add_feedforward, Feedforward, FeedforwardTrajectory, JointTrajectory
from rbd_ros.control.robot_joints import shown
from rbd_ros.identification.recording import Floats
from rbd_ros.robot import Robot

HARMONICS = 5
#: For the optimization: random starts, evaluations from the best one, states of each.
STARTS, EVALUATIONS, STATES = 30, 1500, 60
#: Used fraction of the limits; range and speed of joints without limits [rad or m], [rad/s, m/s].
USED, FREE_RANGE, FREE_SPEED = 0.9, 1.0, 1.0
#: Maximum number and factor of reductions of a motion, until its efforts are within the limits.
SHRINKS, SHRINK = 40, 0.9


@dataclass(frozen=True)
class Excitation:
    """A motion that excites base parameters and friction.

    :param trajectory: the motion with its efforts
    :param condition_number: condition number of the equations with columns of equal norm
    :param period: period of the motion [s]

    >>> from rbd_ros.identification import excitation
    >>> excitation(robot, period=8.0).period
    8.0
    """

    trajectory: FeedforwardTrajectory
    condition_number: float
    period: float


@dataclass(frozen=True)
class _Series:
    """Limits and frequencies of the series of all joints."""

    times: Floats
    period: float
    low: Floats
    high: Floats
    speed: Floats

    def motion(self, x: Floats, times: Floats) -> Tuple[Floats, Floats, Floats]:
        """Return positions, velocities, accelerations of the largest feasible motion, (T, n).

        :param x: center of each joint's motion, from -1 to 1 of its remaining range, then its
            amplitudes of the harmonics above the first
        :param times: (T,) [s]
        """
        n = len(self.low)
        share, amplitudes = np.tanh(x[:n]), x[n:].reshape(2, HARMONICS - 1, n)
        w = 2.0 * math.pi / self.period * np.arange(1, HARMONICS + 1)
        # The first harmonic makes velocity and acceleration zero at the start.
        a = np.concatenate([-amplitudes[0].sum(axis=0)[None], amplitudes[0]])
        b = amplitudes[1]
        first = -(w[1:, None] * b).sum(axis=0) / w[0]
        b = np.concatenate([first[None], b])

        def sampled(at: Floats) -> Tuple[Floats, Floats, Floats]:
            c, s = np.cos(np.outer(at, w)), np.sin(np.outer(at, w))
            q = (s / w) @ a - (c / w) @ b
            return q, c @ a + s @ b, -(s * w) @ a + (c * w) @ b

        q, v, _ = sampled(self.times)
        width = np.maximum(np.ptp(q, axis=0), 1e-9)
        fastest = np.maximum(np.abs(v).max(axis=0), 1e-9)
        scale = np.minimum((self.high - self.low) / width, self.speed / fastest)
        # The remaining range if the motion needs less.
        margin = 0.5 * ((self.high - self.low) - scale * width)
        middle = 0.5 * (self.high + self.low) + share * margin
        center = middle - scale * 0.5 * (q.max(axis=0) + q.min(axis=0))
        q, v, acceleration = sampled(times)
        return center + scale * q, scale * v, scale * acceleration


def excitation(
    robot: Robot,
    *,
    period: float = 10.0,
    point_spacing: float = 0.02,
    start_time: float = 5.0,
    ranges: Optional[Mapping[str, Tuple[float, float]]] = None,
    velocity_scaling: float = 0.5,
    seed: int = 1,
    progress: Optional[Callable[[float], Any]] = None,
) -> Excitation:
    """Return a motion within the limits that excites the base parameters of a robot well.

    Positions, velocities and efforts keep their limits. Collisions are not checked: exclude them
    by `ranges`, and look at the motion before a robot executes it.

    :param robot: the robot with its limits and friction
    :param period: duration of the motion [s]
    :param point_spacing: time between two points [s]
    :param start_time: time of the first point, until which a controller moves the robot there [s]
    :param ranges: minimum and maximum position of joints, by name, within their limits
    :param velocity_scaling: usable fraction of the velocity limits, as in MoveIt
    :param seed: seed of the optimization, which is reproducible
    :param progress: called with a lower bound of the finished fraction of the optimization
    :raises ValueError: for an invalid argument, or efforts that cannot hold the robot anywhere
        within the ranges

    >>> from rbd_ros.identification import excitation
    >>> found = excitation(robot, ranges={'elbow_joint': (0.5, 2.5)})
    >>> found.condition_number < 60.0, found.trajectory.positions.shape
    (True, (501, 6))
    >>> bool((np.abs(found.trajectory.efforts) <= robot.effort_limits).all())
    True
    """
    feedforward = Feedforward(robot)
    positive = (period, point_spacing, velocity_scaling)
    for name, value in zip(('period', 'point_spacing', 'velocity_scaling'), positive):
        if not 0.0 < value < math.inf:
            raise ValueError(f'{name} must be positive and finite, got {value}')
    if not 0.0 <= start_time < math.inf:
        raise ValueError(f'start_time must not be negative, got {start_time}')
    if velocity_scaling > 1.0:
        raise ValueError(f'velocity_scaling must be at most 1, got {velocity_scaling}')
    count = int(round(period / point_spacing))
    if not 50 <= count <= 100_000:
        raise ValueError(
            f'a period of {period:g} s has {count} steps of {point_spacing:g} s; give 50 to 1e5'
        )
    low, high = _ranges(robot, dict(ranges or {}))
    limits = np.where(np.isfinite(robot.velocity_limits), robot.velocity_limits, FREE_SPEED)
    coarse = np.linspace(0.0, period, STATES, endpoint=False)
    series = _Series(
        np.linspace(0.0, period, 4 * STATES), period, low, high, USED * velocity_scaling * limits
    )
    base = robot.regressors.base_parameters()

    done = 0

    def cost(x: Floats) -> float:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done / (STARTS + EVALUATIONS))
        q, v, a = series.motion(x, coarse)
        effort = np.abs(feedforward.efforts(q, v, a)) / (USED * robot.effort_limits)
        excess = float((np.maximum(effort - 1.0, 0.0) ** 2).sum())
        return float(np.log(_condition(robot, base, q, v, a))) + excess

    rng = np.random.default_rng(seed)
    starts = rng.normal(size=(STARTS, (2 * HARMONICS - 1) * robot.nv))
    best = min(starts, key=cost)
    best = minimize(cost, best, method='L-BFGS-B', options={'maxfun': EVALUATIONS}).x
    times = period * np.arange(count + 1) / count
    q, v, a = series.motion(best, times)
    v[[0, -1]] = a[[0, -1]] = 0.0  # exact zeros
    q = _within_efforts(feedforward, q, v, a)
    condition = _condition(robot, base, q, v, a)
    trajectory = JointTrajectory(robot.joint_names, (start_time + times).tolist(), q, v, a)
    return Excitation(add_feedforward(feedforward, trajectory), condition, period)


def _ranges(robot: Robot, given: Mapping[str, Tuple[float, float]]) -> Tuple[Floats, Floats]:
    """Return the minimum and maximum positions of the motion."""
    low, high = robot.lower_limits.copy(), robot.upper_limits.copy()
    none = ~(np.isfinite(low) & np.isfinite(high))
    low[none], high[none] = -FREE_RANGE, FREE_RANGE
    middle, half = 0.5 * (low + high), 0.5 * USED * (high - low)
    low, high = middle - half, middle + half
    for name, (begin, end) in given.items():
        if name not in robot.joint_names:
            raise ValueError(f'the range names joint {shown(name)}, which the robot does not have')
        j = robot.joint_names.index(name)
        if not robot.lower_limits[j] <= begin < end <= robot.upper_limits[j]:
            raise ValueError(
                f'the range of joint {shown(name)} is {begin:g} to {end:g}; give one within its '
                f'limits, {robot.lower_limits[j]:g} to {robot.upper_limits[j]:g}'
            )
        low[j], high[j] = begin, end
    return low, high


def _condition(robot: Robot, base: BaseParameters, q: Floats, v: Floats, a: Floats) -> float:
    """Return the condition number of a motion's equations with unit columns, with friction."""
    Y = base.reduce(robot.regressors.torque(q, v, a))
    count, n = Y.shape[2], robot.nv
    A = np.zeros((len(q), n, count + 2 * n))
    A[..., :count] = Y
    for j in range(n):
        A[:, j, count + j] = v[:, j]
        A[:, j, count + n + j] = np.sign(v[:, j])
    # Strong joints have more measurement noise than weak ones.
    limits = robot.effort_limits
    weights = np.where(np.isfinite(limits) & (limits > 0.0), limits, 1.0)
    flat = (A / weights[:, None]).reshape(-1, count + 2 * n)
    length = np.linalg.norm(flat, axis=0)
    length[length == 0.0] = 1.0
    # Squares of the singular values, in a tenth of the time of an SVD, accurate to 1e-16 of the
    # largest: condition numbers are accurate up to 1e7, and the optimum is some dozens.
    columns = flat / length
    squares = np.linalg.eigvalsh(columns.T @ columns)
    return float(np.sqrt(squares[-1] / max(squares[0], 1e-16 * squares[-1])))


def _within_efforts(feedforward: Feedforward, q: Floats, v: Floats, a: Floats) -> Floats:
    """Return positions of a motion reduced until its efforts are within limits; v, a in place.

    :raises ValueError: if that is not possible
    """
    limits = feedforward.settings.effort_limits
    middle = 0.5 * (q.max(axis=0) + q.min(axis=0))
    for _ in range(SHRINKS):
        effort = np.abs(feedforward.efforts(q, v, a))
        if (effort <= limits).all():
            return q
        q = middle + SHRINK * (q - middle)
        v *= SHRINK
        a *= SHRINK
    worst = int(np.argmax((effort / limits).max(axis=0)))
    raise ValueError(
        f'the effort limit of joint {shown(feedforward.robot.joint_names[worst])} does not allow '
        'even the smallest motion; give ranges in which the joint can hold the robot'
    )
