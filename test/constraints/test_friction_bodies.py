# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Friction among many bodies: against the dense solver, piles, warm starts, rejections."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import contacts_of_bodies, fresh_python
from support.boxes_in_contact import Pile, pile_of_balls, pile_of_boxes, pyramid

from rbd_ros.compiler.loops import allocate, Record, Vec
from rbd_ros.constraints import friction_problem, residuals, solve_friction, solve_friction_bodies
from rbd_ros.constraints.friction_space import OPEN, STICK
from rbd_ros.constraints.solvers.body_matrix import matrix_sizes
from rbd_ros.constraints.solvers.friction_body_space import (
    apply_force,
    BodySpace,
    ITERATIONS,
    largest_residual,
    prepare,
    renew,
    RESIDUAL,
    UNIT,
)
from rbd_ros.constraints.solvers.friction_body_sweeps import finish, remove_energy, solve_bodies


def worst(found):
    """Return the largest residual of a solution."""
    r = found.residuals
    return max(r.signorini, r.contact, r.cone, r.dual)


def random_bodies(rng, bodies=4, contacts=6):
    """Return the bodies of any inertia with contacts in any direction.

    Of themselves and with the world.
    """
    A = rng.normal(size=(bodies, 6, 6))
    inverse = np.einsum('bij,bkj->bik', A, A) + 0.1 * np.eye(6)
    pairs = np.array([rng.permutation(bodies + 1)[:2] - 1 for _ in range(contacts)])
    pile = Pile([], [])
    pile.inverse, pile.velocity = inverse, rng.normal(size=(bodies, 6))
    pile.bodies, pile.jacobian = pairs, rng.normal(size=(contacts, 2, 3, 6))
    return pile


def space_of(pile, friction, room=0, moments=False):
    """Return the space of a pile, with extra capacity for bodies and contacts."""
    B, n = len(pile.velocity), len(pile.bodies)
    sizes = matrix_sizes(B + room)
    space = allocate(BodySpace, B=B + room, C=n + room, K=n + room if moments else 0, **sizes)
    for array in (*space[:-1], *space.matrix):
        array[...] = np.nan if array.dtype == float else -(2**62)
    space.sizes[:2], space.velocity[:B] = (n, moments), pile.velocity
    space.body[:n], space.jacobian[:n], space.friction[:n] = pile.bodies, pile.jacobian, friction
    space.effect[:n] = effects(pile, pile.jacobian)
    for array in (space.bias, space.compliance, space.force, space.slip, space.state):
        array[:n] = 0
    return space


def effects(pile, jacobian):
    """Return the change of the velocity of both bodies by forces along the rows of a Jacobian."""
    return np.einsum('nsrj,nsjk->nsrk', jacobian, pile.inverse[pile.bodies])


def test_moments_obey_the_law_of_the_dense_problem():
    """Torsional and rolling friction, some contacts without either, from starts of any kind."""
    rng = np.random.default_rng(1)
    solved, bounded = 0, 0
    for _ in range(30):
        pile, n = random_bodies(rng, 4, 4), 4
        mu = rng.uniform(0.1, 0.6, (n, 2))
        torsion, rolling = rng.uniform(0.1, 0.6, (2, n)) * (rng.random((2, n)) < 0.7)
        turning = 0.4 * rng.normal(size=(n, 2, 3, 6))
        space = space_of(pile, mu, room=2, moments=True)
        space.angular_jacobian[:n], space.angular_effect[:n] = turning, effects(pile, turning)
        space.coefficient[:n, 0] = torsion
        space.coefficient[:n, 1:] = rolling[:, None]
        space.moment[:n] = 0.01 * rng.normal(size=(n, 3))
        if not solve_bodies(Record(space), 2000, 1e-11):
            continue
        solved += 1
        both = Pile([], [])
        both.inverse, both.velocity = pile.inverse, pile.velocity
        both.bodies = np.vstack([pile.bodies, pile.bodies])
        both.jacobian = np.concatenate([pile.jacobian, turning])
        plain, J = both.dense(np.ones(2 * n))
        first = 3 * n
        order = [*range(first), *range(first, 6 * n, 3)]
        for c in range(n):
            order += [first + 3 * c + 1, first + 3 * c + 2]
        problem = friction_problem(
            plain.G[np.ix_(order, order)], plain.g[order], mu, torsion=torsion, rolling=rolling
        )
        moment = space.moment[:n]
        force = np.concatenate([space.force[:n].ravel(), moment[:, 0], moment[:, 1:].ravel()])
        found = residuals(problem, force)
        assert max(found.signorini, found.contact, found.cone, found.dual) < 1e-8
        sides = np.concatenate([space.force[:n], moment]).ravel()
        moved = np.einsum('bij,bj->bi', pile.inverse, (J.T @ sides).reshape(-1, 6))
        assert_allclose(space.velocity[:4], pile.velocity + moved, atol=1e-9)
        bounded += (np.abs(moment[:, 0]) > 0.999 * torsion * space.force[:n, 0]).sum()
    assert solved > 20 and bounded > 20


def test_it_is_the_law_of_the_dense_solver():
    """Elliptic cones, contacts without friction, moving ground, compliance."""
    rng = np.random.default_rng(0)
    solved, states = 0, set()
    for _ in range(30):
        pile = random_bodies(rng)
        mu = rng.uniform(0.1, 1.0, (6, 2))
        mu[rng.random(6) < 0.2] = 0.0
        bias, soft = 0.3 * rng.normal(size=(6, 3)), rng.uniform(0.5, 2.0, (6, 3))
        found = solve_friction_bodies(*pile.arguments, mu, bias, soft, tolerance=1e-12)
        problem, J = pile.dense(mu, bias, compliance=soft.ravel())
        expected = solve_friction(problem, tolerance=1e-12)
        assert_allclose(
            residuals(problem, found.force.ravel())[:5], found.residuals[:5], atol=1e-12
        )
        impulse = (J.T @ found.force.ravel()).reshape(-1, 6)
        moved = np.einsum('bij,bj->bi', pile.inverse, impulse)
        assert_allclose(found.velocity, pile.velocity + moved, atol=1e-11)
        if found.converged and expected.converged:
            solved += 1
            states |= set(expected.state)
            scale = 1.0 + np.abs(expected.force).max()
            assert_allclose(found.force.ravel(), expected.force, atol=1e-8 * scale)
            assert worst(found) < 1e-9 * scale
    assert solved >= 28 and states == {'open', 'stick', 'slide'}


@pytest.mark.parametrize('mu', [[0.5, 0.5], [0.5, 0.3]])
def test_sixty_four_boxes_rest(mu):
    pile = pile_of_boxes()
    found = solve_friction_bodies(*pile.arguments, np.tile(mu, (256, 1)), tolerance=1e-10)
    assert found.converged and worst(found) < 1e-10 and found.iterations <= 100
    assert_allclose(found.velocity, 0.0, atol=1e-10)
    ground = pile.bodies[:, 1] < 0
    assert_allclose(found.force[ground, 0].sum(), pile.weight, rtol=1e-9)


def test_boxes_that_slide_and_turn():
    rng = np.random.default_rng(1)
    pile = pile_of_boxes(velocity=0.1 * rng.normal(size=(64, 6)))
    found = solve_friction_bodies(*pile.arguments, np.full(256, 0.5))
    assert found.converged and worst(found) < 1e-8 and found.iterations < 1000
    assert np.abs(found.velocity).max() > 0.1


def test_a_tower_of_ten_and_a_pyramid_stand():
    for pile in (pile_of_boxes(1, 10), pyramid()):
        found = solve_friction_bodies(*pile.arguments, np.full(len(pile.bodies), 0.5))
        assert found.converged and worst(found) < 1e-9 and found.iterations < 1500
        assert_allclose(found.velocity, 0.0, atol=1e-8)
        ground = pile.bodies[:, 1] < 0
        assert_allclose(found.force[ground, 0].sum(), pile.weight, rtol=1e-6)


@pytest.mark.parametrize('mu', [0.0, 0.4])
def test_216_balls_between_walls(mu):
    pile = pile_of_balls()
    found = solve_friction_bodies(*pile.arguments, np.full(len(pile.bodies), mu))
    assert found.converged and worst(found) < 1e-8 and found.iterations < 300
    ground = (pile.bodies[:, 1] < 0) & (pile.normal[:, 2] > 0.5)
    if mu == 0.0:
        assert not found.force[:, 1:].any()
        assert_allclose(found.force[ground, 0].sum(), pile.weight, rtol=1e-4)
    assert_allclose(found.velocity, 0.0, atol=1e-5)


def test_contacts_without_friction_have_states():
    balls = pile_of_balls(3)
    space = space_of(balls, 0.0)
    assert solve_bodies(Record(space), 2000, 1e-10)
    loaded = space.force[:, 0] > 0.0
    assert loaded.any() and not loaded.all()
    assert np.array_equal(space.state, np.where(loaded, STICK, OPEN))


def test_a_change_along_one_axis_reaches_the_bodies():
    pile = random_bodies(np.random.default_rng(8))
    space = space_of(pile, np.full((6, 2), 0.5))
    prepare(space)
    for r in range(3):
        space.velocity[:] = 0.0
        apply_force(space, 2, Vec(*np.eye(3)[r]))
        for side in range(2):
            b = space.body[2, side]
            if b >= 0:
                expected = pile.inverse[b] @ pile.jacobian[2, side, r] * space.scale[2, r]
                assert_allclose(space.velocity[b], expected, rtol=1e-12)


def test_friction_to_start_from_is_dropped_where_there_is_none():
    balls = pile_of_balls(2)
    n = len(balls.bodies)
    start = np.random.default_rng(9).uniform(0.0, 0.01, (n, 3))
    found = solve_friction_bodies(*balls.arguments, np.zeros(n), start=start)
    assert found.converged and not found.force[:, 1:].any()
    pushed = np.einsum('nsrk,nr->nsk', balls.jacobian, found.force)
    expected = balls.velocity.copy()
    for pair, impulses in zip(balls.bodies, pushed):
        for b, impulse in zip(pair, impulses):
            if b >= 0:
                expected[b] += balls.inverse[b] @ impulse
    assert_allclose(found.velocity, expected, atol=1e-12)


def test_a_solution_as_start_takes_no_sweep_and_one_nearby_few():
    pile = pile_of_boxes()
    mu = np.full(256, 0.5)
    first = solve_friction_bodies(*pile.arguments, mu)
    again = solve_friction_bodies(*pile.arguments, mu, start=first.force)
    assert again.converged and again.iterations == 0
    assert_allclose(again.force, first.force, rtol=1e-12, atol=1e-15)
    balls = pile_of_balls(3)
    mu = np.zeros(len(balls.bodies))
    first = solve_friction_bodies(*balls.arguments, mu)
    balls.velocity *= 1.0 + 1e-7
    cold = solve_friction_bodies(*balls.arguments, mu)
    warm = solve_friction_bodies(*balls.arguments, mu, start=first.force)
    assert warm.converged and warm.iterations < 0.7 * cold.iterations


def test_sliding_boxes_are_slowed_down_and_separating_ones_open():
    """By hand: one box slides on the ground, another leaves it; a third on top of the first."""
    boxes = [(1.0, (0.2,) * 3, np.array([x, 0.0, z])) for x, z in ((0, 0.1), (9, 0.1), (0, 0.3))]
    corners = [np.array([x, y, 0.0]) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    contacts = [(0, None, p) for p in corners] + [(1, None, p + [9, 0, 0]) for p in corners]
    contacts += [(2, 0, p + [0, 0, 0.2]) for p in corners]
    velocity = np.zeros((3, 6))
    velocity[0, 3:], velocity[1, 3:], velocity[2, 3:] = [0.5, 0, 0], [0.3, 0, 0.2], [0.5, 0, 0]
    pile = Pile(boxes, contacts, velocity=velocity)
    found = solve_friction_bodies(*pile.arguments, np.full(12, 0.4))
    assert found.converged
    slower = 0.5 - 0.4 * 9.81e-3
    assert_allclose(found.velocity[[0, 2], 3], slower, atol=1e-6)
    assert_allclose(found.velocity[1, 3:], [0.3, 0.0, 0.2 - 9.81e-3], atol=1e-14)
    assert not found.force[4:8].any()


@pytest.mark.parametrize('limit', [1, 3, 25, 200])
def test_an_unsolved_problem_has_the_residual_of_its_forces(limit):
    pile = pile_of_boxes(2, 4, velocity=np.random.default_rng(2).normal(size=(16, 6)))
    space = space_of(pile, 0.5)
    solved = solve_bodies(Record(space), limit, 1e-14)
    assert space.report[ITERATIONS] <= limit
    velocity = space.velocity.copy()
    renew(space)
    assert_allclose(space.velocity, velocity, atol=1e-14)
    found = largest_residual(space) / space.report[UNIT]
    assert_allclose(found, space.report[RESIDUAL], rtol=1e-9)
    assert (found <= 1e-14) == bool(solved)
    assert_allclose(space.force, space.scale * space.x)


def test_blocks_have_ones_on_the_diagonal():
    """Whichever of its axes moves most for its force; what nothing moves keeps its unit."""
    rng = np.random.default_rng(6)
    pile = random_bodies(rng, 3, 9)
    for c in range(9):
        pile.jacobian[c, :, c % 3] *= 100.0
    pile.jacobian[8] = 0.0
    mu = rng.uniform(0.5, 1.0, (9, 2))
    space = space_of(pile, mu)
    space.compliance[:9] = rng.uniform(0.0, 1.0, (9, 3))
    space.compliance[8] = 0.0
    prepare(space)
    problem, _ = pile.dense(mu, compliance=space.compliance.ravel())
    G = problem.G + np.diag(problem.compliance)
    for c in range(8):
        D, rows = np.diag(space.scale[c]), slice(3 * c, 3 * c + 3)
        assert_allclose(space.block[c], D @ G[rows, rows] @ D, rtol=1e-12, atol=1e-15)
        assert_allclose(np.diag(space.block[c]).max(), 1.0)
        assert_allclose(space.scale[c, 1:], mu[c] * space.scale[c, 0])
    assert_allclose(space.scale[8], [1.0, *mu[8]])
    free = np.abs(space.scale.ravel() * problem.g)
    assert_allclose(space.report[UNIT], free.max())


def test_a_compliant_contact_is_stopped_as_well():
    rng = np.random.default_rng(7)
    pile = random_bodies(rng, 6, 5)
    space = space_of(pile, np.full((5, 2), 0.7))
    space.compliance[:] = rng.uniform(1.0, 3.0, (5, 3))
    prepare(space)
    space.x[:] = 1e3 * np.eye(3)[0]
    space.state[:] = STICK
    renew(space)
    finish(space, 1e-12)
    D = space.scale
    u = np.array([[_velocity(space, c, r) for r in range(3)] for c in range(5)])
    assert_allclose(u + D * space.compliance * D * space.x, 0.0, atol=1e-9)


def test_walls_that_close_in_end_without_a_solution():
    wall = np.zeros((2, 2, 3, 6))
    wall[0, 0, :, 3:], wall[1, 0, :, 3:] = np.eye(3), np.diag([-1.0, 1.0, 1.0])
    inverse, pairs = [np.eye(6)], [[0, -1], [0, -1]]
    bias = [[-1.0, 0.2, 0.0], [-1.0, 0.2, 0.0]]
    found = solve_friction_bodies(inverse, np.zeros((1, 6)), pairs, wall, [0.5, 0.5], bias)
    assert not found.converged and found.iterations == 2000
    assert np.isfinite(found.force).all() and found.residuals.dual > 0.5


def test_one_space_serves_piles_of_any_size():
    rng = np.random.default_rng(3)
    for pile in (random_bodies(rng), random_bodies(rng, 2, 3), pile_of_boxes(1, 2)):
        n, B = len(pile.bodies), len(pile.velocity)
        mu = rng.uniform(0.2, 1.0, (n, 2))
        mu[0] = 0.0
        own, roomy = space_of(pile, mu), space_of(pile, mu, 3)
        assert solve_bodies(Record(own), 300, 1e-10) == solve_bodies(Record(roomy), 300, 1e-10)
        for name, its, its_room in zip(own._fields, own, roomy):
            if name in ('sizes', 'report', 'matrix'):
                continue
            if name in ('gram', 'gram_factor', 'weight'):  # of iterations, not of contacts
                continue
            if name in ('past_w', 'past_change'):
                its, its_room = its.swapaxes(0, 1), its_room.swapaxes(0, 1)
            used = len(its)
            assert used in (n, B) or its.size == 0
            assert np.array_equal(its_room[:used], its, equal_nan=True), name
            rest = its_room[used:]
            assert np.isnan(rest).all() if rest.dtype == float else (rest == -(2**62)).all()


def test_a_sticking_contact_is_stopped_at_once():
    """Open contacts keep no force and what slides keeps its own; worse forces are not taken."""
    rng = np.random.default_rng(4)
    pile = random_bodies(rng, 6, 5)
    space = space_of(pile, np.full((5, 2), 0.7))
    space.friction[1] = 0.0
    prepare(space)
    space.x[:] = 0.0
    space.x[:, 0] = 1e3
    space.state[:] = [STICK, STICK, OPEN, STICK, STICK]
    space.x[2] = 0.0
    renew(space)
    before, x = largest_residual(space), space.x.copy()
    found = finish(space, 1e-12)
    assert found < 1e-2 * before
    u = np.array([[_velocity(space, c, r) for r in range(3)] for c in range(5)])
    assert_allclose(u[[0, 3, 4]], 0.0, atol=1e-7)
    assert_allclose(u[1, 0], 0.0, atol=1e-7)
    assert (space.x[1, 1:] == 0.0).all() and (space.x[2] == 0.0).all()
    assert not space.search_direction.any()
    space.x[:] = x
    space.x[:, 0] = 1e-9
    space.state[:] = STICK
    kept = space.x.copy()
    renew(space)
    before = largest_residual(space)
    assert finish(space, 1e-12) == before
    assert (space.x == kept).all() and not space.search_direction.any()


def _velocity(space, c, r):
    total = space.scale[c, r] * space.bias[c, r]
    for side in range(2):
        b = space.body[c, side]
        if b >= 0:
            total += space.jacobian[c, side, r] @ space.velocity[b]
    return total


ONE = (np.eye(6)[None], np.zeros((1, 6)), [[0, -1]], np.zeros((1, 2, 3, 6)), [0.5])


@pytest.mark.parametrize(
    ('changed', 'options', 'words'),
    [
        ({0: np.eye(6)}, {}, r'inverse_inertia must have shape \(1, 6, 6\)'),
        ({1: np.zeros((1, 3))}, {}, r'velocity must have shape \(1, 6\)'),
        ({2: [[0]]}, {}, r'bodies must have shape \(1, 2\)'),
        ({3: np.zeros((1, 3, 6))}, {}, r'jacobian must have shape \(1, 2, 3, 6\)'),
        ({4: [[0.5] * 3]}, {}, r'friction must have shape \(1, 2\)'),
        ({2: [[0, 1]]}, {}, 'bodies must be numbers from 0 to 0'),
        ({2: [[0, -2]]}, {}, 'bodies must be numbers from 0 to 0'),
        ({2: [[0.0, -1.0]]}, {}, 'bodies must be numbers'),
        ({2: [[0, 0]]}, {}, 'contact 0 names one body twice'),
        ({4: [-0.5]}, {}, 'must not be negative'),
        ({1: np.full((1, 6), np.nan)}, {}, 'velocity must be finite'),
        ({}, {'bias': np.zeros(2)}, r'bias must have shape \(1, 3\)'),
        ({}, {'bias': np.inf}, 'bias must be finite'),
        ({}, {'compliance': -1.0}, 'must not be negative'),
        ({}, {'start': np.zeros((2, 3))}, r'start must have shape \(1, 3\)'),
        ({}, {'start': [np.nan, 0, 0]}, 'start must be finite'),
        ({}, {'tolerance': 0.0}, 'tolerance must be positive'),
        ({}, {'tolerance': np.inf}, 'tolerance must be positive'),
        ({}, {'iterations': 0}, 'iterations a whole number'),
        ({}, {'iterations': 1.5}, 'iterations a whole number'),
    ],
)
def test_invalid_bodies_in_contact_are_rejected(changed, options, words):
    arguments = [changed.get(k, value) for k, value in enumerate(ONE)]
    with pytest.raises(ValueError, match=words):
        solve_friction_bodies(*arguments, **options)


def test_nothing_in_contact():
    none = solve_friction_bodies(
        *ONE[:1], np.ones((1, 6)), np.zeros((0, 2), dtype=int), np.zeros((0, 2, 3, 6)), []
    )
    assert none.converged and (none.velocity == 1.0).all() and none.force.shape == (0, 3)
    still = solve_friction_bodies(*ONE)  # that nothing moves, and that does not have to be moved
    assert still.converged and not still.force.any()


CASES = """
import numpy as np
from rbd_ros.constraints import solve_friction_bodies
from support.boxes_in_contact import pile_of_boxes
rng = np.random.default_rng(5)
numbers = []
for velocity in (None, 0.1 * rng.normal(size=(4, 6))):
    pile = pile_of_boxes(2, 1, velocity=velocity)
    mu = np.full(16, 0.5)
    mu[3] = 0.0
    found = solve_friction_bodies(*pile.arguments, mu, iterations=60)
    numbers.append([found.converged, found.iterations, *found.velocity.ravel()])
"""


def test_compiled_and_interpreted_agree():
    here = {}
    exec(CASES, here)
    shown = fresh_python.run(CASES + 'print(repr(numbers))', RBD_ROS_COMPILER='off')
    for compiled, interpreted in zip(here['numbers'], eval(shown.stdout, {'np': np})):
        assert_allclose(compiled, interpreted, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize('share', [1.0, 2.0])
def test_forces_that_add_energy_are_scaled_to_those_that_remove_most_or_add_none(share):
    pile = pile_of_boxes(2, 2)
    found = solve_friction_bodies(*pile.arguments, np.full(len(pile.bodies), 0.5))
    space = contacts_of_bodies.space_of(pile, 0.5)
    x = found.force / space.scale
    for times, expected in ((3.0, share), (share, share), (0.5, 0.5), (-1.0, 0.0)):
        space.x[:] = times * x
        renew(space)
        remove_energy(space, share)
        assert_allclose(space.x, expected * x, atol=1e-7 * np.abs(x).max())
