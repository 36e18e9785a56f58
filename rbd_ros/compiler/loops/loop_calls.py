# SPDX-License-Identifier: Apache-2.0
"""Functions that loops may call besides compiled ones: some of Python's own, and vocabulary.py."""

from __future__ import annotations

import ast
import math
from typing import Any, Callable, Dict, Hashable, Sequence

import numpy as np

from rbd_ros.compiler.loops import loop_arithmetic, vocabulary
from rbd_ros.compiler.loops.loop_values import (
    ArrayType,
    BOOL,
    BytesType,
    CompileError,
    constant,
    convert,
    FLOAT,
    INT,
    NOTHING,
    NumberType,
    RecordType,
    Value,
)
from rbd_ros.compiler.targets.llvm.routine import Routine

_Handler = Callable[[Routine, Sequence[Value]], Value]

#: By the function that is called: how many arguments it takes, and what makes code of it.
_HANDLERS: Dict[Any, Any] = {}


def call_builtin(code: Routine, function: Any, arguments: Sequence[Value], name: str) -> Value:
    """Return the value of a call.

    :param name: how the caller names the function
    :raises CompileError: if it is not known, or not with such arguments
    """
    if not isinstance(function, Hashable) or function not in _HANDLERS:
        raise CompileError(
            f'{name} is unknown to loops; decorate your own functions with @compiled'
        )
    minimum, maximum, handler = _HANDLERS[function]
    if not minimum <= len(arguments) <= maximum:
        raise CompileError(f'{name} is compiled with {minimum} arguments')
    return handler(code, arguments)


def _handles(*functions: Any, count: int = 1, at_most: int = 0) -> Callable[[_Handler], _Handler]:
    def register(handler: _Handler) -> _Handler:
        for function in functions:
            _HANDLERS[function] = count, at_most or count, handler
        return handler

    return register


# -- Python's own


@_handles(len)
def _length(code: Routine, arguments: Sequence[Value]) -> Value:
    (array,) = arguments
    if not isinstance(array.kind, ArrayType):
        raise CompileError(f'{array.kind} has no length')
    # The first length: before it comes the address.
    return Value(INT, array.parts[1:2])


@_handles(abs)
def _absolute(code: Routine, arguments: Sequence[Value]) -> Value:
    return loop_arithmetic.absolute(code, arguments[0])


@_handles(min, count=2, at_most=99)
def _minimum(code: Routine, arguments: Sequence[Value]) -> Value:
    return loop_arithmetic.extreme(code, ast.Lt(), *arguments)


@_handles(max, count=2, at_most=99)
def _maximum(code: Routine, arguments: Sequence[Value]) -> Value:
    return loop_arithmetic.extreme(code, ast.Gt(), *arguments)


@_handles(int, math.trunc)
def _integer(code: Routine, arguments: Sequence[Value]) -> Value:
    return loop_arithmetic.to_integer(code, arguments[0])


@_handles(float)
def _float(code: Routine, arguments: Sequence[Value]) -> Value:
    return convert(code, arguments[0], FLOAT, 'the argument of float')


@_handles(bool)
def _bool(code: Routine, arguments: Sequence[Value]) -> Value:
    return loop_arithmetic.truth(code, arguments[0])


# -- of floats


def _function_of_floats(symbol: str) -> _Handler:
    """Return the handler of a function of LLVM or of the C library that takes and gives float."""

    def handler(code: Routine, arguments: Sequence[Value]) -> Value:
        numbers = [convert(code, each, FLOAT, 'an argument') for each in arguments]
        return Value(FLOAT, (code.call(symbol, *(each.text for each in numbers)),))

    return handler


# Instructions of the processor, which round right; of a negative number, the root is NaN.
_handles(math.sqrt, np.sqrt)(_function_of_floats('llvm.sqrt.f64'))
_handles(math.fabs, np.abs)(_function_of_floats('llvm.fabs.f64'))
# NumPy's give floats; those of `math`, below, integers.
_handles(np.floor)(_function_of_floats('llvm.floor.f64'))
_handles(np.ceil)(_function_of_floats('llvm.ceil.f64'))
_handles(math.copysign, np.copysign, count=2)(_function_of_floats('llvm.copysign.f64'))

# The very functions of the C library that Python calls.
for _name in ('sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'exp', 'log', 'sinh', 'cosh', 'tanh'):
    _handles(getattr(math, _name))(_function_of_floats(_name))
for _name in ('atan2', 'pow', 'fmod'):
    _handles(getattr(math, _name), count=2)(_function_of_floats(_name))


def _rounded(symbol: str) -> _Handler:
    """Return the handler of a function that rounds a float to an int."""
    round_it = _function_of_floats(symbol)

    def handler(code: Routine, arguments: Sequence[Value]) -> Value:
        return loop_arithmetic.to_integer(code, round_it(code, arguments))

    return handler


# With the limits of `to_integer`: where Python gives a long integer, there is none here.
_handles(math.floor)(_rounded('llvm.floor.f64'))
_handles(math.ceil)(_rounded('llvm.ceil.f64'))


@_handles(math.isfinite, np.isfinite)
def _is_finite(code: Routine, arguments: Sequence[Value]) -> Value:
    size = _absolute(code, [convert(code, arguments[0], FLOAT, 'an argument')])
    return loop_arithmetic.compare(code, ast.Lt(), size, constant(math.inf))


@_handles(math.isnan, np.isnan)
def _is_nan(code: Routine, arguments: Sequence[Value]) -> Value:
    number = convert(code, arguments[0], FLOAT, 'an argument')
    return loop_arithmetic.compare(code, ast.NotEq(), number, number)


# -- vocabulary.py


def _room(code: Routine, arguments: Sequence[Value]) -> Value:
    sizes = [each.known for each in arguments if each.kind == INT]
    if len(sizes) < len(arguments) or any(size is None or size < 1 for size in sizes):
        raise CompileError('the size of an array on the stack is a literal, 1 or more')
    # At the entry: in a loop, each round would take more of the stack.
    place = code.array(f'[{math.prod(sizes)} x double]', 1)
    return Value(ArrayType(FLOAT, len(sizes)), (place, *(str(size) for size in sizes)))


_handles(vocabulary.stack_array)(_room)
_handles(vocabulary.stack_matrix, count=2)(_room)


def _reading(kind: NumberType) -> _Handler:
    """Return the handler of what reads a number at any place."""

    def handler(code: Routine, arguments: Sequence[Value]) -> Value:
        data, at = arguments
        if not isinstance(data.kind, BytesType) or at.kind != INT:
            raise CompileError('it takes bytes and an int')
        address = code.value(f'add i64 {data.text}, {at.text}')
        place = code.value(f'inttoptr i64 {address} to ptr')
        # Numbers in a message lie where its strings let them.
        return Value(kind, (code.value(f'load {kind.llvm}, ptr {place}, align 1'),))

    return handler


_handles(vocabulary.load_i64, count=2)(_reading(INT))
_handles(vocabulary.load_f64, count=2)(_reading(FLOAT))


@_handles(vocabulary.call_kernel, count=3)
def _call_kernel(code: Routine, arguments: Sequence[Value]) -> Value:
    address, *arrays = arguments
    if address.kind != INT or any(
        not isinstance(each.kind, ArrayType) or each.kind.number != FLOAT for each in arrays
    ):
        raise CompileError('call_kernel takes an int and two arrays of float')
    # By its address, which is data: the same loop serves every robot.
    function = code.value(f'inttoptr {address.typed} to ptr')
    code.do(f'call void {function}({", ".join(f"ptr {each.text}" for each in arrays)})')
    return Value(NOTHING, ())


@_handles(vocabulary.call_loop, count=2, at_most=6)
def _call_loop(code: Routine, arguments: Sequence[Value]) -> Value:
    address, *others = arguments
    if address.kind != INT:
        raise CompileError('call_loop takes an int, records and numbers')
    passed = []
    for each in others:
        if isinstance(each.kind, RecordType):
            # `entry` takes records as integers (translation.py), since Python calls it as well.
            passed.append(f'i64 {code.value(f"ptrtoint ptr {each.text} to i64")}')
        elif each.kind in (INT, BOOL):
            passed.append(convert(code, each, INT, 'the number').typed)
        elif each.kind == FLOAT:
            passed.append(each.typed)
        else:
            raise CompileError('call_loop takes an int, records and numbers')
    function = code.value(f'inttoptr {address.typed} to ptr')
    return Value(INT, (code.value(f'call i64 {function}({", ".join(passed)})'),))
