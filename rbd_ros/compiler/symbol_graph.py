# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Symbolic expressions as one shared graph, simplified during construction (book 10.4).

An algorithm run on `Symbol`s makes a node of every scalar operation. Equal nodes are created once
(hash consing); zeros, ones and constants fold; signs are pulled out, so a - b and b - a share a
node and negation is free. Values that an algorithm does not return are never compiled.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import compress
import math
from numbers import Real
from typing import Any, Callable, Dict, List, Sequence, Tuple, Union

INPUT, CONSTANT, ADD, SUB, MUL, DIV, SQRT, SIN, COS, WHERE, INNER = range(11)

# Number of halvings of the argument of tanh, and end of its continued fraction: see `tanh`.
_TANH_HALVINGS, _TANH_DEPTH = 5, 15
_ARCTANGENT_HALVINGS, _ARCTANGENT_TERMS = 2, 21
# Minimum number of terms of a scalar product; shorter ones are sums.
_INNER_TERMS = 3

# All of them are real; testing these first takes a tenth of the time.
_NUMBERS = (float, int, Real)

Value = Union['Symbol', float]
Node = Tuple[Any, ...]


class Graph:
    """Expressions of one program, as nodes in order of creation, which is an order of evaluation.

    `nodes[k]` is (INPUT, name, index), (CONSTANT, value that is not negative), or an operation
    with the numbers of its operands. A node is only created if there is no equal one.
    (INNER, a, b, c, d, ...) is the scalar product a b + c d + ...; for targets without these it is
    expanded (rbd_ros/compiler/passes/expand.py).

    :ivar has_inner_products: whether there are such nodes
    :ivar simd_hints: nodes of the same operations on different values
    """

    def __init__(self) -> None:
        self.nodes: List[Node] = []
        self._number: Dict[Node, int] = {}
        self._negated: Dict[int, int] = {}
        self.has_inner_products = False
        self.simd_hints: List[Tuple[int, ...]] = []

    def inputs(self, name: str, size: int) -> List[Symbol]:
        """Return the symbols for the `size` elements of the input array `name`."""
        return [Symbol(self, self.node((INPUT, name, k)), False) for k in range(size)]

    def node(self, key: Node) -> int:
        """Return the number of the node equal to `key`, created if necessary."""
        number = self._number.get(key)
        if number is None:
            number = self._number[key] = len(self.nodes)
            self.nodes.append(key)
        return number

    def negated(self, number: int) -> int:
        """Return the number of the negated node, for targets without sign handling."""
        found = self._negated.get(number)
        if found is None:
            found = self._negated[number] = self.node((SUB, self.node((CONSTANT, 0.0)), number))
        return found

    def derivatives(
        self,
        function: Callable[[List[Value]], Sequence[Value]],
        at: Sequence[Value],
        rates: Sequence[Sequence[Value]],
    ) -> List[List[Value]]:
        """Raise TypeError: only a `passes.DifferentiableGraph` has derivatives."""
        raise TypeError('symbols of this graph have no derivatives; use a DifferentiableGraph')

    def constant(self, value: float) -> Symbol:
        """Return the symbol of a constant.

        Its sign is that of the symbol, so c and -c share a node.
        """
        negative = math.copysign(1.0, value) < 0.0
        return Symbol(self, self.node((CONSTANT, -value if negative else value)), negative)

    def live(self, outputs: Sequence[Value]) -> List[int]:
        """Return the numbers of the nodes that `outputs` depend on, in order of evaluation."""
        needed = bytearray(len(self.nodes))
        for value in outputs:
            if isinstance(value, Symbol):
                needed[value.number] = True
        for number in reversed(range(len(needed))):  # operands precede their uses
            if needed[number]:
                node = self.nodes[number]
                if node[0] > CONSTANT:
                    for operand in node[1:]:
                        needed[operand] = True
        return list(compress(range(len(needed)), needed))

    def count(self, outputs: Sequence[Value]) -> OperationCount:
        """Return the number of operations of each kind that evaluating `outputs` takes."""
        return self.count_of(self.live(outputs))

    def count_of(self, numbers: Sequence[int]) -> OperationCount:
        """Return the number of operations of each kind among the nodes of these numbers."""
        # Sine and cosine of an angle are evaluated together, so angles count.
        live = [self.nodes[number] for number in numbers]
        ops = Counter(node[0] for node in live)
        terms = [len(node) // 2 for node in live if node[0] == INNER]
        return OperationCount(
            multiplications=ops[MUL] + sum(terms),
            additions=ops[ADD] + ops[SUB] + sum(terms) - len(terms),
            divisions=ops[DIV],
            square_roots=ops[SQRT],
            angles=len({node[1] for node in live if node[0] in (SIN, COS)}),
            selections=ops[WHERE],
        )


@dataclass(frozen=True)
class OperationCount:
    """Number of operations of a kernel; subtractions count as additions, as in the book.

    :param multiplications: products
    :param additions: sums and differences
    :param divisions: quotients
    :param angles: angles of which the sine, the cosine or both are taken
    :param selections: choices between two values by the sign of a third
    """

    multiplications: int
    additions: int
    divisions: int = 0
    square_roots: int = 0
    angles: int = 0
    selections: int = 0


def operands(node: Node) -> Tuple[int, ...]:
    """Return the numbers of the nodes that are operands of a node."""
    return () if node[0] in (INPUT, CONSTANT) else node[1:]


class Symbol:
    """A node of a graph with a sign, which behaves like a number.

    Arithmetic returns a float for constant results. Operations that need the value, such as a
    comparison, raise TypeError.

    :param number: number of the node
    :param negative: whether the value is the negated node
    """

    # No dictionary: tracing a large robot makes millions of them.
    __slots__ = ('graph', 'number', 'negative')
    __array_ufunc__ = None  # so that numpy.float64(2) * symbol calls the symbol

    def __init__(self, graph: Graph, number: int, negative: bool):
        self.graph, self.number, self.negative = graph, number, negative

    def __neg__(self) -> Symbol:
        return Symbol(self.graph, self.number, not self.negative)

    def __pos__(self) -> Symbol:
        return self

    def __add__(self, other: Value) -> Value:
        if not isinstance(other, Symbol):
            if not isinstance(other, _NUMBERS):
                return NotImplemented
            # In IEEE 754, -0.0 + 0.0 is 0.0; here zeros have no sign (`identity` in program.py).
            if other == 0:
                return self
            other = self.graph.constant(float(other))
        a, b = self.number, other.number
        # x - x is 0 even for an infinity: inputs that are not finite make all results NaN in the
        # end (nan_check.py). Likewise 0 x = 0 and x / x = 1 below.
        if a == b:
            if self.negative != other.negative:
                return 0.0
            return Symbol(self.graph, self.graph.node((ADD, a, a)), self.negative)
        if self.negative == other.negative:
            return Symbol(
                self.graph, self.graph.node((ADD, a, b) if a < b else (ADD, b, a)), self.negative
            )
        # Canonical order of the operands: a - b and b - a become one node with two signs.
        if a < b:
            return Symbol(self.graph, self.graph.node((SUB, a, b)), self.negative)
        return Symbol(self.graph, self.graph.node((SUB, b, a)), other.negative)

    __radd__ = __add__

    def __sub__(self, other: Value) -> Value:
        return self + (-other)

    def __rsub__(self, other: Value) -> Value:
        return (-self) + other

    def __mul__(self, other: Value) -> Value:
        graph = self.graph
        if not isinstance(other, Symbol):
            if not isinstance(other, _NUMBERS):
                return NotImplemented
            other = float(other)
            if other == 0.0:
                return 0.0
            if other == 1.0:
                return self
            if other == -1.0:
                return -self
            node = graph.nodes[self.number]
            if node[0] == MUL and graph.nodes[node[1]][0] == CONSTANT:  # c1 (c2 x) = (c1 c2) x
                factor = other * graph.nodes[node[1]][1]
                return Symbol(graph, node[2], self.negative) * factor
            other = graph.constant(other)
        a, b = self.number, other.number
        # A constant comes first, which `c1 (c2 x)` above relies on.
        if b < a or graph.nodes[b][0] == CONSTANT:
            a, b = b, a
        if graph.nodes[b][0] == CONSTANT:
            a, b = b, a
        return Symbol(graph, graph.node((MUL, a, b)), self.negative != other.negative)

    __rmul__ = __mul__

    def __truediv__(self, other: Value) -> Value:
        if not isinstance(other, Symbol):
            # One more rounding than division, in a fraction of its time. A zero raises: a division
            # by zero in every configuration is rejected when traced.
            reciprocal = 1.0 / float(other)
            if math.isfinite(reciprocal):
                return self * reciprocal
            other = self.graph.constant(float(other))
        if other.number == self.number:
            return 1.0 if self.negative == other.negative else -1.0
        return Symbol(
            self.graph,
            self.graph.node((DIV, self.number, other.number)),
            self.negative != other.negative,
        )

    def __rtruediv__(self, other: float) -> Value:
        other = float(other)
        return 0.0 if other == 0.0 else self.graph.constant(other) / self

    def sin(self) -> Symbol:
        """Return the sine; an odd function, so the sign is taken out of it."""
        return Symbol(self.graph, self.graph.node((SIN, self.number)), self.negative)

    def cos(self) -> Symbol:
        """Return the cosine; an even function, so the sign is dropped."""
        return Symbol(self.graph, self.graph.node((COS, self.number)), False)

    def sqrt(self) -> Symbol:
        """Return the square root."""
        if self.negative:
            # Neither odd nor even: the sign is a part of the operand.
            return Symbol(self.graph, self.graph.node((SQRT, self._as_node().number)), False)
        return Symbol(self.graph, self.graph.node((SQRT, self.number)), False)

    def tanh(self) -> Value:
        """Return the hyperbolic tangent, from arithmetic alone, to a few units in the last place.

        The argument is halved several times, then goes through the continued fraction
        x/(1 + x^2/(3 + x^2/(5 + ...))), and the halving is undone by
        tanh 2x = 2 tanh x / (1 + tanh^2 x). Beyond 20 the result is exactly 1, so larger arguments
        are replaced by 20.
        """
        small = (self - 20.0).where_positive(20.0, self)
        small = (-20.0 - small).where_positive(-20.0, small)
        small = small * 0.5**_TANH_HALVINGS
        square, fraction = small * small, _TANH_DEPTH
        for odd in range(_TANH_DEPTH - 2, 0, -2):
            fraction = odd + square / fraction
        result = small / fraction
        for _ in range(_TANH_HALVINGS):
            result = 2.0 * result / (1.0 + result * result)
        return result

    def arctan2(self, x: Value) -> Value:
        """Return the angle of the point (x, y) of the first quadrant, where y is this value.

        By arithmetic alone, to a few units in the last place: the quotient of the smaller by the
        larger has an angle of at most pi/4, which is halved twice before the series.
        """
        steep = self - x
        # tan(a/2) = tan a / (1 + sqrt(1 + tan^2 a)): the series is short for small angles only. At
        # the origin the quotient is 0/1, and the angle 0.
        small, large = steep.where_positive(x, self), steep.where_positive(self, x)
        quotient = small / large.where_positive(large, 1.0)
        for _ in range(_ARCTANGENT_HALVINGS):
            quotient = quotient / (1.0 + (1.0 + quotient * quotient).sqrt())
        square, series = quotient * quotient, 0.0
        for odd in range(_ARCTANGENT_TERMS, 0, -2):
            series = 1.0 / odd - square * series
        angle = quotient * series * 2.0**_ARCTANGENT_HALVINGS
        return steep.where_positive(0.5 * math.pi - angle, angle)

    def where_positive(self, yes: Value, no: Value) -> Value:
        """Return `yes` where this value is positive, `no` where it is zero, negative or NaN."""
        chosen = [
            value if isinstance(value, Symbol) else self.graph.constant(float(value))
            for value in (yes, no)
        ]
        if (chosen[0].number, chosen[0].negative) == (chosen[1].number, chosen[1].negative):
            return yes
        return Symbol(
            self.graph,
            self.graph.node(
                (WHERE, self._as_node().number, *(value._as_node().number for value in chosen))
            ),
            False,
        )

    def inner_product(self, a: Sequence[Value], b: Sequence[Value]) -> Value:
        """Return the scalar product of two sequences, one of which contains this symbol.

        A long one is one node: functions with thousands of them are traced, sorted and compiled in
        a tenth of the time.
        """
        graph, node = self.graph, [INNER]
        for x, y in zip(a, b):
            if type(x) is not Symbol:
                if x == 0:
                    continue
                x = graph.constant(float(x))
            if type(y) is not Symbol:
                if y == 0:
                    continue
                y = graph.constant(float(y))
            if x.negative == y.negative:
                node += (x.number, y.number)
            elif x.negative:
                node += (graph.negated(x.number), y.number)
            else:
                node += (x.number, graph.negated(y.number))
        if len(node) <= 2 * _INNER_TERMS:
            return sum((x * y for x, y in zip(a, b)), 0.0)
        graph.has_inner_products = True
        return Symbol(graph, graph.node(tuple(node)), False)

    def declare_isomorphic(self, others: Sequence[Value]) -> None:
        """Declare that others have the same operations, so that all may be vectorized."""
        hinted = (self.number, *(x.number for x in others if isinstance(x, Symbol)))
        if len(set(hinted)) > 1:
            self.graph.simd_hints.append(tuple(dict.fromkeys(hinted)))

    def derivatives(
        self,
        function: Callable[[List[Value]], Sequence[Value]],
        at: Sequence[Value],
        rates: Sequence[Sequence[Value]],
    ) -> List[List[Value]]:
        """Return the derivatives of a function of this graph's symbols along directions.

        :param function: from a list of scalars to its values
        :param at: arguments where the derivatives are taken: symbols, or numbers
        :param rates: rates of the arguments along each direction, (directions, len(at))
        """
        return self.graph.derivatives(function, at, rates)

    def _as_node(self) -> Symbol:
        """Return the symbol of the same value without a sign, for operands without signs."""
        if not self.negative:
            return self
        return Symbol(self.graph, self.graph.negated(self.number), False)

    def __bool__(self) -> bool:
        raise TypeError('a symbol has no truth value: use where_positive instead of a condition')

    def _no_comparison(self, other: Any) -> bool:
        raise TypeError('symbols cannot be compared: use where_positive instead of a condition')

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _no_comparison
    __hash__ = None  # comparisons raise, so it cannot be the key of a dictionary

    def __float__(self) -> float:
        raise TypeError('a symbol has no numerical value')

    def __repr__(self) -> str:
        return f'{"-" if self.negative else ""}{self.graph.nodes[self.number]}'
