# SPDX-License-Identifier: Apache-2.0
"""Vectors, matrices and transforms of loops, in registers where the loop is machine code.

Here they are as the interpreter takes them; what the compiler makes of them is in
vector_arithmetic.py. Both do the same operations in the same order: results are bitwise identical.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple, overload

import numpy as np


class Vec(tuple):
    """Vector of floats; an annotation says how many: `Vec[3]`.

    `a + b`, `a - b`, `-a`, `s * a`, `a / s` are element by element, `a @ b` is the inner product.
    A row of an array takes one: `x[i] = a`.
    """

    __slots__ = ()
    #: Numbers of NumPy leave products with a vector to it.
    # Otherwise `np.float64(2) * a` would be an array, of which compiled code knows nothing.
    __array_ufunc__ = None

    def __new__(cls, *numbers: float) -> Vec:
        """Return the vector of some numbers."""
        return super().__new__(cls, map(float, numbers))

    def __add__(self, other: Any) -> Vec:
        return Vec(*(a + b for a, b in zip(self, _same(self, other))))

    def __sub__(self, other: Any) -> Vec:
        return Vec(*(a - b for a, b in zip(self, _same(self, other))))

    def __neg__(self) -> Vec:
        return Vec(*(-a for a in self))

    def __mul__(self, factor: Any) -> Vec:
        return Vec(*(a * float(factor) for a in self))

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Vec:
        return Vec(*(a / float(divisor) for a in self))

    def __matmul__(self, other: Any) -> float:
        # Not `sum`, which begins with 0 and, from Python 3.12 on, compensates rounding errors.
        first, *products = (a * b for a, b in zip(self, _same(self, other)))
        for product in products:
            first += product
        return first


#: `Vec[3]`, for type checkers.
Vec3 = Annotated[Vec, 3]


def _same(a: Vec, b: Any) -> Vec:
    if not isinstance(b, Vec) or len(a) != len(b):
        raise TypeError(f'needs a vector of {len(a)} numbers, not {b!r}')
    return b


class Mat(tuple):
    """Matrix, a tuple of its rows: `Mat(Vec(1, 0), Vec(0, 1))`, annotated as `Mat[2, 2]`.

    `m @ v` and `m @ n` are products, `m.T` is the transpose.
    """

    __slots__ = ()

    def __new__(cls, *rows: Vec) -> Mat:
        """Return the matrix with some rows."""
        return super().__new__(cls, rows)

    @property
    def T(self) -> Mat:
        """The transpose."""
        return Mat(*(Vec(*column) for column in zip(*self)))

    @overload
    def __matmul__(self, other: Mat) -> Mat: ...

    @overload
    def __matmul__(self, other: Vec) -> Vec: ...

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Mat):
            columns = other.T
            return Mat(*(Vec(*(row @ column for column in columns)) for row in self))
        return Vec(*(row @ other for row in self))


class Transform(NamedTuple):
    """Rotation and position of a frame: `t @ point` is the point outside, `t @ u` a transform.

    A direction outside is `t.rotation @ direction`, one inside `t.rotation.T @ direction`.
    """

    rotation: Mat
    position: Vec

    @overload
    def __matmul__(self, other: Transform) -> Transform: ...

    @overload
    def __matmul__(self, other: Vec) -> Vec: ...

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Transform):
            return Transform(self.rotation @ other.rotation, self @ other.position)
        return self.rotation @ other + self.position


def load_vec(array: np.ndarray, size: int, first: int = 0) -> Vec:
    """Return numbers of an array in one dimension, from the first one; the size is a literal."""
    return Vec(*(array[first + k] for k in range(size)))


def load_transform(array: np.ndarray) -> Transform:
    """Return the transform in an array of 12: its rotation row by row, then its position."""
    rows = (load_vec(array, 3, 3 * k) for k in range(3))
    return Transform(Mat(*rows), load_vec(array, 3, 9))


def dot(a: Vec, b: Vec) -> float:
    """Return the inner product, `a @ b`."""
    return a @ b


def cross(a: Vec, b: Vec) -> Vec:
    """Return the cross product of two vectors of three numbers."""
    (a0, a1, a2), (b0, b1, b2) = a, b
    return Vec(a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0)


def norm(a: Vec) -> float:
    """Return the length of a vector, the root of `a @ a`."""
    return math.sqrt(a @ a)
