# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Functions and types of the loop language beside Python's: vectors, matrices, transforms, words.

Here is their implementation in Python, for loops without a compiler. In machine code each word is
an instruction or two (loop_calls.py), and vectors are in registers (vector_arithmetic.py). Both do
the same operations in the same order, so results are bitwise identical.
"""

from __future__ import annotations

import ctypes
from functools import cached_property
from importlib import import_module
import math
import struct
from typing import Annotated, Any, Callable, List, NamedTuple, overload

import numpy as np

from rbd_ros.compiler.loops.loop_records import Record
from rbd_ros.compiler.runtime import handles


def compiled(function: Callable) -> Callable:
    """Make a function part of the entry points that call it; Python itself may call it too.

    It is compiled once for each combination of argument types, and LLVM inlines it if it is small.
    Parameters that are numbers, and the result, must be annotated.
    """
    function.is_compiled = True
    return function


class NamedFunction:
    """A compiled function as field of a record; its module is imported only to compile it.

    :param module: dotted name of the module of this package that defines it
    :param name: its name there
    """

    is_compiled = True

    def __init__(self, module: str, name: str):
        self.module, self.name = module, name

    @cached_property
    def function(self) -> Callable:
        """The function."""
        found: Callable = getattr(import_module(self.module), self.name)
        return found

    def __call__(self, *arguments: Any) -> Any:
        """Run it in the interpreter."""
        return self.function(*arguments)


def call_kernel(address: int, inputs: np.ndarray, outputs: np.ndarray) -> None:
    """Run a robot's kernel: all inputs, concatenated, and buffers for the outputs."""
    # Views, since the arrays are contiguous: the kernel writes into the caller's arrays.
    inputs, outputs = inputs.reshape(-1), outputs.reshape(-1)
    if handles.is_handle(address):
        handles.call(address, inputs, outputs)
    else:
        # It keeps the GIL: a kernel is faster than releasing and acquiring it.
        function = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)
        function(inputs.ctypes.data, outputs.ctypes.data)


def call_loop(address: int, *arguments: Any) -> int:
    """Run an entry point by its address.

    :param arguments: its records and numbers; the kinds of numbers are not compared with its own
    """
    if handles.is_handle(address):
        return handles.loop(address)(*arguments)
    passed: List[Any] = [Record(each) if isinstance(each, tuple) else each for each in arguments]
    kinds = [ctypes.c_double if isinstance(each, float) else ctypes.c_int64 for each in passed]
    function = ctypes.PYFUNCTYPE(ctypes.c_int64, *kinds)(address)
    return function(*(each.address if isinstance(each, Record) else each for each in passed))


def stack_array(size: int) -> np.ndarray:
    """Return a buffer for intermediate results, on the stack in machine code.

    The size is a literal.
    """
    # Not initialized, like the stack.
    return np.empty(size)


def stack_matrix(rows: int, columns: int) -> np.ndarray:
    """Return a buffer like that of `stack_array`, with two dimensions."""
    return np.empty((rows, columns))


def simd_range(*bounds: int) -> range:
    """Return the range of a loop whose rounds may run in SIMD lanes.

    No round may read what another one writes; results are bitwise identical. Worthwhile for rows
    of twenty elements and more; for fewer, the check of their number takes longer.
    """
    return range(*bounds)


def load_i64(data: bytes, at: int) -> int:
    """Return eight bytes as an integer, aligned or not.

    Machine code does not check the bounds.
    """
    return struct.unpack_from('=q', data, at)[0]


def load_f64(data: bytes, at: int) -> float:
    """Return eight bytes as a floating-point number, likewise."""
    return struct.unpack_from('=d', data, at)[0]


class Vec(tuple):
    """Vector of floats; an annotation gives its size: `Vec[3]`.

    `a + b`, `a - b`, `-a`, `s * a`, `a / s` are element by element, `a @ b` is the inner product.
    A row of an array takes one: `x[i] = a`.
    """

    __slots__ = ()
    #: Products with NumPy scalars are the vector's.
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
        first, *products = (a * b for a, b in zip(self, _same(self, other)))
        for product in products:
            first += product
        return first


#: `Vec[3]`, for type checkers.
Vec3 = Annotated[Vec, 3]
Vec4 = Annotated[Vec, 4]


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


#: `Mat[3, 3]`, for type checkers.
Mat3 = Annotated[Mat, 3]


class Transform(NamedTuple):
    """Rotation and position of a frame: `t @ point` is in outer coordinates, `t @ u` a transform.

    A direction in outer coordinates is `t.rotation @ direction`; `t.rotation.T` is the inverse.
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
