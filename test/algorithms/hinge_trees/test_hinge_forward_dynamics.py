# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics by screws as a declared algorithm, and in kernels."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import random_trees
from support.definitions import by_differentiation, definition_of
from support.denoc_counts import general_chain
from support.hinge_trees import (
    every_tree_of_hinges,
    GRAVITY,
    nearly_parallel_tree,
    tree_of_hinges,
)
from support.textbook_trees import check, run

from rbd_ros import ModelError, Robot
from rbd_ros.algorithms.hinge_trees.forward_dynamics_by_screws import (
    completed_subtrees,
    screw_links,
)
from rbd_ros.algorithms.hinge_trees.hinge_forward_dynamics import hinge_forward_dynamics
from rbd_ros.model import load_urdf
from rbd_ros.spatial import RigidBodyInertia
from rbd_ros.textbook.models.random_models import random_chain, random_tree


def tolerance(tree, q):
    """Return the rounding of H moves the solution of H a = b by cond(H) eps."""
    return max(1e-13, 8 * np.finfo(float).eps * np.linalg.cond(tree.book.mass_matrix(q)))


def operations(definition):
    """Return the multiplications, divisions and additions: sines and cosines are free in print."""
    count = definition.program().count
    return count.multiplications + count.divisions + count.additions


@pytest.mark.seed('DN12', 'FM01', kind='part')
@pytest.mark.parametrize('rotors', [False, True], ids=['plain', 'rotors'])
@every_tree_of_hinges
def test_acceleration_solves_the_equation_of_motion(name, rotors, rng):
    """(H + diagonal) a = tau - C - g + J^T f, with rotors and forces on links and the base."""
    tree = tree_of_hinges(name, rotors)
    for q, v, tau in tree.states:
        for diagonal in (None, np.zeros(7), rng.uniform(0.5, 2.0, 7)):
            given = np.zeros(7) if diagonal is None else diagonal
            found = run(
                hinge_forward_dynamics,
                tree.model,
                q=q,
                v=v,
                tau=tau,
                external_forces=tree.forces_on_bodies,
                diagonal=diagonal,
            )
            expected = tree.book.forward_dynamics(q, v, tau, tree.forces, given)
            check('hinge_forward_dynamics', name, found, expected, tolerance(tree, q))


@every_tree_of_hinges
def test_kernels_with_forces_solve_it_as_well(name):
    tree = tree_of_hinges(name)
    links = [link for link in tree.forces if link != 'base']
    robot = Robot(tree.model)
    function = robot.kernel(
        'forward_dynamics', forces=links, diagonal=np.full(7, 0.3), runtime=('gravity',)
    ).function
    for q, v, tau in tree.states:
        found = function(q, v, tau, *(tree.forces[link] for link in links), np.array(GRAVITY))
        expected = tree.book.forward_dynamics(q, v, tau, tree.forces, np.full(7, 0.3))
        check('forward_dynamics', name, found, expected, tolerance(tree, q))


def test_inertia_of_a_run_time_payload_counts():
    """The last link's as that of one in between."""
    tree = tree_of_hinges('chain 1')
    rng = np.random.default_rng(4)
    q, v, tau = tree.states[0]
    for link in ('link3', 'link7'):
        payload = np.array([1.3, *rng.uniform(-0.1, 0.1, 3), 0.3, 0.01, 0.4, 0.02, 0.03, 0.5])
        key = f'payload:{link}'
        found = Robot(tree.model).kernel('forward_dynamics', runtime=(key,)).function
        ours = Robot(tree.model).kernel('hinge_forward_dynamics', runtime=(key,)).function
        inertia = RigidBodyInertia.from_parameters(payload.tolist())
        loaded = Robot(tree.model.with_link_inertia(link, inertia, add=True))
        H, C = loaded.mass_matrix(q), loaded.bias_force(q, v)
        for function in (found, ours):
            assert_allclose(H @ function(q, v, tau, payload) + C, tau, rtol=0, atol=1e-11)


@pytest.mark.parametrize('seed', range(3))
def test_a_body_is_eliminated_when_its_subtree_is_complete(seed):
    """For any order of bodies, each is eliminated once, after its subtree."""
    for model in (random_tree(12, 2.5, seed), tree_of_hinges(f'tree {seed}').model):
        leaving, gone = completed_subtrees(screw_links(model)), []
        for i in range(1, len(model.bodies) + 1):
            gone += leaving[i]
            there = [k for k in range(1, len(model.bodies) + 1) if max(model.subtree(k)) <= i]
            assert sorted(gone) == there
        for i, body in model.outward():
            assert body.parent == 0 or gone.index(i) < gone.index(body.parent)


@pytest.mark.seed('DN13', kind='full')
@pytest.mark.parametrize('chain', [general_chain, random_chain])
@pytest.mark.parametrize('n', range(2, 13))
def test_kernels_of_chains_take_no_more_operations_than_are_printed(chain, n):
    """Book table 10.1: 224n - 259 and 205n - 248; Saha 1999: 201n - 335 and 193n - 361.

    Up to three joints, Saha's formula is below what the last two steps take.
    """
    found = operations(definition_of(chain(n), 'forward_dynamics'))
    assert found <= 224 * n - 259 + 205 * n - 248
    if n > 3:
        assert found <= 201 * n - 335 + 193 * n - 361


def test_kernels_are_made_of_it_where_all_joints_are_hinges_that_move_freely():
    """Nearly parallel axes among them, and any number of bodies."""
    for model in (random_chain(4), nearly_parallel_tree(1), random_chain(20)):
        found = definition_of(model, 'forward_dynamics')
        assert found.alternative is not None
        assert operations(found) < operations(by_differentiation(model, 'forward_dynamics'))
    for joint in ('prismatic', 'floating'):
        text = random_trees.tree(1, 4, (joint, 'revolute'))
        assert definition_of(load_urdf(text), 'forward_dynamics').alternative is None
    geared = load_urdf(random_trees.tree(1, 4, ('revolute',), mimics=1))
    assert definition_of(geared, 'forward_dynamics').alternative is None


def test_it_never_takes_more_operations_than_articulated_bodies():
    """A kernel never takes more operations than by articulated bodies."""
    for seed in range(3):
        model = load_urdf(random_trees.tree(seed, 5, ('revolute',)))
        by_bodies = operations(by_differentiation(model, 'forward_dynamics'))
        assert operations(definition_of(model, 'forward_dynamics')) <= by_bodies


@pytest.mark.parametrize('name', ['forward_dynamics', 'inverse_dynamics', 'mass_matrix'])
def test_other_joints_are_rejected_by_name(name):
    robots = {
        'not revolute': random_trees.tree(1, 4, ('prismatic',)),
        'mimic': random_trees.tree(1, 4, ('revolute',), mimics=1),
    }
    for words, text in robots.items():
        with pytest.raises(ModelError, match=words):
            Robot.from_urdf(text).kernel(f'hinge_{name}')


def test_joints_without_inertia_are_rejected():
    model = random_chain(2)
    bodies = [replace(x, inertia=RigidBodyInertia.zero()) for x in model.bodies]
    with pytest.raises(ModelError):
        Robot(replace(model, bodies=tuple(bodies))).kernel('hinge_forward_dynamics')
