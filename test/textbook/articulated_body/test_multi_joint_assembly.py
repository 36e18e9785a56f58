# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Loops by assemblies of several joints at once, against the four methods of chapter 8."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import dense, linkages, random_trees
from support.loop_joints import HIGHER_PAIRS
from support.loop_mechanisms import (
    closed_at,
    crank_slider,
    crank_slider_bars,
    crank_slider_position,
    four_bar,
    four_bar_bars,
    four_bar_position,
    RELATIVE,
    two_rhombi,
    two_rhombi_position,
)
from support.textbook_trees import every_free_tree, named_tree

from rbd_ros import ModelError, Robot
from rbd_ros.algorithms.closed_loops.loop_closure import loop_closure
from rbd_ros.algorithms.closed_loops.loop_constraints import loop_constraints
from rbd_ros.algorithms.closed_loops.mobility import mobility
from rbd_ros.algorithms.closed_loops.stabilization import stabilization
from rbd_ros.algorithms.inertia_matrix.crba import crba
from rbd_ros.model import Frame, load_urdf, LoopJoint
from rbd_ros.model.joints import Fixed, Helical, Revolute, SphereInCylinder, Spherical
from rbd_ros.spatial import ForceVector, PluckerTransform
from rbd_ros.textbook.articulated_body import multi_joint_assembly
from rbd_ros.textbook.articulated_body.multi_joint_assembly import loop_assembly_dynamics
from rbd_ros.textbook.tree_dynamics.rnea_spatial import rnea_spatial

Z = (0.0, 0.0, 1.0)
HINGE = Revolute(Z)


def equations(model, q, v, tau, t_stab=None):
    """Return H, tau - C, K and k of the spanning tree and its loops."""
    lists = [np.asarray(x, dtype=float).tolist() for x in (q, v)]
    H = np.array(crba(model, lists[0]))
    C = np.array(rnea_spatial(model, *lists, [0.0] * model.nv))
    delta, speed, K, k = (np.array(x, dtype=float) for x in loop_constraints(model, *lists))
    return H, tau - C, K, k + stabilization(delta, speed, t_stab)


def check(robot, q, v, tau, t_stab=None):
    """Return accelerations and the loops' forces, against the multipliers of the spanning tree."""
    model = robot.model
    found = loop_assembly_dynamics(model, q, v, tau, t_stab=t_stab)
    H, right, K, k = equations(model, q, v, tau, t_stab)
    free, response = np.linalg.solve(H, right), np.linalg.solve(H, K.T)
    expected = free + response @ np.linalg.pinv(K @ response, 1e-10) @ (k - K @ free)
    assert_allclose(found.a, expected, atol=1e-8 * (1.0 + np.abs(expected).max()))
    balance = H @ found.a - right
    assert_allclose(K.T @ found.multipliers, balance, atol=1e-7 * (1 + np.abs(balance).max()))
    return found


@pytest.mark.seed('AB13', kind='full')
@pytest.mark.parametrize('cut', ['ground', 'rocker'])
@pytest.mark.parametrize(
    'joint', [HINGE, Spherical(), SphereInCylinder(Z)], ids=['hinge', 'ball', 'cylinder']
)
@pytest.mark.parametrize('crank', [-2.4, 0.4, 2.9])
def test_a_four_bar_moves_as_elementary_mechanics_says(cut, joint, crank, rng):
    """Also where a hinge closes the loop: of its five constraints, three make Y singular."""
    robot, bars = four_bar(joint, cut), four_bar_bars(cut)
    q, rates = four_bar_position(crank, cut), RELATIVE[cut] @ bars.spins(crank)
    tau = rng.normal(size=3)
    found = check(robot, q, 1.7 * rates, tau)
    explicit = bars.acceleration(crank, 1.7, rates @ tau)
    assert found.a[0] == pytest.approx(explicit, rel=1e-7)
    assert found.redundant == mobility(robot.model, q).overconstraint


@pytest.mark.seed('AB13', kind='full')
def test_a_crank_slider_moves_as_elementary_mechanics_says(rng):
    robot, slider = crank_slider()
    bars, _ = crank_slider_bars(slider)
    for crank in (0.3, 1.2, -2.0):
        q = crank_slider_position(crank)
        K = np.array(loop_closure(robot.model, q.tolist()).K)
        v = np.linalg.svd(K)[2][-1]
        v = v / v[0] * 1.3
        tau = rng.normal(size=3)
        found = check(robot, q, v, tau)
        explicit = bars.acceleration(crank, 1.3, v @ tau / 1.3)
        assert found.a[0] == pytest.approx(explicit, rel=1e-7)


@pytest.mark.seed('AB13', kind='full')
def test_two_loops_with_a_joint_in_common_and_where_they_are_flat():
    """Rank 4, 3 and 2 of ten constraints: Y loses rank where the mechanism gains mobility."""
    robot, tau = two_rhombi(), np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    redundant = []
    for q in (
        two_rhombi_position(robot, 0.7),
        two_rhombi_position(robot, 0.0, mode2=0.8),
        two_rhombi_position(robot, 0.0),
    ):
        redundant.append(check(robot, q, np.zeros(5), tau).redundant)
    assert redundant == [6, 7, 8]


def mechanism(seed, joints, pairs):
    """Return a random tree whose loops are closed at a state."""
    model = load_urdf(random_trees.tree(seed, 8, random_trees.SIMPLE_TYPES, branching=0.5))
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1.0, 1.0, model.nv)
    model = closed_at(model, q, joints, rng, pairs)
    K = np.array(loop_closure(model, q.tolist()).K)
    v = rng.normal(size=model.nv)
    return Robot(model), q, v - np.linalg.pinv(K) @ (K @ v), rng.normal(size=model.nv)


@pytest.mark.seed('AB13', kind='full')
@pytest.mark.parametrize('seed', [3, 17, 21])
def test_loops_of_random_trees(seed):
    """Loop joints of any type, at any place; open ones too, if all their constraints may hold."""
    tried = 0
    for joint in (HINGE, Helical(Z, 0.3), Spherical(), *HIGHER_PAIRS, Fixed()):
        robot, q, v, tau = mechanism(seed, (joint,), ((2, 8),))
        check(robot, q, v, tau)
        if mobility(robot.model, q).is_properly_constrained:
            check(robot, q + 0.01, v, tau, t_stab=0.1)
            tried += 1
    assert tried
    check(*mechanism(seed, (Spherical(), SphereInCylinder(Z)), ((0, 8), (3, 6))))


@every_free_tree
def test_trees_are_those_of_the_textbook(name):
    """With rotors, S(q), floating bases and forces on links; no joint is redundant."""
    tree = named_tree(name)
    for q, v, tau in tree.states:
        for given, forces in (({}, None), (tree.forces, tree.forces_on_bodies)):
            found = loop_assembly_dynamics(tree.model, q, v, tau, forces)
            expected = tree.book.forward_dynamics(q, v, tau, given)
            assert_allclose(found.a, expected, atol=1e-9 * np.abs(expected).max())
            assert found.redundant == 0 and found.multipliers.shape == (0,)


def test_rotors_turn_in_loops(rng):
    rods = [linkages.Rod(0), linkages.Rod(1, 0.3), linkages.Rod(2, 0.25)]
    ends = linkages.frame(0, 0.5), linkages.frame(3, 0.22)
    model = linkages.linkage(rods, [(*ends, HINGE)], seed=1, armature=0.3)
    q = linkages.closed(model, linkages.FOUR_BAR)
    v, tau = linkages.admissible(model, q, rng), rng.normal(size=3)
    found = loop_assembly_dynamics(model, q, v, tau)
    assert_allclose(found.a, linkages.kkt(model, q, v, tau)[0], rtol=1e-7, atol=1e-8)


def test_forces_on_links_act_in_loops(rng):
    robot, q, v, tau = mechanism(17, (Spherical(),), ((2, 8),))
    body = robot.model.body(5)
    force = rng.normal(size=6)
    found = loop_assembly_dynamics(
        robot.model, q, v, tau, {5: ForceVector.from_array(force.tolist())}
    )
    expected = robot.loops.forward_dynamics(q, v, tau, external_forces={body.name: force})
    assert_allclose(found.a, expected.a, atol=1e-8 * np.abs(expected.a).max())


def test_a_loop_joint_on_one_body_does_nothing():
    model = four_bar().model
    own = LoopJoint('own', *(Frame(2, PluckerTransform.identity()),) * 2, HINGE)
    robot = Robot(model.with_loops([*model.loops, own]))
    q = four_bar_position(0.6)
    found = loop_assembly_dynamics(robot.model, q, np.zeros(3), np.zeros(3))
    expected = four_bar().loops.forward_dynamics(q, np.zeros(3), np.zeros(3))
    assert_allclose(found.a, expected.a, atol=1e-9)
    assert found.multipliers.shape == (10,) and not found.multipliers[5:].any()


def test_gears_are_rejected_by_name():
    tree = named_tree('branches, gears')
    with pytest.raises(ModelError, match='mimic joints'):
        loop_assembly_dynamics(tree.model, *tree.states[0])


def test_a_body_without_inertia_is_named():
    links = [
        {'type': 'revolute', 'mass': 1.0, 'inertia': [0.1, 0, 0, 0.1, 0, 0.1]},
        {'type': 'prismatic', 'mass': 1.0, 'xyz': [0.3, 0.0, 0.0]},
    ]
    model = load_urdf(random_trees.chain(links))
    with pytest.raises(ModelError, match="'link2'"):
        loop_assembly_dynamics(model, *np.zeros((3, 2)))


def test_rank_does_not_depend_on_units(rng):
    """Forces and couples, large and small; and one that moves nothing at all."""
    units = np.diag([1e-7, 1.0, 1e5])
    Y = units @ dense.positive_definite(rng, 3) @ units
    found, nullity = multi_joint_assembly._pseudo_inverse(Y, 1e-10)
    assert nullity == 0
    assert_allclose(units @ found @ Y @ np.linalg.inv(units), np.eye(3), atol=1e-9)
    found, nullity = multi_joint_assembly._pseudo_inverse(np.diag([0.0, 4.0]), 1e-10)
    assert nullity == 1
    assert_allclose(found, np.diag([0.0, 0.25]), atol=1e-15)
    for small, expected in ((2e-10, 0), (0.5e-10, 1)):
        Y = 9.0 * np.array([[1.0, 1.0 - small], [1.0 - small, 1.0]])
        assert multi_joint_assembly._pseudo_inverse(Y, 1e-10)[1] == expected
