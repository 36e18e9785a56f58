# SPDX-License-Identifier: Apache-2.0
"""A program: what a definition becomes, and what every target takes.

Arrays with names go in, arrays with names come out, and between them stands a graph, derivatives
and all. No target needs to know more, and none changes it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
import math
from typing import Hashable, List, NamedTuple, Sequence, Tuple

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
        """Number of numbers that it holds."""
        return math.prod(self.shape)


def identity(value: Value) -> Hashable:
    """Return the key that distinguishes an output's value from all others; zero has no sign."""
    # A value and its opposite are different outputs: signs are free in a graph, but not in memory.
    if isinstance(value, Symbol):
        return value.number, value.negative
    # -0.0 + 0.0 is 0.0: both zeros are one value.
    return float(value) + 0.0


def split(values: Sequence[Value], arrays: Sequence[Sequence[Value]]) -> List[Tuple[Value, ...]]:
    """Return values one after another as arrays again, each as long as the one in its place."""
    remaining = iter(values)
    return [tuple(islice(remaining, len(array))) for array in arrays]


@dataclass(frozen=True)
class Program:
    """A function of arrays, written out for one state.

    :param name: name of the function
    :param inputs: names and sizes of the input arrays; those of the nodes (INPUT, name, index)
    :param outputs: names and shapes of the output arrays
    :param graph: the graph, in which there may be more than this program needs
    :param values: values of each output array, row by row: symbols of the graph, or floats
    :param doc: what the function computes, in one line, for anyone who reads what a target writes
    :param slow_compile: whether a function that is quick to run is worth a long time to compile
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
        # Targets write by index without checks: outputs that do not fit would write beyond their
        # arrays.
        if found != [output.size for output in self.outputs]:
            raise ValueError(f'{self.name}: outputs have {found} numbers, not {self.outputs}')

    def expanded(self) -> Program:
        """Return the same program with scalar products written out, see `Definition.program`."""
        if not self.graph.has_inner_products:
            return self
        # Imported here, as passes import programs.
        from rbd_ros.compiler.passes import expand

        values = split(expand(self.graph, self.flat), self.values)
        return replace(self, values=tuple(values))

    @cached_property
    def flat(self) -> List[Value]:
        """Values of all outputs, one array after another."""
        return [value for values in self.values for value in values]

    @cached_property
    def different(self) -> int:
        """Number of different values among those of all outputs."""
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
        """Number of operations that it takes."""
        return self.graph.count_of(self.live)
