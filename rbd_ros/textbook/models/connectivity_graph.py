# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Connectivity of a mechanism (book 4.1): which joint connects which bodies.

Bodies and joints are names, then numbers. A graph with loops has many spanning trees and each tree
many numberings; `model_assembly.py` chooses among them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from rbd_ros.model.errors import ModelError
from rbd_ros.model.parent_array import ParentArray

FREE_JOINT = 'free_'


class Arc(NamedTuple):
    """A joint of the graph; its polarity goes from the predecessor to the successor.

    :param name: name of the joint
    :param predecessor: name of the body (or the base) that it connects from
    :param successor: name of the body (or the base) that it connects to

    >>> from rbd_ros.textbook.models.connectivity_graph import Arc
    >>> Arc('elbow', 'upper_arm', 'forearm').other('forearm')
    'upper_arm'
    """

    name: str
    predecessor: str
    successor: str

    def other(self, body: str) -> str:
        """Return the end of the joint that is not `body`."""
        return self.successor if body == self.predecessor else self.predecessor


@dataclass(frozen=True)
class ConnectivityGraph:
    """Bodies as nodes, joints as arcs (book 4.1); two bodies may have several joints.

    :param base: name of the fixed body
    :param bodies: names of the moving bodies
    :param joints: joints between them, and between them and the base
    :raises ModelError: if a name is taken twice or unknown, or a joint connects a body to itself

    >>> from rbd_ros.textbook.models.connectivity_graph import Arc, ConnectivityGraph
    >>> arcs = Arc('a', 'base', 'crank'), Arc('b', 'crank', 'rod'), Arc('c', 'base', 'rod')
    >>> graph = ConnectivityGraph('base', ('crank', 'rod'), arcs)
    >>> graph.require_connected()
    >>> graph.unconnected, graph.with_free_bodies() == graph
    ((), True)
    >>> graph.spanning_tree(loop_joints=['c']).joints
    ('a', 'b')
    >>> len(list(graph.spanning_trees()))
    3
    """

    base: str
    bodies: Tuple[str, ...]
    joints: Tuple[Arc, ...]

    def __post_init__(self) -> None:
        """Check names."""
        _require_distinct('body', (self.base, *self.bodies))
        _require_distinct('joint', (joint.name for joint in self.joints))
        for joint in self.joints:
            for end in joint[1:]:
                if end not in self._neighbors:
                    raise ModelError(f'joint {joint.name!r}: there is no body {end!r}')
            if joint.predecessor == joint.successor:
                raise ModelError(
                    f'joint {joint.name!r} connects body {joint.successor!r} to itself'
                )

    @cached_property
    def _neighbors(self) -> Dict[str, List[Arc]]:
        """Joints at each body, in the order of the graph."""
        joints: Dict[str, List[Arc]] = {name: [] for name in (self.base, *self.bodies)}
        for joint in self.joints:
            for end in set(joint[1:]) & set(joints):
                joints[end].append(joint)
        return joints

    @property
    def loops(self) -> int:
        """Number of independent kinematic loops, N_L = N_J - N_B (book eq 4.1)."""
        return len(self.joints) - len(self.bodies)

    # -- connected or not

    @cached_property
    def unconnected(self) -> Tuple[Tuple[str, ...], ...]:
        """Groups of bodies that no joint connects to the base, in the order of the graph."""
        seen, groups = set(self._reached(self.base, self.joints)), []
        for body in self.bodies:
            if body not in seen:
                group = self._reached(body, self.joints)
                seen |= set(group)
                groups.append(tuple(name for name in self.bodies if name in group))
        return tuple(groups)

    def require_connected(self) -> None:
        """Reject a graph with bodies that are not connected to the base.

        :raises ModelError: naming the bodies
        """
        if self.unconnected:
            groups = '; '.join(', '.join(map(repr, group)) for group in self.unconnected)
            raise ModelError(
                f'nothing connects these bodies to the base {self.base!r}: {groups}; let a body '
                'of each group move freely, by a joint with six degrees of freedom'
            )

    def with_free_bodies(self) -> ConnectivityGraph:
        """Return the graph with a joint from the base to the first body of each such group.

        The joints are called 'free_' and the name of the body; they have six degrees of freedom,
        and constrain nothing (book 4.1).
        """
        free = (Arc(FREE_JOINT + group[0], self.base, group[0]) for group in self.unconnected)
        return replace(self, joints=(*self.joints, *free))

    # -- spanning trees

    def spanning_tree(self, loop_joints: Iterable[str] = ()) -> SpanningTree:
        """Return the spanning tree of minimum depth, found breadth first (book 4.1.1, 10.2).

        Of equally good joints, the first in the order of the graph is taken.

        :param loop_joints: names of joints that must stay outside of the tree
        :raises ModelError: if the graph without these is not connected; it names the bodies
        """
        excluded = set(loop_joints)
        unknown = excluded - {joint.name for joint in self.joints}
        if unknown:
            raise ModelError(f'there is no joint {", ".join(map(repr, sorted(unknown)))}')
        joints = tuple(joint for joint in self.joints if joint.name not in excluded)
        replace(self, joints=joints).require_connected()
        return SpanningTree(self, tuple(self._reached(self.base, joints).values())[1:])

    def spanning_trees(self) -> Iterator[SpanningTree]:
        """Yield all spanning trees, of which there may be exponentially many.

        :raises ModelError: if the graph is not connected
        """
        self.require_connected()
        for joints in combinations(self.joints, len(self.bodies)):
            if len(self._reached(self.base, joints)) == len(self.bodies) + 1:
                yield SpanningTree(self, tuple(joint.name for joint in joints))

    def _reached(self, start: str, joints: Sequence[Arc]) -> Dict[str, str]:
        """Return the bodies reached from one breadth first, each with the joint that led to it."""
        allowed = set(joints)
        found, queue = {start: ''}, [start]
        for body in queue:
            for joint in self._neighbors[body]:
                end = joint.other(body)
                if joint in allowed and end not in found:
                    found[end] = joint.name
                    queue.append(end)
        return found


@dataclass(frozen=True)
class SpanningTree:
    """A spanning tree of a connectivity graph (book 4.1.1).

    :param joints: names of the joints in the tree, as many as there are moving bodies
    :raises ModelError: if they are not a spanning tree

    >>> from rbd_ros.textbook.models.connectivity_graph import Arc, ConnectivityGraph
    >>> arcs = Arc('a', 'base', 'crank'), Arc('b', 'crank', 'rod'), Arc('c', 'base', 'rod')
    >>> tree = ConnectivityGraph('base', ('crank', 'rod'), arcs).spanning_tree(['c'])
    >>> tree.chords, tree.cycle('c'), tree.depth
    (('c',), ('c', 'b', 'a'), 2)
    >>> tree.parent('rod'), tree.path('rod')
    ('crank', ('b', 'a'))
    >>> tree.numbering().bodies, len(list(tree.numberings()))
    (('crank', 'rod'), 1)
    """

    graph: ConnectivityGraph
    joints: Tuple[str, ...]

    def __post_init__(self) -> None:
        """Check that the joints are a tree and reach every body."""
        chosen = [joint for joint in self.graph.joints if joint.name in self.joints]
        if not len(chosen) == len(self.joints) == len(self.graph.bodies):
            raise ModelError(
                f'a spanning tree of {len(self.graph.bodies)} bodies needs as many different '
                f'joints of the graph, got {", ".join(self.joints)}'
            )
        replace(self.graph, joints=tuple(chosen)).require_connected()

    @cached_property
    def chords(self) -> Tuple[str, ...]:
        """Names of the loop joints, those outside the tree, in the order of the graph."""
        return tuple(joint.name for joint in self.graph.joints if joint.name not in self.joints)

    @cached_property
    def _up(self) -> Dict[str, Arc]:
        """Joint between each body and its parent, by body."""
        tree = [joint for joint in self.graph.joints if joint.name in self.joints]
        by_name = {joint.name: joint for joint in tree}
        reached = self.graph._reached(self.graph.base, tree)
        return {body: by_name[name] for body, name in reached.items() if name}

    def parent(self, body: str) -> str:
        """Return the next body on the path from `body` to the base."""
        return self._up[body].other(body)

    def path(self, body: str) -> Tuple[str, ...]:
        """Return the names of the joints on the path from `body` to the base."""
        names = []
        while body != self.graph.base:
            names.append(self._up[body].name)
            body = self.parent(body)
        return tuple(names)

    @cached_property
    def depth(self) -> int:
        """Number of joints between the base and the body farthest from it."""
        return max((len(self.path(body)) for body in self.graph.bodies), default=0)

    def cycle(self, chord: str) -> Tuple[str, ...]:
        """Return the joints of the cycle that a loop joint closes through the tree (book 4.1.1).

        :param chord: name of the loop joint
        :return: the chord, then the joints of the tree from its successor round to its predecessor
        """
        arc = next(joint for joint in self.graph.joints if joint.name == chord)
        there, back = self.path(arc.successor), self.path(arc.predecessor)
        common = set(there) & set(back)
        outward = [name for name in reversed(back) if name not in common]
        return (chord, *(name for name in there if name not in common), *outward)

    # -- numberings

    def numbering(self, bodies: Optional[Sequence[str]] = None) -> Numbering:
        """Return a regular numbering: parents before children, loop joints last (book 4.1.2).

        :param bodies: names of the moving bodies in the order of their numbers; None: breadth
            first
        :raises ModelError: if it is not regular
        """
        order = tuple(self._up if bodies is None else bodies)
        if sorted(order) != sorted(self.graph.bodies):
            raise ModelError(f'the bodies to number are not those of the graph: {order}')
        seen = {self.graph.base}
        for body in order:
            if self.parent(body) not in seen:
                raise ModelError(
                    f'body {body!r}: its parent {self.parent(body)!r} must have a lower number'
                )
            seen.add(body)
        return Numbering(self, order)

    def numberings(self) -> Iterator[Numbering]:
        """Yield all regular numberings of the bodies, of which there may be exponentially many."""
        yield from (Numbering(self, order) for order in self._orders((), {self.graph.base}))

    def _orders(self, begun: Tuple[str, ...], seen: Set[str]) -> Iterator[Tuple[str, ...]]:
        if len(begun) == len(self.graph.bodies):
            yield begun
        for body in self.graph.bodies:
            if body not in seen and self.parent(body) in seen:
                yield from self._orders((*begun, body), seen | {body})


@dataclass(frozen=True)
class Numbering:
    """Bodies and joints by number: the base is 0, joint i connects body i to its parent.

    Made by `SpanningTree.numbering`, which checks it.

    :param tree: the spanning tree
    :param bodies: names of the bodies 1, 2, ...

    >>> from rbd_ros.textbook.models.connectivity_graph import Arc, ConnectivityGraph
    >>> arcs = Arc('a', 'base', 'crank'), Arc('b', 'rod', 'crank')  # the second points inward
    >>> numbering = ConnectivityGraph('base', ('crank', 'rod'), arcs).spanning_tree().numbering()
    >>> numbering.numbers, numbering.parent_array.parents
    ({'base': 0, 'crank': 1, 'rod': 2}, (0, 1))
    >>> numbering.predecessors, numbering.successors, numbering.is_reversed
    ((0, 2), (1, 1), (False, True))
    """

    tree: SpanningTree
    bodies: Tuple[str, ...]
    joints: Tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Assign numbers to joints: those of the tree like their bodies, then the loop joints."""
        joints = (self.tree._up[body].name for body in self.bodies)
        object.__setattr__(self, 'joints', (*joints, *self.tree.chords))

    @cached_property
    def numbers(self) -> Dict[str, int]:
        """Numbers of the base and the bodies, by name."""
        return {name: i for i, name in enumerate((self.tree.graph.base, *self.bodies))}

    @cached_property
    def _arcs(self) -> Tuple[Arc, ...]:
        by_name = {joint.name: joint for joint in self.tree.graph.joints}
        return tuple(by_name[name] for name in self.joints)

    @cached_property
    def predecessors(self) -> Tuple[int, ...]:
        """Predecessor array p(1), ..., p(N_J): the body that each joint connects from."""
        return tuple(self.numbers[arc.predecessor] for arc in self._arcs)

    @cached_property
    def successors(self) -> Tuple[int, ...]:
        """Successor array s(1), ..., s(N_J): the body that each joint connects to."""
        return tuple(self.numbers[arc.successor] for arc in self._arcs)

    @cached_property
    def parent_array(self) -> ParentArray:
        """Parents of the bodies, lambda(i) = min(p(i), s(i)) (book eq 4.2)."""
        pairs = zip(self.predecessors[: len(self.bodies)], self.successors)
        return ParentArray(tuple(map(min, pairs)))

    @cached_property
    def is_reversed(self) -> Tuple[bool, ...]:
        """Reversal of each joint of the tree: True if it connects to the parent."""
        ends = self.successors[: len(self.bodies)]
        return tuple(successor != i for i, successor in enumerate(ends, start=1))


def _require_distinct(what: str, names: Iterable[str]) -> None:
    seen: Set[str] = set()
    for name in names:
        if name in seen:
            raise ModelError(f'there are two {"bodies" if what == "body" else "joints"} {name!r}')
        seen.add(name)
