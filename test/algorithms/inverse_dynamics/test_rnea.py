# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Newton-Euler equations without linear velocities, those of the kernels, against textbooks."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.textbook_trees import check, every_tree, named_tree, run

from rbd_ros.algorithms.inverse_dynamics.rnea import (
    bias_force,
    body_force,
    gravity_torque,
    rnea,
    rotation_rates,
)
from rbd_ros.spatial import RigidBodyInertia


@pytest.mark.seed('ID08', 'BL05', 'GR03')
@every_tree
def test_force_is_that_of_the_equation_of_motion(name):
    """H a + C + g - J^T f, with rotors and forces on links."""
    tree = named_tree(name)
    for q, v, a in tree.states:
        tau = run(rnea, tree.model, q=q, v=v, a=a, external_forces=tree.forces_on_bodies)
        check('rnea', name, tau, tree.book.inverse_dynamics(q, v, a, tree.forces))


@every_tree
def test_text_counts_every_joint_of_the_tree(name):
    """The algorithm has no gears: its arguments and results are those of the tree."""
    tree = named_tree(name)
    for state in tree.ungeared_states:
        q, v, a = (x.tolist() for x in state)
        tau = rnea(tree.model, q, v, a, tree.forces_on_bodies)
        check('rnea', name, tau, tree.ungeared.inverse_dynamics(*state, tree.forces))


@pytest.mark.seed('BL04')
@every_tree
def test_bias_force_is_inverse_dynamics_without_acceleration(name):
    tree = named_tree(name)
    for q, v, _ in tree.states:
        C = run(bias_force, tree.model, q=q, v=v, external_forces=tree.forces_on_bodies)
        expected = tree.book.coriolis_force(q, v) + tree.book.gravity_torque(q)
        check('bias_force', name, C, expected - tree.book.external_torque(q, tree.forces))
        C = run(bias_force, tree.model, q=q, v=v, external_forces={})
        check('bias_force', name, C, expected)


@pytest.mark.seed('BL06', kind='full')
@every_tree
def test_gravity_torque_is_the_sum_over_weights(name):
    tree = named_tree(name)
    for q, _, _ in tree.states:
        tau = run(gravity_torque, tree.model, q=q)
        check('gravity_torque', name, tau, tree.book.gravity_torque(q))


def test_rotation_rates_are_the_acceleration_of_a_point(rng):
    w, alpha, r = rng.normal(size=(3, 3))
    expected = np.cross(alpha, r) + np.cross(w, np.cross(w, r))
    assert_allclose(np.array(rotation_rates(w, alpha)) @ r, expected, rtol=1e-14)


def test_force_on_a_body_is_the_sum_over_its_points(rng):
    """Points of mass m at r accelerate by A + alpha x r + w x (w x r)."""
    A, w, alpha = rng.normal(size=(3, 3))
    masses, points = rng.uniform(0.1, 1.0, 5), rng.normal(size=(5, 3))
    inertia = RigidBodyInertia.zero()
    force, couple = np.zeros(3), np.zeros(3)
    for m, r in zip(masses, points):
        inertia = inertia + RigidBodyInertia.from_mass_center(m, tuple(r), np.zeros((3, 3)))
        share = m * (A + np.cross(alpha, r) + np.cross(w, np.cross(w, r)))
        force, couple = force + share, couple + np.cross(r, share)
    found = body_force(inertia, tuple(A), rotation_rates(tuple(w), tuple(alpha)))
    assert_allclose(list(found), [*couple, *force], rtol=1e-13, atol=1e-13)
