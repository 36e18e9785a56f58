# SPDX-License-Identifier: Apache-2.0
"""Operations on numbers in C, with the meaning of loop_arithmetic.py."""

from __future__ import annotations

import ast
import operator
from typing import Any, Callable, Dict, Tuple, Type

from rbd_ros.compiler.targets.c99_loops.c99_values import (
    ATOM,
    BOOL,
    combined,
    COMPARISON,
    CompileError,
    constant,
    convert,
    FLOAT,
    INT,
    joined,
    number_type,
    NumberType,
    OR,
    PRODUCT,
    SUM,
    UNARY,
    Value,
)

_RING: Dict[Type[ast.operator], Tuple[str, int, Callable[[int, int], int]]] = {
    ast.Add: ('+', SUM, operator.add),
    ast.Sub: ('-', SUM, operator.sub),
    ast.Mult: ('*', PRODUCT, operator.mul),
}
_BITS = {ast.BitAnd: '&', ast.BitOr: '|', ast.BitXor: '^'}
_SHIFTS = {ast.LShift: '<<', ast.RShift: '>>'}
_COMPARISONS: Dict[Type[ast.cmpop], Tuple[str, Callable[[Any, Any], bool]]] = {
    ast.Lt: ('<', operator.lt),
    ast.LtE: ('<=', operator.le),
    ast.Gt: ('>', operator.gt),
    ast.GtE: ('>=', operator.ge),
    ast.Eq: ('==', operator.eq),
    ast.NotEq: ('!=', operator.ne),
}


def binary(module: Any, operation: ast.operator, a: Value, b: Value) -> Value:
    """Return the result of an operator with two operands.

    :param module: where auxiliary functions are asked for
    :raises CompileError: if these operands have none, or the operator is not written
    """
    what = type(operation)
    if what in _BITS:
        return _of_bits(_BITS[what], a, b)
    if what in _SHIFTS:
        if b.kind != INT or b.known is None or not 0 <= b.known < 64:
            raise CompileError('only shifts by a literal from 0 to 63 are compiled')
        a = convert(a, INT, 'the operand of a shift')
        return combined(INT, OR, f'{{}} {_SHIFTS[what]} {{}}', a._replace(text=a.within(ATOM)), b)
    if what is ast.Pow and joined(a, b) != FLOAT and b.known is not None and b.known >= 0:
        a = convert(a, INT, 'the base of a power')
        return combined(INT, ATOM, module.helper('power') + '({}, {})', a, b)
    # Bools count as integers, as in Python; division is of floats.
    kind = FLOAT if what is ast.Div else max(joined(a, b), INT, key=lambda each: each.rank)
    if what is ast.Pow:
        if kind != FLOAT and b.known is None:
            raise CompileError('powers of integers have literal exponents')
        kind = FLOAT
    a, b = (convert(each, kind, 'an operand') for each in (a, b))
    if what is ast.Div:
        return combined(
            FLOAT,
            PRODUCT,
            '{} / {}',
            a._replace(text=a.within(PRODUCT)),
            b._replace(text=b.within(UNARY)),
        )
    if what in _RING:
        sign, binding, of_known = _RING[what]
        if kind == INT and a.known is not None and b.known is not None:
            return constant(of_known(a.known, b.known))
        left = a._replace(text=a.within(binding))
        # To the left, as Python does: a - (b - c) and a + (b + c) keep their parentheses.
        right = b._replace(text=b.within(binding + 1))
        return combined(kind, binding, f'{{}} {sign} {{}}', left, right)
    if what in (ast.FloorDiv, ast.Mod) and kind == INT:
        name = module.helper('quotient' if what is ast.FloorDiv else 'remainder')
        return combined(INT, ATOM, name + '({}, {})', a, b)
    if what is ast.Pow:
        return combined(FLOAT, ATOM, 'pow({}, {})', a, b)
    raise CompileError(f'operator {what.__name__} of {kind} is not written in C')


def _of_bits(sign: str, a: Value, b: Value) -> Value:
    kind = joined(a, b)
    if kind == FLOAT:
        raise CompileError('bitwise operators need integers, not float')
    a, b = (convert(each, kind, 'an operand') for each in (a, b))
    # In parentheses wherever it stands: C binds it less than a comparison.
    parts = (each._replace(text=each.within(ATOM)) for each in (a, b))
    return combined(kind, OR, f'{{}} {sign} {{}}', *parts)


def sum_of(a: Value, b: Value) -> Value:
    """Return the sum of two integers; nothing is added that is zero."""
    if a.known == 0 or b.known == 0:
        return b if a.known == 0 else a
    if a.known is not None and b.known is not None:
        return constant(a.known + b.known)
    return combined(
        INT, SUM, '{} + {}', a._replace(text=a.within(SUM)), b._replace(text=b.within(PRODUCT))
    )


def product_of(a: Value, b: Value) -> Value:
    """Return the product of two integers; nothing is multiplied by one."""
    if a.known == 1:
        return b
    if a.known is not None and b.known is not None:
        return constant(a.known * b.known)
    return combined(
        INT,
        PRODUCT,
        '{} * {}',
        a._replace(text=a.within(PRODUCT)),
        b._replace(text=b.within(UNARY)),
    )


def compare(operation: ast.cmpop, a: Value, b: Value) -> Value:
    """Return whether a comparison holds.

    :raises CompileError: if these operands cannot be compared
    """
    if type(operation) not in _COMPARISONS:
        raise CompileError('only <, <=, >, >=, == and != are compiled')
    kind = max(joined(a, b), INT, key=lambda each: each.rank)
    a, b = (convert(each, kind, 'an operand') for each in (a, b))
    sign, of_known = _COMPARISONS[type(operation)]
    if a.known is not None and b.known is not None:
        return constant(of_known(a.known, b.known))
    parts = (each._replace(text=each.within(SUM)) for each in (a, b))
    return combined(BOOL, COMPARISON, f'{{}} {sign} {{}}', *parts)


def truth(value: Value) -> Value:
    """Return whether a number is another one than zero; NaN is."""
    if value.known is not None:
        return constant(bool(value.known))
    if number_type(value, 'a condition') == BOOL:
        return value
    return compare(ast.NotEq(), value, constant(0))


def unary(operation: ast.unaryop, value: Value) -> Value:
    """Return the result of an operator with one operand."""
    if isinstance(operation, ast.Not):
        value = truth(value)
        if value.known is not None:
            return constant(not value.known)
        return combined(BOOL, UNARY, '!{}', value._replace(text=value.within(ATOM)))
    if number_type(value, 'an operand') == BOOL:
        value = convert(value, INT, 'an operand')
    if isinstance(operation, ast.UAdd):
        return value
    if isinstance(operation, ast.Invert):
        value = convert(value, INT, 'the operand of ~')
        return combined(INT, UNARY, '~{}', value._replace(text=value.within(ATOM)))
    if value.known is not None:
        return constant(-value.known)
    return combined(value.kind, UNARY, '-{}', value._replace(text=value.within(ATOM)))


def absolute(module: Any, value: Value) -> Value:
    """Return `abs(value)`."""
    if number_type(value, 'the argument of abs') == FLOAT:
        return combined(FLOAT, ATOM, 'fabs({})', value)
    value = convert(value, INT, 'the argument of abs')
    return combined(INT, ATOM, module.helper('magnitude') + '({})', value)


def extreme(module: Any, name: str, *values: Value) -> Value:
    """Return the minimum or maximum as Python finds it, also where something is NaN."""
    kind: NumberType = max(joined(*values), INT, key=lambda each: each.rank)
    best, *others = (convert(each, kind, 'an argument') for each in values)
    function = module.helper(name if kind == FLOAT else f'{name}_of_integers')
    for other in others:
        best = combined(kind, ATOM, function + '({}, {})', best, other)
    return best


def to_integer(value: Value) -> Value:
    """Return `int(value)`, rounded towards zero; undefined beyond 64 bits."""
    if number_type(value, 'the argument of int') != FLOAT:
        return convert(value, INT, 'the argument of int')
    return combined(INT, UNARY, '(int64_t){}', value._replace(text=value.within(ATOM)))
