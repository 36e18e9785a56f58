# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Impulses of several contacts at once, from Newton's law of restitution (book 11.7).

With M = T^T H^-1 T the separation velocities change by M Lambda. Rigid-body models do not
determine how an impact propagates among closed contacts, so there are two laws.
"""

from __future__ import annotations

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.textbook.complementarity import solve_lcp

#: All contacts at once, as a complementarity problem; or one after the other, as in Newton's
#: cradle.
IMPACT_LAWS = ('simultaneous', 'sequential')

# Maximum rounds of an impact. With restitution they are infinite for a body caught between others.
_MAXIMUM = 100_000

# Separation velocities below this fraction of the fastest count as zero.
_REST = 1e-12


def impact(
    M: FloatArray,
    velocity: FloatArray,
    restitution: FloatArray,
    law: str = 'simultaneous',
    resting_speed: float = 0.0,
) -> FloatArray:
    """Return the impulses Lambda along the contact normals, (c,) [N s].

    No contact approaches afterwards, and the energy does not increase: the work of the impulses is
    the sum of -(1 - e) Lambda |zeta|/2 in each round.

    :param M: separation velocities per impulse, (c, c) [1/kg]
    :param velocity: separation velocities zeta before, (c,) [m/s]
    :param restitution: coefficients e of restitution, (c,)
    :param law: 'simultaneous': all contacts that approach or rest collide together with Lambda >=
        0 complementary to zeta' + e zeta >= 0 (J. Moreau, 1988); contacts that approach afterwards
        collide in another round; 'sequential': the contact that approaches fastest collides alone,
        repeatedly
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
        # A separating contact takes no part: an impulse that holds it back would add energy.
        k = np.flatnonzero(zeta <= rest if law == 'simultaneous' else zeta == zeta.min())[:count]
        e = np.where(zeta[k] < -resting_speed, restitution[k], 0.0)
        impulse = solve_lcp(M[np.ix_(k, k)], (1.0 + e) * zeta[k]).force
        total[k] += impulse
        zeta = zeta + M[:, k] @ impulse
    raise ArithmeticError(
        f'the impacts of simultaneous contacts did not end after {_MAXIMUM} rounds; use less '
        'restitution, or the other impact law'
    )
