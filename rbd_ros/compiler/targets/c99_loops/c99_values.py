# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Values in the C text of a loop: expressions of C, with what is known of them."""

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

# How tightly an expression of C is bound; an operand that is bound less gets parentheses.
CHOICE, OR, AND, COMPARISON, SUM, PRODUCT, UNARY, ATOM = range(8)

# What an expression has to do with memory: nothing, since it is made of variables and constants;
# it reads what others may change; it calls what may change something.
LOCAL, READS, CHANGES = range(3)


class Value(NamedTuple):
    """Expression of C.

    :param text: its text; of an array, that of the memory it is in
    :param binding: how tightly it is bound
    :param effect: what it has to do with memory
    :param known: number that it is, if that is known
    :param offset: of an array, where it begins in that memory; None at its beginning
    """

    type: Type
    text: str
    binding: int = ATOM
    effect: int = LOCAL
    known: Any = None
    offset: Optional[Value] = None

    def within(self, binding: int) -> str:
        """Return the text of an operand that is to be bound so tightly."""
        return self.text if self.binding >= binding else f'({self.text})'

    @property
    def pointer(self) -> str:
        """Text of a value as it is passed: of an array, a pointer to its first element."""
        if self.offset is None:
            return self.text
        return f'{self.text} + {self.offset.within(SUM)}'


def combined(kind: Type, binding: int, form: str, *values: Value, within: int = CHOICE) -> Value:
    """Return the expression made of others, whose texts fit into its form.

    :param within: how tightly they are to be bound there
    """
    text = form.format(*(each.within(within) for each in values))
    return Value(kind, text, binding, max(each.effect for each in values))


def number(value: Union[bool, int, float]) -> Value:
    """Return a number that is known."""
    if isinstance(value, bool):
        return Value(BOOL, 'true' if value else 'false', known=value)
    kind = INT if isinstance(value, int) else FLOAT
    text = literal(value)
    return Value(kind, text, UNARY if text[0] == '-' else ATOM, known=value)


def literal(value: Union[int, float]) -> str:
    """Return the constant of C that is this number, bitwise."""
    if isinstance(value, int):
        # The smallest is the opposite of a number that has 65 bits.
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
