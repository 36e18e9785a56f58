# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Problems of contact with friction: rejections, and residuals by hand."""

import re

import numpy as np
from numpy.testing import assert_allclose
import pytest

from rbd_ros.constraints import friction_problem, residuals, solve_friction

EYE = np.eye(4)
FREE = np.array([-1.0, 0.5, 0.0, 0.2])


@pytest.mark.parametrize(
    ('arguments', 'words'),
    [
        ((np.eye(3), FREE, [0.5]), 'G must have shape'),
        ((EYE, FREE[:3], [0.5]), 'G must have shape'),
        ((EYE, FREE[None], [0.5]), 'G must have shape'),
        ((EYE, FREE, [0.5, 0.5]), 'n = 2 contacts'),
        ((EYE, FREE, 0.5), 'friction must have shape'),
        ((EYE, FREE, [[0.5, 0.5, 0.5]]), 'friction must have shape'),
        ((EYE * np.nan, FREE, [0.5]), 'G must be finite'),
        ((EYE, np.full(4, np.inf), [0.5]), 'g must be finite'),
        ((EYE, FREE, [np.nan]), 'friction must be finite'),
        ((EYE, FREE, [[0.5, -0.1]]), 'friction of contact 0 is negative'),
        ((EYE, FREE, [0.5], [0.0, 0.0]), r'low must have shape \(1,\)'),
        ((EYE, FREE, [0.5], [0.0], 1.0), r'high must have shape \(1,\)'),
        ((EYE, FREE, [0.5], [1.0], [0.0]), 'low must not be above high'),
        ((EYE, FREE, [0.5], [np.nan]), 'low must not be above high'),
        ((EYE, FREE, [0.5], [np.inf]), 'must allow a finite force'),
        ((EYE, FREE, [0.5], [-np.inf], [-np.inf]), 'must allow a finite force'),
        ((EYE, FREE, [0.5], None, None, np.ones(3)), 'compliance must be one number'),
        ((EYE, FREE, [0.5], None, None, np.nan), 'compliance must be finite'),
        ((EYE, FREE, [0.5], None, None, [0.0, 0.0, -1.0, 0.0]), 'compliance of row 2 is negative'),
        ((EYE + 1e-3 * np.eye(4, k=1), FREE, [0.5]), 'G must be symmetric'),
        ((np.diag([1.0, 1.0, 1.0, -1.0]), FREE, [0.5]), 'G must be positive-semidefinite'),
        ((EYE - 0.3, FREE, [0.5]), 'G must be positive-semidefinite'),
    ],
)
def test_a_malformed_problem_is_rejected(arguments, words):
    with pytest.raises(ValueError, match=words):
        friction_problem(*arguments)


@pytest.mark.parametrize('scale', [1.0, 1e6])
def test_a_matrix_that_was_printed_with_few_digits_needs_its_rounding_and_is_solved(scale):
    """A box on nine points: rank 6 of 27, and eigenvalues below zero."""
    rng = np.random.default_rng(3)
    points = np.c_[rng.uniform(-0.3, 0.3, (9, 2)), np.full(9, -0.1)]
    rows = [
        np.r_[np.cross(point, axis), axis] for point in points for axis in np.eye(3)[[2, 0, 1]]
    ]
    J = np.array(rows)
    digits = np.vectorize(lambda value: float(f'{value:.6e}'))
    G = digits(scale * J @ np.diag([90.0, 80.0, 60.0, 1.0, 1.0, 1.0]) @ J.T)
    g = scale * J @ [0.5, -0.3, 0.2, 0.4, 0.3, -1.0]
    with pytest.raises(ValueError, match=r'least eigenvalue is -.*`rounding=') as error:
        friction_problem(G, g, [0.5] * 9)
    cure = float(re.search('rounding=([^`]*)`', str(error.value))[1])
    for rounding in (cure, 1e-6):
        problem = friction_problem(G, g, [0.5] * 9, rounding=rounding)
        found = solve_friction(problem)
        assert found.converged and found.residuals.contact < 1e-9 * np.abs(g).max()
        assert_allclose(G @ found.force + g, found.velocity, rtol=0.0, atol=1e-5 * np.abs(g).max())
        assert np.linalg.eigvalsh(problem.G)[0] > -1e-13 * np.abs(G).max()
    with pytest.raises(ValueError, match='positive-semidefinite'):  # no more than that
        friction_problem(G - 1e-4 * scale * np.eye(27), g, [0.5] * 9, rounding=1e-6)
    with pytest.raises(ValueError, match='rounding must be'):
        friction_problem(G, g, [0.5] * 9, rounding=-1e-6)


def test_small_asymmetry_of_light_and_heavy_bodies_is_rounding():
    G = np.diag([1e6, 1e6, 1e6, 1e-6])
    G[0, 1], G[1, 0] = 1.0, 1.0 + 1e-5
    assert (friction_problem(G, FREE, [0.5]).G == friction_problem(G, FREE, [0.5]).G.T).all()
    G[2, 3], G[3, 2] = 0.5, 0.5 + 1e-5
    with pytest.raises(ValueError, match='symmetric'):
        friction_problem(G, FREE, [0.5])


def test_redundant_contacts_are_a_problem():
    J = np.vstack([np.eye(3)] * 5)
    assert friction_problem(J @ J.T, np.zeros(15), np.ones(5)).contacts == 5


def test_a_problem_keeps_its_own_arrays():
    G, g, mu = np.eye(3), np.array([-1.0, 0.0, 0.0]), np.array([[0.5, 0.5]])
    problem = friction_problem(G, g, mu)
    G[0, 0] = g[0] = mu[0, 0] = 7.0
    assert problem.G[0, 0] == 1.0 and problem.g[0] == -1.0 and problem.friction[0, 0] == 0.5


def test_residuals_are_those_of_contactbench():
    """Written out for two contacts, of which each is the worse one somewhere."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        A = rng.normal(size=(6, 6))
        G, g, mu = A @ A.T, rng.normal(size=6), rng.uniform(0.1, 1.0, 2)
        force = rng.normal(size=6)
        v = G @ force + g
        signorini, conic, contact, cone, dual = [], [], [], [], []
        for c in range(2):
            f, u = force[3 * c : 3 * c + 3], v[3 * c : 3 * c + 3]
            speed = np.hypot(u[1], u[2])
            signorini.append(abs(u[0] * f[0]))
            conic.append(abs(u @ f))
            contact.append(abs(f @ (u + np.array([mu[c] * speed, 0.0, 0.0]))))
            cone.append(max(0.0, np.hypot(f[1], f[2]) / mu[c] - f[0]))
            dual.append(max(0.0, mu[c] * speed - (u[0] + mu[c] * speed)))
        expected = [max(each) for each in (signorini, conic, contact, cone, dual)]
        assert_allclose(residuals(friction_problem(G, g, mu), force)[:5], expected, atol=1e-12)


def test_residuals_with_two_coefficients_and_compliance():
    problem = friction_problem(np.eye(3), [-1.0, 0.3, 0.4], [[0.5, 0.25]], compliance=[1, 0, 0])
    found = residuals(problem, [1.0, 0.5, 0.25])
    # v + R lambda = (1, 0.8, 0.65)
    assert_allclose(found.signorini, 1.0)
    assert_allclose(found.conic, 1.0 + 0.4 + 0.1625)
    assert_allclose(found.contact, 1.5625 + np.hypot(0.4, 0.1625))
    assert_allclose(found.cone, np.sqrt(2.0) - 1.0)
    assert found.dual == found.rows == 0.0


def test_friction_without_a_coefficient_is_outside_the_cone():
    problem = friction_problem(np.eye(3), [-1.0, 0.0, 0.0], [[0.5, 0.0]])
    assert residuals(problem, [1.0, 0.0, 0.0]).cone == 0.0
    assert_allclose(residuals(problem, [0.0, 0.0, 0.1]).cone, 0.1)


@pytest.mark.parametrize(
    ('low', 'high', 'force', 'velocity', 'expected'),
    [
        (0.0, np.inf, 0.0, 0.5, 0.0),  # an open limit
        (0.0, np.inf, 2.0, 0.0, 0.0),
        (0.0, np.inf, 2.0, 0.5, 0.5),  # pushes though it opens
        (0.0, np.inf, 0.1, 0.5, 0.1),
        (0.0, np.inf, -0.2, 0.0, 0.2),
        (0.0, np.inf, 0.0, -0.3, 0.3),
        (-np.inf, np.inf, -4.0, 0.0, 0.0),  # a loop
        (-np.inf, np.inf, -4.0, 0.1, 0.1),
        (-1.0, 1.0, 1.0, -0.7, 0.0),  # dry friction brakes
        (-1.0, 1.0, 1.0, 0.7, 0.7),
        (-1.0, 1.0, -1.0, 0.7, 0.0),
        (-1.0, 1.0, 1.4, 0.0, 0.4),
    ],
)
def test_residuals_of_rows(low, high, force, velocity, expected):
    none = np.zeros((0, 2))
    problem = friction_problem([[1.0]], [velocity - force], none, [low], [high])
    assert_allclose(residuals(problem, [force]).rows, expected, atol=1e-12)


def test_forces_of_another_shape_are_rejected():
    with pytest.raises(ValueError, match=r'force must have shape \(4,\)'):
        residuals(friction_problem(EYE, FREE, [0.5]), np.zeros(3))
