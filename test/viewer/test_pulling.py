# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pulling at a body: the spring's force, its limits, and requests of a page."""

import json
import math
import time

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from test_live import ask

from rbd_ros import Robot, Simulator
from rbd_ros.lookup.resources import resource_path
from rbd_ros.viewer import LiveSession, make_scene, session as session_module
from rbd_ros.viewer.pull import LinkPull, ObjectPull, STRETCH, STRONGEST

START = np.array([0.5, -1.0, 1.5, 0.3, 0.8, 0.2])


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))


@pytest.fixture
def simulator(robot):
    made = Simulator(robot)
    made.reset(START)
    return made


def test_a_point_is_pulled_by_a_force_along_the_spring(simulator, robot):
    pull = LinkPull(simulator, 'tool0', weight=200.0, radius=0.8)
    point = np.array([0.05, 0.02, 0.1])
    tool = robot.frame('tool0').pose(START)
    at = tool[:3, :3] @ point + tool[:3, 3]
    stretch = np.array([0.02, -0.01, 0.015])
    pull.aim(point, at + stretch)
    assert np.allclose(pull.position(), at)
    assert 0.0 < pull.stiffness <= 200.0 / (STRETCH * 0.8)
    pull.apply()
    tau = robot.gravity_torque(START)
    simulator.step(tau)
    # What the step does is what that force does at that point.
    other = Simulator(robot)
    other.reset(START)
    other.apply_wrench('tool0', [0, 0, 0, *(pull.stiffness * stretch)], 1e-3, point)
    other.step(tau)
    assert np.allclose(simulator.q, other.q, rtol=0.0, atol=1e-12)
    # Once only: the force ends with the step.
    simulator.step(tau, n=3)
    other.step(tau, n=3)
    assert np.allclose(simulator.q, other.q, rtol=0.0, atol=1e-12)


def test_the_stiffness_of_a_link_pull_suits_the_mass_at_its_point(simulator, robot):
    pull = LinkPull(simulator, 'tool0', weight=1e9, radius=0.8)
    point = np.array([0.0, 0.3, 0.1])
    pull.aim(point, (0, 0, 0))
    tool = robot.frame('tool0').pose(START)
    arm = tool[:3, :3] @ point
    moving = robot.jacobian(START, 'tool0')
    twist = robot.frame('tool0', 'aligned').jacobian(START)
    assert moving.shape == twist.shape == (6, 6)
    jacobian = twist[3:] + np.cross(twist[:3].T, arm).T
    inverse = jacobian @ np.linalg.inv(robot.mass_matrix(START)) @ jacobian.T
    lightest = 1.0 / np.linalg.eigvalsh(inverse).max()
    assert np.isclose(pull.stiffness, lightest * (0.2 / 1e-3) ** 2, rtol=1e-6)
    assert np.isclose(pull.damping, 0.3 * lightest / 1e-3, rtol=1e-6)


def test_it_is_never_stronger_than_its_limit(simulator):
    pull = LinkPull(simulator, 'tool0', weight=200.0, radius=0.8)
    applied = []
    simulator.apply_wrench = lambda link, wrench, *more: applied.append(wrench)
    pull.aim((0, 0, 0), (0, 1000.0, 0))
    pull.apply()
    assert np.isclose(np.linalg.norm(applied[0]), 200.0 * STRONGEST)
    assert np.array_equal(applied[0][:3], np.zeros(3))
    stretch = pull.target - pull.position()
    assert np.allclose(applied[0][3:] / np.linalg.norm(applied[0]), stretch / 1000.0, atol=2e-3)


@pytest.mark.parametrize('link', ['forearm_link', 'wrist_3_link', 'tool0'])
def test_an_arm_follows_and_comes_to_rest(simulator, robot, link):
    pull = LinkPull(simulator, link, weight=200.0, radius=0.8)
    pull.aim((0.0, 0.0, 0.05), (0, 0, 0))
    target = pull.position() + (-0.05, -0.1, 0.1)
    pull.aim((0.0, 0.0, 0.05), target)
    before = np.linalg.norm(pull.position() - target)
    for _ in range(3000):
        pull.apply()
        simulator.step(robot.gravity_torque(simulator.q))
    assert np.linalg.norm(pull.position() - target) < 0.7 * before
    assert np.abs(simulator.v).max() < 0.05


@pytest.mark.parametrize('link', ['forearm_link', 'tool0'])
def test_a_link_is_rotated_by_a_torque(simulator, robot, link):
    pull = LinkPull(simulator, link, weight=200.0, radius=0.8)
    axis = np.array([0.4, -0.2, 0.9])
    pull.aim((0, 0, 0.05), (0, 0, 0), np.zeros(3))
    twist = robot.frame(link, 'aligned').jacobian(START)[:3]
    inertia = 1.0 / np.linalg.eigvalsh(twist @ np.linalg.solve(robot.mass_matrix(START), twist.T))
    assert np.isclose(pull.stiffness, min(160.0, inertia[-1] * 200.0**2), rtol=1e-6)
    pull.aim((0, 0, 0.05), (0, 0, 0), 0.5 * axis)
    start = pull.pose()[:3, :3]
    goal = Rotation.from_rotvec(0.5 * axis).as_matrix() @ start
    assert np.allclose(pull.orientation, goal)
    pull.apply()
    tau = robot.gravity_torque(START)
    simulator.step(tau)
    other = Simulator(robot)
    other.reset(START)
    other.apply_wrench(link, [*(0.5 * pull.stiffness * axis), 0, 0, 0], 1e-3, (0, 0, 0))
    other.step(tau)
    assert np.allclose(simulator.q, other.q, rtol=0.0, atol=1e-12)
    for _ in range(2000):
        pull.apply()
        simulator.step(robot.gravity_torque(simulator.q))
    # Friction of the joints keeps the rest.
    rest = Rotation.from_matrix(goal @ pull.pose()[:3, :3].T).magnitude()
    assert rest < 0.3 * np.linalg.norm(0.5 * axis)
    assert np.abs(simulator.v).max() < 0.05


def test_a_tumbling_body_is_caught(robot):
    free = Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'), floating_base=True)
    simulator = Simulator(free)
    scene = make_scene(free.model)
    pull = LinkPull(simulator, 'tool0', scene.weight, 0.6)
    pull.aim((0, 0, 0), (0, 0, 1.0))
    highest = 0.0
    for _ in range(3000):
        pull.apply()
        simulator.step()
        highest = max(highest, np.abs(simulator.v).max())
    # It hangs below its weight's stretch, and nothing has exploded.
    assert highest < 60.0
    assert -0.2 < pull.position()[2] < 1.1


def test_a_fixed_or_unknown_link_is_not_pulled(simulator):
    with pytest.raises(ValueError, match='base_link_inertia is fixed: no joint moves it'):
        LinkPull(simulator, 'base_link_inertia', 200.0, 0.8).aim((0, 0, 0), (1, 0, 0))
    with pytest.raises(ValueError, match="unknown link 'tool1'"):
        LinkPull(simulator, 'tool1', 200.0, 0.8)
    pull = LinkPull(simulator, 'tool0', 200.0, 0.8)
    for point in ((0, 0), (0, 0, np.nan), ('a', 0, 0)):
        with pytest.raises(ValueError):
            pull.aim(point, (1, 0, 0))
        with pytest.raises(ValueError):
            pull.aim((0, 0, 0), point)


@pytest.fixture
def session(simulator, robot):
    started = LiveSession(
        simulator, make_scene(robot.model), lambda now: robot.gravity_torque(now.q), port=0
    )
    yield started
    started.close()


def order(session, name, value=None):
    assert ask(session._page, 'POST', f'/{name}', json.dumps(value))[0] == 204
    session.run(frames=1)


def asked(session, link, point, target):
    return {'frame': session.scene.links.index(link), 'point': point, 'target': target}


def test_a_page_pulls_and_releases(session, simulator):
    link = session.scene.links[-1]
    order(session, 'pull', asked(session, link, [0, 0, 0.05], [0.3, 0.3, 0.6]))
    assert session._pull is not None
    before = session._pull.position()
    session.run(frames=10)
    after = session._pull.position()
    assert np.linalg.norm(after - [0.3, 0.3, 0.6]) < np.linalg.norm(before - [0.3, 0.3, 0.6])
    # The pointer moves: it is the same spring with another target.
    held = session._pull
    order(session, 'pull', asked(session, link, [0, 0, 0.05], [0.4, 0.3, 0.6]))
    assert session._pull is held and held.target[0] == 0.4
    order(session, 'release')
    assert session._pull is None
    order(session, 'pull', asked(session, link, [0, 0, 0.05], [0.4, 0.3, 0.6]))
    order(session, 'reset')
    assert session._pull is None


def test_a_page_rotates_a_body_and_then_pulls_it(session):
    link = session.scene.links[-1]
    order(session, 'pull', asked(session, link, [0, 0, 0.05], [0.3, 0.3, 0.6]))
    force = session._pull.limit
    for angle in (0.0, 0.4):
        request = asked(session, link, [0, 0, 0.05], [0.3, 0.3, 0.6])
        order(session, 'pull', {**request, 'rotation': [angle, 0, 0]})
    goal = Rotation.from_matrix(session._pull.orientation)
    first = (goal * Rotation.from_matrix(session._pull.pose()[:3, :3]).inv()).magnitude()
    session.run(frames=10)
    now = Rotation.from_matrix(session._pull.pose()[:3, :3])
    assert (goal * now.inv()).magnitude() < 0.9 * first
    assert session._pull.limit != force
    order(session, 'pull', asked(session, link, [0, 0, 0.05], [0.3, 0.3, 0.6]))
    assert session._pull.orientation is None and session._pull.limit == force


def test_a_closed_page_releases_its_pull(session, monkeypatch):
    link = session.scene.links[-1]
    monkeypatch.setattr(session_module, '_HOLD', 0.05)
    order(session, 'pull', asked(session, link, [0, 0, 0.05], [0.3, 0.3, 0.6]))
    time.sleep(0.06)
    session.run(frames=1)
    assert session._pull is None


@pytest.mark.parametrize(
    ('value', 'message'),
    [
        ({'frame': 99, 'point': [0, 0, 0], 'target': [0, 0, 0]}, 'no simulation to pull'),
        ({'frame': 0, 'point': [0, 0, 0], 'target': [0, 0, 0]}, 'is fixed'),
        ({'frame': 3, 'point': [0, 0], 'target': [0, 0, 0]}, 'three finite coordinates'),
        (
            {'frame': 3, 'point': [0, 0, 0], 'target': [0, 0, 0], 'rotation': [0.5]},
            'three finite coordinates',
        ),
        ({'frame': 'x', 'point': [0, 0, 0], 'target': [0, 0, 0]}, ''),
        ({'frame': 1.5, 'point': [0, 0, 0], 'target': [0, 0, 0]}, ''),
        ({'frame': 3}, ''),
        ('nonsense', ''),
        (None, ''),
    ],
)
def test_an_impossible_pull_is_reported_and_changes_nothing(session, value, message):
    order(session, 'pull', value)
    assert session._pull is None
    assert session._message and message in session._message
    order(session, 'release')
    assert session._message == ''


# -- objects

FREE = {'type': 'box', 'size': [0.1, 0.2, 0.3], 'static': False, 'mass': 2.0}
OFF = {**FREE, 'center_of_mass': [0.02, 0.01, -0.03]}
OFF['inertia'] = {'ixx': 0.02, 'iyy': 0.025, 'izz': 0.03, 'ixy': 0.002, 'ixz': 0.001, 'iyz': 0.0}


def test_an_object_is_pulled_at_its_point():
    simulator = Simulator(None, world={'gravity': [0, 0, 0], 'objects': {'box': OFF}})
    turned = np.eye(4)
    turned[:3, :3], turned[:3, 3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]], [1, 2, 3]
    simulator.place_object('box', turned)
    pull = ObjectPull(simulator, 'box', radius=0.5)
    point, stretch = np.array([0.05, 0.1, 0.15]), np.array([0.01, 0.02, -0.01])
    at = turned[:3, :3] @ point + turned[:3, 3]
    pull.aim(point, at + stretch)
    assert np.allclose(pull.position(), at)
    pull.apply()
    simulator.step()
    # Momentum and angular momentum, about the origin, are what the force gave.
    force = pull.stiffness * stretch
    R, center = turned[:3, :3], turned[:3, 3] + turned[:3, :3] @ [0.02, 0.01, -0.03]
    velocity = simulator.object_velocity('box')
    x, y, z = (OFF['inertia'][k] for k in ('ixy', 'ixz', 'iyz'))
    a, b, c = (OFF['inertia'][k] for k in ('ixx', 'iyy', 'izz'))
    inertia = R @ np.array([[a, x, y], [x, b, z], [y, z, c]]) @ R.T
    v = velocity[3:] + np.cross(velocity[:3], center - turned[:3, 3])
    assert np.allclose(2.0 * v, 1e-3 * force, rtol=1e-4)
    moment = np.cross(at - center, 1e-3 * force)
    assert np.allclose(inertia @ velocity[:3], moment, rtol=1e-3, atol=1e-9)
    # Without another call, it flies on.
    before = (
        simulator.physics.objects.angular_momentum.copy(),
        simulator.physics.objects.velocity.copy(),
    )
    simulator.step(n=10)
    assert np.array_equal(before[0], simulator.physics.objects.angular_momentum)
    assert np.array_equal(before[1], simulator.physics.objects.velocity)


def test_an_object_is_rotated_about_its_center_of_mass():
    simulator = Simulator(None, world={'gravity': [0, 0, 0], 'objects': {'box': OFF}})
    pull = ObjectPull(simulator, 'box', radius=0.5)
    assert pull.pose().tolist() == np.eye(4).tolist()
    goal = Rotation.from_rotvec([0.3, 1.2, -0.8])
    pull.aim((0.05, 0.1, 0.15), (0, 0, 0), goal.as_rotvec())
    # Never more than three times the weight times the radius.
    assert np.isclose(pull.limit, 3.0 * 2.0 * 9.81 * 0.5)
    center = np.array([0.02, 0.01, -0.03])
    pull.apply()
    simulator.step()
    velocity = simulator.object_velocity('box')
    x, y, z = (OFF['inertia'][k] for k in ('ixy', 'ixz', 'iyz'))
    a, b, c = (OFF['inertia'][k] for k in ('ixx', 'iyy', 'izz'))
    momentum = np.array([[a, x, y], [x, b, z], [y, z, c]]) @ velocity[:3]
    assert np.allclose(momentum, 1e-3 * pull.stiffness * goal.as_rotvec(), rtol=2e-3, atol=1e-6)
    assert np.isclose(pull.stiffness, 2.0 * 9.81 * 0.5)
    for _ in range(2000):
        pull.apply()
        simulator.step()
    pose = simulator.object_pose('box')
    assert np.allclose(pose[:3, :3], goal.as_matrix(), atol=1e-3)
    # Its center of mass does not move.
    assert np.allclose(pose[:3, :3] @ center + pose[:3, 3], center, atol=1e-6)


def test_the_stiffness_of_an_object_pull_suits_the_mass_at_its_corner():
    simulator = Simulator(None, world={'objects': {'box': OFF}}, timestep=0.05)
    pull = ObjectPull(simulator, 'box', radius=1e-4)
    point = np.array([0.05, 0.1, 0.15])
    pull.aim(point, (0, 0, 0))
    # Of impulses at that point, the response is largest for one of the directions of space.
    x, y, z = (OFF['inertia'][k] for k in ('ixy', 'ixz', 'iyz'))
    a, b, c = (OFF['inertia'][k] for k in ('ixx', 'iyy', 'izz'))
    inverse = np.linalg.inv([[a, x, y], [x, b, z], [y, z, c]])
    r = point - [0.02, 0.01, -0.03]
    rng, most = np.random.default_rng(1), 0.0
    for direction in rng.normal(size=(4000, 3)):
        direction /= np.linalg.norm(direction)
        turning = inverse @ np.cross(r, direction)
        most = max(most, direction @ (direction / 2.0 + np.cross(turning, r)))
    assert np.isclose(pull.stiffness, (0.2 / 0.05) ** 2 / most, rtol=1e-2)


def advance(session, duration):
    """Advance by a duration, in as many parts as the time of a picture allows."""
    end = session.simulator.time + duration
    while session.simulator.time < end - 1e-9:
        session._advance(end)


def test_an_object_is_lifted_dragged_and_dropped(robot, monkeypatch):
    monkeypatch.setattr('rbd_ros.viewer.session._HOLD', math.inf)  # however busy the machine is
    simulator = Simulator(robot, world='config/push_world.yaml')
    simulator.reset([0, 0.3, 1.6, -0.33, -1.57, 0])
    scene = make_scene(robot.model, world=simulator.world)
    session = LiveSession(simulator, scene, lambda now: robot.gravity_torque(now.q), port=0)
    try:
        number = scene.frames.index('box')
        held = {'frame': number, 'point': [0, 0, 0.05], 'target': [0.6, -0.2, 0.3]}
        order(session, 'pull', held)
        assert isinstance(session._pull, ObjectPull)
        for _ in range(40):
            advance(session, 0.05)
        # It hangs there, as far below as its weight stretches the spring.
        pull = session._pull
        expected = pull.target - (0, 0, 0.5 * 9.81 / pull.stiffness)
        assert np.allclose(pull.position(), expected, atol=5e-3)
        # A link is another body.
        order(session, 'pull', asked(session, scene.links[-1], [0, 0, 0], [0.4, 0.1, 0.5]))
        assert isinstance(session._pull, LinkPull)
        order(session, 'pull', held)
        order(session, 'release')
        assert session._pull is None
        advance(session, 1.0)
        assert np.isclose(simulator.object_pose('box')[2, 3], 0.05, atol=1e-3)
        state = session._state()
        assert len(state['contacts']) > 0
        order(session, 'reset')
        assert np.allclose(simulator.object_pose('box')[:3, 3], [0.53, 0.13, 0.05])
    finally:
        session.close()


def test_an_unknown_object_is_not_pulled():
    simulator = Simulator(None, world={'objects': {'box': FREE}})
    with pytest.raises(ValueError, match="unknown movable object 'bax'"):
        ObjectPull(simulator, 'bax', 1.0)
