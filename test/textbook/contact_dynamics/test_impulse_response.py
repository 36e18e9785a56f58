# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Impulses: against the textbook's H and J, forward dynamics under short forces, momentum."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.states import named_robot, random_state
from support.textbook_trees import (
    check,
    every_free_tree,
    every_tree,
    FREE,
    GEARED,
    named_tree,
    run,
)

from rbd_ros import Robot
from rbd_ros.model import ModelError
from rbd_ros.spatial import ForceVector, MotionVector, RigidBodyInertia
from rbd_ros.textbook.contact_dynamics.impulse_response import (
    impulse_response,
    impulse_response_by_articulated_bodies,
    impulse_response_by_inertia_matrix,
    rigid_body_impulse,
)

sample = pytest.mark.parametrize('name', [FREE[0], FREE[3], GEARED[1], GEARED[4]])


def tolerance(book, q):
    return max(1e-12, 40 * np.finfo(float).eps * np.linalg.cond(book.mass_matrix(q)))


def expected_change(book, q, u, impulses):
    """Return H dqd = u + sum of J^T iota (11.57 to 11.59)."""
    total = u + sum(book.jacobian(q, link, 'base').T @ iota for link, iota in impulses.items())
    return np.linalg.solve(book.mass_matrix(q), total)


def random_inertia(rng):
    A = rng.normal(size=(3, 3))
    return RigidBodyInertia.from_mass_center(
        2.5, tuple(rng.normal(size=3)), np.cov(A) + np.trace(A @ A.T) * np.eye(3)
    )


@pytest.mark.seed('CN14', kind='full')
def test_a_free_body_gets_the_momentum_of_the_impulse(rng):
    """11.53 and 11.55: iota = h(t1) - h(t0), for any initial velocity."""
    for _ in range(5):
        inertia = random_inertia(rng)
        iota, v = rng.normal(size=(2, 6))
        before = MotionVector.from_array(v)
        after = before + rigid_body_impulse(inertia, ForceVector.from_array(iota))
        gained = inertia * after - inertia * before
        assert_allclose(tuple(gained), iota, rtol=1e-12, atol=1e-12)


@pytest.mark.seed('CN14', kind='full')
def test_an_impulse_is_the_limit_of_a_short_force(rng):
    """11.54: f/dt over dt, integrated with the velocity terms, which vanish with dt."""
    from scipy.integrate import solve_ivp

    inertia = random_inertia(rng)
    matrix = inertia.matrix()
    iota, v = rng.normal(size=(2, 6))
    dv = np.array(tuple(rigid_body_impulse(inertia, ForceVector.from_array(iota))))
    errors = []
    for dt in (1e-3, 1e-4):

        def rate(t, y, dt=dt):
            moving = MotionVector.from_array(y)
            turned = np.array(tuple(moving.cross(inertia * moving)))
            return np.linalg.solve(matrix, iota / dt - turned)

        end = solve_ivp(rate, (0.0, dt), v, rtol=1e-12, atol=1e-12).y[:, -1]
        errors.append(np.abs(end - v - dv).max())
    assert errors[1] < 1e-3 * np.abs(dv).max()
    assert errors[1] == pytest.approx(0.1 * errors[0], rel=0.05)


@pytest.mark.seed('CN15', kind='full')
@every_tree
def test_velocities_change_by_the_inverse_inertia_times_the_impulse(name):
    tree = named_tree(name)
    for q, _, u in tree.states:
        expected = expected_change(tree.book, q, u, tree.forces)
        found = run(
            impulse_response, tree.model, q=q, impulse=u, external_forces=tree.forces_on_bodies
        )
        check('impulse', name, found, expected, tolerance(tree.book, q))
        alone = run(impulse_response, tree.model, q=q, impulse=u, external_forces=None)
        expected = expected_change(tree.book, q, u, {})
        check('impulse', name, alone, expected, tolerance(tree.book, q))


@pytest.mark.seed('CN15', kind='full')
@every_free_tree
def test_both_ways_agree_without_gears(name):
    tree = named_tree(name)
    for q, _, u in tree.states:
        arguments = (tree.model, q.tolist(), u.tolist(), tree.forces_on_bodies)
        first = impulse_response_by_articulated_bodies(*arguments)
        second = impulse_response_by_inertia_matrix(*arguments)
        assert_allclose(first, second, rtol=0, atol=1e-10 * np.abs(second).max())


@pytest.mark.seed('CN15', kind='full')
@sample
def test_it_is_the_limit_of_forward_dynamics_under_short_forces(name):
    """FD(u/dt, iota/dt) dt -> dqd, though the velocity before is not zero."""
    tree = named_tree(name)
    robot = Robot(tree.model)
    q, v, u = tree.states[0]
    found = robot.impacts.impulse_response(q, u, tree.forces)
    errors = []
    for dt in (1e-4, 1e-6):
        forces = {link: iota / dt for link, iota in tree.forces.items()}
        errors.append(np.abs(dt * robot.forward_dynamics(q, v, u / dt, forces) - found).max())
    size = np.abs(found).max()
    assert errors[1] < 1e-3 * size
    assert errors[1] == pytest.approx(1e-2 * errors[0], rel=0.02, abs=1e-9 * size)


@pytest.mark.seed('CN15', kind='full')
@sample
def test_the_articulated_inertia_of_a_handle_determines_its_change_of_velocity(name):
    """11.56: iota = I^A dv of the body hit; and dv = J dqd (11.59)."""
    tree = named_tree(name)
    robot = Robot(tree.model)
    q, v, tau = tree.states[1]
    link = next(x for x in reversed(tree.book.layout.links) if x in tree.model.links)
    handle = robot.frame(link, 'base')
    iota = np.array([1.0, -2.0, 0.5, 3.0, 1.5, -0.7])
    dqd = robot.impacts.apply_impulse(q, v, link, iota) - v
    dv = tree.book.jacobian(q, link, 'base') @ dqd
    response = handle.response(q, v, tau)
    scale = np.abs(dv).max()
    assert_allclose(dv, response.Phi @ iota, rtol=0, atol=1e-8 * scale)
    try:
        inertia = handle.articulated_inertia(q, v, tau).I
    except ModelError:
        return  # fewer than six DoFs move it
    condition = np.linalg.cond(inertia)
    assert_allclose(inertia @ dv, iota, rtol=0, atol=1e-14 * condition * np.abs(iota).max())


@pytest.mark.seed('CN15', kind='full')
def test_a_floating_robot_gets_the_momentum_of_the_impulse():
    """This holds for any link, without rotors, which have additional momentum."""
    robot = named_robot('floating base')
    q, v, _ = random_state(robot)
    iota = np.array([1.0, -2.0, 0.5, 3.0, 1.5, -0.7])
    for link in robot.link_names:
        after = robot.impacts.apply_impulse(q, v, link, iota)
        gained = robot.momentum(q, after) - robot.momentum(q, v)
        assert_allclose(gained, iota, atol=1e-9)


def test_impulses_through_points_and_batches():
    tree = named_tree('floating base')
    robot = Robot(tree.model)
    (q, v, _), (q1, v1, _) = tree.states
    link = list(tree.forces)[-1]
    point, linear = np.array([0.3, -0.2, 0.7]), np.array([1.0, 2.0, -3.0])
    spatial = np.concatenate([np.cross(point, linear), linear])
    after = robot.impacts.apply_impulse(q, v, link, linear, point)
    assert_allclose(after, robot.impacts.apply_impulse(q, v, link, spatial), rtol=1e-12)
    Q, V = np.stack([q, q1]), np.stack([v, v1])
    both = robot.impacts.apply_impulse(Q, V, link, linear, point)
    assert_allclose(both[0], after, rtol=1e-9)
    single = robot.impacts.apply_impulse(q1, v1, link, linear, point)
    assert_allclose(both[1], single, rtol=1e-9)
    out = np.empty(robot.nv)
    assert robot.impacts.impulse_response(q, v, out=out) is out
    assert_allclose(out, expected_change(tree.book, q, v, {}), rtol=1e-7)


def test_invalid_arguments_are_rejected():
    tree = named_tree('chain')
    robot = Robot(tree.model)
    q, v, _ = tree.states[0]
    with pytest.raises(ValueError, match='nowhere'):
        robot.impacts.apply_impulse(q, v, 'nowhere', np.zeros(6))
    link = robot.link_names[-1]
    with pytest.raises(ValueError, match=r'\(3,\)'):
        robot.impacts.apply_impulse(q, v, link, np.zeros(6), point=np.zeros(3))
    with pytest.raises(ValueError, match=r'\(6,\)'):
        robot.impacts.apply_impulse(q, v, link, np.zeros(3))
