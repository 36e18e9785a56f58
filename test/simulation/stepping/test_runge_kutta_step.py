# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A single Runge-Kutta step: the method on the robot's functions, and held inputs."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.crawling import crawler, substep

from rbd_ros.simulation import Physics
from rbd_ros.simulation.stepping.displacement import is_at_limit
from rbd_ros.simulation.stepping.joint_law import BACKWARD, FORWARD, LOWER, STICK, UPPER
from rbd_ros.simulation.stepping.linear import copy
from rbd_ros.simulation.stepping.runge_kutta_step import (
    hold_forces,
    runge_kutta_step,
    travel,
)

h = 0.02


@pytest.fixture(scope='module')
def physics():
    return Physics(crawler(), h, 'rk4')


def started(physics, rng):
    """Return the world at a random state under random torques; forces that are held as well."""
    q, v, applied, held = (
        physics.robot.random_configuration(rng),
        *rng.normal(size=(2, 9)),
        rng.normal(size=9),
    )
    q[7:] = rng.uniform(-0.5, 0.5, 3)
    physics.reset(q, v)
    state, work = physics.state, physics.fields.work
    state.applied[:] = applied
    copy(state.q, work.integrator.q)
    copy(state.v, work.integrator.v)
    copy(applied, work.dynamics.applied_force)
    state.segment[:] = FORWARD
    return state, work, held


def lie_bracket(a, b):
    """Of the free body's screws; the other joints commute."""
    w, t = a[:3], a[3:6]
    return np.r_[np.cross(w, b[:3]), np.cross(w, b[3:6]) + np.cross(t, b[:3]), np.zeros(3)]


def classical(subject, q, v, acceleration):
    """Return end of a step of the classical method for (u, v) with q = q0 exp(u), written out."""

    def rates(u, w):
        once = lie_bracket(u, w)
        here = subject.integrate(q, u, 1.0)
        return w + once / 2.0 + lie_bracket(u, once) / 12.0, acceleration(here, w)

    u1, a1 = rates(np.zeros(9), v)
    u2, a2 = rates(h / 2 * u1, v + h / 2 * a1)
    u3, a3 = rates(h / 2 * u2, v + h / 2 * a2)
    u4, a4 = rates(h * u3, v + h * a3)
    u = h / 6 * (u1 + 2 * u2 + 2 * u3 + u4)
    return subject.integrate(q, u, 1.0), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


@pytest.mark.parametrize('held', [(), (7,)])
def test_the_stages_are_those_of_the_classical_method(physics, rng, held):
    state, work, force = started(physics, rng)
    model, subject = physics.model, physics.robot
    work.integrator.held_force[:] = force
    for i in held:
        state.segment[i] = STICK
        work.integrator.v[i] = state.v[i] = 0.0
    q, v, applied = state.q.copy(), state.v.copy(), state.applied.copy()
    free = np.setdiff1d(np.arange(9), held)

    def acceleration(q, v):
        tau = applied + force - model.explicit_damping * v - subject.bias_force(q, v)
        a = np.zeros(9)
        a[free] = np.linalg.solve(subject.mass_matrix(q)[np.ix_(free, free)], tau[free])
        return a

    travel(substep(physics), len(held), False)
    next_q, next_v = classical(subject, q, v, acceleration)
    assert_allclose(work.motion.next_q, next_q, atol=1e-12)
    assert_allclose(work.motion.next_v, next_v, atol=1e-10)


def test_a_smooth_step_leaves_the_state_where_it_was(physics, rng):
    state, work, _ = started(physics, rng)
    work.problem.impulse[:], work.integrator.held_force[:] = 7.0, 7.0
    q, v = state.q.copy(), state.v.copy()
    assert runge_kutta_step(substep(physics), False)
    assert list(state.q) == list(q) and list(state.v) == list(v)
    assert not work.problem.impulse.any() and not work.integrator.held_force.any()
    assert np.abs(work.motion.next_q - q).max() > 1e-3


def test_a_step_beyond_a_limit_is_none(physics, rng):
    state, work, _ = started(physics, rng)
    state.q[8], state.v[7] = 0.99, 20.0
    before = state.applied.copy()
    assert not runge_kutta_step(substep(physics), False)
    assert state.q[8] == 0.99 and state.v[7] == 20.0
    assert list(work.dynamics.applied_force) == list(before)


def test_stages_hold_friction_contact_and_stiff_damping(physics, rng):
    """Sliding friction, contact, and damping too stiff for the method; joints that stay."""
    state, work, _ = started(physics, rng)
    problem, stages, n = work.problem, work.integrator, 9
    friction, damping, stiff = rng.uniform(1, 2, n), rng.uniform(1, 2, n), rng.uniform(0.1, 0.9, n)
    friction[:2] = 0.0
    model = physics.model._replace(
        friction=friction, damping=damping, explicit_damping=damping * (1.0 - stiff)
    )
    problem.contact_impulse[:], stages.implicit_v[:] = rng.normal(size=(2, n))
    problem.low[:], problem.high[:] = -0.5, 0.7
    step = substep(physics)._replace(model=model)
    state.segment[:] = [
        FORWARD,
        FORWARD,
        FORWARD,
        BACKWARD,
        LOWER,
        STICK,
        UPPER,
        FORWARD,
        BACKWARD,
    ]
    state.v[:] = [-1.0, 1.0, 1.0, -1.0, -0.5, 0.0, 0.7, 0.0, 0.0]
    assert hold_forces(step) == 3
    expected = problem.contact_impulse / h - damping * stiff * stages.implicit_v
    slides = np.array([0, 0, -1, 1, 0, 0, 0, -1, 1])
    assert_allclose(stages.held_force, expected + slides * friction, atol=1e-12)
    # Who stops, starts, or turns round within the step is not held.
    for i, v in ((2, -1.0), (3, 1.0), (4, 0.0), (5, 1e-9), (6, 0.6)):
        kept, state.v[i] = state.v[i], v
        assert hold_forces(step) == -1
        state.v[i] = kept


def test_which_joints_are_at_a_limit(physics, rng):
    state, _, _ = started(physics, rng)
    assert not is_at_limit(physics.model, state)
    for i in (7, 8, 9):
        inside = state.q[i]
        for q in (-2.1, -2.0, 1.0, 1.1):
            state.q[i] = q
            assert is_at_limit(physics.model, state)
        state.q[i] = inside
