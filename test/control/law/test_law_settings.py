# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Settings of a law are validated together, and rejected with joint and cure."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_array_equal
import pytest
from support.random_trees import chain

from rbd_ros import Robot
from rbd_ros.control import default_gains, LawSettings, payload_parameters, TorqueLaw
from rbd_ros.lookup.resources import resource_path


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))


def test_missing_settings_are_those_of_the_robot(arm):
    settings = LawSettings.for_robot(arm)
    assert_array_equal(settings.viscous, arm.damping)
    assert_array_equal(settings.coulomb, arm.friction)
    assert_array_equal(settings.effort_limits, arm.effort_limits)
    assert_array_equal(settings.gravity, arm.gravity)
    for name, gains in zip(('kp', 'kd', 'ki'), default_gains(arm, settings.feedback)):
        assert_array_equal(getattr(settings, name), gains)


def test_one_number_counts_for_all_joints(arm):
    settings = LawSettings.for_robot(arm, kp=10, kd=1)
    assert_array_equal(settings.kp, np.full(6, 10.0))
    assert not settings.ki.any()


def test_feedback_without_position_needs_no_gains(arm):
    for word in ('none', 'damping'):
        settings = LawSettings.for_robot(arm, feedback=word)
        assert not (settings.kp.any() or settings.kd.any() or settings.ki.any())


BAD = {
    'unknown feedforward': ({'feedforward': 'magic'}, 'feedforward must be one of .*gravity'),
    'unknown feedback': ({'feedback': 'pid'}, 'feedback must be one of .*computed_torque'),
    'unknown friction': ({'friction': 'yes'}, 'friction must be one of'),
    'kp alone': ({'kp': 1.0}, 'kd is missing'),
    'kd alone': ({'kd': 1.0}, 'kp is missing'),
    'wrong number of gains': ({'kp': [1.0, 2.0], 'kd': 1.0}, 'kp must be one number or 6'),
    'ragged gains': ({'kp': [1.0, [2.0]], 'kd': 1.0}, 'kp must be one number or 6'),
    'negative gain': ({'kp': 1.0, 'kd': [1, 1, -1, 1, 1, 1]}, "kd of joint 'elbow_joint' is -1"),
    'gain no number': ({'kp': np.nan, 'kd': 1.0}, "kp of joint 'shoulder_pan_joint' is nan"),
    'endless gain': ({'kp': np.inf, 'kd': 1.0}, 'kp of joint .* from 0 to 1e'),
    'absurd gain': ({'kp': 1e12, 'kd': 1.0}, 'kp of joint .* is 1e'),
    'unstable integral': ({'kp': 100, 'kd': 20, 'ki': 2000}, 'ki of joint .*below kp kd = 2000'),
    'integral alone': ({'kp': 0, 'kd': 1, 'ki': 1}, 'ki of joint .*give kp too'),
    'unstable integral of pd': (
        {'feedback': 'pd', 'kp': 100, 'kd': 1, 'ki': [0, 0, 1e4, 0, 0, 0]},
        "ki of joint 'elbow_joint' .*ki below",
    ),
    'limits short': ({'effort_limits': [1.0, 2.0]}, 'effort_limits must be one number or 6'),
    'limits negative': ({'effort_limits': [-1.0] * 6}, "effort_limits of joint 'shoulder_pan"),
    'limits no number': ({'effort_limits': np.nan}, 'effort_limits of joint'),
    'viscous negative': ({'viscous': -1.0}, 'viscous of joint'),
    'coulomb absurd': ({'coulomb': 1e9}, 'coulomb of joint'),
    'transition zero': ({'transition_velocity': 0.0}, 'transition_velocity must be positive'),
    'transition no number': ({'transition_velocity': np.nan}, 'transition_velocity'),
    'deadband negative': ({'integral_deadband': -1e-3}, 'integral_deadband must not be negative'),
    'gravity of two': ({'gravity': (0, 0)}, 'gravity must be 3 numbers'),
    'gravity in words': ({'gravity': 'down'}, 'gravity must be 3 numbers'),
    'gravity no number': ({'gravity': (0, 0, np.nan)}, 'gravity must be 3 numbers'),
    'gravity of a star': ({'gravity': (0, 0, -1e5)}, r'at most 1000 m/s\^2'),
    'payload short': ({'payload': [1.0]}, 'payload must be 10 finite inertial'),
    'payload no number': ({'payload': [np.nan] * 10}, 'payload must be 10 finite inertial'),
    'payload of a ship': ({'payload': [2e5, *[0.0] * 9]}, 'mass of the payload is 200000 kg'),
    'payload far away': ({'payload': [1.0, 500.0, *[0.0] * 8]}, 'is 500 m from its link'),
    'payload no body': ({'payload': [1.0, 0.1, *[0.0] * 8]}, 'not physical'),
}


@pytest.mark.parametrize('case', BAD)
def test_illegal_settings_are_rejected(arm, case):
    changes, text = BAD[case]
    with pytest.raises(ValueError, match=text):
        LawSettings.for_robot(arm, **changes)


def test_the_integral_that_is_surely_stable_is_accepted(arm):
    """The number that a rejection names."""
    gains = {'feedback': 'pd', 'kp': 100.0, 'kd': 1.0}
    with pytest.raises(ValueError, match='ki of joint') as caught:
        LawSettings.for_robot(arm, ki=1e5, **gains)
    most = float(str(caught.value).split('ki below ')[1].split()[0])
    LawSettings.for_robot(arm, ki=0.99 * most, **gains)


def test_settings_with_an_infinite_torque_are_rejected(arm):
    """Each number is legal, their product is not a torque."""
    legal = LawSettings.for_robot(arm)
    absurd = replace(legal, kp=np.full(6, 1e308), kd=np.full(6, 1e308))
    law = TorqueLaw(arm, legal)
    with pytest.raises(ValueError, match='is not finite; gains'):
        law.settings = absurd
    assert law.settings is legal


def test_a_payload_from_a_data_sheet_is_accepted(arm):
    payload = payload_parameters(2.0, (0.1, 0.02, 0.3), (0.02, 0.001, 0.002, 0.03, 0.003, 0.04))
    law = TorqueLaw(arm, LawSettings.for_robot(arm, payload=payload), 'tool0')
    assert_array_equal(law.settings.payload, payload)


def test_gains_for_a_joint_without_mass_must_be_given():
    mass = {'type': 'revolute', 'axis': (0, 1, 0), 'mass': 1.0, 'center': (0, 0, 0.5)}
    robot = Robot.from_urdf(chain([mass, {'type': 'revolute', 'xyz': (0, 0, 1)}]))
    with pytest.raises(ValueError, match='joint2 moves no mass.*armature'):
        LawSettings.for_robot(robot)
    LawSettings.for_robot(robot, feedback='pd', kp=1.0, kd=1.0, ki=1.0)
