# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`benchmark/friction.py`: problems, residuals, solvers in other processes, and output."""

import json
import sys

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.sparse import csr_matrix
from support.boxes_in_contact import box_on_plane
from support.contact_benchmark import friction, marked, our_engine, scale_scenes

STEPS = ['1e-06', '1e-08', '1e-10']
#: Stands in for Siconos: one function and its constants. It gives back nothing, zero forces or the
#: solution of the problem of `sliding`, or it does not end.
PEER = """
import time
version = 'of the test'
SICONOS_DPARAM_TOL = SICONOS_IPARAM_MAX_ITER = 0
SICONOS_FRICTION_3D_NSGS, SICONOS_FRICTION_3D_NSN_AC, SICONOS_FRICTION_3D_ADMM = range(3)

class SolverOptions:
    def __init__(self, solver):
        self.solver, self.dparam, self.iparam = solver, [0.0], [0]

def FrictionContactProblem(*arguments):
    return arguments

def fc3d_driver(problem, force, velocity, options):
    dimension, contacts, W, q, mu = problem
    assert dimension == 3 and len(mu) == contacts and options.iparam[0] > 0
    if options.solver == 0:
        force[0], force[1] = -q[0] / W[0, 0], 0.3 * q[0] / W[0, 0]
    elif options.solver == 2:
        time.sleep(60)
"""


def write_problem(path, W, q, mu):
    """Write a problem as the benchmark reads it."""
    W = csr_matrix(W)
    np.savez(path, data=W.data, indices=W.indices, indptr=W.indptr, shape=W.shape, q=q, mu=mu)
    return path


def sliding(path, mass=1.0):
    """Write the problem of a mass that slides."""
    return write_problem(path, np.eye(3) / mass, [-1.0, 0.5, 0.0], [0.3])


# -- problems -------------------------------------------------------------------------------------


def test_a_problem_is_read_without_its_units(tmp_path):
    W = np.array([[2.0, 0.1, 0.0], [0.1, 1.0, 0.0], [0.0, 0.0, 3.0]])
    for path, mass, speed in (('a.npz', 1.0, 1.0), ('b.npz', 1e4, 1e-3)):
        written = write_problem(tmp_path / path, W / mass, speed * np.array([-3.0, 0, 4.0]), [0.5])
        problem = friction.read(written)
        assert_allclose(problem.G, 0.5 * W, rtol=1e-14)
        assert_allclose(problem.g, [-0.6, 0.0, 0.8], rtol=1e-14)
        assert_allclose(problem.friction, [[0.5, 0.5]])


def test_a_matrix_is_made_symmetric_if_it_nearly_is(tmp_path):
    W = np.eye(3)
    W[0, 1] = 1e-3
    problem = friction.read(write_problem(tmp_path / 'a.npz', W, [-1.0, 0.0, 0.0], [0.5]))
    assert_allclose(problem.G[0, 1], 5e-4)
    assert_allclose(problem.G[1, 0], 5e-4)
    W[0, 1] = 0.1
    with pytest.raises(ValueError, match='a.npz is not symmetric'):
        friction.read(write_problem(tmp_path / 'a.npz', W, [-1.0, 0.0, 0.0], [0.5]))


def test_files_that_are_no_problems_are_named(tmp_path):
    np.savez(tmp_path / 'other.npz', x=np.zeros(3))
    with pytest.raises(ValueError, match='other.npz is not a friction problem'):
        friction.read(tmp_path / 'other.npz')
    with pytest.raises(ValueError, match='nowhere does not exist'):
        friction.find([str(tmp_path / 'nowhere')])
    (tmp_path / 'empty').mkdir()
    with pytest.raises(ValueError, match='no problems'):
        friction.find([str(tmp_path / 'empty')])
    for name in ('b', 'a'):
        sliding(tmp_path / 'empty' / f'{name}.npz')
    found = friction.find([str(tmp_path / 'empty'), str(tmp_path / 'other.npz')])
    assert [path.stem for path in found] == ['a', 'b', 'other']


# -- residuals ------------------------------------------------------------------------------------


def test_projection_gives_the_nearest_point_of_the_cone():
    """By the condition of a nearest point y: (x - y) . (z - y) <= 0 for all z of the cone."""
    rng = np.random.default_rng(1)
    mu = rng.uniform(0.0, 2.0, 200)
    x = rng.normal(size=(200, 3))
    y = friction.project(x, mu)
    assert np.all(np.linalg.norm(y[:, 1:], axis=1) <= mu * y[:, 0] + 1e-15)
    for _ in range(50):
        z = rng.normal(size=(200, 3))
        z[:, 0] = np.linalg.norm(z[:, 1:], axis=1) / np.maximum(mu, 1e-9)
        z[mu == 0.0] = [1.0, 0.0, 0.0]
        assert np.max(np.sum((x - y) * (z - y), axis=1)) < 1e-12
    assert_allclose(friction.project(y, mu), y, atol=1e-15)


def test_the_residual_is_zero_for_solutions_only(tmp_path):
    problem = friction.read(sliding(tmp_path / 'a.npz'))
    size = np.linalg.norm([-1.0, 0.5, 0.0])
    solution = np.array([1.0, -0.3, 0.0]) / size
    assert friction.residual(problem, solution) < 1e-15
    # Without forces the residual is the approach, all of which the projection gives back.
    assert 0.5 < friction.residual(problem, np.zeros(3)) < 1.5
    # It is linear in a small error.
    errors = [friction.residual(problem, solution + [e, 0.0, 0.0]) for e in (1e-6, 1e-8)]
    assert 1e-7 < errors[0] < 1e-5 and errors[0] == pytest.approx(100.0 * errors[1], rel=1e-3)
    assert friction.residual(problem, np.full(3, np.nan)) == np.inf


@pytest.mark.parametrize('force', [(0, 0, 0, 0, 0, 0), (0, 0, 0, 6.0, 0, 0)])
def test_our_solver_solves_a_box_by_this_residual(force):
    problem, _ = box_on_plane(4, force=force)
    answer = friction.solve(problem, 1e-10)
    assert friction.residual(problem, answer.force) < 1e-9
    assert answer.time > 0.0


# -- the profile ----------------------------------------------------------------------------------


def test_the_profile_is_the_fraction_solved_within_factors_of_the_best():
    found = friction.profile({'a': [1.0, 1.0, None, None], 'b': [2.0, 0.02, 3.0, None]})
    assert friction.FACTORS == (1, 2, 5, 10, 100)
    assert found == {'a': [0.25, 0.25, 0.25, 0.25, 0.5], 'b': [0.5, 0.75, 0.75, 0.75, 0.75]}


# -- the command ----------------------------------------------------------------------------------


@pytest.fixture
def stand_in(tmp_path):
    """Let this Python find a module in place of Siconos; return the arguments for it."""
    package = tmp_path / 'site' / 'siconos'
    package.mkdir(parents=True)
    (package / '__init__.py').write_text("version = 'of the test'\n")
    (package / 'numerics.py').write_text(PEER)
    python = tmp_path / 'python'
    python.write_text(
        f'#!/bin/sh\nPYTHONPATH={tmp_path / "site"} exec {sys.executable} "$@"\n', encoding='utf-8'
    )
    python.chmod(0o755)
    return ['--siconos', str(python), '--budget', '5']


def test_times_and_residuals_stand_beside_those_of_siconos(stand_in, tmp_path, capsys):
    """Its stand-in solves by one solver, not by the second, and exceeds its time by the third."""
    path, results, page = sliding(tmp_path / 'a.npz'), tmp_path / 'a.json', tmp_path / 'page.md'
    page.write_text(friction.PART.blank)
    assert friction.main([str(path), *stand_in, '--json', str(results)]) == 0
    printed = capsys.readouterr().out
    facts = json.loads(results.read_text())
    assert facts['siconos'] == 'of the test' and facts['tolerances'] == STEPS
    (problem,) = facts['problems']
    assert problem['name'] == 'a' and problem['contacts'] == 1
    for solver in (friction.OURS, 'NSGS'):
        for each in problem['solvers'][solver].values():
            assert each['time'] > 0.0 and each['residual'] < 1e-15
    for step in STEPS:
        assert problem['solvers']['NSN_AC'][step]['time'] is None
        assert problem['solvers']['NSN_AC'][step]['residual'] > 0.5
        assert problem['solvers']['ADMM'][step] == {'time': None, 'residual': None}
    assert 'Siconos of the test' in printed
    assert friction.main(['--from', str(results), '--document', str(page)]) == 0
    assert capsys.readouterr().out == printed
    (part,) = marked.parts(page.read_text())
    assert '| 1e-06 | rbd_ros | 1 of 1 | ' in part['body']
    assert '| 1e-10 | ADMM | 0 of 1 | - | 0.00 | 0.00 | 0.00 | 0.00 | 0.00 |' in part['body']
    assert '| a | 1 | ' in part['body']


def test_our_solver_is_measured_alone_without_siconos(tmp_path, capsys):
    path = sliding(tmp_path / 'a.npz')
    nowhere = str(tmp_path / 'nowhere')
    assert friction.main([str(path), '--siconos', nowhere, '--tolerances', '1e-8']) == 0
    printed = capsys.readouterr().out
    assert 'without Siconos' in printed and 'NSGS' not in printed
    assert '1e-08      rbd_ros  1 of 1' in printed


def test_a_solver_that_fails_at_a_tolerance_is_not_tried_at_smaller_ones(tmp_path, monkeypatch):
    problem = friction.read(sliding(tmp_path / 'a.npz'))
    asked = []

    def solver(problem, tolerance):
        asked.append(tolerance)
        return friction.Answer(np.array([1.0, -0.3, 0.0]) / np.sqrt(1.25) + 1e-6, 1.0)

    monkeypatch.setattr(friction, 'solve', solver)
    found = friction.measure(problem, friction.OURS, [1e-10, 1e-6, 1e-8], None)
    assert asked == [1e-6, 1e-8]
    assert [found[step]['time'] for step in STEPS] == [1.0, None, None]
    assert len({found[step]['residual'] for step in STEPS}) == 1


def test_wrong_arguments_are_named(tmp_path, capsys):
    (tmp_path / 'other.json').write_text('{}')
    for arguments, words in (
        ([], 'there are no problems'),
        (['--capture', str(tmp_path), '--scenes', 'peg'], "unknown scene 'peg'"),
        (['--from', str(tmp_path / 'other.json')], 'is not of'),
    ):
        with pytest.raises(SystemExit):
            friction.main(arguments)
        assert words in capsys.readouterr().err


# -- captured problems ----------------------------------------------------------------------------


def test_impulses_of_a_simulated_step_solve_its_captured_problem():
    (scene,) = scale_scenes.load('dominoes')
    world = our_engine.OurWorld(scene, 1e-3)
    assert friction.friction_capture.step_problem(world) is None
    world.step(40)
    found = friction.friction_capture.step_problem(world)
    assert len(found['mu']) >= 4 * 11 and np.max(found['force']) > 0.0
    unit, size = np.mean(np.diag(found['W'])), np.linalg.norm(found['q'])
    problem = friction.friction_problem(found['W'] / unit, found['q'] / size, found['mu'])
    assert friction.residual(problem, unit / size * found['force']) < 1e-9
    assert friction.residual(problem, 1.001 * unit / size * found['force']) > 1e-6


def test_the_largest_island_has_the_rows_of_its_contacts():
    W = np.zeros((9, 9))
    W[:3, :3], W[3:, 3:] = np.eye(3), 2.0 * np.eye(6)
    W[3, 6] = W[6, 3] = 0.5
    q = np.arange(9.0)
    found = friction.friction_capture.largest_island(
        {'W': W, 'q': q, 'mu': np.array([0.1, 0.2, 0.3]), 'force': -q}
    )
    assert_allclose(found['W'], W[3:, 3:])
    assert_allclose(found['q'], q[3:])
    assert_allclose(found['force'], -q[3:])
    assert_allclose(found['mu'], [0.2, 0.3])


def test_captured_problems_are_read_and_solved(tmp_path):
    files = friction.friction_capture.capture('dominoes', tmp_path / 'captured', steps=20)
    assert files == friction.find([str(tmp_path / 'captured')])
    assert len(files) == friction.friction_capture.KEPT
    for path in files:
        problem = friction.read(path)
        assert friction.residual(problem, friction.solve(problem, 1e-10).force) < 1e-9
