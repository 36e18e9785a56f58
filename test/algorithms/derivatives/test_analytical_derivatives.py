# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Analytical derivatives of inverse dynamics against differentiation and textbooks."""

import numpy as np
import pytest
from support import random_trees
from support.all_joints import JOINTS, tree
from support.definitions import by_differentiation, definition_of
from support.textbook_trees import check, FREE, GEARED, named_tree, run, unrelated

from rbd_ros import ModelError, Robot
from rbd_ros.algorithms.derivatives import analytical_derivatives as module
from rbd_ros.algorithms.derivatives.analytical_derivatives import analytical_derivatives
from rbd_ros.model import load_urdf
from rbd_ros.spatial import ForceVector
from rbd_ros.textbook.models.random_models import random_chain

FIELDS = ('tau', 'dtau_dq', 'dtau_dv', 'dtau_da')
every_tree = pytest.mark.parametrize('name', [x for x in FREE + GEARED if 'rolling' not in x])
every_lower_pair = pytest.mark.parametrize(
    'joint', [x for x in JOINTS if x.is_lower_pair], ids=repr
)


def differentiated(model, state, forces):
    """Return same by the compiler's differentiation of the Newton-Euler equations, on floats."""
    definition = by_differentiation(model, 'inverse_dynamics_derivatives', forces=tuple(forces))
    assert definition.tangents
    flat = definition.interpret(*(np.asarray(x).tolist() for x in (*state, *forces.values())))
    shapes = [output.shape for output in definition.outputs]
    return [np.array(x, dtype=float).reshape(shape) for x, shape in zip(flat, shapes)]


def written_out(model, state, forces):
    """Return the results of the text, in independent coordinates.

    With forces in base coordinates by link.
    """
    on_bodies = {}
    for link, force in forces.items():
        body, force = model.link(link).body, ForceVector.from_array(force)
        on_bodies[body] = on_bodies[body] + force if body in on_bodies else force
    q, v, a = state
    return run(analytical_derivatives, model, q=q, v=v, a=a, external_forces=on_bodies)


@every_tree
def test_derivatives_are_those_of_the_compiler(name):
    """By another text and another way; gears, rotors, and forces on any link among it."""
    tree = named_tree(name)
    for state in tree.states:
        found = written_out(tree.model, state, tree.forces)
        for field, ours, theirs in zip(
            FIELDS, found, differentiated(tree.model, state, tree.forces)
        ):
            check(f'analytical {field}', name, ours, theirs)


@every_lower_pair
@pytest.mark.parametrize('seed', range(2))
def test_every_joint_type_whose_motion_subspace_is_constant(joint, seed, rng):
    model = tree(joint, seed)
    q = Robot(model).random_configuration(rng)
    state = (q, *rng.normal(size=(2, model.nv)))
    forces = {f'link{k}': rng.normal(size=6) for k in (2, 4)}
    found = written_out(model, state, forces)
    for field, ours, theirs in zip(FIELDS, found, differentiated(model, state, forces)):
        check(f'analytical {field}', repr(joint), ours, theirs)


@every_tree
def test_force_and_inertia_matrix_are_the_textbooks(name):
    tree = named_tree(name)
    for q, v, a in tree.states:
        tau, _, _, H = written_out(tree.model, (q, v, a), tree.forces)
        check('analytical tau', name, tau, tree.book.inverse_dynamics(q, v, a, tree.forces))
        check('analytical H', name, H, tree.book.mass_matrix(q))
        assert np.array_equal(H, H.T)


@every_tree
def test_derivatives_between_unrelated_branches_are_exactly_zero(name):
    tree = named_tree(name)
    for state in tree.ungeared_states:
        found = analytical_derivatives(tree.model, *(x.tolist() for x in state))
        for matrix in found[1:]:
            assert not np.any(np.array(matrix, dtype=float)[unrelated(tree.model)])


def test_a_motion_subspace_that_depends_on_the_position_is_rejected_by_name():
    model = named_tree('rolling chain').model
    rolling = next(x.joint_name for x in model.bodies if not x.joint.is_lower_pair)
    with pytest.raises(ModelError, match=f'{rolling!r} depends on its position'):
        Robot(model).kernel('inverse_dynamics_analytical_derivatives')


def nodes(joints, inner_products):
    """Return the nodes of the program for a chain of hinges about axes of all directions."""
    text = random_trees.chain_of_hinges(5, joints)
    definition = definition_of(load_urdf(text), 'inverse_dynamics_analytical_derivatives')
    return len(definition.program(inner_products).live)


def curvature(function):
    """Return second difference of a function of the number of joints, over the steps squared."""
    few, some, many = (function(joints) for joints in (10, 20, 30))
    return (many - 2 * some + few) / 10**2


def test_a_pair_of_joints_takes_five_scalar_products():
    """Two of 9 terms and three of 6; everything else grows with the number of joints.

    Signs are the reason why it is not to the node: some factors are needed with either.
    """
    assert curvature(lambda joints: nodes(joints, True)) == pytest.approx(5, abs=0.5)
    expected = 2 * (9 + 8) + 3 * (6 + 5)
    assert curvature(lambda joints: nodes(joints, False)) == pytest.approx(expected, abs=0.5)


def test_the_coordinates_of_a_chains_first_body_take_the_fewest_operations(monkeypatch):
    """Those of another body give the same for more."""
    model = random_chain(4)

    def operations():
        program = definition_of(model, 'inverse_dynamics_analytical_derivatives').program()
        count = program.graph.count_of(program.live)
        return count.multiplications + count.additions

    chosen, others = operations(), []
    for body in (0, 2, 3, 4):
        monkeypatch.setattr(module, '_reference', lambda model, body=body: body)
        others.append(operations())
    assert chosen < min(others)
