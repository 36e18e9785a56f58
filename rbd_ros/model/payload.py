# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The ten inertial parameters of a payload, from values of a data sheet."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from rbd_ros.array_types import FloatArray

#: Maximum mass [kg] and distance of the center of mass [m]; larger values are typing errors.
MAXIMUM_MASS, MAXIMUM_DISTANCE = 1e5, 100.0


def payload_parameters(
    mass: float, center_of_mass: Sequence[float] = (0.0, 0.0, 0.0), inertia: Any = None
) -> FloatArray:
    """Return the inertial parameters of a payload for the kernels, (10,).

    :param mass: mass [kg]
    :param center_of_mass: center of mass in coordinates of the carrying link, (3,) [m]
    :param inertia: inertia about the center of mass along the axes of the link: (6,) ixx, ixy,
        ixz, iyy, iyz, izz, or (3, 3) [kg m^2]; None or empty: a point mass
    :return: m, m c (3), and Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the origin of the link
    :raises ValueError: for an unphysical inertia, or implausibly large values

    >>> payload_parameters(2.0, (0.0, 0.0, 0.1))  # 2 kg, 0.1 m in front of the link
    array([2.  , 0.  , 0.  , 0.2 , 0.02, 0.  , 0.  , 0.02, 0.  , 0.  ])
    >>> payload_parameters(2.0, inertia=(1.0, 0.0, 0.0, 1.0, 0.0, 3.0))
    Traceback (most recent call last):
        ...
    ValueError: inertia of the payload is not physical: its principal moments 1, 1, 3 must not...
    """
    m = float(mass)
    if not (np.isfinite(m) and m >= 0.0):
        raise ValueError(f'mass of the payload must be finite and not negative, got {mass}')
    c = np.asarray(center_of_mass, dtype=float)
    if c.shape != (3,) or not np.isfinite(c).all():
        raise ValueError(
            f'center of mass of the payload must be 3 finite numbers, got {center_of_mass}'
        )
    about_com = _inertia_matrix(inertia)
    if m == 0.0 and about_com.any():
        raise ValueError('a payload without mass cannot have inertia; give its mass')
    about_origin = about_com + m * (c @ c * np.eye(3) - np.outer(c, c))
    return check_payload(np.concatenate([[m], m * c, about_origin[np.triu_indices(3)]]))


def check_payload(parameters: Any) -> FloatArray:
    """Check that ten inertial parameters are physical, and return them as an array, (10,).

    :param parameters: m, m c (3), and Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the origin of the link
    :raises ValueError: for an unphysical inertia, or implausibly large values
    """
    try:
        values = np.array(parameters, dtype=float)
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.shape != (10,) or not np.isfinite(values).all():
        raise ValueError(
            'payload must be 10 finite inertial parameters, as payload_parameters returns them; '
            f'got {parameters}'
        )
    m = values[0]
    if not 0.0 <= m <= MAXIMUM_MASS:
        raise ValueError(
            f'mass of the payload is {m:g} kg; give one between 0 and {MAXIMUM_MASS:g} kg'
        )
    if m == 0.0:
        if values.any():
            raise ValueError('a payload without mass cannot have inertia; give its mass')
        return values
    c = values[1:4] / m
    distance = float(np.linalg.norm(c))
    if not distance <= MAXIMUM_DISTANCE:
        raise ValueError(
            f'center of mass of the payload is {distance:g} m from its link; give it in meters, '
            f'at most {MAXIMUM_DISTANCE:g}'
        )
    about_origin: FloatArray = np.zeros((3, 3))
    about_origin[np.triu_indices(3)] = values[4:]
    about_origin = about_origin + np.triu(about_origin, 1).T
    about_com = about_origin - m * (c @ c * np.eye(3) - np.outer(c, c))
    # The rounding error of the shift is relative to its operands.
    _check_principal_moments(about_com, 1e-9 * np.abs(about_origin).max())
    return values


def _inertia_matrix(inertia: Any) -> FloatArray:
    if inertia is None or np.size(inertia) == 0:
        return np.zeros((3, 3))
    given: FloatArray = np.asarray(inertia, dtype=float)
    if given.shape == (6,):
        matrix: FloatArray = np.zeros((3, 3))
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
    _check_principal_moments(matrix, 0.0)
    return matrix


def _check_principal_moments(matrix: FloatArray, tolerance: float) -> None:
    principal = np.linalg.eigvalsh(matrix)
    tolerance = max(tolerance, 1e-9 * abs(principal).max())
    if principal[0] < -tolerance or principal[2] > principal[0] + principal[1] + tolerance:
        raise ValueError(
            'inertia of the payload is not physical: its principal moments '
            f'{", ".join(f"{p:.6g}" for p in principal)} must not be negative, and none may '
            'exceed the sum of the others'
        )
