# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Table of operations of a program: by depth and kind, with the slots of their operands.

A row has the slot of a result in an array of values, and the slots of its operands. Independent
rows of one kind make a run; the runs are in topological order. Products are fused into sums, as in
straight-line code.
"""

from __future__ import annotations

from typing import List, NamedTuple, Tuple

import numpy as np

from rbd_ros.compiler.program import Program
from rbd_ros.compiler.symbol_graph import (
    ADD,
    CONSTANT,
    COS,
    DIV,
    Graph,
    INNER,
    INPUT,
    MUL,
    SIN,
    SQRT,
    SUB,
    Symbol,
    WHERE,
)
from rbd_ros.compiler.targets.llvm.nan_check import Inputs

# Kinds of loops beside the graph's operations: x y + z, x y - z, z - x y; storing x, -x
MUL_ADD, MUL_SUB, SUB_MUL, PUT, PUT_NEGATED = range(100, 105)
INNER_OF = 200  # plus the number of operands: scalar products, a kind for each length
_NAMES = {
    ADD: 'add',
    SUB: 'sub',
    MUL: 'mul',
    DIV: 'div',
    SQRT: 'sqrt',
    SIN: 'sin',
    COS: 'cos',
    WHERE: 'where',
    MUL_ADD: 'mul_add',
    MUL_SUB: 'mul_sub',
    SUB_MUL: 'sub_mul',
    PUT: 'put',
    PUT_NEGATED: 'put_negated',
}
# Number of operands; a row of the table is the slot of the result and those of the operands.
_OPERANDS = {
    **dict.fromkeys((ADD, SUB, MUL, DIV), 2),
    **dict.fromkeys((SQRT, SIN, COS), 1),
    **dict.fromkeys((PUT, PUT_NEGATED), 2),  # the output array, and the stored value
    **dict.fromkeys((WHERE, MUL_ADD, MUL_SUB, SUB_MUL), 3),
}


def operand_count(kind: int) -> int:
    """Return the number of operands in a row of this kind."""
    return kind - INNER_OF if kind > INNER_OF else _OPERANDS[kind]


def kind_name(kind: int) -> str:
    """Return the name of the loop over rows of this kind."""
    return f'inner_{kind - INNER_OF}' if kind > INNER_OF else _NAMES[kind]


class Run(NamedTuple):
    """Independent operations of one kind.

    :param rows: rows of the table, (operations, 1 + operands)
    """

    kind: int
    rows: np.ndarray


def operation_table(program: Program) -> Tuple[List[float], List[Run], int]:
    """Return the constants, runs in order, and the size of the array of values.

    The array of values begins with the inputs and the constants. Each result takes a slot after
    them, which is free again at the depth after its last use.
    """
    graph = program.graph
    signed = [x if isinstance(x, Symbol) else graph.constant(float(x) + 0.0) for x in program.flat]
    owners, indices = np.array(program.destinations, dtype=np.int64).reshape(-1, 2).T
    results = np.array([x.number for x in signed], dtype=np.int64)
    needed = np.zeros(len(graph.nodes), dtype=bool)
    needed[np.asarray(program.live, dtype=np.int64)] = True
    needed[results] = True
    kinds, operands = _operations(graph, needed, results)
    # INPUT and CONSTANT are the first two kinds; all others are operations.
    inner = np.flatnonzero(needed & (kinds > CONSTANT))
    depths = _depths(inner, operands, results)

    places = np.full(len(kinds) + 1, -1)  # the last one is for missing operands, -1
    constants, size = _place_leaves(
        graph, np.flatnonzero(needed & (kinds <= CONSTANT)), program.inputs, places
    )
    last = np.zeros(len(places), dtype=np.int64)
    for column in operands[inner].T:
        having = column >= 0
        np.maximum.at(last, column[having], depths[inner[having]])
    # Outputs are stored one depth later, together.
    np.maximum.at(last, results, depths[results] + 1)
    size = _place_results(inner, depths, last, places, size)

    # storing the outputs is one more kind of operation
    negated = np.array([x.negative for x in signed], dtype=bool)
    kinds = np.concatenate([kinds[inner], np.where(negated, PUT_NEGATED, PUT)])
    depths = np.concatenate([depths[inner], depths[results] + 1])
    to = np.concatenate([places[inner], indices])
    operands = np.concatenate([operands[inner], np.full((len(results), operands.shape[1]), -1)])
    operands[len(inner) :, 1] = results
    # By depth, and within a depth by kind: lexsort starts with its last key. It is stable, so
    # neighbors in the source stay neighbors.
    order = np.lexsort((kinds, depths))
    # A run ends where depth or kind changes.
    ends = np.flatnonzero(np.diff(kinds[order]) | np.diff(depths[order])) + 1
    runs = []
    for some in np.split(order, ends) if len(order) else ():
        kind = int(kinds[some[0]])
        values = places[operands[some, : operand_count(kind)]]
        if kind in (PUT, PUT_NEGATED):
            # Not a slot but the number of the output array.
            values[:, 0] = owners[some - len(inner)]
        runs.append(Run(kind, np.column_stack([to[some], values])))
    return constants, runs, size


def _operations(
    graph: Graph, needed: np.ndarray, results: np.ndarray
) -> Tuple[np.ndarray, np.ndarray]:
    """Return the kind of each node, (nodes,), and its operands, -1 for none, (nodes, 3 or more).

    A product used by one sum only is fused into it, and is no longer needed itself.

    :param needed: whether a node is to be evaluated, (nodes,)
    :param results: numbers of the nodes that are outputs
    """
    nodes = graph.nodes
    kinds = np.fromiter((node[0] for node in nodes), np.int64, len(nodes))
    lengths = {k: len(nodes[k]) - 1 for k in np.flatnonzero(kinds == INNER).tolist()}
    operands = np.full((len(nodes), max(3, *lengths.values(), 0)), -1)
    for length in set(lengths.values()):
        some = [number for number in lengths if lengths[number] == length]
        operands[some, :length] = [nodes[number][1:] for number in some]
        kinds[some] = INNER_OF + length
    for k in range(3):
        having = np.flatnonzero(
            np.isin(kinds, [kind for kind in _OPERANDS if _OPERANDS[kind] > k])
        )
        operands[having, k] = [nodes[number][k + 1] for number in having.tolist()]
    used = operands[needed]
    # An output is a use too: it needs the product itself.
    uses = np.bincount(np.concatenate([used[used >= 0], results]), minlength=len(nodes))
    product = (kinds == MUL) & (uses == 1)
    sums = needed & ((kinds == ADD) | (kinds == SUB))
    by_first = sums & product[operands[:, 0]]
    # One instruction fuses one product.
    by_second = sums & ~by_first & product[operands[:, 1]]
    fused = kinds.copy()
    fused[(by_first | by_second) & (kinds == ADD)] = MUL_ADD
    fused[by_first & (kinds == SUB)] = MUL_SUB
    fused[by_second & (kinds == SUB)] = SUB_MUL
    for chosen, column in ((by_first, 0), (by_second, 1)):
        products, others = operands[chosen, column], operands[chosen, 1 - column]
        operands[chosen, :3] = np.column_stack([operands[products, :2], others])
        needed[products] = False
    return fused, operands


def _depths(inner: np.ndarray, operands: np.ndarray, results: np.ndarray) -> np.ndarray:
    """Return depth at which each node is evaluated, above those of its operands; inputs' are 0.

    Results are evaluated as early as possible, all other nodes as late as possible for that: early
    values must be kept long, and an array of values that exceeds the cache takes several times as
    long.

    :param inner: numbers of the nodes to be evaluated
    """
    needed = np.zeros(len(operands) + 1, dtype=bool)
    needed[operands[inner]] = True
    ends = inner[~needed[inner]]  # results without other uses: often most of the graph
    between = inner[needed[inner]]
    # lists of numbers only: the garbage collector traverses lists of lists repeatedly
    columns = [between.tolist(), *operands[between, :3].T.tolist()]
    long = between[(operands[between, 3:] >= 0).any(axis=1)]
    more = dict(zip(long.tolist(), operands[long, 3:].tolist()))
    early = [0] * (len(operands) + 1)  # the last one is for missing operands, -1
    for number, x, y, z in zip(*columns):
        early[number] = 1 + max(early[x], early[y], early[z])
        if number in more:
            early[number] = max(early[number], 1 + max(map(early.__getitem__, more[number])))
    depths = np.array(early)
    depths[ends] = 1 + depths[operands[ends]].max(axis=1, initial=0)
    latest = np.full(len(early), len(inner) + 1)
    latest[results] = depths[results]
    for column in operands[ends].T:
        np.minimum.at(latest, column, latest[ends] - 1)
    late = latest.tolist()
    for number, x, y, z in zip(*(reversed(column) for column in columns)):
        before = late[number] - 1
        if before < late[x]:
            late[x] = before
        if before < late[y]:
            late[y] = before
        if before < late[z]:
            late[z] = before
        for m in more.get(number, ()):
            if before < late[m]:
                late[m] = before
    result = np.zeros(len(operands), dtype=np.int64)
    result[inner] = np.array(late)[inner]
    return result


def _place_leaves(
    graph: Graph, leaves: np.ndarray, inputs: Inputs, places: np.ndarray
) -> Tuple[List[float], int]:
    """Assign slots to inputs and constants; return the constants, and the number of slots."""
    first, size = {}, 0
    for name, length in inputs:
        first[name] = size
        size += length
    constants = []
    for number in leaves.tolist():
        node = graph.nodes[number]
        if node[0] == INPUT:
            places[number] = first[node[1]] + node[2]
        else:
            places[number] = size + len(constants)
            constants.append(node[1])
    return constants, size + len(constants)


def _place_results(
    inner: np.ndarray, depths: np.ndarray, last: np.ndarray, places: np.ndarray, size: int
) -> int:
    """Assign slots to results, depth by depth; return the size of the array of values.

    :param last: depth of each node's last use
    """
    deepest = int(depths.max(initial=0))
    by_depth = inner[np.argsort(depths[inner], kind='stable')]
    by_last = inner[np.argsort(last[inner], kind='stable')]
    steps = np.arange(1, deepest + 3)
    born = np.split(by_depth, np.searchsorted(depths[by_depth], steps))
    released = np.split(by_last, np.searchsorted(last[by_last], steps))
    free = np.zeros(0, dtype=np.int64)  # in order: neighbors use neighbors
    for depth in range(1, deepest + 1):
        count = len(born[depth])
        # Free slots first: a small array of values stays in the cache.
        fresh = np.arange(size, size + max(0, count - len(free)))
        places[born[depth]] = np.concatenate([free[:count], fresh])
        size += len(fresh)
        free = np.sort(np.concatenate([free[count:], places[released[depth]]]), kind='stable')
    return size
