# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Impulses of several contacts at once, from Newton's law of restitution (book 11.7).

With M = T^T H^-1 T the separation velocities change by M Lambda. Rigid bodies do not say how an
impact propagates among contacts that are closed together, so there are two laws to choose from.
"""

from __future__ import annotations

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.textbook.complementarity import solve_lcp

#: All contacts at once, as a complementarity problem; or one after the other, as a row of balls.
IMPACT_LAWS = ('simultaneous', 'sequential')

# Rounds of an impact. With restitution they go on for ever where a body is caught between others.
_MAXIMUM = 100_000

# Part of the fastest separation velocity that counts as resting.
_REST = 1e-12


def impact(
    M: FloatArray,
    velocity: FloatArray,
    restitution: FloatArray,
    law: str = 'simultaneous',
    resting_speed: float = 0.0,
) -> FloatArray:
    """Return the impulses Lambda along the contact normals, (c,) [N s].

    Afterwards no contact approaches, and no energy has been gained: the impulses do the work sum
    of -(1 - e) Lambda |zeta|/2 in each round.

    :param M: separation velocities per impulse, (c, c) [1/kg]
    :param velocity: separation velocities zeta before, (c,) [m/s]
    :param restitution: coefficients e of restitution, (c,)
    :param law: 'simultaneous': all contacts that approach or rest collide together, Lambda >= 0
        and zeta' + e zeta >= 0, of which one is zero for each (J. Moreau, 1988), and others in
        another round if they approach then; 'sequential': again and again the contact that
        approaches fastest collides alone, as if the others did not exist
    :param resting_speed: speed of approach below which there is no restitution [m/s]
    :raises ValueError: for an unknown law
    :raises ArithmeticError: if the rounds do not end
    """
    if law not in IMPACT_LAWS:
        raise ValueError(f'unknown impact law {law!r}; there are {", ".join(IMPACT_LAWS)}')
    total, zeta = np.zeros(len(velocity)), np.array(velocity, dtype=float)
    rest = _REST * float(np.abs(velocity).max(initial=0.0))
    count = len(zeta) if law == 'simultaneous' else 1
    for _ in range(_MAXIMUM):
        if zeta.min(initial=0.0) >= -rest:
            return total
        # One that separates takes no part: to hold it back would give it energy.
        k = np.flatnonzero(zeta <= rest if law == 'simultaneous' else zeta == zeta.min())[:count]
        e = np.where(zeta[k] < -resting_speed, restitution[k], 0.0)
        impulse = solve_lcp(M[np.ix_(k, k)], (1.0 + e) * zeta[k]).force
        total[k] += impulse
        zeta = zeta + M[:, k] @ impulse
    raise ArithmeticError(
        f'the impacts of simultaneous contacts did not end after {_MAXIMUM} rounds; use less '
        'restitution, or the other impact law'
    )
