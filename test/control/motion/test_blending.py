# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Transition between two motions: decaying offsets, and tempos that rise and fall."""

from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest

from rbd_ros.control.motion.blending import Bounds, Offset, Ramp, Still

LIMITS = np.array([2.0, 0.5, 10.0])
RAMP_TIME = 0.2
rows = st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3).map(np.array)


def bounds(velocity=LIMITS):
    return Bounds(np.full(3, -np.inf), np.full(3, np.inf), np.asarray(velocity, dtype=float))


def steps(offset, count=100):
    """Yield all of an offset in small steps.

    The part of each for the path, and the offset after it.
    """
    step = offset._duration / count
    while not offset.over:
        offset, progress = offset.after(step)
        yield step, progress, offset


@settings(deadline=None, max_examples=60)
@given(rows, rows, rows, rows)
def test_path_and_offset_begin_with_the_old_motion_and_end_with_the_path(d, v0, q, v):
    v0, v = v0 * LIMITS, v * LIMITS
    offset = Offset.between((q + d, v0), (q, v), bounds(), RAMP_TIME)
    if offset is None:
        assert_allclose([d, v0], [0.0 * v, v], rtol=0, atol=1e-9)
        return
    for found, expected in zip(offset.added_to(q, v, np.zeros(3)), (q + d, v0)):
        assert_allclose(found, expected, rtol=0, atol=1e-9)
    *_, (_, _, last) = steps(offset)
    for found, expected in zip(last.added_to(q, v, v), (q, v, v)):
        assert_allclose(found, expected, rtol=0, atol=1e-6)


@settings(deadline=None, max_examples=60)
@given(rows, rows, rows)
def test_path_and_offset_together_keep_the_limits_of_velocity(d, v0, v):
    """For any path within them: the rate of the path and the offset share what there is."""
    offset = Offset.between((d, v0 * LIMITS), (np.zeros(3), v * LIMITS), bounds(), RAMP_TIME)
    if offset is None:
        return
    before = offset
    for step, progress, now in steps(offset):
        moved = np.abs(now.added_to(*np.zeros((3, 3)))[0] - before.added_to(*np.zeros((3, 3)))[0])
        assert 0.0 <= progress <= step
        assert (moved + progress * LIMITS <= step * LIMITS * (1 + 1e-9) + 1e-15).all()
        for path in (LIMITS, -LIMITS):
            speed = np.abs(now.added_to(np.zeros(3), path, np.zeros(3))[1])
            assert (speed <= LIMITS * (1 + 1e-9)).all()
        before = now


def test_no_time_is_lost_where_there_is_room_for_the_offset(rng):
    """The path goes on by all that the offset leaves in the joint that is nearest its limit."""
    offset = Offset.between((rng.normal(size=3), LIMITS * 0.3), (np.zeros(3),) * 2, bounds(), 0.2)
    before = offset.added_to(*np.zeros((3, 3)))[0]
    for step, progress, now in steps(offset, 50):
        position = now.added_to(*np.zeros((3, 3)))[0]
        assert progress == pytest.approx(step - (np.abs(position - before) / LIMITS).max())
        before = position


def test_the_rate_of_the_path_is_consistent_with_the_velocity(rng):
    """d/dt of the position, with the path moving on by the progress of each step."""
    v, a, d = LIMITS * [0.5, -0.4, 0.6], np.array([1.0, -0.2, 3.0]), np.array([0.1, -0.05, 0.2])
    offset = Offset.between((d, 0.2 * v), (np.zeros(3), v), bounds(), RAMP_TIME)
    s, samples = 0.0, []
    h = offset._duration / 4000
    for _, progress, now in steps(offset, 4000):
        s += progress
        samples.append(now.added_to(v * s + a * s**2 / 2, v + a * s, a))
    q, dq, ddq = np.array(samples).transpose(1, 0, 2)
    assert_allclose(np.gradient(q, h, axis=0)[5:-5], dq[5:-5], rtol=0, atol=2e-3)
    # Where another joint becomes the one nearest its limit, the acceleration has a kink.
    error = np.abs(np.gradient(dq, h, axis=0) - ddq)[5:-5].max(axis=1)
    assert np.quantile(error, 0.99) < 0.02 * np.abs(ddq).max()


def test_where_there_is_no_difference_there_is_no_offset():
    same = np.array([0.1, 0.2, 0.3]), LIMITS
    assert Offset.between(same, same, bounds(), RAMP_TIME) is None


def test_an_offset_does_not_change():
    offset = Offset.between((np.ones(3), LIMITS), (np.zeros(3),) * 2, bounds(), RAMP_TIME)
    before = offset.added_to(*np.zeros((3, 3)))
    offset.after(0.1)
    assert_array_equal(offset.added_to(*np.zeros((3, 3))), before)


@pytest.mark.parametrize('q0, q', [(0.9, 0.5), (-0.9, -0.5)])
def test_positions_stay_within_their_limits(q0, q):
    within = Bounds(np.array([-1.0]), np.array([1.0]), np.array([2.0]))
    speed = np.array([np.sign(q0) * 2.0])
    offset = Offset.between((np.array([q0]), speed), (np.array([q]), 0 * speed), within, 0.5)
    reached = []
    for _, _, now in steps(offset):
        position, v, a = now.added_to(np.array([q]), np.zeros(1), np.zeros(1))
        reached.append(abs(position[0]))
        if reached[-1] == 1.0:
            assert_array_equal([v, a], 0.0)
    assert max(reached) == 1.0


def test_far_beyond_a_limit_one_may_only_come_back():
    within = Bounds(np.array([-1.0]), np.array([1.0]), np.array([2.0]))
    offset = Offset.between((np.array([1.5]), np.zeros(1)), (np.ones(1), np.zeros(1)), within, 0.2)
    positions = [now.added_to(np.ones(1), *np.zeros((2, 1)))[0][0] for _, _, now in steps(offset)]
    assert (np.diff(positions) <= 0.0).all()
    assert positions[0] > 1.49


@pytest.mark.parametrize('distance', [1e-9, 1e-6, 1e-3, 1.0])
def test_small_distances_are_caught_up_quickly_but_not_violently(distance):
    d = np.full(3, distance)
    offset = Offset.between((d, np.zeros(3)), (np.zeros(3),) * 2, bounds(), RAMP_TIME)
    accelerations = [now.added_to(*np.zeros((3, 3)))[2] for _, _, now in steps(offset)]
    assert (np.max(np.abs(accelerations), axis=0) <= LIMITS / RAMP_TIME).all()
    assert offset._duration <= 4.0 * distance / 0.5 + np.sqrt(6.0 * RAMP_TIME * distance / 0.5)


def test_a_difference_of_velocity_ends_with_twice_the_usual_acceleration_at_most():
    offset = Offset.between((np.zeros(3), LIMITS), (np.zeros(3),) * 2, bounds(), RAMP_TIME)
    accelerations = [now.added_to(*np.zeros((3, 3)))[2] for _, _, now in steps(offset)]
    assert (np.max(np.abs(accelerations), axis=0) <= 2.0 * LIMITS / RAMP_TIME).all()
    assert offset._duration == pytest.approx(2.0 * RAMP_TIME)


@pytest.mark.parametrize('make', [Ramp.up, lambda time: Ramp.down(None, time)])
@pytest.mark.parametrize('step', [0.001, 0.013, 0.07, 0.3])
def test_a_ramp_moves_on_by_the_integral_of_its_tempo(make, step):
    ramp, whole, fine, tempos = make(0.2), 0.0, 0.0, []
    for _ in range(round(0.6 / step)):
        whole += ramp.advance(step)[0]
    other = make(0.2)
    for _ in range(round(round(0.6 / step) * step / 1e-4)):
        before = other.tempo
        _, tempo, rate = other.advance(1e-4)
        fine += 0.5e-4 * (before + tempo)
        tempos.append((tempo, rate))
    assert whole == pytest.approx(fine, abs=1e-6)
    tempo, rate = np.transpose(tempos)
    assert_allclose(np.diff(tempo) / 1e-4, 0.5 * (rate[1:] + rate[:-1]), rtol=0, atol=0.01)
    assert ramp.over
    assert ramp.tempo == (0.0 if ramp.stops else 1.0)


def test_a_ramp_downwards_begins_with_the_tempo_there_is():
    rising = Ramp.up(0.2)
    rising.advance(0.05)
    falling = Ramp.down(rising, 0.2)
    assert falling.stops
    assert falling.tempo == rising.tempo < 0.5
    assert falling.advance(1e-9)[1] == pytest.approx(rising.tempo)
    assert Ramp.down(falling, 0.2) is falling


def test_still_means_still():
    for t in (-1.0, 0.0, 1e9):
        q, v, a = Still(np.array([1.0, 2.0])).sample(t)
        assert_array_equal(q, [1.0, 2.0])
        assert_array_equal([v, a], 0.0)
