# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Programs made from a graph, without a definition."""

from rbd_ros.compiler import Output, Program
from rbd_ros.compiler.symbol_graph import INPUT
from rbd_ros.compiler.targets.interpreter import interpret


def program(graph, *arrays, inputs=None):
    """Return the program with these values as its output arrays.

    :param inputs: names and sizes of the input arrays; those of the graph's nodes by default
    """
    if inputs is None:
        sizes = {}
        for node in graph.nodes:
            if node[0] == INPUT:
                sizes[node[1]] = max(sizes.get(node[1], 0), node[2] + 1)
        inputs = sizes.items()
    outputs = tuple(Output(f'out{k}', (len(values),)) for k, values in enumerate(arrays))
    values = tuple(tuple(values) for values in arrays)
    return Program('small', tuple(inputs), outputs, graph, values)


def values_of(graph, outputs, inputs):
    """Return the numbers of some values of a graph, by the interpreter.

    :param inputs: elements of each input array by its name
    """
    return interpret(program(graph, outputs), inputs)[0]
