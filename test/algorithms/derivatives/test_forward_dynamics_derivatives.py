# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of forward dynamics: textbooks, Pinocchio, both methods, differentiation of ABA."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import example_robots, random_trees
from support.all_joints import JOINTS, tree
from support.definitions import by_differentiation, definition_of
from support.slopes import assert_slopes, by_array, by_configuration, by_motion, rates_of
from support.states import every_robot, named_robot, random_forces, random_state
from support.textbook_trees import check, every_tree, named_tree

from rbd_ros import Robot
from rbd_ros.algorithms.declaration import derivatives_of
from rbd_ros.algorithms.derivatives.forward_dynamics_derivatives import (
    ForwardDynamicsDerivatives,
)
from rbd_ros.algorithms.inertia_matrix.forward_dynamics import forward_dynamics
from rbd_ros.lookup.resources import resource_path
from rbd_ros.model import SingularMassMatrixError
from rbd_ros.robot.kernels import declared
from rbd_ros.robot.variants import definition, variant
from rbd_ros.spatial import RigidBodyInertia
from rbd_ros.textbook.models.random_models import random_chain

NAME = 'forward_dynamics_derivatives'
BY_HAND = ('forward_dynamics_analytical_derivatives', 'forward_dynamics_derivatives_by_bodies')
FIELDS = ForwardDynamicsDerivatives._fields


def interpreted(definition, state, forces):
    """Return the results of a definition on floats, with forces in base coordinates by link."""
    flat = definition.interpret(*(np.asarray(x).tolist() for x in (*state, *forces.values())))
    shapes = [output.shape for output in definition.outputs]
    return [np.array(x, dtype=float).reshape(shape) for x, shape in zip(flat, shapes)]


@lru_cache(maxsize=None)
def all_ways(name):
    """Return the definitions of a textbook tree.

    Differentiated, and by hand where that is possible.
    """
    found = named_tree(name)
    links = tuple(found.forces)
    ways = [by_differentiation(found.model, NAME, forces=links)]
    if 'rolling' not in name:
        for by_hand in BY_HAND:
            ways.append(by_differentiation(found.model, by_hand, forces=links))
    return ways


@every_tree
def test_they_are_slopes_of_the_textbooks_accelerations(name):
    tree = named_tree(name)
    book, forces = tree.book, tree.forces
    for q, v, tau in tree.states[:1]:
        expected = (
            by_configuration(
                lambda x, v=v, tau=tau: book.forward_dynamics(x, v, tau, forces),
                q,
                rates_of(book.layout, q),
            ),
            by_array(lambda x, q=q, tau=tau: book.forward_dynamics(q, x, tau, forces), v),
        )
        for way in all_ways(name):
            a, da_dq, da_dv, da_dtau = interpreted(way, (q, v, tau), forces)
            H = book.mass_matrix(q)
            bound = 1e-12 + 1e-14 * np.linalg.cond(H)
            check(f'{NAME} a', name, a, book.forward_dynamics(q, v, tau, forces), bound)
            check(f'{NAME} da_dtau', name, da_dtau, np.linalg.inv(H), bound)
            assert np.array_equal(da_dtau, da_dtau.T)
            assert_slopes(da_dq, expected[0], 1e-7, 'da_dq')
            assert_slopes(da_dv, expected[1], 1e-7, 'da_dv')


@every_tree
def test_all_ways_agree(name):
    if 'rolling' in name:
        pytest.skip('only differentiation knows a motion subspace that depends on q')
    tree = named_tree(name)
    for state in tree.states:
        found = [interpreted(way, state, tree.forces) for way in all_ways(name)]
        for field, one, *others in zip(FIELDS, *found):
            for other in others:
                check(f'all ways {field}', name, one, other, 1e-11)


@pytest.mark.parametrize('joint', [x for x in JOINTS if x.is_lower_pair], ids=repr)
def test_every_joint_type_by_differentiation_of_the_articulated_body_algorithm(joint, rng):
    """Which shares neither the inertia matrix nor inverse dynamics with them."""
    model = tree(joint, 1)
    q = Robot(model).random_configuration(rng)
    state, forces = (q, *rng.normal(size=(2, model.nv))), {'link2': rng.normal(size=6)}
    aba = derivatives_of(
        forward_dynamics,
        'aba_derivatives',
        by=('q', 'v', 'tau'),
        result=ForwardDynamicsDerivatives,
    )
    aba = definition(model, variant(model, aba, forces=tuple(forces)))
    found = interpreted(definition_of(model, NAME, forces=tuple(forces)), state, forces)
    for field, ours, theirs in zip(FIELDS, found, interpreted(aba, state, forces)):
        check(f'ABA {field}', repr(joint), ours, theirs, 1e-10)


@every_robot
def test_kernels_return_slopes_of_forward_dynamics(name):
    robot = named_robot(name)
    q, v, tau = random_state(robot)
    forces = random_forces(robot)
    found = robot.derivatives.forward_dynamics(q, v, tau, forces)
    fd = robot.forward_dynamics
    assert_allclose(found.a, fd(q, v, tau, forces), rtol=1e-10, atol=1e-10)
    assert_slopes(found.da_dq, by_motion(lambda x: fd(x, v, tau, forces), robot, q), 1e-7)
    assert_slopes(found.da_dv, by_array(lambda x: fd(q, x, tau, forces), v), 1e-7)
    assert_slopes(found.da_dtau, by_array(lambda x: fd(q, v, x, forces), tau), 1e-7)


@every_robot
def test_they_undo_those_of_inverse_dynamics(name):
    """At the acceleration found, H da/dx = -dtau/dx."""
    robot = named_robot(name)
    q, v, tau = random_state(robot, 3)
    found = robot.derivatives.forward_dynamics(q, v, tau)
    inverse = robot.derivatives.inverse_dynamics(q, v, found.a)
    assert_allclose(inverse.tau, tau, rtol=0, atol=1e-10)
    unit = inverse.dtau_da @ found.da_dtau
    assert_allclose(unit, np.eye(robot.nv), rtol=0, atol=1e-10)
    for ours, theirs in ((found.da_dq, inverse.dtau_dq), (found.da_dv, inverse.dtau_dv)):
        assert_allclose(inverse.dtau_da @ ours, -theirs, rtol=0, atol=1e-11 * np.abs(theirs).max())


def test_batches_and_results_in_place_agree_with_single_states():
    robot = named_robot('gears')
    states = [random_state(robot, seed) for seed in range(9)]
    function = robot.derivatives.forward_dynamics
    one = function(*states[0])
    given = [np.empty_like(x) for x in one]
    assert function(*states[0], out=given)[1] is given[1]
    many = function(*(np.array(x) for x in zip(*states)))
    for k, state in enumerate(states):
        for single, row in zip(function(*state), many):
            assert_allclose(row[k], single, rtol=1e-11, atol=1e-11)
    for single, array in zip(one, given):
        assert np.array_equal(single, array)


@pytest.mark.parametrize(
    ('name', 'floating'), [('ur5_robot', False), ('solo12', True), ('talos_reduced', True)]
)
def test_they_are_pinocchios(name, floating):
    """Of a humanoid without machine code, which takes its time."""
    from support.pinocchio_bridge import Bridge, pin

    text = example_robots.dynamics_xml(example_robots.path(name).read_text())
    bridge, robot = Bridge(text, floating), Robot.from_urdf(text, floating_base=floating)
    definition = definition_of(robot.model, NAME)
    for q, v, tau in zip(*bridge.layout.random_states(np.random.default_rng(4), 2)):
        theirs = pin.computeABADerivatives(
            bridge.model, bridge.data, bridge.q(q), bridge.v(v), bridge.P @ tau
        )
        inverse = np.triu(theirs[2]) + np.triu(theirs[2], 1).T
        found = (
            interpreted(definition, (q, v, tau), {})
            if name.startswith('talos')
            else robot.derivatives.forward_dynamics(q, v, tau)
        )
        for field, ours, block in zip(FIELDS[1:], found[1:], (*theirs[:2], inverse)):
            expected = bridge.P.T @ block @ bridge.P
            check(f'Pinocchio {field}', name, ours, expected, 1e-9)


def test_half_the_operations_of_differentiating_forward_dynamics():
    """Of a UR5, the function itself included; that is what the detour is for."""
    model = Robot.from_urdf(example_robots.path('ur5_robot')).model
    direct = derivatives_of(
        forward_dynamics,
        'aba_derivatives',
        by=('q', 'v', 'tau'),
        result=ForwardDynamicsDerivatives,
    )

    ours = operations(definition_of(model, NAME))
    assert ours <= 2300 and ours < 0.65 * operations(definition(model, variant(model, direct)))


def test_a_joint_that_moves_no_mass_is_named():
    model = random_chain(3, 1)
    massless = replace(model.bodies[-1], inertia=RigidBodyInertia.zero())
    robot = Robot(replace(model, bodies=(*model.bodies[:-1], massless)))
    with pytest.raises(SingularMassMatrixError, match=robot.joint_names[-1]):
        robot.derivatives.forward_dynamics(*np.zeros((3, 3)))


def ways(name):
    """Yield the declarations of all ways to the same results, each by itself."""
    found = declared(name)
    while found is not None:
        yield replace(found, specialization=None)
        found = found.specialization and found.specialization.algorithm


@pytest.mark.parametrize('name', [NAME, 'inverse_dynamics_derivatives', 'bias_force_derivatives'])
def test_a_kernel_is_made_of_the_way_with_the_fewest_operations(name):
    """By differentiation for an arm of parallel axes, by hand for others, one way or another."""
    best = set()
    for model in (
        Robot.from_urdf(resource_path('urdf', 'planar_3r.urdf')).model,
        Robot.from_urdf(resource_path('urdf', 'stanford_arm.urdf')).model,
        random_chain(6, 1),
    ):
        counts = [operations(definition(model, variant(model, x))) for x in ways(name)]
        assert len(counts) == 3
        assert operations(definition_of(model, name)) == min(counts)
        best.add(counts.index(min(counts)))
    assert len(best) > 1


def test_only_handwritten_derivatives_are_tried_for_many_dofs():
    many, very_many = (
        Robot.from_urdf(random_trees.chain_of_hinges(5, joints)).model for joints in (20, 70)
    )
    chosen = [definition_of(model, NAME) for model in (many, very_many)]
    assert not any(definition.differentiates for definition in chosen)
    assert chosen[0].alternative is not None and chosen[1].alternative is None


def operations(definition):
    """Return the operations of a definition's program, however it is stored."""
    count = definition.program().count
    return count.multiplications + count.additions


def test_a_base_that_floats_is_one_of_few_columns():
    """Known values equal those that would be computed."""
    robot = named_robot('floating base')
    q, v, tau = random_state(robot, 5)
    found = robot.derivatives.forward_dynamics(q, v, tau)
    w, z = v[:3], np.zeros(robot.nv)
    for k, e in enumerate(np.eye(3)):
        expected = z.copy()
        expected[3:6] = -np.cross(w, e)
        assert_allclose(found.da_dv[:, 3 + k], expected, rtol=0, atol=1e-14)
        assert not np.any(found.da_dq[:, 3 + k])
        # bitwise, which a solution would not be
        others = np.r_[:3, 6 : robot.nv]
        assert not np.any(found.da_dv[others, 3 + k]) and not np.any(found.da_dq[others, k])
    fd = robot.forward_dynamics
    assert_slopes(found.da_dq, by_motion(lambda x: fd(x, v, tau), robot, q), 1e-7)
    heavy = Robot(robot.model.with_armature({robot.joint_names[0]: 0.7}))
    found = heavy.derivatives.forward_dynamics(q, v, tau)
    assert_slopes(found.da_dv, by_array(lambda x: heavy.forward_dynamics(q, x, tau), v), 1e-7)
    assert np.any(found.da_dv[:3, 3:6])
