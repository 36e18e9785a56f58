# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Relocated body frames: the same robot, for any joints."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import example_robots
from support.all_joints import example_id, JOINTS, tree
from support.interpreted import interpreted
from support.states import named_robot, random_forces, random_state, ROBOTS

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.model import ModelError
from rbd_ros.spatial import PluckerTransform
from rbd_ros.textbook.models import with_frames_placed


def displacement(rng, size=1.0):
    E = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    E *= np.linalg.det(E)
    r = size * rng.normal(size=3)
    return PluckerTransform(tuple(map(tuple, E.tolist())), tuple(r.tolist()))


def placed(model, seed=5, size=1.0):
    """Return all frames anywhere."""
    rng = np.random.default_rng(seed)
    return with_frames_placed(model, {body.name: displacement(rng, size) for body in model.bodies})


def compare(robot, other, seed=0):
    q, v, a = random_state(robot, seed)
    forces = random_forces(robot, seed)
    assert other.joint_names == robot.joint_names and other.link_names == robot.link_names
    tau = robot.inverse_dynamics(q, v, a, external_forces=forces)
    assert_allclose(
        other.inverse_dynamics(q, v, a, external_forces=forces), tau, rtol=1e-9, atol=1e-9
    )
    H = robot.mass_matrix(q)
    assert_allclose(other.mass_matrix(q), H, atol=1e-11 * np.abs(H).max())
    accuracy = 1e-13 * np.linalg.cond(H) * max(1.0, np.abs(a).max())
    found = other.forward_dynamics(q, v, tau, external_forces=forces)
    assert_allclose(found, a, atol=max(1e-10, accuracy))
    link = robot.link_names[-1]
    for reference in ('body', 'base', 'aligned'):
        here, there = (x.frame(link, reference) for x in (robot, other))
        assert_allclose(there.pose(q), here.pose(q), atol=1e-11)
        assert_allclose(there.jacobian(q), here.jacobian(q), atol=1e-10)
        assert_allclose(there.acceleration(q, v, a), here.acceleration(q, v, a), atol=1e-9)
    for found, expected in zip(other.energy(q, v), robot.energy(q, v)):
        assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    assert_allclose(other.momentum(q, v), robot.momentum(q, v), atol=1e-10)
    step = 0.3 * v
    assert_allclose(other.integrate(q, step), robot.integrate(q, step), atol=1e-15)


@pytest.mark.parametrize('name', ROBOTS)
def test_robots_are_the_same(name):
    robot = named_robot(name)
    compare(robot, Robot(placed(robot.model)))


@pytest.mark.parametrize('joint', [joint for joint in JOINTS if joint.nv], ids=example_id)
def test_joints_of_every_type_are_the_same(joint):
    """On floats: frames are placed before anything is compiled."""
    robot = interpreted(tree(joint, 2))
    compare(robot, interpreted(placed(robot.model)))


def test_a_real_robot_is_the_same():
    robot = Robot.from_urdf(example_robots.path('panda'))
    compare(robot, Robot(placed(robot.model, size=0.2)))


def test_loops_stay_where_they_are():
    robot = Robot.from_urdf(
        resource_path('urdf', 'four_bar.urdf'),
        extension=resource_path('config', 'four_bar.yaml'),
    )
    other = Robot(placed(robot.model))
    q = robot.loops.project(np.array([0.7, -0.4, 0.6]))
    assert_allclose(other.loops.closure(q).residual, 0.0, atol=1e-9)
    v = np.array([1.0, 0.2, -0.3])
    for found, expected in (
        (other.loops.closure(q).K, robot.loops.closure(q).K),
        (other.mass_matrix(q), robot.mass_matrix(q)),
        (other.bias_force(q, v), robot.bias_force(q, v)),
    ):
        assert_allclose(found, expected, atol=1e-10)


def test_placing_frames_back_restores_the_model():
    model = named_robot('gears').model
    rng = np.random.default_rng(1)
    there = {body.name: displacement(rng) for body in model.bodies}
    back = {name: X.inverse() for name, X in there.items()}
    same = with_frames_placed(with_frames_placed(model, there), back)
    for one, other in zip(model.bodies, same.bodies):
        assert_allclose(one.tree_transform.matrix(), other.tree_transform.matrix(), atol=1e-12)
        assert_allclose(one.inertia.matrix(), other.inertia.matrix(), atol=1e-11)
        assert_allclose(other.joint.X.matrix(), np.eye(6), atol=1e-13)
    assert with_frames_placed(model, {}) == model


def test_far_frames_lose_digits_as_the_book_says():
    """As (distance / radius of gyration)^2 (book 10.1), by a text that takes frames as given."""
    robot = Robot.from_urdf(resource_path('urdf', 'two_link_arm.urdf'))
    q, v, a = random_state(robot)
    errors = []
    for distance in (1e2, 1e4, 1e6):
        far = PluckerTransform.translation((0.0, distance, distance))
        model = with_frames_placed(robot.model, {robot.model.bodies[1].name: far})
        found = Robot(model).kernel('rnea').function(q, v, a)
        errors.append(np.abs(found - robot.inverse_dynamics(q, v, a)).max())
    assert errors[0] < 1e-9 < 1e-6 < errors[2]
    assert errors[0] < errors[1] < errors[2]


def test_unknown_bodies_are_rejected():
    model = named_robot('gears').model
    with pytest.raises(ModelError, match="unknown body 'nothing'|no body 'nothing'"):
        with_frames_placed(model, {'nothing': PluckerTransform.identity()})
