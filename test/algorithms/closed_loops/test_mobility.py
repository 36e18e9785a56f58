# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Mobility, overconstraint, variable mobility and ambiguity, by the book's numbers."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import linkages, random_trees
from support.all_joints import example_id, JOINTS

from rbd_ros import Robot
from rbd_ros.algorithms.closed_loops.elimination import eliminate
from rbd_ros.algorithms.closed_loops.mobility import mobility, mobility_changes
from rbd_ros.model import Frame, load_urdf, LoopJoint
from rbd_ros.model.joints import Fixed, Planar, Spherical
from rbd_ros.spatial import PluckerTransform
from rbd_ros.textbook.closed_loops.loop_clusters import eliminate_by_clusters

BALL = Spherical()
LOWER_PAIRS = [joint for joint in JOINTS if joint.is_lower_pair and joint.nv < 6]


@pytest.mark.seed('CL13', 'CL16', kind='full')
def test_a_planar_loop_of_four_hinges():
    """Planar 4R in space: n = 3, n_c = 5, r = 2, mobility 1 (book 8.10)."""
    model = linkages.four_bar()
    found = mobility(model, linkages.closed(model, linkages.FOUR_BAR))
    assert (found.dofs, found.constraints, found.rank) == (3, 5, 2)
    assert found.mobility == 1
    assert found.total_dofs == 4 and found.loops == 1
    assert found.generic(dimensions=2) == 4 - 3 == 1
    assert found.generic() == 4 - 6 == -2
    assert found.overconstraint == 3 and not found.is_properly_constrained
    assert found.excess == 3
    assert found.mobility == found.generic() + found.overconstraint  # eq 8.55
    (loop,) = found.redundant_loops
    assert loop == ('loop1', 5, 3)
    assert "'loop1' (3 of 5)" in found.report and 'mobility 1' in found.report
    with pytest.raises(ValueError, match='2 or 3'):
        found.generic(4)


@pytest.mark.seed('CL13', kind='part')
def test_a_properly_constrained_loop_keeps_to_the_formula_in_space(rng):
    """Seven hinges in general position in one loop: mobility 7 - 6 = 1."""
    rods = []
    for i in range(6):
        E = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        E *= np.sign(np.linalg.det(E))
        X = linkages.PluckerTransform(tuple(map(tuple, E.tolist())), tuple(rng.normal(size=3)))
        rods.append(linkages.Rod(i, X))
    tree = linkages.linkage(rods)
    q = rng.uniform(-1.0, 1.0, 6)
    # closed where the last rod happens to be
    from rbd_ros.algorithms.kinematics.kinematics import body_transforms

    X0 = body_transforms(tree, q.tolist())
    ends = linkages.Frame(0, X0[6]), linkages.frame(6, 0.0)
    model = linkages.linkage(rods, [(*ends, linkages.HINGE)])
    found = mobility(model, q)
    assert (found.total_dofs, found.rank) == (7, 5)
    assert found.mobility == found.generic() == 1
    assert found.is_properly_constrained and found.excess == 0 and not found.redundant_loops
    assert 'redundant' not in found.report


@pytest.mark.seed('CL16', kind='part')
def test_a_ball_takes_two_redundant_constraints_away():
    model = linkages.four_bar(BALL)
    found = mobility(model, linkages.closed(model, linkages.FOUR_BAR))
    assert (found.constraints, found.rank, found.overconstraint) == (3, 2, 1)
    assert found.mobility == 1
    # welded to the ground, the rocker holds everything
    welded = linkages.four_bar(Fixed())
    q = linkages.closed(model, linkages.FOUR_BAR)
    assert mobility(welded, q).mobility == 0
    assert mobility(welded, q).rank == 3


@pytest.mark.seed('CL16', kind='part')
def test_the_report_names_the_loops_that_could_do_with_less():
    """A four-bar beside a loop that is properly constrained within the plane of its own."""
    plane = Planar.about((0.0, 0.0, 1.0))
    rods = [linkages.Rod(0), linkages.Rod(1, 0.3), linkages.Rod(2, 0.25), linkages.Rod(0, 2.0)]
    loops = [
        (linkages.frame(0, 0.5), linkages.frame(3, 0.22), linkages.HINGE),
        (linkages.frame(0, 2.0), linkages.frame(4), BALL),
        (linkages.frame(0, 2.0), linkages.frame(4), plane),
    ]
    model = linkages.linkage(rods, loops)
    q = linkages.closed(model, [*linkages.FOUR_BAR, 0.3])
    found = mobility(model, q)
    assert [loop.name for loop in found.redundant_loops] == ['loop1', 'loop2', 'loop3']
    assert [loop.constraints for loop in found.redundant_loops] == [5, 3, 3]
    assert [loop.redundant for loop in found.redundant_loops] == [3, 3, 3]
    assert found.mobility == 2
    with_gap = model.with_loops(model.loops[:1])
    assert [loop.name for loop in mobility(with_gap, q).redundant_loops] == ['loop1']


@pytest.mark.seed('CL14', kind='full')
def test_mobility_varies_along_a_motion():
    """Figure 8.2a: n = 5; r = 4, 2, 3 while the sides open, meet, and the arms turn as one."""
    model = linkages.kites()
    opening = [linkages.kites_closed(theta) for theta in (0.9, 0.6, 0.3)]
    middle = linkages.kites_closed(0.0)
    folded = [linkages.folded_kites(a, 3.0 - b) for a, b in ((0.4, 0.2), (0.8, 0.9), (1.2, 0.5))]
    motion = [*opening, middle, *folded]
    for q in motion:
        assert np.abs(linkages.closure(model, q)[0]).max() < 1e-12
    found = [mobility(model, q) for q in motion]
    assert {one.dofs for one in found} == {5}
    assert [one.rank for one in found] == [4, 4, 4, 2, 3, 3, 3]
    assert [one.mobility for one in found] == [1, 1, 1, 3, 2, 2, 2]
    changes = list(mobility_changes(model, motion))
    assert changes == [(3, 1, 3), (4, 3, 2)]
    assert list(mobility_changes(model, opening)) == []


def test_the_tolerance_says_how_close_to_singular_counts():
    model = linkages.kites()
    near = linkages.kites_closed(1e-4)
    assert mobility(model, near).mobility == 1
    assert mobility(model, near, tolerance=1e-2).mobility == 3


@pytest.mark.seed('CL15', kind='full')
def test_two_assembly_modes_share_their_independent_coordinate():
    """A four-bar at one crank angle: two configurations of the tree, one y (figure 8.2b)."""
    model = linkages.four_bar()
    crank = linkages.FOUR_BAR[0]
    modes = [
        linkages.closed(model, start, fixed=(0,))
        for start in (linkages.FOUR_BAR, (crank, -2.0, 1.2))
    ]
    assert modes[0][0] == modes[1][0] == crank
    assert np.abs(modes[0][1:] - modes[1][1:]).max() > 0.5
    # By plane trigonometry the coupler's joint is mirrored across the diagonal.
    B = 0.3 * np.exp(1j * crank)
    elbows = [B + 0.25 * np.exp(1j * (q[0] + q[1])) for q in modes]
    diagonal = (0.5 - B) / abs(0.5 - B)
    assert_allclose((elbows[1] - B) / diagonal, np.conj((elbows[0] - B) / diagonal), atol=1e-11)
    # The crank is an independent coordinate in both, and moves them differently.
    rates = []
    for q in modes:
        _, K = linkages.closure(model, q)
        found = eliminate(K, independent=[0])
        assert found.rank == 2
        rates.append(found.G[:, 0])
    assert np.abs(rates[0] - rates[1]).max() > 0.1


@pytest.mark.seed('CL11', 'CL13', 'CL16', kind='part')
@pytest.mark.parametrize('mimics', [0, 2])
@pytest.mark.parametrize('joint', LOWER_PAIRS, ids=example_id)
def test_rank_and_null_space_of_any_loop_of_a_robot(joint, mimics, rng):
    """Two loops by a lower pair on a random tree with or without gears, K from machine code."""
    plain = load_urdf(random_trees.tree(17, 9, ('revolute', 'prismatic'), mimics, 0.5))
    one, two = Frame(2, PluckerTransform.identity()), Frame(7, PluckerTransform.identity())
    loops = [LoopJoint('first', one, two, joint), LoopJoint('again', one, two, joint)]
    robot = Robot(plain.with_loops(loops))
    q = robot.random_configuration(rng)
    K = robot.loops.closure(q).K
    found = mobility(robot.model, q)
    rank = np.linalg.matrix_rank(K, tol=1e-10)
    assert (found.rank, found.dofs) == (rank, robot.nv)
    assert found.constraints == 2 * (6 - joint.nv) == len(K)
    assert [loop.redundant for loop in found.redundant_loops] == [6 - joint.nv] * 2
    for solved in (eliminate(K), eliminate_by_clusters(robot.model, K)):
        assert solved.G.shape == (robot.nv, found.mobility)
        assert_allclose(K @ solved.G, 0.0, atol=1e-11)


@pytest.mark.seed('CL13', kind='part')
def test_a_tree_is_as_mobile_as_it_has_dofs():
    model = linkages.four_bar().with_loops(())
    found = mobility(model, linkages.FOUR_BAR)
    assert found.mobility == found.generic() == found.generic(2) == 3
    assert found.is_properly_constrained and found.rank == 0
