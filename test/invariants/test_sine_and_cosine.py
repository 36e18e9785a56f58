# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Accuracy of the kernels' sine and cosine, through a one-joint robot, against mpmath."""

import math

import numpy as np
import pytest
from support import outside
from support.errors import record
from support.random_trees import chain

from rbd_ros import Robot

mpmath = outside.load('mpmath')

HINGE = chain(
    [{'type': 'continuous', 'axis': [0, 0, 1], 'mass': 1.0, 'inertia': [1, 0, 0, 1, 0, 1]}]
)
LIMIT = 1e6  # rad: the range for which 2 ulp are promised


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(HINGE)


def sine_and_cosine(robot, angles):
    """Return both by the batch kernel, after checking that the one-state kernel agrees."""
    R = robot.forward_kinematics(np.asarray(angles)[:, None])['link1'][:, :3, :3]
    assert np.array_equal(R[:, 0, 0], R[:, 1, 1], equal_nan=True)
    assert np.array_equal(R[:, 0, 1], -R[:, 1, 0], equal_nan=True)
    for k in range(0, len(angles), max(1, len(angles) // 50)):
        single = robot.forward_kinematics(np.array([angles[k]]))['link1'][:3, :3]
        assert np.array_equal(single, R[k], equal_nan=True)
    return R[:, 1, 0], R[:, 0, 0]


def ulps(value, exact):
    """Return the error in units of the last place of the exact value."""
    return abs(mpmath.mpf(float(value)) - exact) / mpmath.mpf(math.ulp(float(exact)))


def angles_of(kind, rng):
    if kind == 'small':
        return np.r_[0.0, 5e-324, 1e-300, np.logspace(-20, -1, 300) * rng.choice([-1, 1], 300)]
    if kind == 'a turn':
        return rng.uniform(-2 * np.pi, 2 * np.pi, 3000)
    if kind == 'hundred turns':
        return rng.uniform(-700, 700, 3000)
    if kind == 'million':
        return np.r_[rng.uniform(-LIMIT, LIMIT, 3000), LIMIT, -LIMIT]
    # doubles nearest to multiples of a quarter turn, where one of the two all but vanishes: the
    # hard cases
    k = np.unique(np.r_[np.arange(-40, 41), rng.integers(-636619, 636619, 1500)])
    nearest = np.array([float(mpmath.mpf(int(n)) * mpmath.pi / 2) for n in k])
    return np.r_[nearest, np.nextafter(nearest, np.inf)]


@pytest.mark.parametrize('kind', ['small', 'a turn', 'hundred turns', 'million', 'quarter turns'])
def test_error_is_within_two_ulp(robot, rng, kind):
    with mpmath.workprec(200):
        angles = angles_of(kind, rng)
        sines, cosines = sine_and_cosine(robot, angles)
        for what, values, function in (
            ('sine', sines, mpmath.sin),
            ('cosine', cosines, mpmath.cos),
        ):
            worst, where = max(
                (ulps(value, function(mpmath.mpf(float(x)))), float(x))
                for value, x in zip(values, angles)
            )
            record('ulp', f'{what}, {kind}', f'at {where!r}', float(worst))
            assert worst <= 2, f'{what}({where!r}): {float(worst):.2f} ulp'


def test_signs_and_zero_are_exact(robot):
    sines, cosines = sine_and_cosine(robot, [0.0, 0.3, -0.3, 1e5, -1e5])
    assert sines[0] == 0.0 and cosines[0] == 1.0
    assert (
        sines[1] == -sines[2]
        and cosines[1] == cosines[2]
        and sines[3] == -sines[4]
        and cosines[3] == cosines[4]
    )


def test_larger_angles_still_give_rotations_or_nan(robot):
    """Beyond the promised range nothing may look like a pose and not be one."""
    sines, cosines = sine_and_cosine(
        robot, [1e7, -3e8, 1e9, 1e12, 1e15, 1e18, 1e22, 1e100, 1e300, -1e308]
    )
    good = ~(np.isnan(sines) | np.isnan(cosines))
    assert np.all(np.abs(np.hypot(sines[good], cosines[good]) - 1.0) < 1e-6)
