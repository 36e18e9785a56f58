# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The physics alone: commands in, state out, compiled for the features in use."""

import numpy as np
import pytest
from support.simulated_robots import at, ball, body, joint, link, robot, turntable

from rbd_ros import Simulator
from rbd_ros.contact import HalfSpace
from rbd_ros.simulation import Physics
from rbd_ros.simulation.records.simulation_state import STEPS
from rbd_ros.simulation.stepping.runge_kutta_step import step_by_runge_kutta


def started(subject, **options):
    physics = Physics(subject, **options)
    physics.reset(subject.neutral(), np.zeros(subject.nv))
    return physics


def test_a_step_returns_the_state_that_the_commands_lead_to():
    physics = started(turntable(0.2), timestep=1e-3)
    state = physics.step(np.array([1.0]))
    assert state is physics.state
    assert state.v == pytest.approx([1e-3 / 0.2])
    assert state.counters[STEPS] == 1 and physics.time == 1e-3


def test_a_simulator_is_a_face_of_the_world():
    subject = ball()
    physics, simulator = (
        started(subject, ground=HalfSpace()),
        Simulator(subject, ground=HalfSpace()),
    )
    start = np.array(at((0, 0, 0.105)))
    physics.reset(start, np.zeros(6))
    simulator.reset(start)
    physics.step(np.zeros(6), 200)
    simulator.step(n=200)
    assert np.array_equal(physics.state.q, simulator.q) and simulator.contacts


@pytest.mark.parametrize('count', [1, 7])
def test_commands_that_are_not_finite_are_rejected_and_change_nothing(count):
    physics = started(turntable())
    physics.step(np.array([0.5]), 3)
    before = {name: array.copy() for name, array in physics.arrays().items()}
    with pytest.raises(ValueError, match='finite'):
        physics.step(np.array([np.inf]), count)
    for name, array in physics.arrays().items():
        assert np.array_equal(array, before[name]), name


def test_unused_features_are_not_compiled():
    """Ground, free bases, external forces and Runge-Kutta are known when the loop is compiled."""
    flags = ('has_ground', 'has_free_bases', 'has_external_forces', 'is_flat')
    arm = Physics(turntable())
    assert [getattr(arm.model, flag) for flag in flags] == [False, False, False, True]
    flying = Physics(body(), integrator='rk4', ground=HalfSpace())
    assert [getattr(flying.model, flag) for flag in flags] == [False, True, False, False]
    kinds = {name: detail for name, _, detail in arm.record.kind[1]}
    fields = {name: what for name, what, _ in kinds['model'][1]}
    assert {fields[flag] for flag in (*flags, 'integrator_step')} == {'constant'}
    assert flying.model.integrator_step.function is step_by_runge_kutta


def test_external_forces_are_compiled_in_when_the_first_is_applied():
    subject = robot(
        link('base'), link('a', 2.0, (1.0,) * 3), joint('slide', 'base', 'a', 'prismatic')
    )
    late, early = (
        Simulator(subject, external_forces=external_forces) for external_forces in (False, True)
    )
    axis = subject.jacobian(subject.neutral(), 'a')[:, 0]
    for simulator in (late, early):
        simulator.step(n=10)
        simulator.apply_wrench('a', 3.0 * axis)
        simulator.step(n=10)
    assert not np.array_equal(late.v, [0.0])
    assert np.array_equal(late.q, early.q) and np.array_equal(late.v, early.v)
    assert late.snapshot().arrays.keys() == early.snapshot().arrays.keys()
