# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The mean acceleration of a time step, against the iteration on the textbook's equations."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.hinge_trees import every_tree_of_hinges, tree_of_hinges
from support.textbook_trees import check, every_tree, FREE, GEARED, named_tree, run

from rbd_ros import Robot
from rbd_ros.algorithms.inertia_matrix.midpoint_acceleration import (
    hinge_midpoint_acceleration,
    midpoint_acceleration,
)

DT = 0.03


def iterated(book, q, v, tau, diagonal, rounds, dt=DT):
    """Return the fixed-point iteration on (H + dt diag) a = tau - C(q, v + dt/2 a), from a = 0."""
    a = np.zeros(len(v))
    for _ in range(rounds):
        a = book.forward_dynamics(q, v + 0.5 * dt * a, tau, {}, dt * diagonal)
    # The first round is at v itself.
    return a


def tolerance(tree, q):
    """Return the rounding of H moves the solution of H a = b by cond(H) eps.

    In each of three rounds.
    """
    return max(1e-12, 32 * np.finfo(float).eps * np.linalg.cond(tree.book.mass_matrix(q)))


@every_tree
def test_three_rounds_of_the_iteration(name, rng):
    tree = named_tree(name)
    for q, v, tau in tree.states:
        for diagonal in (np.zeros(len(tau)), rng.uniform(0.5, 2.0, len(tau))):
            given = {'q': q, 'v': v, 'tau': tau, 'dt': np.array([DT]), 'diagonal': diagonal}
            found = run(midpoint_acceleration, tree.model, **given)
            expected = iterated(tree.book, q, v, tau, diagonal, 3)
            check('midpoint_acceleration', name, found, expected, tolerance(tree, q))
            # What the rounds are for is far from rounding.
            assert np.abs(found - iterated(tree.book, q, v, tau, diagonal, 2)).max() > 1e-9


@every_tree_of_hinges
def test_three_rounds_for_hinges(name, rng):
    tree = tree_of_hinges(name, rotors=True)
    for q, v, tau in tree.states:
        for diagonal in (np.zeros(7), rng.uniform(0.5, 2.0, 7)):
            given = {'q': q, 'v': v, 'tau': tau, 'dt': np.array([DT]), 'diagonal': diagonal}
            found = run(hinge_midpoint_acceleration, tree.model, **given)
            expected = iterated(tree.book, q, v, tau, diagonal, 3)
            check('hinge_midpoint_acceleration', name, found, expected, tolerance(tree, q))


@pytest.mark.parametrize('name', ['tree 0', FREE[0], GEARED[0]])
def test_machine_code_agrees_with_the_algorithm(name, rng):
    tree = tree_of_hinges(name) if name == 'tree 0' else named_tree(name)
    robot = Robot(tree.model)
    diagonal = rng.uniform(0.5, 2.0, robot.nv)
    kernel = robot.kernel('midpoint_acceleration', diagonal=tuple(diagonal))
    for q, v, tau in tree.states:
        given = {'q': q, 'v': v, 'tau': tau, 'dt': np.array([DT]), 'diagonal': diagonal}
        expected = run(midpoint_acceleration, tree.model, **given)
        assert_allclose(kernel.function(q, v, tau, DT), expected, rtol=1e-9, atol=1e-9)


def test_terms_of_the_configuration_are_computed_once():
    """Three rounds take far less than three times the operations of one, and as many divisions."""
    robot = Robot(tree_of_hinges('chain 0').model)
    kernels = [robot.kernel(name) for name in ('forward_dynamics', 'midpoint_acceleration')]
    one, three = [kernel.definition.program().count for kernel in kernels]
    assert three.multiplications < 2.2 * one.multiplications
    assert three.divisions == one.divisions and three.angles == one.angles


def test_an_error_of_third_order_is_left():
    """Each round leaves dt |v| times that of the one before."""
    tree = named_tree(FREE[0])
    q, v, tau = tree.states[0]
    none, errors = np.zeros(len(tau)), []
    for dt in (4e-3, 2e-3, 1e-3):
        given = {'q': q, 'v': v, 'tau': tau, 'dt': np.array([dt]), 'diagonal': none}
        found = run(midpoint_acceleration, tree.model, **given)
        errors.append(np.abs(found - iterated(tree.book, q, v, tau, none, 40, dt)).max())
    assert np.log2(np.divide(errors[:-1], errors[1:])) == pytest.approx([3.0, 3.0], abs=0.3)
