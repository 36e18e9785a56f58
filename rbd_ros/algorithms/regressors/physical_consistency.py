# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Physically consistent inertial parameters: test, and fit to measured forces.

Sources: Wensing, Kim and Slotine, "Linear matrix inequalities for physically consistent inertial
parameter identification" (IEEE RA-L 2018); Lee, Wensing and Park, "Geometric robot dynamic
identification: a convex programming approach" (IEEE T-RO 2020).

Least squares alone find parameters that no bodies have: the forces of an arm show some 36 of the
60 numbers of its six bodies, and noise does the rest. Here the distance to what the description
says is kept small as well, measured by the divergence of the pseudo-inertias J,

    d(J, J0) = trace(J0^-1 J) - log det(J0^-1 J) - 4,

which is zero where they are equal, infinite at the boundary of physical inertias, and the same in
all coordinates and units. With the squared errors it is a convex function of the parameters, of
which Newton's method finds the minimum.
"""

from __future__ import annotations

from typing import List, NamedTuple, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbd_ros.spatial import RigidBodyInertia
from rbd_ros.spatial.pseudo_inertia import pseudo_inertia

Floats = NDArray[np.float64]

#: Share of its largest eigenvalue, by units that make its diagonal 1, below which J is singular.
ROUNDING = 1e-12
_STEPS = 100  # of Newton's method, of which five are usual
_FOLLOWED = 0.1  # of a weight, the next one
_CLOSE = 1e-10  # decrement at which the minimum is found, of a function of the order of 1
_ARMIJO, _SHORTER = 1e-2, 0.5


class ConsistentFit(NamedTuple):
    """Parameters that explain forces, and that bodies can have.

    :param parameters: inertial parameters pi, (10 bodies,)
    :param distance: d(J, J0) of each body to its expected inertia, (bodies,)
    :param error: root of the mean square of the forces that are not explained [N m, N]
    :param steps: of Newton's method

    >>> Y, tau = np.zeros((0, 6, 60)), np.zeros((0, 6))  # nothing has been measured
    >>> fit = robot.regressors.fit_consistent_parameters(Y, tau)
    >>> np.allclose(fit.parameters, robot.regressors.parameters), fit.error, fit.steps
    (True, 0.0, 0)
    """

    parameters: Floats
    distance: Floats
    error: float
    steps: int


def pseudo_inertias(parameters: ArrayLike) -> Floats:
    """Return the pseudo-inertia of each body, (bodies, 4, 4) [kg m^2, kg m, kg].

    :param parameters: inertial parameters pi, (10 bodies,)
    :raises ValueError: if they are not ten a body
    """
    pi = np.asarray(parameters, dtype=float)
    if pi.ndim != 1 or pi.size % 10:
        raise ValueError(f'parameters must have shape (10 bodies,), got {pi.shape}')
    # J is linear in the ten parameters.
    found: Floats = np.einsum('bk,kij->bij', pi.reshape(-1, 10), _BASIS)
    return found


def inconsistent_bodies(parameters: ArrayLike, tolerance: float = ROUNDING) -> Tuple[int, ...]:
    """Return the numbers, from 0, of the bodies with physically impossible parameters.

    Points, rods and plates without thickness count as bodies, and so does nothing at all.

    :param parameters: inertial parameters pi, (10 bodies,)
    :param tolerance: negative eigenvalues of J that are rounding, with units that make the
        diagonal of J 1
    :raises ValueError: if they are not ten a body
    """
    return tuple(
        k for k, J in enumerate(pseudo_inertias(parameters)) if not _is_of_a_body(J, tolerance)
    )


def consistent_fit(
    Y: ArrayLike, tau: ArrayLike, expected: ArrayLike, weight: float = 1e-3
) -> ConsistentFit:
    """Return parameters of bodies that fit measured forces, and are near the expected ones.

    The minimum of |Y pi - tau|^2 / 2 + weight sum d(J, J0) over all bodies.

    :param Y: regressors of the states, (samples, nv, 10 bodies)
    :param tau: forces measured in them, rotors' and friction's taken off, (samples, nv)
    :param expected: parameters that the bodies are expected to have, (10 bodies,)
    :param weight: of the distance to them, positive: the variance of the noise of the forces times
        how sure one is of them [N^2 m^2, N^2]
    :raises ValueError: if shapes do not fit, something is no number, the weight is not positive,
        or the expected parameters are not those of bodies with extent in all directions
    """
    A, b, pi, J0 = _checked(Y, tau, expected, weight)
    # Of the forces, only as many combinations count as there are parameters.
    Q, R = np.linalg.qr(A)
    forces = Q.T @ b
    inverse0: Floats = np.asarray(np.linalg.inv(J0), dtype=float)
    # The minimum is followed from a weight at which nearly nothing is explained to the requested
    # one: the direct way leads along the boundary of physical inertias.
    followed, steps = max(weight, float(np.sum((R @ pi - forces) ** 2))), 0
    while True:
        pi, taken = _minimum(R, forces, pi, inverse0, followed)
        steps += taken
        if followed == weight:
            break
        followed = max(weight, _FOLLOWED * followed)
    error = float(np.sqrt(np.mean((A @ pi - b) ** 2))) if b.size else 0.0
    return ConsistentFit(pi, _divergences(pseudo_inertias(pi), inverse0), error, steps)


def _minimum(
    R: Floats, forces: Floats, pi: Floats, inverse0: Floats, weight: float
) -> Tuple[Floats, int]:
    """Return the minimum of |R pi - forces|^2 / (2 weight) + sum d(J, J0), and its steps."""
    A, b = R / np.sqrt(weight), forces / np.sqrt(weight)

    def value(pi: Floats) -> float:
        return float(0.5 * np.sum((A @ pi - b) ** 2) + _distance(pi, inverse0))

    for steps in range(_STEPS):
        # Gradient M^T r and Hessian M^T M of the whole: rows of the forces, then 16 a body.
        rows, residuals = _rows(pseudo_inertias(pi), inverse0)
        M, r = np.vstack([A, rows]), np.concatenate([A @ pi - b, residuals])
        scale = 1.0 / np.linalg.norm(M, axis=0)
        step = -scale * np.linalg.lstsq(M * scale, r, rcond=None)[0]
        decrement = float(np.sum((M @ step) ** 2))
        if decrement < _CLOSE:
            return pi + step if value(pi + step) <= value(pi) else pi, steps
        # A step of 1 / (1 + root of the decrement) stays among the bodies in any case.
        size, least, before = 1.0, 1e-2 / (1.0 + np.sqrt(decrement)), value(pi)
        while not value(pi + size * step) <= before - _ARMIJO * size * decrement:
            size *= _SHORTER
            if size < least:
                return pi, steps  # nothing but rounding is left
        pi = pi + size * step
    return pi, _STEPS


def _distance(pi: Floats, inverse0: Floats) -> float:
    """Return the sum of all bodies' distances, infinite where no bodies have these parameters."""
    J = pseudo_inertias(pi)
    try:
        np.linalg.cholesky(J)
    except np.linalg.LinAlgError:
        return np.inf
    return float(_divergences(J, inverse0).sum())


def _divergences(J: Floats, inverse0: Floats) -> Floats:
    """Return the distances d(J, J0) of each body, (bodies,), given the inverse of J0."""
    product = inverse0 @ J
    found: Floats = np.einsum('bii->b', product) - np.linalg.slogdet(product)[1] - 4.0
    return found


def _rows(J: Floats, inverse0: Floats) -> Tuple[Floats, Floats]:
    """Return the factors of the derivatives of the distances: gradient M^T r, Hessian M^T M.

    :return: M, (16 bodies, 10 bodies), and r, (16 bodies,)
    """
    bodies = len(J)
    C = np.linalg.cholesky(J)
    inverse = np.linalg.inv(C)
    unit = np.einsum('bij,kjl,bml->bkim', inverse, _BASIS, inverse)
    M = np.zeros((bodies, 16, bodies, 10))
    M[range(bodies), :, range(bodies)] = unit.reshape(bodies, 10, 16).transpose(0, 2, 1)
    r = np.einsum('bji,bjk,bkl->bil', C, inverse0, C) - np.eye(4)
    return M.reshape(16 * bodies, 10 * bodies), r.ravel()


def _checked(
    Y: ArrayLike, tau: ArrayLike, expected: ArrayLike, weight: float
) -> Tuple[Floats, Floats, Floats, Floats]:
    pi = np.array(expected, dtype=float)
    J0 = pseudo_inertias(pi)
    b = np.asarray(tau, dtype=float)
    A = np.asarray(Y, dtype=float)
    if A.shape != (*b.shape, pi.size):
        raise ValueError(
            f'Y must have shape (*tau.shape, {pi.size}), got {A.shape} beside tau {b.shape}'
        )
    for name, array in (('Y', A), ('tau', b), ('expected', pi)):
        if not np.isfinite(array).all():
            raise ValueError(f'{name} holds infinities or NaN; give finite numbers')
    if not 0.0 < weight < np.inf:
        raise ValueError(f'weight must be positive, got {weight}')
    for k, J in enumerate(J0):
        if not _is_of_a_body(J, -ROUNDING):
            raise ValueError(
                f'expected: body {k} (from 0) has no extent in some direction, or physically '
                'inconsistent parameters; give it a positive extent in each direction'
            )
    return A.reshape(b.size, pi.size), b.ravel(), pi, J0


def _is_of_a_body(J: Floats, tolerance: float) -> bool:
    """Return whether no eigenvalue of the scaled J, with diagonal 1, is below -tolerance."""
    diagonal = np.diag(J)
    if not np.isfinite(J).all() or (diagonal < 0.0).any():
        return False
    absent = diagonal == 0.0
    if absent.any():
        return (
            tolerance >= 0.0
            and not J[absent].any()
            and _is_of_a_body(J[np.ix_(~absent, ~absent)], tolerance)
        )
    units = 1.0 / np.sqrt(diagonal)
    values = np.linalg.eigvalsh(J * np.outer(units, units))
    return bool(values.size == 0 or values[0] >= -tolerance)


def _basis() -> Floats:
    """Return the pseudo-inertia of a unit of each of the ten parameters, (10, 4, 4)."""
    rows: List[List[List[float]]] = []
    for k in range(10):
        unit = [float(k == n) for n in range(10)]
        J = pseudo_inertia(RigidBodyInertia.from_parameters(unit))
        rows.append([list(row) for row in J])
    return np.array(rows)


_BASIS = _basis()
