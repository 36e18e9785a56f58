# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Jacobians of links and points, and their rates, against textbook Jacobians in base axes."""

import numpy as np
import pytest
from support.textbook_trees import check, every_reference, every_tree, named_tree, run

from rbd_ros.algorithms.kinematics.jacobians import (
    jacobian,
    jacobian_derivative,
    point_jacobian,
    point_jacobian_derivative,
)

POINT = np.array([0.3, -0.1, 0.7])


def links(tree):
    """Return base, moving links, and one that is fixed to another: those that forces act on."""
    return tree.forces


@pytest.mark.seed('MD06')
@every_reference
@every_tree
def test_jacobian_is_that_of_the_link(name, reference):
    tree = named_tree(name)
    for q, _, _ in tree.states:
        for link in links(tree):
            choice = {'frame': tree.model.frame(link), 'reference': reference}
            J = run(jacobian, tree.model, q=q, **choice)
            check('jacobian', name, J, tree.book.jacobian(q, link, reference))


@pytest.mark.seed('MD06', 'SV17')
@every_reference
@every_tree
def test_derivative_is_the_rate_of_the_jacobian(name, reference):
    tree = named_tree(name)
    q, v, _ = tree.states[0]
    for link in links(tree):
        choice = {'frame': tree.model.frame(link), 'reference': reference}
        rate = run(jacobian_derivative, tree.model, q=q, v=v, **choice)
        expected = tree.book.rate(lambda x, at=link: tree.book.jacobian(x, at, reference), q, v)
        check('jacobian_derivative', name, rate, expected)


@pytest.mark.seed('MD06')
@every_tree
def test_point_jacobian_and_its_rate(name):
    tree = named_tree(name)
    q, v, _ = tree.states[0]
    for link in links(tree):
        choice = {'frame': tree.model.frame(link), 'point': POINT.tolist()}
        J = run(point_jacobian, tree.model, q=q, **choice)
        check('point_jacobian', name, J, tree.book.point_jacobian(q, link, POINT))
        rate = run(point_jacobian_derivative, tree.model, q=q, v=v, **choice)
        expected = tree.book.rate(lambda x, at=link: tree.book.point_jacobian(x, at, POINT), q, v)
        check('point_jacobian_derivative', name, rate, expected)


@every_tree
def test_columns_are_exactly_zero_off_the_way_to_the_link(name):
    """The texts' own coordinates: every joint of the tree, gears or no gears."""
    tree = named_tree(name)
    model, q = tree.model, tree.ungeared_states[0].q
    for link in links(tree):
        J = np.array(jacobian(model, q.tolist(), model.frame(link), 'aligned'))
        check('jacobian', name, J, tree.ungeared.jacobian(q, link, 'aligned'))
        others = np.delete(J, model.support_dofs(model.link(link).body), axis=1)
        assert not np.any(others)
