# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""All methods of differentiation, random programs, and complex steps for comparison.

A program runs on symbols, and separately on arrays of complex numbers, so the expected derivatives
are independent of the compiler.
"""

import numpy as np
import pytest

from rbd_ros.compiler.passes import (
    along,
    forward_mode,
    jacobian,
    reverse_mode,
    vertex_elimination,
)
from rbd_ros.compiler.symbol_graph import Graph
from rbd_ros.spatial.scalar import cos, sin, sqrt, where_positive
from support.lanes import Lanes
from support.programs import values_of

H = 1e-30


def root(x):
    """Return the square root, also of complex steps, but not of negative numbers."""
    if type(x) is Lanes:
        return Lanes(np.where(np.real(x.x) < 0.0, complex(np.nan, np.nan), np.sqrt(x.x)))
    return sqrt(x)


OPERATIONS = {
    'add': lambda a, b, c: a + b,
    'subtract': lambda a, b, c: a - b,
    'multiply': lambda a, b, c: a * b,
    'divide': lambda a, b, c: a / b,
    'negate': lambda a, b, c: -a,
    'double': lambda a, b, c: a + a,
    'square': lambda a, b, c: a * a,
    'scale': lambda a, b, c: -1.75 * a,
    'offset': lambda a, b, c: 0.625 - a,
    'reciprocal': lambda a, b, c: 1.0 / a,
    'over': lambda a, b, c: 2.5 / a,
    'root': lambda a, b, c: root(a),
    'root of negative': lambda a, b, c: root(-a),
    'sine': lambda a, b, c: sin(a),
    'cosine': lambda a, b, c: cos(a),
    'choose': lambda a, b, c: where_positive(a, b, c),
    'choose negatives': lambda a, b, c: where_positive(a, -b, -c),
    'choose or nothing': lambda a, b, c: where_positive(a, -b, 0.0),
}


def random_program(seed, state, length=40):
    """Return the instructions (operation, indices of operands) of a random program.

    It is regular and of moderate size at `state`.
    """
    rng = np.random.default_rng(seed)
    values, program = [*state, 0.75, -1.25], []
    while len(program) < length:
        name = rng.choice(list(OPERATIONS))
        places = tuple(int(k) for k in rng.integers(0, len(values), 3))
        a, b, _ = (values[k] for k in places)
        divisor = {'divide': b, 'reciprocal': a, 'over': a}.get(name, 1.0)
        radicand = {'root': a, 'root of negative': -a}.get(name, 1.0)
        jumps = name.startswith('choose') and abs(a) < 1e-3
        if abs(divisor) < 0.2 or radicand < 0.1 or jumps:
            continue
        value = OPERATIONS[name](*(values[k] for k in places))
        if abs(value) < 30.0:
            values.append(value)
            program.append((name, places))
    return program


def run(program, inputs, outputs=10):
    """Return outputs of a program on scalars of any kind.

    They are its last values, an input, a constant, and a negated value.
    """
    values = [*inputs, 0.75, -1.25]
    for name, places in program:
        values.append(OPERATIONS[name](*(values[k] for k in places)))
    return [*values[-outputs:], inputs[0], -inputs[1], 0.75, -values[-1]]


def trace(function, size):
    """Return the graph, its inputs x, and the outputs of a function of a list of scalars."""
    graph = Graph()
    x = graph.inputs('x', size)
    return graph, x, function(x)


def at(graph, rows, **inputs):
    """Return the numbers of a matrix of values, (rows, columns)."""
    flat = values_of(graph, [value for row in rows for value in row], inputs)
    return np.array(flat).reshape(len(rows), -1)


def complex_step(function, x, directions=None):
    """Return the derivatives of a function of a list of scalars along directions.

    (outputs, directions).

    :param directions: as columns, (n, m); by default each of the inputs
    """
    x = np.asarray(x, dtype=float)
    directions = np.eye(len(x)) if directions is None else directions
    lanes = [Lanes(value + 1j * H * rates) for value, rates in zip(x, directions)]
    with np.errstate(all='ignore'):
        columns = [
            np.imag(value.x if type(value) is Lanes else value) for value in function(lanes)
        ]
    return np.array([np.broadcast_to(c, directions.shape[1]) for c in columns]) / H


def units(inputs):
    return [along([x], [1.0]) for x in inputs]


WAYS = {
    'forward': lambda graph, outputs, inputs: forward_mode(graph, outputs, units(inputs)),
    'reverse': reverse_mode,
    'elimination': lambda graph, outputs, inputs: vertex_elimination(
        graph, outputs, units(inputs)
    ),
    'jacobian': jacobian,
}

every_way = pytest.mark.parametrize('way', WAYS.values(), ids=WAYS)


def assert_close(found, expected, tolerance=1e-11):
    """Check that results are equal, relative to the largest element.

    Infinities and NaN are not equal.
    """
    scale = max(1.0, np.abs(expected).max())
    assert np.abs(found - expected).max() <= tolerance * scale


def is_regular(expected):
    """Return the rows of derivatives at a regular point.

    Across a pole complex steps are finite, but huge.
    """
    return (np.abs(expected) < 1e10).all(axis=-1)
