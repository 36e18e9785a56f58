# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Parts of a step: clipped torques, divided steps, joints returned to limits, added forces."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import loop_mechanisms
from support.crawling import crawler, crawling, substep, TIMESTEP

from rbd_ros.simulation import Physics
from rbd_ros.simulation.records.simulation_model import (
    MAX_SUBSTEPS,
    RETURN_SPEED,
    TURN_PER_SUBSTEP,
)
from rbd_ros.simulation.records.simulation_state import FORCES
from rbd_ros.simulation.stepping.displacement import (
    correction_bounds,
    is_allowed,
    move,
    return_joints,
    returned,
)
from rbd_ros.simulation.stepping.external_forces import add_external_forces, age_external_forces
from rbd_ros.simulation.stepping.joint_law import FORWARD, LOWER, STICK
from rbd_ros.simulation.stepping.runge_kutta_step import (
    accelerate,
    bracket,
    find_displacement_rate,
)
from rbd_ros.simulation.stepping.step_division import count_substeps
from rbd_ros.simulation.stepping.stepping import close_loops, commit_step, saturate

h = TIMESTEP


@pytest.fixture
def physics():
    return crawling(3, 'rk4')[0]


def test_torques_are_cut_at_the_effort_limits(physics):
    physics.commands.torque[:] = [7.0, -7.0, 0, 0, 0, 0, 39.0, -50.0, 41.0]
    assert saturate(physics.model, physics.commands, physics.state)
    assert list(physics.state.applied) == [7.0, -7.0, 0, 0, 0, 0, 39.0, -40.0, 40.0]
    assert list(physics.state.saturated) == [0] * 7 + [1, 1]
    physics.commands.torque[:] = [7.0, -7.0, 0, 0, 0, 0, 40.0, -40.0, 0.0]
    assert not saturate(physics.model, physics.commands, physics.state)
    assert list(physics.state.applied) == list(physics.commands.torque)


def test_steps_are_divided_so_that_nothing_turns_far_in_one(physics):
    model, v = physics.model, np.zeros(9)
    fastest = int(np.argmax(model.turning))
    for parts in (0.0, 0.9, 1.1, 7.5, 40.0, 1e9):
        v[fastest] = -parts * TURN_PER_SUBSTEP / (model.turning[fastest] * model.timestep)
        expected = min(max(1, int(np.ceil(parts))), MAX_SUBSTEPS)
        assert count_substeps(model, v) == expected


def test_joints_beyond_their_limits_return_slowly_and_no_farther(physics):
    model, way = physics.model, RETURN_SPEED * h
    for i in (6, 7, 8):
        bounds = correction_bounds(model, i, 0.0, h)
        assert returned(model, i, -2.0 - 3.0 * way, *bounds) == pytest.approx(-2.0 - 2.0 * way)
        assert returned(model, i, -2.0 - 0.5 * way, *bounds) == -2.0
        assert returned(model, i, 1.0 + 3.0 * way, *bounds) == pytest.approx(1.0 + 2.0 * way)
        assert returned(model, i, 1.0 + 0.5 * way, *bounds) == 1.0
        for q in (-2.0, 0.3, 1.0):
            assert returned(model, i, q, *bounds) == q


def test_velocity_and_correction_together_keep_the_velocity_limit(physics):
    model = physics.model._replace(speed=np.full(9, 2.0))
    way, most = RETURN_SPEED * h, 2.0 * h
    for moved, least, greatest in (
        (0.0, -way, way),
        (1.4 * h, -way, way),
        (1.9 * h, -way, 0.1 * h),
        (most, -way, 0.0),
        (1.1 * most, -way, 0.0),  # the velocity alone is the solver's
        (-1.9 * h, -0.1 * h, way),
        (-1.1 * most, 0.0, way),
    ):
        found = correction_bounds(model, 6, moved, h)
        assert found == pytest.approx((least, greatest), abs=1e-15)


def test_a_step_commits_the_solution_and_the_mean_constraint_force(physics, rng):
    motion, state, impulse = physics.fields.work.motion, physics.state, rng.normal(size=9)
    motion.next_q[:], motion.next_v[:] = state.q, rng.normal(size=9)
    motion.next_q[8] = 1.0 + 0.5 * RETURN_SPEED * h
    q = motion.next_q.copy()
    return_joints(physics.model, state.q, motion, h)
    commit_step(physics.model, state, motion, impulse, h)
    assert list(state.q) == [*q[:8], 1.0, q[9]]
    assert list(state.v) == list(motion.next_v)
    assert_allclose(state.constraint_force, impulse / h)


def test_positions_follow_displacements(physics, rng):
    motion = physics.fields.work.motion
    motion.displacement[:] = 0.1 * rng.normal(size=9)
    move(physics.model, motion, physics.state.q)
    expected = physics.robot.integrate(physics.state.q, motion.displacement, 1.0)
    assert_allclose(motion.next_q, expected, atol=1e-14)
    flat = physics.model._replace(is_flat=True)
    motion.next_q[:] = 0.0
    q, size = rng.normal(size=9), len(motion.displacement)
    move(flat, motion, q)
    assert_allclose(motion.next_q[:size], q + motion.displacement)


def test_external_forces_are_those_that_the_jacobians_give(rng):
    """At the origin of the base and at points that move with a body; one is used up."""
    physics = Physics(crawler(), ground=None)
    subject = physics.robot
    physics.allow_external_forces()
    physics.reset(subject.random_configuration(rng), np.zeros(9))
    q, forces = physics.state.q, physics.external_forces
    dynamics, tree = physics.fields.work.dynamics, physics.model.tree
    kinematics = subject.kernel('contact_kinematics')(q)
    dynamics.kinematics[:] = np.concatenate([np.ravel(part) for part in kinematics])
    applied = rng.normal(size=9)
    dynamics.applied_force[:] = applied
    expected = applied.copy()
    cases = (('trunk', 1, 5), ('left', 0, -1), ('hand', 1, 2), ('hand', 0, 1), ('right', 1, 0))
    for w, (name, follows, left) in enumerate(cases):
        body = {'trunk': 1, 'left': 2, 'right': 3, 'hand': 4}[name]
        moment, force, point = rng.normal(size=(3, 3))
        forces.moment[w], forces.force[w], forces.point[w] = moment, force, point
        forces.use[w] = body, follows, left
        if left:
            pose = subject.forward_kinematics(q)[name]
            at = pose[:3, :3] @ point + pose[:3, 3] if follows else np.zeros(3)
            J = np.zeros((6, 9))
            for k in range(9):
                J[:, k] = velocity_at(subject, q, np.eye(9)[k], name, at)
            expected += J[:3].T @ moment + J[3:].T @ force
    add_external_forces(tree, forces, dynamics, 7)
    assert list(forces.acted[:5]) == [7, 7, 7, 7, 0]
    assert_allclose(dynamics.applied_force, expected, atol=1e-6)
    age_external_forces(forces, physics.state)
    assert list(forces.use[:5, 2]) == [4, -1, 1, 0, 0] and physics.state.counters[FORCES] == 3


def velocity_at(subject, q, v, name, point, step=1e-6):
    """Return the angular velocity of a link and velocity of its point that is at `point`.

    By differences.
    """
    before, after = (
        subject.forward_kinematics(subject.integrate(q, v, sign * step))[name] for sign in (-1, 1)
    )
    here = subject.forward_kinematics(q)[name]
    rate = (after - before) / (2 * step)
    spin = rate[:3, :3] @ here[:3, :3].T
    local = here[:3, :3].T @ (point - here[:3, 3])
    omega = np.array([spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]])
    return np.r_[0.5 * omega, rate[:3, :3] @ local + rate[:3, 3]]


@pytest.mark.parametrize('held', [(), (6,), (6, 8)])
def test_stages_accelerate_by_the_forces_on_joints_that_are_not_held(physics, rng, held):
    subject, state, dynamics = physics.robot, physics.state, physics.fields.work.dynamics
    physics.reset(subject.random_configuration(rng), rng.normal(size=9))
    dynamics.applied_force[:], force = rng.normal(size=(2, 9))
    state.segment[:] = FORWARD
    state.segment[list(held)] = STICK
    stages = physics.fields.work.integrator
    stages.held_force[:] = force
    accelerate(substep(physics), len(held))
    a = stages.acceleration
    tau = dynamics.applied_force + force - physics.model.explicit_damping * state.v
    free = np.setdiff1d(np.arange(9), held)
    M, bias = subject.mass_matrix(state.q), subject.bias_force(state.q, state.v)
    expected = np.zeros(9)
    expected[free] = np.linalg.solve(M[np.ix_(free, free)], (tau - bias)[free])
    assert_allclose(a, expected, atol=1e-9)
    assert physics.model.explicit_damping.any()


def test_an_end_of_a_step_beyond_limits_is_not_allowed(physics):
    model, state, motion = physics.model, physics.state, physics.fields.work.motion

    def allowed(v=0.0, q=0.3, segment=FORWARD, held=0):
        motion.next_q[:], motion.next_v[:] = physics.robot.neutral(), 0.0
        motion.next_q[8], motion.next_v[7] = q, v
        state.segment[:], state.segment[7] = FORWARD, segment
        return is_allowed(model, state, motion, held)

    fast = model.speed[7]
    assert allowed() and allowed(fast) and allowed(-fast) and allowed(q=1.0) and allowed(q=-2.0)
    assert not allowed(1.01 * fast) and not allowed(-1.01 * fast) and not allowed(np.nan)
    assert not allowed(q=1.01) and not allowed(q=-2.01) and not allowed(q=np.nan)
    # What rests at a limit may be beyond it by rounding.
    assert allowed(q=-2.01, segment=LOWER, held=1) and not allowed(q=-2.01, segment=LOWER)


def test_displacements_change_as_munthe_kaas_says(physics, rng):
    """V + [u, v] / 2 + [u, [u, v]] / 12, where a free body has the bracket of screws."""
    u, v = rng.normal(size=(2, 9))
    stages = physics.fields.work.integrator
    stages.displacement[:] = u

    def cross(a, b):
        w, t = a[:3], a[3:6]
        couple = np.cross(w, b[:3])
        return np.r_[couple, np.cross(w, b[3:6]) + np.cross(t, b[:3]), np.zeros(3)]

    found = np.empty(9)
    bracket(physics.model, u, v, found)
    assert_allclose(found, cross(u, v), atol=1e-14)
    find_displacement_rate(physics.model, v, stages)
    once = cross(u, v)
    assert_allclose(stages.rate, v + once / 2.0 + cross(u, once) / 12.0, atol=1e-14)


@pytest.mark.parametrize('bar', [0, 1, 2])
def test_loops_that_rounding_leaves_open_are_closed_and_others_named(bar):
    subject = loop_mechanisms.four_bar()
    physics, closed = Physics(subject), loop_mechanisms.four_bar_position(0.9)
    state = physics.state
    for way, first_open in ((1e-5, -1), (-1e-5, -1), (0.02, 0), (-0.02, 0)):
        physics.reset(closed, np.zeros(3))
        state.q[bar] += way
        state.v[:] = v = np.array([1.0, -2.0, 0.5])
        q = state.q.copy()
        assert close_loops.function(physics.fields) == first_open
        if first_open < 0:
            loops = subject.loops.closure(state.q)
            assert np.abs(loops.residual).max() < 1e-11 and np.abs(loops.K @ state.v).max() < 1e-11
            assert np.abs(state.q - q).max() < 1e-4
            # By impulses of the loops alone.
            left = subject.mass_matrix(state.q) @ (state.v - v)
            multipliers = np.linalg.lstsq(loops.K.T, left, rcond=1e-9)[0]
            assert_allclose(loops.K.T @ multipliers, left, atol=1e-9)
        else:
            # As well where a loop of no constraints is the first, and this one the second.
            rows = np.array([0, 0, physics.model.loop_first[-1]])
            second = physics.fields._replace(model=physics.model._replace(loop_first=rows))
            assert close_loops.function(second) == 1
            assert list(state.q) == list(q) and list(state.v) == list(v)
