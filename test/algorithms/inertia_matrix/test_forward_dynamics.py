# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics by both methods against the solution of the equation of motion."""

import numpy as np
import pytest
from support import random_trees
from support.textbook_trees import check, every_tree, FREE, named_tree, run

from rbd_ros.algorithms.articulated_body.aba import aba
from rbd_ros.algorithms.inertia_matrix.forward_dynamics import (
    forward_dynamics,
    forward_dynamics_by_inertia_matrix,
)
from rbd_ros.model import load_urdf


def tolerance(tree, q):
    """Return the rounding of H moves the solution of H a = b by cond(H) eps."""
    return max(1e-13, 4 * np.finfo(float).eps * np.linalg.cond(tree.book.mass_matrix(q)))


@pytest.mark.seed('FM01', 'AB08', 'GR01')
@every_tree
def test_acceleration_solves_the_equation_of_motion(name, rng):
    """(H + diagonal) a = tau - C - g + J^T f, with rotors and forces on links."""
    tree = named_tree(name)
    for q, v, tau in tree.states:
        for diagonal in (np.zeros(len(tau)), rng.uniform(0.5, 2.0, len(tau))):
            found = run(
                forward_dynamics,
                tree.model,
                q=q,
                v=v,
                tau=tau,
                external_forces=tree.forces_on_bodies,
                diagonal=diagonal,
            )
            expected = tree.book.forward_dynamics(q, v, tau, tree.forces, diagonal)
            check('forward_dynamics', name, found, expected, tolerance(tree, q))


@pytest.mark.seed('FM01', kind='full')
@pytest.mark.seed('GR01')
@every_tree
def test_inertia_matrix_serves_with_gears_and_without(name, rng):
    tree = named_tree(name)
    for q, v, tau in tree.states:
        diagonal = rng.uniform(0.5, 2.0, len(tau))
        for extra in (None, diagonal):
            found = forward_dynamics_by_inertia_matrix(
                tree.model, q.tolist(), v.tolist(), tau.tolist(), tree.forces_on_bodies, extra
            )
            added = 0.0 if extra is None else extra
            expected = tree.book.forward_dynamics(q, v, tau, tree.forces, added)
            check('by inertia matrix', name, found, expected, tolerance(tree, q))


@every_tree
def test_only_gears_send_it_around_the_articulated_body_algorithm(name):
    """To the bit: which text ran is known by its rounding."""
    tree = named_tree(name)
    q, v, tau = (x.tolist() for x in tree.states[0])
    found = forward_dynamics(tree.model, q, v, tau, tree.forces_on_bodies)
    way = aba if name in FREE else forward_dynamics_by_inertia_matrix
    assert found == way(tree.model, q, v, tau, tree.forces_on_bodies)


@pytest.mark.seed('FO06', kind='full')
@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason='no wider floating-point type here')
def test_the_articulated_body_algorithm_keeps_more_digits_than_the_inertia_matrix():
    """On a chain of twenty hinges, against itself on long doubles; the median of 20 states.

    It does not form H, whose condition costs the other way digits (Ascher et al. 1997).
    """
    model = load_urdf(random_trees.chain_of_hinges(5, 20))
    rng, errors = np.random.default_rng(1), []
    for _ in range(20):
        state = rng.uniform(-3.0, 3.0, (3, model.nv))
        exact = np.array(aba(model, *(list(x) for x in state.astype(np.longdouble))))
        found = [
            np.array(way(model, *state.tolist()))
            for way in (aba, forward_dynamics_by_inertia_matrix)
        ]
        errors.append([np.abs(a - exact).max() / np.abs(exact).max() for a in found])
    by_propagation, by_matrix = np.median(np.array(errors, dtype=float), axis=0)
    assert 0.0 < by_propagation < 0.5 * by_matrix
