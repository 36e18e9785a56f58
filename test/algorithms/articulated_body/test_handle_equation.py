# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Response of a handle to a force, against forward dynamics with and without that force."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import example_robots, handles, outside
from support.handles import deepest
from support.states import every_robot, named_robot, random_forces, random_state
from support.textbook_trees import (
    check,
    every_reference,
    every_tree,
    FREE,
    GEARED,
    named_tree,
    run,
)

from rbd_ros import ModelError, Robot
from rbd_ros.algorithms.articulated_body.handle_equation import handle_equation, handle_response


def links_of(tree):
    """Return a link that all joints of a path move, one in the middle.

    And one welded to a body.
    """
    links = list(tree.model.links)
    return {links[1], links[len(links) // 2], links[-1]}


def tolerance(book, q):
    return max(1e-12, 40 * np.finfo(float).eps * np.linalg.cond(book.mass_matrix(q)))


def text(tree, state, link, reference, algorithm=handle_response, forces=True):
    q, v, tau = state
    return run(
        algorithm, tree.model, q=q, v=v, tau=tau, frame=tree.model.frame(link),
        reference=reference, external_forces=tree.forces_on_bodies if forces else None,
    )  # fmt: skip


@pytest.mark.seed('AB01', kind='full')
@pytest.mark.seed('AB04', kind='full')
@every_reference
@every_tree
def test_a_force_on_a_handle_adds_phi_times_it_to_the_bias_acceleration(name, reference):
    """Gears, rotors, S(q), floating bases, and forces on other links."""
    tree = named_tree(name)
    for state in tree.states[:1]:
        for link in links_of(tree):
            expected = handles.response(tree.book, *state, tree.forces, [link], reference)
            found = text(tree, state, link, reference)
            for what, ours, theirs in zip(('Phi', 'b'), found, expected):
                check(what, name, ours, theirs, tolerance(tree.book, state.q))


@pytest.mark.seed('AB04')
@every_tree
def test_rank_and_range_are_those_of_the_jacobian(name):
    """Book eq 7.14; ranks by a gap of singular values of three orders of magnitude."""
    tree = named_tree(name)
    for state in tree.states:
        for link in tree.model.links:
            J = tree.book.jacobian(state.q, link, 'base')
            Phi, _ = text(tree, state, link, 'base')
            assert np.array_equal(Phi, Phi.T)
            rank = np.linalg.matrix_rank(J, 1e-6)
            values = np.linalg.eigvalsh(Phi)[::-1]
            assert np.all(values[:rank] > 1e-9 * max(values[0], 1e-300))
            assert np.all(np.abs(values[rank:]) <= 1e-12 * max(values[0], 1e-300))
            outside_of_J = np.eye(6) - J @ np.linalg.pinv(J, 1e-6)
            assert_allclose(outside_of_J @ Phi, 0.0, atol=1e-10 * max(1.0, values[0]))


def test_no_forces_are_no_forces():
    tree = named_tree('branches')
    state, link = tree.states[0], list(tree.model.links)[-1]
    expected = handles.response(tree.book, *state, {}, [link], 'body')
    for ours, theirs in zip(text(tree, state, link, 'body', forces=False), expected):
        check('handle', 'branches', ours, theirs, 1e-11)


@pytest.mark.seed('AB01', kind='full')
@every_reference
@pytest.mark.parametrize('name', [name for name in FREE + GEARED if 'floating' in name])
def test_inertia_and_bias_force_give_the_force_of_an_acceleration(name, reference):
    """F = I a + p for the acceleration that a force f on the handle causes."""
    tree = named_tree(name)
    rng = np.random.default_rng(4)
    link = deepest(tree.model)
    for state in tree.states:
        Phi, b = handles.response(tree.book, *state, tree.forces, [link], reference)
        force = rng.normal(size=6)
        I, p = text(tree, state, link, reference, handle_equation)
        assert np.array_equal(I, I.T)
        assert np.all(np.linalg.eigvalsh(I) > 0.0)
        off = 1e-13 * np.linalg.cond(Phi) * max(1.0, np.abs(I).max() * np.abs(b).max())
        assert_allclose(I @ (Phi @ force + b) + p, force, atol=off)


@pytest.mark.seed('AB01')
def test_inertia_does_not_depend_on_velocities_or_forces():
    robot = named_robot('floating base')
    q, v, tau = random_state(robot)
    frame = robot.frame(robot.link_names[-1])
    I, p = frame.articulated_inertia(q, v, tau, random_forces(robot))
    I_rest, p_rest = frame.articulated_inertia(q, 0 * v, 0 * tau)
    for other in (I_rest, frame.operational_inertia(q)):
        assert_allclose(I, other, atol=1e-9 * np.abs(I).max())
    assert np.abs(p - p_rest).max() > 1.0


@every_reference
@every_robot
def test_kernels_compute_the_response(name, reference):
    """By differences of the kernel of forward dynamics; single states and batches, and `out`."""
    robot = named_robot(name)
    q, v, tau = random_state(robot)
    forces = random_forces(robot)
    frame = robot.frame(robot.link_names[-1], reference)
    found = frame.response(q, v, tau, forces)
    a = robot.forward_dynamics(q, v, tau, forces)
    assert_allclose(found.b, frame.acceleration(q, v, a), atol=1e-9 * np.abs(a).max())
    J = frame.jacobian(q)
    for force in np.eye(6):
        more = robot.forward_dynamics(q, v, tau + J.T @ force, forces)
        change = frame.acceleration(q, v, more) - found.b
        assert_allclose(found.Phi @ force, change, atol=1e-8 * np.abs(found.Phi).max())
    many = frame.response(np.tile(q, (3, 1)), v, tau, forces)
    assert_allclose(many.b, np.tile(found.b, (3, 1)), rtol=1e-9)
    assert_allclose(many.Phi, np.tile(found.Phi, (3, 1, 1)), atol=1e-9 * np.abs(found.Phi).max())
    out = (np.empty((6, 6)), np.empty(6))
    free = frame.response(q, v, tau, out=out)
    assert free.b is out[1]
    assert_allclose(
        free.b, frame.acceleration(q, v, robot.forward_dynamics(q, v, tau)),
        atol=1e-9 * np.abs(free.b).max(),
    )  # fmt: skip


@pytest.mark.seed('AB01', 'AB04')
@every_reference
@pytest.mark.parametrize('floating', [False, True], ids=['fixed', 'floating'])
@pytest.mark.parametrize('name', ['panda', 'ur5_robot', 'solo12', 'talos_reduced'])
def test_real_robots_answer_like_in_pinocchio(name, floating, reference):
    outside.load('pinocchio')
    from support.pinocchio_bridge import Bridge

    xml = example_robots.dynamics_xml(example_robots.path(name).read_text())
    bridge, robot = Bridge(xml, floating), Robot.from_urdf(xml, floating_base=floating)
    q, v, a = random_state(robot, 5)
    tau = robot.inverse_dynamics(q, v, a)
    link = deepest(robot.model)
    forces = {robot.link_names[2]: np.array([1.0, -2.0, 3.0, 4.0, -5.0, 6.0])}
    expected = handles.pinocchio_response(bridge, q, v, tau, forces, link, reference)
    found = robot.frame(link, reference).response(q, v, tau, forces)
    scale = np.linalg.cond(robot.mass_matrix(q))
    for what, ours, theirs in zip(('Phi', 'b'), found, expected):
        check(what, name, ours, theirs, max(1e-10, 1e-14 * scale))


def test_a_frame_with_too_few_dofs_has_a_response_only():
    robot = named_robot('gears')
    q, v, tau = random_state(robot)
    name = robot.link_names[1]
    assert np.all(np.isfinite(robot.frame(name).response(q, v, tau).Phi))
    with pytest.raises(ModelError, match=f'{name}.* of the 6 degrees of freedom'):
        robot.frame(name).articulated_inertia(q, v, tau)
