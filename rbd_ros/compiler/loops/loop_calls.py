# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Functions that loops may call besides compiled ones: Python builtins, and vocabulary.py."""

from __future__ import annotations

import ast
import math
from typing import Any, Callable, Dict, Hashable

import numpy as np

from rbd_ros.compiler.loops import loop_arithmetic, vector_arithmetic, vocabulary
from rbd_ros.compiler.loops.loop_arithmetic import constant, convert, joined, number_type
from rbd_ros.compiler.loops.loop_ir import Expression
from rbd_ros.compiler.loops.loop_types import (
    ArrayType,
    BOOL,
    BytesType,
    CompileError,
    FLOAT,
    INT,
    NOTHING,
    NumberType,
    RecordType,
    VecType,
)

_Handler = Callable[..., Expression]

#: By function: number of arguments, and handler that returns an expression.
_HANDLERS: Dict[Any, Any] = {}


def call_builtin(function: Any, arguments: Any, name: str) -> Expression:
    """Return the value of a call.

    :param name: the caller's name of the function
    :raises CompileError: if the function is unknown, or not for such arguments
    """
    if not isinstance(function, Hashable) or function not in _HANDLERS:
        raise CompileError(
            f'{name} is unknown to loops; decorate your own functions with @compiled'
        )
    minimum, maximum, handler = _HANDLERS[function]
    if not minimum <= len(arguments) <= maximum:
        raise CompileError(f'{name} takes {minimum} arguments, got {len(arguments)}')
    return handler(*arguments)


def _handles(*functions: Any, count: int = 1, at_most: int = 0) -> Callable[[_Handler], _Handler]:
    def register(handler: _Handler) -> _Handler:
        for function in functions:
            _HANDLERS[function] = count, at_most or count, handler
        return handler

    return register


# -- Python's own


@_handles(len)
def length(array: Expression, axis: int = 0) -> Expression:
    """Return one length of an array."""
    if isinstance(array.type, VecType):
        return constant(len(array.type.items))
    if not isinstance(array.type, ArrayType):
        raise CompileError(f'{array.type} has no length')
    known = array.type.shape[axis]
    return Expression(INT, 'length', (array,), axis) if known is None else constant(known)


@_handles(abs)
def _absolute(value: Expression) -> Expression:
    if number_type(value, 'the argument of abs') == FLOAT:
        return Expression(FLOAT, 'fabs', (value,))
    value = Expression(INT, 'shared', (convert(value, INT, 'the argument of abs'),))
    return _extreme('max')(value, loop_arithmetic.unary(ast.USub(), value))


def _extreme(name: str) -> _Handler:
    """Return the handler of Python's minimum or maximum, also for NaN."""

    def handler(*values: Expression) -> Expression:
        kind = joined(*values)
        return Expression(kind, name, tuple(convert(x, kind, 'an argument') for x in values))

    return handler


_handles(min, count=2, at_most=99)(_extreme('min'))
_handles(max, count=2, at_most=99)(_extreme('max'))
_handles(int, math.trunc)(loop_arithmetic.to_integer)
_handles(float)(lambda value: convert(value, FLOAT, 'the argument of float'))
_handles(bool)(loop_arithmetic.truth)


# -- of floats


def _of_floats(name: str) -> _Handler:
    def handler(*values: Expression) -> Expression:
        return Expression(FLOAT, name, tuple(convert(x, FLOAT, 'an argument') for x in values))

    return handler


# Processor instructions, correctly rounded; the root of a negative number is NaN.
_handles(math.sqrt, np.sqrt)(_of_floats('sqrt'))
_handles(math.fabs, np.abs)(_of_floats('fabs'))
# NumPy's return floats; those of `math`, below, integers.
_handles(np.floor)(_of_floats('floor'))
_handles(np.ceil)(_of_floats('ceil'))
_handles(math.copysign, np.copysign, count=2)(_of_floats('copysign'))

# The functions of the C library that Python calls.
for _name in ('sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'exp', 'log', 'sinh', 'cosh', 'tanh'):
    _handles(getattr(math, _name))(_of_floats(_name))
for _name in ('atan2', 'pow', 'fmod'):
    _handles(getattr(math, _name), count=2)(_of_floats(_name))

# With the limits of `to_integer`: there are no long integers here.
_handles(math.floor)(lambda x: loop_arithmetic.to_integer(_of_floats('floor')(x)))
_handles(math.ceil)(lambda x: loop_arithmetic.to_integer(_of_floats('ceil')(x)))


@_handles(math.isfinite, np.isfinite)
def _is_finite(value: Expression) -> Expression:
    return loop_arithmetic.compare(ast.Lt(), _of_floats('fabs')(value), constant(math.inf))


@_handles(math.isnan, np.isnan)
def _is_nan(value: Expression) -> Expression:
    number = Expression(FLOAT, 'shared', (convert(value, FLOAT, 'an argument'),))
    return loop_arithmetic.compare(ast.NotEq(), number, number)


# -- vectors

_handles(vocabulary.Vec, at_most=16)(vector_arithmetic.vector)
_handles(vocabulary.Mat, at_most=16)(vector_arithmetic.matrix)
_handles(vocabulary.load_vec, count=2, at_most=3)(vector_arithmetic.load_vec)
_handles(vocabulary.load_transform)(vector_arithmetic.load_transform)
_handles(vocabulary.dot, count=2)(vector_arithmetic.dot)
_handles(vocabulary.cross, count=2)(vector_arithmetic.cross)
_handles(vocabulary.norm)(vector_arithmetic.norm)


# -- words


def _stack_array(*sizes: Expression) -> Expression:
    known = tuple(each.known for each in sizes if each.type == INT and (each.known or 0) > 0)
    if len(known) < len(sizes):
        raise CompileError('the size of an array on the stack is a literal, 1 or more')
    return Expression(ArrayType(FLOAT, known), 'stack_array', (), known)


_handles(vocabulary.stack_array)(_stack_array)
_handles(vocabulary.stack_matrix, count=2)(_stack_array)


def _load(kind: NumberType) -> _Handler:
    def handler(data: Expression, at: Expression) -> Expression:
        if not isinstance(data.type, BytesType) or at.type != INT:
            raise CompileError('it takes bytes and an int')
        return Expression(kind, 'load', (data, at))

    return handler


_handles(vocabulary.load_i64, count=2)(_load(INT))
_handles(vocabulary.load_f64, count=2)(_load(FLOAT))


@_handles(vocabulary.call_kernel, count=3)
def _call_kernel(address: Expression, inputs: Expression, outputs: Expression) -> Expression:
    kinds = inputs.type, outputs.type
    if address.type != INT or any(
        not isinstance(kind, ArrayType) or kind.number != FLOAT for kind in kinds
    ):
        raise CompileError('call_kernel takes an int and two arrays of float')
    if outputs.type.is_constant:
        raise CompileError('a kernel writes its outputs, which are constant here')
    return Expression(NOTHING, 'call_kernel', (address, inputs, outputs))


@_handles(vocabulary.call_loop, count=2, at_most=6)
def _call_loop(address: Expression, *others: Expression) -> Expression:
    passed = [convert(each, INT, '') if each.type == BOOL else each for each in others]
    kinds = NumberType, RecordType
    if address.type != INT or not all(isinstance(each.type, kinds) for each in passed):
        raise CompileError('call_loop takes an int, records and numbers')
    return Expression(INT, 'call_loop', (address, *passed))
