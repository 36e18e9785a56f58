# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Typed intermediate representation of a loop, between front end and targets.

Every expression has a type, and conversions of numbers are explicit. Names are resolved, constants
folded, and unreachable code is gone: a target can reject only operations that it lacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator, List, Optional, Tuple

from rbd_ros.compiler.loops.loop_types import Type


@dataclass(eq=False, slots=True)
class Expression:
    """A typed expression.

    Its name is that of an operator or function of numbers in Python, or one of these:

    ==================  =====================================================================
    constant            the number `detail`
    variable            the value that a `Variable` has there
    field               the field `detail` of a record
    constant_record     a record that is not passed, since all its fields are constant
    length              the length of an array along the axis `detail`
    element             an element of an array, the first operand, or a part, at the indices
    current             the present number in the element of an update
    stack_array         an array on the stack with the lengths `detail`, one for all rounds
    values              several values, as a function returns them
    item                one of several values, that with the index `detail`
    shared              a common subexpression: evaluated at its first use
    call                the call of the function `detail`, an instance
    call_kernel         the call of a kernel: its address, inputs and outputs
    call_loop           the call of an entry point: its address and arguments
    load                a number in bytes, at an index
    convert             a number of another type
    select              one of two numbers by a condition; both are evaluated
    negative            a number with the other sign
    and, or, choice     short-circuit evaluation
    ==================  =====================================================================

    :param type: type of the value
    :param operands: its operands, evaluated from left to right
    """

    type: Type
    name: str
    operands: Tuple[Expression, ...] = ()
    detail: Any = None

    @property
    def known(self) -> Any:
        """Compile-time value, or None."""
        return self.detail if self.name == 'constant' else None

    def walk(self) -> Iterator[Expression]:
        """Return the expression and all its operands, recursively."""
        # Shared operands occur once per use: a walk answers "is there any".
        yield self
        for operand in self.operands:
            yield from operand.walk()

    def has_effect(self) -> bool:
        """Return whether its evaluation may have side effects."""
        # Calls may write to any array; whether they do is not analyzed.
        return any(each.name in ('call', 'call_kernel', 'call_loop') for each in self.walk())


class Variable(Expression):
    """A variable.

    :param name: name in Python; empty if it has none there
    :param is_single: whether it is assigned only once
    :param block: the block of its first assignment
    """

    def __init__(self, kind: Type, name: str = '', is_single: bool = True, block: Any = None):
        super().__init__(kind, 'variable', (), name)
        self.is_single, self.block = is_single, block
        #: Whether all its uses are in its block; else it belongs to the whole function
        self.is_local = True
        #: Whether anything reads it
        self.is_read = False


@dataclass(eq=False, slots=True)
class Statement:
    """A statement, with its line in the function's file."""

    line: int


@dataclass(eq=False, slots=True)
class Assign(Statement):
    """Give a variable a value of its type."""

    variable: Variable
    value: Expression


@dataclass(eq=False, slots=True)
class Store(Statement):
    """Store a number in an element of an array.

    :param is_update: whether the array and the indices are evaluated before the value, in which
        `current` is the number in the element; else after it
    """

    target: Expression
    value: Expression
    is_update: bool = False


@dataclass(eq=False, slots=True)
class Evaluate(Statement):
    """Evaluate an expression for its side effects."""

    value: Expression


@dataclass(eq=False, slots=True)
class If(Statement):
    """Execute one of two blocks."""

    condition: Expression
    then: List[Statement]
    otherwise: List[Statement]


@dataclass(eq=False, slots=True)
class While(Statement):
    """Repeat a block as long as a condition holds."""

    condition: Expression
    body: List[Statement]


@dataclass(eq=False, slots=True)
class For(Statement):
    """Repeat a block with a counter, which nothing else assigns.

    :param end: evaluated once, before the first round
    :param step: not 0
    :param in_vectors: whether rounds are independent of each other's writes
    """

    variable: Variable
    first: Expression
    end: Expression
    step: int
    body: List[Statement]
    in_vectors: bool


@dataclass(eq=False, slots=True)
class Break(Statement):
    """Leave the innermost loop."""


@dataclass(eq=False, slots=True)
class Continue(Statement):
    """Continue with the next round of the innermost loop."""


@dataclass(eq=False, slots=True)
class Return(Statement):
    """Return from the function with a number, `values` or nothing."""

    value: Optional[Expression]


@dataclass(eq=False, slots=True)
class Function:
    """A function for arguments of certain types.

    :param instance: its name, and the types of its arguments and result
    :param parameters: variables of its arguments; constant records are not passed
    :param summary: first line of its docstring
    :param runs_seldom: whether to optimize for size instead of speed
    """

    instance: Any
    parameters: List[Variable]
    summary: str
    runs_seldom: bool
    body: List[Statement]
