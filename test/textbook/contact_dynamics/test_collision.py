# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Collisions without friction: closed forms, the textbook's matrices, conservation laws."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import outside, random_trees
from support.impacts import free_bodies, meeting, pair
from support.simulated_robots import joint, link, robot
from support.textbook_trees import check, every_tree, named_tree, run

from rbd_ros import Robot
from rbd_ros.model import ModelError
from rbd_ros.spatial import ForceVector, MotionVector, PluckerTransform, RigidBodyInertia
from rbd_ros.textbook.contact_dynamics.collision import frictionless_collision, two_body_collision

UP = (0.0, 0.0, 1.0)


def kinetic(I, v):
    return 0.5 * (I * v).dot(v)


@pytest.mark.seed('CN16', kind='full')
def test_equal_spheres_swap_their_velocities_along_the_line_of_centers():
    sphere = RigidBodyInertia.from_mass_center(2.0, (0, 0, 0), 0.1 * np.eye(3))
    other = RigidBodyInertia.from_mass_center(2.0, (0, 0, 1.0), 0.1 * np.eye(3))
    n = ForceVector.at_point(UP, (0, 0, 0.5))
    # at the height of 1 m, the velocity of the center is v_O + w x c
    v1 = MotionVector((0, 0, 3.0), (1.0, 0, 4.0))
    v2 = MotionVector((0, 0, -1.0), (0, 2.0, -5.0))
    v1_after, v2_after, impulse = two_body_collision(sphere, other, v1, v2, n, 1.0)
    assert_allclose(v1_after.to_array(), [0, 0, 3, 1, 0, -5], atol=1e-14)
    assert_allclose(v2_after.to_array(), [0, 0, -1, 0, 2, 4], atol=1e-14)
    assert impulse == pytest.approx(2.0 * 9.0)


@pytest.mark.seed('CN16', kind='full')
@pytest.mark.parametrize('e', [0.0, 0.4, 1.0])
def test_momentum_stays_and_the_normal_velocity_is_reversed(rng, e):
    for _ in range(5):
        I1, I2, v1, v2, n = meeting(rng)
        after1, after2, impulse = two_body_collision(I1, I2, v1, v2, n, e)
        assert impulse > 0.0
        total = I1 * v1 + I2 * v2
        assert_allclose(tuple(I1 * after1 + I2 * after2), tuple(total), rtol=1e-11, atol=1e-11)
        # what the successor gains is lambda n
        gained = I2 * after2 - I2 * v2
        assert_allclose(tuple(gained), impulse * np.array(tuple(n)), rtol=1e-10, atol=1e-11)
        zeta = n.dot(v2 - v1)
        assert n.dot(after2 - after1) == pytest.approx(-e * zeta)
        # lost: (1 - e^2) of the energy of the approach, zeta^2 / (2 M)
        M = -(1 + e) * zeta / impulse
        lost = kinetic(I1, v1) + kinetic(I2, v2) - kinetic(I1, after1) - kinetic(I2, after2)
        assert lost == pytest.approx(0.5 * (1 - e**2) * zeta**2 / M, abs=1e-11)


@pytest.mark.seed('CN16', kind='full')
@pytest.mark.parametrize('e', [0.0, 0.7, 1.0])
def test_head_on_the_energy_against_the_common_center_falls_by_the_square_of_e(e):
    """In the frame of the common center of mass, all energy is normal: factor e^2."""
    I1 = RigidBodyInertia.from_mass_center(1.0, (0, 0, 0), 0.1 * np.eye(3))
    I2 = RigidBodyInertia.from_mass_center(3.0, (0, 0, 1), 0.1 * np.eye(3))
    n = ForceVector.at_point(UP, (0, 0, 0.5))
    v1, v2 = MotionVector((0, 0, 0), (0, 0, 3.0)), MotionVector((0, 0, 0), (0, 0, -1.0))
    after1, after2, _ = two_body_collision(I1, I2, v1, v2, n, e)
    before = kinetic(I1, v1) + kinetic(I2, v2)
    assert kinetic(I1, after1) + kinetic(I2, after2) == pytest.approx(e**2 * before, abs=1e-13)


def test_separating_bodies_get_no_impulse(rng):
    I1, I2, v1, v2, n = meeting(rng, approach=-1.0)
    assert two_body_collision(I1, I2, v1, v2, n, 0.5) == (v1, v2, 0.0)


def test_a_collision_with_a_fixed_body_is_the_limit_of_a_heavy_one(rng):
    """The limit of a heavy predecessor, and of a heavy successor."""
    I1, I2, v1, v2, n = meeting(rng)
    heavy = RigidBodyInertia.from_mass_center(1e12, (0, 0, 0), 1e12 * np.eye(3))
    limit = two_body_collision(heavy, I2, v1, v2, n, 0.3)
    fixed = two_body_collision(None, I2, v1, v2, n, 0.3)
    assert_allclose(fixed.v2.to_array(), limit.v2.to_array(), rtol=1e-9)
    assert fixed.v1 == v1 and fixed.impulse == pytest.approx(limit.impulse)
    limit = two_body_collision(I1, heavy, v1, v2, n, 0.3)
    fixed = two_body_collision(I1, None, v1, v2, n, 0.3)
    assert_allclose(fixed.v1.to_array(), limit.v1.to_array(), rtol=1e-9)
    assert fixed.v2 == v2


def in_joint_space(book, q, v, links, point, normal, e):
    """Return T^T H^-1 T by dense matrices, from the textbook's Jacobians (11.24 to 11.35)."""
    n = np.concatenate([np.cross(point, normal), normal])
    t = (book.jacobian(q, links[1], 'base') - book.jacobian(q, links[0], 'base')).T @ n
    Hinv = np.linalg.inv(book.mass_matrix(q))
    zeta = t @ v
    impulse = max(0.0, -(1 + e) * zeta / (t @ Hinv @ t))
    return v + Hinv @ t * impulse, impulse, zeta


@pytest.mark.seed('CN16', kind='full')
@every_tree
def test_in_joint_space_it_is_the_books_matrix(name, rng):
    tree = named_tree(name)
    links = pair(tree)
    frames = tuple(tree.model.frame(x) for x in links)
    collided = 0
    for q, v, _ in tree.states:
        for sign in (1.0, -1.0):
            point, normal = rng.normal(size=(2, 3))
            normal *= sign / np.linalg.norm(normal)
            expected = in_joint_space(tree.book, q, v, links, point, normal, 0.6)
            found = run(
                frictionless_collision, tree.model, q=q, qd=v, v=v, point=point, normal=normal,
                restitution=[0.6], frames=frames,
            )  # fmt: skip
            bound = 1e-13 * max(100, np.linalg.cond(tree.book.mass_matrix(q)))
            check('after', name, found[0], expected[0], bound)
            assert found[1] == pytest.approx(expected[1], rel=bound, abs=bound)
            collided += expected[2] < 0
    assert collided


@pytest.mark.seed('CN16', kind='full')
def test_two_free_bodies_collide_as_in_the_formula_for_two(rng):
    """Two bodies on free joints of their own: M = n . (I1^-1 + I2^-1) n."""
    model, inertias = free_bodies(rng)
    subject = Robot(model)
    q = subject.random_configuration(rng)
    v = rng.normal(size=subject.nv)
    names = subject.body_names
    poses = subject.forward_kinematics(q)
    X = [PluckerTransform.from_pose(poses[name]) for name in names]
    I1, I2 = (x.inverse_apply(i) for x, i in zip(X, inertias))
    v1, v2 = (
        MotionVector.from_array(subject.frame(name, 'base').velocity(q, v)) for name in names
    )
    point, normal = rng.normal(size=(2, 3))
    normal /= np.linalg.norm(normal)
    n = ForceVector.at_point(tuple(normal), tuple(point))
    if n.dot(v2 - v1) > 0:
        normal, n = -normal, -n
    expected = two_body_collision(I1, I2, v1, v2, n, 0.8)
    after, impulse = subject.impacts.between(*names).frictionless(q, v, point, normal, 0.8)
    assert impulse == pytest.approx(expected.impulse)
    for name, theirs in zip(names, (expected.v1, expected.v2)):
        ours = subject.frame(name, 'base').velocity(q, after)
        assert_allclose(ours, theirs.to_array(), rtol=1e-9, atol=1e-9)


@pytest.mark.seed('CN16')
@pytest.mark.parametrize('name', ['floating base', 'chain, gears'])
def test_machine_code_batches_and_the_base_as_predecessor(name, rng):
    tree = named_tree(name)
    subject = Robot(tree.model)
    links = pair(tree)
    point, normal = rng.normal(size=3), np.array([0.0, 0.6, 0.8])
    collide = subject.impacts.between(*links)
    assert subject.impacts.between(*links) is collide
    Q = np.stack([state.q for state in tree.states])
    V = np.stack([state.v for state in tree.states])
    for sign in (1.0, -1.0):
        many = collide.frictionless(Q, V, point, sign * normal, 0.5)
        for k, (q, v, _) in enumerate(tree.states):
            expected = in_joint_space(tree.book, q, v, links, point, sign * normal, 0.5)
            check('after', 'kernel', many.v[k], expected[0], 1e-8)
            one = collide.frictionless(q, v, point, sign * normal, 0.5)
            assert_allclose(one.v, many.v[k], rtol=1e-9, atol=1e-12)
            assert one.impulse == pytest.approx(expected[1], rel=1e-8)
    plastic = collide.frictionless(Q[0], V[0], point, normal)
    assert_allclose(plastic.v, collide.frictionless(Q[0], V[0], point, normal, 0.0).v)


def test_bodies_that_cannot_collide_are_rejected():
    tree = named_tree('chain')
    subject = Robot(tree.model)
    first, second = pair(tree)
    with pytest.raises(ValueError, match='one body'):
        subject.impacts.between(first, first)
    with pytest.raises(ValueError, match='nowhere'):
        subject.impacts.between(first, 'nowhere')
    with pytest.raises(ValueError, match='two links'):
        subject.kernel('frictionless_collision', frames=(first, second, first))


def test_a_normal_along_which_nothing_moves_has_no_collision():
    slider = robot(
        link('base'), link('cart', 1.0, (0.1,) * 3), joint('x', 'base', 'cart', 'prismatic',
        (1, 0, 0), inside='<limit lower="-1" upper="1" effort="1" velocity="1"/>'),
    )  # fmt: skip
    with pytest.raises((ModelError, ZeroDivisionError)):
        slider.kernel(
            'frictionless_collision', frames=('base', 'cart'), normal=(0.0, 0.0, 1.0)
        ).function([0.0], [1.0], [0.0, 0.0, 0.0], 0.0)


@pytest.mark.seed('CN16', 'CN17')
@pytest.mark.parametrize('name', ['ur5_robot', 'solo12', 'random'])
def test_pinocchios_impulse_dynamics_agrees(name, robot_paths, rng):
    """J v' = -e J v with KKT equations: one row with e, three rows that stick."""
    pin = outside.load('pinocchio')
    from support.pinocchio_bridge import Bridge

    floating = name != 'ur5_robot'
    text = (
        random_trees.tree(6, bodies=5, types=('revolute', 'prismatic', 'continuous'))
        if name == 'random'
        else robot_paths[name].read_text()
    )
    subject = Robot.from_urdf(text, floating_base=floating)
    bridge = Bridge(text, floating_base=floating)
    if bridge.has_mimic:
        pytest.skip('gears')
    link = subject.body_names[-1]
    q, v, _ = bridge.layout.random_states(rng)
    J = subject.jacobian(q, link, 'base') @ np.linalg.inv(bridge.P)
    point = subject.forward_kinematics(q)[link][:3, 3] + [0.01, 0.02, -0.03]
    normal = np.array([0.0, 0.6, 0.8])
    axes = np.eye(3)
    N = np.hstack([np.cross(point, axes), axes])  # a row for each axis of the base
    if normal @ N @ J @ bridge.P @ v > 0:
        normal = -normal
    pair = subject.impacts.between(None, link)
    for rows, e, found in (
        (normal[None] @ N, 0.7, pair.frictionless(q, v, point, normal, 0.7)),
        (N, 0.0, pair.sticking(q, v, point, normal, 0.0)),
    ):
        q_pin, v_pin = bridge.q(q), bridge.P @ v
        pin.crba(bridge.model, bridge.data, q_pin)
        after = pin.impulseDynamics(bridge.model, bridge.data, q_pin, v_pin, rows @ J, e, 0.0)
        error = np.abs(bridge.P @ found.v - after).max()
        assert error < 1e-8 * max(1.0, np.abs(after).max())
        impulse = np.atleast_1d(found.impulse)
        scale = max(1.0, np.abs(impulse).max())
        assert_allclose(np.abs(bridge.data.impulse_c), np.abs(impulse), rtol=0, atol=1e-7 * scale)
