# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Common operations of vectors and subspaces of six and three dimensions, against NumPy."""

import numpy as np
from numpy.testing import assert_allclose
import pytest

from rbd_ros.spatial import ForceVector, MotionSubspace, MotionVector
from rbd_ros.spatial.quantities import SpatialQuantity
from rbd_ros.textbook.planar.planar_algebra import (
    PlanarForceVector,
    PlanarMotionSubspace,
    PlanarMotionVector,
)

SPACES = (
    pytest.param((MotionVector, ForceVector, MotionSubspace, 6), id='spatial'),
    pytest.param((PlanarMotionVector, PlanarForceVector, PlanarMotionSubspace, 3), id='planar'),
)


@pytest.fixture(params=SPACES)
def space(request):
    return request.param


@pytest.fixture
def matrix(space, rng):
    return rng.normal(size=(space[3], 2))


@pytest.fixture
def subspace(space, matrix):
    motion, _, kind, _ = space
    return kind([motion.from_array(column) for column in matrix.T.tolist()])


def test_a_subspace_times_rates_is_the_matrix_times_them(subspace, matrix):
    assert_allclose((subspace @ [0.3, -2.0]).to_array(), matrix @ [0.3, -2.0], rtol=1e-14)


def test_its_transpose_times_a_force_is_that_of_the_matrix(space, subspace, matrix, rng):
    force = rng.normal(size=space[3])
    assert_allclose(
        subspace.T @ space[1].from_array(force.tolist()), matrix.T @ force, rtol=1e-13, atol=1e-14
    )


def test_an_empty_subspace_has_no_motion_but_zero(space):
    motion, force, kind, _ = space
    empty = kind(())
    assert empty @ () == motion.zero() and empty.T @ force.zero() == []


@pytest.mark.parametrize('rates', [(), (1.0,), (1.0, 2.0, 3.0)])
def test_a_wrong_number_of_rates_is_rejected(subspace, rates):
    with pytest.raises(ValueError, match=f'2 columns times {len(rates)} rates'):
        subspace @ rates


def test_vectors_are_equal_by_kind_and_coordinates(space):
    motion, force, _, size = space
    values = [float(k) for k in range(size)]
    v = motion.from_array(values)
    assert v == motion.from_array(values) and hash(v) == hash(motion.from_array(values))
    assert v != motion.from_array([*values[:-1], 7.0])
    assert v != force.from_array(values) and v != tuple(values)
    assert len(v) == size and list(v) == values


def test_factors_come_from_either_side(space):
    v = space[0].from_array([1.0] * space[3])
    assert v * 2.0 == 2.0 * v == space[0].from_array([2.0] * space[3])
    assert type(np.float64(2.0) * v) is space[0] and np.float64(2.0) * v == 2.0 * v
    with pytest.raises(TypeError, match='expected a scalar'):
        v * [1.0, 2.0]


@pytest.mark.parametrize('operation', ['__add__', '__sub__'])
def test_vectors_of_two_spaces_do_not_mix(space, operation):
    motion, force, _, _ = space
    with pytest.raises(TypeError, match='only vectors of one space'):
        getattr(motion.zero(), operation)(force.zero())


def test_spatial_quantities_are_not_scalars(space, subspace):
    for quantity in (space[0].zero(), space[1].zero(), subspace, subspace.T):
        assert isinstance(quantity, SpatialQuantity)
        with pytest.raises(TypeError):
            space[0].zero() * quantity
