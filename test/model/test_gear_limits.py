# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Limits of mimic joints, as limits of their leaders."""

import math

import numpy as np
import pytest
from support.urdf_text import joint, link, robot

from rbd_ros import Robot
from rbd_ros.control.law.soft_stops import soft_limits
from rbd_ros.doctor.urdf_lint import lint_model


def limit(lower=-1.0, upper=1.0, velocity=5.0, effort=10.0):
    return f'<limit lower="{lower}" upper="{upper}" velocity="{velocity}" effort="{effort}"/>'


WIDE = limit()


def driven(*followers, master=WIDE, kind='revolute', **options):
    """Return the robot whose joint m drives f0, f1.

    ...; each is (multiplier, offset, what is inside).
    """
    links = [link('base'), link('a')] + [link(f'l{k}') for k in range(len(followers))]
    joints = [joint('m', 'base', 'a', kind, master)]
    for k, (ratio, offset, inside) in enumerate(followers):
        mimic = f'<mimic joint="m" multiplier="{ratio}" offset="{offset}"/>'
        joints.append(joint(f'f{k}', 'a', f'l{k}', 'revolute', inside + mimic))
    return Robot.from_urdf(robot(*links, *joints), **options)


def limits_of(subject):
    return (
        subject.lower_limits[0],
        subject.upper_limits[0],
        subject.velocity_limits[0],
        subject.effort_limits[0],
    )


def test_a_followers_limits_hold_for_its_driver_by_multiplier_offset_and_sign():
    """Within -0.5 to 0.3, 0.1 - 2 q lets q be -0.1 to 0.3; power says 3 N m are 6 N m there."""
    subject = driven((-2.0, 0.1, limit(-0.5, 0.3, 1.0, 3.0)))
    assert limits_of(subject) == pytest.approx((-0.1, 0.3, 0.5, 6.0))
    (warning,) = subject.warnings
    for part in ("'m'", "'f0'", '-0.1 to 0.3 instead of -1 to 1', 'speed 0.5', 'effort 6'):
        assert part in warning
    assert subject.model.body(1).limits.upper == 1.0  # what was given


@pytest.mark.parametrize('seed', range(20))
def test_positions_speeds_and_efforts_within_the_limits_are_those_of_each_joint(seed):
    """Without the formula: positions are sampled, and each joint looks at its own limits."""
    rng = np.random.default_rng(seed)
    ratios = rng.uniform(0.2, 3.0, 3) * rng.choice([-1.0, 1.0], 3)
    offsets = rng.uniform(-0.2, 0.2, 3)
    widths = rng.uniform(0.5, 2.0, (3, 2))
    speeds, efforts = rng.uniform(1.0, 9.0, 3), rng.uniform(1.0, 20.0, 3)
    subject = driven(
        *(
            (r, o, limit(-w[0], w[1], v, e))
            for r, o, w, v, e in zip(ratios, offsets, widths, speeds, efforts)
        )
    )
    lower, upper, velocity, effort = limits_of(subject)
    for q in rng.uniform(-1.2, 1.2, 400):
        positions = ratios * q + offsets
        allowed = (-widths[:, 0] <= positions) & (positions <= widths[:, 1])
        assert (lower <= q <= upper) == (allowed.all() and abs(q) <= 1.0)
    for v in rng.uniform(0.0, 6.0, 200):
        assert (v <= velocity) == (bool((np.abs(ratios) * v <= speeds).all()) and v <= 5.0)
    # The power of an effort is the same at both ends of a gear.
    for tau in rng.uniform(0.0, 12.0, 200):
        within = bool((tau / np.abs(ratios) <= efforts).all()) and tau <= 10.0
        assert (tau <= effort) == within


def test_limits_that_are_no_narrower_change_nothing_and_say_nothing():
    wide = driven((-1.0, 0.0, limit(-1.0, 1.0)), (0.5, 0.0, limit(-9, 9, 9.0, 90.0)))
    assert limits_of(wide) == (-1.0, 1.0, 5.0, 10.0) and wide.warnings == ()
    third = 1.0 / 3.0  # which is written with digits that are missing
    rounded = driven((0.333333333, 0.0, limit(-third, third, 5 * third, 10 * 3.0)))
    assert limits_of(rounded) == (-1.0, 1.0, 5.0, 10.0) and rounded.warnings == ()


def test_a_joint_without_limits_gets_those_of_its_followers():
    subject = driven((2.0, 0.0, limit(-1, 3, 4.0, 6.0)), master='', kind='continuous')
    assert limits_of(subject) == (-0.5, 1.5, 2.0, 12.0)


def test_positions_beyond_the_range_are_omitted_and_named():
    """As in the URDF of the PR2: equal limits, and a multiplier of -1."""
    mirrored = driven((-1.0, 0.0, limit(0.0, 0.5, 1.0, 3.0)), master=limit(0.0, 0.5))
    assert limits_of(mirrored) == (0.0, 0.5, 1.0, 3.0)
    first, second = mirrored.warnings
    assert first.startswith("joint 'f0'") and "'m'" in first and 'from -0.5 to 0' in first
    assert 'positions' not in second and 'speed 1' in second and 'effort 3' in second
    apart = driven((1.0, 5.0, limit()), (0.5, 0.0, limit(-0.1, 0.4)))
    assert limits_of(apart)[:2] == (-0.2, 0.8)  # those of the other hold
    assert "joint 'f0'" in apart.warnings[0] and 'from 4 to 6' in apart.warnings[0]


def test_followers_that_contradict_each_other_are_named():
    subject = driven((1.0, 0.0, limit(-0.5, -0.2)), (1.0, 0.0, limit(0.2, 0.5)))
    assert limits_of(subject)[:2] == (-0.5, -0.2)
    assert "joint 'f1'" in subject.warnings[0] and 'cannot be met' in subject.warnings[0]


def test_a_fixed_follower_limits_nothing_unless_it_is_outside_its_limits():
    within = driven((0.0, 0.2, limit(0.0, 0.5, 0.1, 0.1)))
    assert limits_of(within) == (-1.0, 1.0, 5.0, 10.0) and within.warnings == ()
    outside = driven((0.0, 0.7, limit(0.0, 0.5)))
    assert limits_of(outside) == (-1.0, 1.0, 5.0, 10.0)
    assert "joint 'f0'" in outside.warnings[0] and 'from 0.7 to 0.7' in outside.warnings[0]


def test_a_speed_or_an_effort_of_zero_is_not_a_limit_of_a_follower():
    passive = driven((1.0, 0.0, limit(-1, 1, 0.0, 0.0)))
    assert limits_of(passive) == (-1.0, 1.0, 5.0, 10.0)
    idle = driven((1.0, 0.0, limit(-1, 1, 2.0, 3.0)), master=limit(-1, 1, 0.0, 0.0))
    assert limits_of(idle) == (-1.0, 1.0, 2.0, 0.0)  # without a drive it stays so


def test_soft_limits_of_followers_hold_too():
    soft = '<safety_controller soft_lower_limit="-0.4" soft_upper_limit="0.2" k_velocity="1"/>'
    subject = driven((-2.0, 0.0, limit(-0.6, 0.3) + soft))
    low, high = soft_limits(subject)
    assert (low[0], high[0]) == pytest.approx((-0.1, 0.2))


def test_gears_of_an_extension_are_no_other():
    text = robot(
        link('base'), link('a'), link('b'),
        joint('m', 'base', 'a', 'revolute', limit()),
        joint('f', 'a', 'b', 'revolute', limit(-0.5, 0.3, 1.0, 3.0)),
    )  # fmt: skip
    gears = {'gears': {'f': {'joint': 'm', 'ratio': -2.0, 'offset': 0.1}}}
    subject = Robot.from_urdf(text, extension=gears)
    assert limits_of(subject) == pytest.approx((-0.1, 0.3, 0.5, 6.0))
    assert len(subject.warnings) == 1 and "'f'" in subject.warnings[0]


def test_random_configurations_keep_the_followers_within_their_limits():
    subject = driven((-2.0, 0.1, limit(-0.5, 0.3)))
    rng = np.random.default_rng(0)
    found = np.array([subject.random_configuration(rng)[0] for _ in range(200)])
    assert (0.1 - 2.0 * found >= -0.5).all() and (0.1 - 2.0 * found <= 0.3).all()
    assert np.ptp(found) > 0.3


@pytest.mark.parametrize(
    'kind, inside',
    [
        ('continuous', limit(-0.5, 0.5)),
        ('continuous', limit(-math.inf, 0.5)),
        ('planar', limit(-0.5, 0.5)),
        (
            'continuous',
            '<limit velocity="1" effort="1"/>'
            '<safety_controller soft_lower_limit="-0.4" soft_upper_limit="0.2" k_velocity="1"/>',
        ),
    ],
)
def test_position_limits_that_a_type_does_not_have_are_reported(kind, inside):
    text = robot(link('base'), link('a'), joint('j', 'base', 'a', kind, inside))
    subject = Robot.from_urdf(text)
    assert np.isinf(subject.lower_limits).all() and np.isinf(subject.upper_limits).all()
    (warning,) = subject.warnings[:1]
    assert kind in warning and 'position limits' in warning and warning.endswith(': j')
    assert ('revolute' in warning) == (kind == 'continuous')
    assert any('position limits' in finding.message for finding in lint_model(subject.model))


def test_a_joint_that_turns_forever_without_limits_is_not_reported():
    inside = '<limit velocity="1" effort="1"/>'
    text = robot(link('base'), link('a'), joint('j', 'base', 'a', 'continuous', inside))
    assert not any('position limits' in warning for warning in Robot.from_urdf(text).warnings)


def test_the_doctor_reports_both_with_cures_that_fit():
    mirrored = driven((-1.0, 0.0, limit(0.0, 0.5, 1.0)), master=limit(0.0, 0.5))
    found = {finding.message: finding.cure for finding in lint_model(mirrored.model)}
    texts = [what for what in found if 'limits' in what and "'m'" in what]
    assert len(texts) == 2
    for what in texts:
        assert 'correct the name' not in found[what]
