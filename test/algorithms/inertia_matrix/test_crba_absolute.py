# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The composite-rigid-body algorithm in base coordinates against sums over links."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import layout, random_trees
from support.states import every_robot, named_robot, random_state
from support.textbook import Textbook
from support.textbook_trees import check, every_tree, named_tree, run, unrelated

from rbd_ros.algorithms.inertia_matrix.crba import crba
from rbd_ros.algorithms.inertia_matrix.crba_absolute import crba_absolute, crba_unbranched
from rbd_ros.model import load_urdf, ModelError
from rbd_ros.textbook.models.random_models import random_chain


@pytest.mark.seed('FM03', kind='full')
@every_tree
def test_mass_matrix_is_that_of_the_kinetic_energy(name):
    """Symmetric, positive definite, and v^T H v / 2 is the sum over links and rotors."""
    tree = named_tree(name)
    for q, v, _ in tree.states:
        H = run(crba_absolute, tree.model, q=q)
        check('crba_absolute', name, H, tree.book.mass_matrix(q))
        assert np.array_equal(H, H.T)
        assert np.linalg.eigvalsh(H).min() > 0
        energy = tree.book.kinetic_energy(q, v)
        assert_allclose(v @ H @ v / 2, energy, rtol=1e-12)


@pytest.mark.seed('FM03', 'FM05', kind='full')
@every_tree
def test_text_counts_every_joint_and_equals_the_one_in_body_coordinates(name):
    tree = named_tree(name)
    for q, _, _ in tree.ungeared_states:
        H = np.array(crba_absolute(tree.model, q.tolist()))
        check('crba_absolute', name, H, tree.ungeared.mass_matrix(q))
        check('crba', name, crba(tree.model, q.tolist()), H)
        assert not np.any(H[unrelated(tree.model)])


@pytest.mark.seed('FM03', kind='full')
@every_robot
def test_kernel_is_that_of_the_other_algorithm(name):
    robot = named_robot(name)
    q, _, _ = random_state(robot)
    function = robot.kernel('crba_absolute').function
    expected = robot.mass_matrix(q)
    tolerance = 1e-12 * np.abs(expected).max()
    assert_allclose(function(q), expected, rtol=0, atol=tolerance)
    assert_allclose(function(np.tile(q, (9, 1)))[8], expected, rtol=0, atol=tolerance)


@pytest.mark.seed('FM04', kind='full')
@pytest.mark.parametrize('joints', [1, 2, 9])
def test_chain_takes_the_composite_of_the_higher_number(joints, rng):
    """H_ij = S_i^T I^c_max(i, j) S_j, for all i and j, and H by columns of the other texts."""
    model = random_chain(joints, 4).with_armature({'joint1': 0.3})
    q = rng.uniform(-3, 3, joints).tolist()
    H = np.array(crba_unbranched(model, q))
    assert_allclose(H, crba(model, q), rtol=0, atol=1e-13 * np.abs(H).max())
    assert_allclose(H, crba_absolute(model, q), rtol=0, atol=1e-13 * np.abs(H).max())


@pytest.mark.seed('FM04', kind='full')
@pytest.mark.parametrize('floating_base', [False, True])
def test_chain_of_joints_of_several_dofs(floating_base):
    text = random_trees.tree(5, bodies=7, branching=0.0)
    armature = dict.fromkeys(layout.read(text, floating_base).types, 0.3)
    model = load_urdf(text, floating_base, armature=armature)
    book = Textbook(text, floating_base, armature=armature)
    assert {body.joint.nv for body in model.bodies} == {1, 3, 6}
    q, _, _ = book.layout.random_states(np.random.default_rng(3))
    check('crba_unbranched', text[:20], crba_unbranched(model, q.tolist()), book.mass_matrix(q))


@pytest.mark.parametrize('name', ['branches', 'floating base'])
def test_a_tree_with_branches_is_not_a_chain(name):
    tree = named_tree(name)
    with pytest.raises(ModelError, match='branches off'):
        crba_unbranched(tree.model, tree.ungeared_states[0].q.tolist())
