# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Loop position errors to first order: of known displacements, and of the book's table."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.all_joints import example_id
from support.dense import crm
from support.loop_joints import CLOSING, CylindricalPair, ZeroDof

from rbd_ros.model.joints import Prismatic, Revolute, Spherical
from rbd_ros.spatial import PluckerTransform

Z = (0.0, 0.0, 1.0)


def rotation(w):
    """Return the coordinate rotation exp(-w x) by Rodrigues' formula."""
    angle = np.linalg.norm(w)
    if angle == 0.0:
        return np.eye(3)
    x, y, z = np.asarray(w) / angle
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) - np.sin(angle) * k + (1.0 - np.cos(angle)) * k @ k


def displaced(joint, q, d):
    """Return x_err X_J with X_err = rot xlt of a displacement [w; u].

    Which is 1 - d x to first order.
    """
    error = PluckerTransform(tuple(map(tuple, rotation(d[:3]).tolist())), tuple(d[3:].tolist()))
    return error * joint.transform(joint.normalize(q))


def random_positions(joint, seed, count=3):
    """Yield the positions far from where the frames coincide."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield list(joint.sample(rng.random(joint.uniforms).tolist(), -2.5, 2.5)), rng


def delta(X, joint):
    return np.array(joint.loop_error(X), dtype=float)


@pytest.mark.seed('CL04')
@pytest.mark.parametrize('joint', CLOSING, ids=example_id)
def test_error_is_the_displacement_along_the_constraint_forces_to_first_order(joint):
    """Delta = T^T d wherever the pair is (book eq 8.25 to 8.27); the remainder is quadratic."""
    for q, rng in random_positions(joint, 1):
        q = joint.normalize(q)
        T = np.array([T.to_array() for T in joint.constraint_forces(q)], dtype=float)
        assert_allclose(delta(displaced(joint, q, np.zeros(6)), joint), 0.0, atol=1e-15 * 30)
        d = rng.normal(size=6)
        for size in (1e-4, 1e-6):
            X = displaced(joint, q, size * d)
            matrix = X.matrix() @ np.linalg.inv(joint.transform(joint.normalize(q)).matrix())
            assert_allclose(matrix, np.eye(6) - crm(size * d), atol=30 * size**2 + 1e-14)
            assert_allclose(delta(X, joint), T @ (size * d), atol=60.0 * size**2 + 1e-14)


def table_zero(X):
    return 0.5 * np.array([
        X(2, 3) - X(3, 2), X(3, 1) - X(1, 3), X(1, 2) - X(2, 1),
        X(5, 3) - X(6, 2), X(6, 1) - X(4, 3), X(4, 2) - X(5, 1),
    ])  # fmt: skip


def table_revolute(X):
    return [X(2, 3), -X(1, 3), X(5, 3), -X(4, 3), X(4, 1) * X(2, 1) + X(4, 2) * X(2, 2)]


def table_prismatic(X):
    return [*table_zero(X)[:3], X(5, 3), -X(4, 3)]


def table_cylindrical(X):
    return [X(2, 3), -X(1, 3), X(5, 3), -X(4, 3)]


def table_spherical(X):
    def rows(a, b):
        return sum(X(a, j) * X(b, j) for j in (1, 2, 3))

    return [rows(5, 3), rows(6, 1), rows(4, 2)]


TABLE = {
    'zero-DoF': (ZeroDof(), table_zero),
    'revolute': (Revolute(Z), table_revolute),
    'prismatic': (Prismatic(Z), table_prismatic),
    'cylindrical': (CylindricalPair(Z), table_cylindrical),
    'spherical': (Spherical(), table_spherical),
}


@pytest.mark.seed('CL04', kind='full')
@pytest.mark.parametrize('name', TABLE)
def test_error_is_that_of_table_8_1_to_first_order(name):
    """The formulas of the table, element by element, in the order of T of table 4.1."""
    joint, formula = TABLE[name]
    for q, rng in random_positions(joint, 2):
        d = rng.normal(size=6)
        for size in (0.0, 1e-4, 1e-6):
            X = displaced(joint, q, size * d)
            matrix = X.matrix()
            expected = formula(lambda i, j, X=matrix: X[i - 1, j - 1])
            assert_allclose(delta(X, joint), expected, atol=60.0 * size**2 + 1e-14)
            if size:
                assert np.abs(expected).min() > 1e-3 * size  # errors of all elements are there
