# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sticking collisions: closed forms, the textbook's matrices, conserved quantities."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.impacts import body, meeting, pair
from support.simulated_robots import at, ball, joint, link, pendulum, robot
from support.textbook_trees import check, every_tree, named_tree, run

from rbd_ros import Robot
from rbd_ros.spatial import ForceVector, MotionVector
from rbd_ros.textbook.contact_dynamics.sticking_collision import (
    solve_semidefinite,
    sticking_collision,
    two_body_sticking_collision,
)


def directions(normal, point):
    """Return the forces [n_x, n_y, n_z] through a point, the last one along the normal."""
    helper = np.eye(3)[np.argmin(np.abs(normal))]
    x = np.cross(helper, normal)
    x /= np.linalg.norm(x)
    axes = (x, np.cross(normal, x), normal)
    return [ForceVector.at_point(tuple(axis), tuple(point)) for axis in axes]


@pytest.mark.seed('CN17', kind='full')
@pytest.mark.parametrize('e', [0.0, 0.5, 1.0])
def test_nothing_slides_afterwards_and_momentum_stays(rng, e):
    for _ in range(5):
        I1, I2, v1, v2, _ = meeting(rng)
        point, normal = rng.normal(size=(2, 3))
        N = directions(normal / np.linalg.norm(normal), point)
        if N[2].dot(v2 - v1) > 0:
            v1, v2 = v2, v1
        after1, after2, impulse = two_body_sticking_collision(I1, I2, v1, v2, N, e)
        zeta = [n.dot(after2 - after1) for n in N]
        assert_allclose(zeta, [0, 0, -e * N[2].dot(v2 - v1)], atol=1e-12)
        total, before = I1 * after1 + I2 * after2, I1 * v1 + I2 * v2
        assert_allclose(tuple(total), tuple(before), rtol=1e-11, atol=1e-11)
        iota = sum((n * x for n, x in zip(N, impulse)), ForceVector.zero())
        gained = I2 * after2 - I2 * v2
        assert_allclose(tuple(gained), tuple(iota), rtol=1e-10, atol=1e-11)


def test_separating_bodies_get_no_impulse(rng):
    I1, I2 = body(rng), body(rng)
    N = directions(np.array([0.0, 0.0, 1.0]), np.zeros(3))
    v1, v2 = MotionVector.zero(), MotionVector((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))
    after = two_body_sticking_collision(I1, I2, v1, v2, N, 0.5)
    assert after.v1 == v1 and after.v2 == v2 and after.impulse == [0.0, 0.0, 0.0]
    still = two_body_sticking_collision(I1, None, v2, v1, N, 0.5)
    assert still.v2 == v1 and abs(N[0].dot(still.v1)) < 1e-12


@pytest.mark.seed('CN17', kind='full')
@pytest.mark.parametrize('share', [2 / 5, 2 / 3, 1 / 2])
def test_a_spinning_ball_that_lands_rolls_on_with_its_share(share):
    """Moments about the contact point: v' = v / (1 + k) + k r w / (1 + k), k = I / (m r^2).

    For a solid ball, k = 2/5: of its spin it keeps 2/7 as rolling, of its speed 5/7.
    """
    r, m, w, speed, fall, e = 0.1, 2.0, 30.0, 1.5, 4.0, 0.5
    subject = ball(m, r, share)
    q = at((0.3, -0.2, r))
    v = np.array([0, w, 0, speed, 0, -fall])
    after, impulse = subject.impacts.between(None, 'body').sticking(
        q, v, [0.3, -0.2, 0.0], [0, 0, 1.0], e
    )
    rolling = (speed + share * r * w) / (1 + share)
    assert_allclose(after, [0, rolling / r, 0, rolling, 0, e * fall], atol=1e-12)
    assert_allclose(impulse, [m * (rolling - speed), 0, m * (1 + e) * fall], atol=1e-12)
    spun = subject.impacts.between(None, 'body').sticking(
        q, [0, w, 0, 0, 0, -fall], [0.3, -0.2, 0.0], [0, 0, 1.0], e
    )
    if share == 2 / 5:
        assert spun.v[3] == pytest.approx(2 / 7 * r * w)
        thrown = subject.impacts.between(None, 'body').sticking(
            q, [0, 0, 0, speed, 0, -fall], [0.3, -0.2, 0.0], [0, 0, 1.0], e
        )
        assert thrown.v[3] == pytest.approx(5 / 7 * speed)


def in_joint_space(book, q, v, links, point, normal, e):
    """Return the dense (11.72) with tangents, from the textbook's Jacobians."""
    N = np.array([tuple(n) for n in directions(normal, point)])
    T = N @ (book.jacobian(q, links[1], 'base') - book.jacobian(q, links[0], 'base'))
    Hinv = np.linalg.inv(book.mass_matrix(q))
    zeta = T @ v
    if zeta[2] >= 0:
        return v, np.zeros(3), zeta
    impulse = np.linalg.solve(T @ Hinv @ T.T, -np.diag([1, 1, 1 + e]) @ zeta)
    return v + Hinv @ T.T @ impulse, N[:, 3:].T @ impulse, zeta


@pytest.mark.seed('CN17', kind='full')
@every_tree
def test_in_joint_space_it_is_the_books_matrix(name, rng):
    tree = named_tree(name)
    links = pair(tree)
    frames = tuple(tree.model.frame(x) for x in links)
    collided = compared = 0
    for q, v, _ in tree.states:
        point, normal = rng.normal(size=(2, 3))
        normal /= np.linalg.norm(normal)
        for sign in (1.0, -1.0):
            J = tree.book.jacobian(q, links[1], 'base') - tree.book.jacobian(q, links[0], 'base')
            N = np.array([tuple(n) for n in directions(sign * normal, point)])
            if np.linalg.cond(N @ J) > 1e4:
                continue  # (almost) no motion along one axis: the next test
            compared += 1
            expected = in_joint_space(tree.book, q, v, links, point, sign * normal, 0.6)
            found = run(
                sticking_collision, tree.model, q=q, qd=v, v=v, point=point,
                normal=sign * normal, restitution=[0.6], frames=frames,
            )  # fmt: skip
            check('after', name, found[0], expected[0], 1e-8)
            scale = 1e-8 * (1 + np.abs(expected[1]).max())
            assert_allclose(found[1], expected[1], rtol=0, atol=scale)
            collided += expected[2][2] < 0
    assert collided or not compared


def test_a_planar_robot_collides_in_its_plane():
    """No impulse across the plane, in which nothing moves; in it, the book's."""
    slider = '<limit lower="-9" upper="9" effort="9" velocity="9"/>'
    planar = robot(
        link('base'), link('cart'), link('lift'), link('disc', 2.0, (0.01,) * 3),
        joint('x', 'base', 'cart', 'prismatic', (1, 0, 0), inside=slider),
        joint('z', 'cart', 'lift', 'prismatic', (0, 0, 1), inside=slider),
        joint('turn', 'lift', 'disc', axis=(0, 1, 0)),
    )  # fmt: skip
    free = ball(2.0, 0.1, 0.5)
    point, normal = [0.0, 0.0, -0.1], [0.0, 0.0, 1.0]
    v, w = np.array([1.0, -2.0]), 7.0
    after, impulse = planar.impacts.between('base', 'disc').sticking(
        np.zeros(3), [*v, w], point, normal, 0.5
    )
    expected, theirs = free.impacts.between(None, 'body').sticking(
        at((0, 0, 0)), [0, w, 0, v[0], 0, v[1]], point, normal, 0.5
    )
    assert_allclose(after, expected[[3, 5, 1]], atol=1e-13)
    assert_allclose(impulse, theirs, atol=1e-13)


def test_a_pendulum_hit_across_its_rod_stops():
    swinging = pendulum(2.0, 0.5)
    after, impulse = swinging.impacts.between('base', 'rod').sticking(
        [0.0], [3.0], [0.0, 0.0, -0.5], [1.0, 0.0, 0.0], 0.0
    )
    assert after == pytest.approx([0.0], abs=1e-12)
    assert impulse[0] == pytest.approx(2.0 * 1.5)


def test_semidefinite_systems_are_solved(rng):
    for rank in (1, 2, 3) * 20:
        A = np.linalg.qr(rng.normal(size=(3, 3)))[0][:, :rank]
        M, x = 3.0 * A @ A.T, rng.normal(size=3)
        found = np.array(solve_semidefinite(M.tolist(), (M @ x).tolist()))
        assert_allclose(M @ found, M @ x, atol=1e-10)
        # nothing is divided by what rounding has left of a pivot
        assert rank == 3 or np.count_nonzero(found) == rank
    M = np.diag([2.0, 0.0, 4.0])
    assert solve_semidefinite(M.tolist(), [1.0, 0.0, 1.0]) == [0.5, 0.0, 0.25]


@pytest.mark.seed('CN17')
def test_machine_code_and_batches(rng):
    tree = named_tree('floating base, gears')
    subject = Robot(tree.model)
    links = pair(tree)
    point, normal = rng.normal(size=3), np.array([0.0, 0.6, 0.8])
    Q = np.stack([state.q for state in tree.states])
    V = np.stack([state.v for state in tree.states])
    for sign in (1.0, -1.0):
        many = subject.impacts.between(*links).sticking(Q, V, point, sign * normal, 0.5)
        for k, (q, v, _) in enumerate(tree.states):
            expected = in_joint_space(tree.book, q, v, links, point, sign * normal, 0.5)
            check('after', 'kernel', many.v[k], expected[0], 1e-7)
            scale = 1e-7 * (1 + np.abs(expected[1]).max())
            assert_allclose(many.impulse[k], expected[1], rtol=0, atol=scale)
