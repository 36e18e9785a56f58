# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Configurations against matrix exponentials, and against each other.

`integrate` and `difference` are inverses, follow constant velocities, and keep unit quaternions.
"""

import itertools

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation
from support import example_robots, layout, random_trees
from support.dense import skew
from support.random_trees import chain
from support.textbook_trees import check, every_tree, named_tree, run

from rbd_ros import Robot
from rbd_ros.algorithms.kinematics.configurations import (
    difference,
    integrate,
    random_configuration,
)
from rbd_ros.model import load_urdf

TEXT = random_trees.mixed_tree(0, plain_planar=False)
PLACES = layout.read(TEXT, floating_base=True)
FREE = random_trees.tree(1, 1, ('floating',))


@pytest.fixture(scope='module')
def robot():
    """Return the floating base, planar, floating and simple joints."""
    return Robot.from_urdf(TEXT, floating_base=True)


def pose(joint, q):
    """Return the homogeneous matrix of a planar or floating joint's position."""
    T = np.eye(4)
    if joint.type == 'planar':
        T[:3, :3], T[:2, 3] = Rotation.from_euler('z', q[0]).as_matrix(), q[1:]
    else:
        T[:3, :3], T[:3, 3] = Rotation.from_quat(np.roll(q[:4], -1)).as_matrix(), q[4:]
    return T


def turned(joint, q, step):
    """Return the pose after a step of constant body velocity: T exp([w x, v; 0, 0])."""
    if joint.type == 'planar':
        step = np.array([0.0, 0.0, step[0], step[1], step[2], 0.0])
    twist = np.zeros((4, 4))
    twist[:3, :3], twist[:3, 3] = skew(step[:3]), step[3:]
    return pose(joint, q) @ expm(twist)


@pytest.mark.seed('JM05', 'JM08')
@every_tree
def test_integrate_is_the_exponential_of_the_velocity(name):
    """Of independent joints alone: those that mimic have no place in q."""
    tree = named_tree(name)
    for q, v, _ in tree.states:
        for dt in (0.4, -1.3):
            found = run(integrate, tree.model, q=q, v=v, dt=np.array([dt]))
            for joint in tree.book.layout.joints:
                q0, q1, step = q[joint.q], found[joint.q], dt * v[joint.v]
                if joint.type in ('planar', 'floating'):
                    check('integrate', name, pose(joint, q1), turned(joint, q0, step))
                else:
                    check('integrate', name, q1, q0 + step)
                if joint.type == 'floating':
                    assert abs(np.linalg.norm(q1[:4]) - 1.0) < 1e-15


@pytest.mark.seed('JM05', 'JM08')
@every_tree
def test_difference_is_the_logarithm_of_the_way(name):
    """Its exponential leads there, and turns by no more than half a revolution."""
    tree = named_tree(name)
    (q0, *_), (q1, *_) = tree.states
    found = run(difference, tree.model, q0=q0, q1=q1)
    for joint in tree.book.layout.joints:
        step = found[joint.v]
        if joint.type in ('planar', 'floating'):
            reached = turned(joint, q0[joint.q], step)
            check('difference', name, reached, pose(joint, q1[joint.q]))
        else:
            check('difference', name, step, q1[joint.q] - q0[joint.q])
        if joint.type == 'floating':
            assert np.linalg.norm(step[:3]) <= np.pi
        if joint.type == 'planar':  # the angle counts revolutions
            check('difference', name, step[0], q1[joint.q][0] - q0[joint.q][0])


@every_tree
def test_random_configuration_spends_its_numbers_joint_by_joint(name, rng):
    tree = named_tree(name)
    u = rng.uniform(size=sum(tree.model.body(i).joint.uniforms for i in tree.model.independent))
    q, left = run(random_configuration, tree.model, u=u), u
    for joint in tree.book.layout.joints:
        used, left = np.split(left, [len(q[joint.v])])  # as many as it has DoFs
        limits = tree.model.limits[tree.model.frame(joint.name).body]
        if joint.type == 'floating':
            assert abs(np.linalg.norm(q[joint.q][:4]) - 1.0) < 1e-14
            expected, at = 2.0 * used[3:] - 1.0, slice(joint.q.start + 4, joint.q.stop)
        elif joint.type == 'planar':
            expected, at = (2.0 * used - 1.0) * [np.pi, 1.0, 1.0], joint.q
        elif np.isfinite(limits.lower):
            # Those of random_trees, or what the gears of followers leave of them.
            expected, at = limits.lower + (limits.upper - limits.lower) * used, joint.q
        else:
            expected, at = np.pi * (2.0 * used - 1.0), joint.q
        check('random_configuration', name, q[at], expected)
    assert not len(left)


def test_random_configuration_goes_from_the_lower_to_the_upper_limit():
    text = chain([{'type': 'revolute', 'mass': 1.0, 'inertia': [1, 0, 0, 1, 0, 1]}] * 3).replace(
        'lower="-10" upper="10"', 'lower="-0.5" upper="0.25"'
    )
    q = run(random_configuration, load_urdf(text), u=np.array([0.0, 0.5, 1.0]))
    assert_allclose(q, [-0.5, -0.125, 0.25], rtol=1e-15)


@pytest.mark.parametrize(
    'lower, upper, expected',
    [
        (-1e16, 1e16, [-np.pi, 0.0, np.pi]),
        (-1e16, 0.5, [0.5 - 2.0 * np.pi, 0.5 - np.pi, 0.5]),
        (-0.5, 1.1e6, [-0.5, np.pi - 0.5, 2.0 * np.pi - 0.5]),
        (-1e6, 1e6, [-1e6, 0.0, 1e6]),
    ],
)
def test_limits_that_are_none_are_no_range_to_draw_from(lower, upper, expected):
    """By the text and by machine code."""
    link = {'type': 'revolute', 'mass': 1.0, 'inertia': [1, 0, 0, 1, 0, 1]}
    limits = f'lower="{lower!r}" upper="{upper!r}"'
    text = chain([link] * 3).replace('lower="-10" upper="10"', limits)
    u = np.array([0.0, 0.5, 1.0])
    assert_allclose(run(random_configuration, load_urdf(text), u=u), expected, atol=1e-9)
    function = Robot.from_urdf(text).kernel('random_configuration').function
    assert_allclose(function(u), expected, atol=1e-9)


def test_iris_is_drawn_like_a_robot_without_limits():
    robots = example_robots.loadable()
    if 'iris' not in robots:
        pytest.skip('no example-robot-data')
    robot = Robot.from_urdf(robots['iris'])
    assert np.any(np.abs(robot.upper_limits) > 1e15)
    assert np.abs(robot.random_configurations(50, np.random.default_rng(1))).max() <= np.pi


@pytest.mark.seed('JM06')
def test_random_orientations_are_uniform_to_the_fourth_moment():
    """On the unit sphere of four dimensions, the means of w^2, w^4, w^2 x^2: 1/4, 1/8, 1/24."""
    model, n = load_urdf(FREE), 12
    grid = itertools.product((np.arange(n) + 0.5) / n, repeat=3)
    rows = np.array([run(random_configuration, model, u=np.r_[u, 0, 0, 0])[:4] for u in grid])
    assert_allclose(rows.T @ rows / len(rows), np.eye(4) / 4, atol=1e-14)
    squares = rows**2
    expected = (np.ones((4, 4)) + 2 * np.eye(4)) / 24
    # the mean of u^2 over the midpoints of n cells is less than 1/3 by 1/12 n^2
    assert_allclose(squares.T @ squares / len(rows), expected, atol=1 / n**2)


@pytest.mark.seed('JM05', 'JM08')
def test_integrate_follows_the_rates_of_position(robot, rng):
    """Against 200 steps of a fourth-order Runge-Kutta method.

    H^4 = 1e-9, times 1/120 and powers of |v| = 3.
    """
    q0, v, _ = PLACES.random_states(rng, 20)
    q, h = q0.copy(), 1.0 / 200
    for _ in range(200):
        k1 = PLACES.position_rates(q, v)
        k2 = PLACES.position_rates(q + h / 2 * k1, v)
        k3 = PLACES.position_rates(q + h / 2 * k2, v)
        k4 = PLACES.position_rates(q + h * k3, v)
        q = q + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    assert_allclose(robot.integrate(q0, v, 1.0), q, atol=1e-7)


@pytest.mark.seed('JM06')
def test_quaternions_stay_unit_over_many_steps(robot, rng):
    q, v, _ = PLACES.random_states(rng)
    for _ in range(2000):
        q = robot.integrate(q, v, 0.01)
    for joint in PLACES.joints:
        if joint.type == 'floating':
            assert abs(np.linalg.norm(q[joint.q][:4]) - 1.0) < 1e-15


@pytest.mark.parametrize('size', [1.0, 1e-3, 1e-6, 1e-9, 1e-160, 0.0])
def test_difference_inverts_integrate(robot, rng, size):
    """Turns below half a revolution come back whole, however small."""
    q, v, _ = PLACES.random_states(rng, 50)
    v = v * size
    back = robot.difference(q, robot.integrate(q, v, 1.0))
    assert_allclose(back, v, rtol=0, atol=2e-14)  # positions of size 1 to 3 are rounded to 4e-16
    assert np.all(np.isfinite(back))


def test_integrate_inverts_difference(robot, rng):
    q0, q1 = PLACES.random_positions(rng, 50), PLACES.random_positions(rng, 50)
    again = robot.integrate(q0, robot.difference(q0, q1), 1.0)
    poses, expected = robot.forward_kinematics(again), robot.forward_kinematics(q1)
    for link in robot.link_names:  # quaternions may differ in sign: compare poses
        # a turn close to half a revolution is known to sqrt(eps) from its quaternion's small w at
        # worst
        assert_allclose(poses[link], expected[link], atol=1e-10)


def test_difference_goes_the_shorter_way_round():
    robot = Robot.from_urdf(FREE)
    q0 = robot.neutral()
    for angle in (0.1, 3.0, 3.5, 6.0):
        q1 = q0.copy()
        q1[:4] = np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0
        turn = robot.difference(q0, q1)[:3]
        expected = angle if angle < np.pi else angle - 2 * np.pi
        assert_allclose(turn, [0, expected, 0], atol=1e-14)
        q1[:4] *= -1.0  # the same rotation
        assert_allclose(robot.difference(q0, q1)[:3], [0, expected, 0], atol=1e-14)


@pytest.mark.parametrize('angle', [np.pi, np.pi - 1e-9, np.pi - 1e-7, np.pi + 1e-9])
def test_difference_of_half_a_turn_is_half_a_turn(angle):
    robot = Robot.from_urdf(FREE)
    q0, q1 = robot.neutral(), robot.neutral()
    axis = np.array([1.0, 2.0, -2.0]) / 3.0
    q1[:4] = np.cos(angle / 2), *(np.sin(angle / 2) * axis)
    q1[4:] = 1.0, 2.0, 3.0
    v = robot.difference(q0, q1)
    assert_allclose(abs(v[:3] @ axis), min(angle, 2 * np.pi - angle), atol=1e-12)
    again = robot.integrate(q0, v, 1.0)
    again[:4] *= np.sign(again[:4] @ q1[:4])  # q and -q are one rotation
    assert_allclose(again, q1, atol=1e-8)


def test_neutral_is_zero_with_unit_quaternions(robot):
    q = robot.neutral()
    for joint in PLACES.joints:
        expected = [1, 0, 0, 0, 0, 0, 0] if joint.type == 'floating' else [0] * len(q[joint.q])
        assert q[joint.q].tolist() == expected


def test_difference_of_equal_configurations_is_zero(robot, rng):
    q = PLACES.random_positions(rng, 10)
    assert_allclose(robot.difference(q, q), 0, atol=1e-15)


def test_random_configurations_respect_limits_and_seed():
    text = chain([{'type': 'revolute', 'mass': 1.0, 'inertia': [1, 0, 0, 1, 0, 1]}] * 3).replace(
        'lower="-10" upper="10"', 'lower="-0.5" upper="0.25"'
    )
    robot = Robot.from_urdf(text)
    samples = np.array([robot.random_configuration(np.random.default_rng(k)) for k in range(200)])
    assert samples.min() >= -0.5 and samples.max() <= 0.25
    assert samples.min() < -0.4 and samples.max() > 0.15  # and the range is used
    assert np.array_equal(robot.random_configuration(np.random.default_rng(3)), samples[3])


def test_random_configurations_have_unit_quaternions(robot):
    for k in range(20):
        q = robot.random_configuration(np.random.default_rng(k))
        assert q.shape == (robot.nq,) and np.all(np.isfinite(q))
        for joint in PLACES.joints:
            if joint.type == 'floating':
                assert abs(np.linalg.norm(q[joint.q][:4]) - 1.0) < 1e-14


def test_integrate_takes_one_time_for_all_or_one_each(robot, rng):
    q, v, _ = PLACES.random_states(rng, 4)
    times = np.array([0.1, 0.2, -0.3, 0.0])
    each = robot.integrate(q, v, times)
    for k in range(4):
        assert np.array_equal(each[k], robot.integrate(q[k], v[k], times[k]))
    assert np.array_equal(robot.integrate(q, v, 0.2)[1], each[1])


@pytest.mark.seed('JM06')
def test_length_of_a_quaternion_does_not_matter(robot, rng):
    """A quaternion that has drifted by rounding still stands for a rotation."""
    q, v, a = PLACES.random_states(rng)
    stretched = q.copy()
    for joint in PLACES.joints:
        if joint.type == 'floating':
            stretched[joint.q][:4] *= 1.001
    assert_allclose(
        robot.inverse_dynamics(stretched, v, a),
        robot.inverse_dynamics(q, v, a),
        rtol=1e-12,
        atol=1e-12,
    )
