# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The contact problem, its solution, and the proof that there is none (book 11.5).

    zeta_dot = M lambda + d,  zeta_dot >= 0,  lambda >= 0,  zeta_dot . lambda = 0        (11.42)

M is symmetric and positive-semidefinite. Then a solution exists if and only if there is no mu >= 0
with M mu = 0 and d . mu < 0: forces mu balance each other at any magnitude, and the weighted
separation acceleration mu . zeta_dot = mu . d is negative for any forces. That mu is the
certificate of infeasibility (book example 11.1: mu = (1, 1)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

#: Tolerance of zero in a problem with a unit diagonal and accelerations of at most one.
TOLERANCE = 1e-9
#: Forces of sum one with smaller accelerations balance each other up to rounding; so a light body
#: may carry one 10^10 times as heavy, and no heavier.
BALANCE = 1e-11
#: Normals in joint space shorter than this fraction of the longest are rounding errors.
IMMOVABLE = 1e-12
#: Error of an acceleration per force that it was computed from, in the same scale.
ROUNDING = 1e-13


class LcpSolution(NamedTuple):
    """Solution of a contact problem.

    :param force: contact forces lambda, (r,) [N]; a basic solution: normals of positive forces are
        linearly independent
    :param acceleration: separation accelerations zeta_dot, (r,) [m/s^2]: exactly zero where the
        force is positive
    :param active: which forces are positive, (r,) of bool
    :param persists: which contacts do not break, zeta_dot = 0, (r,) of bool
    :param iterations: number of steps
    """

    force: Any
    acceleration: Any
    active: Any
    persists: Any
    iterations: int


class InfeasibleContactError(ArithmeticError):
    """No contact forces prevent penetration (book example 11.1).

    :param certificate: forces mu >= 0 that balance each other, (r,), of sum 1
    :param rate: mu . d < 0, the weighted separation acceleration of any forces [m/s^2]
    """

    def __init__(self, certificate: Array, rate: float):
        contacts = ', '.join(map(str, np.flatnonzero(certificate)))
        super().__init__(
            f'no contact forces keep contacts {contacts} from penetrating: forces in the '
            'proportions of the certificate balance each other, and leave a weighted separation '
            f'acceleration of {rate:.3g} m/s^2; allow a slight penetration, so that the normals '
            'change'
        )
        self.certificate, self.rate = certificate, rate

    def __reduce__(self) -> Any:
        return type(self), (self.certificate, self.rate)


@dataclass(frozen=True)
class LcpProblem:
    """A contact problem, scaled.

    With lambda = unit D x for the diagonal D, the matrix is D M D, with ones on its diagonal
    except for forces that accelerate nothing, and the vector D d / unit, of elements of at most
    one.

    :param M: D M D, (r, r)
    :param d: D d / unit, (r,)
    :param D: diagonal, (r,) [kg^(1/2)]
    :param unit: largest element of D d [kg^(1/2) m/s^2]
    """

    M: Array
    d: Array
    D: Array
    unit: float

    @classmethod
    def of(cls, M: ArrayLike, d: ArrayLike) -> LcpProblem:
        """Check a problem, and scale it.

        :param M: separation accelerations per force, (r, r) [1/kg]
        :param d: separation accelerations without forces, (r,) [m/s^2]
        :raises ValueError: for wrong shapes, numbers that are not finite, or a matrix that is not
            symmetric and positive-semidefinite
        """
        matrix, free = np.asarray(M, dtype=float), np.asarray(d, dtype=float)
        if free.ndim != 1 or matrix.shape != (len(free), len(free)):
            raise ValueError(
                f'M must have shape (r, r) and d (r,), got {matrix.shape} and {free.shape}'
            )
        if not (np.isfinite(matrix).all() and np.isfinite(free).all()):
            raise ValueError('M and d must be finite')
        diagonal = np.diag(matrix)
        largest = float(diagonal.max(initial=0.0)) or 1.0
        # A force that does not accelerate its own contact accelerates none: its row is zero up to
        # rounding errors.
        moved = np.abs(diagonal) > IMMOVABLE**2 * largest
        D = 1.0 / np.sqrt(np.where(moved, np.abs(diagonal), largest))
        scaled = matrix * D * D[:, None]
        if not np.allclose(scaled, scaled.T, rtol=0.0, atol=TOLERANCE):
            raise ValueError('M must be symmetric')
        scaled = 0.5 * (scaled + scaled.T)
        if len(scaled) and np.linalg.eigvalsh(scaled)[0] < -TOLERANCE * len(scaled):
            raise ValueError('M must be positive-semidefinite, as every T^T H^-1 T is')
        unit = float(np.abs(D * free).max(initial=0.0)) or 1.0
        return cls(scaled, D * free / unit, D, unit)

    def solution_of(self, active: NDArray[Any], iterations: int) -> Optional[LcpSolution]:
        """Return the solution in which some forces may be positive and all others are zero.

        Forces and accelerations follow from this choice, for any solver.

        :param active: indices of those forces; the matrix among them is regular
        :param iterations: number of steps
        :return: the solution; None if it is invalid
        """
        force, rate = np.zeros(len(self.d)), self.d
        if len(active):
            try:
                force[active] = np.linalg.solve(self.M[np.ix_(active, active)], -self.d[active])
            except np.linalg.LinAlgError:
                return None
            rate = self.M @ force + self.d
        largest = float(np.abs(force).max(initial=0.0))
        # Larger forces result from division by rounding errors.
        if not largest < 1.0 / BALANCE or force.min(initial=0.0) < -TOLERANCE * (1.0 + largest):
            return None
        tolerance = TOLERANCE + ROUNDING * largest
        if rate.min(initial=0.0) < -tolerance:
            return None
        force = np.maximum(force, 0.0)
        rate = np.where(force > 0.0, 0.0, np.where(np.abs(rate) <= tolerance, 0.0, rate))
        return LcpSolution(
            force * self.D * self.unit,
            rate / self.D * self.unit,
            force > 0.0,
            rate == 0.0,
            iterations,
        )

    def infeasibility(self, direction: Array) -> Optional[InfeasibleContactError]:
        """Return the error for scaled forces that prove infeasibility.

        :param direction: forces of the scaled problem, (r,), not all zero
        :return: the error with its certificate; None if it proves nothing
        """
        mu = np.maximum(direction, 0.0)
        mu = mu / mu.sum()
        mu = np.where(mu > BALANCE, mu, 0.0)
        if np.abs(self.M @ mu).max() > BALANCE or self.d @ mu > -TOLERANCE:
            return None
        certificate = self.D * mu
        total = certificate.sum()
        return InfeasibleContactError(
            certificate / total, float(self.d @ mu) * self.unit / float(total)
        )

    def relaxed(self) -> LcpProblem:
        """Return the problem with slightly larger separation accelerations.

        One that is infeasible by rounding only becomes feasible.
        """
        return LcpProblem(self.M, self.d + 2.0 * TOLERANCE, self.D, self.unit)
