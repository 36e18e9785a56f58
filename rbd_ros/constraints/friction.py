# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact with Coulomb friction: the unrelaxed Signorini-Coulomb problem, its residuals.

    v = G lambda + g,    K_mu contains lambda,    v + Phi(v) in the dual cone,
    lambda . (v + Phi(v)) = 0,    Phi(v) = (|(mu_1 v_1, mu_2 v_2)|, 0, 0)              (De Saxce)

For each contact, normal first; K_mu is the set of lambda_n >= |(lambda_1 / mu_1, lambda_2 /
mu_2)|. Contacts do not penetrate, do not pull, and push only where they stay closed. A sliding
contact has the maximum friction of its cone, in the direction of maximum dissipation. Moments of
torsional and rolling friction are bounded likewise, each by a separate cone. Forces may be
impulses [N s] with velocities [m/s], or forces [N] with accelerations [m/s^2].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Optional, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Asymmetry or negative eigenvalues of G that count as rounding, relative to its largest element.
ROUNDING = 1e-9


class NotSolvedError(ArithmeticError):
    """A solver reached its maximum number of steps, or failed by rounding errors."""


@dataclass(frozen=True)
class FrictionProblem:
    """Contacts with friction, and further rows between bounds; see `friction_problem`.

    :param G: velocities per force, (N, N), symmetric and positive-semidefinite; N = 3n + m without
        moments
    :param g: velocities without forces, (N,)
    :param friction: coefficients along both tangents, (n, 2)
    :param low: minimum force of each further row, (m,)
    :param high: maximum force of each further row, (m,)
    :param compliance: velocity per force of a compliant contact or row, (N,)
    :param torsion: maximum moment about the normal per normal force, (n,), or (0,) without such
        moments
    :param rolling: maximum moment across the normal per normal force, likewise
    """

    G: Array
    g: Array
    friction: Array
    low: Array
    high: Array
    compliance: Array
    torsion: Array = field(default_factory=lambda: np.zeros(0))
    rolling: Array = field(default_factory=lambda: np.zeros(0))

    @property
    def contacts(self) -> int:
        """Return the number of contacts n."""
        return len(self.friction)

    @property
    def rows(self) -> int:
        """Return the number of further rows m.

        >>> from rbd_ros.constraints import friction_problem
        >>> friction_problem(np.eye(4), np.zeros(4), [0.3]).rows
        1
        """
        return len(self.low)

    def velocity(self, force: ArrayLike) -> Array:
        """Return the velocities v = G lambda + g, (N,).

        :param force: forces lambda, (N,)

        >>> from rbd_ros.constraints import friction_problem
        >>> friction_problem(np.eye(3), [-1.0, 0.5, 0.0], [0.3]).velocity([1.0, -0.3, 0.0])
        array([0. , 0.2, 0. ])
        """
        v: Array = self.G @ np.asarray(force, dtype=float) + self.g
        return v


class Residuals(NamedTuple):
    """Residuals of forces as a solution of a problem; all zero for a solution.

    They are maxima over contacts, as in ContactBench. Moments of torsional and rolling friction
    belong to their contacts, with their angular velocities. With compliance R, v is v + R lambda.

    :param signorini: |v_n lambda_n|
    :param conic: |v . lambda|; not zero where a contact slides
    :param contact: |lambda . (v + Phi(v))|, of the nonlinear complementarity problem
    :param cone: distance of lambda from its friction cone along the normal:
        max(0, |(lambda_1 / mu_1, lambda_2 / mu_2)| - lambda_n)
    :param dual: likewise of v + Phi(v) from the dual cone: max(0, -v_n)
    :param rows: of further rows, distance of the force from its bounds, or of the velocity from
        its range at that force
    """

    signorini: float
    conic: float
    contact: float
    cone: float
    dual: float
    rows: float


def friction_problem(
    G: ArrayLike,
    g: ArrayLike,
    friction: ArrayLike,
    low: Optional[ArrayLike] = None,
    high: Optional[ArrayLike] = None,
    compliance: ArrayLike = 0.0,
    torsion: Optional[ArrayLike] = None,
    rolling: Optional[ArrayLike] = None,
    rounding: float = ROUNDING,
) -> FrictionProblem:
    """Check a problem of n contacts and m further rows.

    Restitution is part of g, which the caller computes.

    :param G: velocities per force, (N, N) [1/kg]; normal, tangent, tangent of each contact, then
        the further rows; then, for torsional friction, the angular velocity about each normal and
        the moment about it, and for rolling friction those about both tangents of each contact
    :param g: velocities without forces, (N,) [m/s, rad/s]
    :param friction: coefficients, (n,) or along both tangents (n, 2)
    :param low: minimum force of each further row, (m,): 0 for a joint limit or a frictionless
        contact, -inf for a loop, minus the friction force for dry friction of a joint; default 0
    :param high: maximum force of each further row, (m,); default inf
    :param compliance: velocity per force of compliant contacts and rows, one number or (N,)
        [1/kg]
    :param torsion: maximum moment about the normal per normal force of each contact, (n,) [m];
        without it, G has no such rows
    :param rolling: maximum moment across the normal per normal force, likewise
    :param rounding: accepted error of the entries of G relative to its diagonal, for symmetry
        and, times N, for definiteness; the problem gets the nearest matrix that is symmetric and
        positive-semidefinite. 1e-6 suits a G that was printed with 7 digits
    :raises ValueError: for wrong shapes, NaN, a matrix that is not symmetric and
        positive-semidefinite, negative friction or compliance, bounds in the wrong order

    >>> from rbd_ros.constraints import friction_problem
    >>> problem = friction_problem(np.eye(3), [-1.0, 0.5, 0.0], [0.3])
    >>> problem.contacts
    1
    """
    matrix, free = np.array(G, dtype=float), np.array(g, dtype=float)
    mu = np.array(friction, dtype=float)
    if mu.ndim == 1:
        mu = np.stack([mu, mu], axis=1)
    if mu.ndim != 2 or mu.shape[1] != 2:
        raise ValueError(f'friction must have shape (n,) or (n, 2), got {np.shape(friction)}')
    coefficients = [
        _coefficients('torsion', torsion, len(mu)),
        _coefficients('rolling', rolling, len(mu)),
    ]
    moments = len(coefficients[0]) + 2 * len(coefficients[1])
    rows = len(free) - 3 * len(mu) - moments if free.ndim == 1 else -1
    # All other rows are further rows, so only their number can be wrong.
    if rows < 0 or matrix.shape != (len(free), len(free)):
        extent = '3n + m' + (f' + {moments}' if moments else '')
        raise ValueError(
            f'G must have shape ({extent}, {extent}) and g ({extent},) for n = {len(mu)} '
            f'contacts, got {matrix.shape} and {free.shape}'
        )
    bounds = []
    for name, given, default in (('low', low, 0.0), ('high', high, np.inf)):
        bound = np.full(rows, default) if given is None else np.array(given, dtype=float)
        if bound.shape != (rows,):
            raise ValueError(f'{name} must have shape ({rows},), got {bound.shape}')
        bounds.append(bound)
    try:
        soft = np.broadcast_to(np.asarray(compliance, dtype=float), free.shape).copy()
    except ValueError:
        raise ValueError(
            f'compliance must be one number or have shape {free.shape}, got {np.shape(compliance)}'
        ) from None
    for name, each in (('G', matrix), ('g', free), ('friction', mu), ('compliance', soft)):
        if not np.isfinite(each).all():
            raise ValueError(f'{name} must be finite')
    if (
        not (bounds[0] <= bounds[1]).all()
        or (bounds[0] == np.inf).any()
        or (bounds[1] == -np.inf).any()
    ):
        raise ValueError(
            'low must not be above high, and the bounds of each row must allow a finite force'
        )
    if not 0.0 <= rounding < 1.0:
        raise ValueError(f'rounding must be between 0 and 1, got {rounding}')
    if (mu < 0.0).any():
        raise ValueError(
            f'friction of contact {int(np.argmax((mu < 0.0).any(axis=1)))} is negative'
        )
    if (soft < 0.0).any():
        raise ValueError(f'compliance of row {int(np.argmax(soft < 0.0))} is negative')
    # Units may differ by row (m and rad). Symmetry and definiteness are checked at a unit
    # diagonal, or rounding of large rows would hide errors of small ones.
    scale = _scale(matrix)
    scaled = matrix * scale * scale[:, None]
    if not np.allclose(scaled, scaled.T, rtol=0.0, atol=rounding):
        raise ValueError('G must be symmetric; `rounding` allows errors of its entries')
    least = np.linalg.eigvalsh(scaled)[0] if len(scaled) else 0.0
    if least < -rounding * len(scaled):
        raise ValueError(
            'G must be positive-semidefinite, as every J H^-1 J^T is; its least eigenvalue is '
            f'{least:.2g} at a unit diagonal, which `rounding={-2.0 * least / len(scaled):.1g}` '
            'allows'
        )
    if least < -ROUNDING * len(scaled):
        values, vectors = np.linalg.eigh(0.5 * (scaled + scaled.T))
        matrix = (vectors * np.maximum(values, 0.0)) @ vectors.T / scale / scale[:, None]
    torsional, across = coefficients
    # Some solvers read one triangle of G, others both: they must be bitwise identical.
    return FrictionProblem(
        0.5 * (matrix + matrix.T), free, mu, bounds[0], bounds[1], soft, torsional, across
    )


def _coefficients(name: str, given: Optional[ArrayLike], contacts: int) -> Array:
    """Return coefficients of torsional or rolling friction, checked; (0,) if there are none."""
    if given is None:
        return np.zeros(0)
    found = np.array(given, dtype=float)
    if found.shape != (contacts,):
        raise ValueError(f'{name} must have shape ({contacts},), got {found.shape}')
    if not (found >= 0.0).all() or not np.isfinite(found).all():
        raise ValueError(f'{name} must be finite and not negative')
    return found


def moments_of(problem: FrictionProblem) -> Tuple[IntArray, IntArray, Array]:
    """Return contact, number of rows and coefficient of each moment, in order."""
    n = problem.contacts
    sizes = [1] * len(problem.torsion) + [2] * len(problem.rolling)
    holders = [*range(len(problem.torsion)), *range(len(problem.rolling))] if n else []
    return (
        np.array(holders, dtype=np.int64),
        np.array(sizes, dtype=np.int64),
        np.concatenate([problem.torsion, problem.rolling]),
    )


def _scale(matrix: Array) -> Array:
    """Return the factors that scale the diagonal to ones, except zeros."""
    diagonal = np.abs(np.diag(matrix))
    largest = float(diagonal.max(initial=0.0)) or 1.0
    # 1e-24 = 1e-12 squared: a diagonal element is a product of two elements of the Jacobian.
    return 1.0 / np.sqrt(np.where(diagonal > 1e-24 * largest, diagonal, largest))


def residuals(problem: FrictionProblem, force: ArrayLike) -> Residuals:
    """Return the residuals of forces as a solution of a problem.

    :param force: forces lambda, (N,)
    :raises ValueError: for forces of another shape

    >>> from rbd_ros.constraints import friction_problem, residuals
    >>> problem = friction_problem(np.eye(3), [-1.0, 0.5, 0.0], [0.3])
    >>> residuals(problem, [1.0, -0.3, 0.0]).contact < 1e-15
    True
    """
    found = np.asarray(force, dtype=float)
    if found.shape != problem.g.shape:
        raise ValueError(f'force must have shape {problem.g.shape}, got {found.shape}')
    v = problem.velocity(found) + problem.compliance * found
    n, mu, end = problem.contacts, problem.friction, 3 * problem.contacts + problem.rows
    forces, velocities = found[: 3 * n].reshape(n, 3), v[: 3 * n].reshape(n, 3)
    power, turning, excess = np.zeros(n), np.zeros(n), np.zeros(n)
    at = end
    for c, size, coefficient in zip(*moments_of(problem)):
        moment, w = found[at : at + size], v[at : at + size]
        at += size
        # The moments share the contact's normal force: their power and their part of De Saxce's
        # term belong to the complementarity condition of the contact.
        power[c] += moment @ w
        turning[c] += coefficient * np.linalg.norm(w)
        largest = np.linalg.norm(moment) / (coefficient if coefficient > 0.0 else 1.0)
        excess[c] = max(excess[c], largest - (forces[c, 0] if coefficient > 0.0 else 0.0))
    return Residuals(
        *contact_residuals(forces, velocities, mu, power, turning, excess),
        _largest(_row_residuals(problem, found[3 * n : end], v[3 * n : end])),
    )


def contact_residuals(
    forces: Array,
    velocities: Array,
    mu: Array,
    power: Any = 0.0,
    turning: Any = 0.0,
    excess: Any = 0.0,
) -> Tuple[float, float, float, float, float]:
    """Return the residuals of contacts, in the order of `Residuals`.

    :param forces: forces of each contact, (n, 3)
    :param velocities: its velocities, compliance included, (n, 3)
    :param mu: its coefficients, (n, 2)
    :param power: power of its moments, (n,)
    :param turning: contribution of its moments to De Saxce's term, (n,)
    :param excess: distance of its moments from their cones, (n,)
    """
    # Phi(v) of De Saxce and Feng (1998): with it, Coulomb's law, which no minimum has as its
    # optimality condition, becomes complementarity of a cone and its dual.
    shift = np.linalg.norm(mu * velocities[:, 1:], axis=1) + turning
    conic = (forces * velocities).sum(axis=1) + power
    normal = forces[:, 0]
    # Without friction, a tangential force cannot be expressed along the normal: its size counts.
    parts = np.divide(forces[:, 1:], mu, out=forces[:, 1:].copy(), where=mu > 0.0)
    cone = np.maximum(np.linalg.norm(parts, axis=1) - normal, excess)
    return (
        _largest(velocities[:, 0] * normal),
        _largest(conic),
        _largest(conic + normal * shift),
        _largest(np.maximum(cone, 0.0)),
        _largest(np.maximum(-velocities[:, 0], 0.0)),
    )


def _largest(x: Array) -> float:
    return float(np.abs(x).max(initial=0.0))


def _row_residuals(problem: FrictionProblem, force: Array, velocity: Array) -> Any:
    outside = np.maximum(problem.low - force, 0.0) + np.maximum(force - problem.high, 0.0)
    # At a lower bound a row may open, at an upper one the other way; between, it may not move.
    # The distance from the bound counts too: forces reach a bound only up to rounding.
    up = np.minimum(np.maximum(velocity, 0.0), np.maximum(force - problem.low, 0.0))
    down = np.minimum(np.maximum(-velocity, 0.0), np.maximum(problem.high - force, 0.0))
    return np.maximum(outside, np.maximum(up, down))
