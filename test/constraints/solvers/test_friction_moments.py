# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Torsional and rolling friction: balls by hand, convex programs, parts of solvers."""

from dataclasses import replace
import math

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.optimize import minimize
from support import fresh_python
from support.boxes_in_contact import ball_on_plane, with_moments
from support.friction_loops import Coefficients, scale_alone

from rbd_ros.compiler.loops import allocate, Record
from rbd_ros.constraints import friction_problem, residuals, solve_friction
from rbd_ros.constraints.friction_solution import scaled_space
from rbd_ros.constraints.friction_space import (
    ALONE,
    BEST,
    FIRST,
    FrictionSpace,
    moment_residual,
    NEWTON_STEPS,
    refresh,
    ROWS,
    SECOND,
    SWEEPS,
    TOLERANCE,
    unscale_forces,
)
from rbd_ros.constraints.solvers.friction_moment_solver import sweep_moments
from rbd_ros.constraints.solvers.friction_solver import COMBINED, solve_space

SOLVERS = ['newton', 'sweeps']
GRAVITY, STEP, MASS, RADIUS = 9.81, 1e-3, 2.0, 0.1
INERTIA = 0.4 * MASS * RADIUS**2


def worst(found):
    """Return the largest residual of a solution."""
    r = found.residuals
    return max(r.signorini, r.contact, r.cone, r.dual, r.rows)


@pytest.mark.parametrize('solver', SOLVERS)
@pytest.mark.parametrize('spin', [5.0, -5.0])
def test_a_ball_that_spins_is_slowed_down(spin, solver):
    """The deceleration is c N / I for any radius of the ball, which does not move."""
    problem, motion = ball_on_plane([0, 0, spin, 0, 0, 0], torsion=0.01)
    found = solve_friction(problem, solver)
    assert found.converged and worst(found) < 1e-9
    slower = 0.01 * MASS * GRAVITY * STEP / INERTIA
    expected = [0, 0, spin - math.copysign(slower, spin), 0, 0, 0]
    assert_allclose(motion(found.force), expected, atol=1e-8)


@pytest.mark.parametrize('solver', SOLVERS)
def test_a_ball_that_hardly_spins_stops(solver):
    problem, motion = ball_on_plane([0, 0, 0.02, 0, 0, 0], torsion=0.01)
    found = solve_friction(problem, solver)
    assert found.converged
    assert_allclose(motion(found.force), 0.0, atol=1e-11)
    assert_allclose(found.force, [MASS * GRAVITY * STEP, 0, 0, -0.02 * INERTIA], atol=1e-12)


def test_a_ball_that_hardly_turns_stops_in_two_systems():
    """Forces and moments all stick, guessed from nothing; loops beside them."""
    problem, motion = ball_on_plane([1e-3, 1e-3, 1e-3, 0, 0, 0], torsion=0.01, rolling=0.01)
    found = solve_friction(problem)
    assert found.converged and found.iterations[0] == 0 and found.iterations[1] <= 2
    assert_allclose(motion(found.force), 0.0, atol=1e-12)
    G, g = np.eye(8), np.zeros(8)
    order = [0, 1, 2, 4, 5, 6]
    G[np.ix_(order, order)], g[order], g[[3, 7]] = problem.G, problem.g, 0.1
    order = [0, 1, 2, 3, 7, 4, 5, 6]
    loops = friction_problem(
        G[np.ix_(order, order)],
        g[order],
        problem.friction,
        [-np.inf] * 2,
        torsion=problem.torsion,
        rolling=problem.rolling,
    )
    found = solve_friction(loops)
    assert found.converged and found.iterations[0] == 0 and found.iterations[1] <= 2
    assert_allclose(found.velocity, 0.0, atol=1e-12)


@pytest.mark.parametrize('solver', SOLVERS)
@pytest.mark.parametrize('direction', np.linspace(0.0, 2.0 * math.pi, 7)[:-1])
def test_a_rolling_ball_is_slowed_down_and_keeps_rolling(direction, solver):
    """The moment c N against the turning; friction keeps it rolling: F (R + I / (m R)) = c N."""
    e, speed, c = np.array([math.cos(direction), math.sin(direction)]), 0.8, 0.002
    velocity = [-speed / RADIUS * e[1], speed / RADIUS * e[0], 0, *(speed * e), 0]
    problem, motion = ball_on_plane(velocity, rolling=c)
    found = solve_friction(problem, solver)
    assert found.converged and found.state[0] == 'stick'
    force = c * MASS * GRAVITY / (RADIUS + INERTIA / (MASS * RADIUS))
    after = motion(found.force)
    assert_allclose(after[3:], [*((speed - force * STEP / MASS) * e), 0.0], atol=1e-11)
    assert_allclose(after[:2] * RADIUS, np.array([-1, 1]) * after[[4, 3]], atol=1e-11)


def test_a_ball_on_a_slope_rolls_only_beyond_the_moment():
    """It stays if m g sin < c N / R, about the point of contact."""
    for c, stays in ((0.0101, True), (0.0099, False)):
        push = 0.1 * MASS * GRAVITY
        problem, motion = ball_on_plane(np.zeros(6), rolling=c, force=[0, 0, 0, push, 0, 0])
        found = solve_friction(problem)
        assert found.converged
        assert (np.abs(motion(found.force)).max() < 1e-9) == stays


def test_moments_of_an_open_contact_are_zero():
    problem, _ = ball_on_plane([1, 2, 3, 0, 0, 1.0], torsion=0.1, rolling=0.1)
    for solver in SOLVERS:
        found = solve_friction(problem, solver)
        assert found.converged and not found.force.any()


def test_without_coefficients_there_are_no_moments():
    problem, _ = ball_on_plane([1, 2, 3, 1, 0, 0], torsion=0.0, rolling=0.0)
    plain, _ = ball_on_plane([1, 2, 3, 1, 0, 0])
    for solver in SOLVERS:
        found = solve_friction(problem, solver)
        assert found.converged and not found.force[3:].any()
        assert_allclose(found.force[:3], solve_friction(plain, solver).force, atol=1e-12)


@pytest.mark.parametrize('solver', SOLVERS)
def test_moments_dissipate_most(solver):
    """No moment of the same normal force takes more power from what turns; torsion and rolling."""
    rng = np.random.default_rng(0)
    slides = 0
    for _ in range(20):
        problem = with_moments(rng, 3, 24)
        found = solve_friction(problem, solver, iterations=5000)
        assert found.converged
        normal, w = found.force[:9:3], found.velocity[9:]
        moments = found.force[9:]
        for c in range(3):
            if normal[c] <= 0.0:
                continue
            for at, largest in (
                (slice(c, c + 1), problem.torsion[c]),
                (slice(3 + 2 * c, 5 + 2 * c), problem.rolling[c]),
            ):
                most = normal[c] * largest
                assert np.linalg.norm(moments[at]) <= most * (1.0 + 1e-9)
                scale = 1e-8 * (1.0 + most)
                assert_allclose(moments[at] @ w[at], -most * np.linalg.norm(w[at]), atol=scale)
                slides += np.linalg.norm(w[at]) > 1e-6
    assert slides > 20


def test_solvers_agree():
    rng = np.random.default_rng(1)
    for _ in range(20):
        problem = with_moments(rng, 4, 40)
        found = [solve_friction(problem, s, tolerance=1e-11, iterations=5000) for s in SOLVERS]
        assert all(each.converged for each in found)
        assert all(worst(each) < 1e-8 * (1 + np.abs(each.force).max()) for each in found)
        for each in found[1:]:
            assert_allclose(each.velocity, found[0].velocity, atol=1e-6)
        assert sum(found[0].iterations) <= 90


def test_moments_under_given_normal_forces_solve_a_convex_program():
    """Normals that nothing else moves: what friction does is a minimum that SciPy finds."""
    rng = np.random.default_rng(2)
    for _ in range(5):
        problem = with_moments(rng, 2, 20)
        G, g = problem.G.copy(), problem.g.copy()
        normals, others = [0, 3], [k for k in range(12) if k not in (0, 3)]
        G[np.ix_(normals, others)] = G[np.ix_(others, normals)] = 0.0
        G[0, 3] = G[3, 0] = 0.0
        g[normals] = [-1.0, -2.0]
        problem = friction_problem(
            G, g, problem.friction, torsion=problem.torsion, rolling=problem.rolling
        )
        found = solve_friction(problem)
        assert found.converged
        n = np.array([1.0, 2.0]) / np.diag(G)[normals]
        assert_allclose(found.force[normals], n, rtol=1e-9)
        M, d = G[np.ix_(others, others)], g[others]
        bounds = [
            *((slice(2 * c, 2 * c + 2), n[c], problem.friction[c]) for c in range(2)),
            *((slice(4 + c, 5 + c), n[c], problem.torsion[c]) for c in range(2)),
            *((slice(6 + 2 * c, 8 + 2 * c), n[c], problem.rolling[c]) for c in range(2)),
        ]
        best = minimize(
            lambda x, M=M, d=d: 0.5 * x @ M @ x + d @ x,
            np.zeros(10),
            jac=lambda x, M=M, d=d: M @ x + d,
            method='SLSQP',
            constraints=[
                {'type': 'ineq', 'fun': lambda x, b=b: b[1] ** 2 - ((x[b[0]] / b[2]) ** 2).sum()}
                for b in bounds
            ],
            options={'ftol': 1e-15, 'maxiter': 500},
        )
        assert_allclose(found.force[others], best.x, atol=1e-5 * (1.0 + np.abs(best.x).max()))


def test_residuals_of_moments_by_hand():
    problem = friction_problem(
        np.eye(6), [0, 0, 0, 0.3, 0.4, -1.0], [0.5], torsion=[0.1], rolling=[0.2]
    )
    found = residuals(problem, [2.0, 0, 0, 0.5, 0.3, 0.4])
    # v = (2, 0, 0, 0.8, 0.7, -0.6): power 4 + 0.4 + 0.21 - 0.24
    assert_allclose(found.conic, 4.37)
    assert_allclose(found.contact, 4.37 + 2.0 * (0.1 * 0.8 + 0.2 * math.hypot(0.7, 0.6)))
    assert_allclose(found.cone, 0.5 / 0.1 - 2.0)
    assert_allclose(residuals(problem, [1.0, 0, 0, 0.0, 0.3, 0.4]).cone, 0.5 / 0.2 - 1.0)
    assert found.rows == 0.0
    none = friction_problem(np.eye(4), np.zeros(4), [0.5], torsion=[0.0])
    assert_allclose(residuals(none, [7.0, 0, 0, 0.2]).cone, 0.2)


@pytest.mark.parametrize(
    ('moments', 'words'),
    [
        ({'torsion': [0.1, 0.1]}, r'torsion must have shape \(1,\)'),
        ({'rolling': 0.1}, r'rolling must have shape \(1,\)'),
        ({'torsion': [-0.1]}, 'torsion must be finite and not negative'),
        ({'rolling': [np.nan]}, 'rolling must be finite'),
        ({'torsion': [0.1], 'rolling': [0.1]}, r'3n \+ m \+ 3, 3n \+ m \+ 3'),
    ],
)
def test_invalid_friction_moments_are_rejected(moments, words):
    with pytest.raises(ValueError, match=words):
        friction_problem(np.eye(5), np.zeros(5), [0.5], **moments)


def test_the_residual_is_the_distance_from_the_nearest_moment():
    rng = np.random.default_rng(3)
    for _ in range(200):
        x, u, bound = rng.normal(size=2), rng.normal(size=2), rng.uniform(0.0, 2.0)
        w = x - u
        nearest = w * min(1.0, bound / np.linalg.norm(w))
        expected = np.linalg.norm(x - nearest)
        assert_allclose(moment_residual(x, u, 0, FIRST, bound), expected, atol=1e-14)
        expected = abs(x[1] - np.clip(w[1], -bound, bound))
        assert_allclose(moment_residual(x, u, 1, ALONE, bound), expected, atol=1e-14)
    exact = moment_residual(np.array([1e9, 0.0]), np.array([3e-9, 4e-9]), 0, FIRST, 2e9)
    assert_allclose(exact, 5e-9, rtol=1e-12)


def test_contradictory_rows_beside_moments_are_proved_to_be_so():
    J = np.zeros((8, 9))
    J[:3, :3], J[5:, 5:8] = np.eye(3), np.eye(3)
    J[3:5, 3] = 1.0  # one motion, at two speeds
    for g in (1.0, -1.0):
        problem = friction_problem(
            J @ J.T,
            [-1.0, 0, 0, g, -g, 0, 0, 0],
            [0.5],
            [-np.inf] * 2,
            torsion=[0.1],
            rolling=[0.1],
        )
        found = solve_friction(problem, iterations=50)
        assert not found.converged and np.isfinite(found.force).all()
        proof = found.certificate
        assert_allclose(problem.G @ proof, 0.0, atol=1e-9)
        assert problem.g @ proof < 0.0 and (proof[[0, 1, 2, 5, 6, 7]] == 0.0).all()


def test_sweeps_solve_a_moment_exactly():
    """S x + p = -s x with |x| at its bound, or x that stops it: against a bisection."""
    rng = np.random.default_rng(6)
    states = set()
    for _ in range(100):
        space, _ = scaled_space(with_moments(rng, 1, 12))
        space.b[3:] *= 10.0 ** rng.uniform(-3, 1)
        space.x[0] = rng.choice([0.0, 0.1, 1.0, 10.0])
        refresh(space)
        for _ in range(40):
            sweep_moments(space)
        refresh(space)
        for i, part, size in ((3, ALONE, 1), (4, FIRST, 2)):
            assert moment_residual(space.x, space.u, i, part, space.x[0]) < 1e-9
            x, u = space.x[i : i + size], space.u[i : i + size]
            slides = np.linalg.norm(x) >= space.x[0] * (1.0 - 1e-12)
            states.add((size, slides))
            if slides:
                # Against the rotation, as large as it may be.
                assert_allclose(x @ u, -space.x[0] * np.linalg.norm(u), atol=1e-8)
    assert states == {(size, slides) for size in (1, 2) for slides in (False, True)}


def test_one_sweep_is_enough_for_one_moment():
    rng = np.random.default_rng(7)
    for _ in range(200):
        A = rng.normal(size=(5, 5))
        G = A @ A.T
        G[:3, 3:] = G[3:, :3] = 0.0
        scale = 10.0 ** rng.uniform(-3, 3)
        problem = friction_problem(
            G, [-1.0, 0, 0, *(scale * rng.normal(size=2))], [0.5], rolling=[rng.uniform(0.1, 2)]
        )
        found = solve_friction(problem, 'sweeps')
        assert found.converged and found.iterations[0] <= 1


@pytest.mark.parametrize('rows', [0, 2])
def test_the_next_step_takes_a_linear_system_or_two(rows):
    rng = np.random.default_rng(9)
    problem = with_moments(rng, 3, 24, rows=rows)
    space, scale = scaled_space(problem)
    assert solve_space(Record(space), COMBINED, 2000, 1e-12)
    for _ in range(5):
        pushes = rng.normal(size=len(scale)) * np.abs(scale * space.x).max()
        following = replace(problem, g=problem.g + 1e-3 * problem.G @ pushes)
        after, unit = scaled_space(following)
        after.x[:] = space.x * scale / unit
        assert solve_space(Record(after), COMBINED, 2000, 1e-10)
        assert after.report[SWEEPS] == 0.0 and after.report[NEWTON_STEPS] <= 4.0
        expected = solve_friction(following).velocity
        assert_allclose(following.velocity(unit * after.x), expected, atol=1e-8)


def test_moments_are_scaled_where_they_lie():
    rng = np.random.default_rng(10)
    problem = with_moments(rng, 3, 24, rows=2)
    own, scale = scaled_space(problem)
    size, m = len(scale), len(own.low)
    room = allocate(FrictionSpace, N=size + 3, n=4, m=m + 2)
    room.sizes[:] = own.sizes
    room.A[:size, :size], room.b[:size] = problem.G, problem.g
    room.low[:2], room.high[:2] = problem.low, problem.high
    room.moment_contact[:m], room.part[:m], room.coefficient[:m] = (
        own.moment_contact,
        own.part,
        own.coefficient,
    )
    room.x[:size] = start = rng.normal(size=size)
    friction = allocate(Coefficients, n=3)
    friction.friction[:] = problem.friction
    scale_alone(Record(room), Record(friction))
    assert_allclose(room.scale[:size], scale, rtol=1e-14)
    assert_allclose(room.A[:size, :size], own.A, rtol=1e-13)
    assert_allclose(room.low[:2], own.low[:2])
    for c in range(3):
        block = [*range(3 * c, 3 * c + 3), 11 + c, 14 + 2 * c, 15 + 2 * c]
        assert_allclose(np.diag(own.A)[block].max(), 1.0)
        unit = scale[3 * c]
        assert_allclose(scale[11 + c], unit * problem.torsion[c])
        assert_allclose(scale[14 + 2 * c : 16 + 2 * c], unit * problem.rolling[c])
    unscale_forces(room)
    assert_allclose(room.x[:size], start, rtol=1e-14)
    assert list(own.part) == [0, 0, ALONE, ALONE, ALONE, *[FIRST, SECOND] * 3][2:] + [0, 0]


def test_a_space_for_more_serves_moments_as_well():
    rng = np.random.default_rng(11)
    for contacts in (1, 3):
        problem = with_moments(rng, contacts, 9 * contacts, rows=2)
        own, _ = scaled_space(problem)
        room = allocate(FrictionSpace, N=50, n=6, m=30)
        for array in room:
            array[...] = np.nan if array.dtype == float else -(2**62)
        for mine, its in zip(room, own):
            mine[tuple(slice(0, k) for k in its.shape)] = its
        for method in range(2):
            for space in (own, room):
                space.x[: len(own.x)] = 0.0
            assert solve_space(Record(room), method, 500, 1e-10) == 1
            assert solve_space(Record(own), method, 500, 1e-10) == 1
            assert np.array_equal(room.x[: len(own.x)], own.x)
            assert np.isnan(room.x[len(own.x) :]).all()
            assert (room.unknown[len(own.unknown) :] == -(2**62)).all()


def test_loops_and_limits_beside_moments():
    rng = np.random.default_rng(12)
    for _ in range(10):
        problem = with_moments(rng, 2, 24, rows=2)
        for solver in SOLVERS:
            found = solve_friction(problem, solver, iterations=5000)
            assert found.converged
            assert worst(found) < 1e-8 * (1.0 + np.abs(found.force).max())


CASES = """
import numpy as np
from rbd_ros.constraints import solve_friction
from support.boxes_in_contact import with_moments
rng = np.random.default_rng(13)
numbers = []
for _ in range(3):
    problem = with_moments(rng, 2, 12)
    for solver in ('newton', 'sweeps'):
        found = solve_friction(problem, solver, iterations=60)
        numbers.append([found.converged, *found.velocity])
"""


def test_compiled_and_interpreted_agree():
    here = {}
    exec(CASES, here)
    shown = fresh_python.run(CASES + 'print(repr(numbers))', RBD_ROS_COMPILER='off')
    for compiled, interpreted in zip(here['numbers'], eval(shown.stdout, {'np': np})):
        assert_allclose(compiled, interpreted, rtol=1e-6, atol=1e-9)


def test_a_ready_report_is_not_needed():
    """The report is cleared when a problem is solved."""
    space, _ = scaled_space(with_moments(np.random.default_rng(14), 1, 8))
    space.report[:] = np.nan
    assert solve_space(Record(space), COMBINED, 100, 1e-10)
    assert space.report[BEST] < 1e-9 and space.report[TOLERANCE] == 1e-10
    assert space.sizes[ROWS] == 0
