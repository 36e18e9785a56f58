# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The maximal-coordinate system against textbooks on trees, and multipliers on loops."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import linkages
from support.all_joints import every_joint, tree as tree_of
from support.states import every_robot, named_robot, random_state
from support.textbook_trees import every_free_tree, every_tree, named_tree

from rbd_ros.algorithms.inertia_matrix.crba import crba
from rbd_ros.algorithms.inverse_dynamics.joint_reactions import joint_reactions
from rbd_ros.algorithms.kinematics.kinematics import body_transforms
from rbd_ros.model.joints import Floating, Spherical
from rbd_ros.spatial import ForceVector
from rbd_ros.textbook.closed_loops.global_system import (
    analyze,
    by_constraint_forces,
    by_motion_subspace,
    Factors,
    global_system,
    SingularSystemError,
    solve_global_system,
)
from rbd_ros.textbook.tree_dynamics.rnea_spatial import rnea_spatial

BALL = Spherical()


def independent(model, qdd):
    return np.array(model.independent_velocity(qdd.tolist()))


def close(found, expected, tolerance=1e-9):
    scale = max(1.0, np.abs(expected).max())
    assert np.abs(np.asarray(found) - expected).max() < tolerance * scale


@pytest.mark.seed('CT15', 'FM13', 'CL20', kind='part')
@every_tree
def test_accelerations_are_the_textbooks(name):
    """Forces on links, rotors, gears, a gravity of any direction: equal to H^-1 (tau - C)."""
    tree = named_tree(name)
    for q, v, tau in tree.states:
        system = global_system(tree.model, q, v, tau, tree.forces_on_bodies)
        found = independent(tree.model, solve_global_system(system).qdd)
        expected = tree.book.forward_dynamics(q, v, tau, tree.forces)
        close(found, expected, 1e-13 * np.linalg.cond(tree.book.mass_matrix(q)))


@pytest.mark.seed('CT15', 'FM13', kind='part')
@every_robot
def test_accelerations_of_robots_are_those_of_their_kernels(name):
    robot = named_robot(name)
    q, v, tau = random_state(robot)
    found = solve_global_system(global_system(robot.model, q, v, tau))
    expected = robot.forward_dynamics(q, v, tau)
    tolerance = 1e-13 * np.linalg.cond(robot.mass_matrix(q))
    close(independent(robot.model, found.qdd), expected, max(tolerance, 1e-10))


@pytest.mark.seed('CT15', kind='part')
@every_joint
def test_joints_of_every_type(joint):
    model = tree_of(joint, 0)
    rng = np.random.default_rng(5)
    q = np.concatenate(
        [body.joint.sample(rng.random(body.joint.uniforms).tolist(), -1.0, 1.0)
         for body in model.bodies]
    )  # fmt: skip
    v, tau = rng.normal(size=(2, model.nv))
    found = solve_global_system(global_system(model, q, v, tau))
    H = np.array(crba(model, q.tolist())).reshape(model.nv, model.nv)
    bias = np.array(rnea_spatial(model, q.tolist(), v.tolist(), [0.0] * model.nv))
    close(found.qdd, np.linalg.solve(H, tau - bias))


@pytest.mark.seed('CT15', kind='part')
@every_tree
def test_forces_across_joints_are_the_reactions(name):
    """F = T_a tau + T lambda, for any T_a, which only divides it, and with gears.

    A gear's teeth push at its follower and at its master.
    """
    tree = named_tree(name)
    model = tree.model
    q, v, tau = tree.states[0]
    found = solve_global_system(global_system(model, q, v, tau, tree.forces_on_bodies))
    at, rates = model.tree_position(q.tolist()), model.tree_velocity(v.tolist())
    expected = joint_reactions(model, at, rates, found.qdd.tolist(), tree.forces_on_bodies)
    X0 = body_transforms(model, at)
    for i, _ in model.outward():
        close(found.f[i - 1], X0[i].inverse_apply(expected[i]).to_array(), 1e-10)


@pytest.mark.seed('FO10', kind='full')
@every_free_tree
def test_all_three_ways_to_solve_it_agree(name):
    """By S (eq 26), by T (eq 28), and both unknowns at once (eq 27)."""
    tree = named_tree(name)
    q, v, tau = tree.states[0]
    system = global_system(tree.model, q, v, tau, tree.forces_on_bodies)
    at_once = solve_global_system(system)
    expected = tree.book.forward_dynamics(q, v, tau, tree.forces)
    for solve in (by_motion_subspace, by_constraint_forces):
        found = solve(system)
        close(found.qdd, expected, 1e-9)
        close(found.a, at_once.a)
        close(found.constraint_forces, at_once.constraint_forces)
        close(found.f, at_once.f)
    # T^T S = 0 for the composite subspaces, and S^T I S with rotors is the mass matrix
    S = np.linalg.solve(system.P.T.toarray(), system.S.toarray())
    assert np.abs(system.N.T @ S).max() < 1e-13
    assert_allclose(S.T @ system.A @ S, tree.book.mass_matrix(q), rtol=1e-11, atol=1e-11)


def test_projection_is_for_trees():
    model = linkages.four_bar(BALL)
    q = linkages.closed(model, linkages.FOUR_BAR)
    with pytest.raises(ValueError, match='tree'):
        by_motion_subspace(global_system(model, q, np.zeros(3), np.zeros(3)))


@pytest.mark.seed('CT15', kind='part')
def test_matrices_are_those_of_the_book():
    """P of ones and minus ones, block-diagonal I and T; sizes 6 N_B and n_c."""
    model = linkages.four_bar()
    q = linkages.closed(model, linkages.FOUR_BAR)
    system = global_system(model, q, np.zeros(3), np.zeros(3))
    graph = np.array([[1, -1, 0, 0], [0, 1, -1, 0], [0, 0, 1, 1]])  # bodies by joints
    assert np.array_equal(system.P.toarray(), np.kron(graph, np.eye(6)))
    assert system.T.shape == (24, 20) and system.T_a.shape == system.S.shape == (24, 3)
    assert system.matrix.shape == (38, 38)
    assert abs(system.matrix - system.matrix.T).max() < 1e-15
    assert_allclose((system.T_a.T @ system.S).toarray(), np.eye(3), atol=1e-14)
    tree_rows = system.T.toarray()[:18, :15]
    assert np.abs(tree_rows.T @ system.S.toarray()[:18]).max() < 1e-15
    X0 = body_transforms(model, q.tolist())
    I2 = X0[2].inverse_apply(model.body(2).inertia).matrix()
    I = system.I.toarray()
    assert_allclose(I[6:12, 6:12], I2)
    assert not np.any(I[6:12, :6]) and not np.any(I[6:12, 12:])


def spatial_loop():
    """Return the seven hinges in general position."""
    rng = np.random.default_rng(12)
    rods = []
    for i in range(6):
        E = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        E *= np.sign(np.linalg.det(E))
        X = linkages.PluckerTransform(tuple(map(tuple, E.tolist())), tuple(rng.normal(size=3)))
        rods.append(linkages.Rod(i, X))
    tree = linkages.linkage(rods)
    X0 = body_transforms(tree, [0.3] * 6)
    ends = linkages.Frame(0, X0[6]), linkages.frame(6)
    return linkages.linkage(rods, [(*ends, linkages.HINGE)])


@pytest.mark.seed('CT15', 'CL20', kind='full')
@pytest.mark.parametrize('armature', [0.0, 0.3])
def test_accelerations_on_a_loop_are_those_of_multipliers(rng, armature):
    model = spatial_loop()
    model = model.with_armature({body.joint_name: armature for body in model.bodies})
    q = np.full(6, 0.3)
    v = linkages.admissible(model, q, rng)
    assert np.abs(v).max() > 0.1
    tau = rng.normal(size=6)
    forces = {3: some_force(rng), 6: some_force(rng)}
    found = solve_global_system(global_system(model, q, v, tau, forces))
    expected, multipliers = linkages.kkt(model, q, v, tau, forces)
    close(found.qdd, expected)
    close(found.constraint_forces[-5:], multipliers, 1e-8)


def some_force(rng):
    return ForceVector.from_array(rng.normal(size=6).tolist())


@pytest.mark.seed('CL21', kind='part')
@pytest.mark.parametrize('make', [linkages.four_bar, linkages.kites])
def test_redundant_constraints_are_rejected(make):
    model = make()
    q = linkages.kites_closed(0.5) if make is linkages.kites else linkages.FOUR_BAR
    q = linkages.closed(model, q)
    with pytest.raises(SingularSystemError, match='redundant'):
        solve_global_system(global_system(model, q, np.zeros(model.nv), np.zeros(model.nv)))


def test_a_body_without_inertia_is_rejected():
    model = linkages.linkage([linkages.Rod(0), linkages.Rod(1, 0.3)], massless=(2,))
    with pytest.raises(SingularSystemError, match='inertia'):
        solve_global_system(global_system(model, [0.1, 0.2], [0.0, 0.0], [0.0, 0.0]))


# -- sparsity


@pytest.mark.seed('CL21', 'FM13', kind='part')
@every_free_tree
def test_nothing_fills_in_on_trees(name):
    tree = named_tree(name)
    model = tree.model
    q, v, tau = tree.states[0]
    system = global_system(model.with_armature({b.joint_name: 0.0 for b in model.bodies}), q, v,
                           tau)  # fmt: skip
    found = analyze(system)
    assert found.fill_in == 0
    assert sorted(found.order) == list(range(len(system.blocks)))


@pytest.mark.seed('CL21', kind='part')
@pytest.mark.parametrize('bodies', [3, 4, 7])
def test_fill_in_of_a_ring_is_counted(bodies):
    """Bodies and joints alternate in a ring of m blocks: m - 3 fill in, in any order."""
    rods = [linkages.Rod(i, 0.3, BALL if i else Floating()) for i in range(bodies)]
    loop = (linkages.frame(1, 0.1), linkages.frame(bodies, 0.2), BALL)
    model = linkages.linkage(rods, [loop])
    zero = np.zeros(model.nv)
    system = global_system(model, linkages.neutral(model), zero, zero)
    found = analyze(system)
    assert found.fill_in == 2 * bodies - 3
    place = {n: k for k, n in enumerate(found.order)}
    ends = [(i - 1, i) for i in range(1, bodies)] + [(0, bodies - 1)]
    for joint, pair in enumerate(ends):
        assert min(place[i] for i in pair) < place[bodies + joint], 'no joint is the first'


def sizes(count, make):
    """Return the nonzeros of the matrix, of its factors, and of the mass matrix."""
    model = make(count)
    q, zero = linkages.neutral(model), np.zeros(model.nv)
    system = global_system(model, q, zero, zero)
    return system.matrix.nnz, Factors(system).nonzeros, np.count_nonzero(crba(model, q.tolist()))


def chain(count):
    return linkages.linkage([linkages.Rod(i, 0.3) for i in range(count)], seed=8)


def test_nonzeros_of_both_factors_count():
    """Those that elimination leaves of the pattern, in the order found, and ones of L."""
    model = chain(10)
    system = global_system(model, linkages.neutral(model), *np.zeros((2, model.nv)))
    order = [row for n in analyze(system).order for row in system.blocks[n]]
    pattern = system.matrix.toarray()[np.ix_(order, order)] != 0.0
    for k in range(len(pattern)):
        pattern[k, k] = True
        pattern[k + 1 :, k + 1 :] |= np.outer(pattern[k + 1 :, k], pattern[k, k + 1 :])
    assert Factors(system).nonzeros == np.count_nonzero(pattern) + len(pattern)


@pytest.mark.seed('FM13', kind='full')
def test_a_chain_takes_linear_effort():
    """Nonzeros of matrix and factors per link stay the same; those of H do not."""
    found = np.array([sizes(n, chain) for n in (10, 20, 40)])
    steps = np.diff(found, axis=0)
    assert_allclose(steps[1, :2], 2 * steps[0, :2], rtol=0.01)
    assert found[2, 2] == 40**2


@pytest.mark.seed('CL20', 'CL21', kind='full')
def test_a_ladder_takes_linear_effort():
    """Figure 8.4: nonzeros grow as the number of loops, those of the mass matrix as its square.

    Balls leave the loops properly constrained. The solution is that of multipliers on the
    spanning tree.
    """
    found = np.array([sizes(n, lambda k: linkages.ladder(k, BALL)) for n in (8, 16, 32, 64)])
    steps = np.diff(found, axis=0)
    assert_allclose(steps[1:, :2], 2 * steps[:-1, :2], rtol=0.05)
    assert np.all(steps[1:, 2] > 3.5 * steps[:-1, 2])
    model = linkages.ladder(8, BALL)
    rng = np.random.default_rng(3)
    q = linkages.neutral(model)
    v = linkages.admissible(model, q, rng)
    tau = rng.normal(size=model.nv)
    system = global_system(model, q, v, tau)
    expected, _ = linkages.kkt(model, q, v, tau)
    assert np.abs(v).max() > 0.1
    analysis = analyze(system)
    close(solve_global_system(system, analysis).qdd, expected, 1e-8)
    factors = Factors(system, analysis)
    for right in rng.normal(size=(3, len(system.right))):
        x = factors.solve(right)
        # pivots are not sought: a step of refinement makes up for it
        assert np.abs(system.matrix @ x - right).max() < 1e-14 * np.abs(x).max()
