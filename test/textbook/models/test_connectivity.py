# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Connectivity graphs: spanning trees, numberings, sets (book 4.1)."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from support import random_trees

from rbd_ros import Robot
from rbd_ros.model import ModelError, ParentArray
from rbd_ros.textbook.models import Arc, ConnectivityGraph, SpanningTree

# Book figure 4.1: crank, rod and slider; three hinges and the slide.
CRANK_SLIDER = ConnectivityGraph(
    'base',
    ('B1', 'B2', 'B3'),
    (
        Arc('J1', 'base', 'B1'),
        Arc('J2', 'B1', 'B2'),
        Arc('J3', 'B2', 'B3'),
        Arc('J4', 'base', 'B3'),
    ),
)
# Book figure 4.6; where 6 and 7 hang is lost, but that it is somewhere below 4.
LARGER = [
    (0, 1, 1, 0, 3, six, seven, 4) for six, seven in ((4, 4), (4, 6))
]  # fmt: skip


def random_graph(seed, bodies=7, joints=11):
    """Return a connected graph with loops, parallel joints and joints of either polarity."""
    rng = np.random.default_rng(seed)
    names = ['base', *(f'b{i}' for i in range(bodies))]
    ends = [(names[i], names[rng.integers(i)]) for i in range(1, bodies + 1)]
    while len(ends) < joints:
        ends.append(tuple(str(name) for name in rng.choice(names, 2, replace=False)))
    ends = [ends[k] for k in rng.permutation(joints)]
    ends = [pair[::-1] if rng.random() < 0.5 else pair for pair in ends]
    arcs = tuple(Arc(f'j{k}', *pair) for k, pair in enumerate(ends))
    return ConnectivityGraph('base', tuple(str(x) for x in rng.permutation(names[1:])), arcs)


def distances(graph, arcs):
    """Return the distances from the base by powers of the adjacency matrix.

    Inf where there is no way.
    """
    names = [graph.base, *graph.bodies]
    A = np.eye(len(names), dtype=int)
    for arc in arcs:
        i, j = names.index(arc.predecessor), names.index(arc.successor)
        A[i, j] = A[j, i] = 1
    found, reach = np.full(len(names), np.inf), np.eye(len(names), dtype=int)
    for d in range(len(names)):
        found[(reach[0] > 0) & np.isinf(found)] = d
        reach = np.minimum(reach @ A, 1)
    return dict(zip(names, found))


def trees_by_kirchhoff(graph):
    """Return the number of spanning trees: a cofactor of the Laplacian matrix."""
    names = [graph.base, *graph.bodies]
    L = np.zeros((len(names), len(names)))
    for arc in graph.joints:
        i, j = names.index(arc.predecessor), names.index(arc.successor)
        L[[i, j], [i, j]] += 1
        L[[i, j], [j, i]] -= 1
    return round(np.linalg.det(L[1:, 1:]))


# -- connected or not -----------------------------------------------------------------------------


@pytest.mark.seed('MD01')
def test_bodies_that_nothing_connects_to_the_base_are_named():
    graph = ConnectivityGraph(
        'planet', ('body', 'dish', 'arm', 'debris'), (
            Arc('hinge', 'dish', 'body'), Arc('mount', 'planet', 'arm')
        ),
    )  # fmt: skip
    assert graph.unconnected == (('body', 'dish'), ('debris',))
    for ask in (graph.require_connected, graph.spanning_tree, lambda: [*graph.spanning_trees()]):
        with pytest.raises(ModelError, match="base 'planet': 'body', 'dish'; 'debris'; let a"):
            ask()


@pytest.mark.seed('MD01', 'MD02')
def test_a_free_joint_connects_each_group_of_bodies():
    """The satellite of book figure 4.1: no loop comes of it, and it is no joint between others."""
    graph = ConnectivityGraph('planet', ('body', 'dish'), (Arc('hinge', 'dish', 'body'),))
    whole = graph.with_free_bodies()
    assert whole.joints[1:] == (Arc('free_body', 'planet', 'body'),)
    assert whole.unconnected == () and whole.loops == 0
    assert whole.with_free_bodies() == whole
    numbering = whole.spanning_tree().numbering()
    assert numbering.bodies == ('body', 'dish')
    assert numbering.joints == ('free_body', 'hinge')
    assert numbering.is_reversed == (False, True)


@pytest.mark.seed('MD01')
@pytest.mark.parametrize(
    'bodies, joints, message',
    [
        (('a', 'a'), (), "two bodies 'a'"),
        (('a', 'base'), (), "two bodies 'base'"),
        (('a', 'b'), (('j', 'base', 'a'), ('j', 'a', 'b')), "two joints 'j'"),
        (('a',), (('j', 'base', 'c'),), "joint 'j': there is no body 'c'"),
        (('a',), (('j', 'd', 'a'),), "joint 'j': there is no body 'd'"),
        (('a',), (('j', 'base', 'a'), ('k', 'a', 'a')), "joint 'k' connects body 'a' to itself"),
    ],
)
def test_a_bad_graph_is_rejected_by_name(bodies, joints, message):
    with pytest.raises(ModelError, match=message):
        ConnectivityGraph('base', bodies, tuple(Arc(*joint) for joint in joints))


# -- spanning trees -------------------------------------------------------------------------------


@pytest.mark.seed('MD02', kind='full')
def test_crank_slider_has_one_loop():
    """Book 4.1.1: N_B = 3, N_J = 4, N_L = 1, and one cycle through whichever chord."""
    assert CRANK_SLIDER.loops == 1
    assert (len(CRANK_SLIDER.bodies), len(CRANK_SLIDER.joints)) == (3, 4)
    trees = list(CRANK_SLIDER.spanning_trees())
    assert [tree.chords for tree in trees] == [('J4',), ('J3',), ('J2',), ('J1',)]
    for tree in trees:
        (chord,) = tree.chords
        assert sorted(tree.cycle(chord)) == ['J1', 'J2', 'J3', 'J4']
    assert [tree.depth for tree in trees] == [3, 2, 2, 3]
    assert CRANK_SLIDER.spanning_tree().depth == 2
    assert CRANK_SLIDER.spanning_tree(['J1']).joints == ('J4', 'J3', 'J2')


@pytest.mark.seed('MD02')
@pytest.mark.parametrize('seed', range(12))
def test_spanning_tree_has_minimum_depth(seed):
    """All bodies as near to the base as the graph lets them be, so no other tree is less deep."""
    graph = random_graph(seed)
    tree = graph.spanning_tree()
    in_graph = distances(graph, graph.joints)
    in_tree = distances(graph, [arc for arc in graph.joints if arc.name in tree.joints])
    assert in_tree == in_graph
    assert tree.depth == max(in_graph.values())
    assert tree.depth == min(other.depth for other in graph.spanning_trees())
    assert len(tree.chords) == graph.loops == len(graph.joints) - len(graph.bodies)
    assert {*tree.joints, *tree.chords} == {arc.name for arc in graph.joints}


@pytest.mark.seed('MD02')
@pytest.mark.parametrize('seed', range(6))
def test_all_spanning_trees_are_found(seed):
    graph = random_graph(seed)
    trees = list(graph.spanning_trees())
    assert len(trees) == len({frozenset(tree.joints) for tree in trees})
    assert len(trees) == trees_by_kirchhoff(graph)
    for tree in trees[:20]:
        arcs = [arc for arc in graph.joints if arc.name in tree.joints]
        depths = distances(graph, arcs)
        assert tree.depth == max(depths.values()) < np.inf
        assert all(len(tree.path(body)) == depths[body] for body in graph.bodies)


@pytest.mark.seed('MD02')
@pytest.mark.parametrize('seed', range(6))
def test_each_chord_closes_one_cycle_with_the_tree(seed):
    """Joint after joint round the cycle, every body on it once, and no other chord."""
    graph = random_graph(seed)
    arcs = {arc.name: arc for arc in graph.joints}
    for tree in list(graph.spanning_trees())[:10]:
        for chord in tree.chords:
            name, *rest = tree.cycle(chord)
            assert name == chord and set(rest) <= set(tree.joints)
            here, passed = arcs[chord].successor, []
            for name in rest:
                assert here in arcs[name][1:]
                passed.append(here)
                here = arcs[name].other(here)
            assert here == arcs[chord].predecessor
            assert len(set(passed)) == len(passed)


def test_joints_that_are_to_stay_outside_do():
    graph = random_graph(3)
    for chord in graph.spanning_tree().joints:
        try:
            tree = graph.spanning_tree([chord])
        except ModelError:  # a bridge: no tree without it
            rest = [arc for arc in graph.joints if arc.name != chord]
            assert np.inf in distances(graph, rest).values()
        else:
            assert chord in tree.chords
    with pytest.raises(ModelError, match="no joint 'nowhere'"):
        graph.spanning_tree(['nowhere'])


@pytest.mark.parametrize('joints', [('J1', 'J2'), ('J1', 'J1', 'J2'), ('J1', 'J2', 'J9')])
def test_edges_that_are_not_a_spanning_tree_are_rejected(joints):
    with pytest.raises(ModelError, match='as many different joints'):
        SpanningTree(CRANK_SLIDER, joints)
    with pytest.raises(ModelError, match='nothing connects'):
        doubled = CRANK_SLIDER.joints + (Arc('J5', 'base', 'B1'),)
        SpanningTree(ConnectivityGraph('base', CRANK_SLIDER.bodies, doubled), ('J1', 'J5', 'J2'))


# -- numberings -----------------------------------------------------------------------------------


@pytest.mark.seed('MD03', 'MD04', kind='full')
def test_crank_slider_has_eight_regular_numberings():
    """Book figure 4.4: two trees are chains, with one numbering each; the others have three."""
    each = [list(tree.numberings()) for tree in CRANK_SLIDER.spanning_trees()]
    assert [len(numberings) for numberings in each] == [1, 3, 3, 1]
    assert len({(n.bodies, n.joints) for numberings in each for n in numberings}) == 8
    arrays = [n.parent_array.parents for numberings in each for n in numberings]
    assert arrays[0] == arrays[-1] == (0, 1, 2)  # book figure 4.5
    assert (0, 0, 1) in arrays
    # of the base's two branches, one body long and two bodies long: the two chains' start first,
    # and second, and the other branch in the middle
    assert [sorted(arrays[i : i + 3]) for i in (1, 4)] == [[(0, 0, 1), (0, 0, 2), (0, 1, 0)]] * 2
    for numberings in each:
        for numbering in numberings:
            check_rules(numbering)


@pytest.mark.seed('MD03')
@pytest.mark.parametrize('seed', range(4))
def test_numberings_are_all_that_are_regular(seed):
    graph = random_graph(seed, bodies=5, joints=7)
    for tree in list(graph.spanning_trees())[:6]:
        found = [numbering.bodies for numbering in tree.numberings()]
        regular = []
        for order in permutations(graph.bodies):
            number = {name: i for i, name in enumerate((graph.base, *order))}
            if all(number[tree.parent(body)] < number[body] for body in order):
                regular.append(order)
                check_rules(tree.numbering(order))
            else:
                with pytest.raises(ModelError, match='must have a lower number'):
                    tree.numbering(order)
        assert sorted(found) == sorted(regular)
        assert tree.numbering().bodies in found


def check_rules(numbering):
    """Check the rules of book 4.1.2 and eq 4.2, from the ends of the joints."""
    graph, n = numbering.tree.graph, len(numbering.bodies)
    arcs = {arc.name: arc for arc in graph.joints}
    names = (graph.base, *numbering.bodies)
    assert sorted(names) == sorted((graph.base, *graph.bodies))
    assert sorted(numbering.joints) == sorted(arcs)
    assert set(numbering.joints[:n]) == set(numbering.tree.joints)
    assert set(numbering.joints[n:]) == set(numbering.tree.chords)
    p, s = numbering.predecessors, numbering.successors
    for name, predecessor, successor in zip(numbering.joints, p, s):
        assert arcs[name] == (name, names[predecessor], names[successor])
    for i in range(1, n + 1):
        parent = numbering.parent_array.parents[i - 1]
        assert parent == min(p[i - 1], s[i - 1]) < i == max(p[i - 1], s[i - 1])
        assert numbering.is_reversed[i - 1] == (p[i - 1] == i)


@pytest.mark.seed('MD04')
def test_polarity_is_that_of_the_mechanism():
    """Book figure 4.6: joint 4 alone connects from the child to the parent."""
    parents = LARGER[0]
    ends = [(f'b{i}', f'b{parent}') for i, parent in enumerate(parents, start=1)]
    arcs = [Arc(f'j{i}', parent, body) for i, (body, parent) in enumerate(ends, start=1)]
    arcs[3] = Arc('j4', 'b4', 'b0')
    bodies = tuple(f'b{i}' for i in range(1, 9))
    numbering = ConnectivityGraph('b0', bodies, tuple(arcs)).spanning_tree().numbering(bodies)
    assert numbering.predecessors == (0, 1, 1, 4, 3, 4, 4, 4)
    assert numbering.successors == (1, 2, 3, 0, 5, 6, 7, 8)
    assert numbering.parent_array.parents == parents
    assert numbering.is_reversed == (False, False, False, True, False, False, False, False)


# -- sets -----------------------------------------------------------------------------------------


@pytest.mark.seed('MD05', kind='full')
@pytest.mark.parametrize('parents', LARGER)
def test_sets_are_as_printed(parents):
    """Book figure 4.6, and eq 4.3 on random numbers."""
    tree = ParentArray(parents)
    supports = {1: {1}, 2: {1, 2}, 3: {1, 3}, 8: {4, 8}}
    children = {0: {1, 4}, 1: {2, 3}, 2: set(), 8: set()}
    subtrees = {0: set(range(9)), 1: {1, 2, 3, 5}, 2: {2}, 8: {8}}
    assert {i: set(tree.supports[i]) for i in supports} == supports
    assert {i: set(tree.children[i]) for i in children} == children
    assert {i: set(tree.subtrees[i]) for i in subtrees} == subtrees
    assert {6, 7} < set(tree.subtrees[4])
    check_sets(tree)


def check_sets(tree):
    """Check the definitions of book 4.1.4, and eq 4.3 both ways."""
    n = len(tree)
    rng = np.random.default_rng(5)
    x = rng.normal(size=(n + 1, n + 1))
    parents = (None, *tree.parents)
    assert tree.supports[0] == () and len(tree.supports) == n + 1
    for i in range(1, n + 1):
        assert tree.supports[i] == (*tree.supports[parents[i]], i)
        assert set(tree.children[i]) < set(tree.subtrees[i])
    for i, j in product(range(n + 1), repeat=2):
        assert (j in tree.children[i]) == (j > 0 and parents[j] == i)
        assert (i in tree.subtrees[j]) == (j == 0 or j in tree.supports[i])
        assert tree.is_supported_by(i, j) == (j > 0 and j in tree.supports[i])
    up = sum(x[i, j] for i in range(1, n + 1) for j in tree.supports[i])
    down = sum(x[i, j] for j in range(1, n + 1) for i in tree.subtrees[j])
    assert up == pytest.approx(down, rel=1e-13)
    assert list(map(len, map(set, tree.subtrees))) == list(map(len, tree.subtrees))
    assert all(list(some) == sorted(some) for some in (*tree.subtrees, *tree.children))
    assert tree.depth == max(map(len, tree.supports))


@pytest.mark.seed('MD05')
@pytest.mark.parametrize('seed', range(5))
def test_sets_of_a_robot_are_those_of_its_parents(seed):
    model = Robot.from_urdf(random_trees.mixed_tree(seed)).model
    tree = model.parent_array
    check_sets(tree)
    for i, body in model.outward():
        assert tree.parents[i - 1] == body.parent
        assert tuple(sorted(model.support(i))) == tree.supports[i]
        assert tuple(model.subtree(i)) == tree.subtrees[i]
    assert (0, *model.subtree(0)) == tree.subtrees[0]


@pytest.mark.parametrize('parents', [(1,), (0, 2), (0, -1), (0, 1, 3)])
def test_numbers_of_parents_are_lower(parents):
    with pytest.raises(ModelError, match=f'body {len(parents)}: its parent must come before'):
        ParentArray(parents)
    assert ParentArray(()).depth == 0


def test_a_graph_without_joints_is_its_own_tree():
    graph = ConnectivityGraph('base', (), ())
    tree = graph.spanning_tree()
    assert (tree.joints, tree.chords, tree.depth, graph.loops) == ((), (), 0, 0)
    assert [numbering.bodies for numbering in tree.numberings()] == [()]
    assert len(list(combinations(graph.joints, 0))) == len(list(graph.spanning_trees())) == 1
