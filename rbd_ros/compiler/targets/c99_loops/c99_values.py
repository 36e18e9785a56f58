# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Values in the C text of a loop: expressions of C and their properties."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Optional, Union

from rbd_ros.compiler.loops.loop_types import (
    BOOL,
    FLOAT,
    INT,
    Type,
)

C_NUMBERS = {BOOL: 'bool', INT: 'int64_t', FLOAT: 'double'}

# Precedence of an expression of C; operands of lower precedence get parentheses.
CHOICE, OR, AND, COMPARISON, SUM, PRODUCT, UNARY, ATOM = range(8)

# Relation of an expression to memory: none (variables and constants), reads what others may
# change, has side effects.
LOCAL, READS, CHANGES = range(3)


class Value(NamedTuple):
    """Expression of C.

    :param text: its text; for an array, that of its memory
    :param binding: its precedence
    :param effect: its relation to memory
    :param known: its constant value, if any
    :param offset: first index of an array in its memory; None at the beginning
    """

    type: Type
    text: str
    binding: int = ATOM
    effect: int = LOCAL
    known: Any = None
    offset: Optional[Value] = None

    def within(self, binding: int) -> str:
        """Return the text of an operand at a precedence, with parentheses if necessary."""
        return self.text if self.binding >= binding else f'({self.text})'

    @property
    def pointer(self) -> str:
        """Text of a value as an argument: for an array, a pointer to its first element."""
        if self.offset is None:
            return self.text
        return f'{self.text} + {self.offset.within(SUM)}'


def combined(kind: Type, binding: int, form: str, *values: Value, within: int = CHOICE) -> Value:
    """Return an expression composed of others by a format.

    :param within: precedence of its operands
    """
    text = form.format(*(each.within(within) for each in values))
    return Value(kind, text, binding, max(each.effect for each in values))


def number(value: Union[bool, int, float]) -> Value:
    """Return a constant."""
    if isinstance(value, bool):
        return Value(BOOL, 'true' if value else 'false', known=value)
    kind = INT if isinstance(value, int) else FLOAT
    text = literal(value)
    return Value(kind, text, UNARY if text[0] == '-' else ATOM, known=value)


def literal(value: Union[int, float]) -> str:
    """Return the constant of C for a number, bitwise equal."""
    if isinstance(value, int):
        # The smallest is the negative of a number of 65 bits.
        return str(value) if value > -(2**63) else f'({value + 1} - 1)'
    if math.isnan(value):
        return 'NAN'
    if math.isinf(value):
        return '-HUGE_VAL' if value < 0.0 else 'HUGE_VAL'
    return repr(float(value))


def sum_of(a: Value, b: Value) -> Value:
    """Return the sum of two integers; zeros are omitted."""
    if a.known == 0 or b.known == 0:
        return b if a.known == 0 else a
    if a.known is not None and b.known is not None:
        return number(a.known + b.known)
    return combined(INT, SUM, '{} + {}', a, b, within=SUM)


def product_of(a: Value, b: Value) -> Value:
    """Return the product of two integers; factors of one are omitted."""
    if a.known == 1:
        return b
    if a.known is not None and b.known is not None:
        return number(a.known * b.known)
    return combined(INT, PRODUCT, '{} * {}', a, b, within=UNARY)
