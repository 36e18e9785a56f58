# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Momentum observer: external torque, the wrench that explains it, and collisions."""

from pathlib import Path
import re

import numpy as np
from numpy.testing import assert_allclose
import pytest

from rbd_ros import Robot, Simulator
from rbd_ros.control import (
    CollisionDetector,
    MomentumObserver,
    payload_parameters,
    WrenchEstimator,
)

TEXT = re.sub(r'<dynamics[^>]*/>', '', Path('urdf/six_axis_arm.urdf').read_text())
Q = np.array([0.3, -0.5, 1.5, 0.5, 1.0, 0.2])


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(TEXT)


@pytest.mark.parametrize('gain', [5.0, 200.0, 1e4])
def test_a_constant_torque_at_rest_is_exact_in_the_end(arm, gain):
    push = np.array([1.0, -2.0, 0.5, 0.3, -0.2, 0.1])
    observer, rest = MomentumObserver(arm, gain), np.zeros(6)
    times = np.cumsum(np.random.default_rng(1).uniform(0.001, 0.09, 200))
    for t in times:
        torque = observer.update(t, Q, rest, arm.gravity_torque(Q) - push)
    assert_allclose(torque, push, atol=1e-9)


def test_it_follows_with_its_time_constant(arm):
    push, observer = np.full(6, 2.0), MomentumObserver(arm, 20.0)
    for k in range(101):
        torque = observer.update(0.001 * k, Q, np.zeros(6), arm.gravity_torque(Q) - push)
    assert_allclose(torque, push * (1.0 - np.exp(-2.0)), rtol=1e-9)


def test_in_motion_no_external_torque_is_estimated_where_none_acts(arm):
    """Along a fast motion with the efforts of inverse dynamics."""
    observer, worst, largest = MomentumObserver(arm, 100.0), 0.0, 0.0
    for k in range(2000):
        t = 0.001 * k
        w = np.array([2.0, 2.5, 3.0, 3.5, 4.0, 4.5])
        q, v, a = Q + 0.5 * np.sin(w * t), 0.5 * w * np.cos(w * t), -0.5 * w**2 * np.sin(w * t)
        effort = arm.inverse_dynamics(q, v, a)
        largest = max(largest, np.abs(effort - arm.gravity_torque(q)).max())
        worst = max(worst, np.abs(observer.update(t, q, v, effort)).max())
    assert largest > 5.0 and worst < 1e-4 * largest


def test_a_push_in_motion_is_seen_in_the_simulation(arm):
    simulator = Simulator(arm, timestep=1e-3)
    simulator.reset(Q)
    observer, tool = MomentumObserver(arm, 100.0), WrenchEstimator(arm, 'tool0')
    force = np.array([0.0, 0.0, 0.0, 1.0, -0.6, 1.6])
    simulator.apply_wrench('tool0', force, point=(0.0, 0.0, 0.0))
    for _ in range(300):
        effort = arm.gravity_torque(simulator.q) - [4.0, 4.0, 2.0, 0.2, 0.2, 0.01] * simulator.v
        simulator.step(effort)
        torque = observer.update(simulator.time, simulator.q, simulator.v, effort)
    assert np.abs(simulator.v).max() > 0.05
    expected = arm.frame('tool0', 'aligned').jacobian(simulator.q).T @ force
    assert_allclose(torque, expected, atol=0.02)
    found = tool.estimate(simulator.q, torque)
    E = arm.frame('tool0').pose(simulator.q)[:3, :3]
    assert_allclose(E @ found.wrench[3:], force[3:], atol=0.1)
    assert_allclose(found.wrench[:3], 0.0, atol=0.02)


def test_friction_of_the_description_is_taken_off():
    arm = Robot.from_urdf('urdf/six_axis_arm.urdf')
    v = np.array([0.5, -0.5, 0.4, 0.3, -0.6, 1.0])
    effort = arm.inverse_dynamics(Q, v, np.zeros(6)) + arm.damping * v + arm.friction * np.sign(v)

    def seen(**options):
        # The state of one instant twice: its momentum changes by what the forces say, at most.
        observer = MomentumObserver(arm, 50.0, **options)
        for k in range(2):
            torque = observer.update(1e-6 * k, Q + 1e-6 * k * v, v, effort)
        return torque / (1.0 - np.exp(-50.0e-6))

    assert_allclose(seen(), 0.0, atol=1e-3)
    missing = -(arm.damping * v + arm.friction * np.sign(v))
    assert_allclose(seen(friction=False), missing, atol=1e-3)


def test_a_known_payload_and_gravity_count(arm):
    load = payload_parameters(2.0, (0.0, 0.02, 0.1))
    gravity = np.array([0.0, 3.0, -5.0])
    holds = arm.function('gravity_torque', ('gravity', 'payload:tool0'))(Q, gravity, load)
    observer = MomentumObserver(arm, 50.0, True, gravity, 'tool0', load)
    for k in range(500):
        torque = observer.update(0.002 * k, Q, np.zeros(6), holds)
    assert_allclose(torque, 0.0, atol=1e-9)


@pytest.mark.parametrize('pause', [-0.5, 0.0, 0.2])
def test_a_pause_or_a_step_back_starts_again(arm, pause):
    observer, rest = MomentumObserver(arm, 50.0), np.zeros(6)
    for k in range(100):
        observer.update(0.01 * k, Q, rest, arm.gravity_torque(Q) + 1.0)
    assert (observer.torque < -0.9).all()
    assert (observer.update(0.99 + pause, Q, rest, rest) == 0.0).all()


def test_states_that_are_not_finite_change_nothing(arm):
    observer, rest = MomentumObserver(arm, 50.0), np.zeros(6)
    for k in range(50):
        observer.update(0.01 * k, Q, rest, arm.gravity_torque(Q) + 1.0)
    before = observer.torque.copy()
    for bad in (np.nan, np.inf, 1e200, -1.1e4):
        with pytest.raises(ValueError, match='not finite'):
            observer.update(0.5, Q, np.full(6, bad), rest)
        assert (observer.torque == before).all()
    for bad in (np.nan, -1.1e6):
        with pytest.raises(ValueError, match='effort is .* not finite'):
            observer.update(0.5, Q, rest, np.full(6, bad))
    observer.reset()
    assert (observer.torque == 0.0).all()


def test_an_implausible_first_state_spoils_no_estimate(arm):
    observer, rest = MomentumObserver(arm, 50.0), np.zeros(6)
    with pytest.raises(ValueError, match='velocity is 1e[+]100'):
        observer.update(0.0, Q, np.array([0, 0, 1e100, 0, 0, 0]), rest)
    held = arm.gravity_torque(Q)
    estimates = [observer.update(0.01 * k, Q, rest, held) for k in range(1, 50)]
    np.testing.assert_allclose(estimates, 0.0, atol=1e-9)


def test_fewer_joints_give_the_minimum_norm_wrench():
    planar = Robot.from_urdf('urdf/two_link_arm.urdf')
    frame = planar.link_names[-1]
    tool, q = WrenchEstimator(planar, frame), np.array([0.3, 0.8])
    J = planar.frame(frame).jacobian(q)
    torque = np.array([3.0, -1.0])
    found = tool.estimate(q, torque)
    assert_allclose(J.T @ found.wrench, torque, atol=1e-12)
    assert_allclose(found.wrench, np.linalg.pinv(J.T) @ torque, atol=1e-12)
    assert found.rank == 2 and found.residual < 1e-12


def test_at_a_singularity_the_unobservable_direction_is_omitted(arm):
    tool = WrenchEstimator(arm, 'tool0')
    straight = np.array([0.1, 0.2, 0.0, 0.0, 0.0, 0.0])
    found = tool.estimate(straight, np.array([1.0, 2.0, -1.0, 3.0, 1.0, -2.0]))
    assert found.condition_number == np.inf and found.rank < 6
    assert np.abs(found.wrench).max() < 100.0
    assert found.residual > 0.1
    assert tool.estimate(Q, np.full(6, 1.0)).condition_number < 1e3


def test_collisions_have_hysteresis():
    detector = CollisionDetector([4.0, 1.0], hysteresis=0.25)
    pushes = [(3.9, 0.9), (0.0, -1.1), (1.1, 0.0), (0.9, 0.2), (3.9, 0.0), (-4.1, 0.0)]
    assert [detector.update(np.array(p)) for p in pushes] == [
        False,
        True,
        True,
        False,
        False,
        True,
    ]
    assert detector.joints(np.array([-5.0, 0.5]), ('a', 'b')) == "'a'"


def test_arguments_that_cannot_be_are_rejected(arm):
    for gain in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match='gain'):
            MomentumObserver(arm, gain)
    with pytest.raises(ValueError, match='nowhere'):
        MomentumObserver(arm, 1.0, payload_link='nowhere')
    with pytest.raises(ValueError, match='nowhere'):
        WrenchEstimator(arm, 'nowhere')
    with pytest.raises(ValueError, match='thresholds'):
        CollisionDetector([1.0, 0.0])
    with pytest.raises(ValueError, match='hysteresis'):
        CollisionDetector([1.0], 1.5)
    with pytest.raises(ValueError, match='fixed base'):
        MomentumObserver(Robot.from_urdf(TEXT, floating_base=True))
