# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Derivatives by differences of fourth order, along velocities or elements of arrays."""

import numpy as np

STEP = 2e-4


def slope(function, step=STEP):
    """Return the derivative at zero of a function of one number, to fourth order."""
    one, two = (function(k * step) - function(-k * step) for k in (1, 2))
    return (8.0 * one - two) / (12.0 * step)


def by_array(function, x):
    """Return the derivatives of a function of an array by its elements, on the last axis."""
    columns = [slope(lambda t, e=e: np.asarray(function(x + t * e))) for e in np.eye(len(x))]
    return np.stack(columns, axis=-1)


def by_configuration(function, q, rates):
    """Return the derivatives along the rates of a configuration, (directions, nq)."""
    columns = [slope(lambda t, e=e: np.asarray(function(q + t * e))) for e in rates]
    return np.stack(columns, axis=-1)


def by_motion(function, robot, q):
    """Return the derivatives of a function of a robot's configuration along each velocity."""
    columns = [
        slope(lambda t, e=e: np.asarray(function(robot.integrate(q, e, t))))
        for e in np.eye(robot.nv)
    ]
    return np.stack(columns, axis=-1)


def rates_of(layout, q):
    """Return the rates of a configuration at unit velocity of each degree of freedom, (nv, nq)."""
    return [layout.position_rates(q, e) for e in np.eye(layout.nv)]


def assert_slopes(found, expected, tolerance=1e-8, what=''):
    """Check derivatives against slopes, up to rounding over the step."""
    scale = max(np.abs(expected).max(initial=0.0), 1e-3)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale, err_msg=what)
