# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics by screws against textbooks and Pinocchio, and its published cost."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import outside, random_trees
from support.denoc_counts import general_chain
from support.textbook import Textbook

from rbd_ros import ModelError, Robot
from rbd_ros.algorithms.hinge_trees.forward_dynamics_by_screws import (
    cosines_and_sines,
    forward_dynamics_by_screws,
    screw_links,
)
from rbd_ros.algorithms.inertia_matrix.crba import crba
from rbd_ros.compiler import Graph
from rbd_ros.model import load_urdf
from rbd_ros.textbook.models.random_models import random_chain, random_tree

GRAVITY = (1.0, -2.0, -9.0)
HINGES = ('revolute', 'continuous')


def accelerations(model, q, v, tau):
    links = screw_links(model)
    joints = cosines_and_sines(links, q.tolist())
    return forward_dynamics_by_screws(links, joints, v.tolist(), tau.tolist(), model.gravity)


@pytest.mark.seed('DN12', 'DN13', kind='full')
@pytest.mark.parametrize('seed', range(4))
@pytest.mark.parametrize('branching', [0.0, 0.5, 1.0])
@pytest.mark.parametrize('rotors', [False, True], ids=['plain', 'rotors'])
def test_accelerations_solve_the_equations_of_motion_of_a_textbook(seed, branching, rotors):
    """Axes along the frames' and askew, parallel ones among them; gravity in any direction."""
    text = random_trees.tree(seed, 7, HINGES, branching=branching)
    names = [body.joint_name for body in load_urdf(text, False).bodies]
    armature = {name: 0.1 + 0.2 * k for k, name in enumerate(names)} if rotors else {}
    model = load_urdf(text, False, GRAVITY, armature=armature)
    book = Textbook(text, False, GRAVITY, armature)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        q, v, tau = book.layout.random_states(rng)
        expected = book.forward_dynamics(q, v, tau, {})
        found = accelerations(model, q, v, tau)
        assert_allclose(found, expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())


@pytest.mark.seed('DN12')
@pytest.mark.parametrize('joints', [1, 2, 6, 12])
def test_chains_move_as_in_pinocchio(joints):
    outside.load('pinocchio')
    from support.pinocchio_bridge import Bridge

    text = random_trees.chain_of_hinges(3, joints)
    bridge = Bridge(text)
    rng = np.random.default_rng(3)
    for _ in range(3):
        q, v, tau = rng.uniform(-3.0, 3.0, (3, joints))
        expected = bridge.forward_dynamics(q, v, tau)
        found = accelerations(load_urdf(text), q, v, tau)
        assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize('model', [random_tree(11, 2.0), random_tree(9, 3.0), random_chain(8)])
def test_frames_of_general_trees_are_found(model):
    rng = np.random.default_rng(5)
    q, v, tau = rng.uniform(-3.0, 3.0, (3, model.nv))
    expected = Robot(model).forward_dynamics(q, v, tau)
    assert_allclose(accelerations(model, q, v, tau), expected, rtol=1e-10, atol=1e-10)


def operations(model):
    """Return the operations of the program that the compiler makes of the text for a model."""
    links, n = screw_links(model), len(model.bodies)
    graph = Graph()
    joints = [graph.inputs(f'joint{i}', 2) for i in range(n)]
    qd, tau = graph.inputs('qd', n), graph.inputs('tau', n)
    found = graph.count(forward_dynamics_by_screws(links, joints, qd, tau, model.gravity))
    return found.multiplications, found.additions, found.divisions


@pytest.mark.seed('DN13', kind='full')
@pytest.mark.parametrize('chain', [general_chain, random_chain])
def test_chains_take_fewer_operations_than_are_printed(chain):
    """Saha's 201n - 335 and 193n - 361 for hinges in general position, a division as one more.

    They also are fewer than the 224n - 259 and 205n - 248 of the best recursion that the book
    knows, by two axial screws a joint (table 10.1).
    """
    counts = {n: operations(chain(n)) for n in range(4, 14)}
    for n, (m, a, d) in counts.items():
        assert d == n - 1
        assert m + d <= 201 * n - 335 and a <= 193 * n - 361
        assert m + d <= 224 * n - 259 and a <= 205 * n - 248
    steps = np.diff(list(counts.values()), axis=0)
    assert np.all(steps == (194, 183, 1))
    assert counts[6][0] + counts[6][2] <= 871 and counts[6][1] <= 797
    assert counts[12][0] + counts[12][2] <= 2077 and counts[12][1] <= 1955


def test_equation_of_motion_holds():
    model = random_tree(6, 2.0)
    rng = np.random.default_rng(7)
    q, v, tau = rng.uniform(-2.0, 2.0, (3, 6))

    def function(model, q, qd, tau):
        links = screw_links(model)
        return forward_dynamics_by_screws(
            links, cosines_and_sines(links, q), qd, tau, model.gravity
        )

    H = np.array(crba(model, q.tolist()))
    a = np.array(function(model, q.tolist(), v.tolist(), tau.tolist()))
    bias = Robot(model).bias_force(q, v)
    assert_allclose(H @ a + bias, tau, atol=1e-11)


def test_joints_that_do_not_turn_are_rejected_by_name():
    model = load_urdf(random_trees.tree(1, 4, ('prismatic',)))
    with pytest.raises(ModelError, match='is not revolute'):
        screw_links(model)
