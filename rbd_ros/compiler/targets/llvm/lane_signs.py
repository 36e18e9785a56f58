# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Signs of the second lanes of packs.

Isomorphic branches are usually mirrored: one adds what the other subtracts. A lane may hold the
negated value of its node, with the same rounding, so that both lanes add or both subtract.
Constants take any sign.
"""

from __future__ import annotations

from typing import AbstractSet, Dict, List, Mapping, Optional, Set, Tuple

from rbd_ros.compiler.symbol_graph import ADD, CONSTANT, DIV, Graph, MUL, SUB, WHERE
from rbd_ros.compiler.targets.llvm.fusion import MUL_ADD, MUL_SUB, SUB_MUL
from rbd_ros.compiler.targets.llvm.slp_vectorization import NO_ADDEND, Pack, Term

# Whether the terms of a sum are subtracted: first and second, or product and addend
_SUBTRACTED = {
    ADD: (False, False),
    SUB: (False, True),
    MUL: (False, False),
    MUL_ADD: (False, False),
    MUL_SUB: (False, True),
    SUB_MUL: (True, False),
}
_POSITIVE = -1  # number of a positive second lane


def subtracted(graph: Graph, pack: Pack) -> List[Tuple[bool, bool]]:
    """Return whether each term of a sum is subtracted in the lanes; a product counts as one."""
    first, second = (_SUBTRACTED[graph.nodes[k][0]] for k in (pack.first, pack.second))
    if pack.swapped and len(pack.terms) == 2:
        second = second[::-1]
    return list(zip(first, second))


def negative_lanes(graph: Graph, packs: Mapping[int, Pack]) -> Dict[int, bool]:
    """Return whether the second lane holds the negated value of its node, by the first node."""
    signs = _Signs()
    for first in sorted(packs):  # operands have lower numbers
        pack = packs[first]
        operation = graph.nodes[first][0]
        own = [_sign_of(graph, packs, term) for term in pack.terms]
        if operation == WHERE:
            signs.relate(own[0], _POSITIVE, False)
            for sign in own[1:]:
                signs.relate(first, sign, False)
        elif operation in (MUL, DIV) and len(own) == 2:
            signs.multiply(first, own[0], own[1], False)
        elif operation in _SUBTRACTED:
            differs = [a != b for a, b in subtracted(graph, pack)]
            signs.relate(first, own[-1], differs[1])
            if len(own) == 2:
                signs.relate(first, own[0], differs[0])
            else:
                signs.multiply(first, own[0], own[1], differs[0])
        else:  # square root
            signs.relate(own[0], _POSITIVE, False)
            signs.relate(first, _POSITIVE, False)
    return {first: signs.is_negative(first) for first in packs}


def still_settled(settled: Mapping[int, Tuple[int, ...]], opposite: AbstractSet[int]) -> Set[int]:
    """Return the nodes that are never -0.0 if some are evaluated with the opposite sign.

    :param settled: nodes that are never -0.0 otherwise, and those that imply this
    :param opposite: nodes that are evaluated with the opposite sign
    """
    result: Set[int] = set()
    for number, reasons in settled.items():  # reasons come first
        if number not in opposite and result.issuperset(reasons):
            result.add(number)
    return result


def _sign_of(graph: Graph, packs: Mapping[int, Pack], term: Term) -> Optional[int]:
    """Return the unknown of the sign of a term's second lane: None if it may be either."""
    first, second = term
    if NO_ADDEND in term or graph.nodes[first][0] == CONSTANT == graph.nodes[second][0]:
        return None
    return first if first in packs and packs[first].second == second else _POSITIVE


class _Signs:
    """Unknown signs, in sets of known relative signs (union-find).

    A relation that contradicts earlier ones is dropped; the lane's sign is then changed at its
    use, by one more operation.
    """

    def __init__(self) -> None:
        self._above: Dict[int, Tuple[int, bool]] = {}  # another of the set; whether they differ

    def is_negative(self, k: int) -> bool:
        """Return whether a sign is negative; undetermined signs are positive."""
        return self._root(k)[1]

    def relate(self, a: Optional[int], b: Optional[int], differ: bool) -> None:
        """Record that two signs are equal or opposite."""
        if a is None or b is None:
            return
        (root_a, negative_a), (root_b, negative_b) = self._root(a), self._root(b)
        if root_a == _POSITIVE:
            root_a, root_b = root_b, root_a
        if root_a != root_b:
            self._above[root_a] = root_b, negative_a ^ negative_b ^ differ

    def multiply(self, product: int, a: Optional[int], b: Optional[int], differ: bool) -> None:
        """Record that a sign is the product of two, or its opposite."""
        if a is None or b is None:
            return
        (root_a, negative_a), (root_b, negative_b) = self._root(a), self._root(b)
        if root_a == root_b:
            self.relate(product, _POSITIVE, negative_a ^ negative_b ^ differ)
        elif root_b == _POSITIVE:
            self.relate(product, a, negative_b ^ differ)
        else:
            self.relate(a, _POSITIVE, False)
            self.relate(product, b, self.is_negative(a) ^ differ)

    def _root(self, k: int) -> Tuple[int, bool]:
        negative = False
        while k in self._above:
            k, differs = self._above[k]
            negative ^= differs
        return k, negative
