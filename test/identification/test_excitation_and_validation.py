# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Exciting motions respect limits and excite; validation reports the errors of a model."""

from pathlib import Path

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.recorded_motions import arm, fourier_motion, recorded

from rbd_ros import Robot
from rbd_ros.control import payload_parameters
from rbd_ros.identification import excitation, Recording, RecordingError, validate_model
from rbd_ros.identification.fourier_excitation import _condition


@pytest.fixture(scope='module')
def robot():
    return arm()


@pytest.fixture(scope='module')
def motion(robot):
    return excitation(robot, ranges={'elbow_joint': (0.5, 2.5)}, velocity_scaling=0.6)


def test_the_motion_keeps_all_limits(robot, motion):
    t = motion.trajectory
    assert t.times[0] == 5.0 and t.times[-1] == pytest.approx(15.0)
    assert (t.positions >= robot.lower_limits).all() and (t.positions <= robot.upper_limits).all()
    elbow = t.positions[:, 2]
    assert elbow.min() >= 0.5 - 1e-3 and elbow.max() <= 2.5 + 1e-3
    speed = np.abs(t.velocities).max(axis=0) / robot.velocity_limits
    assert (speed <= 0.6).all() and speed.max() > 0.3
    assert (np.abs(t.efforts) <= robot.effort_limits).all()


def test_it_begins_and_ends_at_rest_in_one_place(motion):
    t = motion.trajectory
    assert_allclose(t.positions[0], t.positions[-1], atol=1e-9)
    for values in (t.velocities, t.accelerations):
        assert (values[[0, -1]] == 0.0).all()
        assert np.abs(values[1]).max() < 0.2 * np.abs(values).max()


def test_velocities_and_accelerations_are_those_of_the_positions(motion):
    t = motion.trajectory
    for values, rate in ((t.positions, t.velocities), (t.velocities, t.accelerations)):
        slope = np.gradient(values, t.times, axis=0)
        assert_allclose(slope[2:-2], rate[2:-2], atol=0.01 * np.abs(rate).max())


def test_it_excites_better_than_any_of_many_random_motions(robot, motion):
    base = robot.regressors.base_parameters()
    rng = np.random.default_rng(4)
    random = [
        _condition(robot, base, *fourier_motion(robot, 10.0, 10.0, rng)[1:]) for _ in range(30)
    ]
    assert motion.condition_number < min(random)
    t = motion.trajectory
    same = _condition(robot, base, t.positions, t.velocities, t.accelerations)
    assert same == pytest.approx(motion.condition_number)


def test_weak_joints_shrink_the_motion_or_reject_it(robot):
    text = Path('urdf/six_axis_arm.urdf').read_text()
    weak = Robot.from_urdf(text.replace('effort="150"', 'effort="60"'))
    t = excitation(weak, period=8.0).trajectory
    assert (np.abs(t.efforts) <= weak.effort_limits).all()
    weaker = Robot.from_urdf(text.replace('effort="28"', 'effort="0.1"'))
    with pytest.raises(ValueError, match='effort limit of joint'):
        excitation(weaker, period=8.0)


@pytest.mark.parametrize(
    ('options', 'text'),
    [
        ({'period': 0.0}, 'period'),
        ({'period': np.inf}, 'period'),
        ({'point_spacing': -1.0}, 'point_spacing'),
        ({'point_spacing': 1.0}, '10 steps'),
        ({'start_time': -1.0}, 'start_time'),
        ({'velocity_scaling': 1.5}, 'at most 1'),
        ({'ranges': {'wing': (0.0, 1.0)}}, "'wing'"),
        ({'ranges': {'elbow_joint': (1.0, 0.0)}}, 'elbow_joint'),
        ({'ranges': {'elbow_joint': (0.0, 9.0)}}, 'elbow_joint'),
    ],
)
def test_arguments_that_cannot_be_are_rejected(robot, options, text):
    with pytest.raises(ValueError, match=text):
        excitation(robot, **options)


# -- validation -----------------------------------------------------------------------------------


def test_validation_of_a_correct_model_gives_no_hints(robot):
    found = validate_model(robot, recorded(robot))
    assert found.joint_names == robot.joint_names
    assert all(fit.relative_error < 0.03 and not fit.hint for fit in found.joints)
    assert all(abs(fit.scale - 1.0) < 0.01 for fit in found.joints)
    assert found.payload is None
    assert found.measured.shape == found.predicted.shape == (len(found.times), 6)


@pytest.mark.parametrize(
    ('options', 'joint', 'hint'),
    [
        ({'offset': np.array([0, 4.0, 0, 0, 0, 0])}, 1, 'the effort sensor has an offset of 3.9'),
        ({'friction': np.array([4.5, 1.5, 1.0, 0.15, 0.15, 0.03])}, 0, 'Coulomb friction'),
        ({'damping': np.array([1.2, 1.2, 6.0, 0.15, 0.15, 0.02])}, 2, 'viscous friction'),
    ],
    ids=['offset', 'Coulomb', 'viscous'],
)
def test_an_error_of_one_joint_is_reported(robot, options, joint, hint):
    fits = validate_model(robot, recorded(robot, **options)).joints
    assert fits[joint].hint.startswith(hint)
    assert [bool(fit.hint) for fit in fits] == [k == joint for k in range(6)]


def test_missing_terms_are_estimated(robot):
    offset = np.array([0.0, 4.0, 0.0, 0.0, 0.0, 0.0])
    states = recorded(robot, offset=offset, friction=robot.friction + [1.0, 0, 0, 0, 0, 0])
    fits = validate_model(robot, states).joints
    assert fits[1].bias == pytest.approx(4.0, abs=0.1)
    assert fits[0].coulomb == pytest.approx(1.0, abs=0.05)
    assert fits[0].viscous == pytest.approx(0.0, abs=0.2)
    assert fits[1].explained > 0.9


def test_a_motor_constant_is_reported_as_a_scale(robot):
    states = recorded(robot)
    efforts = states.efforts.copy()
    efforts[:, 2] *= 1.5
    fits = validate_model(
        robot, Recording(states.joint_names, states.times, states.positions, efforts)
    ).joints
    assert fits[2].scale == pytest.approx(1.5, abs=0.01)
    assert fits[2].hint.startswith('the effort is 1.5 times that of the model')


def test_a_payload_missing_in_the_model_is_reported(robot):
    carried = payload_parameters(1.5, (0.01, 0.02, 0.08), np.diag([0.006, 0.005, 0.004]))
    found = validate_model(robot, recorded(robot, payload=carried))
    assert found.payload.link == 'tool0'
    assert found.payload.mass == pytest.approx(1.5, abs=0.02)
    assert found.payload_explained > 0.9


def test_without_efforts_nothing_is_evaluated(robot):
    states = recorded(robot, duration=4.0)
    nothing = Recording(
        states.joint_names, states.times, states.positions, np.full_like(states.efforts, np.nan)
    )
    with pytest.raises(RecordingError, match='has no efforts'):
        validate_model(robot, nothing)
