# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Linear algebra of closed loops, against dense systems with multipliers."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import loop_mechanisms
from support.crawling import assert_joints_obey
from support.stewart import stewart

from rbd_ros.model.joints import Revolute
from rbd_ros.simulation import Physics
from rbd_ros.simulation.loops.loop_directions import (
    add_multipliers,
    correct,
    find_basis,
    find_directions,
    find_references,
    fix_held,
    FIXED,
    HELD,
    HELD_RANK,
    RANK,
    respond,
    TOLERANCE,
    triangulate,
)
from rbd_ros.simulation.loops.loop_drives import find_held_forces
from rbd_ros.simulation.loops.loop_solver import (
    find_closed_velocity,
    find_held_impulse,
    hold_joints,
    keep_loop_force,
    keep_stage_force,
    solve_closed,
    solve_with_contacts,
)
from rbd_ros.simulation.stepping.joint_law import BACKWARD, FORWARD, LOWER, STICK, UPPER
from rbd_ros.simulation.stepping.sweeps import find_response, sweep_to_rest

n = 8
h = 0.01


def random_loop(seed, redundant):
    """Return the physics of a tree with a loop.

    Random constraints, `redundant` of which say nothing new.
    """
    rng = np.random.default_rng(seed)
    hinge = Revolute((0.0, 0.0, 1.0))
    _, robot, q, _, _ = loop_mechanisms.closed_robot(seed, (hinge,), ((2, 7),))
    physics = Physics(robot)
    problem = physics.fields.work.problem
    problem.inertia[:] = robot.mass_matrix(q) + np.diag(rng.uniform(0.1, 1.0, n))
    K = rng.normal(size=problem.loops.jacobian.shape)
    for k in range(redundant):
        K[k] = rng.normal(size=len(K) - redundant) @ K[redundant:]
    problem.loops.jacobian[:] = K
    problem.loops.counts[:] = 0
    # What earlier steps have left, where more was free, is not looked at.
    problem.loops.basis[:] = problem.loops.motions[:] = np.nan
    find_directions(physics.model, problem.inertia, problem.loops.jacobian, problem.loops)
    assert problem.loops.counts[RANK] == len(K) - redundant
    return physics, rng


@pytest.fixture(params=[(1, 0), (2, 0), (3, 2), (4, 1)])
def looped(request):
    return random_loop(*request.param)


def with_multipliers(H, K, right, prescribed):
    """Return the solution of H v + K^T lambda = right with K v = prescribed.

    Rows may be redundant.
    """
    m = len(K)
    matrix = np.block([[H, K.T], [K, np.zeros((m, m))]])
    return np.linalg.lstsq(matrix, np.r_[right, prescribed], rcond=1e-12)[0][: len(H)]


def test_an_impulse_gives_the_velocity_of_gausss_principle(looped):
    physics, rng = looped
    problem, x = physics.fields.work.problem, rng.normal(size=n)
    K, v = problem.loops.jacobian, x.copy()
    respond(physics.model, problem.loops, v)
    assert_allclose(v, with_multipliers(problem.inertia, K, x, np.zeros(len(K))), atol=1e-9)


def test_a_correction_has_the_least_kinetic_energy(looped):
    physics, rng = looped
    problem, v = physics.fields.work.problem, np.empty(n)
    K = problem.loops.jacobian
    error = K @ rng.normal(size=n)
    correct(physics.model, problem.loops, error, v)
    assert_allclose(v, with_multipliers(problem.inertia, K, np.zeros(n), error), atol=1e-9)


def test_joints_that_are_fixed_take_no_part_in_corrections(looped):
    physics, rng = looped
    problem, loops = physics.fields.work.problem, physics.fields.work.problem.loops
    H, K, v = problem.inertia.copy(), loops.jacobian.copy(), np.empty(n)
    segment = np.array([FORWARD, STICK, BACKWARD, FORWARD, UPPER, BACKWARD, FORWARD, FORWARD])
    fix_held(segment, loops)
    assert loops.counts[FIXED] == 1 and list(loops.fixed) == [0, 1, 0, 0, 1, 0, 0, 0]
    find_directions(physics.model, problem.inertia, loops.jacobian, loops)
    free = np.array([0, 2, 3, 5, 6, 7])
    error = K[:, free] @ rng.normal(size=6)
    correct(physics.model, loops, error, v)
    assert_allclose(v[[1, 4]], 0.0, atol=1e-13)
    expected = with_multipliers(H[np.ix_(free, free)], K[:, free], np.zeros(6), error)
    assert_allclose(v[free], expected, atol=1e-9)
    assert np.array_equal(problem.inertia, H) and np.array_equal(loops.jacobian, K)
    fix_held(np.full(n, FORWARD), loops)
    assert loops.counts[FIXED] == 0 and not loops.fixed.any()


def test_rows_are_measured_by_the_largest_of_their_loop(looped):
    physics, _ = looped
    problem, reference = physics.fields.work.problem, np.empty(5)
    K = problem.loops.jacobian
    find_references(physics.model, problem.inertia, K, reference)
    sizes = np.sqrt((K**2 / np.diag(problem.inertia)).sum(axis=1))
    assert_allclose(reference, np.full(5, sizes.max()))
    several = physics.model._replace(loop_first=np.array([0, 2, 5]))
    find_references(several, problem.inertia, K, reference)
    assert_allclose(reference, [sizes[:2].max()] * 2 + [sizes[2:].max()] * 3)


@pytest.mark.parametrize('angle', [0.0, 1e-9, 1e-4, 1.0])
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_rows_that_are_triangular_already_lose_no_digits(sign, angle):
    """T Q^T = rows, with the product Q of the reflections."""
    c, s = np.cos(angle), np.sin(angle)
    rows = sign * np.array([[c, s, 0.0, 0.0], [0.0, 2.0 * c, 0.0, 2.0 * s]])
    T, reflectors, reference = rows.copy(), np.zeros((2, 4)), np.ones(2)
    order = np.zeros(2, dtype=np.int64)
    assert triangulate(T, reflectors, reference, order, 2, 4) == 2
    Q = np.eye(4)
    for u in reflectors:
        assert u @ u == pytest.approx(1.0)
        Q = Q @ (np.eye(4) - 2.0 * np.outer(u, u))
    assert list(order) == [1, 0]  # the longer one first
    assert_allclose(T @ Q.T, rows[order], atol=1e-15)
    assert_allclose(np.triu(T, 1), 0.0, atol=0.0)


def test_multipliers_balance_the_rest_of_a_force(looped):
    physics, rng = looped
    loops, before = physics.fields.work.problem.loops, rng.normal(size=n)
    force = before.copy()
    rest = loops.jacobian.T @ rng.normal(size=5)
    add_multipliers(physics.model, loops, rest.copy(), 2.5, force)
    assert_allclose(force, before + 2.5 * rest, atol=1e-8)


def test_the_basis_is_orthonormal_and_keeps_the_loops_closed(looped):
    physics, _ = looped
    problem, loops = physics.fields.work.problem, physics.fields.work.problem.loops
    find_basis(physics.model, loops)
    free = n - loops.counts[RANK]
    N = loops.basis[:free]
    assert_allclose(N @ problem.inertia @ N.T, np.eye(free), atol=1e-9)
    assert_allclose(loops.jacobian @ N.T, 0.0, atol=1e-9)


SEGMENTS = (
    (FORWARD,) * n,
    (FORWARD, STICK, BACKWARD, FORWARD, UPPER, BACKWARD, FORWARD, FORWARD),
    (LOWER, FORWARD, FORWARD, STICK, FORWARD, BACKWARD, FORWARD, FORWARD),
)


@pytest.mark.parametrize('segment', SEGMENTS)
def test_held_joints_move_as_prescribed_and_balance_the_rest(looped, segment):
    """The law of each joint and the loops, in the equation with all of their forces."""
    physics, rng = looped
    problem, loops = physics.fields.work.problem, physics.fields.work.problem.loops
    segment, v = np.array(segment), np.empty(n)
    model = physics.model._replace(friction=rng.uniform(0.5, 2.0, n))
    problem.momentum[:] = rng.normal(size=n)
    problem.low[:], problem.high[:] = -rng.uniform(0.1, 1.0, n), rng.uniform(0.1, 1.0, n)
    problem.contact_impulse[:] = 0.0
    find_basis(model, loops)
    solve_closed(model, segment, problem, v, 0, h)
    find_held_impulse(model, segment, problem, v, h)

    K, held = loops.jacobian, np.isin(segment, (LOWER, STICK, UPPER))
    assert held.sum() <= n - loops.counts[RANK]
    goal = {LOWER: problem.low, STICK: np.zeros(n), UPPER: problem.high}
    for i in np.flatnonzero(held):
        assert v[i] == goal[segment[i]][i]
    assert_allclose(K @ v, 0.0, atol=1e-9)
    friction = (
        h * model.friction * np.select([segment == BACKWARD, segment == FORWARD], [1, -1], 0)
    )
    assert_allclose(problem.impulse[~held], friction[~held], atol=1e-12)
    left = problem.inertia @ v - problem.momentum - problem.impulse
    multipliers = np.linalg.lstsq(K.T, left, rcond=1e-12)[0]
    assert_allclose(K.T @ multipliers, left, atol=1e-8)

    # Motions after those that move the held joints leave them where they are.
    hold_joints(segment, problem)
    motions = loops.motions[: n - loops.counts[RANK]]
    assert_allclose(motions @ problem.inertia @ motions.T, np.eye(len(motions)), atol=1e-9)
    assert_allclose(motions[held.sum() :, held], 0.0, atol=1e-9)


def test_all_motions_but_one_may_be_held():
    """There are at most as many coefficients as motions."""
    physics, rng = random_loop(5, 4)
    problem, v = physics.fields.work.problem, np.empty(n)
    problem.momentum[:] = rng.normal(size=n)
    problem.contact_impulse[:] = 0.0
    segment = np.array([STICK] * 7 + [FORWARD])
    find_basis(physics.model, problem.loops)
    solve_closed(physics.model, segment, problem, v, 0, h)
    find_held_impulse(physics.model, segment, problem, v, h)
    assert_allclose(v, 0.0, atol=1e-12)
    left = problem.momentum + problem.impulse
    K = problem.loops.jacobian
    # Likewise of drives, with the work of a load.
    load, loops, borne = rng.normal(size=n), problem.loops, np.zeros(n)
    find_held_forces(loops, load)
    borne[loops.held_joint[loops.held_order[:7]]] = loops.coefficients[:7]
    assert_allclose(loops.motions[:7] @ borne, loops.motions[:7] @ load, atol=1e-9)
    multipliers = np.linalg.lstsq(K.T, left, rcond=1e-12)[0]
    assert_allclose(K.T @ multipliers, left, atol=1e-9)


def test_responses_and_sweeps_keep_the_loops_closed(looped):
    """With contacts, whose responses come after those of the joints; and by the joints' laws."""
    physics, rng = looped
    problem, K = physics.fields.work.problem, physics.fields.work.problem.loops.jacobian
    v, J = np.empty(n), rng.normal(size=(2, 3, n))
    problem.momentum[:] = rng.normal(size=n)
    problem.low[:], problem.high[:] = -rng.uniform(0.1, 1.0, n), rng.uniform(0.1, 1.0, n)
    roomy = problem._replace(jacobian=J, response=np.empty((n + 6, n)))
    find_response(physics.model, roomy, v, 2)
    none = np.zeros(len(K))
    for row, impulse in zip(roomy.response, [*np.eye(n), *J.reshape(6, n)], strict=True):
        assert_allclose(row, with_multipliers(problem.inertia, K, impulse, none), atol=1e-9)
    free = with_multipliers(problem.inertia, K, problem.momentum, none)
    assert_allclose(v, free, atol=1e-9)

    model = physics.model._replace(friction=rng.uniform(5.0, 20.0, n))
    sweep_to_rest(model, physics.state, physics.contacts, problem, v, 0, h)
    p = problem.swept_impulse
    expected = with_multipliers(problem.inertia, K, problem.momentum + p, none)
    assert_allclose(v, expected, atol=1e-8)
    assert_joints_obey(model, problem, h, v, p, 1e-4)


@pytest.mark.parametrize('share, rank', [(1.2, 1), (0.9, 0)])
def test_joints_that_the_loops_hold_already_are_not_held_again(looped, share, rank):
    """By how far a joint would move if it were alone, with a kinetic energy of one half."""
    physics, _ = looped
    problem, loops = physics.fields.work.problem, physics.fields.work.problem.loops
    find_basis(physics.model, loops)
    loops.basis[:, 4] = 0.0
    loops.basis[1, 4] = share * TOLERANCE / np.sqrt(problem.inertia[4, 4])
    segment = np.full(n, FORWARD)
    segment[4] = STICK
    hold_joints(segment, problem)
    assert loops.counts[HELD] == 1 and loops.counts[HELD_RANK] == rank


def test_contacts_take_their_part_of_the_impulse(looped):
    physics, rng = looped
    problem = physics.fields.work.problem
    v, segment = rng.normal(size=n), np.full(n, FORWARD)
    problem.contact_impulse[:] = rng.normal(size=n)
    find_basis(physics.model, problem.loops)
    find_held_impulse(physics.model, segment, problem, v, h)
    assert_allclose(problem.impulse, problem.contact_impulse - h * physics.model.friction)


def test_the_loop_force_covers_the_step_and_its_rotation(looped):
    """Over the step K v stays zero; that v turns with the loops takes the force of K a = k."""
    physics, rng = looped
    problem, loops, v = physics.fields.work.problem, physics.fields.work.problem.loops, np.empty(n)
    K = loops.jacobian
    problem.momentum[:] = rng.normal(size=n)
    problem.impulse[:] = 0.0
    loops.bias[:] = K @ rng.normal(size=n)
    find_closed_velocity(physics.model, physics.state, problem, v, h)
    expected = with_multipliers(problem.inertia, K, problem.momentum, np.zeros(5))
    assert_allclose(v, expected, atol=1e-9)
    turning = with_multipliers(problem.inertia, K, np.zeros(n), loops.bias)
    force = problem.inertia @ (v / h + turning) - problem.momentum / h
    assert_allclose(physics.state.loop_force, force, atol=1e-6)
    assert_allclose(physics.state.loop_jacobian, K)
    # An impulse of joints is none of the loops'.
    problem.impulse[:] = rng.normal(size=n)
    problem.momentum[:] -= problem.impulse
    keep_loop_force(physics.model, physics.state, problem, v, h)
    assert_allclose(physics.state.loop_force, force, atol=1e-6)


def test_the_loop_force_of_a_stage_agrees_with_its_acceleration(looped):
    physics, rng = looped
    dynamics, loops = physics.fields.work.dynamics, physics.fields.work.problem.loops
    physics.state.loop_force[:] = 7.0
    dynamics.mass[:] = physics.fields.work.problem.inertia
    dynamics.bias[:], physics.state.torque[:] = rng.normal(size=(2, n))
    force = loops.jacobian.T @ rng.normal(size=5)
    a = np.linalg.solve(dynamics.mass, force + physics.state.torque - dynamics.bias)
    keep_stage_force(physics.model, physics.state, dynamics, loops, a)
    assert_allclose(physics.state.loop_force, force, atol=1e-8)
    assert_allclose(physics.state.loop_jacobian, loops.jacobian)


@pytest.mark.parametrize('held', [0, 2])
def test_contacts_that_are_not_symmetric_couple_motions_as_multipliers_say(held, rng):
    """A v' = b + K^T lambda with K v' = 0, where friction that slides makes A unsymmetric."""
    physics = Physics(stewart())
    problem = physics.fields.work.problem
    loops, n = problem.loops, len(physics.state.v)
    free = 6
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    loops.motions[:] = 0.0
    loops.motions[:free], K = basis[:free], basis[free:]
    A = np.eye(n) + 0.1 * rng.normal(size=(n, n))
    b, known = rng.normal(size=n), rng.normal(size=held)
    problem.system[:] = A
    loops.coefficients[:] = 0.0
    loops.coefficients[:free] = [*known, *(basis[held:free] @ b)]
    solve_with_contacts(problem, held, free)
    # Motions that are prescribed are constraints, too.
    rows = np.vstack([K, basis[:held]])
    matrix = np.block([[A, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    v = np.linalg.solve(matrix, np.r_[b, np.zeros(len(K)), known])[:n]
    assert loops.coefficients[:free] @ loops.motions[:free] == pytest.approx(v, abs=1e-10)
