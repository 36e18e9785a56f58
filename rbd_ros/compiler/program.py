# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Definition of a kernel for the compiler, and the program that results.

A definition is a function of arrays. In a program, the input of every target, a graph connects the
arrays, derivatives included; targets need no more, and do not change it.

Methods import passes and the interpreter when they need them: with machine code on disk, nothing
is traced.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, field, replace
from functools import cached_property
from itertools import islice
import math
from typing import (
    Any,
    Callable,
    Dict,
    Hashable,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

from rbd_ros.compiler.symbol_graph import Graph, OperationCount, Symbol, Value


class Output(NamedTuple):
    """An array that a kernel returns.

    :param name: name of the array
    :param shape: its shape for one state; () is a number
    """

    name: str
    shape: Tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of its elements."""
        return math.prod(self.shape)


def identity(value: Value) -> Hashable:
    """Return the key that distinguishes an output's value from all others; zero has no sign."""
    # A value and its opposite are different outputs: graphs have free signs, memory has not.
    if isinstance(value, Symbol):
        return value.number, value.negative
    # -0.0 + 0.0 is 0.0: both zeros are one value.
    return float(value) + 0.0


def split(values: Sequence[Value], arrays: Sequence[Sequence[Value]]) -> List[Tuple[Value, ...]]:
    """Return concatenated values as arrays of the given lengths."""
    remaining = iter(values)
    return [tuple(islice(remaining, len(array))) for array in arrays]


@dataclass(frozen=True)
class Program:
    """A function of arrays, expanded for one state.

    :param name: name of the function
    :param inputs: names and sizes of the input arrays; those of the nodes (INPUT, name, index)
    :param outputs: names and shapes of the output arrays
    :param graph: the graph, which may have further nodes
    :param values: values of each output array, row by row: symbols of the graph, or floats
    :param doc: summary of the function, in one line, for readers of generated code
    :param slow_compile: whether a fast function is worth a long compilation
    :raises ValueError: if the values do not fill the outputs
    """

    name: str
    inputs: Tuple[Tuple[str, int], ...]
    outputs: Tuple[Output, ...]
    graph: Graph
    values: Tuple[Tuple[Value, ...], ...]
    doc: str = ''
    slow_compile: bool = False

    def __post_init__(self) -> None:
        found = [len(values) for values in self.values]
        # Targets write by index without checks: wrong sizes would write beyond the arrays.
        if found != [output.size for output in self.outputs]:
            raise ValueError(f'{self.name}: outputs have {found} numbers, not {self.outputs}')

    def expanded(self) -> Program:
        """Return the same program with expanded scalar products, see `Definition.program`."""
        if not self.graph.has_inner_products:
            return self
        # Imported here, as passes import programs.
        from rbd_ros.compiler.passes import expand

        values = split(expand(self.graph, self.flat), self.values)
        return replace(self, values=tuple(values))

    @cached_property
    def flat(self) -> List[Value]:
        """Values of all outputs, concatenated."""
        return [value for values in self.values for value in values]

    @cached_property
    def different(self) -> int:
        """Number of different values of all outputs."""
        return len({identity(value) for value in self.flat})

    @cached_property
    def destinations(self) -> List[Tuple[int, int]]:
        """For each of `flat` the number of its output array, and its index in it."""
        return [(k, i) for k, values in enumerate(self.values) for i in range(len(values))]

    @cached_property
    def live(self) -> List[int]:
        """Numbers of the nodes that the outputs depend on, in order of evaluation."""
        return self.graph.live(self.flat)

    @cached_property
    def count(self) -> OperationCount:
        """Number of its operations."""
        return self.graph.count_of(self.live)


Scalars = Sequence[Any]


class Tangent(NamedTuple):
    """Directions in which an input array can change, to differentiate along.

    :param input: name of the input array
    :param count: number of directions
    :param rates: from the elements of the array to their rates along each direction,
        (count, size); None if each element is a separate direction
    """

    input: str
    count: int
    rates: Optional[Callable[[Scalars], Sequence[Scalars]]] = None

    def directions(self, symbols: Scalars) -> List[Dict[int, Value]]:
        """Return rates of an array of symbols along each direction, as inputs of the passes."""
        from rbd_ros.compiler.passes import along

        if self.rates is None:
            return [along([symbol], [1.0]) for symbol in symbols]
        return [along(symbols, rates) for rates in self.rates(symbols)]


@dataclass(frozen=True)
class Definition:
    """Definition of a kernel.

    :param name: name of the function, for messages
    :param inputs: names and sizes of the input arrays
    :param outputs: names and shapes of the output arrays
    :param evaluate: from lists of scalars, one for each input, to flat lists, one for each output
        (without the derivatives)
    :param key: JSON values that decide the result of `evaluate`, for the cache on disk
    :param doc: documentation of the callable
    :param mapping: name of a further argument of the kernel's callers, '' for none
    :param numbers: names of the inputs that are a single number each, (N,) for a batch, and their
        default values, None for required ones; only the last inputs may be absent
    :param drawn: names of the inputs that are uniform random numbers, drawn by default
    :param result: named tuple of several outputs
    :param tangents: directions to differentiate the outputs along; after the outputs of `evaluate`
        come the derivatives of each of them along each of these, directions as last axis
    :param differentiates: whether `evaluate` requests derivatives of its scalars, and so always
        takes symbols
    :param slow_compile: whether a fast function is worth a long compilation
    :param alternative: another function for the same outputs; the program with fewer operations is
        used
    """

    name: str
    inputs: Tuple[Tuple[str, int], ...]
    outputs: Tuple[Output, ...]
    evaluate: Callable[..., Sequence[Scalars]]
    key: Dict[str, Any]
    doc: str = ''
    mapping: str = ''
    numbers: Mapping[str, Optional[float]] = field(default_factory=dict)
    drawn: Tuple[str, ...] = ()
    result: Optional[type] = None
    tangents: Tuple[Tangent, ...] = ()
    differentiates: bool = False
    alternative: Optional[Definition] = None
    slow_compile: bool = False

    def __post_init__(self) -> None:
        if len(self.outputs) > 1 and self.result is None:
            raise ValueError(f'{self.name}: several outputs need a named tuple as result')

    @classmethod
    def of_one_output(
        cls,
        name: str,
        inputs: Sequence[Tuple[str, int]],
        shape: Tuple[int, ...],
        evaluate: Callable[..., Scalars],
        key: Dict[str, Any],
    ) -> Definition:
        """Return the definition of a function of one output, a flat list of `evaluate`."""
        output = Output(name, shape)
        return cls(name, tuple(inputs), (output,), lambda *arrays: (evaluate(*arrays),), key)

    @property
    def size(self) -> int:
        """Number of elements of the outputs."""
        return sum(output.size for output in self.outputs)

    def program(self, inner_products: bool = False) -> Program:
        """Return the program for targets: the function, traced on symbols, and its derivatives.

        :param inner_products: whether the target takes scalar products as single operations, where
            the function calls them so (`rbd_ros.spatial.scalar.inner`)
        """
        program = self._traced(inner_products)
        if self.alternative is None:
            return program
        return min(program, self.alternative.program(inner_products), key=_operations)

    def _traced(self, inner_products: bool) -> Program:
        from rbd_ros.compiler.passes import DifferentiableGraph, expand

        graph = DifferentiableGraph()
        symbols = {name: graph.inputs(name, size) for name, size in self.inputs}
        values = [tuple(values) for values in self.evaluate(*symbols.values())]
        if graph.has_inner_products and (self.tangents or not inner_products):
            values = split(expand(graph, [x for each in values for x in each]), values)
        values += self._derivatives(graph, symbols, values)
        # A builtin's documentation begins with its signature, which CPython finds by this mark.
        summary = self.doc.partition('\n--\n\n')[2] or self.doc  # without the signature
        summary = summary.strip().partition('\n')[0]
        return Program(
            self.name, self.inputs, self.outputs, graph, tuple(values), summary, self.slow_compile
        )

    def interpret(self, *arrays: Scalars) -> Sequence[Scalars]:
        """Return the flat lists of the outputs from lists of numbers, without a compiler."""
        # On floats the function itself is the reference. Only derivatives need the graph.
        if not self.tangents and not self.differentiates:
            return self.evaluate(*arrays)
        from rbd_ros.compiler.targets.interpreter import interpret

        return interpret(self._program, {name: x for (name, _), x in zip(self.inputs, arrays)})

    # Traced once: the interpreter runs the same graph at every call.
    @cached_property
    def _program(self) -> Program:
        return self.program()

    def _derivatives(
        self, graph: Graph, symbols: Dict[str, Any], outputs: Sequence[Tuple[Value, ...]]
    ) -> List[Tuple[Value, ...]]:
        """Return the flat derivatives of each output along each tangent, found all together."""
        from rbd_ros.compiler.passes import directional_derivatives

        values = [value for each in outputs for value in each]
        directions = [
            direction
            for tangent in self.tangents
            for direction in tangent.directions(symbols[tangent.input])
        ]
        # One pass for all outputs along all directions, so derivatives share subexpressions.
        rows = directional_derivatives(graph, values, directions) if directions else []
        found, first = [], 0
        for each in outputs:
            column = 0
            for tangent in self.tangents:
                columns = slice(column, column + tangent.count)
                block = rows[first : first + len(each)]
                found.append(tuple(x for row in block for x in row[columns]))
                column += tangent.count
            first += len(each)
        return found


def _operations(program: Program) -> int:
    """Return the number of operations, with scalar products expanded."""
    return sum(astuple(program.expanded().count))
