"""Piecewise quintic polynomials through points: coefficients for the three kinds of trajectory.

Coefficients have shape (segments, 6, n), lowest power first, of the time since the segment began.
"""

from __future__ import annotations

from typing import Optional

import numpy as np


def quintic(times: np.ndarray, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Coefficients of the quintics with given position, velocity and acceleration at the points.

    :param times: times of the points, (P,) [s]
    :param q: positions, (P, n) [rad or m]
    :param v: velocities, (P, n)
    :param a: accelerations, (P, n)
    """
    h = np.diff(times)[:, None]
    # What is left for the three highest powers, from the Taylor series of the left end.
    dq = (q[1:] - q[:-1] - h * v[:-1] - h**2 / 2 * a[:-1]) / h**3
    dv = (v[1:] - v[:-1] - h * a[:-1]) / h**2
    da = (a[1:] - a[:-1]) / h
    return np.stack(
        [
            q[:-1],
            v[:-1],
            a[:-1] / 2,
            10 * dq - 4 * dv + da / 2,
            (-15 * dq + 7 * dv - da) / h,
            (6 * dq - 3 * dv + da / 2) / h**2,
        ],
        axis=1,
    )


def cubic(times: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Coefficients of the cubic Hermite polynomials; arguments as those of `quintic`."""
    h = np.diff(times)[:, None]
    dq = (q[1:] - q[:-1] - h * v[:-1]) / h**2
    dv = (v[1:] - v[:-1]) / h
    zero = np.zeros_like(dq)
    return np.stack([q[:-1], v[:-1], 3 * dq - dv, (dv - 2 * dq) / h, zero, zero], axis=1)


def clamped_spline(
    times: np.ndarray, q: np.ndarray, initial_velocity: Optional[np.ndarray] = None
) -> np.ndarray:
    """Coefficients of the twice differentiable cubic spline that ends at rest.

    :param initial_velocity: velocity at the first point, (n,); None: at rest
    """
    from scipy.interpolate import CubicSpline  # slow to import, and few trajectories need it

    rest = np.zeros(q.shape[1])
    start = rest if initial_velocity is None else initial_velocity
    highest_first = CubicSpline(times, q, bc_type=((1, start), (1, rest))).c
    result = np.zeros((len(times) - 1, 6, q.shape[1]))
    result[:, :4] = highest_first[::-1].transpose(1, 0, 2)
    return result


def extremes(polynomial: np.ndarray, duration: float) -> np.ndarray:
    """Times in [0, duration] at which one polynomial, (6,), may be extreme, its ends included."""
    derivative = polynomial[1:] * np.arange(1, len(polynomial))
    used = np.flatnonzero(derivative)
    if not len(used):
        return np.array([0.0, duration])
    roots = np.roots(derivative[used[-1] :: -1])
    inside = roots[(np.abs(roots.imag) < 1e-9) & (roots.real > 0) & (roots.real < duration)].real
    return np.concatenate([[0.0], inside, [duration]])
