# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""One contact, solved exactly: against closed forms and sampled forces of its cone."""

import math

import numpy as np
from numpy.testing import assert_allclose
import pytest

from rbd_ros.compiler.loops import Mat, Vec
from rbd_ros.constraints import friction_problem, residuals, solve_friction
from rbd_ros.constraints.friction_solution import scaled_space
from rbd_ros.constraints.friction_space import refresh, SLIDE, STICK
from rbd_ros.constraints.solvers.friction_sweeps import solve_block, sweep


def solve_one(space, q):
    """Return state and force of the first contact, by its velocity without a force."""
    block = Mat(*(Vec(*row) for row in space.A[:3, :3]))
    state, x = solve_block(block, Vec(*q[:3]), space.slip, 0)
    return state, np.array(x)


def random_contact(rng, tilt=1.0):
    """Return G, g and friction of one contact whose normal and tangents are coupled."""
    A = np.eye(3) + tilt * rng.normal(size=(3, 3))
    return A @ A.T, rng.normal(size=3), rng.uniform(0.1, 1.5, (1, 2))


def test_a_contact_opens_that_moves_apart():
    found = solve_friction(friction_problem(np.eye(3), [0.1, 5.0, -3.0], [0.5]), 'sweeps')
    assert found.state[0] == 'open' and not found.force.any()
    assert_allclose(found.velocity, [0.1, 5.0, -3.0])


def test_a_contact_sticks_if_the_force_that_stops_it_is_in_the_cone():
    rng = np.random.default_rng(1)
    stuck = 0
    for _ in range(200):
        G, _, mu = random_contact(rng, 0.5)
        angle, part = rng.uniform(0.0, 2.0 * math.pi), rng.uniform(0.0, 1.3)
        n = rng.uniform(0.1, 5.0)
        force = n * np.array(
            [1.0, part * mu[0, 0] * math.cos(angle), part * mu[0, 1] * math.sin(angle)]
        )
        free = -G @ force
        found = solve_friction(friction_problem(G, free, mu), 'sweeps')
        if free[0] >= 0.0:  # then no force at all is a solution as well
            assert found.state[0] == 'open'
            continue
        assert (found.state[0] == 'stick') == (part < 1.0)
        if part < 1.0:
            stuck += 1
            assert_allclose(found.force, force, rtol=1e-9, atol=1e-12)
    assert 50 < stuck < 190


@pytest.mark.parametrize('angle', np.linspace(0.0, 2.0 * math.pi, 13)[:-1])
def test_a_contact_slides_against_its_velocity(angle):
    """Without coupling and with a round cone the force opposes the velocity, as by hand."""
    mass, mu, speed, fall = 2.0, 0.3, 1.5, 0.4
    t = np.array([math.cos(angle), math.sin(angle)])
    problem = friction_problem(np.eye(3) / mass, [-fall, *(speed * t)], [mu])
    found = solve_friction(problem, 'sweeps')
    assert found.state[0] == 'slide' and found.iterations == (1, 0)
    assert_allclose(found.force, mass * fall * np.array([1.0, *(-mu * t)]), atol=1e-14)
    assert_allclose(found.velocity, [0.0, *((speed - mu * fall) * t)], atol=1e-14)


def test_any_contact_is_solved_in_one_sweep():
    rng = np.random.default_rng(2)
    seen = set()
    for _ in range(500):
        problem = friction_problem(*random_contact(rng, rng.choice([0.1, 1.0, 10.0])))
        found = solve_friction(problem, 'sweeps')
        assert found.converged and sum(found.iterations) <= 1
        seen.add(found.state[0])
        scale = np.abs(found.force).max() + 1.0
        found = found.residuals
        worst = max(found.signorini, found.contact, found.cone, found.dual)
        assert worst < 1e-11 * scale
    assert seen == {'open', 'stick', 'slide'}


def test_sliding_dissipates_most():
    """No force of the elliptic cone with that normal force takes more power from what slides.

    The force is where the normal velocity vanishes; with its normal force given, the least of
    v_t . f is at that friction, and not merely at one on the boundary.
    """
    rng = np.random.default_rng(3)
    angles = np.linspace(0.0, 2.0 * math.pi, 721)
    slides = 0
    for _ in range(200):
        G, g, mu = random_contact(rng)
        found = solve_friction(friction_problem(G, g, mu), 'sweeps')
        if found.state[0] != 'slide':
            continue
        slides += 1
        v, force = found.velocity, found.force
        assert abs(v[0]) < 1e-12 * (1.0 + np.abs(force).max())
        edge = force[0] * mu[0] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        inside = edge * rng.uniform(0.0, 1.0, (len(edge), 1))
        power = force[1:] @ v[1:]
        assert power < 0.0
        assert (edge @ v[1:]).min() >= power * (1.0 + 1e-12)
        assert (inside @ v[1:]).min() >= power * (1.0 + 1e-12)
        # It is the minimum that the support function of the ellipse gives.
        assert_allclose(power, -force[0] * np.linalg.norm(mu[0] * v[1:]), rtol=1e-9)
    assert slides > 50


def test_friction_is_against_the_direction_of_sliding():
    rng = np.random.default_rng(6)
    slides = 0
    for _ in range(50):
        space, _ = scaled_space(friction_problem(*random_contact(rng)))
        state, x = solve_one(space, space.b)
        if state != SLIDE:
            continue
        slides += 1
        u = space.A @ x + space.b
        speed = np.linalg.norm(u[1:])
        assert_allclose(x[1:] / x[0], -u[1:] / speed, atol=1e-9)
        # The root is known from then on, and found at once from itself.
        assert_allclose(u[1:], -space.slip[0] * x[1:], atol=1e-9)
        state, again = solve_one(space, space.b)
        assert state == SLIDE
        assert_allclose(again, x, rtol=1e-12)
    assert slides > 10


def test_a_root_is_found_from_far_away():
    rng = np.random.default_rng(7)
    for _ in range(30):
        space, _ = scaled_space(friction_problem(*random_contact(rng)))
        state, x = solve_one(space, space.b)
        for far in (1e-12, 1e12, -1.0, np.inf, np.nan):
            space.slip[0] = far
            same, again = solve_one(space, space.b)
            assert same == state
            assert_allclose(again, x, rtol=1e-9, atol=1e-12)


def test_a_contact_that_nothing_moves_gets_no_force():
    found = solve_friction(friction_problem(np.zeros((3, 3)), [-1.0, 0.0, 0.0], [0.5]), 'sweeps')
    assert not found.force.any() and not found.converged
    assert_allclose(found.certificate, [1.0, 0.0, 0.0])


@pytest.mark.parametrize('speed', [0.0, 1e-9])
def test_a_contact_that_stops_as_a_whole_gets_no_force_of_rounding(speed):
    """Of a body with one degree of freedom, all three rows of the contact are multiples of one."""
    rng = np.random.default_rng(4)
    for _ in range(300):
        row = np.append(1.0, rng.uniform(-0.9, 0.9, 2))
        mu = rng.uniform(0.2, 1.0)
        problem = friction_problem(np.outer(row, row), -rng.uniform(0.1, 2.0) * row, [mu])
        space, scale = scaled_space(problem)
        refresh(space)
        q = space.u.copy()
        q[1:] += 1e-16 * rng.normal(size=2)
        q[1] += speed
        state, x = solve_one(space, q)
        u = space.A @ x + q
        if speed > 0.0:
            # This is no rounding: it slides on, and friction is at the cone's boundary.
            assert state == SLIDE and np.hypot(*x[1:]) == pytest.approx(x[0], rel=1e-9)
            assert np.abs(x).max() < 1e2 and abs(u[0]) < 1e-9
            continue
        assert state == STICK and np.abs(x).max() < 1e2
        assert np.abs(u).max() < 1e-15


def test_rows_between_bounds():
    """A loop, an open limit, a limit that pushes, dry friction that holds, and that slips."""
    low, high = [-np.inf, 0.0, 0.0, -1.0, -1.0], [np.inf, np.inf, np.inf, 1.0, 1.0]
    g = np.array([0.7, 0.2, -0.3, 0.5, -4.0])
    problem = friction_problem(2.0 * np.eye(5), g, np.zeros((0, 2)), low, high)
    found = solve_friction(problem, 'sweeps')
    assert_allclose(found.force, [-0.35, 0.0, 0.15, -0.25, 1.0])
    assert_allclose(found.velocity, [0.0, 0.2, 0.0, 0.0, -2.0], atol=1e-15)
    assert found.converged and residuals(problem, found.force).rows < 1e-15


def test_sweeps_over_several_contacts_and_rows_converge():
    """From any start, in a number of sweeps that depends on the coupling alone."""
    rng = np.random.default_rng(4)
    for _ in range(10):
        J = rng.normal(size=(14, 40))
        low, high = [-np.inf, -0.05], [np.inf, 0.05]
        problem = friction_problem(
            J @ J.T / 40.0, rng.normal(size=14), rng.uniform(0.1, 1.0, (4, 2)), low, high
        )
        start = rng.normal(size=14)
        found = solve_friction(problem, 'sweeps', start=start, tolerance=1e-12)
        assert found.converged and found.iterations[0] < 60
        worst = found.residuals
        assert max(worst.signorini, worst.contact, worst.cone, worst.dual, worst.rows) < 1e-11


def test_velocities_of_sweeps_are_those_of_their_forces():
    rng = np.random.default_rng(5)
    J = rng.normal(size=(8, 40))
    problem = friction_problem(
        J @ J.T / 40.0, np.full(8, -1.0), [0.1, 2.0], [-np.inf, 0.0], [np.inf, 1e-3]
    )
    space, scale = scaled_space(problem)
    refresh(space)
    for _ in range(20):
        sweep(space)
    # What sweeps add up in u is what the forces cause.
    u = space.u.copy()
    refresh(space)
    assert_allclose(u, space.u, atol=1e-12)
    assert_allclose(scale * space.x, solve_friction(problem).force, atol=1e-8)
