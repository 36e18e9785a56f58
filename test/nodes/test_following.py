# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Outcome of running trajectories, state by state, with a true motion and without ROS."""

from types import SimpleNamespace

import numpy as np
import pytest
from support import outside

outside.load('rclpy')

from rbd_ros import Robot
from rbd_ros.control import DesiredMotion
from rbd_ros.control.motion.tolerances import Tolerances
from rbd_ros.lookup.resources import resource_path
from rbd_ros.nodes.torque.following import Followed, Following

SECOND, STEP = 1_000_000_000, 0.01
GOAL = (0.5, 0.2)


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(resource_path('urdf', 'two_link_arm.urdf'))


class Loop:
    """A motion, the robot that follows it, and all trajectories that are looked at."""

    def __init__(self, robot):
        self.motion, self.names = DesiredMotion(robot), robot.joint_names
        self.motion.hold([0.0, 0.0])
        self.followed, self.time = Followed(), SECOND
        self.offset, self.v = np.zeros(2), np.zeros(2)
        self.run(5)

    def follow(self, sender=None, to=GOAL, begin=0, **tolerances):
        plan = self.motion.plan(self.names, [1.0], [to], now=self.time, begin=begin)
        self.motion.follow(plan)
        following = Following(plan, Tolerances.of(self.names, **tolerances), sender)
        self.followed.add(following)
        return following

    def run(self, steps):
        outcomes = []
        for _ in range(steps):
            self.time += round(STEP * SECOND)
            desired = self.motion.advance(self.time, STEP)
            state = SimpleNamespace(q=desired[0] + self.offset, v=self.v, time=self.time)
            if self.followed.present:
                outcomes += self.followed.judge(self.motion, state, desired)
        return [outcome.kind for outcome in outcomes]


@pytest.fixture
def loop(robot):
    return Loop(robot)


def test_a_trajectory_is_reached_once_and_then_no_longer_checked(loop):
    following = loop.follow(path=0.1)
    assert loop.run(90) == [] and loop.followed.present == (following,)
    assert loop.run(30) == ['reached'] and loop.followed.present == ()


def test_a_followed_motion_with_a_client_stays_until_it_is_removed(loop):
    following = loop.follow('somebody')
    assert loop.run(120) == ['reached'] and loop.run(10) == []
    assert loop.followed.waited_for() == (following,)
    other = loop.follow()
    assert loop.followed.waited_for() == (following,) and other in loop.followed.present
    loop.followed.remove(following)
    assert loop.followed.waited_for() == ()


def test_the_moment_is_a_copy_with_the_time_of_the_trajectory(loop):
    following = loop.follow('somebody')
    assert following.moment is None
    loop.v = np.array([0.1, 0.2])
    loop.run(50)
    moment = following.moment
    assert moment.time == loop.time and moment.path_time == pytest.approx(0.5, abs=0.02)
    assert moment.actual[1].tolist() == [0.1, 0.2]
    loop.v[:] = 9.0
    assert moment.actual[1].tolist() == [0.1, 0.2]
    assert loop.follow().moment is None  # without clients, nothing is copied


def test_off_the_path_it_ends_and_the_motion_stops_there(loop):
    loop.follow(path=[0.1, 0.0])
    loop.run(50)
    loop.offset = np.array([0.05, 0.7])
    assert loop.run(10) == []
    loop.offset = np.array([-0.11, 0.0])
    before = loop.motion.position.copy()
    assert loop.run(1) == ['off path']
    assert np.abs(loop.motion.position - before - [-0.11, 0.0]).max() < 0.02
    assert not loop.motion.is_following


def test_the_path_has_no_tolerance_any_more_at_the_goal(loop):
    loop.follow('somebody', path=0.1, goal=0.3, stopped_velocity=0.01)
    loop.v = np.array([0.5, 0.0])
    loop.run(120)
    loop.offset = np.array([0.2, 0.0])
    assert loop.run(5) == []
    loop.v = np.zeros(2)
    assert loop.run(5) == ['reached']


def test_the_time_of_the_goal_counts_from_the_end_of_the_motion(loop):
    loop.follow('somebody')  # something else was reached before
    loop.run(300)
    loop.offset = np.array([0.0, 0.2])
    following = loop.follow('somebody else', to=(0.0, 0.0))
    following.tolerances = Tolerances.of(loop.names, goal=0.1, goal_time=0.5)
    assert loop.run(140) == []
    assert loop.run(30) == ['off goal']
    assert loop.motion.position == pytest.approx([0.0, 0.2])
    assert "'elbow'" in following.outcome.text or loop.names[1] in following.outcome.text


def test_a_replaced_goal_is_dropped_and_a_canceled_one_is_canceled(loop):
    first = loop.follow('somebody')
    loop.run(10)
    second = loop.follow('somebody', to=(0.1, 0.1))
    assert loop.run(1) == ['dropped'] and first.outcome.kind == 'dropped'
    second.canceled = True
    loop.motion.cancel(second.plan)
    assert loop.run(5) == []  # it still brakes
    assert loop.run(40) == ['canceled']


def test_a_waiting_goal_is_not_judged(loop):
    following = loop.follow('somebody', begin=loop.time + SECOND, path=0.01)
    loop.offset = np.array([1.0, 1.0])
    assert loop.run(50) == [] and following.moment is None
    assert loop.run(60) == ['off path']


def test_an_interruption_is_reported_to_those_that_it_ended(loop):
    following = loop.follow('somebody')
    loop.run(10)
    loop.followed.interrupted(loop.motion, 'it goes on')
    assert following.outcome is None
    loop.motion.hold([0.0, 0.0])
    loop.followed.interrupted(loop.motion, 'states were missing')
    assert following.outcome == ('dropped', 'states were missing')
    following.drop('something else')
    assert following.outcome.text == 'states were missing'  # the first counts


def test_an_interruption_of_a_canceled_goal_leaves_it_canceled(loop):
    following = loop.follow('somebody')
    loop.run(10)
    following.canceled = True
    loop.motion.hold([0.0, 0.0])
    loop.followed.interrupted(loop.motion, 'states were missing')
    assert loop.run(1) == ['canceled']
