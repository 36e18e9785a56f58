# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Trajectories with efforts: their terms, at the points, between them and at the end."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from support import doctests, urdf_text

from rbd_ros import Robot
from rbd_ros.control import (
    add_feedforward,
    check_trajectory,
    Feedforward,
    friction_torque,
    JointTrajectory,
    LawSettings,
    payload_parameters,
    TorqueLaw,
    TrajectoryError,
)
from rbd_ros.control.analysis import feedforward_trajectory
from rbd_ros.control.law import feedforward as feedforward_file
from rbd_ros.control.motion import time_scaling
from rbd_ros.lookup.resources import resource_path

#: What is compiled is used for a moment: see conftest.py.
OPTIMIZED = False

KINDS = ('positions', 'velocities', 'accelerations')
PAYLOAD = payload_parameters(2.0, [0.1, 0.0, 0.05])
GRAVITY = [1.0, -2.0, -9.0]


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))


@pytest.fixture(scope='module')
def plain(arm):
    return Feedforward(arm)


@pytest.fixture(scope='module')
def two_link():
    return Robot.from_urdf(resource_path('urdf', 'two_link_arm.urdf'))


def random_points(rng, n, kind='accelerations', points=5):
    """Return the times and values of a motion that ends at rest, but for its acceleration."""
    times = np.cumsum(rng.uniform(0.3, 1.0, points)) - 0.3
    q, v, a = rng.normal(size=(3, points, n))
    v[-1] = 0.0
    return (times, q, v, a)[: KINDS.index(kind) + 2]


def test_efforts_are_those_of_the_torque_law_without_feedback(arm, rng):
    """The node inverse_dynamics sends the same if the robot has no error."""
    settings = LawSettings.for_robot(
        arm, feedback='none', gravity=GRAVITY, payload=PAYLOAD, transition_velocity=0.3
    )
    law = TorqueLaw(arm, settings, 'wrist_3_link')
    motion = rng.normal(size=(3, 7, 6))
    efforts = Feedforward(arm, settings, 'wrist_3_link').efforts(*motion)
    for effort, q, v, a in zip(efforts, *motion):
        assert_allclose(effort, law(q, v, q, v, a), rtol=1e-11, atol=1e-11)


def test_the_parts_of_an_effort_scale_as_they_say(arm, plain, rng):
    q, v, a = rng.normal(size=(3, 7, 6))
    parts = plain.parts(q, v, a)
    for s in (0.5, 3.0):
        scaled = parts.static + parts.viscous / s + parts.inertial / s**2
        assert_allclose(scaled, plain.efforts(q, v / s, a / s**2), rtol=1e-11, atol=1e-11)
    assert_allclose(parts.total, plain.efforts(q, v, a), rtol=1e-11, atol=1e-11)


def test_friction_can_be_omitted(arm, plain, rng):
    q, v, a = rng.normal(size=(3, 4, 6))
    settings = LawSettings.for_robot(arm, feedback='none', friction='none')
    bare = Feedforward(arm, settings)
    assert_allclose(bare.efforts(q, v, a), arm.inverse_dynamics(q, v, a), rtol=1e-12, atol=1e-12)
    assert_allclose(bare.parts(q, v, a).viscous, 0.0)
    lost = friction_torque(v, arm.damping, arm.friction, 3e-4)
    assert_allclose(plain.efforts(q, v, a) - bare.efforts(q, v, a), lost, atol=1e-11)


def test_long_trajectories_are_worked_on_in_slices(arm, plain, rng):
    q, v, a = rng.normal(size=(3, 500, 6))
    expected = arm.inverse_dynamics(q, v, a) + friction_torque(v, arm.damping, arm.friction, 3e-4)
    assert_allclose(plain.efforts(q, v, a), expected, rtol=1e-11, atol=1e-11)


# -- points -----------------------------------------------------------------------------------


def test_given_points_are_kept_in_any_order_of_joints(arm, plain, rng):
    times, q, v, a = random_points(rng, 6)
    order = rng.permutation(6)
    names = [arm.joint_names[i] for i in order]
    result = add_feedforward(
        plain, JointTrajectory(names, times, q[:, order], v[:, order], a[:, order])
    )
    expected = plain.efforts(q, v, a)
    assert_allclose(result.efforts[:-1], expected[:-1, order], rtol=1e-12, atol=1e-12)
    assert result.joint_names == tuple(names)
    for kept, given in zip(
        (result.times, result.positions, result.velocities, result.accelerations), (times, q, v, a)
    ):
        assert_array_equal(kept, given if kept is result.times else given[:, order])


@pytest.mark.parametrize('kind', KINDS)
def test_the_last_effort_holds_the_robot_where_it_ends(arm, plain, rng, kind):
    """Controllers keep sending it, after any deceleration."""
    times, *given = random_points(rng, 6, kind)
    result = add_feedforward(plain, JointTrajectory(arm.joint_names, times, *given))
    assert_allclose(result.efforts[-1], arm.gravity_torque(given[0][-1]), rtol=1e-10, atol=1e-10)


def test_a_motion_that_does_not_end_at_rest_keeps_its_acceleration(arm, plain, rng):
    times, q, v, a = random_points(rng, 6)
    v[-1] = 0.3
    moving = JointTrajectory(arm.joint_names, times, q, v, a, allow_nonzero_end_velocity=True)
    assert_allclose(add_feedforward(plain, moving).efforts, plain.efforts(q, v, a), rtol=1e-10)


def test_a_single_point_is_held(arm, plain):
    q = np.full((1, 6), 0.4)
    result = add_feedforward(plain, JointTrajectory(arm.joint_names, [2.0], q), point_spacing=0.1)
    assert_allclose(result.efforts, arm.gravity_torque(q), atol=1e-12)
    assert_array_equal(result.times, [2.0])


def test_missing_derivatives_are_those_of_the_smooth_motion(arm, plain, rng):
    """Just beside a point the motion has nearly its values there; a jump counts by halves."""
    for kind in ('positions', 'velocities'):
        times, *given = random_points(rng, 6, kind)
        motion = JointTrajectory(arm.joint_names, times, *given)
        efforts = add_feedforward(plain, motion).efforts
        for k, t in enumerate(times[:-1]):
            q, v, a = motion.sample(t)
            if k:
                a = 0.5 * (a + motion.sample(t - 1e-9)[2])
            expected = plain.efforts(q[None], v[None], a[None])[0]
            assert_allclose(efforts[k], expected, rtol=1e-5, atol=1e-5)


# -- more points ------------------------------------------------------------------------------


@pytest.mark.parametrize('kind', KINDS)
def test_points_in_between_are_on_the_same_motion(arm, plain, rng, kind):
    times, *given = random_points(rng, 6, kind)
    motion = JointTrajectory(arm.joint_names, times, *given)
    result = add_feedforward(plain, motion, point_spacing=0.07)
    assert np.diff(result.times).max() <= 0.07 + 1e-12
    assert np.isin(times, result.times).all()
    between = ~np.isin(result.times, times)
    for t, *values in zip(
        result.times[between],
        result.positions[between],
        result.velocities[between],
        result.accelerations[between],
    ):
        for value, sampled in zip(values, motion.sample(t)):
            assert_allclose(value, sampled, rtol=1e-9, atol=1e-9)
    assert_allclose(
        result.efforts[between],
        plain.efforts(
            result.positions[between], result.velocities[between], result.accelerations[between]
        ),
    )
    for k, t in enumerate(times):
        at = int(np.flatnonzero(result.times == t)[0])
        for values, array in zip(
            given, (result.positions, result.velocities, result.accelerations)
        ):
            assert_array_equal(array[at], values[k])


def test_a_jump_of_the_acceleration_counts_by_halves_among_more_points_too(arm, plain, rng):
    times, *given = random_points(rng, 6, 'velocities')
    motion = JointTrajectory(arm.joint_names, times, *given)
    result = add_feedforward(plain, motion, point_spacing=0.07)
    at = np.isin(result.times, times)
    assert_allclose(
        result.efforts[at], add_feedforward(plain, motion).efforts, rtol=1e-12, atol=1e-12
    )


def test_points_that_are_close_enough_stay_alone(arm, plain):
    times = np.arange(8) * 0.1
    motion = JointTrajectory(arm.joint_names, times, np.zeros((8, 6)))
    assert_array_equal(add_feedforward(plain, motion, point_spacing=0.1).times, times)


def test_efforts_alone_drive_the_robot_along_the_motion(two_link):
    """Without any feedback, interpolated as controllers do, integrated by another algorithm."""
    settings = LawSettings.for_robot(two_link, feedback='none', friction='none')
    goal = [[3.0, 0.0], [3.6, -0.4], [2.6, 0.3]]  # below, where errors do not grow
    motion = JointTrajectory(two_link.joint_names, [0.0, 0.6, 1.0], goal)
    result = add_feedforward(Feedforward(two_link, settings), motion, point_spacing=0.005)

    def rate(t, state):
        tau = [np.interp(t, result.times, column) for column in result.efforts.T]
        return np.concatenate([state[2:], two_link.forward_dynamics(state[:2], state[2:], tau)])

    state, h = np.array([3.0, 0.0, 0.0, 0.0]), 0.0025
    for k in range(396):  # the last 10 ms end with the effort at rest
        t = k * h
        one = rate(t, state)
        two = rate(t + h / 2, state + h / 2 * one)
        three = rate(t + h / 2, state + h / 2 * two)
        four = rate(t + h, state + h * three)
        state = state + h / 6 * (one + 2 * two + 2 * three + four)
    assert_allclose(state[:2], motion.sample(0.99)[0], rtol=0, atol=2e-4)


# -- some joints ------------------------------------------------------------------------------


def test_omitted_joints_are_held(arm, plain, rng):
    names, held = arm.joint_names[1:3], {arm.joint_names[i]: 0.3 * i for i in (0, 3, 4, 5)}
    times, q, v, a = random_points(rng, 2)
    result = add_feedforward(plain, JointTrajectory(names, times, q, v, a), held)
    whole = np.zeros((3, len(times), 6))
    whole[0] = [0.0, 0.0, 0.0, 0.9, 1.2, 1.5]
    whole[:, :, 1:3] = q, v, a
    whole[2, -1] = 0.0
    assert_allclose(result.efforts, plain.efforts(*whole)[:, 1:3], rtol=1e-12, atol=1e-12)
    assert result.positions.shape == (5, 2)


def line(names, **options):
    return JointTrajectory(names, [0.0, 1.0], np.zeros((2, len(names))), **options)


def rejected(feedforward, names, *arguments, **options):
    with pytest.raises(TrajectoryError) as caught:
        add_feedforward(feedforward, line(names), *arguments, **options)
    return str(caught.value), caught.value.joint


@pytest.mark.parametrize('given', ['positions', 'velocities'])
@pytest.mark.parametrize('point_spacing', [None, 0.03])
def test_positions_that_wrap_at_pi_continue_beyond_it(given, point_spacing):
    """As drivers and planners give those of a joint without position limits."""
    limit = '<limit effort="50" velocity="4"/>'
    plant = Feedforward(Robot.from_urdf(urdf_text.chain('continuous', 'continuous', inside=limit)))
    times = np.linspace(0.0, 5.0, 51)
    s = times / 5.0
    q = [2.8, -2.0] + np.outer(s**3 * (10.0 - 15.0 * s + 6.0 * s**2), [6.0, -9.0])
    rates = [np.outer(6.0 * s**2 * (1.0 - s) ** 2, [-9.0, 6.0])] * (given == 'velocities')
    wrapped = (q + np.pi) % (2.0 * np.pi) - np.pi
    names = plant.robot.joint_names[::-1]
    straight, found = (
        add_feedforward(
            plant,
            JointTrajectory(names, times, each[:, ::-1], *rates),
            point_spacing=point_spacing,
        )
        for each in (q, wrapped)
    )
    turns = (straight.positions[0] - found.positions[0]) / (2.0 * np.pi)
    assert_allclose(turns, np.round(turns), atol=1e-12)
    moved = found.positions + 2.0 * np.pi * np.round(turns)
    assert_allclose(moved, straight.positions, rtol=0.0, atol=1e-12)
    assert_allclose(found.efforts, straight.efforts, rtol=0.0, atol=1e-9)
    report = check_trajectory(plant, JointTrajectory(names, times, wrapped[:, ::-1], *rates))
    assert report.within_limits


def test_unusable_trajectories_are_rejected_by_name(arm, plain):
    names = arm.joint_names
    text, joint = rejected(plain, names[:4], {names[4]: 0.0})
    assert 'leaves out joint' in text and 'at which it is held' in text and joint == names[5]
    text, joint = rejected(plain, (*names[:5], 'wrist_4_joint'))
    assert "'wrist_4_joint' of the trajectory is not a joint of the robot" in text
    text, _ = rejected(plain, names, {'wing': 0.0})
    assert "'wing' to be held is not a joint of the robot" in text
    text, _ = rejected(plain, names[1:], {names[0]: np.nan})
    assert 'held at nan' in text
    for spacing in (0.0, -1.0, np.nan, np.inf):
        assert 'point_spacing must be positive' in rejected(plain, names, point_spacing=spacing)[0]
    assert 'points for 6 joints, more than' in rejected(plain, names, point_spacing=1e-9)[0]


def test_mimic_joints_count_with_the_joint_that_they_follow(rng):
    inside = '<mimic joint="j1" multiplier="2" offset="0.1"/>' + urdf_text.LIMIT
    text = urdf_text.robot(
        urdf_text.link('base'),
        urdf_text.link('a'),
        urdf_text.link('b'),
        urdf_text.joint('j1', 'base', 'a', axis='0 1 0', inside=urdf_text.LIMIT),
        urdf_text.joint('j2', 'a', 'b', axis='0 1 0', inside=inside),
    )
    robot = Robot.from_urdf(text)
    feedforward = Feedforward(robot)
    q = rng.normal(size=(3, 1))
    result = add_feedforward(
        feedforward, JointTrajectory(['j1'], [0.0, 1.0, 2.0], q), point_spacing=0.5
    )
    expected = robot.inverse_dynamics(result.positions, result.velocities, result.accelerations)
    assert_allclose(result.efforts[:-1], expected[:-1], rtol=1e-12, atol=1e-12)
    text, joint = rejected(feedforward, ['j2'])
    assert "'j2' mimics joint 'j1'" in text and joint == 'j2'


def test_robots_that_no_joint_trajectory_moves_are_rejected():
    arm = str(resource_path('urdf', 'two_link_arm.urdf'))
    with pytest.raises(ValueError, match='floating_base.*more than one degree of freedom'):
        Feedforward(Robot.from_urdf(arm, floating_base=True))
    linkage = Robot.from_urdf(
        str(resource_path('urdf', 'four_bar.urdf')),
        extension=str(resource_path('config', 'four_bar.yaml')),
    )
    with pytest.raises(ValueError, match='the robot has loops'):
        Feedforward(linkage)
    with pytest.raises(ValueError, match='no movable joint'):
        Feedforward(Robot.from_urdf(urdf_text.robot(urdf_text.link('base'))))


def test_a_payload_needs_its_link(arm):
    settings = LawSettings.for_robot(arm, feedback='none', payload=PAYLOAD)
    with pytest.raises(ValueError, match='payload_link'):
        Feedforward(arm, settings)
    with pytest.raises(ValueError, match='wing'):
        Feedforward(arm, settings, 'wing')


@pytest.mark.parametrize(
    'documented',
    [
        feedforward_trajectory.add_feedforward,
        feedforward_file.Feedforward,
        time_scaling.excluded_speeds,
        time_scaling.feasible_speeds,
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
