# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""One solve for velocities, by Newton's method and sweeps: solutions obey every law."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.crawling import assert_joints_obey, CONTACT, crawling, substep, TIMESTEP

from rbd_ros.contact import ContactParameters
from rbd_ros.simulation.integrators.integrator import VELOCITY
from rbd_ros.simulation.records.simulation_state import GUARDED, LIMITED
from rbd_ros.simulation.stepping import solver
from rbd_ros.simulation.stepping.ground_contact import linearize_contacts
from rbd_ros.simulation.stepping.joint_law import BACKWARD, FORWARD, LOWER, STICK, UPPER
from rbd_ros.simulation.stepping.semi_implicit_step import step_constrained
from rbd_ros.simulation.stepping.solver import is_on_corner, newton, solve_velocity
from rbd_ros.simulation.stepping.sweeps import find_response, sweep_contact, sweep_to_rest

SEEDS = range(24)
BOUNDS = ('low', 'high', 'momentum', 'contact_impulse')
h = TIMESTEP


@pytest.fixture(scope='module')
def worlds():
    """Return the worlds of which each law is put to the test in some."""
    found = [crawling(seed) for seed in SEEDS]
    assert max(count for _, count in found) > 3
    return found


def laws(physics, count, v, contact=CONTACT):
    """Return contact forces by the book, (count, 3), and the remaining joint forces, (nv,)."""
    problem, contacts, state = physics.fields.work.problem, physics.contacts, physics.state
    forces = np.zeros((count, 3))
    for c in range(count):
        rate, point = problem.jacobian[c] @ v, contacts.point[c]
        p, z, x = (
            contacts.gap[c],
            state.normal_deformation[point],
            state.tangent_deformation[point],
        )
        # 11.75 and 11.78 at the end of the step, when z = p
        end = p + h * rate[0]
        normal = max(0.0, -contact.stiffness * end - contact.damping * (end - z) / h)
        K_t, D_t = contact.tangential_stiffness, contact.tangential_damping
        tangent = -K_t * (x + h * rate[1:]) - D_t * rate[1:]
        most = contact.friction * normal
        tangent *= min(1.0, most / np.linalg.norm(tangent))
        forces[c] = [normal, *tangent]
    contact_impulse = h * np.einsum('cri,cr->i', problem.jacobian[:count], forces)
    return forces, problem.inertia @ v - problem.momentum - contact_impulse


@pytest.mark.slow
@pytest.mark.parametrize('seed', SEEDS)
def test_the_problem_is_the_robots_equation(worlds, seed):
    """H with damping at the end, what the velocity would be without joints' forces, the limits."""
    physics, _ = worlds[seed]
    subject, state, model = physics.robot, physics.state, physics.model
    problem = physics.fields.work.problem
    M, bias = subject.mass_matrix(state.q), subject.bias_force(state.q, state.v)
    assert_allclose(problem.inertia, M + h * np.diag(model.damping), atol=1e-12)
    assert_allclose(problem.momentum, M @ state.v + h * (state.applied - bias), atol=1e-12)
    for i, q in zip(range(6, 9), state.q[7:], strict=True):
        # The velocity at which it arrives at its limit; one that is beyond it may stay.
        assert problem.low[i] == pytest.approx(
            min(0.0, max((-2.0 - q) / h, -model.speed[i])), abs=1e-9
        )
        assert problem.high[i] == pytest.approx(
            max(0.0, min((1.0 - q) / h, model.speed[i])), abs=1e-9
        )
    assert_allclose(problem.low[:6], -model.speed[:6])
    assert_allclose(problem.high[:6], model.speed[:6])


@pytest.mark.parametrize('seed', SEEDS)
def test_a_solution_of_newtons_method_obeys_every_law(worlds, seed):
    physics, count = worlds[seed]
    v, problem, state = physics.state.v.copy(), physics.fields.work.problem, physics.state
    assert solve_velocity(substep(physics, v, count))
    forces, p = laws(physics, count, v)
    assert_allclose(physics.contacts.force[:count], forces, atol=1e-8)
    assert_joints_obey(physics.model, physics.fields.work.problem, h, v, p, 1e-9)
    assert_allclose(problem.impulse - problem.contact_impulse, p, atol=1e-9)
    held = {LOWER: problem.low, UPPER: problem.high, STICK: np.zeros(len(v))}
    for i, segment in enumerate(state.segment):
        if segment in held:
            assert v[i] == held[segment][i]  # to the last bit


def test_newtons_method_needs_no_sweeps_as_a_rule(worlds, monkeypatch):
    monkeypatch.setattr(solver, 'sweep_to_rest', None)
    for physics, count in worlds:
        assert solve_velocity(substep(physics, physics.state.v.copy(), count))


@pytest.mark.parametrize('seed', SEEDS)
def test_sweeps_find_the_same_forces(worlds, seed):
    physics, count = worlds[seed]
    v, problem, state = np.zeros(9), physics.fields.work.problem, physics.state
    sweep_to_rest(physics.model, state, physics.contacts, problem, v, count, h)
    forces, p = laws(physics, count, v)
    assert_allclose(physics.contacts.force[:count], forces, atol=1e-5)
    assert_joints_obey(physics.model, physics.fields.work.problem, h, v, p, 1e-6)
    assert_allclose(problem.swept_impulse, p, atol=1e-6)
    swept = state.segment.copy()
    # Newton's method has nothing to do but to make it exact.
    assert newton(substep(physics, v, count), 3)
    assert list(state.segment) == list(swept)


@pytest.mark.parametrize('seed', SEEDS)
def test_sweeps_settle_on_stiff_ground(worlds, seed):
    """Where the force of one velocity, applied to itself, would be far too much."""
    physics, count = worlds[seed]
    stiff = ContactParameters(3e3, 40.0, 0.4, tangential_stiffness=1e5, tangential_damping=1e3)
    ground = physics.model.ground._replace(contact=stiff.array())
    model = physics.model._replace(ground=ground)
    v = np.zeros(9)
    problem = physics.fields.work.problem
    sweep_to_rest(model, physics.state, physics.contacts, problem, v, count, h)
    forces, p = laws(physics, count, v, stiff)
    assert_allclose(physics.contacts.force[:count], forces, atol=1e-2)
    assert_joints_obey(physics.model, physics.fields.work.problem, h, v, p, 1e-3)


@pytest.mark.parametrize('mobilities', [(1.0, 0.01, 90.0), (1.0, 90.0, 0.01), (9.0, 1.0, 1.0)])
def test_a_point_with_anisotropic_mobility_does_not_oscillate(mobilities):
    """Of one contact whose three directions are moved by one degree of freedom each."""
    physics, _ = crawling(0)
    problem, state, contacts = physics.fields.work.problem, physics.state, physics.contacts
    J = np.eye(9)[6:]
    problem.jacobian[0] = J
    problem.response[9:12] = np.diag(mobilities) @ J
    contacts.force[:], contacts.gap[0], contacts.point[0] = 0.0, -0.01, 0
    state.normal_deformation[:], state.tangent_deformation[:] = -0.01, 2e-4
    free = np.r_[np.zeros(6), 0.02, -0.3, 0.4]
    v, model = free.copy(), physics.model
    for _ in range(400):
        change = sweep_contact(model, state, contacts, problem, v, 0, h)
    assert change <= 1e-12
    forces, _ = laws(physics, 1, v)
    assert_allclose(contacts.force[:1], forces, rtol=1e-6, atol=1e-9)
    assert_allclose(v, free + h * np.r_[np.zeros(6), np.array(mobilities) * forces[0]], rtol=1e-9)


@pytest.mark.parametrize('seed', SEEDS)
def test_without_steps_only_the_forces_are_found(worlds, seed, rng):
    physics, count = worlds[seed]
    v, problem = rng.normal(size=9), physics.fields.work.problem
    given, step = v.copy(), substep(physics, v, count)
    physics.contacts.force[:], problem.impulse[:] = 7.0, 7.0
    assert not newton(step, 0)
    forces, p = laws(physics, count, given)
    assert list(v) == list(given)
    assert_allclose(physics.contacts.force[:count], forces, atol=1e-8)
    assert_allclose(problem.impulse - problem.contact_impulse, p, atol=1e-9)
    # And one step is enough to see that it has arrived.
    assert solve_velocity(step)
    assert newton(step, 1)


@pytest.mark.parametrize('steps, exact', [(2, True), (0, False)])
def test_sweeps_help_where_newtons_method_diverges(worlds, steps, exact, monkeypatch):
    """With so few steps that it must; without any, what the sweeps found is the result."""
    monkeypatch.setattr(solver, 'MAX_NEWTON', steps)
    for physics, count in worlds:
        problem = physics.fields.work.problem
        problem.swept_velocity[:] = 7.0
        physics.state.segment[6:] = UPPER
        v = 0.1 * np.ones(9)
        assert solve_velocity(substep(physics, v, count)) == exact
        forces, p = laws(physics, count, v)
        assert_allclose(physics.contacts.force[:count], forces, atol=1e-5)
        assert_joints_obey(
            physics.model, physics.fields.work.problem, h, v, p, 1e-9 if exact else 1e-6
        )


def test_contacts_break_no_joint_away_that_friction_holds(worlds):
    """With hardly more friction than it takes: what contacts exert is not the joint's."""
    cases = 0
    for physics, count in worlds:
        problem, state = physics.fields.work.problem, physics.state
        solve_velocity(substep(physics, state.v.copy(), count))
        own, contact_impulse = problem.impulse - problem.contact_impulse, problem.contact_impulse
        for i in np.flatnonzero(state.segment == STICK):
            if own[i] * contact_impulse[i] > 0.0 and abs(contact_impulse[i]) > 0.05 * abs(own[i]):
                cases += 1
                friction = physics.model.friction.copy()
                friction[i] = 1.01 * abs(own[i]) / h
                model, v = physics.model._replace(friction=friction), state.v.copy()
                assert solve_velocity(substep(physics, v, count)._replace(model=model))
                assert state.segment[i] == STICK and v[i] == 0.0
    assert cases > 0


def test_rounding_of_large_impulses_does_not_release_a_joint(worlds):
    """By half of what the sum of an impulse may be off, where that of another joint is large."""
    physics, _ = worlds[0]
    problem, state, v = physics.fields.work.problem, physics.state, np.zeros(9)
    model = physics.model._replace(friction=np.array([0.0] * 7 + [0.3 / h, 0.0]), has_ground=False)
    inertia, kept = problem.inertia.copy(), [getattr(problem, name).copy() for name in BOUNDS]
    problem.inertia[:] = np.eye(9)
    problem.low[:], problem.high[:], problem.contact_impulse[:] = -2e3, 2e3, 0.0
    for segment, bound, sign in ((LOWER, problem.low, -1.0), (UPPER, problem.high, 1.0)):
        problem.momentum[:] = 0.0
        problem.momentum[0] = 1e3
        bound[7] = sign
        problem.momentum[7] = sign * (1.3 - 0.5e-9)
        state.segment[:] = FORWARD
        state.segment[7] = segment
        assert newton(substep(physics, v)._replace(model=model), 3)
        assert state.segment[7] == segment and v[7] == sign
    problem.inertia[:] = inertia
    for name, values in zip(BOUNDS, kept, strict=True):
        getattr(problem, name)[:] = values


def test_sliding_at_rest_is_on_the_corner_of_the_law(worlds):
    """By rounding of the fastest joint, if it has friction at all."""
    model = worlds[0][0].model._replace(friction=np.array([0.0] * 6 + [1.0] * 3))
    v = np.array([3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2e-12, -4e-12, 0.0])
    for segment in (LOWER, BACKWARD, STICK, FORWARD, UPPER):
        found = [is_on_corner(model, np.full(9, segment), v, i) for i in range(9)]
        slides = segment in (BACKWARD, FORWARD)
        assert found == [False] * 6 + [slides, False, slides]


def test_all_parts_of_the_joints_law_and_both_kinds_of_contact_were_met(worlds):
    segments, kinds = set(), set()
    for physics, count in worlds:
        solve_velocity(substep(physics, physics.state.v.copy(), count))
        segments |= set(physics.state.segment.tolist())
        for normal, *tangent in physics.contacts.force[:count]:
            full = np.linalg.norm(tangent) >= CONTACT.friction * normal - 1e-9
            kinds.add('open' if normal == 0.0 else 'slides' if full else 'sticks')
    assert segments == {LOWER, BACKWARD, STICK, FORWARD, UPPER}
    assert kinds == {'open', 'slides', 'sticks'}


@pytest.mark.parametrize('seed', SEEDS)
def test_the_responses_are_columns_of_the_inverse(worlds, seed):
    physics, count = worlds[seed]
    problem, v = physics.fields.work.problem, np.zeros(9)
    find_response(physics.model, problem, v, count)
    inverse = np.linalg.inv(problem.inertia)
    J = problem.jacobian[:count].reshape(3 * count, 9)
    assert_allclose(
        problem.response[: 9 + 3 * count], np.vstack([inverse, J @ inverse]), atol=1e-9
    )
    assert_allclose(v, inverse @ problem.momentum, atol=1e-9)


@pytest.mark.parametrize('seed', SEEDS)
def test_the_linearization_of_contacts_is_their_tangent_at_the_velocity(worlds, seed, rng):
    physics, count = worlds[seed]
    problem, model = physics.fields.work.problem, physics.model
    v, step = rng.normal(size=9), 1e-7
    arguments = (model.ground, physics.state, physics.contacts, problem)

    def at(v):
        error = linearize_contacts(*arguments, v, count, h)
        return error, physics.contacts.force[:count].copy()

    _, forces = at(v)
    slope, intercept = problem.slope[:count].copy(), problem.intercept[:count].copy()
    assert_allclose(forces, laws(physics, count, v)[0], atol=1e-9)
    contact_impulse = h * np.einsum('cri,cr->i', problem.jacobian[:count], forces)
    assert_allclose(problem.contact_impulse, contact_impulse, atol=1e-12)
    rates = problem.jacobian[:count] @ v
    assert_allclose(intercept + np.einsum('crs,cs->cr', slope, rates), forces, atol=1e-8)
    # Its report: error of the tangent, relative to the maximum force.
    direction = rng.normal(size=9)
    moved = v + 0.1 * direction
    reported, found = at(moved)
    expected = intercept + np.einsum('crs,cs->cr', slope, problem.jacobian[:count] @ moved)
    most = np.abs(found).max(initial=0.0)
    wrong = np.abs(found - expected).max(initial=0.0)
    assert reported == pytest.approx(wrong / most if most > 0.0 else wrong, rel=1e-9, abs=1e-12)
    near = (
        laws(physics, count, v + step * direction)[0]
        - laws(physics, count, v - step * direction)[0]
    )
    along = np.einsum('crs,cs->cr', slope, problem.jacobian[:count] @ direction)
    assert_allclose(along, near / (2 * step), rtol=1e-5, atol=1e-4)


def test_a_step_is_counted_as_limited_if_a_joint_ends_at_its_limit():
    limited = set()
    for seed in SEEDS:
        physics, count = crawling(seed)
        state, work = physics.state, physics.fields.work
        state.counters[[LIMITED, GUARDED]] = 0
        assert step_constrained(substep(physics, work.motion.next_v, count)) == VELOCITY
        found = bool(np.isin(state.segment, (LOWER, UPPER)).any())
        assert list(state.counters[[LIMITED, GUARDED]]) == [found, 0]
        limited.add(found)
    assert limited == {True, False}
