# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Operations on numbers in C, with Python's meaning where C differs."""

from __future__ import annotations

from typing import Any, Dict, Tuple

from rbd_ros.compiler.loops.loop_ir import Expression
from rbd_ros.compiler.loops.loop_types import BOOL, CompileError, FLOAT, INT
from rbd_ros.compiler.targets.c99_loops.c99_values import (
    ATOM,
    C_NUMBERS,
    CHANGES,
    CHOICE,
    combined,
    COMPARISON,
    OR,
    PRODUCT,
    SUM,
    UNARY,
    Value,
)

#: Precedence of operators. The lowest ones (like `|` and `or`) have parentheses in other
#: expressions, and around their own operands: there C differs from Python, or surprises readers.
_BINARY: Dict[str, int] = {
    **dict.fromkeys(('+', '-'), SUM),
    **dict.fromkeys(('*', '/'), PRODUCT),
    **dict.fromkeys(('&', '|', '^', '<<', '>>'), OR),
    **dict.fromkeys(('<', '<=', '>', '>=', '==', '!='), COMPARISON),
}
_UNARY = {'negative': '-', 'not': '!'}

#: Auxiliary functions, which a text includes if it needs them.
HELPERS: Dict[str, Tuple[str, str]] = {
    'lesser': ('double {}(double a, double b)', 'return b < a ? b : a;'),
    'greater': ('double {}(double a, double b)', 'return b > a ? b : a;'),
    'lesser_of_integers': ('int64_t {}(int64_t a, int64_t b)', 'return b < a ? b : a;'),
    'greater_of_integers': ('int64_t {}(int64_t a, int64_t b)', 'return b > a ? b : a;'),
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
}
_HELPED = {'//': 'quotient', '%': 'remainder'}
_EXTREMES = {'min': 'lesser', 'max': 'greater'}


def operation(module: Any, made: Expression, *values: Value) -> Value:
    """Return the result of an operation.

    :param module: source of auxiliary functions and kernels
    :param values: its operands
    :raises CompileError: if C does not support it
    """
    name, kind = made.name, made.type
    if name in _BINARY:
        binding = _BINARY[name]
        left = {OR: ATOM, COMPARISON: SUM}.get(binding, binding)
        # Left-associative, as in Python: a - (b - c) and a + (b + c) keep their parentheses.
        right = left + 1 if left == binding else left
        form = f'{values[0].within(left)} {name} {values[1].within(right)}'
        return combined(kind, binding, '{}', *values)._replace(text=form)
    if name in _UNARY:
        return combined(kind, UNARY, f'{_UNARY[name]}{{}}', *values, within=ATOM)
    if name == 'convert':
        if values[0].type == BOOL:
            # No cast: compilers warn about comparisons of bools with other numbers.
            form = '{} ? 1 : 0' if kind == INT else '{} ? 1.0 : 0.0'
            return combined(kind, CHOICE, form, *values, within=COMPARISON)
        return combined(kind, UNARY, f'({C_NUMBERS[kind]}){{}}', *values, within=ATOM)
    if name == 'select':
        return combined(kind, CHOICE, '{} ? {} : {}', *values, within=COMPARISON)
    if name in _HELPED:
        return _function(kind, module.helper(_HELPED[name]), *values)
    if name in _EXTREMES:
        function = module.helper(f'{_EXTREMES[name]}{"_of_integers" * (kind != FLOAT)}')
        best, *others = values
        for other in others:
            best = _function(kind, function, best, other)
        return best
    if name == 'call_kernel':
        return _kernel(module, *values)
    if name in ('call_loop', 'load'):
        raise CompileError('call_loop, load_i64 and load_f64 are not written in C')
    return _function(kind, name, *values)


def _function(kind: Any, name: str, *values: Value) -> Value:
    return combined(kind, ATOM, f'{name}({", ".join("{}" for _ in values)})', *values)


def _kernel(module: Any, address: Value, inputs: Value, outputs: Value) -> Value:
    if address.known is None:
        raise CompileError('a kernel is called by an address that is a constant of a record')
    text = f'{module.kernel(address.known)}({inputs.pointer}, {outputs.pointer})'
    return Value(INT, text, effect=CHANGES)
