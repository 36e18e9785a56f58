# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Time scaling of a motion: limits under a uniform change of its duration.

A motion that is s times as long has the same positions with velocities v / s and accelerations
a / s^2. With the speed x = 1 / s, the effort of a joint at a point of the motion is
    e(x) = static + viscous x + inertial x^2

where static is gravity with Coulomb friction, which has the sign of the velocity, viscous is
viscous friction, and inertial is inertia, Coriolis and centrifugal effort. So a limit is exceeded
at the speeds between or beyond the roots of a quadratic polynomial, and the other speeds are a
union of intervals, which needs no search.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray


class FeasibleSpeeds(NamedTuple):
    """Speeds, relative to that of the motion, that keep the limits.

    :param fastest: maximum feasible speed; 0: only rest, or not even that
    :param safe: maximum speed such that all lower ones are feasible; 0: some arbitrarily low ones
        are not
    """

    fastest: float
    safe: float


def excluded_speeds(
    static: Any, viscous: Any, inertial: Any, limit: Any
) -> Tuple[FloatArray, FloatArray]:
    """Return open intervals of speeds x >= 0 at which |static + viscous x + inertial x^2| > limit.

    :param static: effort that is independent of the speed, any shape [N m or N]
    :param viscous: effort that is proportional to it, same shape
    :param inertial: effort that is proportional to its square, same shape
    :param limit: maximum effort, may be infinite; broadcast
    :return: lower and upper ends of all intervals, (M,) each; upper ones may be infinite

    >>> from rbd_ros.control.motion.time_scaling import excluded_speeds
    >>> excluded_speeds(3.0, 0.0, 1.0, 4.0)
    (array([1.]), array([inf]))
    """
    arrays = np.broadcast_arrays(static, viscous, inertial, limit)
    c, b, a, most = (np.asarray(x, dtype=float).ravel() for x in arrays)
    limited = np.isfinite(most)
    c, b, a, most = c[limited], b[limited], a[limited], most[limited]
    # Above the upper limit, and below the lower one with all signs changed.
    above = _where_positive(a, b, c - most)
    below = _where_positive(-a, -b, -c - most)
    lows, highs = zip(above, below)
    return np.concatenate(lows), np.concatenate(highs)


def _where_positive(a: FloatArray, b: FloatArray, c: FloatArray) -> Tuple[FloatArray, FloatArray]:
    """Return the intervals of x >= 0 in which a x^2 + b x + c > 0."""
    with np.errstate(over='ignore', divide='ignore', invalid='ignore'):
        discriminant = b * b - 4.0 * a * c
        # This sum has no cancellation; for a = 0 one root is at infinity.
        q = -0.5 * (b + np.where(b < 0.0, -1.0, 1.0) * np.sqrt(np.maximum(discriminant, 0.0)))
        one, two = q / a, c / q
    one = np.where(a == 0.0, np.inf, one)
    two = np.where(q == 0.0, 0.0, two)
    first, last = np.minimum(one, two), np.maximum(one, two)
    lows, highs = [], []

    def add(which: Any, low: Any, high: Any) -> None:
        low, high = np.broadcast_to(low, c.shape)[which], np.broadcast_to(high, c.shape)[which]
        low = np.maximum(low, 0.0)
        some = high > low
        lows.append(low[some])
        highs.append(high[some])

    straight = a == 0.0
    add(straight & (b == 0.0) & (c > 0.0), 0.0, np.inf)
    with np.errstate(divide='ignore', invalid='ignore'):
        zero = -c / b
    add(straight & (b > 0.0), zero, np.inf)
    add(straight & (b < 0.0), 0.0, zero)
    upwards = ~straight & (a > 0.0)
    add(upwards & (discriminant < 0.0), 0.0, np.inf)
    add(upwards & (discriminant >= 0.0), 0.0, first)
    add(upwards & (discriminant >= 0.0), last, np.inf)
    add((a < 0.0) & (discriminant > 0.0), first, last)
    return np.concatenate(lows), np.concatenate(highs)


def feasible_speeds(
    low: FloatArray, high: FloatArray, maximum: float = np.inf
) -> Optional[FeasibleSpeeds]:
    """Return the speeds that no interval excludes; None if there are none.

    :param low: lower ends of the excluded open intervals, (M,)
    :param high: upper ends, (M,)
    :param maximum: additional maximum speed, from velocity limits

    >>> from rbd_ros.control.motion.time_scaling import feasible_speeds
    >>> feasible_speeds(np.array([1.0, 3.0]), np.array([2.0, np.inf]))
    FeasibleSpeeds(fastest=3.0, safe=1.0)
    """
    safe = float(min(low.min(initial=np.inf), maximum))
    fastest = maximum
    # From the fastest interval down: while one covers the speed, continue at its lower end.
    order = np.argsort(-high, kind='stable')
    for k in order:
        if high[k] < fastest or (high[k] == fastest and np.isfinite(fastest)):
            break
        fastest = min(fastest, float(low[k]))
    if fastest <= 0.0:
        return None
    return FeasibleSpeeds(fastest, safe)
