# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Equations of motion in the null space of the constraints."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.loop_joints import ZeroDof
from support.loop_mechanisms import closed_robot
from test_closed_loop_motion import CRANKS, every_mechanism, mechanism
from test_direct_solution import problem

from rbd_ros import Robot
from rbd_ros.algorithms.closed_loops.constraint_rank import constraint_rank
from rbd_ros.algorithms.closed_loops.null_space import null_space_solution, particular_solution
from rbd_ros.model.joints import Prismatic, Spherical


@pytest.mark.seed('CL08', 'FO09')
@pytest.mark.parametrize('rank, rows', [(0, 2), (2, 2), (2, 5), (4, 4), (6, 6), (6, 9)])
def test_solution_satisfies_both_equations(rank, rows):
    H, tau, K, k = problem(rank, rows, 3)
    independent = constraint_rank(K)
    assert_allclose(K @ particular_solution(k, independent), k, atol=1e-12)
    qdd, multipliers = null_space_solution(H, tau, K, k, independent)
    assert_allclose(H @ qdd, tau + K.T @ multipliers, atol=1e-10)
    assert_allclose(K @ qdd, k, atol=1e-10)


@pytest.mark.seed('CL08', 'FO09', kind='full')
@pytest.mark.parametrize('gears', [False, True], ids=['free', 'gears'])
@pytest.mark.parametrize(
    'joints, pairs',
    [
        ((ZeroDof(),), ((0, 9),)),
        ((Spherical(), Prismatic((0.48, -0.6, 0.64))), ((0, 5), (2, 9))),
        ((Prismatic((0.0, 0.0, 1.0)),) * 2, ((1, 9), (1, 9))),
    ],
)
def test_motion_in_the_null_space_is_that_of_the_other_methods(joints, pairs, gears):
    """K G = 0, G^T H G positive definite, rank test by singular values; the same qdd, lambda."""
    _, robot, q, v, tau = closed_robot(13, joints, pairs, gears, bodies=9, branching=0.0)
    K = robot.loops.closure(q).K
    independent = constraint_rank(K)
    G = independent.G
    assert G.shape[1] == robot.nv - np.linalg.matrix_rank(K, 1e-8)
    assert_allclose(K @ G, 0.0, atol=1e-12)
    H = Robot(robot.model.with_loops(())).mass_matrix(q)
    assert np.all(np.linalg.eigvalsh(G.T @ H @ G) > 1e-4)
    one, other = (robot.loops.forward_dynamics(q, v, tau, x) for x in ('null_space', 'forces'))
    assert_allclose(one.a, other.a, atol=1e-9 * (1.0 + np.abs(other.a).max()))
    assert_allclose(
        one.multipliers, other.multipliers, atol=1e-8 * (1.0 + np.abs(other.multipliers).max())
    )


@pytest.mark.seed('CT05', kind='full')
@every_mechanism
def test_projection_by_explicit_constraints_gives_the_same_motion(name):
    """H_G, C_G of the explicit solution: qdd of the augmented system, energy, power (eq 3.20)."""
    linkage = mechanism(name)
    robot, bars, gamma, rates = linkage
    tree = Robot(robot.model.with_loops(()))
    rng = np.random.default_rng(4)
    for y in CRANKS:
        q, G, yd, tau = gamma(y), rates(y), rng.normal(), rng.normal(size=3)
        g = linkage.g(y, yd)
        H, C = tree.mass_matrix(q), tree.bias_force(q, G * yd)
        H_G, C_G, u = G @ H @ G, G @ (C + H @ g), G @ tau
        assert H_G > 0.0
        assert_allclose(H_G, bars.inertia(y), rtol=1e-10)
        ydd = (u - C_G) / H_G
        found = robot.loops.forward_dynamics(q, G * yd, tau, 'kkt')
        assert_allclose(found.a, G * ydd + g, rtol=1e-8, atol=1e-8)
        energy = tree.energy(q, G * yd)
        assert energy.kinetic == pytest.approx(0.5 * H_G * yd**2, rel=1e-12)
        assert u * yd == pytest.approx(tau @ (G * yd), rel=1e-12)
        # Power of u: rate of the energy along the motion that the loop dynamics says
        h = 1e-4

        def total(t, y=y, yd=yd, ydd=ydd):
            there = y + yd * t + 0.5 * ydd * t * t
            return tree.energy(gamma(there), rates(there) * (yd + ydd * t)).total

        power = (total(h) - total(-h)) / (2.0 * h)
        assert power == pytest.approx(u * yd, rel=1e-5, abs=1e-5)
