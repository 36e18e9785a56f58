# SPDX-License-Identifier: Apache-2.0
"""Interior-point method for friction: its algebra, its program, what only it solves."""

import math

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.boxes_in_contact import boxes, face, random_contacts, stack, tower

from rbd_ros.compiler.loops import Vec
from rbd_ros.constraints import friction_problem, solve_friction
from rbd_ros.constraints.friction_solution import scaled_space
from rbd_ros.constraints.friction_space import BEST, OPEN, refresh, SLIDE, STICK, TOLERANCE
from rbd_ros.constraints.solvers import friction_interior as module
from rbd_ros.constraints.solvers.friction_cones import (
    blocks_of,
    find_cone_rhs,
    is_cone,
    normal_row,
    of_cones,
    scaled,
    scaling,
    step_to_boundary,
    tangent_row,
    tangents_of,
)
from rbd_ros.constraints.solvers.friction_interior import (
    ASIDE,
    begin,
    begin_near,
    identify,
    INSIDE,
    interior,
    longest_step,
    mean_product,
    MIDDLE_FORCE,
    product_after,
    velocity_step,
)

J = np.diag([1.0, -1.0, -1.0])


def arrow(x):
    """Return the matrix of the Jordan product with x."""
    return x[0] * np.eye(3) + np.outer([1, 0, 0], [0, *x[1:]]) + np.outer([0, *x[1:]], [1, 0, 0])


def inside(rng, nearness=1.0):
    """Return the point inside the cone."""
    t = rng.normal(size=2)
    return np.array([np.linalg.norm(t) + nearness * rng.uniform(0.01, 1.0), *t])


def ready(problem):
    """Return the space of a problem, ready for the method alone."""
    space, _ = scaled_space(problem)
    space.report[BEST], space.report[TOLERANCE] = math.inf, 1e-10
    return space


def take(space, step):
    """Take a step of the forces as what the equations of the predictor gave."""
    module.find_term(space, False)
    module.assemble_scaled(space)
    module.assemble_rhs(space, 0.0)
    space.step[:] = step
    of_cones(space, space.step, space.force_change)
    for b in range(blocks_of(space)):
        if is_cone(space, b):
            velocity_step(space, b)
    for k in range(len(space.low)):
        module.bound_step(space, k)


def without_newton(monkeypatch):
    """Let the method go to its end by itself."""
    monkeypatch.setattr(module, 'newton', lambda space, limit, careful: False)


def test_the_scaling_makes_force_and_velocity_equal():
    rng = np.random.default_rng(0)
    for nearness in (1.0, 1e-3, 1e-6):
        for _ in range(50):
            x, y = inside(rng, nearness) * 10.0 ** rng.uniform(-3, 3), inside(rng)
            beta, v = scaling(Vec(*x), Vec(*y))
            v = np.array(v)
            assert_allclose(v @ J @ v, 1.0, rtol=1e-6)
            W = beta * (2.0 * np.outer(v, v) - J)
            assert_allclose(W @ W @ x, y, rtol=1e-5, atol=1e-6 * np.abs(y).max())
            found = np.array(scaled(beta, Vec(*v), Vec(*x)))
            assert_allclose(found, W @ x, rtol=1e-9, atol=1e-9 * np.abs(found).max())


def test_the_corrector_is_that_of_the_algebra():
    rng = np.random.default_rng(1)
    space = ready(random_contacts(rng, 2, 9))
    for _ in range(50):
        force, velocity = inside(rng), inside(rng)
        before, after, aim = rng.normal(size=3), rng.normal(size=3), rng.uniform()
        beta, v = space.beta[1], space.axis[1] = scaling(Vec(*force), Vec(*velocity))
        h = np.array(find_cone_rhs(beta, v, Vec(*force), Vec(*before), aim))
        space.cone_rhs[1] = h
        W = beta * (2.0 * np.outer(v, v) - J)
        x, predicted = W @ force, W @ before
        other = np.linalg.solve(W, -velocity - W @ W @ before)
        right = aim * np.eye(3)[0] - arrow(x) @ x - arrow(predicted) @ other
        assert_allclose(h, W @ np.linalg.solve(arrow(x), right), rtol=1e-6, atol=1e-8)
        space.force_change[1] = after
        velocity_step(space, 1)
        assert_allclose(space.velocity_change[1], h - W @ W @ after, rtol=1e-8, atol=1e-10)


def test_the_corrector_at_bounds():
    """(y + dy) (x + dx) = aim, but for the product of both changes, which is the predicted one."""
    rng = np.random.default_rng(5)
    problem = friction_problem(np.eye(2), np.zeros(2), np.zeros((0, 2)), [-3.0, -3.0], [2.0, 2.0])
    for _ in range(50):
        space = ready(problem)
        space.low[:], space.high[:] = -3.0, 2.0
        space.z[:] = rng.uniform(-2.9, 1.9, 2)
        space.y[:], space.upper[:], aim = rng.uniform(0.1, 2, 2), rng.uniform(0.1, 2, 2), 0.3
        space.row[:], space.step[:] = rng.normal(size=2), rng.normal(size=2)
        module.find_bound_rhs(space, 1, aim)
        module.bound_step(space, 1)
        for sign, gap, y, dy in (
            (1.0, space.z[1] + 3.0, space.y[1], space.bound_velocity_change[1, 0]),
            (-1.0, 2.0 - space.z[1], space.upper[1], space.bound_velocity_change[1, 1]),
        ):
            predicted, change = sign * space.row[1], sign * space.step[1]
            other = -y - y / gap * predicted
            assert_allclose(gap * y + gap * dy + y * change + predicted * other, aim, atol=1e-12)


def test_steps_end_at_the_boundary():
    rng = np.random.default_rng(2)
    ends = set()
    for _ in range(300):
        x, d = inside(rng), rng.normal(size=3) * rng.choice([1e-3, 1.0, 1e3])
        t = step_to_boundary(Vec(*x), Vec(*d))
        ends.add(t == math.inf)
        if t == math.inf:
            assert d[0] >= np.hypot(*d[1:])
        else:
            end = x + t * d
            assert_allclose(end[0], np.hypot(*end[1:]), atol=1e-9 * (1.0 + np.abs(end).max()))
            before = x + 0.999 * t * d
            assert before[0] > np.hypot(*before[1:])
    assert ends == {True, False}


def test_the_longest_step_ends_at_the_first_boundary():
    """Of forces and velocities of contacts, and of rows at their bounds; without any boundary."""
    problem = friction_problem(np.eye(5), np.zeros(5), [1.0], [0.0, -2.0], [np.inf, 2.0])
    cases = [
        ([-1.0, 0.0, 0.0, 0.0, 0.0], 1.0, 1.0),
        ([0.0, 2.0, 0.0, 0.0, 0.0], 1.0, 1.0 / 3.0),  # the velocity is (1 - t, -2 t, 0)
        ([3.0, 0.0, 0.0, 0.0, 0.0], 1.0, 0.25),  # likewise 1 - (1 + 3) t
        ([0.0, 0.0, 0.0, -4.0, 0.0], 1.0, 0.25),
        ([0.0, 0.0, 0.0, 4.0, 0.0], 1.0, 0.2),  # 1 - (1 + 1 / 1 * 4) t
        ([0.0, 0.0, 0.0, 0.0, 8.0], 1.0, 0.2),  # 1 - (1 + 1 / 2 * 8) t
        ([0.0, 0.0, 0.0, 0.0, 8.0], 0.0, 0.25),
        ([0.0, 0.0, 0.0, 0.0, -4.0], 1.0, 1.0 / 3.0),
        ([0.0, 0.0, 0.0, 0.0, -4.0], 0.0, 1.0 / 3.0),
        ([0.0, 0.0, 0.0, 0.0, -1.0], 0.0, 2.0 / 3.0),
    ]
    for step, lower, expected in cases:
        space = ready(problem)
        space.low[:], space.high[:] = [0.0, -2.0], [np.inf, 2.0]
        begin(space, MIDDLE_FORCE)
        space.z[:], space.force[0], space.velocity[0] = [1.0, 0, 0, 1.0, 0.0], [1, 0, 0], [1, 0, 0]
        space.y[3:], space.upper[:] = [1.0, lower], [0.0, 1.0]
        space.row[:], space.predicted[:] = 0.0, 0.0
        take(space, step)
        assert_allclose(longest_step(space), expected)
    space.velocity_change[0, 0] = np.nan
    assert longest_step(space) == 0.0


def test_products_are_those_of_contacts_and_of_bounds():
    problem = friction_problem(
        np.eye(6), np.zeros(6), [1.0], [0.0, -2.0, -np.inf], [np.inf, 2.0, 1.0]
    )
    space = ready(problem)
    space.low[:], space.high[:] = [0.0, -2.0, -np.inf], [np.inf, 2.0, 1.0]
    begin(space, 1e3)
    assert_allclose(space.z, [1e3, 0, 0, 1e3, 0.0, 1.0 - 1e3])
    assert_allclose(space.velocity[0], [1, 0, 0])
    assert_allclose(space.y[3:], [1, 1, 0])
    assert_allclose(space.upper, [0, 1, 1])
    space.z[:] = [3.0, 1.0, 0.5, 4.0, 0.5, -6.0]
    of_cones(space, space.z, space.force)
    space.velocity[0] = [2.0, -1.0, 1.0]
    space.y[3:], space.upper[:] = [3.0, 5.0, 0.0], [0.0, 7.0, 2.0]
    assert_allclose(mean_product(space), (5.5 + 12.0 + 12.5 + 10.5 + 14.0) / 5.0)
    space.row[:] = space.predicted[:] = 0.0
    take(space, 0.0)
    # Without a change of forces the predictor removes the velocities.
    for t, left in ((0.0, 1.0), (0.25, 0.75), (1.0, 0.0), (7.0, 0.0)):
        expected = left * mean_product(space)
        assert_allclose(product_after(space, t), expected, atol=1e-12)
    take(space, [0, 0, 0, 2.0, 0.25, 1.0])
    expected = 0.5 * 5.5
    for distance, change, y in ((4.0, 2.0, 3.0), (2.5, 0.25, 5.0), (1.5, -0.25, 7.0), (7, -1, 2)):
        expected += (distance + 0.5 * change) * (y + 0.5 * (-y - y / distance * change))
    assert_allclose(product_after(space, 0.5), expected / 5.0)


def test_it_begins_inside_of_cones_and_bounds_whatever_was_there():
    bounds = [1.5, -2.0, -np.inf, -np.inf, 0.7], [np.inf, 1.0, -1.0, np.inf, 0.7]
    space = ready(friction_problem(np.eye(8), np.zeros(8), [1.0], *bounds))
    space.low[:], space.high[:] = bounds
    space.z[:] = space.y[:] = space.upper[:] = space.force[:] = space.velocity[:] = 9.0
    begin(space, 1e3)
    assert_allclose(space.z, [1e3, 0, 0, 1001.5, -0.5, -1001.0, 0.0, 0.7])
    assert_allclose(space.force[0], [1e3, 0, 0])
    assert_allclose(space.velocity[0], [1, 0, 0])
    assert_allclose(space.y[3:], [1, 1, 0, 0, 0])
    assert_allclose(space.upper, [0, 1, 1, 0, 0])


def test_it_starts_near_given_forces_within_cones_and_bounds():
    bounds = [1.5, -2.0, -2.0, -np.inf, -np.inf, 0.7], [np.inf, 1.0, 1.0, -1.0, np.inf, 0.7]
    problem = friction_problem(np.eye(12), np.zeros(12), [1.0, 1.0], *bounds)
    space = ready(problem)
    space.low[:], space.high[:] = bounds
    space.z[:] = space.y[:] = space.upper[:] = space.force[:] = space.velocity[:] = 9.0
    space.x[:] = [2.0, 0.6, -0.8, 0.5, 3.0, 4.0, 4.0, -2.0, 0.2, -0.5, 7.0, 0.7]
    u = np.array([-0.3, 0.0, 0.5, 0.4, -0.6, 0.8, 2.0, 3.0, -4.0, -5.0, 6.0, 1.0])
    space.b[:] = u - space.x
    begin_near(space)
    assert_allclose(space.z[:6], [2.0 + INSIDE, 0.6, -0.8, 5.0 + INSIDE, 3.0, 4.0])
    assert_allclose(space.velocity[0], [0.5 + INSIDE, 0.0, 0.5])
    assert_allclose(space.velocity[1], [0.4 + 1.0 + INSIDE, -0.6, 0.8])
    assert_allclose(space.force[:2], space.z[:6].reshape(2, 3))
    expected = [4.0 + INSIDE, -2.0 + 3.0 * ASIDE, 0.2, -1.0 - INSIDE, 0.0, 0.7]
    assert_allclose(space.z[6:], expected)
    assert_allclose(space.y[6:], [2.0 + INSIDE, 3.0 + INSIDE, INSIDE, 0.0, 0.0, 0.0])
    assert_allclose(space.upper, [0.0, INSIDE, 4.0 + INSIDE, 5.0 + INSIDE, 0.0, 0.0])
    # Beyond bounds, and below both ends of an interval.
    space.x[6:] = [1.0, 5.0, -9.0, 0.5, 7.0, 0.0]
    begin_near(space)
    assert_allclose(space.z[6:9], [1.5 + INSIDE, 1.0 - 3.0 * ASIDE, -2.0 + 3.0 * ASIDE])
    assert_allclose(space.z[9:], [-1.0 - INSIDE, 0.0, 0.7])


def random_rows(rng, contacts):
    """Return the contacts, a loop, a limit, dry friction, a row that is held at one force."""
    A = rng.normal(size=(3 * contacts + 4, 3 * contacts + 8))
    return friction_problem(
        A @ A.T / A.shape[1],
        rng.normal(size=len(A)),
        rng.uniform(0.2, 1.0, contacts),
        [-np.inf, 0.0, -0.1, 0.2],
        [np.inf, np.inf, 0.1, 0.2],
    )


def random_moments(rng, contacts):
    """Return the contacts with torsional and rolling friction, and the rows of `random_rows`."""
    A = rng.normal(size=(6 * contacts + 4, 6 * contacts + 12))
    return friction_problem(
        A @ A.T / A.shape[1],
        rng.normal(size=len(A)),
        rng.uniform(0.2, 1.0, contacts),
        [-np.inf, 0.0, -0.1, 0.2],
        [np.inf, np.inf, 0.1, 0.2],
        torsion=rng.uniform(0.2, 1.0, contacts),
        rolling=rng.uniform(0.2, 1.0, contacts),
    )


def cones_of(space):
    """Return the blocks that are cones."""
    return [b for b in range(blocks_of(space)) if is_cone(space, b)]


def test_cones_are_those_of_contacts_and_of_moments():
    """A contact has three rows; torsional friction one and the normal, rolling friction two."""
    rng = np.random.default_rng(8)
    space = ready(random_moments(rng, 3))
    assert cones_of(space) == [0, 1, 2, 7, 8, 9, 10, 12, 14]
    rows = [(0, 1, 2), (6, 7, 2), (0, 13, 1), (6, 15, 1), (0, 16, 2), (3, 18, 2)]
    for b, expected in zip((0, 2, 7, 9, 10, 12), rows):
        assert (normal_row(space, b), tangent_row(space, b), tangents_of(space, b)) == expected
    x, cones = np.arange(22.0), np.full((len(space.force), 3), 99.0)
    of_cones(space, x, cones)
    assert_allclose(cones[[1, 7, 12]], [[3, 4, 5], [0, 13, 0], [3, 18, 19]])


@pytest.mark.parametrize('moments', [False, True])
def test_steps_solve_the_equations_to_first_order(moments):
    """Of both velocities and of their products, De Saxce's term included, by differences."""
    rng = np.random.default_rng(6)
    for _ in range(5):
        problem = random_moments(rng, 3) if moments else random_rows(rng, 3)
        space, aim, t = ready(problem), 0.3, 1e-6
        begin(space, MIDDLE_FORCE)
        cones = cones_of(space)
        for b in cones:
            x = inside(rng)
            if tangents_of(space, b) == 1:
                x[2] = 0.0
            if b >= 3:  # inside of the normal force that is there
                x *= 0.5 * space.z[normal_row(space, b)] / x[0]
            space.z[normal_row(space, b)] = x[0] if b < 3 else space.z[normal_row(space, b)]
            row = tangent_row(space, b)
            space.z[row : row + tangents_of(space, b)] = x[1 : 1 + tangents_of(space, b)]
            space.velocity[b] = inside(rng)
            space.velocity[b, 2] *= tangents_of(space, b) - 1
        space.z[9:13] = [0.3, 0.4, 0.02, 0.2]
        of_cones(space, space.z, space.force)
        space.x[:], space.row[:], space.predicted[:] = space.z, 0.0, 0.0
        refresh(space)
        module.find_term(space, True)
        module.assemble_scaled(space)
        module.find_step(space, aim)
        changes = space.velocity_change
        dy = space.bound_velocity_change[:, 0]
        upper = space.bound_velocity_change[:, 1]

        def left(share, space=space, dy=dy, upper=upper, changes=changes, cones=cones):
            """Return what is missing from y - upper = u + s."""
            y = -space.A @ (space.z + share * space.step) - space.b
            y[9:13] += space.y[9:13] + share * dy[:4] - space.upper[:4] - share * upper[:4]
            for b in cones:
                own, row = space.velocity[b] + share * changes[b], tangent_row(space, b)
                y[normal_row(space, b)] += own[0] - np.hypot(*own[1:])
                y[row : row + tangents_of(space, b)] += own[1 : 1 + tangents_of(space, b)]
            return y

        slope = (left(t) - left(-t)) / (2.0 * t)
        # What does not slide follows by less than the term grows.
        for b in cones:
            y, change = space.velocity[b], changes[b]
            rest = 1.0 - np.hypot(y[1], y[2]) / y[0]
            slope[normal_row(space, b)] += rest * (y[1:] @ change[1:]) / np.hypot(y[1], y[2])
        assert_allclose(np.delete(slope, 12), np.delete(-left(0.0), 12), rtol=1e-5, atol=1e-6)
        assert space.step[12] == pytest.approx(0.0, abs=1e-9)  # it is held at one force
        for b in cones:
            _scaled_products(
                space.force[b], space.velocity[b], space.force_change[b], changes[b], aim
            )


def _scaled_products(x, y, dx, dy, aim):
    """Assert that both scaled variables go to products of `aim`, to first order."""
    beta, v = scaling(Vec(*x), Vec(*y))
    W = beta * (2.0 * np.outer(v, v) - J)
    l = W @ x
    after = arrow(l) @ l + arrow(l) @ (W @ dx + np.linalg.solve(W, dy))
    assert_allclose(after, [aim, 0.0, 0.0], atol=1e-6 * (1.0 + np.abs(l).max() ** 2))


def test_without_de_saxces_term_it_solves_the_convex_program(monkeypatch):
    """Optimal: inside the cones and bounds, velocities in the dual cones, no products."""
    without_newton(monkeypatch)
    rng = np.random.default_rng(3)
    for trial in range(10):
        problem = random_rows(rng, 3) if trial % 2 else random_contacts(rng, 5, 9, 1e3)
        space = ready(problem)
        interior(space, 18, False, MIDDLE_FORCE)
        n = problem.contacts
        space.x[:] = space.z
        refresh(space)
        x, u = space.z[: 3 * n].reshape(n, 3), space.u[: 3 * n].reshape(n, 3)
        size = 1.0 + np.abs(space.z).max()
        assert (x[:, 0] >= np.hypot(*x[:, 1:].T) - 1e-15 * size).all()
        assert (u[:, 0] > np.hypot(*u[:, 1:].T) - 1e-8).all()
        assert_allclose((x * u).sum(axis=1), 0.0, atol=1e-7 * size)
        for k in range(len(space.low)):
            f, v = space.z[3 * n + k], space.u[3 * n + k]
            low, high = space.low[k], space.high[k]
            assert low <= f <= high
            if low < f - 1e-7 and f < high - 1e-7:
                assert abs(v) < 1e-7
            elif low < high:
                assert v > -1e-7 if f < 0.5 * (low + min(high, 1e9)) else v < 1e-7


@pytest.mark.parametrize('middle', [MIDDLE_FORCE, 0.0])
def test_alone_it_solves_sticking_sliding_and_opening_contacts(monkeypatch, middle):
    """The term is not followed at the pace of a fixed point: far below what is asked for."""
    without_newton(monkeypatch)
    rng = np.random.default_rng(4)
    kinds = set()
    for trial in range(20):
        problem = random_rows(rng, 3) if trial % 2 else random_contacts(rng, 4, 20)
        space = ready(problem)
        space.report[TOLERANCE] = 5e-8
        space.x[:] = rng.normal(size=len(space.x))
        assert interior(space, 40, True, middle)
        refresh(space)
        n = problem.contacts
        x, u = space.x[: 3 * n].reshape(n, 3), space.u[: 3 * n].reshape(n, 3)
        speed = np.hypot(*u[:, 1:].T)
        assert (x[:, 0] >= np.hypot(*x[:, 1:].T) - 1e-15).all()
        assert (u[:, 0] > -1e-7).all()
        assert_allclose((x * u).sum(axis=1) + x[:, 0] * speed, 0.0, atol=1e-6)
        kinds |= {
            'open' if a < 1e-6 else 'slide' if s > 1e-6 else 'stick'
            for a, s in zip(x[:, 0], speed)
        }
        for k in range(len(space.low)):
            f, w = space.x[3 * n + k], space.u[3 * n + k]
            low, high = space.low[k], space.high[k]
            assert low <= f <= high
            if low < f - 1e-6 and f < high - 1e-6:
                assert abs(w) < 1e-7
            elif low < high:
                assert w > -1e-7 if f < 0.5 * (low + min(high, 1e9)) else w < 1e-7
    assert kinds == {'open', 'stick', 'slide'}


@pytest.mark.parametrize('middle', [MIDDLE_FORCE, 0.0])
def test_alone_it_solves_moments(monkeypatch, middle):
    """Bounded by their normal forces, and as large as they may be against what turns."""
    without_newton(monkeypatch)
    rng = np.random.default_rng(9)
    kinds = set()
    for _ in range(12):
        problem = random_moments(rng, 3)
        space = ready(problem)
        space.report[TOLERANCE] = 5e-8
        assert interior(space, 40, True, middle)
        for b in cones_of(space):
            row = tangent_row(space, b)
            rows = slice(row, row + tangents_of(space, b))
            normal, m, turning = space.x[normal_row(space, b)], space.x[rows], space.u[rows]
            assert normal > np.linalg.norm(m)
            speed = np.linalg.norm(turning)
            assert_allclose(m @ turning, -normal * speed, atol=1e-6)
            if b >= 3:
                kinds.add('none' if normal < 1e-6 else 'turns' if speed > 1e-6 else 'holds')
        closed = space.x[:9:3] > 1e-6
        assert (space.u[:9:3] > -1e-7).all()
        assert_allclose(space.u[:9:3][closed], 0.0, atol=1e-7)
    assert kinds == {'none', 'turns', 'holds'}


def test_newtons_method_gets_the_states_of_moments():
    rng = np.random.default_rng(10)
    space = ready(random_moments(rng, 3))
    space.low[:4], space.high[:4] = -1.0, 1.0
    begin(space, MIDDLE_FORCE)
    space.x[:] = 0.0
    space.x[:9:3] = [2.0, 1e-6, 3.0]
    space.x[13:16] = [-2.0 + 1e-7, 0.3, 0.4]
    space.x[16:] = [0.1, 0.0, 0.0, 0.0, 1.8, -2.4 + 1e-7]
    for b, y in zip(
        cones_of(space),
        [
            [1e-6, 0, 0],
            [1.0, 0, 0],
            [1e-6, 0, 0],
            [1.0, 1.0, 0],
            [1.0, 0.5, 0],
            [1e-6, 0, 0],
            [1e-6, 0, 0],
            [0.1, 0, 0],
            [0.5, -0.3, 0.4],
        ],
    ):
        space.velocity[b] = y
    identify(space)
    assert list(space.state[:3]) == [STICK, OPEN, STICK]
    assert [space.state[b] for b in (7, 9, 10, 11, 14, 15)] == [SLIDE] + [STICK] * 3 + [SLIDE] * 2
    assert_allclose(space.moment_direction[[0, 7, 8]], [1.0, -0.6, 0.8], atol=1e-6)
    # What slides is as large as it may be; of what opens nothing is left.
    assert_allclose(space.x[13:], [-2.0, 0.0, 0.4, 0.1, 0.0, 0.0, 0.0, 1.8, -2.4], atol=1e-6)
    assert space.x[13] == -2.0 and space.x[14] == 0.0
    assert_allclose(space.u, space.A @ space.x + space.b, atol=1e-12)


def test_newtons_method_gets_the_states():
    problem = friction_problem(
        np.eye(13), np.zeros(13), [1.0] * 3, [0.0, 0.0, -1.0, -1.0], [np.inf, np.inf, 1.0, 1.0]
    )
    space = ready(problem)
    space.low[:], space.high[:] = [0.0, 0.0, -1.0, -1.0], [np.inf, np.inf, 1.0, 1.0]
    space.x[:] = [1e-6, 5e-7, 0, 5.0, 3.0, 0.0, 5.0, -3.0, 4.0 - 1e-6, 2.0, 1e-6, 0.99999, -0.3]
    space.velocity[:3] = [[2.0, 1.0, 0], [1e-6, 1e-7, 0.0], [1.0, 0.6, -0.8]]
    space.y[9:] = [1e-6, 2.0, 0.0, 1e-6]
    space.upper[:] = [0.0, 0.0, 0.5, 1e-6]
    identify(space)
    assert list(space.state) == [OPEN, STICK, SLIDE, STICK, OPEN, OPEN, STICK]
    assert_allclose(space.slip_direction[2], [0.6, -0.8], atol=1e-6)
    # The smaller one vanishes, of all that both may be: x between 0.2 and 1.8, y likewise.
    for normal, speed, expected in (
        (1.85, 0.1, SLIDE),
        (1.95, 0.1, OPEN),
        (0.12, 0.05, STICK),
        (0.16, 0.05, SLIDE),
    ):
        for t, t_1 in ((1.0, 0.0), (0.0, 1.0), (-0.6, 0.8)):
            space.x[:3] = [1.0, -0.8 * t, -0.8 * t_1]
            space.velocity[0] = [normal, speed * t, speed * t_1]
            identify(space)
            assert space.state[0] == expected
    space.x[:3], space.velocity[0] = [1.0, 0.0, 0.0], [0.9, 0.0, 0.0]
    identify(space)
    assert space.state[0] == STICK
    assert_allclose(space.x[9:], [2.0, 0.0, 1.0, -0.3])


@pytest.mark.parametrize(
    ('contacts', 'dofs', 'ratio', 'seed'),
    [(20, 18, 1e6, 0), (20, 18, 1e6, 7), (8, 6, 1e6, 7), (20, 18, 1e8, 7)],
)
def test_many_contacts_of_few_bodies_are_all_solved(contacts, dofs, ratio, seed):
    rng = np.random.default_rng(seed)
    for _ in range(40):
        problem = random_contacts(rng, contacts, dofs, ratio)
        found = solve_friction(problem)
        assert found.converged
        largest = np.abs(found.force).max() * (1.0 + np.abs(problem.g).max())
        assert found.residuals.contact < 1e-8 * largest and found.residuals.dual < 1e-7
        assert sum(found.iterations) < 1500


MASSES = {
    'equal': [1.0] * 10,
    'heavier above': list(np.geomspace(1e-2, 1e2, 10)),
    'heavier below': list(np.geomspace(1e2, 1e-2, 10)),
    'in turn': [1e-3, 1e3] * 5,
}


@pytest.mark.parametrize('masses', MASSES)
def test_towers_of_ten_blocks_stand(masses):
    problem, _ = tower(MASSES[masses])
    found = solve_friction(problem)
    assert found.converged
    assert_allclose(found.velocity, 0.0, atol=1e-8)
    normal = found.force.reshape(10, 4, 3)[:, :, 0].sum(axis=1)
    above = np.cumsum(MASSES[masses][::-1])[::-1]
    assert_allclose(normal, 9.81e-3 * above, rtol=1e-9)


def test_blocks_of_a_tower_turn_and_slide_on_each_other():
    """Always solved, and never too long."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        velocity = np.zeros((10, 6))
        velocity[:, 2], velocity[:, 3] = rng.normal(size=10), 0.3 * rng.normal(size=10)
        found = solve_friction(tower(MASSES['equal'], velocity=velocity.ravel())[0])
        assert found.converged
        assert found.residuals.contact < 1e-9 and found.residuals.dual < 1e-9
        assert sum(found.iterations) < 1000


def sliding_tower(seed):
    rng = np.random.default_rng(seed)
    velocity = np.zeros((10, 6))
    velocity[:, 2], velocity[:, 3] = rng.normal(size=10), 0.3 * rng.normal(size=10)
    return tower(MASSES['equal'], velocity=velocity.ravel())[0]


@pytest.mark.parametrize('seed', [147, 246, 280, 660, 1191, 2974])
def test_few_steps_of_other_methods_solve_the_rest_of_an_interior_solution(seed):
    """Towers whose blocks slide and turn, of which each method by itself leaves some."""
    found = solve_friction(sliding_tower(seed))
    assert found.converged and sum(found.iterations) < 500


def test_sweeps_solve_a_problem_that_other_methods_leave():
    found = solve_friction(sliding_tower(5290))
    assert found.converged and found.iterations[0] > 100 and found.iterations[2] == 2060


def test_sweeps_end_at_their_limit():
    wall = np.eye(3)
    J = np.vstack([wall, wall * [[-1.0], [1.0], [1.0]]])
    problem = friction_problem(J @ J.T, [-1.0, 0.2, 0.0, -1.0, 0.2, 0.0], [0.5, 0.5])
    for limit in (20, 150, 1000):
        found = solve_friction(problem, iterations=limit)
        assert not found.converged
        assert limit < found.iterations[0] <= 6 * min(limit, 30) + limit
        assert found.iterations[2] == limit + min(limit, 60)
        # The larger they are, the less is left of the contradiction beside their rounding.
        assert np.abs(found.force).max() < 1e9


@pytest.mark.parametrize('points', [4, 8, 9])
@pytest.mark.parametrize('turn', [0.0, 1.0])
def test_a_heavy_cube_on_a_light_one(points, turn):
    """Of up to eighteen contacts; at rest, and turning on each other."""
    velocity = np.zeros(12)
    velocity[2], velocity[8] = turn, -0.5 * turn
    problem, _ = tower([1e-3, 1e3], points, velocity=velocity)
    found = solve_friction(problem)
    assert found.converged and found.residuals.dual < 1e-7
    if not turn:
        assert_allclose(found.velocity, 0.0, atol=1e-10)


def test_a_stack_that_turns_is_solved():
    for ratio in (1.0, 1e2, 1e4):
        for turn in (0.1, 1.0, 5.0):
            velocity = (0, 0, turn, 0.1, 0, 0, 0, 0, -turn, 0, 0.2, 0)
            assert solve_friction(stack(1.0, ratio, velocity=velocity)[0]).converged


def test_nothing_to_solve_and_nothing_that_moves():
    none = ready(friction_problem(np.zeros((0, 0)), [], np.zeros((0, 2))))
    assert interior(none, 5, False, MIDDLE_FORCE)
    stuck = ready(friction_problem(np.zeros((3, 3)), [-1.0, 0.0, 0.0], [0.5]))
    assert not interior(stuck, 60, True, MIDDLE_FORCE)
    assert np.isfinite(stuck.x).all()


def test_boxes_with_contacts_of_no_friction():
    contacts = [(0, None, p) for p in face(8)]
    body = (1.0, (0.2,) * 3, np.array([0, 0, 0.1]))
    G, g, _ = boxes([body], contacts, np.array([0, 0, 0, 1.0, 0, 0]))
    space = ready(friction_problem(G, g, np.zeros(8)))
    assert interior(space, 25, False, MIDDLE_FORCE)
