# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rotations against SciPy's: quaternions, roll, pitch and yaw, axis and angle."""

import math

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.spatial.transform import Rotation

from rbd_ros.spatial.rotation import (
    axis_rotation,
    quaternion_product,
    quaternion_to_rotation,
    rotation_to_quaternion,
    rpy_rotation,
)

# Half turns about the axes and between them, where three of the four components are small
HALF_TURNS = ((0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (0, 0.6, 0, 0.8), (0, -0.6, 0.8, 0))


def turn(q):
    """Return the rotation of a quaternion (w, x, y, z)."""
    w, x, y, z = q
    return Rotation.from_quat([x, y, z, w])


def units(rng, count):
    """Return random quaternions, each near one of the axes (w, x, y, z) in turn."""
    q = 0.4 * rng.normal(size=(count, 4)) + np.resize(np.eye(4), (count, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


@pytest.mark.parametrize('length', [1.0, 0.3, 20.0])
def test_rotation_of_a_quaternion_of_any_length(rng, length):
    for q in units(rng, 20):
        R = quaternion_to_rotation((length * q).tolist())
        assert_allclose(R, turn(q).as_matrix(), atol=2e-15)


def test_quaternion_of_a_rotation_has_no_negative_first_component(rng):
    for q in units(rng, 80):
        found = rotation_to_quaternion(tuple(map(tuple, turn(q).as_matrix().tolist())))
        assert_allclose(found, q if q[0] >= 0.0 else -q, atol=2e-15)


@pytest.mark.parametrize('q', HALF_TURNS)
def test_quaternion_of_half_a_turn(q):
    found = np.array(rotation_to_quaternion(tuple(map(tuple, turn(q).as_matrix().tolist()))))
    assert found[0] == pytest.approx(0.0, abs=1e-16) and math.copysign(1.0, found[0]) == 1.0
    assert_allclose(found * np.sign(found @ q), q, atol=1e-15)


def test_quaternion_of_a_rotation_with_rounding_has_unit_length(rng):
    for q in units(rng, 20):
        R = turn(q).as_matrix() + 1e-9 * rng.normal(size=(3, 3))
        found = rotation_to_quaternion(tuple(map(tuple, R.tolist())))
        assert np.linalg.norm(found) == pytest.approx(1.0, abs=1e-15)
        assert_allclose(found, q if q[0] >= 0.0 else -q, atol=1e-8)


def test_product_of_quaternions_is_one_rotation_after_the_other(rng):
    for p, q in zip(units(rng, 20), units(rng, 20)):
        R = quaternion_to_rotation(quaternion_product(p.tolist(), q.tolist()))
        assert_allclose(R, turn(p).as_matrix() @ turn(q).as_matrix(), atol=2e-15)


def test_units_of_quaternions_multiply_as_hamilton_carved_them():
    one, i, j, k = np.eye(4).tolist()
    for a, b, c in ((i, j, k), (j, k, i), (k, i, j)):
        assert list(quaternion_product(a, b)) == c
        assert list(quaternion_product(b, a)) == [-x for x in c]
        assert list(quaternion_product(a, a)) == [-1.0, 0.0, 0.0, 0.0]
        assert list(quaternion_product(one, a)) == list(quaternion_product(a, one)) == a


@pytest.mark.parametrize(
    'axis',
    [
        *np.eye(3).tolist(), *(-np.eye(3)).tolist(),
        [0.6, 0.8, 0.0], [0.0, 0.6, -0.8], [-0.8, 0.0, 0.6], [0.48, -0.6, 0.64],
    ],
)  # fmt: skip
@pytest.mark.parametrize('angle', [-2.0, 0.0, 0.7, 3.0])
def test_rotation_about_an_axis(axis, angle):
    expected = Rotation.from_rotvec(angle * np.array(axis)).as_matrix()
    R = axis_rotation(tuple(axis), angle)
    assert_allclose(R, expected, atol=1e-15)
    plain = sum(type(element) is int for row in R for element in row)
    assert plain == (5 if np.count_nonzero(axis) == 1 else 0)


def test_roll_pitch_and_yaw_are_about_fixed_axes(rng):
    for angles in rng.uniform(-3.0, 3.0, (20, 3)):
        expected = Rotation.from_euler('xyz', angles).as_matrix()
        assert_allclose(rpy_rotation(*angles.tolist()), expected, atol=5e-16)


@pytest.mark.parametrize('quarters', [-3, -2, -1, 0, 1, 2, 3, 4])
def test_quarter_turns_are_permutations(quarters):
    angle = quarters * math.pi / 2.0
    exact = np.round(Rotation.from_euler('x', angle).as_matrix())
    for k in range(3):
        angles = [0.0, 0.0, 0.0]
        angles[k] = angle
        cycled = np.roll(exact, (k, k), axis=(0, 1))
        assert np.array_equal(rpy_rotation(*angles), cycled)


@pytest.mark.parametrize('small', [1.5e-15, -1.5e-15])
def test_angles_above_rounding_are_kept(small):
    R = np.array(rpy_rotation(0.0, 0.0, small))
    assert R[1, 0] == small
    R = np.array(rpy_rotation(0.0, 0.0, math.pi / 2.0 - small))
    assert R[0, 0] == pytest.approx(small, rel=0.2, abs=0.0)
