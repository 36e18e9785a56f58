# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Law of joint friction and limits, against the graph on its page."""

import itertools

import numpy as np
import pytest

from rbd_ros.simulation.stepping.joint_law import (
    BACKWARD,
    FORWARD,
    friction_impulse,
    held_velocity,
    is_held,
    JointLaw,
    law_impulse,
    LOWER,
    next_segment,
    NOWHERE,
    STICK,
    UPPER,
)

LOW, HIGH, BOX = -0.7, 1.1, 0.3
# Points inside each part of the staircase: velocity, impulse.
ON_THE_LAW = {
    LOWER: (LOW, BOX + 0.4),
    BACKWARD: (-0.5, BOX),
    STICK: (0.0, -0.2),
    FORWARD: (0.8, -BOX),
    UPPER: (HIGH, -BOX - 0.4),
}

LAW = JointLaw(BOX, LOW, HIGH)


def crossing(u, mobility, box=BOX, low=LOW, high=HIGH):
    """Return where the line v = u + mobility p meets the staircase.

    By looking at each of its parts.
    """
    found = []
    for v, least, most in ((low, box, np.inf), (0.0, -box, box), (high, -np.inf, -box)):
        p = (v - u) / mobility
        if least <= p <= most:
            found.append((v, p))
    for p, least, most in ((box, low, 0.0), (-box, 0.0, high)):
        v = u + mobility * p
        if least <= v <= most:
            found.append((v, p))
    assert np.ptp(found, axis=0) == pytest.approx(0.0, abs=1e-12)
    return found[0]


def part_of(v, p, box=BOX, low=LOW, high=HIGH):
    """Return the parts of the staircase that a point of it lies on."""

    def near(a, b):
        return abs(a - b) < 1e-9

    return {
        segment
        for segment, lies in (
            (LOWER, near(v, low) and p > box - 1e-9),
            (BACKWARD, near(p, box) and v < 1e-9),
            (STICK, near(v, 0.0) and abs(p) < box + 1e-9),
            (FORWARD, near(p, -box) and v > -1e-9),
            (UPPER, near(v, high) and p < 1e-9 - box),
        )
        if lies
    }


@pytest.mark.parametrize('mobility', [0.1, 1.0, 7.0])
@pytest.mark.parametrize('u', np.linspace(-6.0, 6.0, 49))
def test_the_impulse_is_where_the_line_of_the_joint_meets_the_law(u, mobility):
    v, p = crossing(u, mobility)
    assert law_impulse(LAW, u, mobility) == pytest.approx(p, abs=1e-12)
    assert next_segment(LAW, NOWHERE, v, p, mobility, 0.0) in part_of(v, p)


@pytest.mark.parametrize('mobility', [0.1, 1.0, 7.0])
@pytest.mark.parametrize('segment', [*ON_THE_LAW, NOWHERE])
def test_from_any_point_the_segment_is_where_its_line_meets_the_law(segment, mobility, rng):
    """Points off the law: where a segment that was tried led is seldom on it."""
    for v, p in zip(rng.uniform(-2, 2, 200), rng.uniform(-2, 2, 200), strict=True):
        if segment == STICK and abs(p) <= BOX:
            continue  # which is not left: v is zero there
        if (segment == LOWER and p >= BOX) or (segment == UPPER and p <= -BOX):
            continue  # nor these
        expected = part_of(*crossing(v - mobility * p, mobility))
        assert next_segment(LAW, segment, v, p, mobility, 0.0) in expected


@pytest.mark.parametrize('mobility', [1e-3, 1.0, 1e3])
@pytest.mark.parametrize('segment', ON_THE_LAW)
def test_a_point_on_the_law_stays_there_at_any_mobility(segment, mobility):
    v, p = ON_THE_LAW[segment]
    assert next_segment(LAW, segment, v, p, mobility, 0.0) == segment


def test_rounding_does_not_release_a_held_joint():
    """By less than the slack, or a billionth of the friction of a joint that sticks."""
    for segment, v, edge, outwards in (
        (STICK, 0.0, BOX, 1),
        (STICK, 0.0, -BOX, -1),
        (LOWER, LOW, BOX, -1),
        (UPPER, HIGH, -BOX, 1),
    ):
        for slack in (0.0, 1e-6):
            inside = edge + outwards * (slack + 0.9e-9 * BOX)
            outside = edge + outwards * (slack + 1.2e-9 * BOX)
            assert next_segment(LAW, segment, v, inside, 1.0, slack) == segment
            assert next_segment(LAW, segment, v, outside, 1.0, slack) != segment


def test_without_friction_all_between_the_limits_is_forward():
    smooth = JointLaw(0.0, LOW, HIGH)
    for v in (-0.5, 0.0, 0.5):
        for segment in (STICK, BACKWARD, FORWARD, NOWHERE):
            assert next_segment(smooth, segment, v, 0.0, 1.0, 0.0) == FORWARD
    assert next_segment(smooth, FORWARD, LOW - 0.1, 0.0, 1.0, 0.0) == LOWER
    assert next_segment(smooth, FORWARD, HIGH + 0.1, 0.0, 1.0, 0.0) == UPPER


def test_limits_overrule_friction():
    """A joint that the limits do not let rest is moved on, with the impulse that this takes."""
    for u, mobility in itertools.product((-3.0, 0.0, 3.0), (0.2, 2.0)):
        impulse = law_impulse(JointLaw(BOX, 0.1, 0.4), u, mobility)
        assert 0.1 - 1e-12 <= u + mobility * impulse <= 0.4 + 1e-12


def test_each_segment_prescribes_velocity_or_impulse():
    assert [segment for segment in ON_THE_LAW if is_held(segment)] == [LOWER, STICK, UPPER]
    assert [held_velocity(s, LOW, HIGH) for s in (LOWER, STICK, UPPER)] == [LOW, 0.0, HIGH]
    assert [friction_impulse(segment, BOX) for segment in (BACKWARD, FORWARD)] == [BOX, -BOX]
