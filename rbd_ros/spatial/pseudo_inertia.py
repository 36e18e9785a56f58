# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pseudo-inertia: inertia of a body as a matrix, positive definite if physically consistent.

Source: Wensing, Kim and Slotine, "Linear matrix inequalities for physically consistent inertial
parameter identification" (IEEE RA-L 2018); Rucker and Wensing, "Smooth parameterization of
rigid-body inertia" (IEEE RA-L 2022).

It is the integral of density times [r; 1] [r; 1]^T over a body, r being the position [m]:

    J = [ Sigma  h ]     Sigma = 1/2 trace(I) 1 - I,     I about the origin
        [ h^T    m ]

Ten numbers are the inertia of a body with a positive density if, and only if, J is positive
definite. This single condition includes positive mass, positive principal moments about the center
of mass, and the triangle inequality between them.
"""

from __future__ import annotations

from typing import Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbd_ros.spatial.inertia import RigidBodyInertia
from rbd_ros.spatial.scalar import Scalar

Matrix4 = Tuple[Tuple[Scalar, Scalar, Scalar, Scalar], ...]
Floats = NDArray[np.float64]


def pseudo_inertia(inertia: RigidBodyInertia) -> Matrix4:
    """Return the pseudo-inertia J of a body, (4, 4) [kg m^2, kg m, kg], for any type of scalar.

    >>> from rbd_ros.spatial.pseudo_inertia import pseudo_inertia
    >>> rod = np.diag([0.01, 0.01, 0.0])  # along z, about its center [kg m^2]
    >>> tool = RigidBodyInertia.from_mass_center(2.0, (0.0, 0.0, 0.1), rod)
    >>> np.round(pseudo_inertia(tool), 6)  # without extent along x and y
    array([[0.  , 0.  , 0.  , 0.  ],
           [0.  , 0.  , 0.  , 0.  ],
           [0.  , 0.  , 0.03, 0.2 ],
           [0.  , 0.  , 0.2 , 2.  ]])
    """
    xx, yx, yy, zx, zy, zz = inertia.I
    x, y, z = inertia.h
    return (
        ((yy + zz - xx) / 2, -yx, -zx, x),
        (-yx, (zz + xx - yy) / 2, -zy, y),
        (-zx, -zy, (xx + yy - zz) / 2, z),
        (x, y, z, inertia.mass),
    )


def from_pseudo_inertia(J: Matrix4) -> RigidBodyInertia:
    """Return the inertia with a given pseudo-inertia.

    :param J: symmetric, (4, 4); its lower triangle is read

    >>> from rbd_ros.spatial.pseudo_inertia import from_pseudo_inertia
    >>> point = (1.0, 2.0, 0.0, 1.0)  # [r; 1] of a mass of 3 kg
    >>> from_pseudo_inertia(3.0 * np.outer(point, point)).I  # about the origin
    (12.0, -6.0, 3.0, 0.0, 0.0, 15.0)
    """
    (xx, *_), (yx, yy, *_), (zx, zy, zz, _), (hx, hy, hz, mass) = J
    return RigidBodyInertia(mass, (hx, hy, hz), (yy + zz, -yx, xx + zz, -zx, -zy, xx + yy))


def from_log_cholesky(theta: ArrayLike) -> RigidBodyInertia:
    """Return the inertia of a body for any ten numbers, a smooth one-to-one map.

    J = exp(2 alpha) U U^T, with

    U = [exp(d1) s12 s13 t1; 0 exp(d2) s23 t2; 0 0 exp(d3) t3; 0 0 0 1].

    :param theta: (alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3), (10,)
    :raises ValueError: for another shape

    >>> from rbd_ros.spatial.pseudo_inertia import from_log_cholesky
    >>> from_log_cholesky(np.zeros(10)).parameters()
    (1.0, 0.0, 0.0, 0.0, 2.0, -0.0, -0.0, 2.0, -0.0, 2.0)
    """
    given = np.asarray(theta, dtype=float)
    if given.shape != (10,):
        raise ValueError(f'theta must have shape (10,), got {given.shape}')
    alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3 = given.tolist()
    U = np.array(
        [
            [np.exp(d1), s12, s13, t1],
            [0.0, np.exp(d2), s23, t2],
            [0.0, 0.0, np.exp(d3), t3],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )
    J = np.exp(2.0 * alpha) * U @ U.T
    return from_pseudo_inertia(tuple(map(tuple, J.tolist())))


def log_cholesky(inertia: RigidBodyInertia) -> Floats:
    """Return the ten numbers theta of a body's inertia, the inverse of `from_log_cholesky`, (10,).

    :raises ValueError: for an unphysical inertia

    >>> from rbd_ros.spatial.pseudo_inertia import log_cholesky
    >>> ball = RigidBodyInertia.from_mass_center(1.0, (0.0, 0.0, 0.0), np.diag([0.4, 0.4, 0.4]))
    >>> np.round(log_cholesky(ball)[:4], 3)
    array([ 0.   , -0.805, -0.805, -0.805])
    """
    J = np.array(pseudo_inertia(inertia), dtype=float)
    try:
        # The upper factor is the lower one with reversed rows and columns.
        U = np.linalg.cholesky(J[::-1, ::-1])[::-1, ::-1]
    except np.linalg.LinAlgError:
        raise ValueError(
            'no body has this inertia: its pseudo-inertia is not positive definite (its minimum '
            f'eigenvalue is {np.linalg.eigvalsh(J)[0]:.3g})'
        ) from None
    alpha = np.log(U[3, 3])
    U = U / U[3, 3]
    return np.array(
        [
            alpha,
            *np.log(np.diag(U)[:3]),
            U[0, 1],
            U[1, 2],
            U[0, 2],
            *U[:3, 3],
        ]
    )
