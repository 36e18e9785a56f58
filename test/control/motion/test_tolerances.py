# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tolerances of motions: precedence, violations, and the reaction of the motion."""

import math

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest

from rbd_ros import Robot
from rbd_ros.control import DesiredMotion
from rbd_ros.control.motion.blending import Bounds, Coasting
from rbd_ros.control.motion.tolerances import ToleranceError, Tolerances
from rbd_ros.lookup.resources import resource_path

INF = math.inf
NAMES = ('a', 'b')
SECOND, STEP = 1_000_000_000, 0.01


# -- tolerances -----------------------------------------------------------------------------------


def test_zero_is_not_a_tolerance_and_one_number_is_for_all():
    t = Tolerances.of(NAMES, path=[0.1, 0.0], goal=0.2, stopped_velocity=0.3)
    assert_array_equal(t.path, [0.1, INF])
    assert_array_equal(t.goal, [0.2, 0.2])
    assert_array_equal(t.goal_velocity, [0.3, 0.3])
    assert_array_equal(t.path_velocity, [INF, INF])
    assert t.goal_time == INF and Tolerances.of(NAMES, goal_time=2.0).goal_time == 2.0


def test_bounded_are_those_with_a_position_or_a_velocity_on_the_way():
    assert not Tolerances.of(NAMES, stopped_velocity=0.1, goal_time=1.0).bounded
    assert Tolerances.of(NAMES, path=[0.0, 0.1]).bounded
    assert Tolerances.of(NAMES, goal=[0.1, 0.0]).bounded
    assert Tolerances.of(NAMES).overridden([('a', 0.0, 0.5)]).bounded


def test_a_goal_overrides_the_tolerances_that_it_names():
    t = Tolerances.of(NAMES, path=0.1, goal=0.2, stopped_velocity=0.3, goal_time=1.0)
    own = t.overridden([('b', 0.5, 0.6)], [('a', -1.0, -1.0), ('b', 0.0, 0.7)], 3.0)
    assert_array_equal(own.path, [0.1, 0.5])
    assert_array_equal(own.path_velocity, [INF, 0.6])
    assert_array_equal(own.goal, [INF, 0.2])
    assert_array_equal(own.goal_velocity, [INF, 0.7])
    assert own.goal_time == 3.0
    assert t.overridden(goal_time=-1.0).goal_time == INF
    assert t.overridden().goal_time == 1.0
    assert_array_equal(t.path, [0.1, 0.1])  # the defaults stay


@pytest.mark.parametrize('number', [-0.5, -2.0, math.nan, INF, -INF])
def test_a_number_that_is_not_a_tolerance_is_rejected(number):
    for change in (
        {'path': [('a', number, 0.0)]},
        {'path': [('a', 0.0, number)]},
        {'goal': [('a', number, 0.0)]},
        {'goal_time': number},
    ):
        with pytest.raises(ToleranceError, match='tolerance') as caught:
            Tolerances.of(NAMES).overridden(**change)
        assert not caught.value.unknown_joint


def test_an_unknown_joint_is_named():
    with pytest.raises(ToleranceError, match="goal_tolerance.*'c'.*'a', 'b'") as caught:
        Tolerances.of(NAMES).overridden(goal=[('c', 1.0, 0.0)])
    assert caught.value.unknown_joint


def test_the_joint_that_is_furthest_beyond_is_named():
    t = Tolerances.of(NAMES, path=[0.1, 0.2]).overridden([('a', 0.0, 1.0)])
    none = np.zeros(2)
    assert t.off_path(np.array([0.1, -0.2]), none) == ''
    assert "'b' is 0.9" in t.off_path(np.array([-0.2, -0.9]), none)
    assert "'a' is 0.2" in t.off_path(np.array([-0.2, 0.3]), none)
    assert '/s from its velocity' in t.off_path(none, np.array([-1.5, 9.0]))
    g = Tolerances.of(NAMES, goal=[0.0, 0.1], stopped_velocity=0.05)
    assert g.off_goal(np.array([5.0, 0.1]), np.array([0.05, -0.05])) == ''
    assert 'constraints.goal' in g.off_goal(np.array([0.0, -0.2]), none)
    assert 'stopped_velocity' in g.off_goal(none, np.array([-0.06, 0.0]))


# -- the motion -----------------------------------------------------------------------------------


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(resource_path('urdf', 'two_link_arm.urdf'))


class Driven:
    """A motion with its time."""

    def __init__(self, robot):
        self.motion, self.names = DesiredMotion(robot), robot.joint_names
        self.time = SECOND
        self.motion.hold([0.0, 0.0])
        self.sample = None
        self.run(5)

    def plan(self, goal, duration=1.0, delay=0.0):
        begin = self.time + round(delay * SECOND) if delay else 0
        plan = self.motion.plan(self.names, [duration], [goal], now=self.time, begin=begin)
        self.motion.follow(plan)
        return plan

    def run(self, steps):
        samples = []
        for _ in range(steps):
            self.time += round(STEP * SECOND)
            self.sample = self.motion.advance(self.time, STEP)
            samples.append([np.array(x) for x in self.sample])
        return np.array(samples)


@pytest.fixture
def driven(robot):
    return Driven(robot)


def test_the_stages_of_a_plan_follow_each_other(driven):
    motion = driven.motion
    plan = driven.plan([0.5, 0.2])
    assert motion.stage(plan) == 'scheduled'
    driven.run(1)
    assert motion.stage(plan) == 'followed' and 0.0 < motion.path_time(plan) < 0.1
    driven.run(120)
    assert motion.stage(plan) == 'arrived'
    assert_allclose(driven.sample[0], [0.5, 0.2], atol=1e-12)
    motion.resume_after_gap([0.5, 0.2], 0.1)  # states that pause there change nothing
    driven.run(100)
    assert motion.stage(plan) == 'arrived'
    other = driven.plan([0.0, 0.0])
    driven.run(1)
    assert motion.stage(plan) == 'over' and motion.stage(other) == 'followed'
    motion.hold([0.1, 0.1])
    assert motion.stage(other) == 'over'


def test_a_plan_of_the_future_replaces_only_when_it_begins(driven):
    first = driven.plan([0.5, 0.2], duration=2.0)
    driven.run(1)
    second = driven.plan([0.1, 0.0], delay=0.5)
    driven.run(20)
    assert [driven.motion.stage(p) for p in (first, second)] == ['followed', 'scheduled']
    driven.run(40)
    assert [driven.motion.stage(p) for p in (first, second)] == ['over', 'followed']


def test_a_further_plan_of_the_future_takes_the_place_of_the_one_that_waits(driven):
    first, second = driven.plan([0.5, 0.2], delay=0.5), driven.plan([0.1, 0.0], delay=0.8)
    driven.run(1)
    assert [driven.motion.stage(p) for p in (first, second)] == ['over', 'scheduled']


def test_a_canceled_plan_comes_to_rest_on_its_path(driven):
    plan = driven.plan([0.5, 0.2], duration=2.0)
    driven.run(80)
    driven.motion.cancel(plan)
    way = driven.run(40)
    assert driven.motion.stage(plan) == 'over'
    q, v = way[:, 0], way[:, 1]
    assert (np.diff(q[:, 0]) >= -1e-12).all() and q[-1, 0] < 0.4
    assert_allclose(q[:, 1], 0.4 * q[:, 0], atol=1e-9)
    assert_array_equal(v[-1], [0.0, 0.0])
    assert np.abs(np.diff(v[:, 0])).max() < 0.1 * v[0, 0]


def test_a_plan_that_waits_is_canceled_without_the_others(driven):
    first, second = driven.plan([0.5, 0.2]), None
    driven.run(1)
    second = driven.plan([0.1, 0.0], delay=5.0)
    driven.run(1)
    driven.motion.cancel(second)
    driven.run(1)
    assert [driven.motion.stage(p) for p in (first, second)] == ['followed', 'over']
    driven.run(120)
    assert driven.motion.stage(first) == 'arrived'


def test_plans_that_are_canceled_together_all_end(driven):
    first = driven.plan([0.5, 0.2], duration=5.0)
    driven.run(1)
    second = driven.plan([0.1, 0.0], delay=5.0)
    driven.run(1)
    driven.motion.cancel(first)
    driven.motion.cancel(second)
    driven.run(50)
    assert [driven.motion.stage(p) for p in (first, second)] == ['over', 'over']


def test_a_plan_that_is_canceled_before_it_is_taken_up_does_not_run(driven):
    plan = driven.plan([0.5, 0.2])
    driven.motion.cancel(plan)
    driven.run(100)
    assert driven.motion.stage(plan) == 'over' and driven.sample[0][0] < 0.1


def test_a_plan_that_is_over_is_not_canceled_again(driven):
    first = driven.plan([0.5, 0.2])
    driven.run(10)
    second = driven.plan([0.3, 0.1])
    driven.run(1)
    driven.motion.cancel(first)
    driven.run(150)
    assert driven.motion.stage(second) == 'arrived'


def test_a_stop_begins_at_the_measured_state_and_brakes_smoothly(driven):
    plan = driven.plan([0.5, 0.2], duration=2.0)
    waiting = driven.plan([0.1, 0.0], delay=5.0)
    driven.run(50)
    driven.motion.stop_at([-0.3, 0.4], [0.6, -0.2])
    assert_array_equal(driven.motion.position, [-0.3, 0.4])
    way = driven.run(40)
    q, v = way[:, 0], way[:, 1]
    assert_allclose(v[0], [0.6, -0.2], rtol=0.02)
    assert (np.diff(q[:, 0]) >= 0.0).all() and (np.diff(q[:, 1]) <= 0.0).all()
    assert_allclose(q[-1], [-0.3 + 0.6 * 0.1, 0.4 - 0.2 * 0.1], rtol=1e-6)
    assert_array_equal(v[-1], [0.0, 0.0])
    assert_allclose(np.gradient(q[:, 0], STEP)[1:-1], v[1:-1, 0], atol=0.03)
    assert [driven.motion.stage(p) for p in (plan, waiting)] == ['over', 'over']
    assert not driven.motion.ended() and not driven.motion.is_following


def test_the_path_of_a_stop_ends_with_its_ramp(driven, robot):
    bounds = Bounds(robot.lower_limits, robot.upper_limits, robot.velocity_limits)
    path = Coasting(np.zeros(2), np.array([0.5, -0.5]), bounds, 0.2)
    assert path.end_time == 0.1
    assert_allclose(path.sample(0.05)[0], [0.025, -0.025])
    for beyond in (0.1, 5.0):
        q, v, a = path.sample(beyond)
        assert_allclose(q, [0.05, -0.05])
        assert not v.any() and not a.any()


def test_a_stop_from_an_extreme_velocity_begins_within_the_limits(driven, robot):
    driven.motion.stop_at([0.0, 0.0], [1e3, -1e3])
    first = driven.run(1)[0]
    assert (np.abs(first[1]) <= robot.velocity_limits).all()
    assert (np.abs(first[0]) <= robot.velocity_limits * STEP).all()


def test_a_stop_keeps_the_limits(driven, robot):
    upper = robot.upper_limits
    driven.motion.stop_at(upper - 0.01, [1e3, 1e3])
    way = driven.run(40)
    assert (way[:, 0] <= upper + 1e-12).all()
    assert (np.abs(way[:, 1]) <= robot.velocity_limits).all()
    assert_allclose(way[-1, 0], upper)


@pytest.mark.parametrize('q, v', [([math.nan, 0.0], [0.0, 0.0]), ([0.0, 0.0], [math.inf, 0.0])])
def test_a_stop_at_an_invalid_state_holds_the_desired_position(driven, q, v):
    driven.plan([0.5, 0.2])
    before = driven.run(50)[-1, 0]
    driven.motion.stop_at(q, v)
    way = driven.run(40)
    assert np.isfinite(way).all()
    assert_allclose(way[0, 0], before, atol=0.02)


def test_a_trajectory_may_follow_a_stop(driven):
    driven.motion.stop_at([0.1, 0.1], [0.5, 0.0])
    driven.run(5)
    plan = driven.plan([0.3, 0.1])
    driven.run(150)
    assert driven.motion.stage(plan) == 'arrived'
    assert_allclose(driven.sample[0], [0.3, 0.1], atol=1e-12)
