# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The Newton-Euler factorization of the inertia matrix, with its incidence matrix written out."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.dense import motion_transform
from support.states import every_robot, named_robot, random_state
from support.textbook_trees import check, every_tree, named_tree, run

from rbd_ros.spatial import ForceVector, MotionVector
from rbd_ros.textbook.denoc.incidence_matrix import IncidenceMatrix, newton_euler_factorization


def dense_incidence(tree, q):
    """Return P with blocks 1 and -iX_j, from the poses of the textbook."""
    at, n = tree.ungeared.kinematics(q), len(tree.model.bodies)
    P = np.eye(6 * n)
    for i, body in tree.model.outward():
        if body.parent:
            R, p, _ = at[body.name]
            Rj, pj, _ = at[tree.model.body(body.parent).name]
            X = motion_transform(R.T @ Rj, Rj.T @ (p - pj))
            P[6 * i - 6 : 6 * i, 6 * body.parent - 6 : 6 * body.parent] = -X
    return P


def stacked(vectors):
    return np.concatenate([vectors[i].to_array().astype(float) for i in sorted(vectors)])


@pytest.mark.seed('FO11', kind='full')
@every_tree
def test_factorization_is_the_inertia_matrix(name):
    """All joint types, gears and rotors, against kinetic energy summed over links."""
    tree = named_tree(name)
    for q, _, _ in tree.states:
        H = run(newton_euler_factorization, tree.model, q=q)
        check('Newton-Euler factorization', name, H, tree.book.mass_matrix(q))


@pytest.mark.seed('FO11')
@every_tree
def test_substitutions_are_products_with_the_inverse(name, rng):
    """No inverse is formed: P^-1 outwards, P^-T inwards, and P^-1 S are stacked Jacobians."""
    tree = named_tree(name)
    q = tree.ungeared_states[0].q
    P = dense_incidence(tree, q)
    incidence = IncidenceMatrix.at(tree.model, q.tolist())
    numbers = [i for i, _ in tree.model.outward()]
    x = rng.normal(size=(len(numbers), 6))
    motions = {i: MotionVector.from_array(row) for i, row in zip(numbers, x)}
    forces = {i: ForceVector.from_array(row) for i, row in zip(numbers, x)}
    assert_allclose(stacked(incidence.apply(motions)), P @ x.ravel(), atol=1e-13)
    expected = np.linalg.solve(P, x.ravel())
    assert_allclose(stacked(incidence.solve(motions)), expected, atol=1e-12)
    expected = np.linalg.solve(P.T, x.ravel())
    assert_allclose(stacked(incidence.solve_transposed(forces)), expected, atol=1e-12)
    v = rng.normal(size=tree.model.tree_nv)
    relative = {i: incidence.S[i] @ v[b.v] for i, b in tree.model.outward()}
    for i, velocity in incidence.solve(relative).items():
        J = tree.ungeared.jacobian(q, tree.model.body(i).name, 'body')
        assert_allclose(velocity.to_array().astype(float), J @ v, atol=1e-12)


@every_robot
def test_compiled_factorization_is_the_inertia_matrix(name):
    robot = named_robot(name)
    q = random_state(robot).q
    H = robot.kernel('newton_euler_factorization')(q)
    assert_allclose(H, robot.mass_matrix(q), atol=1e-12)
