# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""LLVM code of packs: vectors of two lanes among the scalars of a function for one state."""

from __future__ import annotations

from typing import Callable, Dict, List, Mapping, Tuple

from rbd_ros.compiler.symbol_graph import ADD, CONSTANT, DIV, Graph, MUL, SQRT, SUB, WHERE
from rbd_ros.compiler.targets.llvm.emit import Emitter
from rbd_ros.compiler.targets.llvm.lane_signs import subtracted
from rbd_ros.compiler.targets.llvm.slp_vectorization import NO_ADDEND, Pack, Term

_SIGN_OF_THE_SECOND = '<i64 0, i64 -9223372036854775808>'


class PackEmitter:
    """Writes packs, and extracts values from them.

    :param code: emitter of the function's scalars
    :param pack_of: packs by both nodes
    :param negative: whether their second lanes hold negated values, by their first nodes
    :param slots: slots of values in the array `%kept`, neighbors for both nodes of a pack
    :param is_kept: whether the value of a node is available there
    :param values: names of scalars by number of their node; it may call `scalar` for them
    """

    def __init__(
        self,
        code: Emitter,
        graph: Graph,
        pack_of: Mapping[int, Pack],
        negative: Mapping[int, bool],
        slots: Mapping[int, int],
        is_kept: Callable[[int], bool],
        values: Mapping[int, str],
    ):
        self._code, self._pair = code, code.with_lanes(2)
        self._nodes, self._graph = graph.nodes, graph
        self._pack_of, self._negative = pack_of, negative
        self._slots, self._is_kept, self._values = slots, is_kept, values
        self._vectors: Dict[Term, str] = {}
        self._turned: Dict[Term, str] = {}
        self._results: Dict[Tuple[Term, bool], str] = {}

    def __contains__(self, number: int) -> bool:
        return number in self._pack_of

    def emit(self, first: int) -> None:
        """Emit the operations of the pack with this first node."""
        pack = self._pack_of[first]
        term = pack.first, pack.second
        self._vectors[term] = self._operation(pack)
        # For later parts of a long function, in neighboring slots: one store.
        if first in self._slots:
            self._pair.store_packed(self._vectors[term], '%kept', self._slots[first])

    def scalar(self, number: int) -> str:
        """Return the value of a node of a pack."""
        pack = self._pack_of[number]
        lane = int(number == pack.second)
        if self._is_kept(number):
            value = self._code.load('%kept', self._slots[number])
            # Only earlier parts write the array: LLVM need not search for conflicting stores.
            self._code.mark_invariant()
        else:
            value = self._pair.lane(self._vectors[pack.first, pack.second], lane)
        return self._code.fneg(value) if lane and self._negative[pack.first] else value

    def result(self, number: int, negative: bool, settled: bool) -> str:
        """Return the value of a node of a pack, or its negative, as an output: never -0.0.

        :param settled: whether it never is -0.0 by itself
        """
        pack = self._pack_of[number]
        term, lane = (pack.first, pack.second), int(number == pack.second)
        opposite = self._negative[pack.first]
        # The lane as it is.
        if settled and not negative and not (lane and opposite):
            return self._pair.lane(self._vectors[term], lane)
        if (term, negative) not in self._results:  # for both lanes, as usually both are outputs
            vector, zero = self._vectors[term], self._pair.constant(0.0)
            if opposite:
                signs = self._literal(-1.0 if negative else 1.0, 1.0 if negative else -1.0)
                vector = self._pair.mul_add(vector, signs, zero)
            else:
                vector = (self._pair.fsub if negative else self._pair.fadd)(zero, vector)
            self._results[term, negative] = vector
        return self._pair.lane(self._results[term, negative], lane)

    def _literal(self, first: float, second: float) -> str:
        lanes = (f'double {Emitter(1).constant(value)}' for value in (first, second))
        return f'<{", ".join(lanes)}>'

    def _is_constant(self, term: Term) -> bool:
        first, second = term
        # A missing addend is the constant -0.0: x y + (-0.0) is x y, bitwise.
        return NO_ADDEND in term or self._nodes[first][0] == CONSTANT == self._nodes[second][0]

    def _is_negative(self, term: Term) -> bool:
        pack = self._pack_of.get(term[0])
        return pack is not None and pack[:2] == term and self._negative[term[0]]

    def _vector(self, term: Term, turned: bool = False) -> str:
        """Return the vector of two nodes.

        :param turned: whether the second lane is negated
        """
        if self._is_constant(term):
            first, second = (-0.0 if k == NO_ADDEND else self._nodes[k][1] for k in term)
            return self._literal(first, -second if turned else second)
        if term not in self._vectors:
            self._vectors[term] = self._gathered(term)
        if not turned:
            return self._vectors[term]
        if term not in self._turned:
            pair, integers = self._pair, self._pair.integer
            # As integers: LLVM's fneg would negate both lanes.
            bits = pair.low_bits(self._vectors[term])
            bits = pair.value(f'xor {integers} {bits}, {_SIGN_OF_THE_SECOND}')
            self._turned[term] = pair.value(f'bitcast {integers} {bits} to {pair.type}')
        return self._turned[term]

    def _gathered(self, term: Term) -> str:
        first, second = term
        if first == second:
            return self._pair.spread(self._values[first])
        kept = self._is_kept(first) and self._is_kept(second)
        # Neighbors in memory: one load.
        if kept and self._slots[second] == self._slots[first] + 1:
            vector = self._pair.load_packed('%kept', self._slots[first])
            if first in self._pack_of:  # of an earlier part, unlike sines and cosines
                self._pair.mark_invariant()
            return vector
        return self._pair.joined([self._values[first], self._values[second]])

    def _operation(self, pack: Pack) -> str:
        operation = self._nodes[pack.first][0]
        own = self._negative[pack.first]
        negative = [self._is_negative(term) for term in pack.terms]
        if operation == SQRT:
            return self._pair.sqrt(self._vector(pack.terms[0], negative[0]))
        if operation == WHERE:
            condition = self._vector(pack.terms[0], negative[0])
            yes, no = (
                self._vector(term, each ^ own) for term, each in zip(pack.terms[1:], negative[1:])
            )
            zero = self._pair.constant(0.0)
            # Ordered: NaN is not positive, in each lane as in a scalar.
            truth = self._pair.value(f'fcmp ogt {self._pair.type} {condition}, {zero}')
            return self._pair.select(truth, yes, no)
        if operation in (MUL, DIV) and len(pack.terms) == 2:
            a, b = self._factors(pack, own ^ negative[0] ^ negative[1])
            word = 'fmul' if operation == MUL else 'fdiv'
            return self._pair.value(f'{word} {self._pair.type} {a}, {b}')
        minus = subtracted(self._graph, pack)
        if operation in (ADD, SUB):
            return self._sum(
                [(a, b ^ own ^ each) for (a, b), each in zip(minus, negative)], pack.terms
            )
        # For each lane whether the product, and then the addend, is subtracted.
        product = minus[0][0], minus[0][1] ^ own ^ negative[0] ^ negative[1]
        addend = minus[1][0], minus[1][1] ^ own ^ negative[2]
        a, b = self._factors(pack, product[0] != product[1])
        c = self._vector(pack.terms[2], addend[0] != addend[1])
        return self._pair.mul_add(
            a, self._pair.fneg(b) if product[0] else b, self._pair.fneg(c) if addend[0] else c
        )

    def _factors(self, pack: Pack, turned: bool) -> Tuple[str, str]:
        """Return two operands, one of them negated if requested: a constant if there is one."""
        a, b = pack.terms[:2]
        second = self._is_constant(b) and not self._is_constant(a)
        return self._vector(a, turned and not second), self._vector(b, turned and second)

    def _sum(self, minus: List[Tuple[bool, bool]], terms: Tuple[Term, ...]) -> str:
        """Return the sum of two terms.

        :param minus: for each, whether it is subtracted in the lanes
        """
        pair = self._pair
        mixed = [a != b and not self._is_constant(term) for (a, b), term in zip(minus, terms)]
        if mixed[0] != mixed[1]:  # a - b is a + b (-1), in one operation where products are fused
            plain, other = (1, 0) if mixed[0] else (0, 1)
            (sign, last), (first, second) = minus[plain], minus[other]
            a = self._vector(terms[plain], sign != last)
            signs = self._literal(-1.0 if first else 1.0, -1.0 if second else 1.0)
            return pair.mul_add(self._vector(terms[other]), signs, pair.fneg(a) if sign else a)
        a, b = (self._vector(term, first != last) for (first, last), term in zip(minus, terms))
        return pair.fsub(a, b) if minus[1][0] else pair.fadd(a, b)
