# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Task-space dynamics: exact commanded accelerations, undisturbed by null-space forces."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import example_robots, handles, outside, random_trees
from support.handles import deepest
from support.states import named_robot, random_state
from support.textbook import Textbook
from support.textbook_trees import check, every_reference, FREE, GEARED, named_tree, run

from rbd_ros import ModelError, Robot
from rbd_ros.algorithms.articulated_body.operational_dynamics import (
    operational_dynamics,
    task_dynamics,
    translational_operational_dynamics,
)
from rbd_ros.model import load_urdf, Model

CHAIN = 'seven hinges'
FLOATING = [name for name in FREE + GEARED if 'floating' in name]
every_frame = pytest.mark.parametrize('name', [CHAIN, *FLOATING])
every_point = pytest.mark.parametrize('name', [CHAIN, *FLOATING, 'branches', 'branches, gears'])


class Task(NamedTuple):
    """A link whose motion is a task, with a textbook of its robot."""

    model: Model
    book: Textbook
    link: str
    states: list


@lru_cache(maxsize=None)
def named_task(name):
    """Return the task with the most DoFs: a redundant one at the end of hinges."""
    if name != CHAIN:
        tree = named_tree(name)
        return Task(tree.model, tree.book, deepest(tree.model), tree.states)
    text, gravity = random_trees.chain_of_hinges(5, 7), (1.0, -2.0, -9.0)
    armature = {'joint2': 0.4, 'joint7': 0.1}
    model, book = (
        load_urdf(text, False, gravity, armature=armature),
        Textbook(text, False, gravity, armature),
    )
    rng = np.random.default_rng(2)
    return Task(model, book, 'link7', [book.layout.random_states(rng) for _ in range(2)])


def tolerance(*matrices):
    """Of what takes the inverses of these matrices."""
    return max(1e-11, 1e-14 * np.prod([np.linalg.cond(M) for M in matrices]))


def parts(book, q, v, link, reference, rows=slice(0, 6)):
    """Return H, J, Jdot v, C v and g of a textbook."""
    J = book.jacobian(q, link, reference)[rows]
    rate = handles.acceleration(book, q, v, 0 * v, link, reference)[rows]
    return book.mass_matrix(q), J, rate, book.coriolis_force(q, v), book.gravity_torque(q)


def check_task(name, book, state, link, reference, rows, found):
    """Check the task's equation of motion, its torques, and its null space.

    By forward dynamics.
    """
    q, v, tau = state
    Lambda, mu, p, J_bar, N = found
    H, J, rate, Cv, g = parts(book, q, v, link, reference, rows)
    mobility = J @ np.linalg.solve(H, J.T)
    off = tolerance(H, mobility)
    check('Lambda', name, Lambda @ mobility, np.eye(len(J)), off)
    check('J_bar', name, J @ J_bar, np.eye(len(J)), off)
    assert np.array_equal(Lambda, Lambda.T)

    def acceleration(forces):
        a = book.forward_dynamics(q, v, forces, {})
        return handles.acceleration(book, q, v, a, link, reference)[rows]

    rng = np.random.default_rng(3)
    commanded, any_force = rng.normal(size=len(J)), rng.normal(size=len(tau))
    F = Lambda @ commanded + mu + p
    scale = np.abs(np.linalg.inv(mobility)).max() * max(1.0, np.abs(acceleration(0 * tau)).max())
    assert_allclose(acceleration(J.T @ F), commanded, atol=off * scale)
    assert_allclose(acceleration(J.T @ F + N @ any_force), commanded, atol=off * scale)
    # of any generalized force, its task force
    assert_allclose(Lambda @ acceleration(tau) + mu + p, J_bar.T @ tau, atol=off * scale)
    # gravity and velocities, one without the other
    still = parts(book, q, 0 * v, link, reference, rows)
    inverse = np.linalg.inv(mobility)
    assert_allclose(p, inverse @ J @ np.linalg.solve(H, still[4]), atol=off * scale)
    assert_allclose(mu, inverse @ (J @ np.linalg.solve(H, Cv) - rate), atol=off * scale)


@pytest.mark.seed('FO15', 'BL14', kind='full')
@every_reference
@every_frame
def test_a_commanded_force_gives_the_frame_its_desired_acceleration(name, reference):
    """Gears, rotors, S(q), floating bases; with torques of the null space on top, too."""
    model, book, link, states = named_task(name)
    for q, v, tau in states:
        found = run(
            operational_dynamics, model, q=q, v=v,
            frame=model.frame(link), reference=reference,
        )  # fmt: skip
        check_task(name, book, (q, v, tau), link, reference, slice(0, 6), found)


@pytest.mark.seed('FO15', kind='full')
@every_point
def test_a_commanded_force_gives_the_point_its_desired_acceleration(name):
    model, book, link, states = named_task(name)
    for q, v, tau in states:
        found = run(translational_operational_dynamics, model, q=q, v=v, frame=model.frame(link))
        check_task(name, book, (q, v, tau), link, 'aligned', slice(3, 6), found)


def test_any_components_make_a_task():
    model, book, link, states = named_task(CHAIN)
    for q, v, tau in states:
        frame = model.frame(link)
        found = task_dynamics(model, q.tolist(), v.tolist(), frame, 'body', slice(1, 4))
        found = [np.array(x) for x in found]
        check_task('rows', book, (q, v, tau), link, 'body', slice(1, 4), found)


@pytest.mark.seed('FO15', kind='full')
@every_reference
@pytest.mark.parametrize('floating', [False, True], ids=['fixed', 'floating'])
@pytest.mark.parametrize('name', ['panda', 'ur5_robot'])
def test_torques_of_a_task_move_real_robots_as_commanded_in_pinocchio(name, floating, reference):
    """Kernels; forward dynamics and kinematics are Pinocchio's."""
    outside.load('pinocchio')
    from support.pinocchio_bridge import Bridge

    xml = example_robots.dynamics_xml(example_robots.path(name).read_text())
    bridge, robot = Bridge(xml, floating), Robot.from_urdf(xml, floating_base=floating)
    q, v, a = random_state(robot, 5)
    link = deepest(robot.model)
    J = bridge.jacobian(q, link, reference)
    rate = bridge.jacobian_derivative(q, v, link, reference) @ v
    rng = np.random.default_rng(6)
    wish, any_force = rng.normal(size=6), rng.normal(size=robot.nv)
    Lambda, mu, p, J_bar, N = robot.frame(link, reference).operational_dynamics(q, v)
    for extra in (0 * any_force, N @ any_force):
        tau = J.T @ (Lambda @ wish + mu + p) + extra
        found = J @ bridge.forward_dynamics(q, v, tau) + rate
        assert_allclose(found, wish, atol=1e-6)
    if len(any_force) > 6:
        a = bridge.forward_dynamics(q, v, J.T @ (mu + p) + N @ any_force)
        assert np.abs(a - bridge.forward_dynamics(q, v, J.T @ (mu + p))).max() > 1e-3
    else:
        assert_allclose(N, 0.0, atol=1e-8)


def test_batches_and_out():
    robot = named_robot('floating base')
    q, v, _ = random_state(robot)
    frame = robot.frame(robot.link_names[-1])
    for function, m in (
        (frame.operational_dynamics, 6),
        (frame.translational_operational_dynamics, 3),
    ):
        found = function(q, v)
        many = function(np.tile(q, (3, 1)), v)
        for one, several in zip(found, many):
            assert_allclose(several[2], one, atol=1e-9 * np.abs(one).max())
        out = [np.empty_like(x) for x in found]
        assert function(q, v, out=out).J_bar is out[3]
        assert out[0].shape == (m, m)


def test_a_frame_with_too_few_dofs_is_named():
    robot = named_robot('gears')
    q, v, _ = random_state(robot)
    name = robot.link_names[1]
    with pytest.raises(ModelError, match=f'{name}.* of the 6 degrees of freedom'):
        robot.frame(name).operational_dynamics(q, v)
    with pytest.raises(ModelError, match=f'{name}.* of the 3 degrees of freedom'):
        robot.frame(name).translational_operational_dynamics(q, v)
