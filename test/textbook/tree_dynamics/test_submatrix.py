# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Hybrid dynamics by H11: rows and columns, bodies, sparsity, and the whole method."""

from dataclasses import replace
import math

import numpy as np
import pytest
from support.textbook_trees import check, every_free_tree, every_tree, named_tree, unrelated

from rbd_ros import Robot
from rbd_ros.algorithms.inertia_matrix.factorization import ltdl
from rbd_ros.spatial import RigidBodyInertia
from rbd_ros.textbook.tree_dynamics.submatrix import (
    carried,
    crba_of_joints,
    hybrid_dynamics_by_submatrix,
    reduced_parents,
)


def sets_of_bodies(model, seed=2):
    """Return no joints, all joints, one of each, and random ones."""
    rng, n = np.random.default_rng(seed), len(model.bodies)
    singles = [{i} for i in range(1, n + 1)]
    random = [{int(i) + 1 for i in np.flatnonzero(rng.integers(0, 2, n))} for _ in range(5)]
    return [set(), set(range(1, n + 1)), *singles, *random]


def dofs(model, fd):
    return [k for i in sorted(fd) for k in range(model.tree_nv)[model.body(i).v]]


@pytest.mark.seed('HY02', kind='full')
@every_tree
def test_it_is_the_submatrix_of_the_inertia_matrix(name):
    """It is that of all joints of the tree, with any gears; bitwise symmetric."""
    tree = named_tree(name)
    for q, _, _ in tree.ungeared_states:
        H = tree.ungeared.mass_matrix(q)
        for fd in sets_of_bodies(tree.model):
            rows = dofs(tree.model, fd)
            H11 = np.array(crba_of_joints(tree.model, q.tolist(), fd), dtype=float)
            H11 = H11.reshape(len(rows), len(rows))
            check('H11', name, H11, H[np.ix_(rows, rows)])
            assert np.array_equal(H11, H11.T)


@pytest.mark.seed('HY02')
@every_free_tree
def test_bodies_that_no_joint_of_the_set_carries_are_not_checked(name):
    """nu(fd) is the union of the subtrees; inertias and joints of others may be anything."""
    tree = named_tree(name)
    model, q = tree.model, tree.states[0].q
    nothing = RigidBodyInertia.from_parameters([math.nan] * 10)
    for fd in sets_of_bodies(model):
        nu = carried(model, fd)
        assert nu == set().union(*(model.subtree(i) for i in fd))
        bodies = tuple(
            body if i in nu else replace(body, inertia=nothing, joint=None)
            for i, body in model.outward()
        )
        expected = crba_of_joints(model, q.tolist(), fd)
        assert crba_of_joints(replace(model, bodies=bodies), q.tolist(), fd) == expected


def nearest(parents, i, fd):
    """Return the first ancestor of a body in a set, or the base."""
    i = parents[i - 1]
    while i and i not in fd:
        i = parents[i - 1]
    return i


@pytest.mark.seed('HY03')
def test_parents_that_remain_are_the_nearest_ones():
    rng = np.random.default_rng(1)
    for _ in range(50):
        n = int(rng.integers(1, 12))
        parents = [int(rng.integers(0, i)) for i in range(1, n + 1)]
        fd = {i for i in range(1, n + 1) if rng.random() < 0.6}
        reduced, number = reduced_parents(parents, fd)
        order = [0, *sorted(fd)]
        assert len(number) == n + 1 and [number[i] for i in order] == list(range(len(order)))
        assert [order[k] for k in reduced] == [nearest(parents, i, fd) for i in sorted(fd)]
        for i in range(1, n + 1):  # what is welded has the number of what it is welded to
            if i not in fd:
                assert number[i] == number[parents[i - 1]]


@pytest.mark.seed('HY03')
def test_two_joints_at_the_root_of_a_tree_are_welded():
    """As in figure 9.1, where nodes 1 and 2 merge with 0, and 3 to 7 become 1 to 5."""
    reduced, number = reduced_parents((0, 1, 1, 2, 2, 3, 3), {3, 4, 5, 6, 7})
    assert reduced == (0, 0, 0, 1, 1) and number == (0, 0, 0, 1, 2, 3, 4, 5)


def related(parents, i, j):
    """Return whether one of two bodies carries the other."""
    i, j = sorted((i, j))
    while j > i:
        j = parents[j - 1]
    return i == j


@pytest.mark.seed('HY03', kind='full')
@every_free_tree
def test_zeros_of_the_submatrix_and_its_factors_are_those_of_the_reduced_tree(name):
    """No other element is zero, and none fills in."""
    tree = named_tree(name)
    model, q = tree.model, tree.states[0].q
    parents = [body.parent for body in model.bodies]
    for fd in sets_of_bodies(model):
        H11 = np.array(crba_of_joints(model, q.tolist(), fd), dtype=float)
        reduced, _ = reduced_parents(parents, fd)
        joints = [model.body(i).joint for i in sorted(fd)]
        body_of = [k for k, joint in enumerate(joints, start=1) for _ in range(joint.nv)]

        n = range(len(body_of))
        pattern = [[related(reduced, body_of[i], body_of[j]) for j in n] for i in n]
        zero = [[(H11[i, j] == 0.0) for j in n] for i in n]
        # Freedoms of one joint may be independent: only what the tree says is asked.
        for i in n:
            for j in n:
                assert pattern[i][j] or zero[i][j]
                if body_of[i] != body_of[j] and pattern[i][j]:
                    assert not zero[i][j]
        for i, row in enumerate(ltdl(H11.tolist()).L):
            assert all(pattern[i][j] for j in row)
    assert unrelated(model).any()


@pytest.mark.seed('HY01', kind='full')
@every_tree
def test_the_four_steps_solve_the_equation_of_motion(name):
    """Given either of a motion and its forces of a textbook, the other is found (eq 9.2).

    With all forces given it is forward, with all accelerations inverse dynamics; with rotors,
    gears and forces on links.
    """
    tree = named_tree(name)
    robot = Robot(tree.model)
    links = tuple(sorted(tree.forces))
    rng = np.random.default_rng(3)
    joints = robot.joint_names
    sets = [joints, (), tuple(x for x in joints if rng.random() < 0.5)]
    for chosen in sets:
        kernel = robot.kernel('hybrid_dynamics_by_submatrix', forces=links, forward_joints=chosen)
        forward = np.concatenate([
            np.full(robot.model.body(i).joint.nv, robot.model.body(i).joint_name in chosen)
            for i in robot.model.independent
        ])  # fmt: skip
        for q, v, a in tree.states[:1]:
            tau = tree.book.inverse_dynamics(q, v, a, tree.forces)
            known = np.where(forward, tau, a)
            found = kernel.function(q, v, known, *(tree.forces[link] for link in links))
            bound = 1e-15 * np.linalg.cond(tree.book.mass_matrix(q)) + 1e-12
            check('a', name, found.a, a, bound * 10)
            check('tau', name, found.tau, tau, bound * 10)
            by_family = robot.hybrid.dynamics(q, v, known, chosen, tree.forces)
            check('a', name, by_family.a, a, bound * 10)
            check('tau', name, by_family.tau, tau, bound * 10)
            text = hybrid_dynamics_by_submatrix(
                robot.model, q.tolist(), v.tolist(), known.tolist(),
                frozenset(i for i in robot.model.independent
                          if robot.model.body(i).joint_name in chosen),
                tree.forces_on_bodies,
            )  # fmt: skip
            check('a', name, text.a, a, bound * 10)


def test_unknown_joints_are_named():
    robot = Robot(named_tree('chain').model)
    with pytest.raises(ValueError, match="unknown joint 'elbow'; there are joint1"):
        robot.kernel('hybrid_dynamics_by_submatrix', forward_joints=('elbow',))
    with pytest.raises(ValueError, match='a tuple of names'):
        robot.kernel('hybrid_dynamics_by_submatrix', forward_joints='joint1')
