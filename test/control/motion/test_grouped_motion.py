# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Simultaneous trajectories of different joints: no disturbance of others, no jump."""

from types import SimpleNamespace

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest

from rbd_ros.control import DesiredMotion, TrajectoryError

NAMES = ('hip', 'knee', 'finger')
ARM, GRIPPER = NAMES[:2], NAMES[2:]
VELOCITY, SECOND, STEP = 4.0, 1_000_000_000, 0.01
RAMP = 0.2


def robot():
    n = len(NAMES)
    return SimpleNamespace(
        joint_names=NAMES, nq=n, nv=n, neutral=lambda: np.zeros(n),
        lower_limits=np.full(n, -3.0), upper_limits=np.full(n, 3.0),
        velocity_limits=np.full(n, VELOCITY), position_periods=np.full(n, np.inf))  # fmt: skip


class Loop:
    """States every 10 ms, and all that was desired."""

    def __init__(self):
        self.motion, self.time, self.q = DesiredMotion(robot()), SECOND, []
        self.run(0.05)

    def run(self, duration):
        begin = len(self.q)
        for _ in range(round(duration / STEP)):
            self.time += round(STEP * SECOND)
            before, v = self.motion.position, self.motion.advance(self.time, STEP)[1]
            assert np.abs(self.motion.position - before).max() <= VELOCITY * STEP * (1 + 1e-9)
            assert np.abs(v).max() <= VELOCITY * (1 + 1e-9)
            self.q.append(self.motion.position)
        return np.array(self.q[begin:])

    def follow(self, names, goal, duration=1.0, delay=0.0, **options):
        begin = self.time + round(delay * SECOND) if delay else 0
        plan = self.motion.plan(
            names, [duration], [goal], now=self.time, begin=begin, allow_partial=True, **options
        )
        self.motion.follow(plan)
        return plan

    def stages(self, *plans):
        return [self.motion.stage(plan) for plan in plans]


@pytest.fixture
def loop():
    return Loop()


def alone(names, goal, duration, steps):
    """Return the motion of joints whose trajectory is the only one."""
    loop = Loop()
    loop.follow(names, goal, duration)
    return loop.run(steps * STEP)


def test_trajectories_of_different_joints_are_independent(loop):
    arm = loop.follow(ARM, [0.5, -0.4], 1.0)
    first = loop.run(0.3)
    gripper = loop.follow(GRIPPER, [0.7], 0.5)
    assert loop.stages(arm, gripper) == ['followed', 'scheduled']
    second = loop.run(0.4)
    assert loop.stages(arm, gripper) == ['followed'] * 2
    rest = loop.run(0.5)
    assert loop.stages(arm, gripper) == ['arrived'] * 2 and not loop.motion.is_following
    moved = np.vstack([first, second, rest])
    assert_array_equal(moved[:, :2], alone(ARM, [0.5, -0.4], 1.0, 120)[:, :2])
    assert_array_equal(moved[30:, 2], alone(GRIPPER, [0.7], 0.5, 90)[:, 2])


def test_two_that_come_between_two_states_are_both_followed(loop):
    arm, gripper = loop.follow(ARM, [0.5, -0.4]), loop.follow(GRIPPER, [0.7])
    loop.run(1.1)
    assert loop.stages(arm, gripper) == ['arrived'] * 2
    assert_allclose(loop.q[-1], [0.5, -0.4, 0.7], atol=1e-12)


def test_the_end_is_reported_when_the_last_one_has_ended(loop):
    loop.follow(ARM, [0.5, -0.4], 1.0)
    loop.follow(GRIPPER, [0.7], 0.5)
    loop.run(0.7)
    assert not loop.motion.ended() and loop.motion.time_left == pytest.approx(0.3, abs=0.02)
    loop.run(0.5)
    assert loop.motion.ended() and loop.motion.is_at_rest


def test_joints_of_a_replaced_trajectory_that_the_new_one_leaves_out_come_to_rest(loop):
    arm, gripper = loop.follow(ARM, [1.5, 1.5], 2.0), loop.follow(GRIPPER, [0.7], 2.0)
    loop.run(1.0)
    knee = loop.follow(['knee'], [0.2], 1.0)
    moved = loop.run(RAMP + 2 * STEP)
    assert loop.stages(arm, gripper, knee) == ['over', 'followed', 'followed']
    assert moved[-1, 0] == moved[-2, 0] and (np.diff(moved[:, 0]) >= 0.0).all()
    held = moved[-1, 0]
    loop.run(1.2)
    assert_allclose(loop.q[-1], [held, 0.2, 0.7], atol=1e-12)
    assert loop.stages(arm, gripper, knee) == ['over', 'arrived', 'arrived']
    whole = loop.follow(NAMES, [0.0, 0.0, 0.0])
    loop.run(1.2)
    assert loop.stages(gripper, knee, whole) == ['over', 'over', 'arrived']
    assert_allclose(loop.q[-1], np.zeros(3), atol=1e-12)


def test_one_is_canceled_alone(loop):
    arm, gripper = loop.follow(ARM, [1.0, 1.0], 2.0), loop.follow(GRIPPER, [0.7], 2.0)
    loop.run(0.5)
    assert loop.stages(arm, gripper) == ['followed'] * 2
    loop.motion.cancel(arm)
    stopped = loop.run(RAMP + 2 * STEP)[-1]
    assert loop.stages(arm, gripper) == ['over', 'followed']
    loop.run(1.5)
    assert_allclose(loop.q[-1], [*stopped[:2], 0.7], atol=1e-12)


def test_one_is_stopped_where_the_robot_is_alone(loop):
    arm, gripper = loop.follow(ARM, [1.0, 1.0], 2.0), loop.follow(GRIPPER, [0.7], 2.0)
    later = [loop.follow(ARM, [0.0, 0.0], delay=3.0), loop.follow(GRIPPER, [0.0], delay=3.0)]
    loop.run(0.5)
    measured = loop.q[-1] + 0.01
    loop.motion.stop_at(measured, np.zeros(3), arm)
    assert_array_equal(loop.motion.position[:2], measured[:2])
    assert loop.motion.position[2] == loop.q[-1][2]
    assert loop.stages(arm, gripper, *later) == ['over', 'followed', 'over', 'scheduled']
    loop.run(1.7)
    assert_allclose(loop.q[-1], [*measured[:2], 0.7], atol=1e-12)


def test_a_plan_of_other_joints_is_not_void_when_some_are_stopped(loop):
    arm = loop.follow(ARM, [1.0, 1.0])
    loop.run(0.2)
    knee, gripper = (
        loop.motion.plan([name], [1.0], [[0.3]], now=loop.time, allow_partial=True)
        for name in ('knee', 'finger')
    )
    loop.motion.stop_at(loop.q[-1], np.zeros(3), arm)
    loop.motion.follow(gripper)
    with pytest.raises(TrajectoryError, match='interrupted'):
        loop.motion.follow(knee)
    loop.run(1.1)
    assert loop.motion.stage(gripper) == 'arrived'


def test_those_of_different_joints_wait_together_and_begin_when_each_is_to(loop):
    gripper = loop.follow(GRIPPER, [0.7], 0.5, delay=0.305)
    arm = loop.follow(ARM, [0.5, -0.4], 0.5, delay=0.302)
    loop.run(0.1)
    assert loop.stages(arm, gripper) == ['scheduled'] * 2
    knee = loop.follow(['knee'], [0.1], 0.5, delay=0.2)
    loop.run(0.1)
    assert loop.stages(arm, gripper, knee) == ['over', 'scheduled', 'scheduled']
    arm = loop.follow(ARM, [0.5, -0.4], 0.5, delay=0.102)
    loop.run(0.3)
    assert loop.stages(arm, gripper, knee) == ['followed', 'followed', 'over']
    assert loop.motion.path_time(arm) == pytest.approx(0.198)
    assert loop.motion.path_time(gripper) == pytest.approx(0.195)
    loop.run(0.4)
    assert_allclose(loop.q[-1], [0.5, -0.4, 0.7], atol=1e-12)


def test_a_stop_stops_all_joints(loop):
    arm, gripper = loop.follow(ARM, [1.0, 1.0], 2.0), loop.follow(GRIPPER, [0.7], 2.0)
    loop.run(0.5)
    assert loop.stages(arm, gripper) == ['followed'] * 2
    loop.motion.follow(loop.motion.plan((), [], [], now=loop.time))
    stopped = loop.run(RAMP + 2 * STEP)[-1]
    assert loop.stages(arm, gripper) == ['over'] * 2 and loop.motion.is_at_rest
    assert_array_equal(loop.run(0.1)[-1], stopped)


def test_after_a_gap_all_are_resumed_but_those_that_were_stopping(loop):
    arm, gripper = loop.follow(ARM, [1.0, 1.0], 2.0), loop.follow(GRIPPER, [0.7], 2.0)
    loop.run(0.5)
    loop.motion.cancel(arm)
    loop.run(0.05)
    measured = loop.q[-1] - 0.01
    assert 'resumed' in loop.motion.resume_after_gap(measured, 0.3)
    assert_array_equal(loop.motion.position, measured)
    loop.run(3.0)
    assert loop.stages(arm, gripper) == ['over', 'arrived']
    assert_allclose(loop.q[-1], [*measured[:2], 0.7], atol=1e-12)


def test_joints_left_over_are_resumed_from_where_they_are(loop):
    loop.follow(ARM, [1.5, 1.5], 2.0)
    loop.run(1.0)
    knee = loop.follow(['knee'], [0.2], 2.0)
    loop.run(0.5)  # the hip is at rest
    measured = loop.q[-1] + [0.05, -0.05, 0.02]
    loop.motion.resume_after_gap(measured, 0.3)
    assert_array_equal(loop.motion.position, measured)
    hip = loop.q[-1][0]
    loop.run(3.0)
    assert loop.motion.stage(knee) == 'arrived'
    assert_allclose(loop.q[-1], [hip, 0.2, 0.0], atol=1e-12)


def test_a_gap_that_is_too_long_ends_all(loop):
    plans = loop.follow(ARM, [1.0, 1.0], 2.0), loop.follow(GRIPPER, [0.7], 2.0)
    loop.run(0.5)
    assert loop.stages(*plans) == ['followed'] * 2
    loop.motion.resume_after_gap(loop.q[-1], 5.0)
    assert loop.stages(*plans) == ['over'] * 2


def test_only_its_own_joints_decide_whether_a_trajectory_begins_near_enough(loop):
    loop.follow(ARM, [1.0, 1.0], 2.0)
    loop.run(1.0)
    at = float(loop.q[-1][2])
    near = loop.motion.plan(
        GRIPPER, [0.0, 0.5], [[at + 0.05], [0.2]],
        now=loop.time, allow_partial=True, start_tolerance=0.1)  # fmt: skip
    loop.motion.follow(near)
    loop.run(0.1)
    assert loop.motion.stage(near) == 'followed'
    with pytest.raises(TrajectoryError, match="away from the desired position of joint 'knee'"):
        loop.motion.plan(
            ['knee'], [0.0, 0.5], [[-1.0], [0.2]],
            now=loop.time, allow_partial=True, start_tolerance=0.1)  # fmt: skip
