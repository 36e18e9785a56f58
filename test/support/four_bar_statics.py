# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Positions of the four-bar of urdf/ by plane trigonometry, and its statics by virtual work.

It does not use the package.
"""

import numpy as np

CRANK, COUPLER, ROCKER, GROUND = 0.3, 0.45, 0.4, 0.5
#: Mass, distance of the center of mass from the first hinge, and inertia about the center, by bar.
BARS = ((0.6, 0.15, 0.005), (0.9, 0.22, 0.015), (0.8, 0.2, 0.011))


def positions(crank, mode=1.0):
    """Return the angles of crank, coupler (relative) and rocker.

    By the intersection of two circles.
    """
    end = CRANK * np.array([np.cos(crank), np.sin(crank)])
    across = np.array([GROUND, 0.0]) - end
    d = np.hypot(*across)
    along = (COUPLER**2 - ROCKER**2 + d**2) / (2.0 * d)
    height = np.sqrt(COUPLER**2 - along**2)
    unit = across / d
    pin = end + along * unit + mode * height * np.array([-unit[1], unit[0]])
    coupler = np.arctan2(*(pin - end)[::-1])
    rocker = np.arctan2(*(pin - [GROUND, 0.0])[::-1])
    return np.array([crank, coupler - crank, rocker])


def unwrapped(crank, near, mode=1.0):
    q = positions(crank, mode)
    return q + 2.0 * np.pi * np.round((near - q) / (2.0 * np.pi))


def absolute(q):
    """Return the angles of the three bars relative to the ground."""
    return np.array([q[0], q[0] + q[1], q[2]])


def heights(q):
    a = absolute(q)
    return np.array(
        [
            BARS[0][1] * np.sin(a[0]),
            CRANK * np.sin(a[0]) + BARS[1][1] * np.sin(a[1]),
            BARS[2][1] * np.sin(a[2]),
        ]
    )


def potential(q, payload=0.0, g=9.81):
    """Return the potential energy; a payload hangs at the pin."""
    pin = ROCKER * np.sin(q[2])
    return g * (sum(bar[0] * h for bar, h in zip(BARS, heights(q))) + payload * pin)


def slope(function, x, step=1e-4):
    coarse, fine = ((function(x + h) - function(x - h)) / (2 * h) for h in (step, step / 2))
    return (4 * fine - coarse) / 3


def holding_torque(crank, mode=1.0, payload=0.0):
    """Return the torque of the crank's motor that balances gravity, dV/dy."""
    near = positions(crank, mode)
    return slope(lambda y: potential(unwrapped(y, near, mode), payload), crank)


def kinetic(crank, rate, mode=1.0):
    """Return the kinetic energy at a rate of the crank."""
    near = positions(crank, mode)

    def centers(y):
        q = unwrapped(y, near, mode)
        a = absolute(q)
        x = np.array(
            [
                BARS[0][1] * np.cos(a[0]),
                CRANK * np.cos(a[0]) + BARS[1][1] * np.cos(a[1]),
                GROUND + BARS[2][1] * np.cos(a[2]),
            ]
        )
        return np.concatenate([x, heights(q), a])

    x, z, a = slope(centers, crank).reshape(3, 3) * rate
    masses, inertias = np.array([b[0] for b in BARS]), np.array([b[2] for b in BARS])
    return 0.5 * (masses @ (x**2 + z**2) + inertias @ a**2)


def motor_torque(crank, rate, acceleration, mode=1.0):
    """Return M ydd + M' yd^2 / 2 + V', Lagrange's equation of the crank's angle."""

    def inertia(y):
        return 2.0 * kinetic(y, 1.0, mode)

    return (
        inertia(crank) * acceleration
        + 0.5 * slope(inertia, crank, 1e-3) * rate**2
        + holding_torque(crank, mode)
    )
