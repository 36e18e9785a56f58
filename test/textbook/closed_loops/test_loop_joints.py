# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Zero-DoF joints and spheres in cylinders, equal to other joints that close the same loops."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import linkages

from rbd_ros.algorithms.closed_loops.elimination import eliminate
from rbd_ros.algorithms.closed_loops.mobility import mobility
from rbd_ros.algorithms.inertia_matrix.crba import crba
from rbd_ros.algorithms.kinematics.kinematics import body_velocities
from rbd_ros.model import Link, LoopJoint, Model
from rbd_ros.model.joints import Fixed, Floating, Prismatic, SphereInCylinder, Spherical
from rbd_ros.spatial import PluckerTransform
from rbd_ros.textbook.closed_loops.global_system import global_system, solve_global_system
from rbd_ros.textbook.tree_dynamics.rnea_spatial import rnea_spatial


def projected(model, q, qd, tau):
    """Return the accelerations by the null space of K.

    Which does not ask that every body have inertia.
    """
    K, k = linkages.acceleration_constraint(model, q, qd)
    G, g, *_ = eliminate(K, k)
    H = np.array(crba(model, q.tolist()))
    C = np.array(rnea_spatial(model, q.tolist(), qd.tolist(), [0.0] * model.tree_nv))
    return G @ np.linalg.solve(G.T @ H @ G, G.T @ (tau - C - H @ g)) + g


WELD = PluckerTransform.translation((0.3, -0.1, 0.2)) * PluckerTransform.rotation_x(0.7)


def welded_by_a_loop():
    """Return a double pendulum, and a free body that a zero-DoF joint holds to its second link."""
    rods = [linkages.Rod(0), linkages.Rod(1, 0.4), linkages.Rod(0, 0.0, Floating())]
    ends = linkages.Frame(2, WELD), linkages.frame(3)
    return linkages.linkage(rods, [(*ends, Fixed())], seed=14)


def lumped():
    """Return the same with the second link and that body as one."""
    model = welded_by_a_loop()
    links = [
        replace(link, body=2, placement=WELD) if name == 'rod3' else link
        for name, link in model.links.items()
    ]
    return Model.create('lumped', model.bodies[:2], links, gravity=model.gravity)


@pytest.mark.seed('JM10', kind='full')
def test_a_body_on_a_zero_dof_loop_joint_is_welded(rng):
    model, one = welded_by_a_loop(), lumped()
    angles, rates, tau = [0.7, -1.1], rng.normal(size=2), rng.normal(size=2)
    X0, velocity = body_velocities(one, angles, rates.tolist())
    X = WELD * X0[2]
    pose = [*X.quaternion(), *X.r]
    q = np.array([*angles, *pose])
    qd = np.concatenate([rates, (WELD * velocity[2]).to_array()])
    residual, K = linkages.closure(model, q)
    assert np.abs(residual).max() < 1e-14 and np.abs(K @ qd).max() < 1e-14
    found = mobility(model, q)
    assert (found.constraints, found.rank, found.mobility) == (6, 6, 2)
    H = np.array(crba(one, angles))
    C = np.array(rnea_spatial(one, angles, rates.tolist(), [0.0, 0.0]))
    expected = np.linalg.solve(H, tau - C)
    forces = np.concatenate([tau, np.zeros(6)])
    assert_allclose(projected(model, q, qd, forces)[:2], expected, rtol=1e-10)
    assert_allclose(linkages.kkt(model, q, qd, forces)[0][:2], expected, rtol=1e-10)
    by_bodies = solve_global_system(global_system(model, q, qd, forces))
    assert_allclose(by_bodies.qdd[:2], expected, rtol=1e-9)


@pytest.mark.seed('JM10', kind='part')
def test_a_zero_dof_joint_of_a_tree_adds_its_body_to_another(rng):
    rods = [linkages.Rod(0), linkages.Rod(1, 0.4), linkages.Rod(2, WELD, Fixed())]
    model, one = linkages.linkage(rods, seed=14), lumped()
    q, qd, qdd = (x.tolist() for x in rng.normal(size=(3, 2)))
    assert model.nv == 2
    assert_allclose(rnea_spatial(model, q, qd, qdd), rnea_spatial(one, q, qd, qdd), rtol=1e-12)
    assert_allclose(crba(model, q), crba(one, q), rtol=1e-12)


@pytest.mark.seed('JM10', kind='part')
def test_a_massless_body_and_a_zero_dof_joint_close_any_loop(rng):
    """A four-bar's last hinge becomes one of the tree; its massless body is welded on."""
    plain = linkages.four_bar()
    q = linkages.closed(plain, linkages.FOUR_BAR)
    qd = linkages.admissible(plain, q, rng)
    tau = rng.normal(size=3)
    rods = [linkages.Rod(0), linkages.Rod(1, 0.3), linkages.Rod(2, 0.25), linkages.Rod(3, 0.22)]
    loop = (linkages.frame(0, 0.5), linkages.frame(4), Fixed())
    model = linkages.linkage(rods, [loop], seed=1, massless=(4,))
    angles, rates = np.append(q, -q.sum()), np.append(qd, -qd.sum())
    assert np.abs(linkages.closure(model, angles)[0]).max() < 1e-12
    found = projected(model, angles, rates, np.append(tau, 0.0))
    assert_allclose(found[:3], linkages.kkt(plain, q, qd, tau)[0], rtol=1e-8, atol=1e-9)


@pytest.mark.seed('JM11', kind='part')
def test_a_sphere_in_a_cylinder_leaves_nothing_redundant(rng):
    """A planar four-bar, its loop cut at a hinge, a sphere in a cylinder among the tree's joints.

    With a fourth hinge in its place three constraints of five are redundant.
    """
    plain = linkages.four_bar()
    q = linkages.closed(plain, linkages.FOUR_BAR)
    qd = linkages.admissible(plain, q, rng)
    tau = rng.normal(size=3)
    expected = linkages.kkt(plain, q, qd, tau)[0]
    # bodies: crank; rocker on the ground's cylinder; coupler on the rocker. The loop joint is the
    # hinge between crank and coupler.
    cylinder = SphereInCylinder((0.0, 0.0, 1.0))
    tip = PluckerTransform.translation((0.22, 0.0, 0.0))
    rods = [linkages.Rod(0), linkages.Rod(0, 0.5, cylinder), linkages.Rod(2)]
    bodies = linkages.linkage(rods, seed=1).bodies
    bodies = (
        replace(bodies[0], name='rod1'),
        replace(bodies[1], name='rod3'),
        replace(bodies[2], name='rod2', tree_transform=tip.inverse()),
    )
    # the rocker's frame is at its tip now, and the coupler's at its far end
    end = PluckerTransform.translation((0.25, 0.0, 0.0))
    links = [
        Link('rod1', 1, PluckerTransform.identity(), plain.links['rod1'].inertia),
        Link('rod3', 2, tip.inverse(), plain.links['rod3'].inertia),
        Link('rod2', 3, end.inverse(), plain.links['rod2'].inertia),
    ]
    model = Model.create('cut', bodies, links, gravity=plain.gravity)
    hinge = LoopJoint('cut', linkages.frame(1, 0.3), linkages.frame(3, -0.25), linkages.HINGE)
    model = model.with_loops([hinge])
    t1, t2, t3 = np.cumsum(q)
    w1, w2, w3 = np.cumsum(qd)
    position = [t1, np.cos(t3 / 2), 0.0, 0.0, np.sin(t3 / 2), 0.0, t2 - t3]
    velocity = [w1, 0.0, 0.0, w3, 0.0, w2 - w3]
    position, velocity = np.array(position), np.array(velocity)
    residual, K = linkages.closure(model, position)
    assert np.abs(residual).max() < 1e-12 and np.abs(K @ velocity).max() < 1e-12
    before, after = mobility(plain, q), mobility(model, position)
    assert (before.overconstraint, before.mobility) == (3, 1)
    assert (after.overconstraint, after.mobility) == (0, 1)
    assert after.generic() == 1

    # joint 3 turned the rocker against the coupler: what is left of tau is where it was
    forces = np.zeros(6)
    a1, a2, a3 = np.cumsum(expected)
    G, *_ = eliminate(K, independent=[0])
    plain_G, *_ = eliminate(linkages.closure(plain, q)[1], independent=[0])
    forces[0] = plain_G[:, 0] @ tau  # the same power
    found = projected(model, position, velocity, forces)
    assert_allclose(found, [a1, 0.0, 0.0, a3, 0.0, a2 - a3], rtol=1e-8, atol=1e-8)
    assert G.shape == (6, 1)
    by_bodies = solve_global_system(global_system(model, position, velocity, forces))
    assert_allclose(by_bodies.qdd, found, rtol=1e-7, atol=1e-7)


@pytest.mark.seed('JM11', kind='part')
def test_a_ball_on_a_massless_slider_is_a_sphere_in_a_cylinder(rng):
    """As a loop joint: n_c = r, and the accelerations of the loop that a hinge closes."""
    plain = linkages.four_bar()
    q = linkages.closed(plain, linkages.FOUR_BAR)
    qd = linkages.admissible(plain, q, rng)
    tau = rng.normal(size=3)
    along = Prismatic((0.0, 0.0, 1.0))
    rods = [linkages.Rod(0), linkages.Rod(1, 0.3), linkages.Rod(2, 0.25)]
    rods.append(linkages.Rod(0, 0.5, along))
    loop = (linkages.frame(4), linkages.frame(3, 0.22), Spherical())
    model = linkages.linkage(rods, [loop], seed=1, massless=(4,))
    at, rate = np.append(q, 0.0), np.append(qd, 0.0)
    found = mobility(model, at)
    assert (found.constraints, found.rank, found.mobility) == (3, 3, 1)
    qdd = projected(model, at, rate, np.append(tau, 0.0))
    expected = linkages.kkt(plain, q, qd, tau)[0]
    assert_allclose(qdd, np.append(expected, 0.0), rtol=1e-8, atol=1e-9)


def test_the_center_of_the_sphere_stays_on_the_line(rng):
    joint = SphereInCylinder((0.48, -0.6, 0.64))
    for _ in range(5):
        q = joint.sample(rng.random(4).tolist(), -1.0, 1.0)
        X = joint.transform(q)
        assert_allclose(np.cross(X.r, joint.axis), 0.0, atol=1e-15)
        assert X.r @ np.array(joint.axis) == pytest.approx(q[4])
        longer = [1.7 * x for x in q[:4]] + [q[4]]
        after = joint.integrate(longer, (0.3, -0.2, 0.5, 0.1))
        assert sum(x * x for x in after[:4]) == pytest.approx(1.0, abs=1e-14)
        assert after[4] == pytest.approx(q[4] + 0.1)
    slides = [joint.sample([0.1, 0.2, 0.3, u], -1.0, 1.0)[4] for u in (0.0, 0.25, 0.75)]
    assert slides == [-1.0, -0.5, 0.5]
