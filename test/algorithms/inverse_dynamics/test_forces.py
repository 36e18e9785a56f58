# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""External forces in the coordinates of their bodies, against moments about points."""

import numpy as np
import pytest
from support.textbook_trees import check, every_tree, named_tree

from rbd_ros.algorithms.inverse_dynamics.forces import gravity_acceleration, to_body_coordinates
from rbd_ros.spatial import ForceVector


@pytest.mark.seed('ID04')
@every_tree
def test_force_is_turned_and_its_moment_taken_about_the_body_s_origin(name, rng):
    tree = named_tree(name)
    model, q = tree.model, tree.ungeared_states[0].q
    X = {
        i: body.joint.transform(q[body.q].tolist()) * body.tree_transform
        for i, body in model.outward()
    }
    forces = {i: rng.normal(size=6) for i, _ in model.outward()}
    found = to_body_coordinates(
        model, X, {i: ForceVector.from_array(f) for i, f in forces.items()}
    )
    assert sorted(found) == sorted(forces)
    poses = tree.ungeared.kinematics(q)
    for i, body in model.outward():
        R, p, _ = poses[body.name]
        moment, force = np.split(forces[i], 2)
        expected = np.r_[R.T @ (moment - np.cross(p, force)), R.T @ force]
        check('force on a body', name, list(found[i]), expected)


def test_a_force_on_the_base_moves_nothing():
    model = named_tree('chain').model
    assert to_body_coordinates(model, {}, {0: ForceVector.from_array(np.ones(6))}) == {}
    assert to_body_coordinates(model, {}, None) == {}


def test_gravity_is_the_model_s():
    model = named_tree('chain').model
    assert tuple(gravity_acceleration(model)) == (0.0, 0.0, 0.0, *model.gravity)
