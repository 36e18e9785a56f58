# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Baumgarte's stabilization of the loop constraints (book 8.3).

K qdd = k alone lets errors of rounding and integration accumulate without bound.
"""

from typing import Optional

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def stabilization(delta: Array, velocity: Array, t_stab: Optional[float]) -> Array:
    """Return the term k_stab of K qdd = k + k_stab, by which errors decay (book eq 8.21 and 8.22).

    Errors e then obey e'' + 2 e'/T + e/T^2 = 0, to first order: e(0) (1 + t/T) exp(-t/T) from
    rest. If a loop joint itself rotates at w, the components of its error, which are along axes of
    the successor, are coupled as well; this is negligible only if w T << 1.

    :param delta: position errors, (..., n^c) [rad, m]
    :param velocity: velocity errors T^T v_J, (..., n^c) [rad/s, m/s]
    :param t_stab: time constant T [s]; None for no stabilization. The book suggests 0.1 s for a
        large industrial robot. A smaller one makes the equations stiff, and not more accurate
    :return: (..., n^c) [rad/s^2, m/s^2]
    :raises ValueError: if the time constant is not positive

    >>> from rbd_ros.algorithms.closed_loops.stabilization import stabilization
    >>> delta, velocity = np.array([0.001]), np.array([0.0])  # open by 1 mm
    >>> stabilization(delta, velocity, t_stab=0.1)  # [m/s^2]
    array([-0.1])
    """
    if t_stab is None:
        return np.zeros_like(delta)
    if not t_stab > 0.0:
        raise ValueError(f't_stab must be a positive time constant [s] or None, got {t_stab}')
    alpha = beta = 1.0 / t_stab
    return -2.0 * alpha * velocity - beta**2 * delta
