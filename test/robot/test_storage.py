# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Packed symmetric results: the lower triangle, row by row.

A separate kernel may fuse other products and sums than that of the full matrix.
"""

from collections import namedtuple
import inspect

import numpy as np
from numpy.testing import assert_array_equal
import pytest
from support import random_trees

from rbd_ros import Robot
from rbd_ros.algorithms.declaration import derivatives_of
from rbd_ros.algorithms.inertia_matrix.crba import mass_matrix
from rbd_ros.robot.kernels import Compiled


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(random_trees.mixed_tree(3), floating_base=True)


@pytest.fixture
def q(robot):
    return robot.random_configurations(41, np.random.default_rng(2))


def assert_same(found, expected):
    assert found.shape == expected.shape
    scale = np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * scale)


def packed(H):
    rows, columns = np.tril_indices(H.shape[-1])
    return H[..., rows, columns]


@pytest.mark.parametrize('rows', [None, 0, 1, 3, 8, 17, 41])
def test_packed_is_the_lower_triangle_row_by_row(robot, q, rows):
    states = q[0] if rows is None else q[:rows]
    expected = packed(robot.mass_matrix(states))
    found = robot.mass_matrix(states, storage='packed')
    assert_same(found, expected)
    out = np.empty(expected.shape)
    assert robot.mass_matrix(states, storage='packed', out=out) is out
    assert_array_equal(out, found)


def test_rows_of_a_packed_batch_are_the_single_states(robot, q):
    rows = robot.mass_matrix(q, storage='packed')
    assert_array_equal(rows, [robot.mass_matrix(x, storage='packed') for x in q])


@pytest.mark.parametrize('name', ['mass_matrix', 'equations_of_motion'])
def test_every_algorithm_with_an_inertia_matrix_can_pack_it(robot, q, name):
    v = np.random.default_rng(1).normal(size=(len(q), robot.nv))
    arrays = (q,) if name == 'mass_matrix' else (q, v)
    whole, half = (robot.kernel(name, storage=kind) for kind in ('full', 'packed'))
    assert whole is robot.kernel(name)
    for arguments in (arrays, [x[0] for x in arrays]):
        expected, result = whole(*arguments), half(*arguments)
        if name == 'equations_of_motion':
            assert_same(result.C, expected.C)
            expected, result = expected.H, result.H
        assert_same(result, packed(expected))


def test_derivatives_of_a_packed_matrix_are_packed(q):
    result = namedtuple('MassMatrixDerivative', ['H', 'dH_dq'])
    declared = derivatives_of(mass_matrix, 'mass_matrix_derivative', by=['q'], result=result)
    robot = Robot.from_urdf(random_trees.tree(5, bodies=3, types=('revolute', 'prismatic')))
    state = np.array([0.3, -0.4, 0.2][: robot.nq])
    whole = robot.kernel(declared)(state)
    half = robot.kernel(declared, storage='packed')(state)
    assert half.dH_dq.shape == (robot.nv * (robot.nv + 1) // 2, robot.nv)
    assert_same(half.dH_dq, packed(np.moveaxis(whole.dH_dq, -1, 0)).T)


def test_a_nan_state_affects_its_row_alone(robot, q):
    q[5, -1] = np.nan
    result = robot.mass_matrix(q, storage='packed')
    assert np.isnan(result[5]).all() and np.isfinite(np.delete(result, 5, axis=0)).all()


def test_packed_storage_does_not_change_the_plain_call(robot, q, monkeypatch):
    robot.mass_matrix(q[0])
    robot.mass_matrix(q[0], storage='packed')
    assert inspect.isbuiltin(robot.mass_matrix)
    monkeypatch.setattr(Compiled, '_call', None)  # any call of it would fail
    assert robot.mass_matrix(q[0]).shape == (robot.nv, robot.nv)


def test_functions_without_symmetric_matrix_reject_packed_storage(robot, q):
    with pytest.raises(ValueError, match="unknown storage 'upper'; there are 'full' and 'packed'"):
        robot.mass_matrix(q, storage='upper')
    with pytest.raises(ValueError, match='bias_force has no symmetric matrix'):
        robot.kernel('bias_force', storage='packed')
    assert robot.kernel('bias_force', storage='full') is robot.kernel('bias_force')
    n = robot.nv * (robot.nv + 1) // 2
    with pytest.raises(ValueError, match=rf'\({n},\)'):
        robot.mass_matrix(q[0], storage='packed', out=np.empty((robot.nv, robot.nv)))
