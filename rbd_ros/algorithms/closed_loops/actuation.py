# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics of closed loops: the torques of the actuated joints (book 8.12)."""

from __future__ import annotations

from typing import NamedTuple, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbd_ros.algorithms.closed_loops.constraint_rank import rank_of, RANK_TOLERANCE

Floats = NDArray[np.float64]


class ActuatorForces(NamedTuple):
    """Forces u of the actuated degrees of freedom, and the kind of actuation.

    :param u: forces in the order of the actuated DoFs, (p,) [N m, N]; of all with the same effect,
        those with the smallest sum of squares
    :param tau: the same among the forces of all joints of the tree, (n,), zero where unactuated
    :param missing: forces that the actuators cannot exert, G^T tau_ID - G_u^T u, (n - r,)
    :param rank: rank of G_u
    :param mobility: n - r
    """

    u: Floats
    tau: Floats
    missing: Floats
    rank: int
    mobility: int

    @property
    def is_underactuated(self) -> bool:
        """True if there are motions that the actuators do not control (case 1 of 8.12)."""
        return self.rank < self.mobility

    @property
    def is_redundantly_actuated(self) -> bool:
        """True if other forces have the same effect (case 2, which does not exclude case 1)."""
        return len(self.u) > self.rank

    @property
    def is_properly_actuated(self) -> bool:
        """True if forces and accelerations correspond one to one (case 3)."""
        return not self.is_underactuated and not self.is_redundantly_actuated


def actuator_forces(
    G: ArrayLike, tau_ID: ArrayLike, actuated: Sequence[int], tolerance: float = RANK_TOLERANCE
) -> ActuatorForces:
    """Return the forces u of G_u^T u = G^T tau_ID (book eq 8.63).

    They are generalized forces of y only if the actuated degrees of freedom are y themselves.

    :param G: velocities of the tree by those of the independent variables, (n, n - r)
    :param tau_ID: inverse dynamics of the spanning tree, (n,) [N m, N]
    :param actuated: degrees of freedom of the tree that have actuators, p of them
    :param tolerance: see `rbd_ros.algorithms.closed_loops.elimination.eliminate`
    :raises ValueError: for wrong shapes, or DoFs that do not exist or are named twice

    >>> from rbd_ros.algorithms.closed_loops.actuation import actuator_forces
    >>> from rbd_ros.algorithms.closed_loops.elimination import eliminate
    >>> G = eliminate(terms.K).G  # (3, 1): one degree of freedom is left
    >>> hold = actuator_forces(G, terms.C, actuated=[0])  # by a motor at the first joint
    >>> hold.u, np.allclose(hold.missing, 0.0)  # [N m]
    (array([0.826]), True)
    """
    A, forces = np.asarray(G, dtype=float), np.asarray(tau_ID, dtype=float)
    if A.ndim != 2 or forces.shape != A.shape[:1]:
        raise ValueError(f'G must be (n, n - r) and tau_ID (n,), got {A.shape}, {forces.shape}')
    chosen = list(actuated)
    if len(set(chosen)) != len(chosen) or not set(chosen) <= set(range(len(A))):
        raise ValueError(f'actuated must be different numbers below {len(A)}, got {chosen}')
    G_u = A[chosen]
    required = A.T @ forces
    u = np.linalg.lstsq(G_u.T, required, rcond=tolerance)[0]
    tau = np.zeros(len(A))
    tau[chosen] = u
    return ActuatorForces(u, tau, required - G_u.T @ u, rank_of(G_u, tolerance), A.shape[1])
