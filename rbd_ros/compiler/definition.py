"""What a kernel computes, in terms that a compiler understands: arrays in, a text, arrays out."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any, Callable, Dict, NamedTuple, Optional, Sequence, Tuple

from rbd_ros.compiler.graph import Graph, Value

Scalars = Sequence[Any]


class Output(NamedTuple):
    """An array that a kernel returns.

    :param name: name of the array
    :param shape: its shape for one state; () is a number
    """

    name: str
    shape: Tuple[int, ...]

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)


class Tangent(NamedTuple):
    """Ways in which an input array can move, to differentiate by.

    :param input: name of the input array
    :param count: number of ways
    :param rates: from the elements of the array to their derivatives along each way,
        (count, size); None if each element is a way of its own
    """

    input: str
    count: int
    rates: Optional[Callable[[Scalars], Sequence[Scalars]]] = None


@dataclass(frozen=True)
class Definition:
    """What a kernel computes.

    :param name: name of the function, for messages
    :param inputs: names and sizes of the input arrays
    :param outputs: names and shapes of the output arrays
    :param evaluate: from lists of scalars, one for each input, to flat lists, one for each output
        (without the derivatives)
    :param key: what decides the result of `evaluate`, as JSON values, for the cache on disk
    :param doc: documentation of the callable
    :param result: named tuple that holds the outputs if there are several
    :param tangents: what the outputs are differentiated by; after the outputs of `evaluate` come
        the derivatives of each of them by each of these, the ways as last axis
    """

    name: str
    inputs: Tuple[Tuple[str, int], ...]
    outputs: Tuple[Output, ...]
    evaluate: Callable[..., Sequence[Scalars]]
    key: Dict[str, Any]
    doc: str = ''
    result: Optional[type] = None
    tangents: Tuple[Tangent, ...] = ()

    def __post_init__(self) -> None:
        if len(self.outputs) > 1 and self.result is None:
            raise ValueError(f'{self.name}: several outputs need a named tuple to be returned in')

    @classmethod
    def of_one_output(
        cls,
        name: str,
        inputs: Sequence[Tuple[str, int]],
        shape: Tuple[int, ...],
        evaluate: Callable[..., Scalars],
        key: Dict[str, Any],
    ) -> Definition:
        """Definition of what returns one array: `evaluate` gives its flat list."""
        output = Output(name, shape)
        return cls(name, tuple(inputs), (output,), lambda *arrays: (evaluate(*arrays),), key)

    @property
    def size(self) -> int:
        """How many numbers come out."""
        return sum(output.size for output in self.outputs)

    def trace(self) -> Tuple[Graph, Tuple[Tuple[Value, ...], ...]]:
        """Graph and values of each output array, from running the text on symbols."""
        graph = Graph()
        symbols = {name: graph.inputs(name, size) for name, size in self.inputs}
        outputs = [tuple(values) for values in self.evaluate(*symbols.values())]
        found = [len(values) for values in outputs]
        if found != [output.size for output in self.outputs]:
            raise AssertionError(f'{self.name}: outputs of {found} numbers, not {self.outputs}')
        return graph, tuple(outputs)

    def interpret(self, *arrays: Scalars) -> Sequence[Scalars]:
        """Flat lists of the outputs, from scalars of any kind for the inputs."""
        return self.evaluate(*arrays)
