# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Corresponding operations of isomorphic branches of a robot, such as arms or legs.

A graph has no branches, but the joints of isomorphic branches are used alike. Inputs are compared
by the operations that follow, for any constants; from there on an operation corresponds to the one
with the same kind and corresponding operands. Only speed depends on it: imperfect correspondence
is not worth a vector (slp_vectorization.py).
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import Dict, List, Mapping, NamedTuple, Sequence, Set, Tuple

from rbd_ros.compiler.program import Program
from rbd_ros.compiler.symbol_graph import ADD, CONSTANT, Graph, INPUT, MUL, operands, SUB
from rbd_ros.compiler.targets.llvm.fusion import MUL_ADD, MUL_SUB, SUB_MUL

_SHORTEST = 3  # minimum joints of a useful branch
_STEPS = 4  # length of the chains of operations that identify an input
_COMMON = 8  # maximum inputs with a common operation that is significant
# Inputs with a common operation within this depth belong to one branch.
_APART = 2
# Minimum fraction of common following operations of branches, by itself and relative to the most
# similar ones of the same robot. Isomorphic branches of Talos, G1 and Go1 have 0.16 to 0.73, and
# 0.43 or more; other groups have 0.20 at most, and 0.33; the joints of a UR5 have 0.09.
_ALIKE, _ALIKE_COMPARED = 0.1, 0.38
# Of four legs, neighbors are paired if they are nearly as similar as the others: their
# contributions to the trunk are added one after another, and need not wait in registers.
_NEIGHBORS = 1.2

# Operations that differ by signs are of one kind; a product is a sum with a constant addend.
_KINDS = {SUB: ADD, MUL: MUL_ADD, MUL_SUB: MUL_ADD, SUB_MUL: MUL_ADD}
# Words for operands, beside the numbers of nodes: any constant; an operand without a counterpart;
# an ignored operand
_CONSTANT, _NONE, _ANY = -1, -2, -3
_FIRST, _SECOND = 1, 2  # branches

Key = Tuple[int, ...]
Place = Tuple[int, int]  # array, index


def kind(operation: int) -> int:
    """Return the kind of an operation, regardless of signs."""
    return _KINDS.get(operation, operation)


def counterparts(program: Program) -> Dict[int, int]:
    """Return the nodes of second branches, and for each its counterpart in the first."""
    inputs = isomorphic_inputs(program)
    return _followed(program.graph, program.live, inputs) if inputs else {}


def isomorphic_inputs(program: Program) -> Dict[int, int]:
    """Return the inputs of second branches, and for each its counterpart in the first.

    The joints of a branch are neighbors in the arrays, in the same order in all of them. So a run
    of indices corresponds to another, equally far away in all arrays. These need not begin with
    the same joint, as a quaternion has four elements and an angular velocity three, but end so:
    indices count from the end.
    """
    graph, live = program.graph, program.live
    arrays: Dict[str, Dict[int, int]] = {name: {} for name, _ in program.inputs}
    sizes = dict(program.inputs)
    for number in live:
        if graph.nodes[number][0] == INPUT:
            _, name, index = graph.nodes[number]
            arrays[name][index - sizes[name]] = number
    placed = list(arrays.values())
    if len({index for array in placed for index in array}) < 2 * _SHORTEST:
        return {}
    agreement: Dict[Tuple[int, int], int] = defaultdict(int)  # by index and distance
    every: Dict[int, int] = defaultdict(int)
    for uses in _uses(graph, live, placed):
        for i in uses.indices:
            every[i] += 1
        for i, j in uses.pairs:
            agreement[i, j - i] += 1
    pairs: Dict[int, int] = {}
    free, most = set(every), 0.0
    for _, spacing, run in _runs(agreement):
        run = [i for i in run if i in free and i + spacing in free]
        if len(run) < _SHORTEST:
            continue
        share = sum(agreement[i, spacing] for i in run) / sum(
            min(every[i], every[i + spacing]) for i in run
        )
        if share > max(_ALIKE, _ALIKE_COMPARED * most):
            most = max(most, share)
            pairs.update((i + spacing, i) for i in run)
            free.difference_update(run, [i + spacing for i in run])
    return {
        array[j]: array[i]
        for array in placed
        for j, i in pairs.items()
        if i in array and j in array
    }


def _runs(agreement: Mapping[Tuple[int, int], int]) -> List[Tuple[float, int, List[int]]]:
    """Return the runs of indices, the distances of their counterparts, and their similarities.

    The most similar run comes first.
    """
    found = []
    for i, spacing in agreement:
        if (i - 1, spacing) in agreement:
            continue
        end = i
        while (end, spacing) in agreement:
            end += 1
        row = end - i >= 3 * spacing  # of four branches at least, of which each second counts
        width = 3 * spacing if row else min(spacing, end - i)
        for first in range(i, end - width + 1):
            run = [k for k in range(first, first + width) if (k - first) // spacing % 2 == 0]
            total = sum(agreement[k, spacing] for k in run)
            found.append((total * (_NEIGHBORS if row else 1.0), spacing, run))
    return sorted(found, key=lambda each: (-each[0], each[1], each[2][0]))


class _Uses(NamedTuple):
    """Inputs with the same uses.

    :param indices: their indices, concatenated by array
    :param pairs: pairs of indices in the same array that may be of isomorphic branches
    """

    indices: List[int]
    pairs: List[Tuple[int, int]]


def _uses(graph: Graph, live: Sequence[int], arrays: Sequence[Mapping[int, int]]) -> List[_Uses]:
    """Return the inputs by the operations that follow them.

    Operations are classified by their kind, and the kinds of their operands and users; then once
    more by the classes of these (color refinement, Weisfeiler and Leman 1968).
    """
    nodes = graph.nodes
    users: Dict[int, List[int]] = defaultdict(list)
    for number in live:
        for k in operands(nodes[number]):
            users[k].append(number)
    follow: Dict[Place, Dict[int, None]] = {}
    soon: Dict[Place, Set[int]] = {}
    for name, array in enumerate(arrays):
        for index, number in array.items():
            found: Dict[int, None] = {}
            step = [number]
            for k in range(_STEPS):
                step = [
                    user
                    for user in dict.fromkeys(user for each in step for user in users[each])
                    if user not in found
                ]
                found.update(dict.fromkeys(step))
                if k + 1 == _APART:
                    soon[name, index] = set(found)
            follow[name, index] = found
    near = dict.fromkeys(k for found in follow.values() for k in found)
    neighbors = dict.fromkeys(near)
    for number in near:
        neighbors.update(dict.fromkeys(operands(nodes[number])))
        neighbors.update(dict.fromkeys(users[number]))
    color = [kind(node[0]) for node in nodes]
    paired: Dict[Tuple[Place, Place], bool] = {}
    result = []
    for ring in (neighbors, near):
        refined = [
            hash(
                (
                    color[number],
                    *sorted([color[k] for k in operands(nodes[number])]),
                    _ANY,
                    *sorted([color[k] for k in users[number]]),
                )
            )
            for number in ring
        ]
        for number, value in zip(ring, refined):
            if nodes[number][0] != CONSTANT:  # many operations share one
                color[number] = value
        places_of: Dict[int, List[Place]] = defaultdict(list)
        for place, found in follow.items():
            for value in {color[k] for k in found}:
                places_of[value].append(place)
        for places in places_of.values():
            pairs = []
            for a, b in combinations(places, 2) if len(places) <= _COMMON else ():
                if (a, b) not in paired:
                    paired[a, b] = a[0] == b[0] and soon[a].isdisjoint(soon[b])
                if paired[a, b]:
                    pairs.append((min(a[1], b[1]), max(a[1], b[1])))
            result.append(_Uses([index for _, index in places], pairs))
    return result


def _followed(graph: Graph, live: Sequence[int], inputs: Mapping[int, int]) -> Dict[int, int]:
    """Return the nodes of the isomorphic subgraph, with their counterparts; inputs included.

    An operation belongs to a branch if an operand does, and no operand to the other branch. If
    several match, up to constants, they correspond in order. If none matches, one with a different
    operand may.
    """
    nodes = graph.nodes
    side = dict.fromkeys(inputs.values(), _FIRST)
    side.update(dict.fromkeys(inputs, _SECOND))
    exact: Dict[Key, List[int]] = defaultdict(list)
    nearly: Dict[Key, List[int]] = defaultdict(list)
    second: List[int] = []
    for number in live:
        sides = {side[k] for k in operands(nodes[number]) if k in side}
        if len(sides) != 1:
            continue
        side[number] = sides.pop()
        if side[number] == _SECOND:
            second.append(number)
            continue
        operation, *words = nodes[number]
        words = [_CONSTANT if nodes[k][0] == CONSTANT else k for k in words]
        exact[_key(operation, words)].append(number)
        for key in _partial_keys(operation, words, side):
            nearly[key].append(number)
    for found in (*exact.values(), *nearly.values()):
        found.reverse()
    result, taken = dict(inputs), set()

    def first(found: List[int]) -> int:
        while found and found[-1] in taken:
            found.pop()
        return found[-1] if found else _NONE

    for number in second:
        operation, *words = nodes[number]
        for place, k in enumerate(words):
            if nodes[k][0] == CONSTANT:
                words[place] = _CONSTANT
            elif side.get(k) == _SECOND:
                words[place] = result.get(k, _NONE)
        other = _NONE
        if _NONE not in words:
            other = first(exact.get(_key(operation, words), []))
        if other == _NONE:
            candidates = (
                first(nearly[key])
                for key in _partial_keys(operation, words, side)
                if key in nearly
            )
            other = next((k for k in candidates if k != _NONE), _NONE)
        if other != _NONE:
            result[number] = other
            taken.add(other)
    return result


def _key(operation: int, words: Sequence[int]) -> Key:
    """Return the common key of corresponding operations.

    :param words: operands, as nodes of the first branch or as other keys
    """
    rest = [*words, _CONSTANT] if operation == MUL else list(words)
    shape = kind(operation)
    if shape in (ADD, MUL_ADD) and rest[1] < rest[0]:
        rest[:2] = rest[1], rest[0]
    return (shape, *rest)


def _partial_keys(operation: int, words: Sequence[int], side: Mapping[int, int]) -> List[Key]:
    """Return the keys without one operand, as long as another belongs to the branch."""
    inside = [side.get(word) == _FIRST for word in words]
    total = sum(inside)
    return [
        _key(operation, [*words[:k], _ANY, *words[k + 1 :]])
        for k in range(len(words))
        if total > inside[k]
    ]
