# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joint commands of a page: goals by a torque law or by servos, and efforts."""

import numpy as np
from numpy.testing import assert_allclose
import pytest

from rbd_ros import Robot, Simulator
from rbd_ros.cli.simulate_torque import Hold
from rbd_ros.lookup.resources import resource_path
from rbd_ros.viewer import LiveSession, make_scene
from rbd_ros.viewer.joint_commands import JointCommands

START = np.array([0.3, -1.0, 0.8, 0.0, 0.5, 0.0])


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))


@pytest.fixture
def simulator(robot):
    made = Simulator(robot)
    made.reset(START)
    return made


def simulate(simulator, commands, steps=2000):
    for _ in range(steps):
        simulator.step(commands.torque(simulator))


@pytest.mark.parametrize('law', [None, Hold])
def test_a_goal_moves_one_joint_and_the_others_stay(simulator, law):
    commands = JointCommands(simulator, None if law is None else law(simulator))
    assert commands.is_idle == (law is None)
    commands.move(position=2, goal=0.5)
    simulate(simulator, commands)
    goal = START.copy()
    goal[2] = 0.5
    assert_allclose(simulator.q, goal, atol=0.02)
    commands.move(position=0, goal=0.4)
    simulate(simulator, commands)
    goal[0] = 0.4
    assert_allclose(simulator.q, goal, atol=0.02)
    # After a reset it is held there, not driven to the last goal.
    simulator.reset(START)
    commands.clear()
    simulate(simulator, commands)
    assert_allclose(simulator.q, START, atol=0.02)


def test_the_passive_joints_of_a_linkage_follow():
    linkage = resource_path('urdf', 'four_bar.urdf')
    extension = resource_path('config', 'four_bar.yaml')
    simulator = Simulator(Robot.from_urdf(linkage, extension=extension))
    start, commands = simulator.q, JointCommands(simulator, None)
    commands.move(position=0, goal=start[0] + 0.1)
    simulate(simulator, commands)
    assert abs(simulator.q[0] - start[0] - 0.1) < 0.02
    assert np.abs(simulator.loop_errors).max() < 1e-9


def test_gains_that_are_there_stay(simulator):
    simulator.set_joint_pd(START, kp=700.0, kd=70.0)
    JointCommands(simulator, None).move(position=2, goal=0.5)
    assert_allclose(simulator.joint_pd_gains[0], 700.0)


def test_an_effort_is_added_until_it_is_cleared(simulator, robot):
    law = robot.gravity_torque
    commands = JointCommands(simulator, lambda now: law(now.q))
    assert_allclose(commands.torque(simulator), law(START))
    commands.push(velocity=5, effort=2.0)
    assert_allclose(commands.torque(simulator) - law(START), [0, 0, 0, 0, 0, 2.0])
    commands.clear()
    assert_allclose(commands.torque(simulator), law(START))
    alone = JointCommands(simulator, None)
    alone.push(velocity=1, effort=-3.0)
    assert not alone.is_idle
    assert_allclose(alone.torque(simulator), [0, -3.0, 0, 0, 0, 0])


def test_a_session_keeps_limits_and_returns_to_the_kept_state(simulator, robot):
    scene = make_scene(robot.model)
    session = LiveSession(simulator, scene, port=0)
    try:
        elbow = scene.joints[2]
        session._on_joint([2, 100.0])
        session._on_effort([5, -1e9])
        session.run(duration=0.05)
        assert simulator.q[2] > START[2] and session.commands._goal[2] == elbow.upper
        assert session.commands._efforts[5] == -robot.effort_limits[5]
        kept = simulator.q
        session._on_keep(None)
        session.run(frames=5)
        session._on_reset(None)
        assert_allclose(simulator.q, kept)
        assert not session.commands._efforts.any()
    finally:
        session.close()


@pytest.mark.parametrize(
    'name, value',
    [('joint', [99, 0.0]), ('joint', None), ('joint', [0, 'x']), ('effort', [0]), ('pull', 3)]
    + [(name, [0, bad]) for name in ('joint', 'effort') for bad in (np.nan, np.inf)]
    + [('joint', [-1, 0.0])],
)
def test_a_request_that_means_nothing_is_reported(simulator, robot, monkeypatch, name, value):
    session = LiveSession(simulator, make_scene(robot.model), port=0)
    try:
        monkeypatch.setattr(session._page, 'requests', lambda: [(name, value)])
        before = simulator.q
        session.playing = False
        session.run(frames=1)
        assert session._state()['message'].startswith(f'{name}: ')
        assert_allclose(simulator.q, before)
    finally:
        session.close()


def test_a_session_without_simulation_sets_joints(simulator, robot):
    session = LiveSession(simulator, make_scene(robot.model), port=0, static_reason='')
    try:
        session._on_joint([1, 0.25])
        assert_allclose(simulator.q, [0.3, 0.25, *START[2:]])
        assert simulator.time == 0.0
        session._on_reset(None)
        assert_allclose(simulator.q, START)
    finally:
        session.close()
