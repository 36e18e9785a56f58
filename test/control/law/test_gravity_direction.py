# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Direction of gravity: mountings, IMU readings, and maximum rate."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest

from rbd_ros.control import mounted_gravity
from rbd_ros.control.law.gravity_direction import (
    down_from_acceleration,
    down_of_orientation,
    FilteredDirection,
    TurningDirection,
    unit,
)

G = 9.81
DOWN = np.array([0.0, 0.0, -1.0])


def rotation(axis, angle):
    """Return the matrix of Rodrigues."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


def quaternion(axis, angle):
    return [*(np.sin(angle / 2) * np.array(axis)), np.cos(angle / 2)]


@pytest.mark.parametrize(
    'rpy, expected',
    [
        ((0, 0, 0), (0, 0, -G)),
        ((0, 0, 1.3), (0, 0, -G)),
        ((np.pi, 0, 0), (0, 0, G)),  # from the ceiling
        ((np.pi / 2, 0, 0), (0, -G, 0)),  # its y axis upwards
        ((0, np.pi / 2, 0), (G, 0, 0)),  # its x axis downwards
        ((0, -np.pi / 2, 0.7), (-G, 0, 0)),
        ((0.1, 0, 0), (0, -G * np.sin(0.1), -G * np.cos(0.1))),
    ],
)
def test_a_mounting_turns_gravity_against_the_base(rpy, expected):
    assert_allclose(mounted_gravity([0, 0, -G], rpy), expected, atol=1e-12)


def test_a_mounting_is_roll_then_pitch_then_yaw_about_fixed_axes():
    rpy = (0.3, -0.7, 1.1)
    X, Y, Z = (rotation(axis, angle) for axis, angle in zip(np.eye(3), rpy))
    gravity = np.array([1.0, 2.0, -9.0])
    assert_allclose(mounted_gravity(gravity, rpy), (Z @ Y @ X).T @ gravity, atol=1e-12)


def test_an_orientation_and_the_acceleration_at_rest_say_the_same(rng):
    for _ in range(20):
        axis, angle = unit(rng.normal(size=3)), rng.uniform(-3, 3)
        R = rotation(axis, angle)  # of the IMU in the world
        assert_allclose(down_of_orientation(quaternion(axis, angle)), R.T @ DOWN, atol=1e-12)
        measured = R.T @ [0.0, 0.0, G]  # at rest it measures what holds it up
        assert_allclose(down_from_acceleration(measured, G), R.T @ DOWN, atol=1e-12)


def test_a_quaternion_a_little_off_is_normalized():
    off = 1.03 * np.array(quaternion([1, 0, 0], 0.5))
    assert_allclose(down_of_orientation(off), rotation([1, 0, 0], 0.5).T @ DOWN, atol=1e-12)


@pytest.mark.parametrize('bad', [[0, 0, 0, 0], [np.nan, 0, 0, 1], [0, 0, 0, 1.1], [0, 0, 0, 0.9],
                                 [np.inf, 0, 0, 0], [1e200, 0, 0, 0]])  # fmt: skip
def test_a_quaternion_that_is_not_normalized_is_rejected(bad):
    with pytest.raises(ValueError, match='not a unit quaternion'):
        down_of_orientation(bad)


@pytest.mark.parametrize(
    'bad', [[0, 0, 0], [0, 0, 8.7], [0, 0, 10.9], [np.nan, 0, G], [np.inf, 0, G]]
)
def test_accelerations_far_from_gravity_are_rejected(bad):
    with pytest.raises(ValueError, match='differs too much from gravity, 9.81'):
        down_from_acceleration(bad, G)


def test_accelerations_about_gravity_are_taken():
    for z in (0.92 * G, 1.08 * G):
        assert_allclose(down_from_acceleration([0, 0, z], G), [0, 0, -z / G])


def test_the_filter_begins_at_the_first_and_follows_with_its_time_constant():
    smooth = FilteredDirection(0.5)
    assert_array_equal(smooth(np.array([0.0, 0, -1]), 0.0), [0, 0, -1])
    for _ in range(5000):
        value = smooth(np.array([1.0, 0, -1]), 1e-4)
    assert value[0] == pytest.approx(1 - np.exp(-1), abs=1e-3)
    assert_allclose(smooth(np.array([1.0, 0, -1]), -5.0), value)  # time does not run back


def test_it_turns_at_its_rate_along_the_shortest_way():
    turning = TurningDirection([0, 0, -2.0], rate=0.5)
    assert_allclose(turning.direction, DOWN)
    turning.goal = unit([1.0, 0, -1.0])
    for k in range(1, 8):
        here = turning.advance(0.2)
        assert np.linalg.norm(here) == pytest.approx(1.0)
        assert np.arccos(here @ DOWN) == pytest.approx(0.1 * k)
        assert here[1] == pytest.approx(0.0, abs=1e-12)
    assert_array_equal(turning.advance(0.2), turning.goal)
    assert_array_equal(turning.advance(0.2), turning.goal)


def test_turned_over_it_turns_at_its_rate_as_well():
    turning = TurningDirection(DOWN, rate=1.0)
    turning.goal = -DOWN
    before = turning.direction
    for _ in range(31):
        here = turning.advance(0.1)
        assert np.arccos(min(here @ before, 1.0)) == pytest.approx(0.1, abs=1e-9)
        before = here
    turning.advance(0.1)
    assert_array_equal(turning.direction, -DOWN)


def test_without_time_it_does_not_turn():
    turning = TurningDirection(DOWN, rate=1.0)
    turning.goal = unit([1.0, 0, 0])
    for dt in (0.0, -1.0):
        assert_allclose(turning.advance(dt), DOWN)


@pytest.mark.parametrize('nothing', [[0, 0, 0], [np.nan, 0, 1], [np.inf, 0, 0]])
def test_a_vector_without_direction_is_rejected(nothing):
    with pytest.raises(ValueError, match='no direction'):
        unit(nothing)
