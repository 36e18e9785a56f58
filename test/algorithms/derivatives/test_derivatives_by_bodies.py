# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of inverse dynamics in body coordinates, against other methods."""

from dataclasses import replace

import numpy as np
import pytest
from support import example_robots, random_trees
from support.all_joints import JOINTS, tree
from support.definitions import by_differentiation, definition_of
from support.slopes import assert_slopes, by_array, by_configuration, rates_of
from support.textbook_trees import check, FREE, GEARED, named_tree, unrelated

from rbd_ros import ModelError, Robot
from rbd_ros.algorithms.derivatives import derivatives_by_bodies as module
from rbd_ros.algorithms.derivatives.derivatives_by_bodies import derivatives_by_bodies
from rbd_ros.lookup.resources import resource_path
from rbd_ros.model import load_urdf
from rbd_ros.spatial import ForceVector

FIELDS = ('tau', 'dtau_dq', 'dtau_dv', 'dtau_da')
NAME = 'inverse_dynamics_derivatives_by_bodies'
every_tree = pytest.mark.parametrize('name', [x for x in FREE + GEARED if 'rolling' not in x])
every_lower_pair = pytest.mark.parametrize(
    'joint', [x for x in JOINTS if x.is_lower_pair], ids=repr
)


def results(name, model, state, forces):
    """Return results on floats in independent coordinates, forces in base coordinates by link."""
    definition = by_differentiation(model, name, forces=tuple(forces))
    flat = definition.interpret(*(np.asarray(x).tolist() for x in (*state, *forces.values())))
    return [
        np.array(x, dtype=float).reshape(output.shape)
        for x, output in zip(flat, definition.outputs)
    ]


@every_tree
def test_derivatives_are_those_of_the_compiler_and_of_the_textbook(name):
    """Rotors, gears and forces on links, bodies without DoFs and the base among it."""
    tree = named_tree(name)
    book, forces = tree.book, tree.forces
    for state in tree.states:
        found = results(NAME, tree.model, state, forces)
        others = results('inverse_dynamics_derivatives', tree.model, state, forces)
        for field, ours, theirs in zip(FIELDS, found, others):
            check(f'by bodies {field}', name, ours, theirs)
    q, v, a = state
    torque = book.inverse_dynamics
    rates = rates_of(book.layout, q)
    assert_slopes(found[1], by_configuration(lambda x: torque(x, v, a, forces), q, rates))
    assert_slopes(found[2], by_array(lambda x: torque(q, x, a, forces), v))
    check('by bodies H', name, found[3], book.mass_matrix(q))
    assert np.array_equal(found[3], found[3].T)


@every_lower_pair
@pytest.mark.parametrize('seed', range(2))
def test_every_joint_type_whose_motion_subspace_is_constant(joint, seed, rng):
    model = tree(joint, seed)
    state = (Robot(model).random_configuration(rng), *rng.normal(size=(2, model.nv)))
    forces = {f'link{k}': rng.normal(size=6) for k in (2, 4)}
    found = results(NAME, model, state, forces)
    others = results('inverse_dynamics_derivatives', model, state, forces)
    for field, ours, theirs in zip(FIELDS, found, others):
        check(f'by bodies {field}', repr(joint), ours, theirs)


@every_tree
def test_derivatives_between_unrelated_branches_are_exactly_zero(name):
    tree = named_tree(name)
    model = replace(tree.model, couplings=())
    for state in tree.ungeared_states:
        found = derivatives_by_bodies(model, *(x.tolist() for x in state))
        for matrix in found[1:]:
            assert not np.any(np.array(matrix, dtype=float)[unrelated(model)])


def test_a_force_on_the_base_moves_nothing(rng):
    model = named_tree('chain').model
    state = [x.tolist() for x in named_tree('chain').states[0]]
    force = ForceVector.from_array(rng.normal(size=6))
    assert derivatives_by_bodies(model, *state, {0: force}) == derivatives_by_bodies(model, *state)


def test_a_motion_subspace_that_depends_on_the_position_is_rejected_by_name():
    model = named_tree('rolling chain').model
    with pytest.raises(ModelError, match='depends on its position'):
        Robot(model).kernel(NAME)


def operations(model, name):
    count = by_differentiation(model, name).program().count
    return count.multiplications + count.additions


def test_a_seven_axis_arm_takes_a_third_fewer_than_by_differentiation():
    """A Panda: 0.59 of those by differentiation, 0.63 of those in the coordinates of one body."""
    model = Robot.from_urdf(example_robots.path('panda')).model
    ours = operations(model, NAME)
    assert ours < 3450
    assert ours < 0.60 * operations(model, 'inverse_dynamics_derivatives')
    assert ours < 0.64 * operations(model, 'inverse_dynamics_analytical_derivatives')


def test_a_pair_of_joints_costs_the_same_at_any_distance_in_the_tree():
    """Each takes four transforms of forces, a rotation, and products: no third power."""
    few, some, many, most = (
        operations(load_urdf(random_trees.chain_of_hinges(5, joints)), NAME)
        for joints in (8, 16, 24, 32)
    )
    assert abs((most - 2 * many + some) - (many - 2 * some + few)) < 0.02 * (
        most - 2 * many + some
    )


@pytest.mark.parametrize('few', [2, 3])
def test_trees_of_very_many_dofs_use_the_alternative(few, monkeypatch):
    """Though it takes more operations where axes are parallel."""
    monkeypatch.setattr(module, '_VERY_MANY_DOFS', few)
    model = load_urdf(resource_path('urdf', 'four_bar.urdf'))
    chosen, here, there = (
        len(definition.program().live)
        for definition in (
            definition_of(model, NAME),
            by_differentiation(model, NAME),
            definition_of(model, 'inverse_dynamics_analytical_derivatives'),
        )
    )
    assert model.nv == 3 and here < there
    assert chosen == (there if model.nv > few else here)
