# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Operations on numbers: types, and results that are known at compile time.

Integers have 64 bits and wrap. A division by zero gives an infinity or NaN, of integers 0: there
are no exceptions. Nothing is reordered or fused: results are bitwise identical to the
interpreter's.
"""

from __future__ import annotations

import ast
import operator
from typing import Any, Callable, Dict, Tuple, Type, Union

from rbd_ros.compiler.loops.loop_ir import Expression
from rbd_ros.compiler.loops.loop_types import BOOL, CompileError, FLOAT, INT, NumberType

_OPERATORS = {
    **{ast.Add: '+', ast.Sub: '-', ast.Mult: '*', ast.Div: '/', ast.FloorDiv: '//', ast.Mod: '%'},
    **{ast.BitAnd: '&', ast.BitOr: '|', ast.BitXor: '^', ast.LShift: '<<', ast.RShift: '>>'},
}
#: Constant folding of integers, which sizes and exponents need. The target folds floats, with the
#: rounding of the processor.
_OF_KNOWN = {'+': operator.add, '-': operator.sub, '*': operator.mul}
_COMPARISONS: Dict[Type[ast.cmpop], Tuple[str, Callable[[Any, Any], bool]]] = {
    ast.Lt: ('<', operator.lt),
    ast.LtE: ('<=', operator.le),
    ast.Gt: ('>', operator.gt),
    ast.GtE: ('>=', operator.ge),
    ast.Eq: ('==', operator.eq),
    ast.NotEq: ('!=', operator.ne),
}
_TYPES = {bool: BOOL, int: INT, float: FLOAT}

# The largest power of 2 in 64 bits
_MAX_POWER = 62


def constant(number: Union[bool, int, float]) -> Expression:
    """Return a constant.

    :raises CompileError: for an integer of more than 64 bits
    """
    kind = next(kind for kind in _TYPES if isinstance(number, kind))
    if kind is int and not -(2**63) <= number < 2**63:
        raise CompileError(f'{number} has more than 64 bits')
    return Expression(_TYPES[kind], 'constant', (), kind(number))


def number_type(value: Expression, what: str) -> NumberType:
    """Return the type of a value that must be a number.

    :raises CompileError: if it is no number
    """
    if not isinstance(value.type, NumberType):
        raise CompileError(f'{what} must be a number, not {value.type}')
    return value.type


def convert(value: Expression, kind: NumberType, what: str) -> Expression:
    """Return the value as a number of a type of the same or a higher rank.

    :param what: description of the value, for the message
    :raises CompileError: if the type is of a lower rank
    """
    own = number_type(value, what)
    if own == kind:
        return value
    if own.rank > kind.rank:
        raise CompileError(f'{what} must be of type {kind}, not {own}; write {kind}(...)')
    # Constants stay constants, for uses that require a literal.
    if value.known is not None:
        return constant(float(value.known) if kind == FLOAT else int(value.known))
    return Expression(kind, 'convert', (value,))


def joined(*values: Expression) -> NumberType:
    """Return the common type of several numbers."""
    return max((number_type(each, 'an operand') for each in values), key=lambda kind: kind.rank)


def _at_least_int(*values: Expression) -> NumberType:
    # Bools count as integers, as in Python: True + True is 2.
    return max(joined(*values), INT, key=lambda each: each.rank)


def binary(operation: ast.operator, a: Expression, b: Expression) -> Expression:
    """Return the result of an operator with two operands.

    :raises CompileError: if these operands do not support it
    """
    kind, sign = joined(a, b), _OPERATORS.get(type(operation))
    if isinstance(operation, ast.Pow):
        return _power(a, b)
    if sign is None:
        raise CompileError(f'operator {type(operation).__name__} is not compiled')
    if sign in ('<<', '>>'):
        a = convert(a, INT, 'the operand of a shift')
        # Processors and languages differ on shifts by 64 or more.
        if b.type != INT or b.known is None or not 0 <= b.known < 64:
            raise CompileError('only shifts by a literal from 0 to 63 are compiled')
        return Expression(INT, sign, (a, b))
    if sign in ('&', '|', '^'):
        if kind == FLOAT:
            raise CompileError('bitwise operators need integers, not float')
        return _both(kind, sign, a, b)
    # True division is of floats; integers are converted first.
    kind = FLOAT if sign == '/' else _at_least_int(a, b)
    if kind == FLOAT and sign in ('//', '%'):
        # Python's are not floor(a / b), where a / b may round up to the next integer.
        raise CompileError('// and % are compiled for integers only; write math.floor(a / b)')
    if kind == INT and sign in _OF_KNOWN and None not in (a.known, b.known):
        return constant(_OF_KNOWN[sign](int(a.known), int(b.known)))
    return _both(kind, sign, a, b)


def _both(kind: NumberType, name: str, a: Expression, b: Expression) -> Expression:
    """Return an operation on two numbers of the type of its result."""
    return Expression(kind, name, tuple(convert(x, kind, 'an operand') for x in (a, b)))


def _power(a: Expression, b: Expression) -> Expression:
    """Return the power: of integers a product, else the C library's, as in Python."""
    if joined(a, b) == FLOAT or b.known is not None and b.known < 0:
        return _both(FLOAT, 'pow', a, b)
    if b.type != INT or b.known is None or b.known > _MAX_POWER:
        raise CompileError(f'powers of integers have literal exponents up to {_MAX_POWER}')
    a = convert(a, INT, 'the base of a power')
    if a.known is not None:
        return constant(a.known**b.known)
    # The C library's `pow` has floats, which hold integers up to 2^53 only.
    base, result = Expression(INT, 'shared', (a,)), constant(1)
    for k in range(b.known):
        result = Expression(INT, '*', (result, base)) if k else base
    return result


def compare(operation: ast.cmpop, a: Expression, b: Expression) -> Expression:
    """Return whether a comparison holds. Comparisons with NaN are false, except `!=`.

    :raises CompileError: if these operands cannot be compared
    """
    if type(operation) not in _COMPARISONS:
        raise CompileError('only <, <=, >, >=, == and != are compiled')
    sign, of_known = _COMPARISONS[type(operation)]
    kind = _at_least_int(a, b)
    a, b = (convert(each, kind, 'an operand') for each in (a, b))
    if a.known is not None and b.known is not None:
        return constant(of_known(a.known, b.known))
    return Expression(BOOL, sign, (a, b))


def truth(value: Expression) -> Expression:
    """Return whether a number is not zero; NaN is not."""
    if number_type(value, 'a condition') == BOOL:
        return value
    return compare(ast.NotEq(), value, constant(0))


def unary(operation: ast.unaryop, value: Expression) -> Expression:
    """Return the result of an operator with one operand."""
    if isinstance(operation, ast.Not):
        value = truth(value)
        if value.known is not None:
            return constant(not value.known)
        return Expression(BOOL, 'not', (value,))
    if number_type(value, 'an operand') == BOOL:
        value = convert(value, INT, 'an operand')
    if isinstance(operation, ast.UAdd):
        return value
    if isinstance(operation, ast.Invert):
        return binary(ast.BitXor(), convert(value, INT, 'the operand of ~'), constant(-1))
    if value.known is not None:
        return constant(-value.known)
    return Expression(value.type, 'negative', (value,))


def to_integer(value: Expression) -> Expression:
    """Return `int(value)`, rounded towards zero; undefined beyond 64 bits."""
    if number_type(value, 'the argument of int') != FLOAT:
        return convert(value, INT, 'the argument of int')
    return Expression(INT, 'convert', (value,))
