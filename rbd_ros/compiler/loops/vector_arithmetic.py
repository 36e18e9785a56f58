# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of vectors, as that of their numbers: targets know no vectors.

A vector is a tuple of floats. What is used more than once of it is evaluated once.
"""

from __future__ import annotations

import ast
from typing import Sequence

from rbd_ros.compiler.loops import loop_arithmetic
from rbd_ros.compiler.loops.loop_arithmetic import constant, convert
from rbd_ros.compiler.loops.loop_ir import Expression
from rbd_ros.compiler.loops.loop_types import (
    ArrayType,
    CompileError,
    FLOAT,
    INT,
    VecType,
)


def vector(*items: Expression) -> Expression:
    """Return the vector of some numbers."""
    numbers = tuple(convert(each, FLOAT, 'a number of a vector') for each in items)
    return Expression(VecType((FLOAT,) * len(items)), 'values', numbers)


def items_of(value: Expression) -> Sequence[Expression]:
    """Return the values in a tuple or vector."""
    if value.name == 'values':
        return value.operands
    whole = _shared(value)
    return [Expression(kind, 'item', (whole,), k) for k, kind in enumerate(value.type.items)]


def _shared(value: Expression) -> Expression:
    if value.name in ('constant', 'variable', 'item', 'shared'):
        return value
    return Expression(value.type, 'shared', (value,))


def binary(operation: ast.operator, a: Expression, b: Expression) -> Expression:
    """Return the result of an operator with two operands, numbers or vectors.

    :raises CompileError: if these operands have none
    """
    vectors = [isinstance(each.type, VecType) for each in (a, b)]
    if not any(vectors):
        return loop_arithmetic.binary(operation, a, b)
    if all(vectors) and a.type == b.type:
        if isinstance(operation, (ast.Add, ast.Sub)):
            pairs = zip(items_of(a), items_of(b))
            return vector(*(loop_arithmetic.binary(operation, *pair) for pair in pairs))
        if isinstance(operation, ast.MatMult):
            return dot(a, b)
    elif vectors[0] and isinstance(operation, (ast.Mult, ast.Div)):
        factor = _shared(convert(b, FLOAT, 'a factor of a vector'))
        return vector(*(loop_arithmetic.binary(operation, x, factor) for x in items_of(a)))
    elif vectors[1] and isinstance(operation, ast.Mult):
        return binary(operation, b, a)
    raise CompileError(f'{type(operation).__name__} of {a.type} and {b.type} is not compiled')


def unary(operation: ast.unaryop, value: Expression) -> Expression:
    """Return the result of an operator with one operand, a number or vector."""
    if isinstance(value.type, VecType) and isinstance(operation, ast.USub):
        return vector(*(loop_arithmetic.unary(operation, each) for each in items_of(value)))
    return loop_arithmetic.unary(operation, value)


def load_vec(array: Expression, size: Expression) -> Expression:
    """Return the first numbers of an array in one dimension."""
    if not isinstance(array.type, ArrayType) or array.type.ndim != 1:
        raise CompileError(f'a vector is loaded from an array in one dimension, not {array.type}')
    if size.type != INT or size.known is None or not 0 < size.known <= 16:
        raise CompileError('the size of a vector is a literal from 1 to 16')
    whole, number = _shared(array), array.type.number
    indices = (constant(k) for k in range(size.known))
    return vector(*(Expression(number, 'element', (whole, k)) for k in indices))


def dot(a: Expression, b: Expression) -> Expression:
    """Return the inner product, added from the first numbers to the last ones."""
    _require_vectors(a, b)
    pairs = zip(map(_shared, items_of(a)), map(_shared, items_of(b)))
    result, *products = (loop_arithmetic.binary(ast.Mult(), *pair) for pair in pairs)
    for each in products:
        result = loop_arithmetic.binary(ast.Add(), result, each)
    return result


def cross(a: Expression, b: Expression) -> Expression:
    """Return the cross product of two vectors of three numbers."""
    _require_vectors(a, b, 3)
    x, y = ([_shared(each) for each in items_of(value)] for value in (a, b))

    def item(i: int, j: int) -> Expression:
        products = (loop_arithmetic.binary(ast.Mult(), x[m], y[n]) for m, n in ((i, j), (j, i)))
        return loop_arithmetic.binary(ast.Sub(), *products)

    return vector(item(1, 2), item(2, 0), item(0, 1))


def norm(a: Expression) -> Expression:
    """Return the length of a vector."""
    a = vector(*map(_shared, items_of(a))) if isinstance(a.type, VecType) else a
    return Expression(FLOAT, 'sqrt', (dot(a, a),))


def _require_vectors(a: Expression, b: Expression, size: int = 0) -> None:
    if not isinstance(a.type, VecType) or a.type != b.type or len(a.type.items) != size and size:
        raise CompileError(f'two vectors of {size or "one size"}, not {a.type} and {b.type}')
