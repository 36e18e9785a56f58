# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Desired motion never jumps, for any stamps, pauses and trajectories."""

import math
import re
import threading
from types import SimpleNamespace

from hypothesis import assume, given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest

from rbd_ros import Robot
from rbd_ros.control import DesiredMotion, JointTrajectory, MotionOptions, TrajectoryError
from rbd_ros.control.motion.intervals import StateIntervals

NAMES = ('hip', 'knee')
LIMITS = SimpleNamespace(position=3.0, velocity=2.0)
MS = 1_000_000
SECOND = 1_000 * MS
INTERVAL = 1e-3
FAR_FUTURE = (2**31 - 5) * SECOND


def robot(velocity=LIMITS.velocity, position=LIMITS.position, period=np.inf):
    n = len(NAMES)
    return SimpleNamespace(
        joint_names=NAMES, nq=n, nv=n, neutral=lambda: np.zeros(n),
        lower_limits=np.full(n, -position), upper_limits=np.full(n, position),
        velocity_limits=np.full(n, velocity), position_periods=np.full(n, period))  # fmt: skip


class Loop:
    """A control loop with states every millisecond, which records the desired motion."""

    def __init__(self, motion=None, **options):
        self.motion = motion or DesiredMotion(robot(), **options)
        self.stamp = 100 * SECOND
        self.q, self.v, self.a = [], [], []
        self.run(0.02)

    def state(self, dt=INTERVAL, stamp=None):
        self.stamp = self.stamp + round(min(dt, 1e9) * SECOND) if stamp is None else stamp
        sample = self.motion.advance(self.stamp, dt)
        for kept, values in zip((self.q, self.v, self.a), sample):
            kept.append(values.copy())
        return sample

    def run(self, duration, interval=INTERVAL):
        begin = len(self.q)
        for _ in range(round(duration / interval)):
            self.state(interval)
        return (np.array(x[begin:]) for x in (self.q, self.v, self.a))

    def plan(self, times, positions, velocities=None, accelerations=None, names=NAMES, **options):
        return self.motion.plan(
            names, times, positions, velocities, accelerations, now=self.stamp, **options
        )

    def follow(self, *args, **options):
        return self.motion.follow(self.plan(*args, **options))

    def stop(self):
        return self.motion.follow(self.motion.plan((), [], [], now=self.stamp))


@pytest.fixture
def loop():
    return Loop()


def swing(amplitude=1.0, duration=2.0):
    """Return the points of a motion there and back, starting at once and at rest."""
    times = np.linspace(0.0, duration, 5)
    wave = amplitude * 0.5 * (1.0 - np.cos(2.0 * np.pi * times / duration))
    return times, np.outer(wave, [1.0, -0.5])


# -- holding --------------------------------------------------------------------------------------


def test_before_anything_the_neutral_position_is_held(loop):
    assert_array_equal(loop.q, np.zeros((20, 2)))
    assert not loop.motion.is_following


def test_a_position_is_held_until_another_one_is(loop):
    assert loop.motion.hold([0.5, -0.5])
    for values, expected in zip(loop.state(), ([0.5, -0.5], [0, 0], [0, 0])):
        assert_array_equal(values, expected)


@pytest.mark.parametrize(
    'bad', [[math.nan, 0.0], [0.0, math.inf], [1e308, 0.0], [-1e7, 0.0], [0.0], [0.0] * 3, 0.0]
)
def test_a_position_that_no_robot_has_is_not_held(loop, bad):
    loop.motion.hold([0.5, -0.5])
    assert not loop.motion.hold(bad)
    assert_array_equal(loop.state()[0], [0.5, -0.5])


def test_a_held_position_is_a_copy_of_its_array(loop):
    measured = np.array([0.5, -0.5])
    loop.motion.hold(measured)
    measured[:] = 9.0
    assert_array_equal(loop.state()[0], [0.5, -0.5])


def test_a_robot_with_a_free_base_is_rejected():
    with pytest.raises(ValueError, match='more than one degree of freedom'):
        DesiredMotion(SimpleNamespace(joint_names=('base',), nq=7, nv=6))


# -- following ------------------------------------------------------------------------------------


def test_a_trajectory_is_followed_exactly_and_its_end_held(loop):
    times, positions = swing()
    expected = JointTrajectory(NAMES, times, positions)
    loop.follow(times, positions)
    q, v, a = loop.run(1.999)
    for k in range(0, 1999, 7):
        for got, want in zip((q[k], v[k], a[k]), expected.sample((k + 1) * INTERVAL)):
            assert_allclose(got, want, rtol=0, atol=1e-9)
    assert loop.motion.is_following
    q, v, _ = loop.run(0.1)
    assert_allclose(q[-1], positions[-1], atol=1e-12)
    assert not v[-1].any()
    assert not loop.motion.is_following


def test_the_end_is_reported_once(loop):
    loop.follow(*swing())
    ends = []
    for _ in range(2100):
        loop.state()
        ends.append(loop.motion.ended())
    assert sum(ends) == 1
    assert ends.index(True) in range(1998, 2003)


def test_the_time_left_is_reported(loop):
    assert loop.motion.time_left == 0.0
    loop.follow(*swing())
    loop.run(0.5)
    assert loop.motion.time_left == pytest.approx(1.5)
    loop.run(2.0)
    assert loop.motion.time_left == 0.0


def test_a_late_first_point_is_reached_from_the_desired_position(loop):
    loop.motion.hold([0.2, -0.1])
    loop.follow([1.0], [[1.0, 0.5]])
    q, _, _ = loop.run(1.1)
    assert_allclose(q[0], [0.2, -0.1], atol=1e-4)
    assert_allclose(q[-1], [1.0, 0.5], atol=1e-12)


def test_joints_come_in_any_order(loop):
    loop.follow([1.0], [[-0.5, 1.0]], names=NAMES[::-1])
    loop.run(1.1)
    assert_allclose(loop.q[-1], [1.0, -0.5])


def test_omitted_joints_are_held_where_that_is_allowed(loop):
    loop.motion.hold([0.3, 0.4])
    with pytest.raises(TrajectoryError, match="leaves out joint 'hip'"):
        loop.plan([1.0], [[0.9]], names=('knee',))
    loop.follow([1.0], [[0.9]], names=('knee',), allow_partial=True)
    loop.run(1.1)
    assert_allclose(loop.q[-1], [0.3, 0.9])


def test_it_works_for_a_real_robot_and_its_limits():
    arm = Robot.from_urdf(ARM)
    loop = Loop(DesiredMotion(arm))
    with pytest.raises(TrajectoryError, match="'slide' would move at .* above its limit of 0.5"):
        loop.plan([0.1], [[0.1]], names=('slide',))
    loop.follow([1.0], [[0.1]], names=('slide',))
    loop.run(1.1)
    assert_allclose(loop.q[-1], [0.1])


ARM = """<robot name="arm"><link name="base"/><link name="tool"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="slide" type="prismatic"><parent link="base"/><child link="tool"/>
<limit lower="-1" upper="1" velocity="0.5" effort="10"/></joint></robot>"""


# -- time -----------------------------------------------------------------------------------------


def progress(loop):
    return 10.0 - loop.motion.time_left


@pytest.fixture
def long_motion(loop):
    loop.follow([10.0], [[1.0, -1.0]])
    loop.run(0.1)
    assert progress(loop) == pytest.approx(0.1)
    return loop


@pytest.mark.parametrize('dt', [0.0, -0.0, -1e-9, -2e-3, -3600.0, -math.inf, math.nan])
def test_the_motion_stands_still_while_time_does_or_runs_back(long_motion, dt):
    before = [x.copy() for x in long_motion.state()]
    for kept, values in zip(before, long_motion.motion.advance(long_motion.stamp, dt)):
        assert_array_equal(values, kept)
    assert progress(long_motion) == pytest.approx(0.101)


@pytest.mark.parametrize('dt', [0.011, 1.0, 3600.0, 2.0**31 - 5.0, 1e300, math.inf])
def test_a_leap_of_time_moves_the_motion_on_by_a_few_intervals_only(long_motion, dt):
    """A pause of the controller, a clock that was set forward, one wrong stamp."""
    before = long_motion.q[-1]
    q, v, _ = long_motion.motion.advance(FAR_FUTURE, dt)
    assert progress(long_motion) <= 0.1 + 0.010001
    assert np.abs(q - before).max() <= 0.010001 * LIMITS.velocity
    long_motion.run(0.1)
    assert 0.2 <= progress(long_motion) <= 0.210001


def test_one_state_from_the_far_future_changes_nothing_that_matters(long_motion):
    stamp = long_motion.stamp
    long_motion.motion.advance(FAR_FUTURE, (FAR_FUTURE - stamp) / SECOND)
    long_motion.motion.advance(stamp, (stamp - FAR_FUTURE) / SECOND)
    long_motion.run(0.1)
    assert progress(long_motion) == pytest.approx(0.205, abs=0.006)


@pytest.mark.parametrize('interval', [1e-4, 1e-3, 4e-3, 0.02, 0.1])
def test_the_motion_keeps_up_with_states_of_any_rate(loop, interval):
    loop.follow([10.0], [[1.0, -1.0]])
    loop.run(2.0, interval)
    assert progress(loop) == pytest.approx(2.0, abs=4 * interval)


def test_states_that_come_in_bursts_lose_no_time(loop):
    loop.follow([10.0], [[1.0, -1.0]])
    for _ in range(100):
        for dt in (1e-4, 1e-4, 0.0198):
            loop.state(dt)
    assert progress(loop) == pytest.approx(2.0, abs=0.1)


def test_no_state_counts_for_more_than_the_longest_step(loop):
    loop.motion.options = MotionOptions(max_time_step=0.05)
    loop.follow([10.0], [[1.0, -1.0]])
    loop.run(2.0, 0.1)
    assert progress(loop) <= 20 * 0.05 + 1e-9


def test_publishers_whose_stamps_differ_do_not_speed_the_motion_up(long_motion):
    """Parts of a state in turns, stamped 2 ms apart: time runs 2 ms back and 3 ms on."""
    for _ in range(100):
        long_motion.state(-2e-3)
        long_motion.state(3e-3)
    assert progress(long_motion) == pytest.approx(0.2, abs=3e-3)
    assert long_motion.motion.is_following


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=50), st.floats(0.01, 1.0))
def test_steps_are_bounded_for_any_intervals(intervals, largest):
    steps = StateIntervals()
    for dt in intervals:
        step = steps.step(dt, largest)
        assert 0.0 <= step <= largest
        assert step == 0.0 or step <= dt
        assert 0.01 <= steps.longest(largest) <= largest


def test_one_interval_out_of_the_ordinary_does_not_become_ordinary():
    steps = StateIntervals()
    for _ in range(20):
        steps.step(1e-3, 0.2)
    assert steps.step(1.0, 0.2) == steps.step(1.0, 0.2) == 0.01
    assert steps.step(1.0, 0.2) > 0.01  # more than that is a new custom


@given(st.lists(st.floats(-0.9, 0.9), min_size=1, max_size=100))
def test_steps_never_add_up_to_more_than_the_time_that_passed(intervals):
    steps, time, latest, total = StateIntervals(), 0.0, 0.0, 0.0
    for dt in intervals:
        time += dt
        assume(time > latest - 1.0)
        latest = max(latest, time)
        total += steps.step(dt, 10.0)
        assert total <= latest + 1e-9


# -- changes of motion ----------------------------------------------------------------------------


def assert_smooth(loop, begin=0, jumps=1e-2):
    """Check no jump of position or velocity: what changes in a step is what v and a say."""
    q, v, a = (np.array(x[begin:]) for x in (loop.q, loop.v, loop.a))
    mean = 0.5 * (v[1:] + v[:-1])
    assert_allclose(np.diff(q, axis=0), INTERVAL * mean, rtol=0, atol=2e-5)
    assert np.abs(np.diff(v, axis=0)).max() <= jumps + INTERVAL * np.abs(a).max()


def test_velocity_and_acceleration_are_derivatives_of_the_position_throughout():
    """Fine steps through a change, a stop and a resumption; kinks of acceleration are few."""
    step = 1e-4
    loop = Loop()
    loop.motion.hold([0.05, -0.05])
    loop.follow(*swing())
    loop.run(0.5, step)
    loop.follow([0.0, 1.0], [loop.q[-1] + [0.1, -0.05], [1.0, 0.2]], start_tolerance=0.2)
    loop.run(0.4, step)
    loop.motion.resume_after_gap(loop.q[-1] + [0.02, 0.05], 0.1)
    loop.run(0.3, step)
    loop.stop()
    loop.run(0.3, step)
    q, v, a = (np.array(x) for x in (loop.q, loop.v, loop.a))
    for changes, rates, atol in ((q, v, 1e-3), (v, a, 0.03)):
        error = np.abs((changes[2:] - changes[:-2]) / (2 * step) - rates[1:-1]).max(axis=1)
        error = error[30:]  # the states before were further apart
        assert np.quantile(error, 0.99) < atol
        assert (error > 30 * atol).sum() < 20


def test_a_trajectory_that_replaces_another_begins_with_its_position_and_velocity(loop):
    loop.follow([0.0, 1.0, 2.0], [[0.0, 0.0], [1.0, -1.0], [0.0, 0.0]])
    loop.run(0.5)
    assert np.abs(loop.v[-1]).max() > 1.0
    loop.follow([0.0, 2.0], [loop.q[-1], [0.0, 1.0]], start_tolerance=0.1)
    loop.run(2.6)
    assert_smooth(loop, 20)
    assert_allclose(loop.q[-1], [0.0, 1.0], atol=1e-9)


def test_a_first_point_that_is_away_is_reached_smoothly_within_the_limits(loop):
    start = np.array([0.2, -0.15])
    loop.follow([0.0, 1.0], [start, start + 0.5], start_tolerance=0.2)
    _, v, _ = loop.run(2.0)
    assert_smooth(loop)
    assert np.abs(loop.q[20]).max() < 1e-3
    assert np.abs(v).max() <= LIMITS.velocity
    assert_allclose(loop.q[-1], start + 0.5, atol=1e-9)


def test_trajectories_that_fit_one_another_are_followed_without_delay(loop):
    """A planner that replans from the desired motion ten times a second slows nothing down."""

    def wave(t):
        t = np.asarray(t)[:, None]
        return 0.5 * np.sin(t) * [1, -1], 0.5 * np.cos(t) * [1, -1], -0.5 * np.sin(t) * [1, -1]

    begin, time = loop.stamp, 0.0
    loop.motion.hold([0.0, 0.0])
    for _ in range(20):
        points = time + np.linspace(0.0, 1.0, 21)
        q, v, a = wave(points)
        loop.follow(points - time, q, v * (points < points[-1])[:, None], a)
        loop.run(0.1)
        time += 0.1
    lag = np.abs(loop.q[-1] - wave([(loop.stamp - begin) / SECOND])[0][0])
    # The first one begins from rest, at half the velocity limit; nothing is lost after that.
    assert lag.max() < 0.05
    assert_smooth(loop, 20)


def test_a_path_at_the_limit_of_velocity_catches_up_within_the_limit(loop):
    """Ramps of half a second up to the limit, which the first part of both keeps exactly."""
    speed = np.array([2.0, -2.0])
    times = np.array([0.0, 0.5, 1.0, 1.5])

    def points(begin):
        return begin + np.outer([0.0, 0.5, 1.5, 2.0], 0.5 * speed)

    velocities = [[0.0, 0.0], speed, speed, [0.0, 0.0]]
    loop.motion.hold([-1.0, 1.0])
    loop.follow(times, points([-1.0, 1.0]), velocities)
    _, v, _ = loop.run(0.7)
    assert_allclose(v[-1], speed, atol=1e-9)
    loop.follow(times[1:] - 0.5, points(loop.q[-1] - [1.0, -0.2])[1:], velocities[1:])
    _, v, _ = loop.run(2.5)
    assert np.abs(v).max() <= LIMITS.velocity * (1.0 + 1e-6)
    assert_smooth(loop, 21)


def test_nothing_leaves_the_position_limits_on_the_way_to_another_path(loop):
    loop.motion.hold([2.95, 0.0])
    loop.follow([0.0, 0.4, 0.8], [[2.8, 0.0], [2.99, 0.0], [2.8, 0.0]])
    q, _, _ = loop.run(1.5)
    assert q.max() <= LIMITS.position
    assert_allclose(q[-1], [2.8, 0.0], atol=1e-9)


def test_a_joint_without_velocity_limit_catches_up_at_a_usual_speed():
    loop = Loop(DesiredMotion(robot(velocity=math.inf)))
    loop.follow([0.0, 0.1], [[1.0, 0.0], [1.0, 0.0]])
    _, v, _ = loop.run(5.0)
    assert np.abs(v).max() < 1.0
    assert_allclose(loop.q[-1], [1.0, 0.0])


def test_a_joint_with_zero_velocity_limit_gets_no_position_jump():
    loop = Loop(DesiredMotion(robot(velocity=0.0)))
    loop.motion.hold([0.01, 0.0])
    loop.follow([0.0, 1.0], [[0.0, 0.0], [0.0, 0.0]], start_tolerance=0.1)
    _, v, _ = loop.run(2.0)
    assert np.abs(v).max() <= 0.05
    assert_allclose(loop.q[-1], [0.0, 0.0], atol=1e-12)


def test_an_end_is_not_reported_while_another_trajectory_waits(loop):
    loop.follow([0.3], [[0.1, 0.1]])
    loop.run(0.01)
    loop.follow([1.0], [[0.5, 0.5]], begin=loop.stamp + 500 * MS)
    for _ in range(500):
        loop.state()
        assert not loop.motion.ended()
        assert loop.motion.is_following
    assert_allclose(loop.q[-1], [0.1, 0.1])
    loop.run(1.1)
    assert loop.motion.ended()
    assert_allclose(loop.q[-1], [0.5, 0.5])


def test_a_stop_ends_on_the_path_within_the_ramp_time(loop):
    times, positions = swing()
    path = JointTrajectory(NAMES, times, positions)
    loop.follow(times, positions)
    loop.run(0.5)
    text = loop.stop()
    assert text.startswith('stop')
    q, v, _ = loop.run(0.25)
    assert_smooth(loop, 20)
    assert not v[-1].any()
    # Half a ramp further on, as the tempo falls symmetrically.
    assert_allclose(q[-1], path.sample(0.5 + 0.1)[0], atol=1e-6)
    assert not loop.motion.is_following
    assert not loop.motion.ended()
    assert_array_equal(loop.state()[0], q[-1])


def test_a_stop_also_ends_the_way_to_a_path_that_is_away(loop):
    loop.follow([0.0, 1.0], [[2.0, 0.0], [2.0, 0.0]])
    loop.run(0.5)
    loop.stop()
    q, _, _ = loop.run(0.5)
    assert 0.0 < q[-1, 0] < 1.5
    assert_smooth(loop)


def test_a_stop_cancels_a_trajectory_that_has_not_begun(loop):
    loop.follow(*swing(), begin=loop.stamp + 100 * MS)
    loop.state()
    assert loop.motion.is_following
    loop.stop()
    loop.run(0.5)
    assert not np.any(loop.q)
    assert not loop.motion.is_following


def test_a_trajectory_after_a_stop_continues_smoothly(loop):
    loop.follow(*swing())
    loop.run(0.5)
    loop.stop()
    loop.run(0.05)
    loop.follow([1.0], [[0.0, 0.0]])
    loop.run(1.1)
    assert_smooth(loop, 20)
    assert_allclose(loop.q[-1], 0.0, atol=1e-9)


# -- beginnings -----------------------------------------------------------------------------------


def test_a_trajectory_begins_at_its_time_even_between_two_states(loop):
    begin = loop.stamp + 100 * MS + MS // 3
    path = JointTrajectory(NAMES, *swing()).starting_from([0.0, 0.0])
    assert 'begins in 0.100 s' in loop.follow(*swing(), begin=begin)
    q, _, _ = loop.run(0.1)
    assert not q.any()
    for _ in range(1000):
        q, _, _ = loop.state()
        assert_allclose(q, path.sample((loop.stamp - begin) / SECOND)[0], rtol=0, atol=1e-9)


def test_a_trajectory_that_begins_later_lets_the_one_before_continue(loop):
    loop.follow(*swing())
    loop.run(0.3)
    loop.follow([1.0], [[0.5, 0.5]], begin=loop.stamp + 500 * MS + MS // 3)
    loop.run(0.5)
    assert_allclose(loop.q[-1], JointTrajectory(NAMES, *swing()).sample(0.8)[0], atol=1e-9)
    loop.state()
    assert loop.motion.time_left == pytest.approx(1.0 - 2e-3 / 3)
    loop.run(1.1)
    assert_allclose(loop.q[-1], [0.5, 0.5], atol=1e-9)
    assert_smooth(loop, 20)


def test_a_motion_that_lags_behind_when_another_begins_does_not_jump(loop):
    loop.follow(*swing())
    loop.run(0.3)
    loop.follow([1.0], [[0.5, 0.5]], begin=loop.stamp + 500 * MS)
    loop.motion.options = MotionOptions(max_time_step=0.01)
    for _ in range(10):
        loop.state(0.03)
    assert loop.motion.time_left == pytest.approx(1.6)
    loop.run(1.6)
    assert_smooth(loop, 331)
    assert_allclose(loop.q[-1], [0.5, 0.5], atol=1e-9)


def test_one_wrong_stamp_begins_nothing(loop):
    begin = loop.stamp + 500 * MS
    loop.follow(*swing(), begin=begin)
    loop.run(0.1)
    before = loop.stamp
    loop.motion.advance(FAR_FUTURE, (FAR_FUTURE - before) / SECOND)
    loop.motion.advance(before + MS, (before + MS - FAR_FUTURE) / SECOND)
    loop.stamp = before + MS
    q, _, _ = loop.run(0.39)
    assert not q.any()
    q, _, _ = loop.run(0.5)
    assert q[-1].any()


def test_a_clock_set_forward_starts_a_waiting_trajectory(loop):
    loop.follow(*swing(), begin=loop.stamp + 500 * MS)
    loop.run(0.1)
    loop.state(3600.0)
    q, _, _ = loop.run(0.3)
    assert np.abs(np.diff(q, axis=0)).max() <= LIMITS.velocity * INTERVAL
    assert q[-1].any()


def test_a_trajectory_that_has_begun_already_is_joined_without_a_jump(loop):
    times, positions = swing(0.4)
    loop.follow(times, positions, begin=loop.stamp - 500 * MS, start_tolerance=0.5)
    loop.run(2.5)
    assert_smooth(loop)
    assert_allclose(loop.q[-1], positions[-1], atol=1e-9)


def test_a_trajectory_that_has_begun_already_is_entered_at_its_present_time(loop):
    path = JointTrajectory(NAMES, *swing())
    loop.motion.hold(path.sample(0.5)[0])
    loop.follow(*swing(), begin=loop.stamp - 500 * MS)
    loop.run(1.0)
    assert loop.motion.time_left == pytest.approx(0.5, abs=0.1)
    assert_smooth(loop, 20)


def test_a_trajectory_that_begins_later_is_planned_from_the_state_at_its_begin(loop):
    """Also on the way to a path that is away, 0.2 rad of it here."""
    loop.follow([0.0, 2.0], [[0.2, 0.0], [0.5, 0.0]])
    loop.run(0.1)
    plan = loop.plan([1.0], [[0.5, 0.5]], begin=loop.stamp + 100 * MS)
    now = loop.q[-1][0]
    loop.run(0.1)
    then = loop.q[-1][0]
    assert then - now > 0.05
    assert plan.trajectory.sample(0.0)[0][0] == pytest.approx(then, abs=0.02)


def test_the_time_that_a_plan_took_leaves_nothing_out_while_the_robot_stands(loop):
    plan = loop.plan(*swing())
    loop.run(0.3)
    loop.motion.follow(plan)
    loop.run(0.5)
    assert_allclose(loop.q[-1], JointTrajectory(NAMES, *swing()).sample(0.5)[0], atol=1e-9)


def test_the_time_that_a_plan_took_counts_while_the_robot_moves(loop):
    loop.follow(*swing())
    loop.run(0.5)
    plan = loop.plan([1.0], [[0.0, 0.0]])
    loop.run(0.05)
    loop.motion.follow(plan)
    loop.run(0.9)
    assert loop.motion.time_left == pytest.approx(0.05, abs=0.04)
    assert_smooth(loop, 20)


def test_a_trajectory_that_was_planned_for_too_long_is_entered_where_it_should_be(loop):
    begin = loop.stamp + 50 * MS
    plan = loop.plan(*swing(), begin=begin)
    loop.run(0.1)
    loop.motion.follow(plan)
    loop.run(0.5)
    lag = (loop.stamp - begin) / SECOND - (2.0 - loop.motion.time_left)
    assert 0.0 <= lag < 0.02
    assert_smooth(loop)


def test_the_later_of_two_plans_is_followed(loop):
    first, second = loop.plan([1.0], [[1.0, 1.0]]), loop.plan([1.0], [[-1.0, -1.0]])
    loop.motion.follow(first)
    loop.motion.follow(second)
    loop.run(1.1)
    assert_allclose(loop.q[-1], -1.0)


def test_a_later_plan_between_two_states_does_not_drop_the_other(loop):
    first = loop.plan([1.0], [[1.0, 1.0]])
    loop.motion.follow(first)
    later = loop.plan([2.0], [[-1.0, -1.0]], begin=loop.stamp + 500 * MS)
    assert_allclose(later.trajectory.sample(0.0)[0], 0.5, atol=0.02)  # half-way to the first
    loop.motion.follow(later)
    assert [loop.motion.stage(each) for each in (first, later)] == ['scheduled'] * 2
    loop.run(0.4)
    assert [loop.motion.stage(each) for each in (first, later)] == ['followed', 'scheduled']
    loop.run(2.2)
    assert [loop.motion.stage(each) for each in (first, later)] == ['over', 'arrived']
    assert_allclose(loop.q[-1], -1.0)
    assert_smooth(loop, 20)


def test_an_immediate_plan_between_two_states_drops_all_others(loop):
    plans = [loop.plan([1.0], [[1.0, 1.0]]), loop.plan([1.0], [[0.5, 0.5]], begin=loop.stamp + MS)]
    plans.append(loop.plan([1.0], [[-1.0, -1.0]]))
    for plan in plans:
        loop.motion.follow(plan)
    loop.run(0.1)
    assert [loop.motion.stage(each) for each in plans] == ['over', 'over', 'followed']


def test_the_last_later_plan_between_two_states_counts(loop):
    plans = [loop.plan([1.0], [[x, x]], begin=loop.stamp + 50 * MS) for x in (1.0, 0.5)]
    for plan in plans:
        loop.motion.follow(plan)
    loop.run(1.2)
    assert [loop.motion.stage(each) for each in plans] == ['over', 'arrived']
    assert_allclose(loop.q[-1], 0.5)


def test_after_a_stop_that_no_state_has_seen_a_later_trajectory_starts_from_rest(loop):
    loop.follow(*swing())
    loop.run(0.5)
    loop.stop()
    later = loop.plan([1.0], [[0.0, 0.0]], begin=loop.stamp + 500 * MS)
    q, v, _ = later.trajectory.sample(0.0)
    assert_allclose(q, loop.q[-1])
    assert not v.any()


def test_a_plan_for_later_may_be_canceled_before_any_state_has_seen_it(loop):
    first = loop.plan([1.0], [[1.0, 1.0]])
    later = loop.plan([1.0], [[-1.0, -1.0]], begin=loop.stamp + 500 * MS)
    loop.motion.follow(first)
    loop.motion.follow(later)
    loop.motion.cancel(later)
    loop.run(1.1)
    assert [loop.motion.stage(each) for each in (first, later)] == ['arrived', 'over']


def test_a_plan_for_a_motion_that_was_dropped_is_rejected(loop):
    plan = loop.plan(*swing())
    loop.motion.hold([1.0, 1.0])
    with pytest.raises(TrajectoryError, match='send the trajectory again') as caught:
        loop.motion.follow(plan)
    assert caught.value.code == 'motion interrupted'
    assert_array_equal(loop.state()[0], [1.0, 1.0])


def test_holding_drops_a_trajectory_that_has_not_begun(loop):
    loop.follow(*swing())
    loop.motion.hold([1.0, 1.0])
    assert not loop.motion.is_following
    loop.run(0.1)
    assert_array_equal(loop.q[-1], [1.0, 1.0])


REJECTED = {
    'unknown joint': ({'names': ('hip', 'wing')}, 'not a joint of the robot; there are',
        'not valid'),
    'joint twice': ({'names': ('hip', 'hip')}, 'named twice', 'not valid'),
    'joint absent': ({'names': ('hip',), 'positions': [[0.0]]}, "leaves out joint 'knee'",
                     'not valid'),
    'no joints': ({'names': ()}, 'names no joints', 'not valid'),
    'a name that is none': ({'names': (['hip'], 'knee')}, 'not a joint of the robot', 'not valid'),
    'far away': ({'times': [0.0], 'positions': [[0.3, 0.0]], 'start_tolerance': 0.2},
                 "0.300 rad or m away from the desired position of joint 'hip'",
                 'begins too far away'),
    'far below': ({'times': [0.0], 'positions': [[0.0, -0.3]], 'start_tolerance': 0.2},
                  "0.300 rad or m away from the desired position of joint 'knee'",
                  'begins too far away'),
    'past': ({'begin': 1}, 'ended 99.0', 'in the past'),
    'far future': ({'begin': 4000 * SECOND}, 'joint_states, or 0', 'in the far future'),
    'beyond position limit': ({'positions': [[3.1, 0.0]]}, 'outside its limits', 'not valid'),
    'beyond velocity limit': ({'positions': [[2.9, 0.0]]}, 'above its limit of 2', 'not valid'),
    'huge': ({'positions': [[1e308, 0.0]], 'check_limits': False}, 'implausible for any joint',
             'not valid'),
    'fast': ({'positions': [[3e4, 0.0]], 'check_limits': False}, 'above its limit of 10000',
             'not valid'),
}  # fmt: skip


@pytest.mark.parametrize('case', REJECTED)
def test_an_invalid_goal_is_rejected_and_the_motion_continues(loop, case):
    changes, text, code = REJECTED[case]
    arguments = {'times': [1.0], 'positions': [[0.5, 0.5]], **changes}
    loop.follow(*swing())
    loop.motion.hold([0.0, 0.0])
    loop.follow(*swing())
    loop.motion.hold([0.0, 0.0])
    with pytest.raises(TrajectoryError, match=text) as caught:
        loop.plan(**arguments)
    assert caught.value.code.endswith(code)
    loop.run(0.1)
    assert_array_equal(loop.q[-1], [0.0, 0.0])


def test_no_limit_of_velocity_does_not_mean_any_velocity():
    loop = Loop(DesiredMotion(robot(velocity=math.inf, position=math.inf)))
    with pytest.raises(TrajectoryError, match='above its limit of 10000'):
        loop.plan([1.0], [[3e4, 0.0]])
    loop.plan([1.0], [[3e3, 0.0]])


def test_a_plan_reports_the_limits_that_it_keeps(loop):
    kept = loop.plan([2.0], [[1.0, 0.0]]).bounds
    for found, expected in zip(kept, (-3.0, 3.0, 2.0)):
        assert_array_equal(found, expected)
    beyond = loop.plan([0.5], [[4.0, 0.0]], check_limits=False).bounds
    assert beyond.upper[0] > 4.0
    assert beyond.velocity[0] >= 12.0 - 1e-9
    assert beyond.velocity[1] == 2.0


def test_limits_are_not_checked_on_request(loop):
    loop.follow([0.5], [[4.0, 0.0]], check_limits=False)
    loop.run(0.6)
    assert_allclose(loop.q[-1], [4.0, 0.0])


# -- interruptions --------------------------------------------------------------------------------


@pytest.fixture
def interrupted():
    """Return a motion in the middle, whose states fail."""
    loop = Loop()
    loop.follow([10.0], [[2.0, -2.0]])
    loop.run(5.0)
    loop.begin = len(loop.q)
    return loop


def test_a_short_gap_does_not_end_the_motion(interrupted):
    measured = interrupted.q[-1] + [0.03, 0.05]
    text = interrupted.motion.resume_after_gap(measured, 0.1)
    assert 'resumed' in text
    q, v, _ = interrupted.run(6.0)
    assert_allclose(q[0], measured, atol=1e-5)
    assert np.abs(v[0]).max() < 1e-3
    assert_smooth(interrupted, interrupted.begin)
    assert_allclose(q[-1], [2.0, -2.0], atol=1e-9)
    assert interrupted.motion.ended()


def test_a_robot_that_is_where_it_should_be_stays_on_its_path(interrupted):
    """Only the ramp costs time, half of it."""
    left = interrupted.motion.time_left
    interrupted.motion.resume_after_gap(interrupted.q[-1], 0.1)
    interrupted.run(1.0)
    assert interrupted.motion.time_left == pytest.approx(left - 1.0 + 0.1, abs=1e-6)


@pytest.mark.parametrize(
    ('away', 'gap', 'text'),
    [(0.05, 1.1, 'missing for 1.1 s'), (0.3, 0.1, "joint 'knee' is 0.3 rad or m from"),
     (0.0, math.inf, 'missing for inf s'), (0.0, math.nan, 'dropped')],
)  # fmt: skip
def test_a_long_gap_or_a_robot_elsewhere_ends_it(interrupted, away, gap, text):
    measured = interrupted.q[-1] + [0.0, away]
    message = interrupted.motion.resume_after_gap(measured, gap)
    assert text in message
    assert 'the trajectory is dropped and the measured position held' in message
    interrupted.run(0.1)
    assert_array_equal(interrupted.q[-1], measured)
    assert not interrupted.motion.is_following


def test_the_motion_can_be_dropped_after_every_gap(interrupted):
    interrupted.motion.options = MotionOptions(state_loss_policy='hold')
    measured = interrupted.q[-1] + 0.01
    assert 'dropped' in interrupted.motion.resume_after_gap(measured, 0.01)
    assert_array_equal(interrupted.state()[0], measured)


def test_a_held_position_is_taken_up_again_without_a_jump(loop):
    """Otherwise the robot would sink a little further with each gap."""
    loop.motion.hold([1.0, 1.0])
    loop.run(0.1)
    assert loop.motion.resume_after_gap([0.9, 0.95], 0.1) == ''
    q, _, _ = loop.run(1.0)
    assert_allclose(q[0], [0.9, 0.95], atol=1e-4)
    assert_array_equal(q[-1], [1.0, 1.0])
    assert_smooth(loop, 121)


def test_a_distant_held_position_is_replaced_by_the_measured_one(loop):
    loop.motion.hold([1.0, 1.0])
    assert loop.motion.resume_after_gap([0.5, 1.0], 0.1) == ''
    assert_array_equal(loop.state()[0], [0.5, 1.0])


@pytest.mark.parametrize('bad', [[math.nan, 0.0], [1e308, 0.0], [0.0]])
@pytest.mark.parametrize('policy', ['resume', 'hold'])
def test_an_unknown_position_after_a_gap_stops_the_motion(interrupted, bad, policy):
    interrupted.motion.options = MotionOptions(state_loss_policy=policy)
    before = interrupted.q[-1]
    assert 'dropped' in interrupted.motion.resume_after_gap(bad, 0.1)
    assert_array_equal(interrupted.state()[0], before)


def test_a_stop_that_was_interrupted_is_not_taken_back(interrupted):
    interrupted.stop()
    interrupted.run(0.05)
    measured = interrupted.q[-1] + 0.01
    interrupted.motion.resume_after_gap(measured, 0.1)
    interrupted.run(0.5)
    assert_array_equal(interrupted.q[-1], measured)


def test_a_restart_of_time_does_not_end_a_motion_near_its_path(interrupted):
    text = interrupted.motion.restart_time(interrupted.q[-1])
    assert 'resumed' in text
    interrupted.stamp = 0
    interrupted.run(6.0)
    assert_allclose(interrupted.q[-1], [2.0, -2.0], atol=1e-9)


@pytest.mark.parametrize('dt', [-0.5, -1000.0, math.nan, 1e-3])
def test_a_restart_of_time_costs_at_most_a_ramp(interrupted, dt):
    left = interrupted.motion.time_left
    interrupted.state(-0.3)
    interrupted.motion.restart_time(interrupted.q[-1])
    interrupted.motion.advance(0, dt)
    interrupted.run(1.0)
    assert interrupted.motion.time_left == pytest.approx(left - 1.0 + 0.1, abs=2e-3)


def test_a_restart_of_time_far_from_the_path_ends_the_motion(interrupted):
    assert 'dropped' in interrupted.motion.restart_time([0.0, 0.0])
    assert_array_equal(interrupted.state(stamp=0)[0], [0.0, 0.0])


def test_scheduled_trajectories_are_dropped_when_time_restarts(loop):
    loop.follow(*swing(), begin=loop.stamp + 500 * MS)
    loop.run(0.1)
    plan = loop.plan(*swing(), begin=loop.stamp + 500 * MS)
    assert 'scheduled trajectory is dropped' in loop.motion.restart_time([0.0, 0.0])
    assert not loop.motion.is_following
    with pytest.raises(TrajectoryError):
        loop.motion.follow(plan)
    loop.stamp = 0
    loop.follow(*swing())
    loop.run(0.5)
    assert loop.q[-1].any()


@pytest.mark.parametrize(
    'bad', [{'state_loss_policy': 'jump'}, {'max_state_gap': -1.0}, {'max_state_gap': math.nan},
            {'max_time_step': 0.0}, {'ramp_time': math.inf}, {'resume_tolerance': -0.1}],
)  # fmt: skip
def test_options_without_sense_are_rejected(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        MotionOptions(**bad)


# -- anything -------------------------------------------------------------------------------------

positions = st.lists(st.floats(-2.9, 2.9), min_size=2, max_size=2)
intervals = st.one_of(
    st.just(1e-3),
    st.floats(1e-4, 0.1),
    st.sampled_from([0.0, -1e-3, -5.0, 1.0, 3600.0, 2.0**31, math.nan, math.inf, -math.inf]),
)
actions = st.one_of(
    st.tuples(st.just('states'), intervals, st.integers(1, 120)),
    st.tuples(
        st.just('follow'),
        st.lists(st.tuples(st.floats(0.2, 3.0), positions), min_size=1, max_size=3),
        st.sampled_from([0.0, 0.0, 0.01, 0.3]),
        st.booleans(),
        st.sampled_from([NAMES, NAMES[:1], NAMES[1:]]),
    ),
    st.tuples(st.just('cancel'), st.integers(0, 3)),
    st.tuples(st.just('near'), st.lists(st.floats(-1, 1), min_size=2, max_size=2)),
    st.tuples(st.just('stop')),
    st.tuples(
        st.sampled_from(['interrupted', 'restarted']),
        st.lists(st.floats(-0.3, 0.3), min_size=2, max_size=2),
        st.floats(0.0, 1.5),
    ),
)


@settings(deadline=None, max_examples=150)
@given(st.lists(actions, min_size=3, max_size=14))
def test_the_desired_motion_never_jumps(script):
    loop, allowed = Loop(), StateIntervals()
    for _ in range(20):
        allowed.step(INTERVAL, 0.2)
    motion, stamp = loop.motion, loop.stamp
    before, anew, plans = loop.q[-1], False, []
    script = [*script, ('states', 1e-3, 50)]
    for kind, *details in script:
        if kind == 'states':
            dt, count = details
            for _ in range(count):
                stamp += round(dt * SECOND) if abs(dt) < 1e10 else 0
                q, v, a = motion.advance(stamp, dt)
                step = allowed.step(0.0 if anew and not dt > 0.0 else dt, 0.2)
                anew = False
                assert np.isfinite([q, v, a]).all()
                assert np.abs(q - before).max() <= LIMITS.velocity * step * (1 + 1e-5) + 1e-12
                assert np.abs(v).max() <= LIMITS.velocity * (1 + 1e-5)
                assert np.abs(q).max() <= LIMITS.position + 1e-5 or np.abs(before).max() > 2.9
                before = q.copy()
        elif kind == 'follow':
            points, delay, at_once, names = details
            times = np.cumsum([t for t, _ in points])
            begin = stamp + round(delay * SECOND) if delay else 0
            try:
                plans.append(motion.plan(
                    names, times - times[0] * at_once, [q[: len(names)] for _, q in points],
                    now=stamp, begin=begin, allow_partial=True))  # fmt: skip
                motion.follow(plans[-1])
            except TrajectoryError:
                pass
        elif kind == 'near':
            start = np.clip(before + np.array(details[0]) * 0.2, -2.9, 2.9)
            rows = [start, np.clip(start + details[0], -2.9, 2.9)]
            motion.follow(motion.plan(NAMES, [0.0, 2.0], rows, now=stamp, start_tolerance=0.5))
        elif kind == 'cancel':
            for plan in plans[details[0] : details[0] + 1]:
                motion.cancel(plan)
        elif kind == 'stop':
            motion.follow(motion.plan((), [], [], now=stamp))
        else:
            measured, gap = before + details[0], details[1]
            if kind == 'interrupted':
                motion.resume_after_gap(measured, gap)
            else:
                motion.restart_time(measured)
                allowed.discard_backward_time()
                anew = True
            before = measured  # no torque meanwhile: the motion begins where the robot is
    assert motion.time_left >= 0.0


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=6, max_size=6),
    st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=3, max_size=3),
    st.floats(allow_nan=True, allow_infinity=True),
    st.booleans(),
)
def test_nothing_that_comes_in_makes_the_motion_infinite(numbers, times, gap, check_limits):
    loop = Loop(DesiredMotion(robot(velocity=math.inf, position=math.inf)))
    rows = np.reshape(numbers, (3, 2))
    for values in ((rows,), (rows, np.zeros((3, 2))), (rows, rows)):
        try:
            loop.follow(times, *values, check_limits=check_limits)
        except TrajectoryError:
            pass
        loop.run(0.02)
        loop.motion.resume_after_gap(rows[0], gap)
        loop.run(0.02)
        loop.motion.hold(rows[1])
        loop.state(gap, stamp=loop.stamp)
    assert np.isfinite(loop.q).all()
    assert np.isfinite(loop.v).all()
    assert np.isfinite(loop.a).all()


def test_planning_in_another_thread_disturbs_nothing():
    loop, problems, done = Loop(), [], threading.Event()
    rng = np.random.default_rng(7)
    followed = []

    def plan():
        for _ in range(60):
            begin = loop.stamp + int(rng.integers(0, 2)) * 20 * MS
            try:
                followed.append(loop.follow([4.0], [rng.uniform(-1.0, 1.0, 2)], begin=begin))
            except TrajectoryError as error:
                # Where the motion is by then the other thread decides: perhaps too fast to turn,
                # or past the end, as its seconds take some milliseconds only.
                if not re.search('above its limit of|trajectory ended', str(error)):
                    problems.append(error)
            except Exception as problem:  # reported to the test
                problems.append(problem)
        done.set()

    planner = threading.Thread(target=plan)
    planner.start()
    while not done.is_set():
        loop.state()
    planner.join()
    loop.run(0.1)
    assert not problems
    assert len(followed) > 20
    assert np.abs(np.diff(loop.q, axis=0)).max() <= LIMITS.velocity * INTERVAL * (1 + 1e-5)
