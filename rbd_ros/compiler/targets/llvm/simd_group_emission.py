# SPDX-License-Identifier: Apache-2.0
"""LLVM code of groups: vectors among the scalars of a function for one state."""

from __future__ import annotations

from typing import Dict, List, Mapping, NamedTuple, Sequence, Tuple

from rbd_ros.compiler.program import Program
from rbd_ros.compiler.symbol_graph import ADD, DIV, Graph, MUL, SQRT, SUB
from rbd_ros.compiler.targets.llvm.emit import Emitter
from rbd_ros.compiler.targets.llvm.lane_signs import negative_lanes, subtracted
from rbd_ros.compiler.targets.llvm.simd_groups import is_constant, Lanes, pairs_of, SimdGroup
from rbd_ros.compiler.targets.llvm.slp_vectorization import NO_ADDEND

# Lanes that get the other sign
Signs = Tuple[bool, ...]


class Run(NamedTuple):
    """Neighboring lanes of a group that are put out as neighbors.

    :param nodes: nodes of the group
    :param lane: the first of the lanes
    :param lanes: how many there are, a power of two
    :param negative: whether the opposite is put out
    :param array: name of the output array
    :param index: place of the first in it
    :param places: what they are among the values of all outputs
    """

    nodes: Lanes
    lane: int
    lanes: int
    negative: bool
    array: str
    index: int
    places: Tuple[int, ...]


def find_runs(
    program: Program, group: SimdGroup, places: Mapping[int, Sequence[int]]
) -> List[Run]:
    """Return the runs that one instruction stores, the longest first.

    :param places: places of nodes among the values of all outputs
    """
    runs: List[Run] = []
    where = {}  # place of a lane's value, by lane, array, index of lane 0, and sign
    for lane, k in enumerate(group.nodes):
        for place in places.get(k, ()):
            array, index = program.destinations[place]
            # Lanes with one value of index - lane are neighbors in memory; their common sign is
            # one operation.
            key = array, index - lane, program.flat[place].negative
            where.setdefault(key, {})[lane] = place
    for (array, start, negative), at in where.items():
        # The longest store first: it leaves single elements for shorter ones.
        lanes = 1 << (len(group.nodes).bit_length() - 1)
        while lanes > 1:
            for lane in range(0, len(group.nodes) - lanes + 1, lanes):
                some = range(lane, lane + lanes)
                if all(k in at for k in some):
                    # Popped: each place is stored once.
                    found = tuple(at.pop(k) for k in some)
                    name = f'%out{array}'
                    runs.append(Run(group.nodes, lane, lanes, negative, name, start + lane, found))
            lanes //= 2
    return runs


def signs_of_lanes(graph: Graph, groups: Mapping[int, SimdGroup]) -> Dict[int, Signs]:
    """Return lanes that hold the opposites of their nodes' values, by the first node of a group.

    Each lane is to the first what the second of a pack is, so that all can add, or all subtract.
    """
    widest = max((len(group.nodes) for group in groups.values()), default=0)
    # A sign in a lane is chosen so that operations of all lanes are the same: a - b in one and b -
    # a in the other are one subtraction, of which a lane holds the opposite.
    of_lanes = [negative_lanes(graph, pairs_of(groups, lane)) for lane in range(1, widest)]
    return {
        first: (False, *(signs[first] for signs in of_lanes[: len(group.nodes) - 1]))
        for first, group in groups.items()
    }


class SimdGroupEmitter:
    """Writes groups, and takes values out of them.

    :param code: emitter of the function's scalars
    :param groups: groups by their first nodes
    :param negative: what `signs_of_lanes` returns
    :param values: names of scalars by number of their node; it may ask `scalar` for them
    """

    def __init__(
        self,
        code: Emitter,
        graph: Graph,
        groups: Mapping[int, SimdGroup],
        negative: Mapping[int, Signs],
        values: Mapping[int, str],
    ):
        self._code, self._graph, self._nodes, self._values = code, graph, graph.nodes, values
        self._groups, self._negative = groups, negative
        self._place = {
            k: (group.nodes, lane)
            for group in groups.values()
            for lane, k in enumerate(group.nodes)
        }
        self._vectors: Dict[Lanes, str] = {}
        self._turned: Dict[Tuple[Lanes, Signs], str] = {}
        self._results: Dict[Tuple[Lanes, bool], str] = {}

    def __contains__(self, number: int) -> bool:
        return number in self._place

    def emit(self, first: int) -> None:
        """Emit the operations of the group with this first node."""
        group = self._groups[first]
        self._vectors[group.nodes] = self._operation(group, self._emitter(group.nodes))

    def scalar(self, number: int) -> str:
        """Return the value of a node of a group."""
        nodes, lane = self._place[number]
        # Scalars see the true value: the sign of a lane is undone where it leaves the vector.
        value = self._emitter(nodes).lane(self._vectors[nodes], lane)
        return self._code.fneg(value) if self._negative[nodes[0]][lane] else value

    def result(self, number: int, negative: bool, settled: bool) -> str:
        """Return the value of a node of a group, or its opposite, as it is put out: never -0.0.

        :param settled: whether it never is by itself
        """
        nodes, lane = self._place[number]
        return self._emitter(nodes).lane(self._result(nodes, negative, settled), lane)

    def store_run(self, run: Run, settled: bool) -> None:
        """Store neighboring lanes as neighboring elements of an output.

        :param settled: whether none of their values ever is -0.0 by itself
        """
        nodes = run.nodes
        code, part = self._emitter(nodes), self._code.with_lanes(run.lanes)
        vector = self._result(nodes, run.negative, settled)
        if part.lanes < code.lanes:
            # A shuffle takes neighboring lanes out in one instruction.
            mask = ', '.join(f'i32 {run.lane + k}' for k in range(part.lanes))
            vector = part.value(
                f'shufflevector {code.type} {vector}, {code.type} {vector}, '
                f'<{part.lanes} x i32> <{mask}>'
            )
        part.store_packed(vector, run.array, run.index)

    def _result(self, nodes: Lanes, negative: bool, settled: bool) -> str:
        """Return the vector of a group's values, or their opposites, as they are put out."""
        vector, code, opposite = (
            self._vectors[nodes],
            self._emitter(nodes),
            self._negative[nodes[0]],
        )
        if negative or not settled:
            if (nodes, negative) not in self._results:  # of all lanes, as mostly all are put out
                # 0.0 + x is x except for -0.0, which becomes 0.0: outputs never show the sign of a
                # zero, on any target.
                zero = code.constant(0.0)
                if any(opposite):
                    signs = self._literal([-1.0 if x != negative else 1.0 for x in opposite], code)
                    # x times +-1 plus 0.0 turns lanes and removes -0.0 in one instruction.
                    vector = code.mul_add(vector, signs, zero)
                else:
                    vector = (code.fsub if negative else code.fadd)(zero, vector)
                self._results[nodes, negative] = vector
            vector = self._results[nodes, negative]
        return vector

    def _emitter(self, lanes: Sequence[int]) -> Emitter:
        """Return the emitter of vectors that hold so many lanes; those beyond are idle."""
        return self._code.with_lanes(1 << (len(lanes) - 1).bit_length())

    def _literal(self, numbers: List[float], code: Emitter) -> str:
        # Idle lanes hold 1.0: a division by it raises no exception and is not slow, as by a
        # subnormal.
        numbers = numbers + [1.0] * (code.lanes - len(numbers))
        return '<' + ', '.join(f'double {Emitter(1).constant(x)}' for x in numbers) + '>'

    def _is_constant(self, term: Lanes) -> bool:
        return all(is_constant(self._nodes, k) for k in term)

    def _signs(self, term: Lanes) -> Signs:
        """Return the lanes of a term that are opposites."""
        group = self._groups.get(term[0])
        if group is not None and group.nodes == term:
            return self._negative[term[0]]
        return (False,) * len(term)

    def _vector(self, term: Lanes, turned: Signs) -> str:
        """Return the vector of nodes.

        :param turned: lanes that get the other sign
        """
        code = self._emitter(term)
        if self._is_constant(term):
            numbers = [-0.0 if k == NO_ADDEND else self._nodes[k][1] for k in term]
            return self._literal([-x if turn else x for x, turn in zip(numbers, turned)], code)
        if term not in self._vectors:
            # The same operand in all lanes: a broadcast instead of insertions.
            if len(set(term)) == 1:
                self._vectors[term] = code.spread(self._values[term[0]])
            else:
                self._vectors[term] = code.joined([self._values[k] for k in term])
        if not any(turned):
            return self._vectors[term]
        if (term, turned) not in self._turned:
            # The sign bit alone is flipped: exact for every number, and NaN stays NaN.
            bits = [-(2**63) if turn else 0 for turn in turned] + [0] * (code.lanes - len(turned))
            mask = '<' + ', '.join(f'i64 {x}' for x in bits) + '>'
            integer = code.low_bits(self._vectors[term])
            integer = code.value(f'xor {code.integer} {integer}, {mask}')
            name = code.value(f'bitcast {code.integer} {integer} to {code.type}')
            self._turned[term, turned] = name
        return self._turned[term, turned]

    def _operation(self, group: SimdGroup, code: Emitter) -> str:
        operation, own = self._nodes[group.nodes[0]][0], self._negative[group.nodes[0]]
        signs = [self._signs(term) for term in group.terms]
        if operation == SQRT:
            return code.sqrt(self._vector(group.terms[0], signs[0]))
        if operation in (MUL, DIV) and len(group.terms) == 2:
            # Signs of both factors and of the result multiply: an odd number of them is one sign.
            a, b = self._factors(group, _different(own, *signs))
            return code.value(f'{"fmul" if operation == MUL else "fdiv"} {code.type} {a}, {b}')
        # From here on sums and fused operations, whose terms have signs of their own in each lane.
        minus = self._subtracted(group)
        if operation in (ADD, SUB):
            terms = [_different(own, x, y) for x, y in zip(minus, signs)]
            return self._sum(code, terms, group.terms)
        product, addend = (
            _different(own, minus[0], *signs[:2]),
            _different(own, minus[1], signs[2]),
        )
        a, b = self._factors(group, _relative(product))
        c = self._vector(group.terms[2], _relative(addend))
        return code.mul_add(a, code.fneg(b) if product[0] else b, code.fneg(c) if addend[0] else c)

    def _subtracted(self, group: SimdGroup) -> List[Signs]:
        """Return the lanes in which each term of a sum is subtracted; a product counts as one."""
        groups = {group.nodes[0]: group}
        packs = [pairs_of(groups, lane)[group.nodes[0]] for lane in range(1, len(group.nodes))]
        of_lanes = [subtracted(self._graph, pack) for pack in packs]
        return [(of_lanes[0][k][0], *(terms[k][1] for terms in of_lanes)) for k in range(2)]

    def _factors(self, group: SimdGroup, turned: Signs) -> Tuple[str, str]:
        """Return two operands, one of them turned if asked: a constant if there is one."""
        a, b = group.terms[:2]
        none = (False,) * len(turned)
        second = self._is_constant(b) and not self._is_constant(a)
        return self._vector(a, none if second else turned), self._vector(
            b, turned if second else none
        )

    def _sum(self, code: Emitter, signs: List[Signs], terms: Tuple[Lanes, ...]) -> str:
        """Return the sum of two terms.

        :param signs: for each, lanes in which it is subtracted
        """
        mixed = [
            any(_relative(x)) and not self._is_constant(term) for x, term in zip(signs, terms)
        ]
        if mixed[0] != mixed[1]:  # a - b is a + b (-1), in one operation where products are fused
            plain, other = (1, 0) if mixed[0] else (0, 1)
            a = self._vector(terms[plain], _relative(signs[plain]))
            b = self._vector(terms[other], (False,) * len(signs[other]))
            factors = self._literal([-1.0 if x else 1.0 for x in signs[other]], code)
            return code.mul_add(b, factors, code.fneg(a) if signs[plain][0] else a)
        a, b = (self._vector(term, _relative(x)) for x, term in zip(signs, terms))
        return code.fsub(a, b) if signs[1][0] else code.fadd(a, b)


def _different(*signs: Signs) -> Signs:
    """Return the lanes in which an odd number of signs is negative."""
    return tuple(sum(each) % 2 == 1 for each in zip(*signs))


def _relative(signs: Signs) -> Signs:
    """Return the lanes whose sign is not that of the first."""
    return tuple(sign != signs[0] for sign in signs)
