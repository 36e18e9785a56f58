# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Base parameters: those combinations of inertial parameters that the joint forces depend on.

Sources: book 9.7 for why there are fewer than ten a body; Gautier, "Numerical calculation of the
base inertial parameters of robots" (J. Robotic Systems 1991) for finding them by a QR
factorization.
"""

from __future__ import annotations

from typing import NamedTuple, Tuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class BaseParameters(NamedTuple):
    """Base parameters beta = B pi of the inertial parameters pi: Y pi = Y[:, columns] beta.

    :param columns: numbers of the parameters that name the base parameters, ascending
    :param grouping: B, (len(columns), 10 bodies): 1 for its own parameter, and the coefficients of
        others

    >>> base, pi = robot.regressors.base_parameters(), robot.regressors.parameters
    >>> rng = np.random.default_rng(1)
    >>> states = robot.random_configurations(50, rng), *rng.normal(size=(2, 50, 6))
    >>> Y, torques = robot.regressors.torque(*states), robot.inverse_dynamics(*states)
    >>> np.allclose(base.reduce(Y[0]) @ base.of(pi), torques[0])
    True
    >>> np.allclose(base.fit(Y, torques), base.of(pi))
    True
    """

    columns: Tuple[int, ...]
    grouping: Array

    def reduce(self, Y: Array) -> Array:
        """Return the columns of a regressor for the base parameters, (..., len(columns)).

        :param Y: regressor of the forces or of the energy, (..., 10 bodies)
        """
        reduced: Array = Y[..., list(self.columns)]
        return reduced

    def of(self, parameters: Array) -> Array:
        """Return the base parameters beta, (len(columns),).

        :param parameters: inertial parameters pi, (10 bodies,)
        """
        beta: Array = self.grouping @ np.asarray(parameters, dtype=float)
        return beta

    def fit(self, Y: Array, tau: Array) -> Array:
        """Return the base parameters beta that explain measured forces best, by least squares.

        :param Y: regressors of the states, (samples, nv, 10 bodies)
        :param tau: forces measured in them, rotors' and friction's taken off, (samples, nv)
        :raises ValueError: if the states do not excite all base parameters
        """
        b = np.reshape(tau, -1)
        A = self.reduce(Y).reshape(len(b), len(self.columns))
        scale = np.abs(A).max(axis=0, initial=0.0)
        scale[scale == 0.0] = 1.0
        beta, _, rank, _ = np.linalg.lstsq(A / scale, b, rcond=_NEGLIGIBLE)
        if rank < len(self.columns):
            raise ValueError(
                f'these states excite {rank} of {len(self.columns)} base parameters; give more '
                'states, with higher velocities or other positions'
            )
        found: Array = beta / scale
        return found


_NEGLIGIBLE = 1e-9  # of the largest singular value: rounding leaves 1e-13 of regressors of arms


def base_parameters(Y: Array) -> BaseParameters:
    """Return the base parameters of a robot, from its regressors in many states.

    :param Y: regressors in random states, at least twice as many rows as columns,
        (rows, 10 bodies)
    :raises ValueError: if there are fewer rows than columns

    >>> from rbd_ros.algorithms.regressors.base_parameters import base_parameters
    >>> rng = np.random.default_rng(1)
    >>> states = robot.random_configurations(50, rng), *rng.normal(size=(2, 50, 6))
    >>> len(base_parameters(robot.regressors.torque(*states).reshape(-1, 60)).columns)
    36
    """
    Y = np.asarray(Y, dtype=float)
    rows, count = Y.shape
    if rows < count:
        raise ValueError(f'{rows} rows cannot determine {count} parameters; give more states')
    # Parameters of large robots have larger effects: only directions count.
    size = np.linalg.norm(Y, axis=0)
    idle = size <= _NEGLIGIBLE * size.max(initial=0.0)
    size[idle] = 1.0
    R = np.asarray(np.linalg.qr(Y / size, mode='r'), dtype=float)
    diagonal = np.abs(np.diag(R))
    independent = (diagonal > _NEGLIGIBLE) & ~idle
    columns = tuple(int(k) for k in np.flatnonzero(independent))
    # Each other column is a combination of those before it that are independent.
    factor, *_ = np.linalg.lstsq(R[:, independent], R, rcond=None)
    factor[np.abs(factor) < _NEGLIGIBLE] = 0.0
    grouping: Array = factor * (size / size[list(columns)][:, None])
    return BaseParameters(columns, grouping)
