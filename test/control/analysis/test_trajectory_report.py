# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Limits along trajectories: worst margins, and durations that respect them."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import doctests, urdf_text

from rbd_ros import Robot
from rbd_ros.control import (
    check_trajectory,
    Feedforward,
    JointTrajectory,
    LawSettings,
    TrajectoryError,
)
from rbd_ros.control.analysis import trajectory_report
from rbd_ros.control.motion import extrema as extrema_file
from rbd_ros.control.motion.extrema import extrema
from rbd_ros.lookup.resources import resource_path

#: What is compiled is used for a moment: see conftest.py.
OPTIMIZED = False

KINDS = ('positions', 'velocities', 'accelerations')
MASS, GRAVITY, VISCOUS, COULOMB = 2.0, 9.81, 3.0, 4.0


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))


@pytest.fixture(scope='module')
def lift():
    """Return a mass on a vertical slide."""
    inside = (
        f'<dynamics damping="{VISCOUS}" friction="{COULOMB}"/>'
        '<limit lower="-1" upper="1" velocity="2" effort="100"/>'
    )
    return Robot.from_urdf(
        urdf_text.robot(
            urdf_text.link('base'),
            urdf_text.link('load', urdf_text.inertial(str(MASS))),
            urdf_text.joint('slide', 'base', 'load', 'prismatic', inside=inside),
        )
    )


def limited(robot, effort_limits, **options):
    settings = LawSettings.for_robot(
        robot, feedback='none', effort_limits=effort_limits, **options
    )
    return Feedforward(robot, settings)


def random_motion(rng, names, kind, points=6, size=1.0):
    times = np.cumsum(rng.uniform(0.3, 1.0, points))
    q, v, a = size * rng.normal(size=(3, points, len(names)))
    v[-1] = 0.0
    return JointTrajectory(names, times, *(q, v, a)[: KINDS.index(kind) + 1])


# -- extrema ----------------------------------------------------------------------------------


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('velocity', [False, True])
def test_extremes_are_those_of_dense_samples_at_their_times(rng, kind, velocity):
    for _ in range(3):
        motion = random_motion(rng, ['a', 'b'], kind, points=6)
        t = np.linspace(motion.start_time, motion.end_time - 1e-9, 1500)
        sampled = np.array([motion.sample(x)[int(velocity)] for x in t])
        for j in range(2):
            (low, at_low), (high, at_high) = extrema(motion, j, velocity)
            assert low <= sampled[:, j].min() + 1e-9 and high >= sampled[:, j].max() - 1e-9
            assert_allclose(low, sampled[:, j].min(), rtol=0, atol=1e-3)
            assert_allclose(high, sampled[:, j].max(), rtol=0, atol=1e-3)
            for value, time in ((low, at_low), (high, at_high)):
                assert_allclose(
                    motion.sample(min(time, t[-1]))[int(velocity)][j], value, rtol=0, atol=1e-7
                )


def test_one_point_is_both_extremes():
    point = JointTrajectory(['a'], [2.0], [[0.5]])
    assert extrema(point, 0) == ((0.5, 2.0), (0.5, 2.0))
    assert extrema(point, 0, velocity=True) == ((0.0, 2.0), (0.0, 2.0))


# -- margins ----------------------------------------------------------------------------------


def test_margins_are_those_of_a_dense_search(arm, rng):
    motion = random_motion(rng, arm.joint_names, 'velocities')
    feedforward = Feedforward(arm)
    report = check_trajectory(feedforward, motion)
    t = np.linspace(motion.start_time, motion.end_time, 1001)[:-1]
    # Accelerations jump at the points: efforts are greatest right before or after some of them.
    t = np.concatenate([t, motion.times[:-1] + 1e-9, motion.times[1:] - 1e-9])
    q, v, a = (np.array(x) for x in zip(*(motion.sample(x) for x in t)))
    efforts = np.abs(feedforward.efforts(q, v, a)).max(axis=0)
    for j, name in enumerate(arm.joint_names):
        effort = report.margins_of('effort')[name]
        assert effort.margin <= arm.effort_limits[j] - efforts[j] + 0.01
        # Samples of either lie beside the maximum by a thousandth of a swing.
        assert_allclose(effort.margin, arm.effort_limits[j] - efforts[j], rtol=0, atol=0.05)
        assert_allclose(effort.limit - effort.value, np.sign(effort.value) * effort.margin)
        speed = report.margins_of('velocity')[name]
        assert_allclose(speed.margin, 3.1416 - np.abs(v[:, j]).max(), rtol=0, atol=1e-3)
        place = report.margins_of('position')[name]
        room = min(arm.upper_limits[j] - q[:, j].max(), q[:, j].min() - arm.lower_limits[j])
        assert_allclose(place.margin, room, rtol=0, atol=1e-3)
        for margin in (effort, speed, place):
            assert motion.start_time <= margin.time <= motion.end_time
    assert report.within_limits == all(m.margin >= 0.0 for m in report.margins)


def test_a_margin_is_found_where_the_effort_jumps_at_a_point(lift):
    """The cubic before a point may brake harder than that after it."""
    smooth = limited(lift, 100.0, friction='none')
    motion = JointTrajectory(['slide'], [0.0, 1.0, 2.0], [[0.0], [0.5], [0.5]], np.zeros((3, 1)))
    margin = check_trajectory(smooth, motion).margins_of('effort')['slide']
    assert (margin.value, margin.time) == (pytest.approx(MASS * (GRAVITY + 3.0)), 0.0)
    down = JointTrajectory(['slide'], [0.0, 1.0, 2.0], [[0.5], [0.0], [0.0]], np.zeros((3, 1)))
    margin = check_trajectory(smooth, down).margins_of('effort')['slide']
    assert (margin.value, margin.time) == (pytest.approx(MASS * (GRAVITY + 3.0)), 1.0)


def test_the_end_is_held_after_a_deceleration_that_took_less():
    """A swing upwards about y brakes by gravity, which the robot then has to carry."""
    inside = '<limit lower="-3" upper="3" velocity="9" effort="8"/>'
    swing = Robot.from_urdf(
        urdf_text.robot(
            urdf_text.link('base'),
            urdf_text.link('arm', urdf_text.inertial(xyz='1 0 0')),
            urdf_text.joint('hinge', 'base', 'arm', inside=inside, axis='0 1 0'),
        )
    )
    motion = JointTrajectory(
        ['hinge'], [0.0, 0.5], [[-0.25], [-0.5]], [[-1.0], [0.0]], [[2.0], [2.0]]
    )
    report = check_trajectory(Feedforward(swing), motion)
    margin = report.margins_of('effort')['hinge']
    assert_allclose((margin.value, margin.time), (-GRAVITY * np.cos(0.5), 0.5))
    assert not margin.within_limits and report.safe_time_scale is None


def test_joints_without_limits_have_no_margins(arm):
    free = limited(arm, np.inf)
    motion = JointTrajectory(arm.joint_names, [0.0, 1.0], np.zeros((2, 6)))
    report = check_trajectory(free, motion, velocity_limits=np.full(6, np.inf))
    assert not report.margins_of('effort') and not report.margins_of('velocity')
    assert report.within_limits and (report.min_time_scale, report.safe_time_scale) == (0.0, 0.0)
    with pytest.raises(ValueError, match='velocity_limits must be 6 numbers'):
        check_trajectory(free, motion, velocity_limits=[1.0])


def test_joints_that_are_held_are_judged_by_effort_alone(arm):
    names = arm.joint_names
    motion = JointTrajectory(names[:1], [0.0, 1.0], [[0.0], [0.1]])
    report = check_trajectory(Feedforward(arm), motion, dict.fromkeys(names[1:], 0.2))
    assert tuple(report.margins_of('effort')) == names
    assert (
        tuple(report.margins_of('velocity')) == tuple(report.margins_of('position')) == names[:1]
    )
    with pytest.raises(TrajectoryError, match='leaves out joint'):
        check_trajectory(Feedforward(arm), motion)


def test_a_single_point_is_judged_at_rest(lift):
    report = check_trajectory(limited(lift, 10.0), JointTrajectory(['slide'], [1.0], [[0.3]]))
    assert report.margins_of('effort')['slide'].value == pytest.approx(MASS * GRAVITY)
    assert report.min_time_scale is None and report.safe_time_scale is None
    assert [m.quantity for m in report.obstacles] == ['effort']


# -- duration ---------------------------------------------------------------------------------

UP = JointTrajectory(['slide'], [0.0, 2.0], [[0.0], [0.5]])  # a = 0.75 at the start, v = 0.375


def test_the_duration_of_a_lift_is_that_of_the_formula(lift):
    """The cubic begins with 6 d / T^2; friction is left out."""
    limit = MASS * (GRAVITY + 3.0)
    report = check_trajectory(limited(lift, limit, friction='none'), UP)
    assert_allclose(report.min_time_scale, 0.5, rtol=1e-7)
    assert report.safe_time_scale == report.min_time_scale


def test_friction_counts_by_its_power_of_the_speed(lift):
    """Within the motion, C + g m + D v x + m a x^2 has its maximum at an inner place."""
    limit = 30.0
    report = check_trajectory(limited(lift, limit, transition_velocity=1e-12), UP)
    u = np.linspace(0.0, 1.0, 1001)[1:-1]
    v, a = 0.5 * 6 * u * (1 - u) / 2.0, 0.5 * (6 - 12 * u) / 4.0

    def worst(s):
        return (MASS * GRAVITY + COULOMB + VISCOUS * v / s + MASS * a / s**2).max()

    assert_allclose(worst(report.min_time_scale), limit, rtol=1e-4)


def test_speed_limits_bound_the_duration_exactly(lift):
    report = check_trajectory(limited(lift, np.inf), UP, velocity_limits=[0.1])
    assert_allclose((report.min_time_scale, report.safe_time_scale), 3.75, rtol=1e-7)
    assert not report.within_limits and not report.obstacles
    never = check_trajectory(limited(lift, np.inf), UP, velocity_limits=[0.0])
    assert never.min_time_scale is None


def test_a_motion_with_an_excessive_holding_effort_has_no_duration(lift):
    report = check_trajectory(limited(lift, MASS * GRAVITY - 0.1), UP)
    assert report.min_time_scale is report.safe_time_scale is None
    (margin,) = report.obstacles
    assert (margin.joint, margin.quantity) == ('slide', 'effort')


def test_a_downward_motion_may_exceed_the_holding_effort(lift):
    """In a motion that accelerates downwards throughout, a weak motor may do, not slowly though.

    m (g - 2 x^2) is within +-15 N from x^2 = (g - 7.5) / 2 to (g + 7.5) / 2.
    """
    motion = JointTrajectory(
        ['slide'],
        [0.0, 0.5],
        [[0.5], [0.5 - 0.5 - 0.25]],
        [[-1.0], [-2.0]],
        [[-2.0], [-2.0]],
        allow_nonzero_end_velocity=True,
    )
    report = check_trajectory(limited(lift, 15.0, friction='none'), motion, velocity_limits=[10.0])
    assert_allclose(report.min_time_scale, ((GRAVITY + 7.5) / 2) ** -0.5, rtol=1e-6)
    assert report.safe_time_scale is None and report.obstacles and not report.within_limits


def test_positions_beyond_limits_have_no_duration(lift):
    report = check_trajectory(
        Feedforward(lift), JointTrajectory(['slide'], [0.0, 9.0], [[0.0], [1.1]])
    )
    assert report.min_time_scale is report.safe_time_scale is None
    assert report.obstacles[0].quantity == 'position'
    assert_allclose(report.obstacles[0].margin, -0.1)


@pytest.mark.parametrize('kind', KINDS)
def test_limits_are_kept_at_the_shortest_duration_and_not_below(arm, rng, kind):
    """Over random motions: where it is effort that decides, and where it is speed."""
    deciding = set()
    for k in range(6):
        motion = random_motion(rng, arm.joint_names, kind, size=0.3)
        limits = rng.uniform(1.1, 2.5) * np.array([40.0, 90.0, 40.0, 6.0, 4.0, 1.0])
        feedforward = limited(arm, limits)
        speeds = np.full(6, rng.uniform(0.5, 3.0) if k % 2 else np.inf)
        report = check_trajectory(feedforward, motion, velocity_limits=speeds)
        if report.min_time_scale is None:
            assert report.obstacles
            continue
        at = check_trajectory(
            feedforward, motion.scale_time(report.min_time_scale), velocity_limits=speeds
        )
        below = check_trajectory(
            feedforward, motion.scale_time(0.999 * report.min_time_scale), velocity_limits=speeds
        )
        assert at.within_limits and not below.within_limits
        assert_allclose(at.min_time_scale, 1.0, rtol=1e-6)
        deciding.update(m.quantity for m in below.margins if not m.within_limits)
        if report.safe_time_scale is not None:
            for factor in report.safe_time_scale * np.array([1.0, 1.5, 10.0]):
                slow = check_trajectory(
                    feedforward, motion.scale_time(factor), velocity_limits=speeds
                )
                assert slow.within_limits
    assert deciding == {'effort', 'velocity'}


def test_slower_is_the_same_path(rng):
    for kind in KINDS:
        motion = random_motion(rng, ['a', 'b'], kind)
        slow = motion.scale_time(2.5)
        for t in rng.uniform(motion.start_time, motion.end_time, 5):
            for order, (x, y) in enumerate(zip(motion.sample(t), slow.sample(2.5 * t))):
                assert_allclose(y * 2.5**order, x, rtol=1e-9, atol=1e-9)
    for factor in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(TrajectoryError, match='factor must be positive'):
            motion.scale_time(factor)


@pytest.mark.parametrize(
    'documented',
    [
        trajectory_report.check_trajectory,
        extrema_file.extrema,
        JointTrajectory.scale_time,
    ],
    ids=lambda function: function.__name__,
)
def test_examples_give_the_documented_output(documented):
    start = {
        'np': np,
        'Robot': Robot,
        'JointTrajectory': JointTrajectory,
        'resource_path': resource_path,
    }
    assert doctests.run(documented.__doc__, start) == ''
