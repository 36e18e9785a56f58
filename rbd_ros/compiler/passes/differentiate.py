# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of a graph's outputs, as more nodes of the same graph, by the cheapest method.

The cheapest method depends on the graph, so several are tried: unused results stay in the graph,
where no output needs them, and are never compiled.
"""

from __future__ import annotations

from dataclasses import astuple
from functools import reduce
from operator import or_
from typing import Callable, Dict, List, Sequence

from rbd_ros.compiler.passes.expand import expand, replace
from rbd_ros.compiler.passes.forward_mode import forward_mode
from rbd_ros.compiler.passes.partials import (
    accumulate,
    along,
    changed_by,
    Direction,
    is_zero,
    transmitting,
)
from rbd_ros.compiler.passes.reverse_mode import reverse_mode
from rbd_ros.compiler.passes.vertex_elimination import vertex_elimination
from rbd_ros.compiler.symbol_graph import Graph, Symbol, Value

Rows = List[List[Value]]

# Vertex elimination is not tried for longer graphs: its time grows faster than the graph.
_LONG = 30000


def jacobian(graph: Graph, outputs: Sequence[Value], inputs: Sequence[Value]) -> Rows:
    """Return the derivatives of `outputs` by `inputs`, (outputs, inputs).

    Exact, also through choices: the derivative of a choice is that of the branch taken.

    :param inputs: symbols to differentiate by, inputs of the graph or not, taken as independent;
        derivatives by a constant are zero
    :return: rows by output, columns by input; 0.0 where an output does not depend on an input
    """
    return directional_derivatives(graph, outputs, [along([x], [1.0]) for x in inputs])


def directional_derivatives(
    graph: Graph, outputs: Sequence[Value], directions: Sequence[Direction]
) -> Rows:
    """Return derivatives of `outputs` along `directions`, (outputs, directions), as `jacobian`.

    For coordinates that do not change one by one, as of a quaternion: `along(q, rates)` is a
    direction in which q changes at rates that may be symbols themselves.

    :param directions: rates of the independent nodes by number, for each direction; a node named
        by any direction is independent in all of them, whether an input or not
    :return: rows by output, columns by direction; 0.0 where nothing changes
    """
    independent = sorted({number for direction in directions for number in direction})
    order = transmitting(graph, outputs, independent)
    # Products are only counted: the cheaper of the two sweeps is made.
    if _forward_products(graph, order, directions) <= _reverse_products(graph, order, outputs):
        sweep = forward_mode(graph, outputs, directions)
    else:
        # Reverse mode gives derivatives by single nodes, which a direction then sums up.
        by_node = reverse_mode(graph, outputs, [Symbol(graph, n, False) for n in independent])
        sweep = [_along_directions(dict(zip(independent, row)), directions) for row in by_node]
    # With one output or one direction a plain sweep has no redundant products.
    if len(order) > _LONG or min(len(outputs), len(directions)) <= 1:
        return sweep
    return _cheaper(graph, outputs, sweep, vertex_elimination(graph, outputs, directions))


class DifferentiableGraph(Graph):
    """Graph whose symbols have derivatives, for functions that request them while traced."""

    def derivatives(
        self,
        function: Callable[[List[Value]], Sequence[Value]],
        at: Sequence[Value],
        rates: Sequence[Sequence[Value]],
    ) -> Rows:
        """Return the derivatives of a function of symbols, as `differentiated` does."""
        return differentiated(self, function, at, rates)


def differentiated(
    graph: Graph,
    function: Callable[[List[Value]], Sequence[Value]],
    at: Sequence[Value],
    rates: Sequence[Sequence[Value]],
) -> Rows:
    """Return the derivatives of a function of symbols along directions, (values, directions).

    :param function: from a list of scalars to its values
    :param at: arguments where the derivatives are taken: symbols, computed or not, or numbers
    :param rates: rates of the arguments along each direction; arguments without rates are held
    :raises ValueError: if a direction has rates of more or fewer arguments
    """
    # Products may be reassociated across a node ((c x) d becomes (c d) x), which hides the node
    # from differentiation; the function may also know the arguments otherwise. So it is traced
    # with new inputs, which are substituted afterwards.
    arguments, instead = list(at), {}
    for k, x in enumerate(at):
        if isinstance(x, Symbol):
            (arguments[k],) = graph.inputs(f'argument {len(graph.nodes)}', 1)
            instead[arguments[k].number] = x
    values = expand(graph, function(list(arguments)))
    directions = []
    for each in rates:
        if len(each) != len(arguments):
            raise ValueError(f'got {len(each)} rates for {len(arguments)} arguments')
        moving = [k for k, rate in enumerate(each) if not is_zero(rate)]
        directions.append(along([arguments[k] for k in moving], [each[k] for k in moving]))
    rows = directional_derivatives(graph, values, directions)
    flat = iter(replace(graph, [x for row in rows for x in row], instead))
    return [[next(flat) for _ in row] for row in rows]


def _along_directions(gradient: Direction, directions: Sequence[Direction]) -> List[Value]:
    """Return the products of a gradient and directions."""
    row: Dict[int, Value] = {}
    for j, direction in enumerate(directions):
        for number, rate in direction.items():
            accumulate(row, j, gradient[number] * rate)
    return [row.get(j, 0.0) for j in range(len(directions))]


def _cheaper(graph: Graph, outputs: Sequence[Value], *ways: Rows) -> Rows:
    """Return the variant with the fewest operations, outputs included."""

    # With the outputs: a derivative that shares operations with the function is cheaper.
    def operations(rows: Rows) -> int:
        return sum(astuple(graph.count([*outputs, *(value for row in rows for value in row)])))

    return min(ways, key=operations)


def _forward_products(graph: Graph, order: Sequence[int], directions: Sequence[Direction]) -> int:
    """Return the number of products of a partial derivative and a tangent in forward mode."""
    reached: Dict[int, int] = {}  # directions that a node changes along, as bits
    for j, direction in enumerate(directions):
        for number in direction:
            reached[number] = reached.get(number, 0) | 1 << j
    independent, total = set(reached), 0
    for number in order:
        if number not in independent:
            sets = [reached.get(m, 0) for m in changed_by(graph, number)]
            total += sum(bits.bit_count() for bits in sets)
            reached[number] = reduce(or_, sets, 0)
    return total


def _reverse_products(graph: Graph, order: Sequence[int], outputs: Sequence[Value]) -> int:
    """Return the number of products of a partial derivative and an adjoint in reverse mode."""
    reached: Dict[int, int] = dict.fromkeys(order, 0)  # outputs that a node changes, as bits
    for row, output in enumerate(outputs):
        if isinstance(output, Symbol) and output.number in reached:
            reached[output.number] |= 1 << row
    total = 0
    for number in reversed(order):
        for m in changed_by(graph, number):
            if m in reached:
                total += reached[number].bit_count()
                reached[m] |= reached[number]
    return total
