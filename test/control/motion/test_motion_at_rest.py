# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Batches of states of a resting motion, instead of single ones."""

import numpy as np
import pytest
from support.arms import load

from rbd_ros.control import DesiredMotion

PERIOD = 1_000_000  # [ns]
BEGIN = 10**18


def held(arm):
    motion = DesiredMotion(arm)
    motion.hold(np.zeros(arm.nv))
    motion.advance(BEGIN, 0.001)
    return motion


@pytest.mark.parametrize('states', [1, 5, 400])
@pytest.mark.parametrize('late', [0.0, 0.5, 2.5])
def test_the_motion_after_rest_does_not_depend_on_how_states_were_given(states, late):
    arm = load('planar_3r')
    one_by_one, together = held(arm), held(arm)
    for k in range(1, states + 1):
        one_by_one.advance(BEGIN + k * PERIOD, 0.001)
    now = BEGIN + states * PERIOD
    together.advance_at_rest(now, 0.001 * states, 0.001, states)
    for motion in (one_by_one, together):
        begin = now + round(late * PERIOD) if late else 0
        goal = np.full(arm.nv, 0.05)
        plan = motion.plan(
            arm.joint_names, [0.02], [goal], now=now, begin=begin, check_limits=False
        )
        assert motion.is_at_rest
        motion.follow(plan)
        assert not motion.is_at_rest
    for k in range(1, 40):
        ours, theirs = (m.advance(now + k * PERIOD, 0.001) for m in (together, one_by_one))
        for a, b in zip(ours, theirs):
            np.testing.assert_allclose(a, b, atol=1e-9)
    assert one_by_one.is_at_rest == together.is_at_rest
    assert together.position[0] == pytest.approx(0.05)


def test_a_gap_after_them_counts_for_as_much_as_it_would_have():
    arm = load('planar_3r')
    one_by_one, together = held(arm), held(arm)
    for k in range(1, 31):
        one_by_one.advance(BEGIN + 6 * k * PERIOD, 0.006)
    together.advance_at_rest(BEGIN + 180 * PERIOD, 0.18, 0.006, 30)
    for motion in (one_by_one, together):
        motion.advance(BEGIN + 230 * PERIOD, 0.05)
    assert together.clock == pytest.approx(one_by_one.clock)
    assert one_by_one.clock > 0.2


def test_while_time_that_ran_back_is_made_up_for_it_is_not_at_rest():
    motion = held(load('planar_3r'))
    assert motion.is_at_rest
    motion.advance(BEGIN, -0.004)
    assert not motion.is_at_rest
    for k in range(6):
        motion.advance(BEGIN + k * PERIOD, 0.001)
    assert motion.is_at_rest


def test_a_plan_that_is_canceled_or_scheduled_is_not_at_rest():
    arm = load('planar_3r')
    motion = held(arm)
    later = BEGIN + 500 * PERIOD
    plan = motion.plan(arm.joint_names, [1.0], [np.zeros(3)], now=BEGIN, begin=later)
    motion.follow(plan)
    motion.advance(BEGIN + PERIOD, 0.001)
    assert not motion.is_at_rest, 'it is to begin'
    motion.cancel(plan)
    assert not motion.is_at_rest
    motion.advance(BEGIN + 2 * PERIOD, 0.001)
    assert motion.is_at_rest
