# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Servos, gravity and stages of robots with loops, against dense systems with multipliers."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.linalg import null_space
from support import loop_mechanisms
from support.crawling import substep

from rbd_ros.model.joints import Spherical
from rbd_ros.simulation import Physics
from rbd_ros.simulation.loops.loop_drives import balance_by_held, closed_hybrid_dynamics
from rbd_ros.simulation.stepping.joint_law import FORWARD, STICK
from rbd_ros.simulation.stepping.linear import copy
from rbd_ros.simulation.stepping.runge_kutta_step import accelerate, travel

n = 8
h = 1e-3


class Looped:
    """A tree with a loop in motion: H, C and K a = k at its state."""

    def __init__(self, seed):
        closed = loop_mechanisms.closed_robot(seed, (Spherical(),), ((1, 8),), branching=0.0)
        _, robot, q, v, _ = closed
        self.physics = Physics(robot, h, 'rk4')
        self.physics.reset(q, v)
        self.model, self.state = self.physics.model, self.physics.state
        self.problem = self.physics.fields.work.problem
        # What earlier steps have left, where more was free, is not looked at.
        self.problem.loops.basis[:] = self.problem.loops.motions[:] = np.nan
        q, v = self.state.q, self.state.v
        self.H, self.C = robot.mass_matrix(q), robot.bias_force(q, v)
        self.K = np.array(robot.loops.closure(q).K)
        # K v stays zero: k = -dK/dt v, by differences.
        step = 1e-5
        K = [robot.loops.closure(robot.integrate(q, v, s * step)).K for s in (1, -1)]
        self.k = -(K[0] - K[1]) @ v / (2 * step)

    def solve(self, held, known):
        """Return the accelerations, forces of held joints and K^T lambda.

        Where the others' are known.
        """
        m, r = len(held), len(self.K)
        E = np.eye(n)[held]
        matrix = np.block(
            [
                [self.H, -E.T, -self.K.T],
                [E, np.zeros((m, m + r))],
                [self.K, np.zeros((r, m + r))],
            ]
        )
        force = known.copy()
        force[held] = 0.0
        found = np.linalg.solve(matrix, np.r_[force - self.C, known[held], self.k])
        force[held] = found[n : n + m]
        return found[:n], force, self.K.T @ found[n + m :]


@pytest.fixture(params=[1, 2, 3])
def looped(request):
    return Looped(request.param)


@pytest.mark.parametrize('held', [[], [4], [1, 4], [0, 3, 6]])
def test_servos_exert_the_forces_of_prescribed_accelerations(looped, held, rng):
    known, forward, found = rng.normal(size=n), np.ones(n), np.empty(2 * n)
    forward[held] = 0.0
    closed_hybrid_dynamics(looped.model, looped.state, looped.problem, known, forward, found)
    a, force, _ = looped.solve(held, known)
    assert_allclose(found[:n], a, rtol=1e-5, atol=1e-5)
    assert_allclose(found[n:], force, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize('held', [[4], [1, 4], [0, 3, 6]])
def test_held_joints_balance_the_part_of_a_load_that_they_can(looped, held, rng):
    """They do its work on all motions but those that leave them where they are."""
    load, forward = rng.normal(size=n), np.ones(n)
    forward[held] = 0.0
    borne = load.copy()
    balance_by_held(looped.model, looped.state, looped.problem, forward, borne)
    assert not borne[np.setdiff1d(np.arange(n), held)].any()
    motions = null_space(looped.K)
    still = null_space(np.vstack([looped.K, np.eye(n)[held]]))
    moving = motions @ null_space(still.T @ looped.H @ motions) if still.size else motions
    assert moving.shape[1] == len(held)
    assert_allclose(moving.T @ borne, moving.T @ load, atol=1e-8)


@pytest.mark.parametrize('held', [[], [4], [0, 3]])
def test_stages_keep_the_loops_closed(looped, held, rng):
    work, state = looped.physics.fields.work, looped.state
    model = looped.model._replace(explicit_damping=rng.uniform(0.1, 1.0, n))
    stages = work.integrator
    work.dynamics.applied_force[:], stages.held_force[:] = rng.normal(size=(2, n))
    state.segment[:] = FORWARD
    state.segment[held] = STICK
    accelerate(substep(looped.physics)._replace(model=model), len(held))
    known = work.dynamics.applied_force + stages.held_force - model.explicit_damping * state.v
    known[held] = 0.0
    assert_allclose(stages.acceleration, looped.solve(held, known)[0], rtol=1e-5, atol=1e-5)


def test_the_force_of_the_loops_is_that_at_the_beginning_of_a_step(looped, rng):
    work, state = looped.physics.fields.work, looped.state
    state.applied[:] = rng.normal(size=n)
    for source, target in (
        (state.applied, work.dynamics.applied_force),
        (state.q, work.integrator.q),
        (state.v, work.integrator.v),
    ):
        copy(source, target)
    work.integrator.held_force[:] = 0.0
    known = state.applied - looped.model.explicit_damping * state.v
    travel(substep(looped.physics), 0, False)
    assert_allclose(state.loop_jacobian, looped.K, atol=1e-12)
    assert_allclose(state.loop_force, looped.solve([], known)[2], rtol=1e-5, atol=1e-5)
