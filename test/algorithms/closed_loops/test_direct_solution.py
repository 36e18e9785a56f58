# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The augmented system of equations of motion and constraints, solved directly."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.dense import positive_definite
from support.loop_joints import ZeroDof
from support.loop_mechanisms import closed_robot, four_bar, four_bar_position, HINGE

from rbd_ros import Robot
from rbd_ros.algorithms.closed_loops.constraint_rank import constraint_rank
from rbd_ros.algorithms.closed_loops.direct_solution import direct_solution
from rbd_ros.algorithms.closed_loops.stabilization import stabilization
from rbd_ros.model import Frame, LoopJoint
from rbd_ros.model.joints import Prismatic
from rbd_ros.robot.families.loops_family import METHODS
from rbd_ros.spatial import PluckerTransform


def problem(rank, rows, seed=0, n=6):
    rng = np.random.default_rng(seed)
    K = rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, n))
    return positive_definite(rng, n), rng.normal(size=n), K, K @ rng.normal(size=n)


@pytest.mark.seed('CL06', 'CT04')
@pytest.mark.parametrize('rank, rows', [(0, 2), (2, 2), (2, 5), (4, 4), (6, 6), (6, 9), (1, 1)])
def test_solution_satisfies_both_equations(rank, rows):
    H, tau, K, k = problem(rank, rows)
    qdd, multipliers = direct_solution(H, tau, K, k, constraint_rank(K))
    assert_allclose(H @ qdd, tau + K.T @ multipliers, atol=1e-10)
    assert_allclose(K @ qdd, k, atol=1e-10)
    if rank == rows:  # the plain system is regular
        system = np.block([[H, K.T], [K, np.zeros((rows, rows))]])
        plain = np.linalg.solve(system, np.concatenate([tau, k]))
        assert_allclose(np.concatenate([qdd, -multipliers]), plain, rtol=1e-8, atol=1e-9)


@pytest.mark.seed('CT04', kind='full')
@pytest.mark.parametrize(
    'joint', [ZeroDof(), Prismatic((0.48, -0.6, 0.64))], ids=['weld', 'slide']
)
@pytest.mark.parametrize('gears', [False, True], ids=['free', 'gears'])
def test_a_constraint_given_twice_leaves_the_accelerations_as_they_are(joint, gears):
    """Residuals of both equations with H and C of the tree; lambda is shared between the two."""
    pair = ((0, 8),)
    _, robot, q, v, tau = closed_robot(13, (joint,), pair, gears, branching=0.0)
    (loop,) = robot.model.loops
    copy = LoopJoint('again', loop.predecessor, loop.successor, loop.joint)
    doubled = Robot(robot.model.with_loops([loop, copy]))
    one, two = (r.loops.forward_dynamics(q, v, tau, 'kkt') for r in (robot, doubled))
    assert one.rank == two.rank == 6 - joint.nv
    assert_allclose(two.a, one.a, rtol=1e-9, atol=1e-9)
    m = len(one.multipliers)
    assert_allclose(two.multipliers[:m], two.multipliers[m:], atol=1e-8)
    assert_allclose(two.multipliers[:m] * 2.0, one.multipliers, rtol=1e-7, atol=1e-8)
    tree = Robot(robot.model.with_loops(()))
    for r, found in ((robot, one), (doubled, two)):
        _, _, K, k = r.loops.constraints(q, v)
        rest = tree.inverse_dynamics(q, v, found.a) - tau - K.T @ found.multipliers
        assert_allclose(rest, 0.0, atol=1e-9)
        assert_allclose(K @ found.a, k, atol=1e-9)


@pytest.mark.seed('CL06')
def test_constraints_that_contradict_each_other_are_met_as_well_as_they_can_be():
    """Least squares, and the report says by how much they are missed (book 8.5)."""
    robot = four_bar(copies=2)
    (one, other) = robot.model.loops
    shift = PluckerTransform.translation((0.05, 0.02, 0.0))
    moved = LoopJoint(
        'moved', other.predecessor, Frame(3, shift * other.successor.placement), HINGE
    )
    odd = Robot(robot.model.with_loops([one, moved]))
    q, v = four_bar_position(0.7), np.zeros(3)  # closed by one loop joint, not by the other
    tree = Robot(odd.model.with_loops(()))
    delta, velocity, K, k = odd.loops.constraints(q, v)
    right = k + stabilization(delta, velocity, 0.1)
    best = np.linalg.lstsq(K, right, rcond=None)[0]
    for method in METHODS:
        found = odd.loops.forward_dynamics(q, v, np.zeros(3), method, t_stab=0.1)
        assert found.rank == 3
        assert_allclose(K @ found.a, K @ best, atol=1e-8)
        assert found.mismatch == pytest.approx(np.abs(K @ best - right).max(), rel=1e-6)
        assert found.mismatch > 1.0
        rest = tree.inverse_dynamics(q, v, found.a) - K.T @ found.multipliers
        assert_allclose(rest, 0.0, atol=1e-9)
