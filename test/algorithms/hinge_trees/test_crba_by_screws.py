# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The mass matrix by axial screws, and its operations against the book's formulas of section 10.3.

All executed operations count except those that the book omits: sines and cosines, and the
transforms between bodies, which are inputs of the algorithm.
"""

from collections import Counter
from dataclasses import replace
import math

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import random_trees
from support.hinge_trees import nearly_parallel_tree, two_hinges
from support.tally import Tally
from support.textbook import Textbook

from rbd_ros.algorithms.hinge_trees.crba_by_screws import (
    crba_by_screws,
    general_bodies,
    Screw,
    screw_states,
    screw_tree,
    ScrewState,
)
from rbd_ros.algorithms.inertia_matrix.crba import crba
from rbd_ros.algorithms.inertia_matrix.tree_statistics import (
    Cost,
    crba_cost,
    tree_statistics,
)
from rbd_ros.model import load_urdf, ModelError
from rbd_ros.model.joints import Revolute
from rbd_ros.spatial import linear3, PluckerTransform, RigidBodyInertia
from rbd_ros.textbook.models.random_models import random_chain, random_tree

MODELS = {
    **{f'chain of {n}': random_chain(n, n) for n in (1, 2, 6, 18)},
    'binary tree': random_tree(15, 2),
    'branches': random_tree(23, 1.6, 3),
    'star': random_tree(9, 100),
}
every_model = pytest.mark.parametrize('model', MODELS.values(), ids=MODELS)


def operations(model, q):
    """Return the operations that the text executes for a model."""
    found = Counter()

    def tally(value):
        if value is None or isinstance(value, int):
            return value
        if isinstance(value, (Screw, ScrewState)):
            return type(value)(*map(tally, value))
        if isinstance(value, tuple):
            return tuple(map(tally, value))
        if isinstance(value, RigidBodyInertia):
            return RigidBodyInertia(tally(value.mass), tally(value.h), tally(value.I))
        return Tally(value, found)

    bodies = screw_tree(model)
    states = [tally(state) for state in screw_states(bodies, q)]
    assert all(body.armature == 0.0 for body in bodies)
    tallied = [
        body._replace(
            before=tally(body.before),
            across=tally(body.across),
            distance=tally(body.distance),
            moment=tally(body.moment),
            inertia=tally(body.inertia),
        )
        for body in bodies
    ]
    H = crba_by_screws(tallied, states)
    return np.array(H, dtype=float), Cost(**found)


@pytest.mark.seed('AE07', kind='part')
@every_model
def test_mass_matrix_is_that_of_the_general_algorithm(model, rng):
    model = model.with_armature({'joint1': 0.7})
    bodies = screw_tree(model)
    for q in rng.uniform(-3, 3, (3, model.nq)).tolist():
        expected = np.array(crba(model, q))
        H = crba_by_screws(bodies, screw_states(bodies, q))
        assert_allclose(H, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


def test_mass_matrix_is_that_of_the_textbook(rng):
    text = random_trees.tree(21, 9, ('revolute', 'continuous'), branching=0.5)
    model, book = load_urdf(text), Textbook(text)
    bodies = screw_tree(model)
    for q in rng.uniform(-3, 3, (3, model.nq)):
        expected = book.mass_matrix(q)
        H = crba_by_screws(bodies, screw_states(bodies, q.tolist()))
        assert_allclose(H, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


@pytest.mark.seed('AE07', kind='full')
@pytest.mark.parametrize('n', [1, 2, 3, 6, 18])
def test_operations_on_general_chains_are_those_of_equation_10_3(n, rng):
    model, q = random_chain(n, n), rng.uniform(-3, 3, n).tolist()
    H, found = operations(model, q)
    assert found == Cost(10 * n * n + 22 * n - 32, 6 * n * n + 37 * n - 43)
    assert_allclose(H, crba(model, q), rtol=0, atol=1e-13 * np.abs(H).max())


@pytest.mark.seed('AE08', kind='full')
@every_model
def test_operations_on_trees_are_those_of_equation_10_12(model, rng):
    """Denavit-Hartenberg transforms to one child of each body, general ones to the others."""
    q = rng.uniform(-3, 3, model.nq).tolist()
    H, found = operations(model, q)
    assert_allclose(H, crba(model, q), rtol=0, atol=1e-13 * np.abs(H).max())
    general = general_bodies(screw_tree(model))
    parents = [body.parent for body in model.bodies]
    assert found == crba_cost(parents, general)
    direct = [i for i, p in enumerate(parents, 1) if p != 0 and i not in general]
    subtrees = [sum(len(model.subtree(i)) for i in chosen) for chosen in (direct, general)]
    (a, b), (c, d) = (len(direct), len(general)), subtrees
    assert found.multiplications == 32 * a + 47 * b + 20 * c + 24 * d
    assert found.additions == 43 * a + 58 * b + 12 * c + 18 * d
    statistics = tree_statistics(parents)
    assert (a + b, c + d) == (statistics.D0, statistics.D1)
    # One child of each body that has any goes without a third screw, that of the largest subtree.
    for p in set(parents) - {0}:
        children = [i for i, parent in enumerate(parents, 1) if parent == p]
        (chosen,) = [i for i in children if i in direct]
        assert len(model.subtree(chosen)) == max(len(model.subtree(i)) for i in children)


@pytest.mark.seed('AE08', kind='part')
def test_branches_make_the_cost_grow_slower():
    """O(n d): a binary tree of 63 bodies costs less than a fifth of a chain of as many."""
    chain, tree = ([b.parent for b in random_tree(63, x).bodies] for x in (1, 2))
    costs = [crba_cost(parents, ()) for parents in (chain, tree)]
    assert costs[0].multiplications > 5 * costs[1].multiplications
    for depth in (4, 5, 6, 7):
        n = 2**depth - 1
        cost = crba_cost([body.parent for body in random_tree(n, 2).bodies])
        assert cost.multiplications <= n * 32 + n * (depth - 1) * 20


@pytest.mark.parametrize('angle', [0.0, math.pi, 1e-15, 1e-14])
@pytest.mark.parametrize('r', [(0.3, -0.2, 0.5), (0.0, 0.0, 0.4), (0.0, 0.0, 0.0)])
def test_parallel_axes_have_a_common_perpendicular_somewhere(angle, r, rng):
    model = random_chain(4)
    turned = PluckerTransform.rotation_x(angle) * PluckerTransform.rotation_z(0.7)
    bodies = [
        replace(
            body,
            joint=Revolute((0.0, 0.0, 1.0)),
            tree_transform=PluckerTransform(linear3.matrix3(turned.E), r),
        )
        for body in model.bodies
    ]
    model = replace(model, bodies=tuple(bodies))
    q = rng.uniform(-3, 3, 4).tolist()
    expected = np.array(crba(model, q))
    H = crba_by_screws(screw_tree(model), screw_states(screw_tree(model), q))
    assert_allclose(H, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize('seed', range(6))
def test_axes_that_are_nearly_parallel_have_near_frames(seed, rng):
    """Their common perpendiculars are anywhere; exact beside the frames of the description."""
    model = nearly_parallel_tree(seed)
    bodies = screw_tree(model)
    assert any(body.aside != 0.0 for body in bodies)
    for q in rng.uniform(-3, 3, (3, model.nq)).tolist():
        expected = np.array(crba(model, q))
        H = crba_by_screws(bodies, screw_states(bodies, q))
        assert_allclose(H, expected, rtol=0, atol=2e-15 * len(bodies) * np.abs(expected).max())


def test_other_joints_are_rejected():
    model = load_urdf(random_trees.tree(1, 3, ('revolute', 'prismatic'), branching=0.0))
    with pytest.raises(ModelError, match='not revolute'):
        screw_tree(model)


def test_right_angles_and_meeting_axes_leave_exact_zeros():
    """A typical arm: rounded zeros of its description are not multiplied."""
    model = two_hinges(0.5 * math.pi, (0.0, 0.0, 1.0 / 3.0))
    _, body = screw_tree(model)
    assert body.across.c == 0.0 and abs(body.across.s) == 1.0 and body.across.distance == 0.0
    q = [0.3, 0.4]
    bodies = screw_tree(model)
    H = crba_by_screws(bodies, screw_states(bodies, q))
    assert_allclose(H, crba(model, q), rtol=0, atol=1e-14 * np.abs(H).max())
