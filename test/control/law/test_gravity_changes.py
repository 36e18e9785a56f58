# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Bumpless changes of gravity and payload; omitted links; servos; friction compensation."""

from contextlib import nullcontext
from pathlib import Path
import re

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest

from rbd_ros import Robot, Simulator
from rbd_ros.control import LawSettings, payload_parameters, servo_command, TorqueLaw
from rbd_ros.control.law.bumpless_transfer import BumplessTransfer
from rbd_ros.lookup.resources import resource_path

Q, REST = np.array([0.3, -1.2, 1.4, -0.5, 0.6, 0.2]), np.zeros(6)
ONE = np.ones(1)
LOAD = payload_parameters(2.0, (0.0, 0.0, 0.05))


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))


def settings(arm, **options):
    chosen = {'feedforward': 'gravity', 'feedback': 'none', 'friction': 'none', **options}
    return LawSettings.for_robot(arm, **chosen)


def constant(value):
    return lambda q: value * ONE


# -- from one model to another --------------------------------------------------------------------


def test_the_step_of_a_change_fades_away_smoothly():
    transfer, before, after = BumplessTransfer(constant(1.0)), 1.0, constant(4.0)
    torques = [4.0 + transfer(after, ONE, 0.0, 1.0)[0]]
    assert torques[0] == before
    while (added := transfer(after, ONE, 0.01, 1.0)) is not None:
        torques.append(4.0 + added[0])
    assert 98 <= len(torques) <= 100
    steps = np.diff(torques)
    assert (steps > 0.0).all() and steps.max() < 1.6 * 3.0 / 100
    assert steps[0] < 0.02 * 3.0 / 10 and steps[-1] < 0.02 * 3.0 / 10
    assert torques[50] == pytest.approx(2.5, abs=0.1)
    assert not transfer.is_active


def test_a_change_amid_another_one_makes_no_step():
    transfer, first, second = BumplessTransfer(constant(0.0)), constant(2.0), constant(-5.0)
    transfer(first, ONE, 0.0, 1.0)
    for _ in range(30):
        torque = 2.0 + transfer(first, ONE, 0.01, 1.0)[0]
    assert -5.0 + transfer(second, ONE, 0.01, 1.0)[0] == pytest.approx(torque)
    assert transfer.is_active


def test_without_a_duration_there_is_a_step():
    transfer = BumplessTransfer(constant(0.0))
    assert transfer(constant(2.0), ONE, 0.0, 0.0) is None
    assert not transfer.is_active


def test_without_a_change_nothing_is_added():
    model = constant(3.0)
    assert BumplessTransfer(model)(model, ONE, 0.1, 1.0) is None


@pytest.mark.parametrize('dt', [0.0, -1.0])
def test_fading_takes_time(dt):
    transfer, after = BumplessTransfer(constant(0.0)), constant(2.0)
    transfer(after, ONE, 0.0, 1.0)
    assert transfer(after, ONE, dt, 1.0)[0] == -2.0


def test_a_pause_does_not_end_the_fading_at_once():
    transfer, after = BumplessTransfer(constant(0.0)), constant(2.0)
    transfer(after, ONE, 0.0, 1.0)
    assert transfer(after, ONE, 60.0, 1.0)[0] < -1.8


def test_a_model_without_a_number_leaves_nothing_behind():
    transfer = BumplessTransfer(constant(np.nan))
    assert_array_equal(transfer(constant(2.0), ONE, 0.0, 1.0), [0.0])


# -- the law --------------------------------------------------------------------------------------


def test_an_added_torque_counts_until_it_is_set_again(arm):
    law = TorqueLaw(arm, settings(arm))
    law.set_torque_offset(np.arange(6.0))
    for _ in range(2):
        assert_allclose(law(Q, REST), arm.gravity_torque(Q) + np.arange(6.0), atol=1e-12)
    law.settings = settings(arm)
    assert_allclose(law(Q, REST), arm.gravity_torque(Q) + np.arange(6.0), atol=1e-12)
    assert_allclose(law.gravity_torque(Q), arm.gravity_torque(Q), atol=1e-12)
    law.set_torque_offset(REST)
    assert_allclose(law(Q, REST), arm.gravity_torque(Q), atol=1e-12)


def test_gravity_that_is_turned_counts_until_settings_are_assigned(arm):
    tilted, law = np.array([1.0, 2.0, -9.0]), TorqueLaw(arm, settings(arm))
    expected = TorqueLaw(arm, settings(arm, gravity=tilted))(Q, REST)
    memory = law.memory()
    law.set_gravity(tilted)
    assert_array_equal(law(Q, REST), expected)
    assert_array_equal(law.gravity_torque(Q), expected)
    assert law.memory() is memory  # which holds it, too
    assert_array_equal(memory.inputs[-3:], tilted)
    law.settings = settings(arm)
    assert_array_equal(law.settings.gravity, arm.gravity)
    assert_allclose(law(Q, REST), arm.gravity_torque(Q), atol=1e-12)
    law.set_gravity(tilted)  # right after other settings
    assert_array_equal(law(Q, REST), expected)


def test_each_change_of_settings_has_another_function_of_gravity_and_the_old_one_stays(arm):
    law = TorqueLaw(arm, settings(arm, payload=LOAD), 'tool0')
    loaded = law.gravity_function
    assert law.gravity_function is loaded
    expected = loaded(Q)
    law.replace_settings(settings(arm), nullcontext())
    assert law.gravity_function is not loaded
    assert_array_equal(loaded(Q), expected)
    assert_allclose(law.gravity_function(Q), arm.gravity_torque(Q), atol=1e-12)
    assert np.abs(loaded(Q) - law.gravity_function(Q)).max() > 1.0


def test_without_the_weight_of_the_links_the_payload_is_held(arm):
    v = np.full(6, 0.2)
    whole = TorqueLaw(arm, settings(arm, payload=LOAD), 'tool0')
    law = TorqueLaw(arm, settings(arm, payload=LOAD), 'tool0', own_weight=False)
    difference = whole(Q, REST) - arm.gravity_torque(Q)
    assert_allclose(law(Q, REST), difference, atol=1e-12)
    assert_allclose(law.gravity_torque(Q), difference, atol=1e-12)
    law.settings = settings(arm, payload=LOAD, feedback='damping', kd=2.0, gravity=(0, 0, 9.81))
    assert_allclose(law(Q, v), -difference - 2.0 * v, atol=1e-12)


def test_without_the_weight_of_links_and_payload_the_torque_is_zero(arm):
    law = TorqueLaw(arm, settings(arm), own_weight=False)
    assert_allclose(law(Q, REST), REST, atol=1e-13)
    assert_allclose(law.gravity_torque(Q), REST, atol=1e-13)


# -- servos ---------------------------------------------------------------------------------------


def test_an_offset_is_the_torque_by_the_stiffness_within_its_limit_and_those_of_the_joint():
    def command(target, torque, k=10.0, most=0.5):
        return servo_command(target * ONE, torque * ONE, k * ONE, most, -ONE, ONE)[0]

    assert command(0.2, 3.0) == pytest.approx(0.5)
    assert command(0.2, -3.0) == pytest.approx(-0.1)
    assert command(0.2, 3.0, k=20.0) == pytest.approx(0.35)
    assert command(0.2, 30.0) == pytest.approx(0.7)
    assert command(0.2, -30.0) == pytest.approx(-0.3)
    assert command(0.9, 3.0) == 1.0
    assert command(-0.9, -3.0) == -1.0
    assert command(0.2, 1e300, most=0.0) == 0.2


@pytest.mark.parametrize('error', [1.0, 1.08, 0.92])
def test_the_droop_of_soft_servos_falls_by_more_than_nine_tenths(arm, error):
    """Also if the stiffness is known with an error of 8 %."""
    stiffness = np.array([200.0, 200.0, 150.0, 40.0, 20.0, 20.0])
    droops = []
    for compensated in (False, True):
        simulator = Simulator(without_friction(), 1e-3)
        simulator.reset(Q)
        simulator.set_joint_pd(Q, kp=stiffness, kd=0.2 * stiffness)
        for _ in range(150):
            torque = arm.gravity_torque(simulator.q) * compensated
            command = servo_command(
                Q, torque, error * stiffness, 0.5, arm.lower_limits, arm.upper_limits
            )
            simulator.set_joint_pd(command)
            simulator.step(n=20)
        assert np.abs(simulator.v).max() < 1e-3
        droops.append(np.abs(simulator.q - Q).max())
    assert droops[0] > 0.1
    assert droops[1] < 0.1 * droops[0]


# -- friction -------------------------------------------------------------------------------------


def without_friction(friction=''):
    text = Path(resource_path('urdf', 'six_axis_arm.urdf')).read_text()
    return Robot.from_urdf(re.sub('<dynamics[^>]*/>', friction, text))


def motion_after(arm, true_share, share, push=6.0, seed=0):
    """Return the kinetic energy at the end of a push and 2 s later [J], and how far it went [rad].

    The friction is a part of what is described. States come at 500 Hz, a period late, with noise
    of the velocity.
    """
    described = Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))
    text = Path(resource_path('urdf', 'six_axis_arm.urdf')).read_text()
    text = re.sub(
        'damping="([^"]*)" friction="([^"]*)"',
        lambda m: f'damping="{true_share * float(m[1])}" friction="{true_share * float(m[2])}"',
        text,
    )
    law = TorqueLaw(
        described,
        settings(
            described,
            friction='measured',
            viscous=share * described.damping,
            coulomb=share * described.friction,
        ),
    )
    # What runs away is not to be held by limits of velocity.
    simulator = Simulator(Robot.from_urdf(text), 1e-3, enforce_velocity_limits=False)
    rng = np.random.default_rng(seed)
    simulator.reset(Q)
    waiting, energies = [arm.gravity_torque(Q)], []
    for k in range(1250):
        waiting.append(law(simulator.q, simulator.v + 2e-3 * rng.normal(size=6)))
        simulator.step(waiting.pop(0) + push * (k < 100) * (arm.effort_limits > 100.0), n=2)
        v = simulator.v
        energies.append(0.5 * v @ arm.mass_matrix(simulator.q) @ v)
    return energies[100], energies[-1], np.abs(simulator.q - Q).max()


def test_compensated_friction_moves_nothing_at_rest(arm):
    for share in (0.8, 1.0):
        _, energy, moved = motion_after(arm, 1.0, share, push=0.0)
        assert energy < 1e-6 and moved < 1e-2


def test_at_its_default_share_an_arm_with_less_friction_than_described_slows_down(arm):
    begin, end, _ = motion_after(arm, 0.85, 0.8)
    assert 0.1 < begin and end < 0.9 * begin


def test_more_friction_than_there_is_makes_an_arm_run_away(arm):
    """Why the share is not one by default."""
    begin, end, _ = motion_after(arm, 0.85, 1.1)
    assert end > 1.5 * begin
