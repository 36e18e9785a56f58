# SPDX-License-Identifier: Apache-2.0
"""Functions that loops call besides compiled ones, in C.

Math.h, a few of Python's own, kernels.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Hashable, Sequence, Tuple

import numpy as np

from rbd_ros.compiler.loops import vocabulary
from rbd_ros.compiler.targets.c99_loops import c99_arithmetic
from rbd_ros.compiler.targets.c99_loops.c99_values import (
    ArrayType,
    ATOM,
    BOOL,
    combined,
    CompileError,
    constant,
    convert,
    FLOAT,
    INT,
    NOTHING,
    Value,
)

# Of floats to a float, by their names in math.h.
_OF_FLOATS: Dict[Any, str] = {
    math.sqrt: 'sqrt',
    np.sqrt: 'sqrt',
    math.fabs: 'fabs',
    np.abs: 'fabs',
    np.floor: 'floor',
    np.ceil: 'ceil',
    math.copysign: 'copysign',
    np.copysign: 'copysign',
}
for _name in ('sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'exp', 'log', 'sinh', 'cosh', 'tanh'):
    _OF_FLOATS[getattr(math, _name)] = _name
for _name in ('atan2', 'pow', 'fmod'):
    _OF_FLOATS[getattr(math, _name)] = _name
_WITH_TWO = ('copysign', 'atan2', 'pow', 'fmod')
_TO_INTEGER = {math.floor: 'floor', math.ceil: 'ceil'}
_TESTS = {
    math.isfinite: 'isfinite',
    np.isfinite: 'isfinite',
    math.isnan: 'isnan',
    np.isnan: 'isnan',
}
_EXTREMES = {min: 'lesser', max: 'greater'}
_ROOMS = (vocabulary.stack_array, vocabulary.stack_matrix)

#: Functions that a text has of its own where it needs them.
HELPERS: Dict[str, Tuple[str, str]] = {
    'lesser': ('double {}(double a, double b)', 'return b < a ? b : a;'),
    'greater': ('double {}(double a, double b)', 'return b > a ? b : a;'),
    'lesser_of_integers': ('int64_t {}(int64_t a, int64_t b)', 'return b < a ? b : a;'),
    'greater_of_integers': ('int64_t {}(int64_t a, int64_t b)', 'return b > a ? b : a;'),
    'magnitude': ('int64_t {}(int64_t a)', 'return a < 0 ? -a : a;'),
    # Rounded down, as in Python; 0 for a divisor of 0.
    'quotient': (
        'int64_t {}(int64_t a, int64_t b)',
        'if (b == 0 || b == -1) return b * a;\n'
        '    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));',
    ),
    'remainder': (
        'int64_t {}(int64_t a, int64_t b)',
        'if (b == 0 || b == -1) return 0;\n'
        '    return a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0);',
    ),
    'power': (
        'int64_t {}(int64_t a, int64_t n)',
        'int64_t product = 1;\n    for (; n > 0; --n) product *= a;\n    return product;',
    ),
}


def call_builtin(module: Any, function: Any, arguments: Sequence[Value], name: str) -> Value:
    """Return the value of a call.

    :param name: how the caller names the function
    :raises CompileError: if it is not known, or not with such arguments
    """
    if not isinstance(function, Hashable):
        raise CompileError(f'{name} is not written in C')
    if function is vocabulary.call_kernel:
        return _kernel(module, *arguments)
    if function in _EXTREMES:
        return c99_arithmetic.extreme(module, _EXTREMES[function], *arguments)
    handler = _handler(module, function)
    if handler is None:
        raise CompileError(f'{name} is not written in C')
    expected = 2 if _OF_FLOATS.get(function) in _WITH_TWO else 1
    if len(arguments) != expected:
        raise CompileError(f'{name} is compiled with {expected} arguments')
    return handler(*arguments)


def _handler(module: Any, function: Any) -> Any:
    simple: Dict[Any, Callable[[Value], Value]] = {
        len: _length,
        abs: lambda x: c99_arithmetic.absolute(module, x),
        int: c99_arithmetic.to_integer,
        math.trunc: c99_arithmetic.to_integer,
        float: lambda x: convert(x, FLOAT, 'the argument of float'),
        bool: c99_arithmetic.truth,
    }
    if function in simple:
        return simple[function]
    if function in _OF_FLOATS:
        return lambda *x: _floats(FLOAT, _OF_FLOATS[function], *x)
    if function in _TO_INTEGER:
        return lambda x: c99_arithmetic.to_integer(_floats(FLOAT, _TO_INTEGER[function], x))
    if function in _TESTS:
        return lambda x: _floats(BOOL, _TESTS[function], x)
    return None


def _floats(kind: Any, name: str, *arguments: Value) -> Value:
    numbers = [convert(each, FLOAT, 'an argument') for each in arguments]
    return combined(kind, ATOM, f'{name}({", ".join("{}" for _ in numbers)})', *numbers)


def _length(array: Value) -> Value:
    if not isinstance(array.kind, ArrayType):
        raise CompileError(f'{array.kind} has no length')
    return constant(array.kind.shape[0])


def _kernel(module: Any, address: Value, inputs: Value, outputs: Value) -> Value:
    if address.kind != INT or address.known is None:
        raise CompileError('a kernel is called by an address that is a constant of a record')
    for each in (inputs, outputs):
        if not isinstance(each.kind, ArrayType) or each.kind.number != FLOAT:
            raise CompileError('call_kernel takes an int and two arrays of float')
    if outputs.kind.is_constant:
        raise CompileError('a kernel writes its outputs, which are constant here')
    name = module.kernel(address.known)
    return Value(NOTHING, f'{name}({inputs.pointer}, {outputs.pointer})', is_pure=False)


def is_stack_array(function: Any) -> bool:
    """Return whether a function makes an array on the stack."""
    return function in _ROOMS


def stack_array_type(arguments: Sequence[Value]) -> ArrayType:
    """Return the type of the array that `stack_array` or `stack_matrix` makes.

    :raises CompileError: if a size is no literal
    """
    if any(each.kind != INT or not each.known or each.known < 1 for each in arguments):
        raise CompileError('the size of an array on the stack is a literal, 1 or more')
    return ArrayType(FLOAT, tuple(each.known for each in arguments))
