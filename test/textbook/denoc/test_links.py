# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Twists, wrenches and their propagation against dense spatial algebra and the textbook."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.denoc_trees import every_simple_tree, placed_at_centers, simple_tree
from support.dense import crf, inertia, rotation, skew
from support.states import named_robot
from support.textbook_trees import named_tree

from rbd_ros import ModelError
from rbd_ros.model import load_urdf
from rbd_ros.spatial import ForceVector
from rbd_ros.textbook.denoc.links import (
    along_base,
    external_wrenches,
    Link,
    links_of,
    placements,
    require_free_joints,
    require_simple_joints,
    Twist,
    Wrench,
)
from rbd_ros.textbook.denoc.natural_orthogonal_complement import twist_propagation


def array(pair):
    """Return the twist or wrench as six numbers."""
    return np.array([*pair[0], *pair[1]], dtype=float)


def dense_propagation(link):
    """Return b_ij of a link and its parent, in their own axes."""
    E = np.array(link.E, dtype=float)
    return np.block([[E, np.zeros((3, 3))], [skew(link.c) @ E, E]])


@pytest.mark.seed('DN02', kind='full')
def test_newton_euler_at_the_center_is_the_spatial_equation_of_motion(rng):
    """About a point elsewhere it is f = I a + v x* I v, where a lacks w x v (book eq 2.72)."""
    for _ in range(20):
        mass, c, (w, v_C, wdot, vdot_C) = (
            rng.uniform(1, 5),
            rng.normal(size=3),
            rng.normal(size=(4, 3)),
        )
        A = rng.normal(size=(3, 3))
        I = A @ A.T
        R = rotation(rng)
        link = Link(None, None, None, True, mass, tuple(I[np.tril_indices(3)]), 0.0)
        found = array(link.newton_euler(tuple(w), Twist(tuple(wdot), tuple(vdot_C))))
        v_O = v_C - np.cross(w, c)
        a_O = vdot_C - np.cross(wdot, c) - np.cross(w, np.cross(w, c))
        v, a = np.r_[w, v_O], np.r_[wdot, a_O - np.cross(w, v_O)]
        M = inertia(mass, c, I)
        f = M @ a + crf(v) @ M @ v
        assert_allclose(found, np.r_[f[:3] - np.cross(c, f[3:]), f[3:]], atol=1e-12)
        # M and Mdot apart, and the same along other axes
        momentum = array(link.mass_times(Twist(tuple(w), tuple(v_C))))
        assert_allclose(momentum, np.r_[I @ w, mass * v_C], atol=1e-12)
        turned = link._replace(I=tuple((R @ I @ R.T)[np.tril_indices(3)]))
        rate = Twist(tuple(R @ wdot), tuple(R @ vdot_C))
        again = turned.newton_euler(tuple(R @ w), rate)
        assert_allclose(array(again), np.r_[R @ found[:3], R @ found[3:]], atol=1e-12)


@every_simple_tree
def test_links_are_where_the_textbook_has_them(name):
    """Axes, centers of mass, and mass and inertia about them."""
    tree = simple_tree(name)
    q = tree.ungeared_states[0].q
    links, places = links_of(tree.model, q.tolist()), placed_at_centers(tree, q)
    placed = placements(tree.model, links)
    same = placements(tree.model, along_base(tree.model, links))
    for i, body in tree.model.outward():
        R, C, _ = places[i]
        assert_allclose(np.array(placed[i][0]), R, atol=1e-14)
        assert_allclose(np.array(placed[i][1]), C, atol=1e-14)
        assert_allclose(np.array(same[i][1]), C, atol=1e-14)
        center = R.T @ (C - tree.ungeared.kinematics(q)[body.name][1])
        I = np.zeros((3, 3))
        I[np.tril_indices(3)] = links[i].I
        I = I + np.tril(I, -1).T
        expected = body.inertia.matrix().astype(float)
        assert_allclose(inertia(links[i].mass, center, I), expected, atol=1e-13)
        assert links[i].rotor == body.armature


@pytest.mark.seed('DN03', kind='full')
@every_simple_tree
def test_twists_propagate_by_the_joints(name):
    """t_i = B_ij t_j + p_i qd_i, with p_i = [e; e x d] of a hinge, [0; e] of a slider (eq 12)."""
    tree = simple_tree(name)
    for q, v, _ in tree.ungeared_states:
        links, places = links_of(tree.model, q.tolist()), placed_at_centers(tree, q)
        at, turned = tree.ungeared.kinematics(q), along_base(tree.model, links)
        types = {joint.name: joint.type for joint in tree.ungeared.layout.joints}
        for i, body in tree.model.outward():
            R, C, J = places[i]
            Rj, Cj, Jj = places.get(body.parent, (np.eye(3), np.zeros(3), 0.0 * J))
            t, tj, rate = J @ v, Jj @ v, v[body.v][0]
            own = np.r_[R.T @ t[:3], R.T @ t[3:]]
            parent = Twist(tuple(Rj.T @ tj[:3]), tuple(Rj.T @ tj[3:]))
            found = array(links[i].propagated(parent)) + rate * array(links[i].p)
            assert_allclose(found, own, atol=1e-13)
            assert_allclose(
                dense_propagation(links[i]) @ array(parent) + rate * array(links[i].p),
                own,
                atol=1e-13,
            )
            assert_allclose(turned[i].c, Cj - C, atol=1e-13)
            p = array(turned[i].p)
            if types[body.joint_name] == 'prismatic':
                assert not turned[i].revolute and not p[:3].any()
                assert np.linalg.norm(p[3:]) == pytest.approx(1.0)
            else:
                e, d = p[:3], C - at[body.name][1]
                assert turned[i].revolute and np.linalg.norm(e) == pytest.approx(1.0)
                assert_allclose(p[3:], np.cross(e, d), atol=1e-14)


@pytest.mark.seed('DN03')
@every_simple_tree
def test_twist_propagation_matrices_form_a_group(name):
    """B_ij B_jk = B_ik, B_ii = 1, B_ij^-1 = B_ji (eq 14), for any order of links."""
    tree = simple_tree(name)
    places = placed_at_centers(tree, tree.ungeared_states[0].q)
    C = [np.zeros(3), *(place[1] for place in places.values())]

    def B(i, j):
        return np.array(twist_propagation(tuple(C[j] - C[i])), dtype=float)

    for i in range(len(C)):
        assert np.array_equal(B(i, i), np.eye(6))
        for j in range(len(C)):
            assert_allclose(B(i, j) @ B(j, i), np.eye(6), atol=1e-14)
            # a twist of one rigid body, seen at C_j and at C_i
            t = np.arange(1.0, 7.0)
            moved = np.r_[t[:3], t[3:] + np.cross(t[:3], C[i] - C[j])]
            assert_allclose(B(i, j) @ t, moved, atol=1e-13)
            for k in range(len(C)):
                assert_allclose(B(i, j) @ B(j, k), B(i, k), atol=1e-13)


@every_simple_tree
def test_wrenches_propagate_back_by_the_transpose(name, rng):
    tree = simple_tree(name)
    for link in links_of(tree.model, tree.ungeared_states[0].q.tolist()).values():
        w = rng.normal(size=6)
        back = link.propagated_back(Wrench(tuple(w[:3]), tuple(w[3:])))
        assert_allclose(array(back), dense_propagation(link).T @ w, atol=1e-13)


def test_power_is_that_of_moment_and_force(rng):
    for _ in range(5):
        w, t = rng.normal(size=(2, 6))
        wrench = Wrench(tuple(w[:3]), tuple(w[3:]))
        assert wrench.power(Twist(tuple(t[:3]), tuple(t[3:]))) == pytest.approx(w @ t, rel=1e-13)


def test_an_external_force_is_moved_to_the_center(rng):
    tree = simple_tree('branches')
    q = tree.ungeared_states[0].q
    links, places = links_of(tree.model, q.tolist()), placed_at_centers(tree, q)
    f = rng.normal(size=6)
    found = external_wrenches(tree.model, links, {0: None, 3: ForceVector.from_array(f)})
    R, C, _ = places[3]
    assert list(found) == [3]
    assert_allclose(
        array(found[3]), np.r_[R.T @ (f[:3] - np.cross(C, f[3:])), R.T @ f[3:]], atol=1e-14
    )


def test_a_link_without_mass_is_taken_at_its_origin():
    model = simple_tree('chain').model
    from rbd_ros.spatial import RigidBodyInertia

    bare = model.with_link_inertia(model.bodies[2].name, RigidBodyInertia.zero())
    links = links_of(bare, simple_tree('chain').states[0].q.tolist())
    p = links[3].p
    assert (p.v if links[3].revolute else p.w) == (0, 0, 0)


@pytest.mark.parametrize('name', ['rack and pinion', 'spherical', 'floating base'])
@pytest.mark.parametrize('function', ['mass_matrix', 'complement', 'udu'])
def test_other_joints_are_rejected_by_name(name, function):
    """And so is a rolling hinge, of one freedom, whose motion subspace depends on q."""
    robot = named_robot(name)
    others = [b.joint_name for b in robot.model.bodies if b.urdf_type in ('floating', 'planar')]
    pattern = f"neither revolute nor prismatic: .*'{others[0]}'" if others else 'neither revolute'
    with pytest.raises(ModelError, match=pattern):
        getattr(robot.denoc, function)(robot.neutral())
    rolling = named_tree('rolling chain').model
    with pytest.raises(ModelError, match='neither revolute nor prismatic'):
        require_simple_joints(rolling, (), {})


def test_a_screw_is_rejected():
    """One freedom and a constant subspace do not make a hinge."""
    from rbd_ros.model.joints import Revolute
    from rbd_ros.spatial import MotionSubspace, MotionVector

    class Screw(Revolute):
        def motion_subspace(self, q):
            return MotionSubspace([MotionVector((0.0, 0.0, 1.0), (0.0, 0.0, 0.1))])

    model = simple_tree('chain').model
    body = replace(model.bodies[1], joint=Screw((0.0, 0.0, 1.0)), joint_name='thread')
    wrong = replace(model, bodies=(model.bodies[0], body, *model.bodies[2:]))
    with pytest.raises(ModelError, match="neither revolute nor prismatic: 'thread'"):
        require_simple_joints(wrong, (), {})


def test_gears_and_loops_are_rejected_by_name():
    tree = simple_tree('chain, gears')
    mimic = tree.model.body(tree.model.couplings[0].body).joint_name
    require_simple_joints(tree.model, (), {})
    with pytest.raises(ModelError, match=f"mimic joints: .*'{mimic}'"):
        require_free_joints(tree.model, (), {})
    model = load_urdf(
        '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>'
    )
    from rbd_ros.model import Frame, LoopJoint
    from rbd_ros.model.joints import Spherical
    from rbd_ros.spatial import PluckerTransform

    end = Frame(1, PluckerTransform.translation((0.1, 0.2, 0.3)))
    ground = Frame(0, PluckerTransform.identity())
    looped = model.with_loops([LoopJoint('closing', ground, end, Spherical())])
    with pytest.raises(ModelError, match="robot has loops: 'closing'"):
        require_simple_joints(looped, (), {})
