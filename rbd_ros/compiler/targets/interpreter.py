# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A program run node by node on NumPy's numbers, real or complex, one state or arrays of them.

For machines without a compiler, and an oracle for what else is made of a graph: on complex numbers
it gives derivatives without truncation or cancellation, f'(x) = Im f(x + i h) / h.
"""

from __future__ import annotations

import operator
from typing import Any, Callable, Dict, List, Mapping, Sequence, TYPE_CHECKING

import numpy as np

from rbd_ros.compiler.symbol_graph import (
    ADD,
    CONSTANT,
    COS,
    DIV,
    INPUT,
    MUL,
    SIN,
    SQRT,
    SUB,
    Symbol,
    Value,
    WHERE,
)

if TYPE_CHECKING:
    from rbd_ros.compiler.program import Program

Number = Any  # float, complex or an array of them


def _where_positive(condition: Number, yes: Number, no: Number) -> Number:
    """Return choice by the sign of the real part: a complex step takes the branch of its state."""
    # Both branches have been evaluated already. `where` makes an array of a number too, and [()] a
    # number of that.
    return np.where(np.real(condition) > 0.0, yes, no)[()]


_OPERATIONS: Dict[int, Callable[..., Number]] = {
    ADD: operator.add,
    SUB: operator.sub,
    MUL: operator.mul,
    DIV: operator.truediv,
    SQRT: np.sqrt,
    SIN: np.sin,
    COS: np.cos,
    WHERE: _where_positive,
}


def interpret(program: Program, inputs: Mapping[str, Sequence[Number]]) -> List[List[Number]]:
    """Return the values of a program's outputs, in the arithmetic of IEEE 754: nothing raises.

    Unlike in a kernel, an input that is no number spoils only what depends on it.

    :param inputs: elements of each input array by its name: numbers, or arrays of equal shape for
        many states at once
    :return: for each output array its elements, row by row, each a number or an array; a constant
        stays a single number
    :raises ValueError: if an input that the outputs depend on is missing
    """
    values: Dict[int, Number] = {}
    with np.errstate(all='ignore'):  # what a branch not taken divides by may be zero
        for number in program.live:
            node = program.graph.nodes[number]
            if node[0] == INPUT:
                values[number] = _element(inputs, node[1], node[2])
            elif node[0] == CONSTANT:
                # A float of Python would raise where it is divided by zero.
                values[number] = np.float64(node[1])
            else:
                operation = _OPERATIONS[node[0]]
                values[number] = operation(*(values[operand] for operand in node[1:]))
        return [[_signed(value, values) for value in output] for output in program.values]


def _element(inputs: Mapping[str, Sequence[Number]], name: str, index: int) -> Number:
    if name not in inputs or len(inputs[name]) <= index:
        raise ValueError(f'the input {name}[{index}] is missing')
    value = np.asarray(inputs[name][index])
    # NumPy's scalars, unlike Python's floats, divide by zero without an exception
    return (value if value.dtype.kind in 'fc' else value.astype(float))[()]


def _signed(output: Value, values: Mapping[int, Number]) -> Number:
    if not isinstance(output, Symbol):
        return np.float64(output)
    value = values[output.number]
    return -value if output.negative else value
