# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Three-dimensional vectors and matrices as tuples of scalars.

A vector is ``(x, y, z)``, a matrix a tuple of three rows, a symmetric matrix its lower triangle
``(xx, yx, yy, zx, zy, zz)`` (the book's `lt`, A.3). All spatial quantities use these products, so
they support any scalar and have the costs of the book's tables.
"""

from typing import Iterable, Sequence, Tuple

import numpy as np

from rbd_ros.spatial.scalar import is_zero, Scalar

Vector3 = Tuple[Scalar, Scalar, Scalar]
Matrix3 = Tuple[Vector3, Vector3, Vector3]
Symmetric3 = Tuple[Scalar, Scalar, Scalar, Scalar, Scalar, Scalar]

# Integers are exact in every type of scalar (and add nothing to a float).
ZERO3: Vector3 = (0, 0, 0)
IDENTITY3: Matrix3 = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


def vector3(values: Iterable[Scalar], what: str = 'vector') -> Vector3:
    """Return three scalars as a tuple.

    :param what: name of the vector in the message
    :raises ValueError: if there are not exactly three
    """
    result = tuple(_plain(value) for value in values)
    if len(result) != 3:
        raise ValueError(f'{what} must have 3 elements, got {len(result)}')
    return result


def matrix3(rows: Iterable[Iterable[Scalar]], what: str = 'matrix') -> Matrix3:
    """Return three rows of three scalars as nested tuples.

    :param what: name of the matrix in the message
    :raises ValueError: if the shape is not 3x3
    """
    result = tuple(vector3(row, what) for row in rows)
    if len(result) != 3:
        raise ValueError(f'{what} must have 3 rows, got {len(result)}')
    return result


def _plain(value: Scalar) -> Scalar:
    """Convert NumPy scalars to Python's, which are faster and print better."""
    return value.item() if isinstance(value, np.generic) else value


def add(a: Vector3, b: Vector3) -> Vector3:
    """Return the sum a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def subtract(a: Vector3, b: Vector3) -> Vector3:
    """Return the difference a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def negate(a: Vector3) -> Vector3:
    """Return the opposite -a."""
    return -a[0], -a[1], -a[2]


def scale(s: Scalar, a: Vector3) -> Vector3:
    """Return the multiple s a."""
    return s * a[0], s * a[1], s * a[2]


def dot(a: Vector3, b: Vector3) -> Scalar:
    """Return the scalar product a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector3, b: Vector3) -> Vector3:
    """Return the vector product a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def skew(a: Vector3) -> Matrix3:
    """Return the matrix a x, so that (a x) b = a x b (book eq 2.23)."""
    return (0, -a[2], a[1]), (a[2], 0, -a[0]), (-a[1], a[0], 0)


def unskew(A: Matrix3) -> Vector3:
    """Return the vector a of the skew-symmetric part of `A`, the inverse of `skew`."""
    return (A[2][1] - A[1][2]) * 0.5, (A[0][2] - A[2][0]) * 0.5, (A[1][0] - A[0][1]) * 0.5


def apply(A: Matrix3, b: Vector3) -> Vector3:
    """Return the product A b."""
    return dot(A[0], b), dot(A[1], b), dot(A[2], b)


def apply_transpose(A: Matrix3, b: Vector3) -> Vector3:
    """Return the product A^T b."""
    return (
        A[0][0] * b[0] + A[1][0] * b[1] + A[2][0] * b[2],
        A[0][1] * b[0] + A[1][1] * b[1] + A[2][1] * b[2],
        A[0][2] * b[0] + A[1][2] * b[1] + A[2][2] * b[2],
    )


def transpose(A: Matrix3) -> Matrix3:
    """Return the transpose A^T."""
    (a, b, c), (d, e, f), (g, h, i) = A
    return (a, d, g), (b, e, h), (c, f, i)


def multiply(A: Matrix3, B: Matrix3) -> Matrix3:
    """Return the product A B."""
    a, b, c = A
    x, y, z = transpose(B)
    return (
        (dot(a, x), dot(a, y), dot(a, z)),
        (dot(b, x), dot(b, y), dot(b, z)),
        (dot(c, x), dot(c, y), dot(c, z)),
    )


def multiply_rotations(F: Matrix3, G: Matrix3) -> Matrix3:
    """Return the product F G of two rotation matrices, 24m + 15a.

    Two columns are multiplied, and the third is their cross product (book A.5). With a known zero
    in F or G, as in a rotation about a coordinate axis, the whole product is multiplied, which
    takes fewer operations.
    """
    if has_known_zero(F) or has_known_zero(G):
        return multiply(F, G)
    Gt = transpose(G)
    first, second = apply(F, Gt[0]), apply(F, Gt[1])
    return transpose((first, second, cross(first, second)))


def multiply_rotation_chain(matrices: Sequence[Matrix3]) -> Matrix3:
    """Return the product F_1 F_2 ... F_n G of rotation matrices, (18m + 12a) n + 6m + 3a.

    Two columns are multiplied by all matrices, and the third is their cross product (book A.5).

    :param matrices: at least one rotation matrix, the leftmost first
    """
    *others, last = matrices
    columns = transpose(last)[:2]
    if not others:
        return last
    for F in reversed(others):
        columns = apply(F, columns[0]), apply(F, columns[1])
    return transpose((*columns, cross(*columns)))


def inverse_symmetric(A: Symmetric3) -> Symmetric3:
    """Return the inverse of a symmetric matrix, by its adjugate.

    :raises ZeroDivisionError: if it is constant and singular
    """
    xx, yx, yy, zx, zy, zz = A
    a, b, c = yy * zz - zy * zy, zx * zy - yx * zz, yx * zy - zx * yy
    k = 1 / (xx * a + yx * b + zx * c)
    return (
        k * a,
        k * b,
        k * (xx * zz - zx * zx),
        k * c,
        k * (yx * zx - xx * zy),
        k * (xx * yy - yx * yx),
    )


def add_matrices(A: Matrix3, B: Matrix3) -> Matrix3:
    """Return the sum A + B."""
    return add(A[0], B[0]), add(A[1], B[1]), add(A[2], B[2])


def subtract_matrices(A: Matrix3, B: Matrix3) -> Matrix3:
    """Return the difference A - B."""
    return subtract(A[0], B[0]), subtract(A[1], B[1]), subtract(A[2], B[2])


def cross_matrix(r: Vector3, A: Matrix3) -> Matrix3:
    """Return the product (r x) A."""
    x, y, z = transpose(A)
    return transpose((cross(r, x), cross(r, y), cross(r, z)))


def matrix_cross(A: Matrix3, r: Vector3) -> Matrix3:
    """Return the product A (r x), row by row: a^T (r x) = (a x r)^T."""
    return cross(A[0], r), cross(A[1], r), cross(A[2], r)


def symmetric(A: Matrix3) -> Symmetric3:
    """Return the lower triangle of `A` (the book's lt)."""
    return A[0][0], A[1][0], A[1][1], A[2][0], A[2][1], A[2][2]


def full(L: Symmetric3) -> Matrix3:
    """Return the symmetric matrix of a lower triangle."""
    xx, yx, yy, zx, zy, zz = L
    return (xx, yx, zx), (yx, yy, zy), (zx, zy, zz)


def lower_skew_skew(a: Vector3, b: Vector3) -> Symmetric3:
    """Return the lower triangle of (a x)(b x) = b a^T - (a . b) 1, 6m + 3a."""
    xx, yy, zz = a[0] * b[0], a[1] * b[1], a[2] * b[2]
    return -(yy + zz), b[1] * a[0], -(xx + zz), b[2] * a[0], b[2] * a[1], -(xx + yy)


def has_known_zero(A: Matrix3) -> bool:
    """Return whether an element is a known zero, so that direct multiplication is cheaper."""
    return any(is_zero(x) for row in A for x in row)


def rotate_symmetric(E: Matrix3, A: Symmetric3) -> Symmetric3:
    """Rotate a symmetric matrix: the congruence E A E^T with a rotation matrix E, 28m + 29a.

    Source: book A.5, "Rotation of a symmetric matrix": A = L + D + v x with D isotropic and two
    columns of L, so that only the first two columns of E affect the product; the trace is
    invariant. With a known zero in E, direct multiplication takes no more operations and loses no
    digits of small elements.
    """
    if has_known_zero(E):
        Y = multiply(E, full(A))
        return tuple(dot(Y[i], E[j]) for i in range(3) for j in range(i + 1))
    xx, yx, yy, zx, zy, zz = A
    (e11, e12, _), (e21, e22, e23), (e31, e32, e33) = E
    l11, l22, l31, l32 = xx - zz, yy - zz, zx + zx, zy + zy
    y21, y22 = e21 * l11 + e22 * yx + e23 * l31, e21 * yx + e22 * l22 + e23 * l32
    y31, y32 = e31 * l11 + e32 * yx + e33 * l31, e31 * yx + e32 * l22 + e33 * l32
    z21, z22 = y21 * e11 + y22 * e12, y21 * e21 + y22 * e22
    z31, z32, z33 = y31 * e11 + y32 * e12, y31 * e21 + y32 * e22, y31 * e31 + y32 * e32
    z11 = l11 + l22 - z22 - z33
    ev1, ev2, ev3 = e12 * zx - e11 * zy, e22 * zx - e21 * zy, e32 * zx - e31 * zy
    return z11 + zz, z21 + ev3, z22 + zz, z31 - ev2, z32 + ev1, z33 + zz


def rotate_general(E: Matrix3, A: Matrix3, by_trace: bool = False) -> Matrix3:
    """Rotate a general matrix: the congruence E A E^T with a rotation matrix E, 42m + 37a.

    Source: book A.5, "Rotation of a general matrix", with Z11 computed like the rest of Z (2m + 1a
    instead of 3a), which gives the totals of table A.4.

    :param by_trace: compute Z11 from the invariant trace: 40m + 39a
    """
    if has_known_zero(E):
        return multiply(multiply(E, A), transpose(E))
    (a11, a12, a13), (a21, a22, a23), (a31, a32, a33) = A
    l1, l2 = (a11 - a33, a21, a31 + a13), (a12, a22 - a33, a32 + a23)
    first, second = apply(E, l1), apply(E, l2)
    (z11, z12, z13), (z21, z22, z23), (z31, z32, z33) = (
        tuple(y1 * row[0] + y2 * row[1] for row in E) for y1, y2 in zip(first, second)
    )
    if by_trace:
        z11 = l1[0] + l2[1] - z22 - z33
    ev1, ev2, ev3 = (row[1] * a13 - row[0] * a23 for row in E)
    return (
        (z11 + a33, z12 - ev3, z13 + ev2),
        (z21 + ev3, z22 + a33, z23 - ev1),
        (z31 - ev2, z32 + ev1, z33 + a33),
    )
