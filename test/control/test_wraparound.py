# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Continuous joints: positions a full turn apart are equal in all comparisons."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from support.arms import load, without_limits

from rbd_ros import Robot
from rbd_ros.control import (
    DesiredMotion,
    GuidingSettings,
    HandGuiding,
    JointTrajectory,
    LawSettings,
    TorqueLaw,
    TrajectoryError,
)
from rbd_ros.control.law.task_impedance import TaskImpedance
from rbd_ros.robot.wraparound import Wraparound

TURN, SECOND = 2.0 * np.pi, 1_000_000_000
TURNS = np.array([1, -1, 2, 0, -3, 1])
FEEDBACKS = ('computed_torque', 'pd', 'task_impedance')


def wrapped(q):
    return (q + np.pi) % TURN - np.pi


@pytest.fixture(scope='module')
def arm():
    return without_limits('six_axis_arm')


# -- differences ----------------------------------------------------------------------------------


@pytest.mark.parametrize('far', [0.0, 1.0, 1e3, 1e6])
def test_differences_are_the_smallest_that_mean_the_same(rng, far):
    small = rng.uniform(-3.0, 3.0, size=(100, 2))
    turns = np.round(rng.uniform(-far, far, size=(100, 2)))
    found = Wraparound([TURN, 2.0 * TURN])(small + turns * [TURN, 2.0 * TURN])
    assert_allclose(found, small, atol=1e-15 * max(far, 1.0) * TURN * 4.0)


def test_positions_less_than_a_turn_away_keep_their_bits(rng):
    q = rng.uniform(-3.1, 3.1, size=(50, 3))
    each = Wraparound([TURN, np.inf, TURN])
    assert_array_equal(each(q), q)
    assert_array_equal(each.nearest(q, np.zeros(3)), q)
    assert_array_equal(each.unwrapped(0.9 * np.sin(q)), 0.9 * np.sin(q))


def test_joints_without_a_period_keep_any_difference():
    for each in (Wraparound([np.inf, TURN]), Wraparound([np.inf, np.inf])):
        assert each(np.array([100.0, 0.1]))[0] == 100.0
    assert not each.any


def test_unwrapped_positions_continue(rng):
    q = np.cumsum(rng.uniform(-2.9, 3.0, size=(500, 2)), axis=0)
    q[:, 1] = np.clip(q[:, 1], -9.0, 9.0)
    shown = np.stack([wrapped(q[:, 0]), q[:, 1]], axis=1)
    found = Wraparound([TURN, np.inf]).unwrapped(shown)
    start = q[0, 0] - shown[0, 0]
    assert_allclose(found, q - [start, 0.0], atol=1e-11)


# -- the torque law -------------------------------------------------------------------------------


def law_of(arm, feedback, **options):
    if feedback == 'task_impedance':
        options['task'] = TaskImpedance.of(50.0, damping_ratio=0.7)
    chosen = LawSettings.for_robot(arm, feedback=feedback, effort_limits=1e3, **options)
    return TorqueLaw(arm, chosen, None, 'tool0' if feedback == 'task_impedance' else None)


@pytest.mark.parametrize('feedforward', ['inverse_dynamics', 'gravity', 'none'])
@pytest.mark.parametrize('feedback', FEEDBACKS)
@pytest.mark.parametrize('turns', [1, 1000, 150_000])
def test_turns_change_no_torque(arm, rng, feedback, feedforward, turns):
    """A position of 1e6 rad is known to 1e-10 rad; the gains amplify that."""
    law = law_of(arm, feedback, feedforward=feedforward)
    q, v, vd, ad = rng.normal(size=(4, 6))
    qd = q + rng.uniform(-1.0, 1.0, size=6)
    expected, terms = law(q, v, qd, vd, ad), law.terms
    for measured, desired in ((q + turns * TURN * TURNS, qd), (q, qd + turns * TURN * TURNS)):
        found = law(measured, v, desired, vd, ad)
        assert_allclose(found, expected, rtol=1e-9 * turns, atol=1e-10 * turns)
        assert_allclose(law.terms['feedback'], terms['feedback'], atol=1e-10 * turns)


def test_joints_with_limits_go_all_the_way(rng):
    arm = load('six_axis_arm')
    law = law_of(arm, 'pd', feedforward='none', friction='none', kp=10.0, kd=0.0)
    q, rest = np.zeros(6), np.zeros(6)
    assert_allclose(law(q, rest, np.full(6, TURN), rest, rest), 10.0 * TURN)


@pytest.mark.parametrize('feedback', ['computed_torque', 'pd'])
def test_the_integral_continues_where_the_position_wraps(arm, feedback):
    gains = {'kp': 100.0, 'kd': 20.0, 'ki': 300.0}
    laws = [law_of(arm, feedback, **gains) for _ in range(2)]
    rest = np.zeros(6)
    for k in range(200):
        q = np.full(6, np.pi - 0.005 + 5e-5 * k)
        torques = [
            law(x, rest, q + 0.01, rest, rest, 0.005) for law, x in zip(laws, (q, wrapped(q)))
        ]
        assert_allclose(*torques, rtol=1e-9, atol=1e-9)
    assert np.abs(laws[0].integral).min() > 1e-3
    assert_allclose(laws[0].integral, laws[1].integral, rtol=1e-9)


def test_a_wrapped_joint_is_held_with_a_torque_that_does_not_leap():
    """It turns through pi at 0.5 rad/s and is to stay at 2.9 rad."""
    turner = Robot.from_urdf(
        '<robot name="turner"><link name="base"/><link name="arm"><inertial><mass value="1"/>'
        '<origin xyz="0.2 0 0"/>'
        '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="turn" type="continuous"><parent link="base"/>'
        '<child link="arm"/><axis xyz="0 0 1"/><limit effort="500" velocity="3"/></joint></robot>'
    )
    law = TorqueLaw(turner, LawSettings.for_robot(turner, kp=400.0, kd=40.0, ki=0.0))
    goal, rest, inertia = np.array([2.9]), np.zeros(1), 0.05
    for k in range(400):
        torque = law(wrapped(goal + 0.0025 * k), np.array([0.5]), goal, rest, rest, 0.005)
        assert torque == pytest.approx(-inertia * (400.0 * 0.0025 * k + 40.0 * 0.5), rel=1e-9)


# -- hand guiding ---------------------------------------------------------------------------------


def test_hand_guiding_holds_through_the_wrap(arm):
    settings = GuidingSettings.for_robot(arm)
    guides, rest = [HandGuiding(arm, settings) for _ in range(2)], np.zeros(6)
    for k in range(100):
        q = np.full(6, np.pi - 0.05 + 0.001 * k)
        torques = [guide(x, rest, 1e-3) for guide, x in zip(guides, (q, wrapped(q)))]
        assert_allclose(*torques, rtol=1e-8, atol=1e-8)
    assert np.abs(torques[0]).min() > 0.0


# -- desired motion -------------------------------------------------------------------------------


class Loop:
    """A motion with states every 10 ms, and its desired positions."""

    def __init__(self, robot, at):
        self.motion, self.names = DesiredMotion(robot), robot.joint_names
        self.time = 5 * SECOND
        assert self.motion.hold(at)
        self.q = []
        self.run(3)

    def run(self, steps):
        for _ in range(steps):
            self.time += SECOND // 100
            self.q.append(self.motion.advance(self.time, 0.01)[0].copy())
        return np.array(self.q[-steps:])

    def follow(self, times, points, **options):
        plan = self.motion.plan(self.names, times, points, now=self.time, **options)
        return self.motion.follow(plan)


def steps_of(q):
    """Return the changes of desired positions from state to state, without whole turns."""
    return np.abs(Wraparound([TURN] * q.shape[1])(np.diff(q, axis=0)))


@pytest.mark.parametrize('turns', [-100, -1, 0, 1, 100])
@pytest.mark.parametrize('first', [0.0, 1.0])
def test_a_trajectory_begins_at_the_nearest_turn(arm, turns, first):
    """It goes 0.3 rad in a second, wherever the robot has been turned to before."""
    start = np.full(6, 3.0) + turns * TURN
    loop = Loop(arm, start)
    points = [np.full(6, 3.0), np.full(6, 3.3)] if first == 0.0 else [np.full(6, 3.3)]
    loop.follow([0.0, 1.0][-len(points) :], points, start_tolerance=0.01 if not first else 0.0)
    q = np.vstack([start, loop.run(110)])
    assert steps_of(q).max() < 0.006  # 0.45 rad/s at the most, as a cubic from rest to rest
    assert steps_of(q).sum(axis=0) == pytest.approx(0.3, abs=1e-9)
    assert_allclose(q[-1], 3.3)  # the trajectory's own numbers


def test_a_trajectory_that_is_far_away_is_rejected_by_the_shorter_distance(arm):
    loop = Loop(arm, np.full(6, 3.0))
    loop.follow([0.0, 1.0], [np.full(6, -3.2), np.full(6, -3.2)], start_tolerance=0.1)
    with pytest.raises(TrajectoryError, match='begins 0.383 rad'):
        loop.follow([0.0, 1.0], [np.full(6, -2.9)] * 2, start_tolerance=0.1)


def test_joints_with_limits_do_not_begin_elsewhere():
    loop = Loop(load('six_axis_arm'), np.full(6, 2.5))
    q = np.full(6, 2.5)
    q[0] -= TURN
    with pytest.raises(TrajectoryError, match='begins 6.283'):
        loop.follow([0.0, 3.0], [q, q], start_tolerance=0.1)


def test_points_that_wrap_continue(arm):
    """As a recording of a driver that wraps is played, or a planner that keeps to +-pi."""
    times = 0.1 * np.arange(20)
    q = 2.9 + 0.04 * np.arange(20)[:, None] * np.ones(6)
    loops = [Loop(arm, np.full(6, 2.9)) for _ in range(2)]
    for loop, points in zip(loops, (q, wrapped(q))):
        loop.follow(times, points)
    given, shown = (loop.run(250) for loop in loops)
    assert_allclose(shown, given, atol=1e-12)
    # Twice round, and back.
    back = np.concatenate([q, q[::-1]])
    for loop, points in zip(loops, (back, wrapped(back))):
        loop.motion.hold(np.full(6, 2.9))
        loop.follow(0.1 * np.arange(40), points)
    assert_allclose(loops[1].run(450), loops[0].run(450), atol=1e-12)


def test_a_whole_turn_that_is_meant_is_made(arm):
    loop = Loop(arm, np.zeros(6))
    loop.follow([0.0, 10.0], [np.zeros(6), np.full(6, TURN)])
    q = np.vstack([np.zeros(6), loop.run(1050)])
    assert steps_of(q).sum(axis=0) == pytest.approx(TURN, abs=1e-9)


def test_only_leaps_that_no_velocity_explains_are_taken_back():
    line = JointTrajectory(['a', 'b'], [0.0, 1.0, 1.01], [[0.0, 0.0], [3.1, 3.1], [-3.1, -3.1]])
    fixed = line.unwrapped(Wraparound([TURN, np.inf]), np.array([9.0, 9.0]))
    assert_allclose(fixed.positions, [[0, 0], [3.1, 3.1], [TURN - 3.1, -3.1]])
    assert line.unwrapped(Wraparound([TURN, TURN]), np.array([700.0, 700.0])) is line
    # Nor is one whose shorter way is too fast as well.
    far = JointTrajectory(['a'], [0.0, 0.01], [[0.0], [-3.4]])
    assert far.unwrapped(Wraparound([TURN]), np.array([9.0])) is far


def test_long_trajectories_that_wrap_are_worked_on_in_parts():
    count = 60_000
    q = 0.002 * np.arange(count)[:, None] * np.ones(2)
    line = JointTrajectory(['a', 'b'], 0.001 * np.arange(count), wrapped(q))
    fixed = line.unwrapped(Wraparound([TURN, TURN]), np.array([3.0, 3.0]))
    assert_allclose(fixed.positions, q, atol=1e-9)


@pytest.mark.parametrize('event', ['gap', 'restart'])
def test_after_a_gap_the_turn_of_the_measured_position_does_not_matter(arm, event):
    for shift in (0.0, TURN, -3.0 * TURN):
        loop = Loop(arm, np.full(6, 3.0))
        loop.motion.options = loop.motion.options.__class__(
            state_loss_policy='resume', max_state_gap=1.0
        )
        loop.follow([1.0], [np.full(6, 3.3)])
        before = loop.run(40)[-1]
        measured = before + 0.01 + shift
        text = (
            loop.motion.resume_after_gap(measured, 0.3)
            if event == 'gap'
            else loop.motion.restart_time(measured)
        )
        assert 'resumed' in text
        q = np.vstack([measured, loop.run(200)])
        assert steps_of(q).max() < 0.01
        assert_allclose(q[-1], 3.3)


def test_a_joint_that_is_elsewhere_after_a_gap_is_reported_by_the_shorter_distance(arm):
    loop = Loop(arm, np.zeros(6))
    loop.motion.options = loop.motion.options.__class__(
        state_loss_policy='resume', max_state_gap=1.0
    )
    loop.follow([1.0], [np.full(6, 0.3)])
    loop.run(10)
    q = loop.motion.position.copy()
    q[2] += TURN - 0.7
    assert "'elbow_joint' is 0.7 rad" in loop.motion.resume_after_gap(q, 0.1)


# -- mimic joints ---------------------------------------------------------------------------------


def test_with_a_gear_of_two_to_one_only_two_turns_are_the_same_place():
    body = (
        '<link name="{}"><inertial><origin xyz="0.2 0 0"/><mass value="1"/><inertia ixx="0.01" '
        'iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )
    robot = Robot.from_urdf(
        f'<robot name="geared"><link name="base"/>{body.format("a")}{body.format("b")}'
        '<joint name="j" type="continuous"><parent link="base"/><child link="a"/>'
        '<axis xyz="0 1 0"/></joint><joint name="k" type="continuous"><parent link="a"/>'
        '<child link="b"/><origin xyz="0.3 0 0"/><axis xyz="0 1 0"/>'
        '<mimic joint="j" multiplier="0.5"/></joint></robot>'
    )
    law = TorqueLaw(robot, LawSettings.for_robot(robot, feedback='pd', kp=10.0, kd=1.0, ki=0.0))
    q, rest = np.array([0.4]), np.zeros(1)
    expected = law(q, rest, q + 0.1, rest, rest)
    assert_allclose(law(q, rest, q + 0.1 + 2.0 * TURN, rest, rest), expected, rtol=1e-9)
    law(q, rest, q + 0.9 * TURN, rest, rest)
    assert law.terms['feedback'] == pytest.approx(9.0 * TURN)
