# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Evaluation of a program node by node on NumPy numbers, real or complex, or arrays of them.

For machines without a compiler, and as a reference for other targets: complex numbers give
derivatives without truncation or cancellation (complex step), f'(x) = Im f(x + i h) / h.
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
    """Choose by the sign of the real part: a complex step takes the branch of its state."""
    # Both branches are evaluated. `where` returns an array even for a number; [()] converts it
    # back.
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

    Unlike in a kernel, NaN in an input affects only dependent results.

    :param inputs: elements of each input array by its name: numbers, or arrays of equal shape for
        many states at once
    :return: for each output array its elements, row by row, each a number or an array; a constant
        stays a single number
    :raises ValueError: if an input that the outputs depend on is missing
    """
    values: Dict[int, Number] = {}
    with np.errstate(all='ignore'):  # a branch not taken may divide by zero
        for number in program.live:
            node = program.graph.nodes[number]
            if node[0] == INPUT:
                values[number] = _element(inputs, node[1], node[2])
            elif node[0] == CONSTANT:
                # A Python float would raise on division by zero.
                values[number] = np.float64(node[1])
            else:
                operation = _OPERATIONS[node[0]]
                values[number] = operation(*(values[operand] for operand in node[1:]))
        return [[_signed(value, values) for value in output] for output in program.values]


def _element(inputs: Mapping[str, Sequence[Number]], name: str, index: int) -> Number:
    if name not in inputs or len(inputs[name]) <= index:
        raise ValueError(f'the input {name}[{index}] is missing')
    value = np.asarray(inputs[name][index])
    # NumPy scalars, unlike Python floats, divide by zero without an exception
    return (value if value.dtype.kind in 'fc' else value.astype(float))[()]


def _signed(output: Value, values: Mapping[int, Number]) -> Number:
    if not isinstance(output, Symbol):
        return np.float64(output)
    value = values[output.number]
    return -value if output.negative else value
