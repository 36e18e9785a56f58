# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Exact extrema of a joint's position and velocity on a trajectory."""

from __future__ import annotations

from typing import Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.control.motion import polynomials
from rbd_ros.control.motion.trajectory import JointTrajectory

#: A value, and its time [s].
Extremum = Tuple[float, float]


def extrema(
    trajectory: JointTrajectory, joint: int, velocity: bool = False
) -> Tuple[Extremum, Extremum]:
    """Return the minimum and maximum of a joint's position or velocity, with their times.

    :param joint: index of the joint
    :param velocity: velocity instead of position

    >>> from rbd_ros.control.motion.extrema import extrema
    >>> extrema(JointTrajectory(['a'], [0.0, 2.0], [[0.0], [1.0]]), 0, velocity=True)
    ((0.0, 0.0), (0.75, 1.0))
    """
    times = trajectory.times
    if len(times) == 1:
        still = (0.0 if velocity else float(trajectory.positions[0, joint]), float(times[0]))
        return still, still
    c = trajectory.coefficients(joint)
    durations = np.diff(times)
    c = c * durations ** np.arange(len(c))[:, None]
    if velocity:
        c = c[1:] * np.arange(1.0, len(c))[:, None] / durations
    low, high = _maximum(-c, times), _maximum(c, times)
    return (0.0 - low[0], low[1]), high


def _maximum(c: FloatArray, times: FloatArray) -> Extremum:
    """Return the maxima of polynomials with coefficients (powers, segments) for times 0 to 1."""
    control = polynomials.control_values(c[:, :, None])[:, :, 0]
    ends = np.append(control[0], control[-1, -1])
    k = int(ends.argmax())
    best, when = float(ends[k]), float(times[k])
    # No polynomial exceeds its control values, so few need evaluation.
    bounds = control.max(axis=0)
    for k in np.argsort(-bounds, kind='stable'):
        if bounds[k] <= best + polynomials.UNDECIDED:
            break
        for u in polynomials.turning_points(c[:, k]):
            value = float(np.polyval(c[::-1, k], u))
            if value > best:
                best, when = value, float(times[k] + u * (times[k + 1] - times[k]))
    return best, when
