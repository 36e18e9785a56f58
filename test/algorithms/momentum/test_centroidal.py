# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Momentum about the center of mass against sums over links, and Pinocchio's ccrba and dccrba."""

import numpy as np
import pytest
from support import example_robots, outside, random_trees
from support.dense import skew
from support.errors import relative_error
from support.floating_trees import every_floating_tree, floating_tree
from support.textbook_trees import check, every_tree, named_tree, run

from rbd_ros import ModelError, Robot
from rbd_ros.algorithms.momentum.centroidal import (
    centroidal_bias,
    centroidal_inertia,
    centroidal_momentum,
    centroidal_momentum_matrix,
    centroidal_momentum_rate,
)


def about_center(book, q, v):
    """Return the sum of (x - c) x m x' + I w and of m x' over the links that move."""
    h, c = book.momentum(q, v), book.center(q)
    return np.concatenate([h[:3] - np.cross(c, h[3:]), h[3:]])


@pytest.mark.seed('FB07', 'SV18')
@every_tree
def test_momentum_is_the_sum_over_links(name):
    """And the matrix has it for each freedom."""
    tree = named_tree(name)
    for q, v, _ in tree.states:
        expected = about_center(tree.book, q, v)
        check('h', name, run(centroidal_momentum, tree.model, q=q, v=v), expected)
        A = run(centroidal_momentum_matrix, tree.model, q=q)
        columns = np.array([about_center(tree.book, q, e) for e in np.eye(len(v))]).T
        check('A', name, A, columns)


@every_tree
def test_rate_and_bias_are_derivatives_by_time(name):
    """A a + Adot v, by a complex step along the motion; gravity is no part of them."""
    tree = named_tree(name)
    for q, v, a in tree.states:
        moving = tree.book.rate(lambda x, v=v: about_center(tree.book, x, v), q, v)
        check('bias', name, run(centroidal_bias, tree.model, q=q, v=v), moving)
        expected = moving + about_center(tree.book, q, a)
        rate = run(centroidal_momentum_rate, tree.model, q=q, v=v, a=a)
        check('rate', name, rate, expected)


@every_floating_tree
def test_rate_is_the_sum_of_the_outside_forces(name):
    """Weight has no moment about the center of mass, for any joint motion."""
    tree = floating_tree(name)
    robot = Robot(tree.model)
    for q, v, a in tree.states:
        tau = np.concatenate([np.zeros(6), a[6:]])
        found = tree.book.forward_dynamics(q, v, tau, tree.forces)
        total, c = sum(tree.forces.values()), tree.book.center(q)
        weight = tree.book.moving_mass() * tree.book.gravity
        expected = np.concatenate([total[:3] - np.cross(c, total[3:]), total[3:] + weight])
        check('rate', name, robot.centroidal.momentum_rate(q, v, found), expected, 1e-9)


@every_tree
def test_inertia_is_that_of_the_whole_about_its_center(name):
    """Sum of I + m (|d|^2 1 - d d^T) over links at d from the center."""
    tree = named_tree(name)
    moving = tree.book.moving_links()
    for q, _, _ in tree.states:
        c, places = tree.book.center(q), tree.book.kinematics(q)
        rotational = np.zeros((3, 3))
        for link in moving & set(tree.book.inertials):
            R, p, _ = places[link]
            m, at, I = tree.book.inertials[link]
            d = skew(p + R @ at - c)
            rotational += R @ I @ R.T - m * d @ d
        expected = np.zeros((6, 6))
        expected[:3, :3], expected[3:, 3:] = rotational, tree.book.moving_mass() * np.eye(3)
        check('I', name, run(centroidal_inertia, tree.model, q=q), expected)


def cases():
    names = sorted(example_robots.varied())
    return [('random 3', True), ('random 4', False)] + [
        (x, k % 2 == 0) for k, x in enumerate(names[:8])
    ]


@pytest.mark.parametrize(('name', 'floating'), cases())
def test_compiled_functions_agree_with_pinocchio(name, floating):
    """The angular part about its center of mass, along the axes of the world."""
    pin = outside.load('pinocchio')
    from support.pinocchio_bridge import Bridge

    if name.startswith('random'):
        text = random_trees.mixed_tree(int(name[-1]))
    else:
        text = example_robots.dynamics_xml(
            example_robots.loadable()[name].read_text(), name != 'alex_psyonic_hands'
        )
    bridge, robot = Bridge(text, floating), Robot.from_urdf(text, floating_base=floating)
    swap = np.r_[3:6, 0:3]
    q, v, a = bridge.layout.random_states(np.random.default_rng(3), 4)
    ours = robot.centroidal
    A, h, I = ours.momentum_matrix(q), ours.momentum(q, v), ours.inertia(q)
    bias, rate = ours.bias(q, v), ours.momentum_rate(q, v, a)
    for k in range(len(q)):
        model, data = bridge.model, bridge.data
        pin.ccrba(model, data, bridge.q(q[k]), bridge.v(v[k]))
        assert relative_error(A[k], data.Ag[swap] @ bridge.P) < 1e-12
        assert relative_error(h[k], data.hg.vector[swap]) < 1e-12
        assert relative_error(I[k], data.Ig.matrix()[np.ix_(swap, swap)]) < 1e-12
        dA = pin.dccrba(model, data, bridge.q(q[k]), bridge.v(v[k]))
        assert relative_error(bias[k], dA[swap] @ bridge.v(v[k])) < 1e-11
        dh = pin.computeCentroidalMomentumTimeVariation(
            model, data, bridge.q(q[k]), bridge.v(v[k]), bridge.v(a[k])
        )
        assert relative_error(rate[k], dh.vector[swap]) < 1e-11
        one = ours.momentum(q[k], v[k])
        assert relative_error(one, h[k]) < 1e-12


def test_without_mass_there_is_no_center():
    robot = Robot.from_urdf(random_trees.chain([{'type': 'revolute'}]))
    with pytest.raises(ModelError, match='no moving body has mass'):
        robot.centroidal.momentum(np.zeros(1), np.zeros(1))
    nothing = run(centroidal_momentum, robot.model, q=np.zeros(1), v=np.ones(1))
    assert np.isnan(nothing[:3]).all()
