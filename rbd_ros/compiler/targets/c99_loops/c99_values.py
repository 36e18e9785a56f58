# SPDX-License-Identifier: Apache-2.0
"""Values in the C text of a loop: a number, an array, a record or a tuple."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any, NamedTuple, Optional, Tuple, Union

from rbd_ros.compiler.loops.loop_values import (
    BOOL,
    CompileError,
    FLOAT,
    INT,
    NOTHING,
    NumberType,
    TupleType,
)

C_TYPES = {BOOL: 'bool', INT: 'int64_t', FLOAT: 'double'}

# How tightly an expression of C is bound; an operand that is bound less gets parentheses.
CHOICE, OR, AND, COMPARISON, SUM, PRODUCT, UNARY, ATOM = range(8)


@dataclass(frozen=True)
class ArrayType:
    """Type of a contiguous array, a pointer to its first element.

    :param number: type of its elements
    :param shape: its lengths, all known
    :param is_constant: whether nothing may be stored in it
    """

    number: NumberType
    shape: Tuple[int, ...]
    is_constant: bool = False

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def pointer(self, name: str) -> str:
        """Return the declaration of a pointer to such an array."""
        return f'{"const " * self.is_constant}{C_TYPES[self.number]} *{name}'

    def __str__(self) -> str:
        return f'array of {self.number} with {len(self.shape)} dimensions'


class RecordType:
    """Type of one record: equal only to itself.

    :param name: name of its struct in C, '' if it is constant and so has no struct
    """

    def __init__(self, name: str):
        self.name = name
        #: Value of each field; the text of a struct's member begins after the arrow
        self.fields: dict[str, Value] = {}

    def __str__(self) -> str:
        return 'record'


Type = Union[NumberType, ArrayType, RecordType, TupleType]


class Value(NamedTuple):
    """Value of an expression.

    :param kind: its type
    :param text: its expression; of an array, that of the memory it is in
    :param known: what it is, if that is known when the text is written
    :param binding: how tightly the expression is bound
    :param is_pure: whether it calls no function that may change anything
    :param offset: of an array, where it begins in that memory; None at its beginning
    :param items: what is in a tuple
    """

    kind: Type
    text: str = ''
    known: Any = None
    binding: int = ATOM
    is_pure: bool = True
    offset: Optional[Value] = None
    items: Tuple[Value, ...] = ()

    def within(self, binding: int) -> str:
        """Return the text of an operand that is to be bound so tightly."""
        return self.text if self.binding >= binding else f'({self.text})'

    @property
    def pointer(self) -> str:
        """Pointer to the first element of an array."""
        if self.offset is None:
            return self.text
        return f'{self.text} + {self.offset.within(SUM)}'


def constant(number: Union[bool, int, float]) -> Value:
    """Return the value of a number that is known."""
    if isinstance(number, bool):
        return Value(BOOL, 'true' if number else 'false', number)
    if isinstance(number, int):
        if not -(2**63) < number < 2**63:
            raise CompileError(f'{number} has more than 64 bits')
        return Value(INT, str(number), number, ATOM if number >= 0 else UNARY)
    return Value(FLOAT, literal(number), number, UNARY if literal(number)[0] == '-' else ATOM)


def literal(number: float) -> str:
    """Return the constant of C that is this double, bitwise."""
    if math.isnan(number):
        return 'NAN'
    if math.isinf(number):
        return '-HUGE_VAL' if number < 0.0 else 'HUGE_VAL'
    return repr(float(number))


def number_type(value: Value, what: str) -> NumberType:
    """Return the type of a value that has to be a number.

    :raises CompileError: if it is none
    """
    if not isinstance(value.kind, NumberType):
        raise CompileError(f'{what} must be a number, not {value.kind}')
    return value.kind


def convert(value: Value, kind: NumberType, what: str) -> Value:
    """Return the value as a number of a type of the same or a higher rank.

    :raises CompileError: if the type is of a lower rank
    """
    own = number_type(value, what)
    if own == kind:
        return value
    if own.rank > kind.rank:
        raise CompileError(f'{what} must be of type {kind}, not {own}; write {kind}(...)')
    if value.known is not None:
        return constant(float(value.known) if kind == FLOAT else int(value.known))
    if own == BOOL:
        # No cast: compilers warn of comparisons with what a bool never is.
        text = f'{value.within(COMPARISON)} ? {"1 : 0" if kind == INT else "1.0 : 0.0"}'
        return Value(kind, text, None, CHOICE, value.is_pure)
    text = f'({C_TYPES[kind]}){value.within(ATOM)}'
    return Value(kind, text, None, UNARY, value.is_pure)


def joined(*values: Value) -> NumberType:
    """Return the type of a number that may be any of several."""
    return max((number_type(each, 'an operand') for each in values), key=lambda kind: kind.rank)


def combined(kind: NumberType, binding: int, form: str, *values: Value) -> Value:
    """Return the value of an expression made of others, whose texts fit into its form."""
    return Value(
        kind,
        form.format(*(each.text for each in values)),
        None,
        binding,
        all(each.is_pure for each in values),
    )


__all__ = [
    'AND',
    'ATOM',
    'BOOL',
    'ArrayType',
    'CHOICE',
    'COMPARISON',
    'C_TYPES',
    'CompileError',
    'FLOAT',
    'INT',
    'NOTHING',
    'NumberType',
    'OR',
    'PRODUCT',
    'RecordType',
    'SUM',
    'TupleType',
    'Type',
    'UNARY',
    'Value',
    'combined',
    'constant',
    'convert',
    'joined',
    'literal',
    'number_type',
]
