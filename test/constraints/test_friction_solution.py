# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forces of contacts with friction: boxes by hand, properties, limits, infeasible problems."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import fresh_python
from support.boxes_in_contact import box_on_plane, boxes, cross, face, random_contacts, stack

from rbd_ros.constraints import friction_problem, residuals, solve_friction
from rbd_ros.textbook.complementarity import solve_lcp

GRAVITY, STEP = 9.81, 1e-3


def worst(found):
    """Return the largest residual of a solution."""
    r = found.residuals
    return max(r.signorini, r.contact, r.cone, r.dual, r.rows)


@pytest.mark.parametrize('solver', ['newton', 'sweeps'])
@pytest.mark.parametrize('points', [4, 8, 64])
def test_a_box_at_rest_stays_there(points, solver):
    problem, _ = box_on_plane(points)
    found = solve_friction(problem, solver)
    assert found.converged and worst(found) < 1e-10
    assert_allclose(found.velocity, 0.0, atol=1e-10)
    assert_allclose(found.force.reshape(-1, 3).sum(axis=0), [GRAVITY * STEP, 0, 0], atol=1e-10)


@pytest.mark.parametrize('solver', ['newton', 'sweeps'])
@pytest.mark.parametrize('direction', np.linspace(0.0, 2.0 * np.pi, 9)[:-1])
def test_a_sliding_box_is_slowed_down_by_its_weight(direction, solver):
    """All points slide, so dv = -mu g h, however the weight is distributed."""
    t = np.array([np.cos(direction), np.sin(direction)])
    problem, J = box_on_plane(8, (0, 0, 0, *t, 0))
    found = solve_friction(problem, solver)
    assert found.converged and worst(found) < 1e-10
    assert (found.state != 'stick').all()
    expected = np.array([0.0, *((1.0 - 0.4 * GRAVITY * STEP) * t)])
    # Friction below the center of mass tilts it, unless forces in front are larger: they are.
    assert_allclose(found.velocity.reshape(-1, 3), np.tile(expected, (8, 1)), atol=1e-10)


@pytest.mark.parametrize(('push', 'sticks'), [(0.999, True), (1.001, False)])
def test_a_pushed_box_slides_beyond_the_cone(push, sticks):
    force = push * 0.4 * GRAVITY
    problem, _ = box_on_plane(4, force=(0, 0, 0, force * 0.6, force * 0.8, 0))
    found = solve_friction(problem)
    assert found.converged and worst(found) < 1e-12
    speed = np.linalg.norm(found.velocity.reshape(-1, 3)[:, 1:], axis=1)
    assert (speed < 1e-12).all() if sticks else (speed > 1e-7).all()


def test_a_box_pushed_above_its_center_tips_over_its_edge():
    """With much friction it rolls over the far edge: F h > m g a / 2 about that edge."""
    problem, _ = box_on_plane(8, mu=2.0, force=(0, 0, 0, 10.5, 0, 0))
    found = solve_friction(problem)
    assert found.converged
    tilt = found.velocity.reshape(-1, 3)[:, 0]
    assert_allclose(tilt[5:], 0.0, atol=1e-12)
    assert (tilt[:5] > 1e-6).all()
    # About the edge: I = m (2 / 3) a^2, moment F a / 2 - m g a / 2.
    rate = STEP * 0.5 * 0.2 * (10.5 - GRAVITY) / (2.0 / 3.0 * 0.04)
    assert_allclose(tilt[:3], rate * 0.2, rtol=1e-9)


@pytest.mark.parametrize(
    ('below', 'above'), [(1e-3, 1e3), (1e3, 1e-3), (1.0, 1.0), (1e-3, 1.0)], ids=str
)
def test_a_stack_of_two_cubes_rests(below, above):
    problem, _ = stack(below, above)
    found = solve_friction(problem)
    assert found.converged and worst(found) < 1e-10
    assert_allclose(found.velocity, 0.0, atol=1e-10)
    normal = found.force.reshape(-1, 3)[:, 0]
    assert_allclose(normal[4:].sum(), above * GRAVITY * STEP, rtol=1e-9)
    assert_allclose(normal[:4].sum(), (above + below) * GRAVITY * STEP, rtol=1e-9)


def test_where_sweeps_stall_newtons_method_does_not():
    problem, _ = stack(1e-3, 1e3)
    stalled = solve_friction(problem, 'sweeps')
    assert not stalled.converged and worst(stalled) > 1e-3
    found = solve_friction(problem)
    assert found.converged and worst(found) < 1e-10


@pytest.mark.parametrize('pull', [3000.0, 6000.0])
def test_a_heavy_cube_on_a_light_one_is_pulled(pull):
    """Within both cones, and beyond them."""
    problem, _ = stack(force=np.array([0, 0, 0, 0, 0, 0, 0, 0, 0, pull, 0, 0]))
    found = solve_friction(problem)
    assert found.converged and worst(found) < 1e-9


@pytest.mark.parametrize('ratio', [1.0, 1e3])
@pytest.mark.parametrize(('contacts', 'dofs'), [(1, 3), (4, 6), (4, 12), (8, 6), (20, 70)])
def test_random_contacts_are_solved(contacts, dofs, ratio):
    """Elliptic cones, normals coupled with tangents, more or fewer contacts than DoFs."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        problem = random_contacts(rng, contacts, dofs, ratio)
        found = solve_friction(problem)
        size = 1.0 + np.abs(found.force).max()
        assert found.converged and worst(found) < 1e-9 * size * (1.0 + np.abs(problem.g).max())


def test_velocities_do_not_depend_on_the_order_of_contacts():
    """Where they are unique: what turns while it slides depends on how its weight is shared."""
    rng = np.random.default_rng(6)
    cases = [box_on_plane(8, (0, 0, 0, 1, 0.2, 0))[0], stack(0.1, 10.0)[0]]
    turning, _ = box_on_plane(8, (0, 0, 0.3, 1, 0.2, 0))
    cases.append(friction_problem(turning.G, turning.g, turning.friction, compliance=0.01))
    cases += [random_contacts(rng, 6, 30) for _ in range(5)]
    for problem in cases:
        order = rng.permutation(problem.contacts)
        rows = (3 * order[:, None] + np.arange(3)).ravel()
        G, g = problem.G[np.ix_(rows, rows)], problem.g[rows]
        here = solve_friction(problem)
        soft = problem.compliance[rows]
        there = solve_friction(friction_problem(G, g, problem.friction[order], compliance=soft))
        assert here.converged and there.converged
        assert_allclose(there.velocity, here.velocity[rows], atol=1e-8)


def test_velocities_of_redundant_contacts_do_not_depend_on_the_start():
    rng = np.random.default_rng(7)
    for velocity in (np.zeros(6), [0, 0, 0, 1, 0.2, 0], [0, 0, 0, 0, 0, -1.0]):
        problem, _ = box_on_plane(64, velocity)
        first = solve_friction(problem)
        start = rng.uniform(0.0, 0.01, len(problem.g))
        second = solve_friction(problem, start=start)
        assert first.converged and second.converged
        assert_allclose(second.velocity, first.velocity, atol=1e-9)


@pytest.mark.parametrize('unit', [1e-6, 1e6])
def test_units_do_not_matter(unit):
    """Another unit of mass, and one of velocity: the same steps, the same numbers in them."""
    rng = np.random.default_rng(8)
    for problem in (random_contacts(rng, 5, 12), stack(0.1, 10.0)[0]):
        here = solve_friction(problem)
        other = friction_problem(problem.G / unit, problem.g * 1e3, problem.friction)
        there = solve_friction(other)
        assert there.converged
        assert_allclose(there.velocity, here.velocity * 1e3, atol=1e-6 * np.abs(problem.g).max())


def test_a_solution_as_start_is_returned():
    rng = np.random.default_rng(9)
    for problem in (stack()[0], box_on_plane(64)[0], random_contacts(rng, 8, 30)):
        for solver in ('newton', 'sweeps'):
            first = solve_friction(problem)
            again = solve_friction(problem, solver, start=first.force)
            assert again.converged and again.iterations == (0, 0)
            assert_allclose(again.force, first.force, rtol=1e-12, atol=1e-15)


def test_a_start_nearby_saves_steps():
    problem, _ = box_on_plane(8, (0, 0, 0.3, 1, 0.2, 0))
    first = solve_friction(problem, 'sweeps')
    slower = friction_problem(problem.G, 0.999 * problem.g, problem.friction)
    cold = solve_friction(slower, 'sweeps')
    warm = solve_friction(slower, 'sweeps', start=first.force)
    assert warm.converged and warm.iterations[0] < 0.8 * cold.iterations[0]


def test_without_friction_it_is_the_linear_complementarity_problem():
    rng = np.random.default_rng(10)
    for _ in range(10):
        rough = random_contacts(rng, 5, 9)
        exact = solve_lcp(rough.G[::3, ::3], rough.g[::3])
        none = solve_friction(friction_problem(rough.G, rough.g, np.zeros(5)))
        assert none.converged
        assert_allclose(none.force[::3], exact.force, atol=1e-8 * (1.0 + exact.force.max()))
        assert (none.force.reshape(-1, 3)[:, 1:] == 0.0).all()
        rows = solve_friction(friction_problem(rough.G[::3, ::3], rough.g[::3], np.zeros((0, 2))))
        assert_allclose(rows.force, exact.force, atol=1e-8 * (1.0 + exact.force.max()))
        little = solve_friction(friction_problem(rough.G, rough.g, np.full(5, 1e-7)))
        assert little.converged
        assert_allclose(little.force[::3], exact.force, atol=1e-4 * (1.0 + exact.force.max()))


def test_compliance_makes_forces_unique():
    """A box on 64 springs has the forces of statics from any start."""
    rigid, _ = box_on_plane(64)
    problem = friction_problem(rigid.G, rigid.g, rigid.friction, compliance=0.1)
    rng = np.random.default_rng(11)
    forces = []
    for start in (None, rng.uniform(0.0, 1.0, len(problem.g))):
        found = solve_friction(problem, start=start, tolerance=1e-12)
        assert found.converged and worst(found) < 1e-12
        forces.append(found.force)
    assert_allclose(forces[0], forces[1], atol=1e-11)
    # sum f = m (g h - v), v = -R f: all the same
    f = GRAVITY * STEP / (64.0 + 0.1)
    assert_allclose(forces[0].reshape(-1, 3), np.tile([f, 0, 0], (64, 1)), atol=1e-11)


def test_contacts_with_loops_and_limits():
    """Two masses in a row on a plane, tied to each other; one at a stop."""
    bodies = [(1.0, (0.2,) * 3, np.array([0, 0, 0.1])), (3.0, (0.2,) * 3, np.array([1, 0, 0.1]))]
    contacts = [(b, None, p + [b, 0, 0]) for b in (0, 1) for p in face(4)]
    velocity = np.array([0, 0, 0, 0.0, 0, 0, 0, 0, 0, 0.0, 0, 0])
    force = np.array([0, 0, 0, 0, 0, 0, 0, 0, 0, 30.0, 0, 0])
    G, g, J = boxes(bodies, contacts, velocity, force=force)
    inverse = np.array([150.0] * 3 + [1.0] * 3 + [50.0] * 3 + [1 / 3] * 3)
    tie, stop = np.zeros(12), np.zeros(12)
    tie[3], tie[9], stop[9] = -1.0, 1.0, -1.0
    free = velocity + STEP * inverse * (force - [0, 0, 0, 0, 0, GRAVITY, 0, 0, 0, 0, 0, 29.43])
    for limit in (False, True):
        rows = np.vstack([J, tie, *([stop] if limit else [])])
        extra = len(rows) - len(J)
        problem = friction_problem(
            rows * inverse @ rows.T, rows @ free, np.full(8, 0.4), [-np.inf, 0.0][:extra]
        )
        found = solve_friction(problem)
        assert found.converged and worst(found) < 1e-10
        v = free + inverse * (rows.T @ found.force)
        # Both slide together, (F - mu M g) / M, unless the stop is in the way.
        expected = 0.0 if limit else STEP * (30.0 - 0.4 * 4.0 * GRAVITY) / 4.0
        assert_allclose(v[[3, 9]], expected, atol=1e-11)
        if limit:
            assert found.force[-1] > 0.0


@pytest.mark.parametrize('solver', ['newton', 'sweeps'])
def test_contradictory_rows_are_proved_to_be_so(solver):
    none = np.zeros((0, 2))
    problem = friction_problem(np.ones((2, 2)), [1.0, 2.0], none, [-np.inf] * 2)
    found = solve_friction(problem, solver)
    assert not found.converged and np.isfinite(found.force).all()
    assert_allclose(np.abs(found.certificate), [0.5, 0.5], atol=1e-9)
    assert_allclose(problem.G @ found.certificate, 0.0, atol=1e-9)
    assert problem.g @ found.certificate < 0.0


@pytest.mark.parametrize('mu', [0.0, 0.5])
def test_a_disc_driven_into_a_slot_is_proved_to_have_no_solution(mu):
    """Book example 11.1, with friction or without: two walls that face each other."""
    wall = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]])
    J = np.vstack([wall, wall * [[-1.0], [1.0], [1.0]]])
    problem = friction_problem(J @ J.T, [-1.0, 0.2, 0.0, -1.0, 0.2, 0.0], [mu, mu])
    found = solve_friction(problem)
    assert not found.converged and np.isfinite(found.force).all()
    assert np.isfinite(found.velocity).all()
    assert_allclose(found.certificate, [0.5, 0, 0, 0.5, 0, 0], atol=1e-9)
    solvable = friction_problem(J @ J.T, [-1.0, 0.2, 0.0, 1.0, 0.2, 0.0], [mu, mu])
    assert solve_friction(solvable).converged


def test_a_rod_that_jams_is_solved():
    """Painleve's rod: its own normal force presses it into the ground, yet impulses exist."""
    mass, half, mu = 1.0, 0.5, 2.0
    for tilt in np.radians([30.0, 50.0, 60.0, 72.0, 80.0]):
        arm = -half * np.array([np.cos(tilt), 0.0, np.sin(tilt)])
        rows = np.zeros((3, 3))  # of w, v_x, v_z
        rows[0] = [-arm[0], 0.0, 1.0]
        rows[1] = [arm[2], 1.0, 0.0]
        inverse = np.array([12.0 / (mass * 4 * half**2), 1.0 / mass, 1.0 / mass])
        G = rows * inverse @ rows.T
        for slide in (-1.0, 1.0):
            found = solve_friction(friction_problem(G, [-0.01, slide, 0.0], [mu]))
            assert found.converged and worst(found) < 1e-12
            assert found.force[0] > 0.0


@pytest.mark.parametrize('noise', [1e-10, 1e-8])
def test_three_corners_bear_if_four_are_not_coplanar_by_rounding(noise):
    """A cube is pushed over a floor: it slides and turns, at velocities that no cube has."""
    cube = (1.0, (0.1, 0.1, 0.1), np.array([0.0, 0.0, 0.05]))
    sweeps = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        sliding = [0, 0, rng.uniform(-1, 1), rng.uniform(0.05, 0.2), rng.uniform(-0.05, 0.05), 0]
        _, _, J = boxes([cube], [(0, None, p) for p in face(4, 0.1)], sliding)
        # One more contact, with what pushes.
        arm = np.array([-0.05, rng.uniform(-0.04, 0.04), 0.02])
        J = np.vstack([J, np.hstack([-cross(arm), np.eye(3)])])
        mobility = np.diag([600.0, 600.0, 600.0, 1.0, 1.0, 1.0])
        G = J @ mobility @ J.T
        G[12:, 12:] += 0.2 * np.eye(3)
        g = J @ (sliding - np.array([0, 0, 0, 0, 0, 1e-3 * 9.81]))
        g[12:14] -= rng.uniform([0.05, -0.1], [0.3, 0.1])
        g[:12:3] += noise * rng.normal(size=4)
        found = solve_friction(friction_problem(G, g, np.full(5, 0.5)))
        assert found.converged
        sweeps.append(found.iterations[0])
    assert max(sweeps) < 100


def test_no_contacts_and_no_motion():
    empty = solve_friction(friction_problem(np.zeros((0, 0)), [], np.zeros((0, 2))))
    assert empty.converged and empty.force.shape == (0,)
    still = solve_friction(friction_problem(np.eye(3), np.zeros(3), [0.5]))
    assert still.converged and not still.force.any()


@pytest.mark.parametrize('iterations', [1, 3, 10])
def test_few_iterations_return_the_best_iterate(iterations):
    rng = np.random.default_rng(12)
    for solver in ('newton', 'sweeps'):
        problem = random_contacts(rng, 20, 18, 1e6)
        found = solve_friction(problem, solver, iterations=iterations)
        assert sum(found.iterations) <= iterations
        assert np.isfinite(found.force).all()
        assert found.residuals == residuals(problem, found.force)


def test_two_hundred_contacts():
    """Fifty boxes side by side and on top of each other, some sliding."""
    bodies, contacts = [], []
    for k in range(25):
        for level in (0, 1):
            center = np.array([k, 0.0, 0.1 + 0.2 * level])
            bodies.append((1.0 + k % 3, (0.2,) * 3, center))
            lower = 2 * k if level else None
            points = [p + [k, 0.0, 0.2 * level] for p in face(4)]
            contacts += [(2 * k + level, lower, p) for p in points]
    velocity = np.zeros((50, 6))
    velocity[::4, 3] = 0.5
    velocity[1::4, 3] = 0.5
    G, g, _ = boxes(bodies, contacts, velocity.ravel())
    found = solve_friction(friction_problem(G, g, np.full(200, 0.4)))
    assert found.converged and worst(found) < 1e-9
    v = found.velocity.reshape(25, 2, 4, 3)
    assert_allclose(v[1::2], 0.0, atol=1e-9)
    assert_allclose(v[::2, 0, :, 1], 0.5 - 0.4 * GRAVITY * STEP, atol=1e-9)


@pytest.mark.parametrize(
    ('arguments', 'words'),
    [
        ({'solver': 'magic'}, "unknown solver 'magic'; there are newton, sweeps"),
        ({'start': np.zeros(2)}, r'start must be finite and have shape \(3,\)'),
        ({'start': [np.nan, 0, 0]}, 'start must be finite'),
        ({'tolerance': 0.0}, 'tolerance must be positive'),
        ({'tolerance': np.nan}, 'tolerance must be positive'),
        ({'iterations': 0}, 'iterations a whole number'),
        ({'iterations': 1.5}, 'iterations a whole number'),
    ],
)
def test_invalid_arguments_are_rejected(arguments, words):
    with pytest.raises(ValueError, match=words):
        solve_friction(friction_problem(np.eye(3), [-1.0, 0, 0], [0.5]), **arguments)


CASES = """
import numpy as np
from rbd_ros.constraints import solve_friction
from support.boxes_in_contact import box_on_plane, random_contacts, stack
rng = np.random.default_rng(13)
problems = [box_on_plane(4, (0, 0, 0.3, 1, 0.2, 0))[0], stack()[0]]
problems += [random_contacts(rng, 3, 6, 1e3) for _ in range(3)]
numbers = []
for problem in problems:
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
