# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Small matrices of generic scalars against NumPy's."""

from fractions import Fraction

import numpy as np
from numpy.testing import assert_allclose
import pytest

from rbd_ros.algorithms.articulated_body import matrices
from rbd_ros.algorithms.inertia_matrix.factorization import ltdl
from rbd_ros.spatial import ArticulatedBodyInertia, RigidBodyInertia


@pytest.fixture
def H(rng):
    """Return the symmetric positive-definite matrix."""
    A = rng.normal(size=(4, 4))
    return A @ A.T + np.eye(4)


def test_sums_and_products(rng):
    A, B, C = rng.normal(size=(3, 4)), rng.normal(size=(4, 2)), rng.normal(size=(3, 4))
    a, b = rng.normal(size=(2, 4))
    assert matrices.dot(a, b) == pytest.approx(a @ b, rel=1e-14)
    assert_allclose(matrices.apply(A, b), A @ b, rtol=1e-13)
    assert_allclose(matrices.multiply(A, B), A @ B, rtol=1e-13)
    assert_allclose(matrices.transposed(A), A.T, rtol=0)
    assert_allclose(matrices.add(a, b), a + b, rtol=0)
    assert_allclose(matrices.subtract(a, b), a - b, rtol=0)
    assert_allclose(matrices.add_matrices(A, C), A + C, rtol=0)
    assert_allclose(matrices.subtract_matrices(A, C), A - C, rtol=0)
    assert_allclose(matrices.combine(A, a[:3], 4), A.T @ a[:3], rtol=1e-13)
    assert matrices.combine([], []) == [0.0] * 6
    half = [[Fraction(1, 2), 2], [3, Fraction(1, 4)]]
    assert matrices.multiply(half, half) == [[Fraction(25, 4), Fraction(3, 2)],
                                             [Fraction(9, 4), Fraction(97, 16)]]  # fmt: skip


def test_identity_and_zeros():
    assert matrices.identity(3) == np.eye(3).tolist()
    assert matrices.zeros(2, 3) == np.zeros((2, 3)).tolist()


def test_the_lower_triangle_is_mirrored():
    assert matrices.symmetric([[1.0, 9.0, 9.0], [2.0, 3.0, 9.0], [4.0, 5.0, 6.0]]) == [
        [1.0, 2.0, 4.0],
        [2.0, 3.0, 5.0],
        [4.0, 5.0, 6.0],
    ]


def test_solutions_and_inverses(rng, H):
    B = rng.normal(size=(4, 2))
    assert_allclose(matrices.solved(ltdl(H.tolist()), B), np.linalg.solve(H, B), rtol=1e-11)
    inverse = np.array(matrices.inverse(H.tolist()))
    assert_allclose(inverse, np.linalg.inv(H), rtol=1e-11, atol=1e-13)
    assert np.array_equal(inverse, inverse.T)


def test_congruence_is_exactly_symmetric(rng, H):
    T = rng.normal(size=(4, 3))
    found = np.array(matrices.congruence(T.T.tolist(), H.tolist()))
    assert_allclose(found, T.T @ H @ T, rtol=1e-12, atol=1e-13)
    assert np.array_equal(found, found.T)


def test_rows_of_an_articulated_inertia(rng):
    A, D = rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    rigid = RigidBodyInertia.from_mass_center(2.0, (0.3, -0.2, 0.1), (A @ A.T).tolist())
    inertia = ArticulatedBodyInertia.from_rigid(rigid)
    assert_allclose(matrices.rows_of(inertia), rigid.matrix(), rtol=1e-14, atol=1e-15)
    symmetric = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    full = np.array([[1.0, 2.0, 4.0], [2.0, 3.0, 5.0], [4.0, 5.0, 6.0]])
    inertia = ArticulatedBodyInertia(symmetric, tuple(map(tuple, D.tolist())), symmetric)
    assert_allclose(matrices.rows_of(inertia), np.block([[full, D], [D.T, full]]), rtol=0)
