# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""By default, arms come to rest at their goals: exact and wrong models, delays, real sensors.

The plant is the package's simulator with exact dry friction, its time step 1 ms.
"""

from functools import lru_cache

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.arms import EMBEDDED, path_of, REAL
from support.closed_loop import Jump, quintic, random_motions, run, with_wrong_model

from rbd_ros import Robot
from rbd_ros.control import default_gains, JointTrajectory, LawSettings, pd_gains

GOAL = 1e-3  # where every motion ends with the right model [rad or m]
WRONG_GOAL = 0.02  # and with one that is wrong by a fifth
SETTLED = 0.5  # when it must have ended there [s]


@lru_cache(maxsize=None)
def load(name):
    path = str(path_of(name))
    return Robot.from_urdf(path), path


def three_motions(robot):
    """Return three motions of 3 s, two to where gravity is felt, and back."""
    places = [np.zeros(6), np.full(6, 0.5), np.array([-0.5, -1.0, 0.8, -0.4, 0.6, 1.0])]
    return [quintic(robot, a, b) for a, b in zip(places, [*places[1:], places[0]])]


def test_the_default_robot_ends_where_it_should():
    robot, _ = load('six_axis_arm')
    for motion in three_motions(robot):
        result = run(robot, LawSettings.for_robot(robot), motion)
        assert result.resting(SETTLED) < GOAL
        assert not result.velocity[-100:].any()


def test_gains_from_inertia_alone_do_not_hold_the_default_robot():
    """Why gains are not that simple: below the gradient of gravity, the arm falls."""
    robot, _ = load('six_axis_arm')
    rng = np.random.default_rng(0)
    kp, kd = pd_gains(robot, [robot.random_configuration(rng) for _ in range(32)], 10.0)
    settings = LawSettings.for_robot(robot, feedback='pd', friction='none', kp=kp, kd=kd)
    errors = [run(robot, settings, m).resting(SETTLED) for m in three_motions(robot)]
    assert max(errors) > 0.05


@pytest.mark.parametrize('name', EMBEDDED + REAL)
def test_every_motion_ends_within_a_milliradian(name):
    robot, _ = load(name)
    settings = LawSettings.for_robot(robot)
    for delay, motion in zip((1, 3), random_motions(robot, 2)):
        result = run(robot, settings, motion, delay=delay)
        assert result.peak() < 2e-3
        assert result.resting(SETTLED) < GOAL
        assert np.abs(result.velocity[-50:]).max() < 1e-3


@pytest.mark.parametrize('name', ['planar_3r', 'stanford_arm', 'panda', 'ur5_robot', 'so101'])
@pytest.mark.parametrize('wrong', ['heavy', 'light', 'random'])
def test_a_model_wrong_by_a_fifth_does_not_affect_the_rest(name, wrong):
    robot, path = load(name)
    rng = np.random.default_rng(1)
    factor = {
        'heavy': lambda: 1.2,
        'light': lambda: 0.8,
        'random': lambda: 1.0 + 0.2 * rng.choice([-1, 1]),
    }[wrong]
    model = with_wrong_model(path, factor)
    settings = LawSettings.for_robot(model)
    for motion in random_motions(robot, 1, seed=2):
        result = run(robot, settings, motion, model)
        assert result.peak() < 0.15
        assert result.resting(SETTLED) < WRONG_GOAL


IMPERFECT = {
    '1 kHz with 3 ms of dead time': {'delay': 3},
    '200 Hz with one sample of delay': {'period': 5, 'delay': 5},
    'one state in five lost': {'lost': 0.2},
    'pauses of 30 ms': {'pauses': 2.0},
    'encoders and noise': {'resolution': 1e-4, 'velocity_noise': 1e-3, 'delay': 3},
    'no velocities': {'velocities': False},
    'no velocities, encoders': {'velocities': False, 'resolution': 1e-4},
    'no velocities, 200 Hz': {'velocities': False, 'period': 5, 'delay': 5},
}


@pytest.mark.parametrize('name', ['six_axis_arm', 'z1', 'so101'])
@pytest.mark.parametrize('case', IMPERFECT)
def test_imperfect_connections_do_not_affect_the_rest(name, case):
    robot, path = load(name)
    motion = random_motions(robot, 2, seed=5)[1]
    result = run(robot, LawSettings.for_robot(robot), motion, **IMPERFECT[case])
    assert result.peak() < 0.01
    assert result.resting(SETTLED) < GOAL
    # No chatter: what the sensors' noise makes of the torque stays below the twentieth part.
    tail = result.torque[-100:] / robot.effort_limits
    assert np.ptp(tail, axis=0).max() < 0.05


@pytest.mark.parametrize('case', ['200 Hz with one sample of delay', 'encoders and noise'])
def test_imperfect_connections_and_a_wrong_model_together(case):
    robot, path = load('six_axis_arm')
    model = with_wrong_model(path, lambda: 0.8)
    motion = random_motions(robot, 2, seed=5)[1]
    result = run(robot, LawSettings.for_robot(model), motion, model, **IMPERFECT[case])
    assert result.resting(SETTLED) < WRONG_GOAL


def test_trajectories_of_positions_alone_end_as_well():
    """Their acceleration jumps at the ends."""
    robot, _ = load('six_axis_arm')
    goal = np.array([0.8, -1.0, 0.6, -1.2, 0.5, 1.0])
    motion = JointTrajectory(robot.joint_names, [0.0, 3.0], [np.zeros(6), goal])
    result = run(robot, LawSettings.for_robot(robot), motion)
    assert result.peak() < 5e-3
    assert result.resting(SETTLED) < GOAL


def test_stiction_makes_no_limit_cycle():
    """With a wrong model, real encoders and noise, all joints stay where they came to rest."""
    robot, path = load('six_axis_arm')
    model = with_wrong_model(path, lambda: 1.2)
    motion = random_motions(robot, 1, seed=3)[0]
    result = run(
        robot,
        LawSettings.for_robot(model),
        motion,
        model,
        after=10.0,
        resolution=1e-4,
        velocity_noise=1e-3,
    )
    assert np.ptp(result.error[-5000:], axis=0).max() < 3e-4
    assert result.resting(5.0) < GOAL


def test_after_a_jump_of_the_desired_position_all_joints_go_there_together():
    """No torque saturates, nothing overshoots, and the integral has not wound up."""
    robot, _ = load('six_axis_arm')
    jump = Jump(np.zeros(6), np.full(6, 0.5))
    result = run(robot, LawSettings.for_robot(robot), jump, after=6.0)
    assert (np.abs(result.torque) < robot.effort_limits).all()
    assert result.error.min() > -0.01
    assert result.resting(3.0) < 0.01
    assert np.abs(result.error[-1]).max() < GOAL


@pytest.mark.parametrize('feedback', ['computed_torque', 'pd'])
def test_the_arm_recovers_from_being_held(feedback):
    """Pushed for two seconds by more than its motor can do, it returns without swinging."""
    robot, _ = load('two_link_arm')
    result = run(
        robot,
        LawSettings.for_robot(robot, feedback=feedback),
        Jump([0.5, 0.5], [0.5, 0.5]),
        after=6.0,
        disturbance=lambda t: np.array([0.0, 25.0 if 0.5 < t < 2.5 else 0.0]),
    )
    way = -result.error[:, 1].min()
    assert way > 0.5
    assert result.error[2500:, 1].max() < 0.25 * way
    assert result.resting(5.0) < (GOAL if feedback == 'computed_torque' else 2 * GOAL)


def test_a_constant_force_is_compensated():
    robot, _ = load('stanford_arm')
    motion = random_motions(robot, 1)[0]
    force = np.array([3.0, 5.0, 30.0, 0.5, 0.5, 0.3])
    result = run(
        robot, LawSettings.for_robot(robot), motion, after=2.0, disturbance=lambda t: force
    )
    assert result.resting(1.0) < GOAL


# -- gains --------------------------------------------------------------------------------------


def test_default_gains_of_computed_torque_are_one_triple_pole():
    robot, _ = load('two_link_arm')
    for frequency in (5.0, 18.0):
        kp, kd, ki = default_gains(robot, 'computed_torque', natural_frequency=frequency)
        roots = np.roots([1.0, kd[0], kp[0], ki[0]])
        assert_allclose(roots, -frequency, rtol=1e-3)
        assert (kp == kp[0]).all()


@pytest.mark.parametrize('feedback', ['pd', 'computed_torque'])
def test_the_same_robot_gets_the_same_gains(feedback):
    robot, path = load('panda')
    for a, b in zip(
        default_gains(robot, feedback), default_gains(Robot.from_urdf(path), feedback)
    ):
        assert (a == b).all()
        assert a.shape == (robot.nv,)


@pytest.mark.parametrize('name', ['natural_frequency', 'damping_ratio'])
@pytest.mark.parametrize('value', [0.0, -1.0, np.inf, np.nan])
def test_numbers_that_make_no_gains_are_rejected(name, value):
    with pytest.raises(ValueError, match=name):
        default_gains(load('two_link_arm')[0], **{name: value})
