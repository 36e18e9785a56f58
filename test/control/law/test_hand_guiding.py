# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Hand guiding: passive, compliant, and braked within the promised limits.

The arm is simulated with gravity, which the law compensates, and without joint friction.
"""

from dataclasses import replace
from pathlib import Path
import re

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest

from rbd_ros import Robot, Simulator
from rbd_ros.control import GuidingSettings, HandGuiding, LawSettings, TorqueLaw
from rbd_ros.control.law.hand_guiding import (
    BRAKE_RATE,
    DAMPING_RATE,
    HOLD_FREQUENCY,
    MARGIN,
    MAX_PART,
    MAX_STEP,
)
from rbd_ros.control.robot_joints import free_inertia, workspace
from rbd_ros.lookup.resources import resource_path

DT = 1e-3
START = np.array([0.3, -1.2, 1.4, -0.5, 0.6, 0.2])
REST = np.zeros(6)


@pytest.fixture(scope='module')
def arm():
    text = Path(resource_path('urdf', 'six_axis_arm.urdf')).read_text()
    # The simulator cuts pushes at the effort limits together with the motors' torques.
    text = re.sub('effort="[^"]*"', 'effort="10000"', text)
    return Robot.from_urdf(re.sub('<dynamics[^>]*/>', '', text))


def settings(arm, **options):
    return GuidingSettings.for_robot(arm, **options)


class Guided:
    """A simulated arm that is guided, with a period of control that may be longer than a step."""

    def __init__(self, arm, guiding, v=REST, every=1, delay=0):
        self.arm, self.guiding, self.every = arm, guiding, every
        self.law = TorqueLaw(
            arm,
            LawSettings.for_robot(arm, feedforward='gravity', feedback='none', friction='none'),
        )
        self.simulator = Simulator(arm, DT)
        self.simulator.reset(START, v)
        self._waiting = [arm.gravity_torque(START)] * delay
        self.count = 0

    @property
    def q(self):
        return self.simulator.q

    @property
    def v(self):
        return self.simulator.v

    @property
    def kinetic(self):
        return 0.5 * self.v @ self.arm.mass_matrix(self.q) @ self.v

    @property
    def stored(self):
        """Kinetic energy and that of the hold."""
        kinetic, away = self.kinetic, 0.0
        if self.guiding.reference is not None:
            band = self.guiding.settings.deadband
            away = np.clip(self.guiding.reference - self.q, -band, band)
        return kinetic + 0.5 * np.sum(self.guiding.settings.stiffness * away**2)

    def step(self, push=REST):
        if self.count % self.every == 0:
            self.law.set_torque_offset(self.guiding(self.q, self.v, self.every * DT))
            self._waiting.append(self.law(self.q, self.v))
            self.torque = self._waiting.pop(0)
        self.count += 1
        self.simulator.step(self.torque + push)


# -- what the torque is ---------------------------------------------------------------------------


def test_the_hold_is_a_spring_within_its_band_and_follows_beyond(arm):
    band = np.array([0.1, 0.1, 0.2, 0.1, 0.1, 0.1])
    guiding = HandGuiding(arm, settings(arm, stiffness=10.0, damping=0.0, deadband=band))
    assert_array_equal(guiding(START, REST, DT), REST)
    away = np.array([0.05, -0.05, 0.15, 0.3, -0.3, 0.0])
    pulled = -10.0 * np.clip(away, -band, band)
    assert_allclose(guiding(START + away, REST, DT), pulled, atol=1e-12)
    assert_allclose(guiding.reference, START + away - np.clip(away, -band, band), atol=1e-12)
    # on the way back it stays where it followed to
    back = START + [0.0, 0.0, 0.0, 0.25, -0.25, 0.0]
    expected = 10.0 * (guiding.reference - back)
    assert_allclose(guiding(back, REST, DT), expected, atol=1e-12)
    assert expected[3] == pytest.approx(-0.5) and expected[4] == pytest.approx(0.5)


def test_below_the_limits_there_is_damping_alone(arm):
    guiding = HandGuiding(arm, settings(arm, stiffness=0.0, damping=3.0))
    v = np.full(6, 0.1)
    assert_allclose(guiding(START, v, DT), -3.0 * arm.mass_matrix(START) @ v)
    assert guiding.braking == 0.0 and guiding.reason == ''
    assert guiding.energy == pytest.approx(0.5 * v @ arm.mass_matrix(START) @ v)


@pytest.mark.parametrize(
    'speed, rate',
    [(0.99, 0.0), (1.0 + 0.5 * MARGIN, 0.5), (1.0 + MARGIN, 1.0), (3.0, 1.0), (-3.0, 1.0)],
)
def test_above_the_speed_of_a_joint_momentum_is_braked(arm, speed, rate):
    chosen = settings(
        arm, stiffness=0.0, damping=0.0, max_velocity=[9, 9, 9, 2, 9, 9], max_kinetic_energy=1e6
    )
    guiding = HandGuiding(arm, chosen)
    v = np.zeros(6)
    v[3] = 2.0 * speed
    torque = guiding(START, v, DT)
    assert guiding.braking == pytest.approx(rate * BRAKE_RATE)
    assert_allclose(torque, -rate * BRAKE_RATE * arm.mass_matrix(START) @ v, atol=1e-12)
    assert (f'{arm.joint_names[3]} moves at' in guiding.reason) == (rate > 0.0)


def test_above_the_energy_momentum_is_braked(arm):
    v = np.full(6, 0.5)
    energy = 0.5 * v @ arm.mass_matrix(START) @ v
    chosen = settings(
        arm, stiffness=0.0, damping=0.0, max_velocity=100.0, max_kinetic_energy=energy
    )
    guiding = HandGuiding(arm, chosen)
    assert_array_equal(guiding(START, 0.999 * v, DT), REST)
    for factor, rate in ((1.0 + 0.5 * MARGIN, 0.5), (1.0 + MARGIN, 1.0), (4.0, 1.0)):
        faster = np.sqrt(factor) * v
        torque = guiding(START, faster, DT)
        assert_allclose(torque, -rate * BRAKE_RATE * arm.mass_matrix(START) @ faster)
        assert 'kinetic energy' in guiding.reason and f'above {energy:g} J' in guiding.reason


def test_the_limit_that_is_exceeded_most_counts_and_is_named(arm):
    v = np.full(6, 0.5)
    energy = 0.5 * v @ arm.mass_matrix(START) @ v
    for speed, limit, reason in ((0.45, energy / 1.01, 'moves'), (0.49, energy / 1.15, 'kinetic')):
        guiding = HandGuiding(arm, settings(arm, max_velocity=speed, max_kinetic_energy=limit))
        guiding(START, v, DT)
        excess = max(0.5 / speed, energy / limit) - 1.0
        assert guiding.braking == pytest.approx(BRAKE_RATE * excess / MARGIN)
        assert reason in guiding.reason


def test_a_share_of_the_torque_is_that_of_all_terms(arm):
    v = np.full(6, 2.0)
    results = []
    for share in (1.0, 0.25):
        guiding = HandGuiding(arm, settings(arm))
        guiding(START, REST, DT)
        results.append(guiding(START + 0.03, v, DT, share))
    assert_allclose(results[1], 0.25 * results[0])


@pytest.mark.parametrize('dt', [-1.0, 2.0 * MAX_STEP])
def test_after_a_pause_the_hold_begins_where_the_arm_is(arm, dt):
    guiding = HandGuiding(arm, settings(arm))
    guiding(START, REST, DT)
    assert_array_equal(guiding(START + 0.5, REST, dt), REST)
    assert_array_equal(guiding.reference, START + 0.5)


def test_released_the_hold_begins_where_the_arm_is(arm):
    guiding = HandGuiding(arm, settings(arm))
    guiding(START, REST, DT)
    guiding.release()
    assert_array_equal(guiding(START + 0.02, REST, DT), REST)


def test_the_reference_does_not_move_with_the_array_that_it_was_given(arm):
    guiding, q = HandGuiding(arm, settings(arm, stiffness=10.0)), START.copy()
    guiding(q, REST, DT)
    q += 0.01
    assert_allclose(guiding(q, REST, DT), -0.1, atol=1e-12)


def test_slow_states_brake_less_and_a_single_quick_one_does_not_hide_them(arm):
    chosen = settings(arm, max_kinetic_energy=1e6)
    guiding, fast = HandGuiding(arm, chosen), np.full(6, 5.0)
    guiding(START, fast, 0.02)
    assert guiding.braking == pytest.approx(MAX_PART / 0.02)
    guiding(START, fast, 1e-4)
    assert guiding.braking < 1.05 * MAX_PART / 0.02
    for _ in range(500):
        guiding(START, fast, 1e-3)
    assert guiding.braking == pytest.approx(BRAKE_RATE)


# -- settings -------------------------------------------------------------------------------------


def test_defaults_follow_from_the_mean_inertia(arm):
    inertia = free_inertia(arm, workspace(arm)).mean(axis=0)
    assert_allclose(settings(arm).stiffness, HOLD_FREQUENCY**2 * inertia)
    assert settings(arm).damping == DAMPING_RATE
    assert_allclose(settings(arm, stiffness=3.0).stiffness, 3.0)


@pytest.mark.parametrize(
    'options, text',
    [
        ({'stiffness': -1.0}, "stiffness of joint 'shoulder_pan_joint' is -1; .*not negative"),
        ({'stiffness': [0, 0, np.nan, 0, 0, 0]}, "stiffness of joint 'elbow_joint' is nan"),
        ({'damping': -1.0}, 'damping must not be negative'),
        ({'damping': np.inf}, 'damping must not .* infinite'),
        ({'max_velocity': 0.0}, 'max_velocity of joint .* positive'),
        ({'deadband': np.inf}, 'deadband of joint .* finite'),
        ({'max_velocity': [1.0, 2.0]}, 'max_velocity must be one number or 6'),
        ({'max_kinetic_energy': 0.0}, 'max_kinetic_energy must be positive'),
        ({'max_kinetic_energy': np.nan}, 'max_kinetic_energy must be positive'),
    ],
)
def test_impossible_settings_are_rejected(arm, options, text):
    with pytest.raises(ValueError, match=text):
        settings(arm, **options)


def test_settings_are_read_only(arm):
    with pytest.raises(ValueError, match='read-only'):
        settings(arm).max_velocity[0] = 3.0


# -- energy ---------------------------------------------------------------------------------------


@pytest.mark.parametrize('seed', range(4))
def test_without_an_operator_the_energy_falls_and_the_arm_comes_to_rest(arm, seed):
    """V = 1/2 v' H v + 1/2 sum k e^2 is a Lyapunov function."""
    rng = np.random.default_rng(seed)
    guided = Guided(arm, HandGuiding(arm, settings(arm)), rng.normal(size=6))
    begin = before = guided.stored
    for _ in range(5000):
        guided.step()
        assert guided.stored <= before + 1e-4 * begin * DT
        before = guided.stored
    assert guided.kinetic < 1e-4 * begin
    assert guided.stored < 0.02 * begin


def test_without_a_hold_it_loses_all_its_motion_as_well(arm):
    guided = Guided(arm, HandGuiding(arm, settings(arm, stiffness=0.0)), np.full(6, 0.5))
    begin = guided.kinetic
    for _ in range(3000):
        guided.step()
    assert guided.kinetic < 1e-4 * begin


@pytest.mark.parametrize('seed', range(3))
def test_stored_energy_never_exceeds_the_work_of_the_hand(arm, seed):
    """Passive: the hand may push and pull as it likes."""
    rng = np.random.default_rng(seed)
    guided = Guided(arm, HandGuiding(arm, settings(arm)))
    put_in, most = 0.0, 0.0
    for k in range(6000):
        if k % 300 == 0:
            push = rng.normal(size=6) * [20.0, 20.0, 12.0, 2.0, 1.0, 0.2]
        before = guided.v.copy()
        guided.step(push)
        put_in += push @ (before + guided.v) / 2.0 * DT
        most = max(most, guided.stored)
        assert guided.stored <= put_in + 2e-3 * most
    assert most > 0.5  # it was moved


def test_at_rest_a_push_below_the_hold_does_not_carry_the_arm_away(arm):
    guided = Guided(arm, HandGuiding(arm, settings(arm, stiffness=50.0, deadband=0.05)))
    push = np.array([1.0, 1.0, 1.0, 0.2, 0.1, 0.01])  # 50 * 0.05 = 2.5 N m would
    for _ in range(5000):
        guided.step(push)
    assert_allclose(guided.q - START, push / 50.0, atol=6e-3)
    for _ in range(4000):
        guided.step()
    assert_allclose(guided.q, START, atol=6e-3)


def test_pushed_beyond_the_band_the_arm_stays_where_it_was_brought(arm):
    guided = Guided(arm, HandGuiding(arm, settings(arm, stiffness=20.0, deadband=0.05)))
    push = np.array([8.0, 0, 0, 0, 0, 0])
    for _ in range(1500):
        guided.step(push)
    brought = guided.q[0]
    assert brought - START[0] > 0.3
    for _ in range(5000):
        guided.step()
    assert abs(guided.q[0] - brought) < 0.2
    assert guided.q[0] - guided.guiding.reference[0] == pytest.approx(0.0, abs=5e-3)


# -- limits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize('seed', range(4))
def test_pushed_hard_the_arm_never_exceeds_its_speed_by_more_than_stated(arm, seed):
    """As long as, without brakes, it accelerates less than BRAKE_RATE (1 + MARGIN) times it."""
    rng = np.random.default_rng(seed)
    speed = np.array([0.8, 0.8, 1.0, 1.5, 1.5, 2.0])
    chosen = settings(arm, max_velocity=speed, max_kinetic_energy=1e6)
    guided = Guided(arm, HandGuiding(arm, chosen))
    bound = BRAKE_RATE * (1.0 + MARGIN) * speed
    most = np.zeros(6)
    for k in range(3000):
        if k % 100 == 0:
            desired = rng.choice([-0.7, 0.7], 6) * bound
        torque = arm.inverse_dynamics(guided.q, guided.v, desired)
        guided.step(torque - arm.gravity_torque(guided.q))
        most = np.maximum(most, np.abs(guided.v) / speed)
        assert (np.abs(guided.v) <= (1.0 + MARGIN) * 1.03 * speed).all()
    assert (most > 1.0).any()  # the brake was needed


@pytest.mark.parametrize('seed', range(4))
def test_pushed_hard_the_arm_never_exceeds_its_energy_by_more_than_stated(arm, seed):
    """As long as the power of the hand stays below 2 BRAKE_RATE (1 + MARGIN) times the energy."""
    rng = np.random.default_rng(seed)
    limit = 0.5
    guided = Guided(
        arm, HandGuiding(arm, settings(arm, max_velocity=100.0, max_kinetic_energy=limit))
    )
    most = 0.0
    for k in range(3000):
        if k % 200 == 0:
            push = rng.choice([-1.0, 1.0], 6) * [15.0, 15.0, 8.0, 0.5, 0.2, 0.02]
        assert push @ guided.v < 2.0 * BRAKE_RATE * (1.0 + MARGIN) * limit
        guided.step(push)
        most = max(most, guided.kinetic)
    assert limit < most <= 1.03 * (1.0 + MARGIN) * limit


@pytest.mark.parametrize('every', [5, 10, 20])
def test_brakes_and_hold_are_stable_with_slow_states_and_a_period_of_delay(arm, every):
    guided = Guided(arm, HandGuiding(arm, settings(arm)), np.full(6, 3.0), every, delay=1)
    begin = guided.kinetic
    for _ in range(8000):
        guided.step()
        assert guided.kinetic <= 1.05 * begin
    assert guided.kinetic < 1e-4 * begin


def test_other_settings_count_from_the_next_call_on(arm):
    guiding = HandGuiding(arm, settings(arm, damping=0.0, stiffness=0.0))
    v = np.full(6, 0.1)
    assert_array_equal(guiding(START, v, DT), REST)
    guiding.settings = replace(guiding.settings, damping=2.0)
    assert_allclose(guiding(START, v, DT), -2.0 * arm.mass_matrix(START) @ v)
