# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Piecewise polynomials through points, and their values between the points.

Coefficients have shape (segments, 4 or 6, n), lowest power first, of the time since the begin of
the segment. Control values are the Bernstein coefficients of a polynomial, the ordinates of its
Bezier control points. Long arrays are processed in slices (`time_sliced`); the time is linear in
the number of points.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb
import time
from typing import Any, Iterable, Iterator, Optional, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from rbd_ros.array_types import BoolArray, FloatArray

NUMBERS = 16384  # numbers per slice of an array, a fraction of a millisecond
MAX_TURN = 0.5e-3  # maximum time without a pause [s]
PAUSE = 100e-6  # long enough for a waiting thread to wake up [s]


def time_sliced(rows: int, columns: int = 1) -> Iterable[slice]:
    """Return the successive slices of the rows of an array, with pauses if the work takes long.

    A control loop in another thread never waits for long work: a call into NumPy that holds the
    GIL delays the torque for its duration, and Python interrupts a thread without pauses only
    every few milliseconds.

    :param rows: number of rows
    :param columns: numbers in each row
    """
    size = max(NUMBERS // max(columns, 1), 1)
    return (slice(0, rows),) if 0 < rows <= size else _slices(rows, size)


def _slices(rows: int, size: int) -> Iterator[slice]:
    turn = time.perf_counter()
    for begin in range(0, rows, size):
        if time.perf_counter() - turn > MAX_TURN:
            time.sleep(PAUSE)
            turn = time.perf_counter()
        yield slice(begin, min(begin + size, rows))


# Distances of the cyclic reduction of a spline's equations. Each step squares the ratio of
# coupling to diagonal, which is 1/2 at first: after six steps it is below the precision of a
# double.
DISTANCES = (1, 2, 4, 8, 16, 32)
REACH = sum(DISTANCES)
# Maximum numbers of cuts of a segment that may exceed a limit: at its extremum, and in halves.
EXTREMUM_CUTS, MAX_CUTS = 8, 40
UNDECIDED = 1e-9  # tolerated excess of a limit [rad, m, rad/s or m/s]


def quintic(times: FloatArray, q: FloatArray, v: FloatArray, a: FloatArray) -> FloatArray:
    """Return coefficients of quintics with given position, velocity and acceleration at points.

    :param times: times of the points, (P,) [s]
    :param q: positions, (P, n) [rad or m]
    :param v: velocities, (P, n)
    :param a: accelerations, (P, n)
    """
    result = np.empty((len(q) - 1, 6, q.shape[1]))
    for here in time_sliced(len(result), 6 * q.shape[1]):
        after = slice(here.start + 1, here.stop + 1)
        h = (times[after] - times[here])[:, None]
        # The remainder for the three highest powers, from the Taylor series of the left end.
        dq = (q[after] - q[here] - h * v[here] - h**2 / 2 * a[here]) / h**3
        dv = (v[after] - v[here] - h * a[here]) / h**2
        da = (a[after] - a[here]) / h
        part = result[here]
        part[:, 0], part[:, 1], part[:, 2] = q[here], v[here], a[here] / 2
        part[:, 3] = 10 * dq - 4 * dv + da / 2
        part[:, 4] = (-15 * dq + 7 * dv - da) / h
        part[:, 5] = (6 * dq - 3 * dv + da / 2) / h**2
    return result


def cubic(times: FloatArray, q: FloatArray, v: FloatArray) -> FloatArray:
    """Return coefficients of the cubic Hermite polynomials; arguments as in `quintic`."""
    result = np.empty((len(q) - 1, 4, q.shape[1]))
    for here in time_sliced(len(result), 4 * q.shape[1]):
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
    times: FloatArray, q: FloatArray, initial_velocity: Optional[FloatArray] = None
) -> FloatArray:
    """Return the coefficients of the twice differentiable cubic spline that ends at rest.

    :param initial_velocity: velocity at the first point, (n,); None: at rest
    """
    return cubic(times, q, spline_velocities(times, q, initial_velocity))


def spline_velocities(
    times: FloatArray, q: FloatArray, initial_velocity: Optional[FloatArray] = None
) -> FloatArray:
    """Return the velocities at the points of twice differentiable cubic polynomials, (P, n).

    With the durations h and the mean velocities d of the segments on either side of point i,
    h[i] v[i-1] + 2 (h[i-1] + h[i]) v[i] + h[i-1] v[i+1] = 3 (h[i] d[i-1] + h[i-1] d[i]).
    """
    v = np.zeros_like(q)
    if initial_velocity is not None:
        v[0] = initial_velocity
    inner = len(q) - 2
    for here in time_sliced(inner, 4 * q.shape[1]):
        # The equations of a slice, and those on either side on which it depends.
        start, stop = max(here.start - REACH, 0), min(here.stop + REACH, inner)
        here_times, here_q = times[start : stop + 2], q[start : stop + 2]
        h = (here_times[1:] - here_times[:-1])[:, None]
        d = (here_q[1:] - here_q[:-1]) / h
        total = 2.0 * (h[:-1] + h[1:])
        lower, upper = h[1:] / total, h[:-1] / total
        right = 3.0 * (lower * d[:-1] + upper * d[1:])
        if start == 0:
            right[0] -= lower[0] * v[0]
        lower[0], upper[-1] = 0.0, 0.0
        solution = _solve(lower, upper, right)
        v[1 + here.start : 1 + here.stop] = solution[here.start - start : here.stop - start]
    return v


def _solve(lower: FloatArray, upper: FloatArray, right: FloatArray) -> FloatArray:
    """Return solution of lower[i] x[i-1] + x[i] + upper[i] x[i+1] = right[i] by cyclic reduction.

    Each step expresses the neighbors by their own neighbors, twice as far away, for all rows at
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
# From here on, time is relative to the duration of the segment, from 0 to 1, and powers are the
# first axis of an array.


def in_durations(segments: FloatArray, durations: FloatArray) -> FloatArray:
    """Return coefficients by time relative to the duration of each segment, (powers, segments, n).

    :param segments: coefficients by time, (segments, powers, n)
    :param durations: durations of the segments, (segments,) [s]
    """
    powers = segments.shape[1]
    result = np.empty((powers, len(segments), segments.shape[2]))
    scale = np.ones_like(durations)
    for k in range(powers):
        np.multiply(segments[:, k], scale[:, None], out=result[k])
        scale = scale * durations
    return result


@lru_cache(maxsize=None)
def _bernstein(powers: int) -> FloatArray:
    degree = powers - 1
    return np.array([[comb(i, k) / comb(degree, k) for k in range(powers)] for i in range(powers)])


def control_values(c: FloatArray) -> FloatArray:
    """Return control values of polynomials, (powers, segments, n), from coefficients.

    The first and the last are values at the ends, and the polynomial stays between their minimum
    and maximum.
    """
    return (_bernstein(len(c)) @ c.reshape(len(c), -1)).reshape(c.shape)


def slope_control_values(control: FloatArray) -> FloatArray:
    """Return control values of the derivative, (powers - 1, segments, n)."""
    slopes: FloatArray = (control[1:] - control[:-1]) * float(len(control) - 1)
    return slopes


def cut(control: FloatArray, u: Union[float, FloatArray]) -> FloatArray:
    """Cut polynomials in two by de Casteljau's algorithm, which only interpolates.

    :param control: control values, (powers, M)
    :param u: place of the cut, from 0 to 1, one number or (M,)
    :return: control values of all left parts, then of all right ones, (powers, 2 M)
    """
    powers, m = control.shape
    result = np.empty((powers, 2 * m))
    left, right = result[:, :m], result[:, m:]
    left[0], right[-1] = control[0], control[-1]
    for k in range(1, powers):
        control = control[:-1] + u * (control[1:] - control[:-1])
        left[k], right[-1 - k] = control[0], control[-1]
    return result


def beyond(control: FloatArray, lower: FloatArray, upper: FloatArray) -> BoolArray:
    """Return whether each polynomial exceeds its limits between 0 and 1, (segments, n) bool.

    :param control: control values, (powers, segments, n)
    :param lower: lower limits, (n,)
    :param upper: upper limits, (n,)
    """
    doubtful = _may_exceed(control, lower, upper)
    if not doubtful.any():
        return doubtful
    place = np.flatnonzero(doubtful)
    result = np.zeros(doubtful.size, dtype=bool)
    control = control.reshape(len(control), -1)
    for here in time_sliced(len(place), len(control)):
        column = place[here]
        joint = column % len(lower)
        result[column] = _beyond(control.take(column, axis=1), lower[joint], upper[joint])
    return result.reshape(doubtful.shape)


def _beyond(control: FloatArray, lower: FloatArray, upper: FloatArray) -> BoolArray:
    """Return whether each of the columns exceeds its limits, (M,) bool; limits are (M,).

    A column whose control values do not decide it is cut near its extremum until they do. After
    an exact cut, both parts are monotonic, and their ends decide.
    """
    result = np.zeros(control.shape[1], dtype=bool)
    column: NDArray[np.intp] = np.arange(control.shape[1])
    for count in range(MAX_CUTS):
        low, high = lower.take(column), upper.take(column)
        first, last = control[0], control[-1]
        out = (np.minimum(first, last) < low) | (np.maximum(first, last) > high)
        result[column.compress(out)] = True
        left = np.flatnonzero(_may_exceed(control, low, high) & ~result.take(column))
        if not len(left):
            break
        control, column = control.take(left, axis=1), column.take(left)
        # Usually three or four cuts are enough. If not, halves always make progress.
        halves = count >= EXTREMUM_CUTS
        u: Union[float, FloatArray] = 0.5
        if not halves:
            u = _estimated_extremum(control, low.take(left), high.take(left))
        control, column = cut(control, u), np.concatenate([column, column])
    return result


def _estimated_extremum(control: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return estimated places, 0 to 1, of extrema of polynomials that may exceed limits, (M,).

    The control values of the derivative change sign on both sides of the polynomial's largest one.
    The estimate is the zero of the line between them. At an end of the polynomial this is a Newton
    step.
    """
    powers, m = control.shape
    downwards = low - control.min(axis=0) > control.max(axis=0) - high
    largest = np.where(downwards, -control, control).argmax(axis=0)
    largest = np.minimum(np.maximum(largest, 1), powers - 2)
    flat, at = control.reshape(-1), largest * m + np.arange(m)
    middle = flat.take(at)
    before, after = middle - flat.take(at - m), flat.take(at + m) - middle
    change = before - after
    part = before / np.where(change == 0.0, 1.0, change)
    extremum: FloatArray = (largest - 1 + part) / (powers - 2)
    return extremum


def _may_exceed(control: FloatArray, lower: FloatArray, upper: FloatArray) -> BoolArray:
    """Return whether the control values permit a polynomial to exceed its limits."""
    doubtful: BoolArray = control.min(axis=0) < lower - UNDECIDED
    doubtful |= control.max(axis=0) > upper + UNDECIDED
    return doubtful


def extrema(c: FloatArray) -> Tuple[float, float]:
    """Return the minimum and maximum of one polynomial, (powers,), from 0 to 1."""
    values = np.polyval(c[::-1], np.concatenate([[0.0, 1.0], turning_points(c)]))
    return float(values.min()), float(values.max())


def turning_points(c: FloatArray) -> FloatArray:
    """Return the zeros between 0 and 1 of the derivative of one polynomial, (powers,)."""
    slope = c[1:] * np.arange(1.0, len(c))
    # A leading coefficient from rounding would move a root to infinity.
    felt = np.flatnonzero(np.abs(slope) > 1e-15 * np.abs(slope).max())
    slope = slope[: felt[-1] + 1] if len(felt) else slope[:0]
    roots: Any = np.roots(slope[::-1]) if len(slope) > 1 else np.zeros(0)
    turning: FloatArray = roots[np.abs(roots.imag) < 1e-9].real
    return turning[(turning > 0.0) & (turning < 1.0)]
