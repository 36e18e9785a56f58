"""Piecewise polynomials through points, and the values that they take between the points.

Coefficients have shape (segments, 4 or 6, n), lowest power first, of the time since the segment
began. Long arrays are worked off in slices, see slices.py; the time taken is linear in the points.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import Optional, Tuple

import numpy as np

from rbd_ros.control.slices import slices

# Distances over which the equations of a spline are uncoupled one after another. Each step squares
# the ratio of coupling to diagonal, which is 1/2 at first: after six, nothing is left in a double.
DISTANCES = (1, 2, 4, 8, 16, 32)
REACH = sum(DISTANCES)
MOST_ITERATIONS = 60  # of the search for a root
ROOT_TOLERANCE = 1e-12  # part of a segment's duration


def quintic(times: np.ndarray, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Coefficients of the quintics with given position, velocity and acceleration at the points.

    :param times: times of the points, (P,) [s]
    :param q: positions, (P, n) [rad or m]
    :param v: velocities, (P, n)
    :param a: accelerations, (P, n)
    """
    result = np.empty((len(q) - 1, 6, q.shape[1]))
    for here in slices(len(result), 6 * q.shape[1]):
        after = slice(here.start + 1, here.stop + 1)
        h = (times[after] - times[here])[:, None]
        # What is left for the three highest powers, from the Taylor series of the left end.
        dq = (q[after] - q[here] - h * v[here] - h**2 / 2 * a[here]) / h**3
        dv = (v[after] - v[here] - h * a[here]) / h**2
        da = (a[after] - a[here]) / h
        part = result[here]
        part[:, 0], part[:, 1], part[:, 2] = q[here], v[here], a[here] / 2
        part[:, 3] = 10 * dq - 4 * dv + da / 2
        part[:, 4] = (-15 * dq + 7 * dv - da) / h
        part[:, 5] = (6 * dq - 3 * dv + da / 2) / h**2
    return result


def cubic(times: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Coefficients of the cubic Hermite polynomials; arguments as those of `quintic`."""
    result = np.empty((len(q) - 1, 4, q.shape[1]))
    for here in slices(len(result), 4 * q.shape[1]):
        after = slice(here.start + 1, here.stop + 1)
        h = (times[after] - times[here])[:, None]
        dq = (q[after] - q[here] - h * v[here]) / h**2
        dv = (v[after] - v[here]) / h
        part = result[here]
        part[:, 0], part[:, 1] = q[here], v[here]
        part[:, 2] = 3 * dq - dv
        part[:, 3] = (dv - 2 * dq) / h
    return result


def clamped_spline(
    times: np.ndarray, q: np.ndarray, initial_velocity: Optional[np.ndarray] = None
) -> np.ndarray:
    """Coefficients of the twice differentiable cubic spline that ends at rest.

    :param initial_velocity: velocity at the first point, (n,); None: at rest
    """
    return cubic(times, q, spline_velocities(times, q, initial_velocity))


def spline_velocities(
    times: np.ndarray, q: np.ndarray, initial_velocity: Optional[np.ndarray] = None
) -> np.ndarray:
    """Velocities at the points for which the cubic polynomials are twice differentiable, (P, n).

    With the durations h and the mean velocities d of the segments on either side of point i,
    h[i] v[i-1] + 2 (h[i-1] + h[i]) v[i] + h[i-1] v[i+1] = 3 (h[i] d[i-1] + h[i-1] d[i]).
    """
    v = np.zeros_like(q)
    if initial_velocity is not None:
        v[0] = initial_velocity
    inner = len(q) - 2
    for here in slices(inner, 4 * q.shape[1]):
        # The equations of a slice, with as many on either side as it depends on.
        start, stop = max(here.start - REACH, 0), min(here.stop + REACH, inner)
        h = np.diff(times[start : stop + 2])[:, None]
        d = np.diff(q[start : stop + 2], axis=0) / h
        total = 2.0 * (h[:-1] + h[1:])
        lower, upper = h[1:] / total, h[:-1] / total
        right = 3.0 * (lower * d[:-1] + upper * d[1:])
        if start == 0:
            right[0] -= lower[0] * v[0]
        lower[0], upper[-1] = 0.0, 0.0
        solution = _solve(lower, upper, right)
        v[1 + here.start : 1 + here.stop] = solution[here.start - start : here.stop - start]
    return v


def _solve(lower: np.ndarray, upper: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solution of lower[i] x[i-1] + x[i] + upper[i] x[i+1] = right[i] by cyclic reduction.

    Each step expresses the neighbours by their own neighbours, twice as far away, for all rows at
    once. It needs |lower| + |upper| <= 1/2, and destroys its arguments.
    """
    for distance in DISTANCES:
        if distance >= len(right):
            break
        from_lower = np.zeros_like(lower)
        from_upper = np.zeros_like(upper)
        from_lower[distance:] = -lower[distance:]
        from_upper[:-distance] = -upper[:-distance]
        diagonal = np.ones_like(lower)
        diagonal[distance:] += from_lower[distance:] * upper[:-distance]
        diagonal[:-distance] += from_upper[:-distance] * lower[distance:]
        new = right.copy()
        new[distance:] += from_lower[distance:] * right[:-distance]
        new[:-distance] += from_upper[:-distance] * right[distance:]
        from_lower[distance:] *= lower[:-distance]
        from_upper[:-distance] *= upper[distance:]
        lower, upper, right = from_lower / diagonal, from_upper / diagonal, new / diagonal
    return right


# -- values between the points --------------------------------------------------------------------
# From here on time is counted in durations of the segment, from 0 to 1, and coefficients have
# shape (powers, M): one column for each joint and segment.


def in_durations(segments: np.ndarray, durations: np.ndarray) -> np.ndarray:
    """Coefficients in powers of the part of each segment that has passed, (powers, segments * n).

    :param segments: coefficients, (segments, powers, n)
    :param durations: (segments,) [s]
    """
    powers = segments.shape[1]
    result = np.empty((powers, len(segments), segments.shape[2]))
    scale = np.ones_like(durations)
    for k in range(powers):
        np.multiply(segments[:, k], scale[:, None], out=result[k])
        scale = scale * durations
    return result.reshape(powers, -1)


@lru_cache(maxsize=None)
def _bernstein(powers: int) -> np.ndarray:
    degree = powers - 1
    return np.array(
        [[comb(i, k) / comb(degree, k) for k in range(powers)] for i in range(powers)]
    )


def control_values(c: np.ndarray) -> np.ndarray:
    """Bernstein coefficients, (powers, M): the polynomial stays between their extremes."""
    return _bernstein(len(c)) @ c


def derivative(c: np.ndarray) -> np.ndarray:
    """Coefficients of the derivative, one fewer."""
    return c[1:] * np.arange(1.0, len(c))[:, None]


def value(c: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Values at `u`, which may have any leading axes."""
    result = np.broadcast_to(c[-1], u.shape)
    for k in range(len(c) - 2, -1, -1):
        result = result * u + c[k]
    return result


def extremes(c: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Minimum and maximum of each polynomial from 0 to 1, its ends included, each (M,)."""
    turning = turning_points(c)
    values = value(c, np.vstack([np.zeros_like(turning[:1]), turning, np.ones_like(turning[:1])]))
    return values.min(axis=0), values.max(axis=0)


def turning_points(c: np.ndarray) -> np.ndarray:
    """Where between 0 and 1 polynomials rise no more or fall no more, (powers - 2, M), ascending.

    Between two turning points of the derivative there is at most one of the polynomial, so they
    are found from the straight line up. Places that are left over hold some other time.
    """
    slope = derivative(c)
    if len(slope) == 2:
        with np.errstate(divide='ignore', invalid='ignore', over='ignore'):
            root = -slope[0] / slope[1]
        return np.where((root > 0.0) & (root < 1.0), root, 0.0)[None]
    turning = turning_points(slope)
    edges = np.vstack([np.zeros_like(turning[:1]), turning, np.ones_like(turning[:1])])
    falling = value(slope, edges) < 0.0
    result = edges[:-1].copy()
    interval, column = np.nonzero(falling[:-1] != falling[1:])
    if len(column):
        result[interval, column] = _root(
            slope[:, column], edges[interval, column], edges[interval + 1, column]
        )
    return result


def _root(c: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Root between `low` and `high`, where the signs differ: Newton, or bisection where better."""
    slope = derivative(c)
    falling = value(c, low) < 0.0
    u = 0.5 * (low + high)
    for _ in range(MOST_ITERATIONS):
        f = value(c, u)
        left = (f < 0.0) == falling
        low, high = np.where(left, u, low), np.where(left, high, u)
        with np.errstate(divide='ignore', invalid='ignore', over='ignore'):
            new = u - f / value(slope, u)
        new = np.where((new > low) & (new < high), new, 0.5 * (low + high))
        done = np.abs(new - u).max() < ROOT_TOLERANCE
        u = new
        if done:
            break
    return u
