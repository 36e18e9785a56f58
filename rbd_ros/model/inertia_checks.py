# SPDX-License-Identifier: Apache-2.0
"""Checks that a link's inertia is physical: its mass and its principal moments of inertia."""

from __future__ import annotations

from typing import List, Sequence

import numpy as np

# URDFs are written with few digits: an inequality counts as violated only beyond this share of the
# largest moment, or beyond the moment of the mass at this distance (a micrometre).
RELATIVE_TOLERANCE = 1e-6
TOLERANCE_LENGTH = 1e-6


def violated_conditions(
    mass: float, center: Sequence[float], inertia: Sequence[Sequence[float]]
) -> List[str]:
    """Return conditions of a physical inertia that are violated, in words; empty if there is none.

    :param mass: mass [kg]
    :param center: center of mass, (3,) [m]
    :param inertia: rotational inertia about the center of mass, (3, 3) symmetric [kg m^2]
    """
    found = []
    rotates = any(value != 0.0 for row in inertia for value in row)
    if mass < 0.0:
        found.append(f'the mass is negative ({mass:g} kg)')
    elif mass == 0.0:
        if rotates:
            found.append('the mass is zero but the rotational inertia is not')
        if any(value != 0.0 for value in center):
            found.append('a center of mass is given but the mass is zero')
    if not rotates:
        return found
    scale = max(abs(value) for row in inertia for value in row)
    eigenvalues = scale * np.linalg.eigvalsh(np.array(inertia) / scale)
    tolerance = max(
        RELATIVE_TOLERANCE * float(np.abs(eigenvalues).max()), abs(mass) * TOLERANCE_LENGTH**2
    )
    moments = [float(moment) for moment in eigenvalues]
    words = ', '.join(f'{moment if abs(moment) > tolerance else 0.0:.6g}' for moment in moments)
    if moments[0] < -tolerance:
        found.append(
            f'the rotational inertia is not positive definite (principal moments {words} kg m^2)'
        )
    elif moments[0] + moments[1] < moments[2] - tolerance:
        found.append(
            f'the principal moments {words} kg m^2 violate the triangle inequality '
            '(none may exceed the sum of the others)'
        )
    return found
