# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Floating-base forward dynamics against the solution of the equation of motion of a textbook."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import example_robots, random_trees
from support.errors import relative_error
from support.floating_trees import (
    every_floating_tree,
    every_free_floating_tree,
    floating_tree,
    tolerance,
)
from support.textbook_trees import BRANCHES, check, run

from rbd_ros import Robot
from rbd_ros.algorithms.articulated_body.aba import aba
from rbd_ros.model import load_urdf
from rbd_ros.model.floating_model import base_inertia
from rbd_ros.spatial import ForceVector, MotionVector
from rbd_ros.textbook.floating_base.floating_aba import (
    by_equations_of_motion,
    floating_aba,
    floating_forward_dynamics,
)
from rbd_ros.textbook.floating_base.floating_state import floating_base, FloatingBase


def textbook(tree, state, forces):
    """Return the acceleration of base and joints; nothing but external forces acts on the base."""
    tau = np.concatenate([np.zeros(6), state.a[6:]])
    return tree.book.forward_dynamics(state.q, state.v, tau, forces)


@pytest.mark.seed('FB01', 'FB04', kind='full')
@every_floating_tree
def test_acceleration_solves_the_equation_of_motion(name):
    """With rotors, forces on links and on the base, and gravity of no special direction.

    The textbook has a 6-DoF joint between world and base, and so does the house's articulated-body
    algorithm; the text has none.
    """
    tree = floating_tree(name)
    for state in tree.states:
        q, v, tau = state.q, state.v, state.a[6:]
        ours = run(
            floating_forward_dynamics, tree.model, q=q, v=v, tau=tau,
            external_forces=tree.forces_on_bodies,
        )  # fmt: skip
        expected, bound = textbook(tree, state, tree.forces), tolerance(tree, q)
        check('floating-base ABA', name, np.concatenate(ours), expected, bound)


@every_free_floating_tree
def test_without_external_forces(name):
    tree = floating_tree(name)
    for state in tree.states:
        q, v, tau = state.q, state.v, state.a[6:]
        ours = run(floating_forward_dynamics, tree.model, q=q, v=v, tau=tau, external_forces=None)
        expected, bound = textbook(tree, state, {}), tolerance(tree, q)
        check('floating-base ABA', name, np.concatenate(ours), expected, bound)


@pytest.mark.seed('FB01')
@every_free_floating_tree
def test_it_is_the_articulated_body_algorithm_with_a_joint_of_six_dofs(name):
    """And the solution by the inertia matrix is the same."""
    tree = floating_tree(name)
    for state in tree.states:
        q, v, tau = state.q.tolist(), state.v.tolist(), state.a[6:].tolist()
        forces = tree.forces_on_bodies
        with_joint = aba(tree.model, q, v, [0.0] * 6 + tau, forces)
        base = floating_base(tree.model, q, v, forces)
        for text in (floating_aba, by_equations_of_motion):
            a0, qdd = text(base, tau)
            bound = tolerance(tree, state.q)
            check('without the joint', name, [*a0, *qdd], np.array(with_joint), bound)


@pytest.mark.seed('FB04')
@every_free_floating_tree
def test_free_fall_is_gravity_alone(name):
    """At rest and without forces all of it falls as one: a0 = a_g, and no joint moves."""
    tree = floating_tree(name)
    gravity = np.array(tree.model.gravity)
    for q, v, _ in tree.states:
        zero = np.zeros(len(v))
        a0, qdd = run(
            floating_forward_dynamics, tree.model, q=q, v=zero, tau=zero[6:], external_forces=None
        )
        R, _, _ = tree.book.kinematics(q)[tree.book.layout.links[0]]
        assert_allclose(a0, [0.0, 0.0, 0.0, *R.T @ gravity], atol=1e-13)
        assert_allclose(qdd, 0.0, atol=1e-11)


def test_a_tree_without_a_joint_in_the_model_is_all_that_the_text_takes():
    """A robot described with a fixed base, and where its base moves to: no pose is needed."""
    tree, text = floating_tree('branches'), random_trees.tree(**BRANCHES)
    armature = {body.joint_name: body.armature for body in tree.model.bodies[1:]}
    fixed = load_urdf(text, False, (0.0, 0.0, 0.0), armature=armature)
    for state in tree.states:
        q, v, tau = state.q, state.v, state.a[6:].tolist()
        R, p, _ = tree.book.kinematics(q)[tree.book.layout.links[0]]
        a_g = MotionVector((0.0, 0.0, 0.0), tuple(R.T @ tree.model.gravity))
        forces = {}
        for i, force in tree.forces_on_bodies.items():  # moved to the base's frame by hand
            couple, linear = np.array(force.moment), np.array(force.linear)
            f = ForceVector(tuple(R.T @ (couple - np.cross(p, linear))), tuple(R.T @ linear))
            forces[i - 1] = f
        base = FloatingBase(
            fixed, base_inertia(fixed), MotionVector.from_array(v[:6].tolist()), a_g,
            q[7:].tolist(), v[6:].tolist(), forces,
        )  # fmt: skip
        a0, qdd = floating_aba(base, tau)
        expected = textbook(tree, state, tree.forces)
        check('from a fixed base', 'branches', [*a0, *qdd], expected, tolerance(tree, q))


@pytest.mark.parametrize('name', sorted(example_robots.varied())[:5:4] or ['none'])
def test_machine_code_agrees_with_the_joint_of_six_dofs_on_real_robots(name):
    """For single states, batches, external forces, and where the results are to go."""
    if name == 'none':
        pytest.skip('no real robots')
    text = example_robots.dynamics_xml(example_robots.loadable()[name].read_text(), True)
    robot, rng = Robot.from_urdf(text, floating_base=True), np.random.default_rng(4)
    q, v = robot.random_configurations(5, rng), rng.normal(size=(5, robot.nv))
    tau = rng.normal(size=(5, robot.nv))
    tau[:, :6] = 0.0
    forces = {robot.link_names[0]: rng.normal(size=6), robot.link_names[-1]: rng.normal(size=6)}
    bound = 1e-9  # cond(H) of real robots with light fingers is 1e6
    for given in (None, forces):
        expected = robot.forward_dynamics(q, v, tau, given)
        many = robot.floating_base.forward_dynamics(q, v, tau[:, 6:], given)
        assert relative_error(np.hstack([many.a0, many.qdd]), expected) < bound
        one = robot.floating_base.forward_dynamics(q[2], v[2], tau[2, 6:], given)
        assert relative_error(np.concatenate([one.a0, one.qdd]), expected[2]) < bound
    out = np.empty(6), np.empty(robot.nv - 6)
    result = robot.floating_base.forward_dynamics(q[1], v[1], tau[1, 6:], out=out)
    assert result.a0 is out[0] and result.qdd is out[1]
