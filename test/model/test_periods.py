# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Periods of joint positions."""

import numpy as np
from numpy.testing import assert_allclose
import pytest

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.model.joints import Helical, Planar, Prismatic, Revolute
from rbd_ros.model.model import _repeats

TURN = 2.0 * np.pi
BODY = (
    '<link name="{}"><inertial><origin xyz="0.2 0.1 0"/><mass value="1"/>'
    '<inertia ixx="0.01" iyy="0.02" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
LIMIT = '<limit lower="{}" upper="{}" effort="9" velocity="9"/>'


def pair(master='continuous', limit='', follower='continuous', inside='', multiplier=None):
    """Return two joints, one after the other, the second of which may follow the first."""
    mimic = '' if multiplier is None else f'<mimic joint="first" multiplier="{multiplier}"/>'
    return Robot.from_urdf(
        f'<robot name="pair"><link name="base"/>{BODY.format("a")}{BODY.format("b")}'
        f'<joint name="first" type="{master}"><parent link="base"/><child link="a"/>'
        f'<axis xyz="0 0 1"/>{limit}</joint>'
        f'<joint name="second" type="{follower}"><parent link="a"/><child link="b"/>'
        f'<origin xyz="0.3 0 0"/><axis xyz="0 0.6 0.8"/>{inside}{mimic}</joint></robot>'
    )


def test_joints_without_limits_repeat_after_a_turn_and_others_never():
    assert_allclose(pair().position_periods, [TURN, TURN])
    bounded = pair('revolute', LIMIT.format(-20, 20), 'prismatic', LIMIT.format(-1e9, 1e9))
    assert_allclose(bounded.position_periods, [np.inf, np.inf])
    arm = Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))
    assert np.isinf(arm.position_periods).all() and arm.position_periods.shape == (6,)
    with pytest.raises(ValueError):
        arm.position_periods[0] = 1.0


def test_huge_limits_count_as_none():
    """Some descriptions write a great number; a hinge without <limit> has none, too."""
    assert_allclose(pair('revolute', LIMIT.format(-1e9, 1e9)).position_periods, [TURN, TURN])
    assert_allclose(pair('revolute').position_periods, [TURN, TURN])
    assert_allclose(pair('revolute', LIMIT.format(-1e9, 3)).position_periods, [np.inf, TURN])


def test_a_joint_with_soft_limits_has_no_period():
    soft = '<safety_controller soft_lower_limit="-3" soft_upper_limit="3" k_velocity="1"/>'
    text = LIMIT.format(-1e9, 1e9) + soft
    assert_allclose(pair('revolute', text).position_periods, [np.inf, TURN])


@pytest.mark.parametrize(
    ('multiplier', 'turns'), [(1, 1), (-3, 1), (0.5, 2), (-1.5, 2), (0.3333333333333, 3), (0, 1)]
)
def test_with_a_mimic_joint_it_takes_turns_until_both_are_where_they_were(multiplier, turns):
    robot = pair(multiplier=multiplier)
    assert_allclose(robot.position_periods, [turns * TURN])
    q, v = np.array([0.3]), np.array([0.7])
    later = q + robot.position_periods
    for function in (robot.mass_matrix, robot.gravity_torque):
        assert_allclose(function(later), function(q), rtol=1e-9, atol=1e-9)
    assert_allclose(robot.bias_force(later, v), robot.bias_force(q, v), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    'options',
    [
        {'multiplier': 0.31234567},  # no ratio of small numbers: never again where it was
        {'multiplier': 1, 'follower': 'prismatic', 'inside': LIMIT.format(-1, 1)},
        {'multiplier': 1, 'follower': 'revolute', 'inside': LIMIT.format(-1, 1)},
    ],
)
def test_a_driving_joint_may_have_no_period(options):
    assert_allclose(pair(**options).position_periods, [np.inf])


def test_two_mimic_joints_together():
    third = (
        BODY.format('c') + '<joint name="third" type="continuous"><parent link="b"/>'
        '<child link="c"/><axis xyz="1 0 0"/><mimic joint="first" multiplier="{}"/></joint>'
    )
    text = (
        f'<robot name="pair"><link name="base"/>{BODY.format("a")}{BODY.format("b")}'
        '<joint name="first" type="continuous"><parent link="base"/><child link="a"/>'
        '<axis xyz="0 0 1"/></joint><joint name="second" type="continuous"><parent link="a"/>'
        '<child link="b"/><axis xyz="0 1 0"/><mimic joint="first" multiplier="0.5"/></joint>'
        f'{third.format(-0.3333333333333333)}</robot>'
    )
    assert_allclose(Robot.from_urdf(text).position_periods, [6.0 * TURN])


def test_a_floating_base_has_its_own_algebra():
    text = (
        f'<robot name="free">{BODY.format("base")}{BODY.format("a")}'
        '<joint name="first" type="continuous"><parent link="base"/><child link="a"/>'
        '<axis xyz="0 0 1"/></joint></robot>'
    )
    free = Robot.from_urdf(text, floating_base=True)
    assert_allclose(free.position_periods, [*[np.inf] * 6, TURN])


@pytest.mark.parametrize('joint', [*Revolute.examples()])
def test_hinges_repeat(joint):
    assert _repeats(joint)


@pytest.mark.parametrize('joint', [*Helical.examples(), *Prismatic.examples(), *Planar.examples()])
def test_screws_slides_and_planar_joints_do_not(joint):
    assert not _repeats(joint)
