# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inverse of the mass matrix, by both methods, against the textbook's mass matrix."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import random_trees
from support.definitions import definition_of
from support.dense import positive_definite
from support.states import every_robot, named_robot, random_state
from support.textbook_trees import every_free_tree, every_tree, named_tree, run, unrelated

from rbd_ros import Robot
from rbd_ros.algorithms.articulated_body.aba import aba
from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT, INDEPENDENT
from rbd_ros.algorithms.inertia_matrix import inverse_mass_matrix as module
from rbd_ros.algorithms.inertia_matrix.factorization import ltdl
from rbd_ros.algorithms.inertia_matrix.inverse_mass_matrix import (
    factors_are_shorter,
    inverse_by_articulated_bodies,
    inverse_by_factors,
    inverse_mass_matrix,
    symmetric_inverse,
)
from rbd_ros.algorithms.kinds import CONFIGURATION, INVERSE_INERTIA_MATRIX
from rbd_ros.model import SingularMassMatrixError
from rbd_ros.textbook.models.random_models import random_chain, random_tree

WAYS = (inverse_by_factors, inverse_by_articulated_bodies)
every_way = pytest.mark.parametrize('way', WAYS, ids=lambda f: f.__name__)


def check(found, H):
    """Check that either is wrong by some cond(H) eps of the largest element."""
    found = np.array(found, dtype=float)
    expected = np.linalg.inv(H)
    tolerance = 10 * np.finfo(float).eps * np.linalg.cond(H) * np.abs(expected).max()
    assert_allclose(found, expected, rtol=0, atol=tolerance)
    assert np.array_equal(found, found.T)


@every_tree
def test_it_is_the_inverse_gears_or_none(name):
    tree = named_tree(name)
    for q, _, _ in tree.states:
        H = tree.book.mass_matrix(q)
        check(run(inverse_mass_matrix, tree.model, q=q), H)
        check(inverse_by_factors(tree.model, q.tolist()), H)


@every_way
@every_free_tree
def test_both_ways_lead_to_it(name, way):
    tree = named_tree(name)
    for q, _, _ in tree.states:
        check(way(tree.model, q.tolist()), tree.book.mass_matrix(q))


@every_way
@pytest.mark.parametrize('model', [random_chain(9, 2), random_tree(15, 2, 3)])
def test_columns_are_accelerations_of_unit_forces(model, way, rng):
    """By the articulated-body algorithm at rest and without gravity."""
    model = model.with_gravity((0.0, 0.0, 0.0)).with_armature({'joint2': 0.2})
    q, zero = rng.uniform(-3, 3, model.nq).tolist(), [0.0] * model.nv
    M = np.array(way(model, q))
    for k, unit in enumerate(np.eye(model.nv)):
        expected = np.array(aba(model, q, zero, unit.tolist()))
        assert_allclose(M[:, k], expected, rtol=0, atol=1e-9 * np.abs(M).max())


@every_way
def test_trees_on_one_base_do_not_move_each_other(way):
    """Branches that meet in a moving body do: the inverse has zeros between forests only."""
    text = random_trees.tree(11, bodies=7, types=random_trees.SIMPLE_TYPES, branching=1.0)
    model = Robot.from_urdf(text).model
    q = np.linspace(-1.0, 1.0, model.nq)
    M = np.array(way(model, q.tolist()))
    roots = [model.support(i)[-1] for i, _ in model.outward()]
    apart = np.not_equal.outer(roots, roots)
    assert np.any(apart) and np.any(unrelated(model) & ~apart)
    assert not np.any(M[apart])
    assert np.all(M[unrelated(model) & ~apart])


@pytest.mark.parametrize('n', [0, 1, 2, 5, 12])
def test_factors_of_any_matrix_have_an_inverse(n, rng):
    H = positive_definite(rng, n)
    if n:
        check(symmetric_inverse(ltdl(H.tolist())), H)
    else:
        assert symmetric_inverse(ltdl([])) == []


def test_zeros_that_belong_to_no_tree(rng):
    """Rows that are related by one in between, though their own element is zero."""
    H = positive_definite(rng, 4)
    H[3, 0] = H[0, 3] = H[3, 2] = H[2, 3] = H[2, 1] = H[1, 2] = 0.0
    check(symmetric_inverse(ltdl(H.tolist())), H)


@every_robot
def test_method_inverts_the_mass_matrix(name):
    robot = named_robot(name)
    q, _, _ = random_state(robot)
    M, H = robot.inverse_mass_matrix(q), robot.mass_matrix(q)
    check(M, H)
    rows = robot.inverse_mass_matrix(np.tile(q, (9, 1)))
    assert rows.shape == (9, robot.nv, robot.nv)
    assert_allclose(rows[8], M, rtol=0, atol=1e-12 * np.abs(M).max())
    out = np.empty_like(M)
    assert robot.inverse_mass_matrix(q, out=out) is out
    assert np.array_equal(out, M)


def test_a_singular_mass_matrix_is_rejected_by_joint():
    text = random_trees.chain([{'type': 'revolute', 'mass': 1.0}])  # a point mass on the axis
    with pytest.raises(SingularMassMatrixError, match='joint1'):
        Robot.from_urdf(text).inverse_mass_matrix([0.0])


def operations(model, way):
    declared = algorithm(
        way.__name__,
        inputs={'q': CONFIGURATION},
        outputs={'H_inverse': INVERSE_INERTIA_MATRIX},
        coordinates=INDEPENDENT,
        model=EQUIVALENT,
        source='either way',
    )(lambda model, q: way(model, q))
    program = definition_of(model, declared).program()
    cost = program.graph.count_of(program.live)
    return cost.multiplications + cost.additions + cost.divisions


@pytest.mark.parametrize(
    'model, short',
    [
        (random_chain(6), True),
        (random_tree(15, 2), True),
        (random_chain(38), True),
        (random_chain(44), False),
    ],
    ids=['arm', 'binary', 'chain of 38', 'chain of 44'],
)
def test_the_way_taken_has_fewer_operations(model, short):
    factors, bodies = (operations(model, way) for way in WAYS)
    assert factors_are_shorter(model) == short == (factors < bodies)


def test_long_chains_take_the_other_way(rng):
    """To the bit: which text ran is known by its rounding."""
    for joints, way in ((5, inverse_by_factors), (44, inverse_by_articulated_bodies)):
        model, q = random_chain(joints), rng.uniform(-3, 3, joints).tolist()
        assert inverse_mass_matrix(model, q) == way(model, q)


def test_a_model_with_gears_uses_factors_at_any_depth(monkeypatch):
    """Articulated bodies do not survive gears between branches."""
    monkeypatch.setattr(module, '_DEEP', 0)
    tree = named_tree('branches, gears')
    q = tree.states[0].q.tolist()
    assert not factors_are_shorter(tree.model)
    assert inverse_mass_matrix(tree.model, q) == inverse_by_factors(tree.model, q)
