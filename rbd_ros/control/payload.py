"""Ten inertial parameters of a payload, from what a data sheet gives."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np


def payload_parameters(
    mass: float, com: Sequence[float] = (0.0, 0.0, 0.0), inertia: Any = None
) -> np.ndarray:
    """Inertial parameters of a payload as the kernels take them, (10,).

    :param mass: mass [kg]
    :param com: centre of mass in coordinates of the link that carries it, (3,) [m]
    :param inertia: inertia about the centre of mass along the axes of the link: (6,) ixx, ixy,
        ixz, iyy, iyz, izz, or (3, 3) [kg m^2]; None or empty: a point mass
    :return: m, m c (3), and Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the origin of the link
    :raises ValueError: for numbers that no body can have
    """
    m = float(mass)
    if not (np.isfinite(m) and m >= 0.0):
        raise ValueError(f'mass of the payload must be finite and not negative, got {mass}')
    c = np.asarray(com, dtype=float)
    if c.shape != (3,) or not np.isfinite(c).all():
        raise ValueError(f'centre of mass of the payload must be 3 finite numbers, got {com}')
    about_com = _inertia_matrix(inertia)
    if m == 0.0 and about_com.any():
        raise ValueError('a payload without mass cannot have inertia; give its mass')
    about_origin = about_com + m * (c @ c * np.eye(3) - np.outer(c, c))
    return np.concatenate([[m], m * c, about_origin[np.triu_indices(3)]])


def _inertia_matrix(inertia: Any) -> np.ndarray:
    if inertia is None or np.size(inertia) == 0:
        return np.zeros((3, 3))
    given = np.asarray(inertia, dtype=float)
    if given.shape == (6,):
        matrix = np.zeros((3, 3))
        matrix[np.triu_indices(3)] = given
        matrix = matrix + np.triu(matrix, 1).T
    elif given.shape == (3, 3):
        matrix = given
    else:
        raise ValueError(
            'inertia of the payload must be 6 numbers (ixx, ixy, ixz, iyy, iyz, izz) or 3 by 3, '
            f'got shape {given.shape}'
        )
    if not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T, rtol=1e-9, atol=0.0):
        raise ValueError('inertia of the payload must be finite and symmetric')
    principal = np.linalg.eigvalsh(matrix)
    tolerance = 1e-9 * max(abs(principal).max(), 1e-300)
    if principal[0] < -tolerance or principal[2] > principal[0] + principal[1] + tolerance:
        raise ValueError(
            'inertia of the payload is not physical: its principal moments '
            f'{", ".join(f"{p:.6g}" for p in principal)} must not be negative, and none greater '
            'than the sum of the others'
        )
    return matrix
