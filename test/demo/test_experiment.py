# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Experiments as data: files that round-trip, and figures checked by construction."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest

from rbd_ros.demonstration.experiment import evaluate, Law, measure, Plan, Recording

MILLISECOND = 1_000_000


@pytest.fixture
def plan():
    times = np.linspace(0.0, 1.0, 21)
    smooth = times**3 * (10 - 15 * times + 6 * times**2)
    speed = 30 * times**2 * (1 - times) ** 2
    growth = 60 * times * (1 - times) * (1 - 2 * times)
    scale = np.array([1.0, -0.5])
    return Plan(
        ('a', 'b'),
        times,
        *(np.outer(x, scale) for x in (smooth, speed, growth)),
        laws=(Law('pd', 'PD alone', {'feedforward': 'none'}),),
    )


def recording(plan, offset=0.0, latency=0.3, keep=slice(None), pace=1):
    """Return the states each millisecond from 0.5 s before to 0.05 s after.

    `offset` away from the desired.

    Commands follow after `latency` [ms], a number or one for each state; NaN: none. A simulated
    second takes `pace` real ones.
    """
    start = 2_000 * MILLISECOND
    stamps = start + MILLISECOND * np.arange(-500, 1051)
    q = np.array([plan.trajectory.sample((s - start) / 1e9)[0] for s in stamps.tolist()]) + offset
    sent = 10**18 + pace * stamps
    latency = np.broadcast_to(latency, len(stamps))
    answered = np.isfinite(latency)
    return Recording(
        start=start,
        state_stamps=stamps[keep],
        state_sent=sent[keep],
        q=q[keep],
        v=np.zeros_like(q)[keep],
        effort=np.full_like(q, -3.0)[keep],
        command_stamps=stamps[answered],
        command_sent=sent[answered] + (latency[answered] * MILLISECOND).astype(np.int64),
    )


def test_plans_and_recordings_come_back_from_files(plan, tmp_path):
    plan.save(tmp_path / 'plan.npz')
    again = Plan.load(tmp_path / 'plan.npz')
    assert again.joint_names == plan.joint_names
    assert again.laws == plan.laws
    assert (again.period, again.lead) == (plan.period, plan.lead)
    assert_array_equal(again.accelerations, plan.accelerations)
    one = recording(plan)
    one.save(tmp_path / 'one.npz')
    other = Recording.load(tmp_path / 'one.npz')
    for name, value in vars(one).items():
        assert_array_equal(getattr(other, name), value)


def test_a_constant_offset_is_the_rms_and_the_peak(plan):
    tracking = evaluate(plan, recording(plan, offset=[0.1, -0.2]))
    assert_allclose(tracking.rms, [0.1, 0.2])
    assert_allclose(tracking.peak, [0.1, 0.2])
    # Swings are half of 1.0 and 0.5.
    assert_allclose(tracking.overall, np.sqrt((0.2**2 + 0.8**2) / 2))
    assert_allclose(tracking.peak_effort, [3.0, 3.0])


def test_only_the_motion_counts(plan):
    tracking = evaluate(plan, recording(plan))
    assert len(tracking.times) == 1001
    assert tracking.times[0] == 0.0
    assert tracking.times[-1] == pytest.approx(1.0)
    assert_allclose(tracking.rms, 0.0, atol=1e-12)


def test_rate_and_latency_are_those_of_the_commands(plan):
    timing = measure(plan, recording(plan))
    assert timing.states == 1001
    assert timing.real_time_factor == pytest.approx(1.0)
    assert timing.rate == pytest.approx(1000.0, rel=2e-3)
    assert_allclose(timing.latency_percentiles([0, 50, 100]), 3e-4)
    assert timing.missed == 0
    assert timing.lost_states == 0
    assert not timing.busy


def test_late_and_absent_commands_are_missed(plan):
    latency = np.full(1551, 0.3)
    latency[600:610] = 1.5
    latency[700:720] = np.nan
    timing = measure(plan, recording(plan, latency=latency))
    assert timing.missed == 30
    assert timing.latency.max() == pytest.approx(1.5e-3)
    assert len(timing.latency) == 1001 - 20
    assert timing.longest_gap == pytest.approx(0.021)


@pytest.mark.parametrize(('missed', 'pace', 'busy'), [(10, 1, False), (11, 1, True), (0, 2, True)])
def test_a_busy_machine_is_reported_by_missed_states_and_by_its_pace(plan, missed, pace, busy):
    latency = np.full(1551, 0.3)
    latency[600 : 600 + missed] = np.nan
    timing = measure(plan, recording(plan, latency=latency, pace=pace))
    assert timing.missed == missed
    assert timing.real_time_factor == pytest.approx(1.0 / pace)
    assert timing.busy == busy


def test_states_that_were_not_recorded_are_counted(plan):
    keep = np.ones(1551, dtype=bool)
    keep[800:850] = False
    assert measure(plan, recording(plan, keep=keep)).lost_states == 50


def test_no_commands_at_all_are_reported_without_failing(plan):
    timing = measure(plan, recording(plan, latency=np.nan))
    assert timing.missed == timing.states
    assert timing.longest_gap == 1.0
    assert timing.rate == 0.0
    assert np.isnan(timing.latency_percentiles([50.0])).all()
    assert timing.busy


@pytest.mark.parametrize('of', [evaluate, measure])
def test_a_recording_without_the_motion_is_rejected(plan, of):
    with pytest.raises(ValueError, match='no joint state'):
        of(plan, recording(plan, keep=slice(0, 100)))
