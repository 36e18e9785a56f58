# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of vectors and matrices, reduced to numbers: targets have only tuples.

A vector is a tuple of floats, a matrix one of vectors. Elements used more than once are evaluated
once.
"""

from __future__ import annotations

import ast
from typing import Any, Sequence

from rbd_ros.compiler.loops import loop_arithmetic
from rbd_ros.compiler.loops.loop_arithmetic import constant, convert
from rbd_ros.compiler.loops.loop_ir import Expression
from rbd_ros.compiler.loops.loop_types import (
    ArrayType,
    BOOL,
    CompileError,
    FLOAT,
    INT,
    MatType,
    NamedType,
    NumberType,
    RecordType,
    TupleType,
    Type,
    VecType,
)
from rbd_ros.compiler.loops.vocabulary import Transform


def vector(*items: Expression) -> Expression:
    """Return the vector of some numbers."""
    numbers = tuple(convert(each, FLOAT, 'a number of a vector') for each in items)
    return Expression(VecType((FLOAT,) * len(items)), 'values', numbers)


def matrix(*rows: Expression) -> Expression:
    """Return the matrix of some rows."""
    kinds = tuple(each.type for each in rows)
    if not isinstance(kinds[0], VecType) or set(kinds) != {kinds[0]}:
        raise CompileError('the rows of a matrix are vectors of one size')
    return Expression(MatType(kinds), 'values', rows)


def named(kind: Any, hints: Sequence[Any], values: Sequence[Expression]) -> Expression:
    """Return a named tuple as a value.

    :param kind: its class
    :param hints: type of each number field, else None
    """
    if len(values) != len(hints):
        raise CompileError(f'{kind.__name__} has {len(hints)} fields')
    pairs = zip(values, hints, kind._fields)
    items = tuple(convert(x, hint, field) if hint else x for x, hint, field in pairs)
    return Expression(NamedType(tuple(each.type for each in items), kind), 'values', items)


def result_of(value: Expression, kind: Type) -> Expression:
    """Return a value as the result of a function, with converted numbers.

    :raises CompileError: if it is of another type
    """
    if isinstance(kind, NumberType):
        return convert(value, kind, 'the result')
    if type(value.type) is not type(kind) or len(value.type.items) != len(kind.items):
        raise CompileError(f'the function is annotated to return {kind}')
    items = (result_of(*each) for each in zip(items_of(value), kind.items))
    return Expression(kind, 'values', tuple(items))


def select(condition: Expression, a: Expression, b: Expression) -> Expression:
    """Return one of two numbers, vectors or matrices of one type; both are evaluated."""
    # One selection per number, with a common condition.
    condition = _shared(condition)
    if not isinstance(a.type, TupleType):
        return Expression(a.type, 'select', (condition, a, b))
    items = tuple(select(condition, *pair) for pair in zip(items_of(a), items_of(b)))
    return Expression(a.type, 'values', items)


def item_at(value: Expression, index: Expression) -> Expression:
    """Return the element of a vector, or the row of a matrix, at an unknown index."""
    (first, *others), index = items_of(value), _shared(index)
    # A chain of selections instead of a load: vectors are in registers. An index out of range
    # gives the first item; tests in the interpreter find it.
    for k, each in enumerate(others, start=1):
        first = select(Expression(BOOL, '==', (index, constant(k))), each, first)
    return first


def transposed(value: Expression) -> Expression:
    """Return the transpose of a matrix."""
    return matrix(*(vector(*column) for column in zip(*map(items_of, items_of(value)))))


def items_of(value: Expression) -> Sequence[Expression]:
    """Return the values in a tuple or vector."""
    # Items of `values` are read directly, so that targets need no tuple for them.
    if value.name == 'values':
        return value.operands
    whole = _shared(value)
    return [
        Expression(kind, 'constant_record')
        if isinstance(kind, RecordType) and kind.is_constant
        else Expression(kind, 'item', (whole,), k)
        for k, kind in enumerate(value.type.items)
    ]


def _shared(value: Expression) -> Expression:
    # Expressions are trees: an operand used twice would be computed twice. These cost nothing.
    if value.name in ('constant', 'variable', 'item', 'shared'):
        return value
    return Expression(value.type, 'shared', (value,))


def binary(operation: ast.operator, a: Expression, b: Expression) -> Expression:
    """Return the result of an operator with two operands, numbers or vectors.

    :raises CompileError: if these operands have none
    """
    if isinstance(operation, ast.MatMult) and isinstance(a.type, (MatType, NamedType)):
        return _applied(a, b)
    vectors = [isinstance(each.type, VecType) for each in (a, b)]
    if not any(vectors):
        return loop_arithmetic.binary(operation, a, b)
    if all(vectors) and a.type == b.type:
        # Vectors of one size only: broadcasting would hide errors.
        if isinstance(operation, (ast.Add, ast.Sub)):
            pairs = zip(items_of(a), items_of(b))
            return vector(*(loop_arithmetic.binary(operation, *pair) for pair in pairs))
        if isinstance(operation, ast.MatMult):
            return dot(a, b)
    elif vectors[0] and isinstance(operation, (ast.Mult, ast.Div)):
        factor = _shared(convert(b, FLOAT, 'a factor of a vector'))
        return vector(*(loop_arithmetic.binary(operation, x, factor) for x in items_of(a)))
    # `s * a` is `a * s`, also in `Vec.__rmul__`: products of floats commute bitwise.
    elif vectors[1] and isinstance(operation, ast.Mult):
        return binary(operation, b, a)
    raise CompileError(f'{type(operation).__name__} of {a.type} and {b.type} is not compiled')


def _applied(a: Expression, b: Expression) -> Expression:
    """Return the product of a matrix or transform with a vector or one of its kind."""
    if getattr(a.type, 'kind', None) is Transform:
        rotation, position = items_of(a)
        if a.type != b.type:
            return binary(ast.Add(), _applied(rotation, b), position)
        # (R, p)(R', p') = (R R', R p' + p): the elements of R are used twice.
        rotation, (other, point) = _kept(rotation), items_of(b)
        moved = binary(ast.Add(), _applied(rotation, point), position)
        return named(Transform, (None, None), (_applied(rotation, other), moved))
    if isinstance(a.type, MatType) and isinstance(b.type, MatType):
        # By inner products, as `Mat.__matmul__`: the same order of sums, so the same bits.
        a, columns = _kept(a), items_of(transposed(_kept(b)))
        return matrix(*(vector(*(dot(row, x) for x in columns)) for row in items_of(a)))
    if isinstance(a.type, MatType) and isinstance(b.type, VecType):
        b = _kept(b)
        return vector(*(dot(row, b) for row in items_of(a)))
    raise CompileError(f'MatMult of {a.type} and {b.type} is not compiled')


def _kept(value: Expression) -> Expression:
    """Return a value whose numbers may be used more than once."""
    if isinstance(value.type, NumberType):
        return _shared(value)
    return Expression(value.type, 'values', tuple(map(_kept, items_of(value))))


def unary(operation: ast.unaryop, value: Expression) -> Expression:
    """Return the result of an operator with one operand, a number or vector."""
    if isinstance(value.type, VecType) and isinstance(operation, ast.USub):
        return vector(*(loop_arithmetic.unary(operation, each) for each in items_of(value)))
    return loop_arithmetic.unary(operation, value)


def load_vec(array: Expression, size: Expression, first: Any = None) -> Expression:
    """Return numbers of an array in one dimension, from the first one."""
    if not isinstance(array.type, ArrayType) or array.type.ndim != 1:
        raise CompileError(f'a vector is loaded from an array in one dimension, not {array.type}')
    # The size is part of the type; more numbers than registers would spill.
    if size.type != INT or size.known is None or not 0 < size.known <= 16:
        raise CompileError('the size of a vector must be a literal from 1 to 16')
    whole, number = _shared(array), array.type.number
    begin = _shared(constant(0) if first is None else convert(first, INT, 'the first index'))
    places = (loop_arithmetic.binary(ast.Add(), begin, constant(k)) for k in range(size.known))
    return vector(*(Expression(number, 'element', (whole, k)) for k in places))


def load_transform(array: Expression) -> Expression:
    """Return the transform in an array of 12."""
    array, three = _shared(array), constant(3)
    rows = [load_vec(array, three, constant(3 * k)) for k in range(4)]
    return named(Transform, (None, None), (matrix(*rows[:3]), rows[3]))


def dot(a: Expression, b: Expression) -> Expression:
    """Return the inner product, summed from the first to the last element."""
    _require_vectors(a, b)
    pairs = zip(map(_shared, items_of(a)), map(_shared, items_of(b)))
    # In order and without fused operations, like `Vec.__matmul__`.
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
    a = _kept(a) if isinstance(a.type, VecType) else a
    return Expression(FLOAT, 'sqrt', (dot(a, a),))


def _require_vectors(a: Expression, b: Expression, size: int = 0) -> None:
    if not isinstance(a.type, VecType) or a.type != b.type or len(a.type.items) != size and size:
        raise CompileError(f'two vectors of {size or "one size"}, not {a.type} and {b.type}')
