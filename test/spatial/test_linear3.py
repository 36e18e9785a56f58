# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Three-dimensional products: the identities of book table 2.1, the tricks of book A.5."""

from fractions import Fraction

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import dense
from support.counting import count, Counting

from rbd_ros.spatial import linear3

TOLERANCE = {'rtol': 1e-13, 'atol': 1e-13}  # a few roundings of numbers of size 1 to 10


def matrix(A):
    return np.array(A, dtype=float)


def skew(a):
    return matrix(linear3.skew(tuple(a)))


def counting(values):
    """Return the nested tuples of counting scalars."""
    values = np.asarray(values)
    return Counting(values) if values.ndim == 0 else tuple(counting(x) for x in values)


def operations(rows):
    return count([x for row in rows for x in row])[:2]


def triangle(A):
    return tuple(A[i, j] for i in range(3) for j in range(i + 1))


@pytest.mark.seed('SV12', kind='full')
def test_nine_identities_of_the_cross_operator(rng):
    """Book table 2.1, each with a x from `skew` and products from NumPy."""
    for _ in range(10):
        a, b = rng.normal(size=(2, 3))
        E, k = dense.rotation(rng), rng.normal()
        A, B = skew(a), skew(b)
        ab = matrix(linear3.cross(tuple(a), tuple(b)))
        assert_allclose(A, -A.T, rtol=0)
        assert_allclose(skew(k * a), k * A, **TOLERANCE)
        assert_allclose(skew(a + b), A + B, **TOLERANCE)
        assert_allclose(skew(E @ a), E @ A @ np.linalg.inv(E), **TOLERANCE)
        assert_allclose(A @ b, -B @ a, **TOLERANCE)
        assert_allclose(ab, a @ B, **TOLERANCE)
        assert_allclose(skew(ab), A @ B - B @ A, **TOLERANCE)
        assert_allclose(skew(ab), np.outer(b, a) - np.outer(a, b), **TOLERANCE)
        assert_allclose(A @ B, np.outer(b, a) - a @ b * np.eye(3), **TOLERANCE)
        assert_allclose(
            matrix(linear3.full(linear3.lower_skew_skew(tuple(a), tuple(a)))), A @ A, **TOLERANCE
        )


@pytest.mark.seed('SV12', kind='full')
def test_skew_is_the_cross_product_and_unskew_its_inverse(rng):
    a, b = rng.normal(size=(2, 3))
    assert_allclose(skew(a) @ b, np.cross(a, b), **TOLERANCE)
    assert_allclose(skew(a), dense.skew(a), rtol=0)
    assert_allclose(linear3.unskew(linear3.skew(tuple(a))), a, rtol=0)
    # of a general matrix, the skew-symmetric part
    general = rng.normal(size=(3, 3))
    part = (general - general.T) / 2
    assert_allclose(skew(linear3.unskew(linear3.matrix3(general))), part, **TOLERANCE)


@pytest.mark.seed('AR07', kind='full')
def test_product_of_rotations_by_a_cross_product(rng):
    """24m + 15a, and (18m + 12a) n + 6m + 3a for a chain of n + 1."""
    rotations = [dense.rotation(rng) for _ in range(5)]
    pair = linear3.multiply_rotations(*map(counting, rotations[:2]))
    assert_allclose(matrix(pair), rotations[0] @ rotations[1], **TOLERANCE)
    assert operations(pair) == (24, 15)
    for n in range(5):
        chain = linear3.multiply_rotation_chain([counting(E) for E in rotations[: n + 1]])
        expected = np.linalg.multi_dot([np.eye(3), *rotations[: n + 1]])
        assert_allclose(matrix(chain), expected, **TOLERANCE)
        assert operations(chain) == ((18 * n + 6, 12 * n + 3) if n else (0, 0))


@pytest.mark.seed('AR07', kind='full')
def test_rotation_of_matrices_by_their_parts(rng):
    """40m + 39a of a general matrix, 28m + 29a of a symmetric one."""
    E, A = dense.rotation(rng), rng.normal(size=(3, 3))
    S = A + A.T
    for by_trace, cost in ((True, (40, 39)), (False, (42, 37))):
        general = linear3.rotate_general(counting(E), counting(A), by_trace)
        assert_allclose(matrix(general), E @ A @ E.T, **TOLERANCE)
        assert operations(general) == cost
    symmetric = linear3.rotate_symmetric(counting(E), counting(triangle(S)))
    assert_allclose(matrix(linear3.full(symmetric)), E @ S @ E.T, **TOLERANCE)
    assert operations([symmetric]) == (28, 29)


def test_inverse_of_a_symmetric_matrix(rng):
    S = dense.positive_definite(rng, 3)
    inverse = linear3.inverse_symmetric(triangle(S))
    assert_allclose(matrix(linear3.full(inverse)) @ S, np.eye(3), atol=1e-13)
    exact = linear3.inverse_symmetric(tuple(map(Fraction, (2, 1, 3, 0, 1, 4))))
    whole = linear3.multiply(linear3.full(exact), ((2, 1, 0), (1, 3, 1), (0, 1, 4)))
    assert whole == linear3.IDENTITY3
    with pytest.raises(ZeroDivisionError):
        linear3.inverse_symmetric((1, 0, 0, 0, 0, 1))


def test_sums_and_products_against_numpy(rng):
    a, b = rng.normal(size=(2, 3))
    A, B = rng.normal(size=(2, 3, 3))
    u, v = tuple(a.tolist()), tuple(b.tolist())
    F, G = linear3.matrix3(A), linear3.matrix3(B)
    assert_allclose(linear3.add(u, v), a + b, rtol=0)
    assert_allclose(linear3.subtract(u, v), a - b, rtol=0)
    assert_allclose(linear3.negate(u), -a, rtol=0)
    assert_allclose(linear3.scale(2.5, u), 2.5 * a, rtol=0)
    assert linear3.dot(u, v) == pytest.approx(a @ b, rel=1e-13)
    assert_allclose(linear3.cross(u, v), np.cross(a, b), **TOLERANCE)
    assert_allclose(linear3.apply(F, u), A @ a, **TOLERANCE)
    assert_allclose(linear3.apply_transpose(F, u), A.T @ a, **TOLERANCE)
    assert_allclose(linear3.transpose(F), A.T, rtol=0)
    assert_allclose(linear3.multiply(F, G), A @ B, **TOLERANCE)
    assert_allclose(linear3.add_matrices(F, G), A + B, rtol=0)
    assert_allclose(linear3.subtract_matrices(F, G), A - B, rtol=0)
    assert_allclose(linear3.cross_matrix(u, F), dense.skew(a) @ A, **TOLERANCE)
    assert_allclose(linear3.matrix_cross(F, u), A @ dense.skew(a), **TOLERANCE)
    assert linear3.symmetric(F) == triangle(A)
    assert linear3.full((1, 2, 3, 4, 5, 6)) == ((1, 2, 4), (2, 3, 5), (4, 5, 6))
    products = linear3.full(linear3.lower_skew_skew(u, v))
    assert_allclose(np.tril(products), np.tril(dense.skew(a) @ dense.skew(b)), **TOLERANCE)


@pytest.mark.parametrize('axis', range(3))
def test_rotations_with_zeros_are_multiplied_out(rng, axis):
    c, s = 0.28, 0.96
    E = np.roll([[1.0, 0.0, 0.0], [0.0, c, s], [0.0, -s, c]], (axis, axis), axis=(0, 1))
    other, A = dense.rotation(rng), rng.normal(size=(3, 3))
    F, G = linear3.matrix3(E), linear3.matrix3(other)
    assert linear3.has_known_zero(F) and not linear3.has_known_zero(G)
    assert_allclose(linear3.multiply_rotations(F, G), E @ other, **TOLERANCE)
    assert_allclose(linear3.multiply_rotations(G, F), other @ E, **TOLERANCE)
    assert_allclose(linear3.rotate_general(F, linear3.matrix3(A)), E @ A @ E.T, **TOLERANCE)
    S = A + A.T
    rotated = linear3.full(linear3.rotate_symmetric(F, triangle(S)))
    assert_allclose(rotated, E @ S @ E.T, **TOLERANCE)
