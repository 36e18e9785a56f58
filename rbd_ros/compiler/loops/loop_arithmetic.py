# SPDX-License-Identifier: Apache-2.0
"""Operations on numbers, with Python's meaning where machines differ from it.

Integers have 64 bits and wrap. A division by zero gives an infinity or NaN, of integers 0: there
is nobody to catch an exception. Nothing is reordered or fused: results are those of the
interpreter bit by bit.
"""

from __future__ import annotations

import ast
import operator
from typing import Callable, Dict, Tuple, Type

from rbd_ros.compiler.loops.loop_values import (
    BOOL,
    CompileError,
    constant,
    convert,
    FLOAT,
    INT,
    joined,
    number_type,
    Value,
)
from rbd_ros.compiler.targets.llvm.routine import Routine

#: Of floats, of integers, and of integers that are known.
_RING: Dict[Type[ast.operator], Tuple[str, str, Callable[[int, int], int]]] = {
    ast.Add: ('fadd', 'add', operator.add),
    ast.Sub: ('fsub', 'sub', operator.sub),
    ast.Mult: ('fmul', 'mul', operator.mul),
}
_BITS = {ast.BitAnd: 'and', ast.BitOr: 'or', ast.BitXor: 'xor'}
_SHIFTS = {ast.LShift: 'shl', ast.RShift: 'ashr'}

#: Of floats and of integers. Whatever is compared with NaN is false, but that they differ.
_COMPARISONS = {
    ast.Lt: ('olt', 'slt'),
    ast.LtE: ('ole', 'sle'),
    ast.Gt: ('ogt', 'sgt'),
    ast.GtE: ('oge', 'sge'),
    ast.Eq: ('oeq', 'eq'),
    ast.NotEq: ('une', 'ne'),
}

# Of 2, the largest power that 64 bits hold
_LARGEST_POWER = 62


def binary(code: Routine, operation: ast.operator, a: Value, b: Value) -> Value:
    """Return the result of an operator with two operands.

    :raises CompileError: if these operands have none
    """
    what = type(operation)
    kind = joined(a, b)
    if what in _BITS:
        if kind == FLOAT:
            raise CompileError('bitwise operators need integers, not float')
        a, b = (convert(code, each, kind, 'an operand') for each in (a, b))
        return Value(kind, (code.value(f'{_BITS[what]} {a.typed}, {b.text}'),))
    if what in _SHIFTS:
        a = convert(code, a, INT, 'the operand of a shift')
        # A shift by 64 or more is poison to LLVM, which then assumes whatever suits it.
        if b.kind != INT or b.known is None or not 0 <= b.known < 64:
            raise CompileError('only shifts by a literal from 0 to 63 are compiled')
        return Value(INT, (code.value(f'{_SHIFTS[what]} {a.typed}, {b.text}'),))
    if what is ast.Pow:
        return _power(code, a, b)
    # Bools count as integers, as in Python: True + True is 2. Division is of floats, also of two
    # integers, which are rounded to floats first.
    kind = FLOAT if what is ast.Div else max(kind, INT, key=lambda each: each.rank)
    a, b = (convert(code, each, kind, 'an operand') for each in (a, b))
    if what is ast.Div:
        return Value(FLOAT, (code.value(f'fdiv double {a.text}, {b.text}'),))
    if what in _RING:
        of_floats, of_integers, of_known = _RING[what]
        # Sizes and exponents must be known, so integers are worked out here; floats are left to
        # LLVM, which rounds constants as the processor does.
        if kind == INT and a.known is not None and b.known is not None:
            return constant(of_known(a.known, b.known))
        name = of_floats if kind == FLOAT else of_integers
        return Value(kind, (code.value(f'{name} {a.typed}, {b.text}'),))
    if what in (ast.FloorDiv, ast.Mod):
        if kind == FLOAT:
            # Python's are not floor(a / b), whose division may round up to the next integer.
            raise CompileError('// and % are compiled for integers only; write math.floor(a / b)')
        return Value(INT, (_floor_division(code, a, b)[what is ast.Mod],))
    raise CompileError(f'operator {what.__name__} is not compiled')


def _floor_division(code: Routine, a: Value, b: Value) -> Tuple[str, str]:
    """Return the quotient and remainder of integers, rounded down; both 0 for a divisor of 0."""
    # Processors trap where the quotient has no 64 bits: for b = 0, and for -2^63 / -1.
    beyond = code.value(f'add i64 {b.text}, 1')
    unusual = code.value(f'icmp ult i64 {beyond}, 2')
    divisor = code.value(f'select i1 {unusual}, i64 1, i64 {b.text}')
    if b.known is not None and b.known not in (0, -1):
        divisor = b.text
    quotient = code.value(f'sdiv i64 {a.text}, {divisor}')
    remainder = code.value(f'srem i64 {a.text}, {divisor}')
    # They round towards zero: a remainder whose sign is not the divisor's is one round too far.
    signs = code.value(f'xor i64 {remainder}, {divisor}')
    differ = code.value(f'icmp slt i64 {signs}, 0')
    inexact = code.value(f'icmp ne i64 {remainder}, 0')
    down = code.both(differ, inexact)
    less = code.value(f'sext i1 {down} to i64')
    lower = code.value(f'add i64 {quotient}, {less}')
    more = code.value(f'select i1 {down}, i64 {divisor}, i64 0')
    # With the divisor 1, the remainder is 0, and the quotient is a: times b, it is right.
    product = code.value(f'mul i64 {a.text}, {b.text}')
    return (
        code.value(f'select i1 {unusual}, i64 {product}, i64 {lower}'),
        code.value(f'add i64 {remainder}, {more}'),
    )


def _power(code: Routine, a: Value, b: Value) -> Value:
    """Return the power: of integers a product, else that of the C library, as in Python."""
    if joined(a, b) == FLOAT or b.known is not None and b.known < 0:
        base, exponent = (convert(code, each, FLOAT, 'an operand') for each in (a, b))
        return Value(FLOAT, (code.call('pow', base.text, exponent.text),))
    if b.kind != INT or b.known is None or b.known > _LARGEST_POWER:
        raise CompileError(f'powers of integers have literal exponents up to {_LARGEST_POWER}')
    a = convert(code, a, INT, 'the base of a power')
    # The C library's `pow` is of floats, which hold integers up to 2^53 only.
    result = constant(1)
    for _ in range(b.known):
        result = binary(code, ast.Mult(), result, a)
    return result


def compare(code: Routine, operation: ast.cmpop, a: Value, b: Value) -> Value:
    """Return whether a comparison holds.

    :raises CompileError: if these operands cannot be compared
    """
    if type(operation) not in _COMPARISONS:
        raise CompileError('only <, <=, >, >=, == and != are compiled')
    # At least INT: as a signed number of one bit, true is -1, and less than false.
    kind = max(joined(a, b), INT, key=lambda each: each.rank)
    a, b = (convert(code, each, kind, 'an operand') for each in (a, b))
    of_floats, of_integers = _COMPARISONS[type(operation)]
    how = f'fcmp {of_floats}' if kind == FLOAT else f'icmp {of_integers}'
    return Value(BOOL, (code.value(f'{how} {a.typed}, {b.text}'),))


def truth(code: Routine, value: Value) -> Value:
    """Return whether a number is another one than zero; NaN is."""
    kind = number_type(value, 'a condition')
    if value.known is not None:
        return constant(bool(value.known))
    if kind == BOOL:
        return value
    how = 'fcmp une double' if kind == FLOAT else 'icmp ne i64'
    zero = constant(0.0 if kind == FLOAT else 0)
    return Value(BOOL, (code.value(f'{how} {value.text}, {zero.text}'),))


def opposite(code: Routine, value: Value) -> Value:
    """Return `not value`."""
    value = truth(code, value)
    if value.known is not None:
        return constant(not value.known)
    return Value(BOOL, (code.value(f'xor i1 {value.text}, true'),))


def unary(code: Routine, operation: ast.unaryop, value: Value) -> Value:
    """Return the result of an operator with one operand."""
    if isinstance(operation, ast.Not):
        return opposite(code, value)
    if number_type(value, 'an operand') == BOOL:
        value = convert(code, value, INT, 'an operand')
    if isinstance(operation, ast.UAdd):
        return value
    if isinstance(operation, ast.Invert):
        value = convert(code, value, INT, 'the operand of ~')
        return Value(INT, (code.value(f'xor i64 {value.text}, -1'),))
    if value.known is not None:
        return constant(-value.known)
    # Not 0 - x, which has another sign where x is 0.
    how = 'fneg double' if value.kind == FLOAT else 'sub i64 0,'
    return Value(value.kind, (code.value(f'{how} {value.text}'),))


def absolute(code: Routine, value: Value) -> Value:
    """Return `abs(value)`."""
    if number_type(value, 'the argument of abs') == FLOAT:
        return Value(FLOAT, (code.call('llvm.fabs.f64', value.text),))
    value = convert(code, value, INT, 'the argument of abs')
    negative = unary(code, ast.USub(), value)
    is_negative = compare(code, ast.Lt(), value, constant(0))
    return select(code, is_negative, negative, value)


def select(code: Routine, condition: Value, a: Value, b: Value) -> Value:
    """Return a if the condition holds, else b, both of one type."""
    text = f'select {condition.typed}, {a.typed}, {b.typed}'
    return Value(a.kind, (code.value(text),))


def extreme(code: Routine, better: ast.cmpop, *values: Value) -> Value:
    """Return the minimum or maximum as Python finds it, also where something is NaN.

    :param better: comparison of a later number with the best so far, which it then replaces
    """
    kind = joined(*values)
    best, *others = (convert(code, each, kind, 'an argument') for each in values)
    for other in others:
        best = select(code, compare(code, better, other, best), other, best)
    return best


def to_integer(code: Routine, value: Value) -> Value:
    """Return `int(value)`, rounded towards zero; undefined beyond 64 bits."""
    if number_type(value, 'the argument of int') != FLOAT:
        return convert(code, value, INT, 'the argument of int')
    # Poison, so anything at all, for NaN and where the result has no 64 bits.
    return Value(INT, (code.value(f'fptosi double {value.text} to i64'),))
