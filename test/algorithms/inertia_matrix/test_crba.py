# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The composite-rigid-body algorithm against kinetic energy summed over links."""

import numpy as np
import pytest
from support.dense import inertia, motion_transform
from support.textbook_trees import check, every_tree, named_tree, run, unrelated

from rbd_ros.algorithms.inertia_matrix.crba import (
    composite_inertias,
    crba,
    crba_with_gears,
    mass_matrix,
)


@pytest.mark.seed('BL03', 'DN06', 'FM05', 'GR03')
@pytest.mark.seed('FO04', kind='full')
@every_tree
def test_mass_matrix_is_the_sum_over_link_jacobians(name):
    """J_t^T m J_t + J_R^T I J_R, with rotors on the diagonal."""
    tree = named_tree(name)
    for q, _, _ in tree.states:
        H = run(mass_matrix, tree.model, q=q)
        check('crba', name, H, tree.book.mass_matrix(q))
        assert np.array_equal(H, H.T)
        # Gears or none, it is the same text; only shorter for those that have some.
        geared = np.array(crba_with_gears(tree.model, q.tolist()))
        check('crba with gears', name, geared, tree.book.mass_matrix(q))
        assert np.array_equal(geared, geared.T)


@pytest.mark.seed('FM07')
@every_tree
def test_text_counts_every_joint_of_the_tree(name):
    """The function ignores gears; elements between branches are exactly zero."""
    tree = named_tree(name)
    for q, _, _ in tree.ungeared_states:
        H = np.array(crba(tree.model, q.tolist()))
        check('crba', name, H, tree.ungeared.mass_matrix(q))
        assert not np.any(H[unrelated(tree.model)])


@every_tree
def test_composite_inertia_is_that_of_all_that_a_body_carries(name):
    """Links moved to the body that carries them, as dense matrices: X^T I X."""
    tree = named_tree(name)
    q = tree.ungeared_states[0].q
    poses = {link: pose[:2] for link, pose in tree.ungeared.kinematics(q).items()}
    found = composite_inertias(tree.model, q.tolist())
    for i, body in tree.model.outward():
        R0, p0 = poses[body.name]
        total = np.zeros((6, 6))
        for link, (mass, center, about_center) in tree.ungeared.inertials.items():
            if i in tree.model.support(tree.model.link(link).body):
                R, p = poses[link]
                X = motion_transform((R0.T @ R).T, R0.T @ (p - p0))
                total += X.T @ inertia(mass, center, about_center) @ X
        check('composite inertia', name, found[i].matrix(), total)
