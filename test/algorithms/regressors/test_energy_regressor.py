# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Energy and momentum are linear in the parameters."""

import numpy as np
from numpy.testing import assert_allclose
from support.states import every_robot, named_robot, random_state
from support.textbook_trees import check, every_tree, named_tree, run

from rbd_ros.algorithms.regressors.energy_regressor import energy_regressor, momentum_regressor


def parameters(model):
    return np.array([x for body in model.bodies for x in body.inertia.parameters()], dtype=float)


@every_tree
def test_energies_are_the_textbooks(name):
    tree = named_tree(name)
    for q, v, _ in tree.states:
        kinetic, potential = run(energy_regressor, tree.model, q=q, v=v)
        rates = tree.model.tree_velocity(v.tolist())
        rotors = sum(
            0.5 * body.armature * x * x for _, body in tree.model.outward() for x in rates[body.v]
        )
        pi = parameters(tree.model)
        check('kinetic', name, kinetic @ pi + rotors, tree.book.kinetic_energy(q, v))
        check('potential', name, potential @ pi, tree.book.potential_energy(q))


@every_tree
def test_momentum_is_the_textbooks(name):
    tree = named_tree(name)
    for q, v, _ in tree.states:
        Y = run(momentum_regressor, tree.model, q=q, v=v)
        check('momentum', name, Y @ parameters(tree.model), tree.book.momentum(q, v))


@every_robot
def test_kernels_give_energy_and_momentum_of_the_robot(name):
    robot = named_robot(name)
    q, v, _ = random_state(robot)
    pi = robot.regressors.parameters
    kinetic, potential = robot.regressors.energy(q, v)
    plain = type(robot)(robot.model.with_armature(dict.fromkeys(robot.joint_names, 0.0)))
    expected = plain.energy(q, v)
    size = abs(expected.kinetic) + abs(expected.potential) + 1e-300
    assert_allclose(kinetic @ pi, expected.kinetic, atol=1e-12 * size)
    assert_allclose(potential @ pi, expected.potential, atol=1e-11 * size)
    h = robot.momentum(q, v)
    found = robot.regressors.momentum(q, v) @ pi
    assert_allclose(found, h, atol=1e-11 * np.abs(h).max())
