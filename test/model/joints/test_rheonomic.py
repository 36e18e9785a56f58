# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joints with prescribed motion over time, against hybrid dynamics and Newton's law."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.all_joints import slope
from support.assembled_mechanisms import random_inertia, random_placement

from rbd_ros import ModelError, Robot, Simulator
from rbd_ros.algorithms.articulated_body.aba import aba
from rbd_ros.algorithms.inverse_dynamics.rnea import rnea
from rbd_ros.algorithms.kinematics.kinematics import body_velocities
from rbd_ros.model import Body, Frame, Link, LoopJoint, Model
from rbd_ros.model.joints import (
    Cylindrical,
    Floating,
    Harmonic,
    Helical,
    Polynomial,
    Prismatic,
    RackAndPinion,
    Reversed,
    Revolute,
    Rheonomic,
    Spherical,
)
from rbd_ros.spatial import PluckerTransform
from rbd_ros.textbook.tree_dynamics.rnea_spatial import rnea_spatial

AXIS = (0.48, -0.6, 0.64)
JOINTS = {
    'slider': Prismatic(AXIS),
    'hinge': Revolute(AXIS),
    'screw': Helical(AXIS, 0.2),
    'rack and pinion': RackAndPinion(0.3),
    'rack on pinion': Reversed(RackAndPinion(0.3)),
}
MOTIONS = {
    'harmonic': Harmonic(0.7, 2.3, 0.4, -0.2),
    'polynomial': Polynomial((0.3, -0.5, 0.8, 0.2)),
}
every_joint = pytest.mark.parametrize('joint', JOINTS.values(), ids=JOINTS)
every_motion = pytest.mark.parametrize('motion', MOTIONS.values(), ids=MOTIONS)
TIME = 0.6


def arm(joint):
    """Return the hinge, the joint, a spherical joint on it, and a slider on the hinge."""
    rng = np.random.default_rng(1)
    kinds = ((Revolute(AXIS), 0), (joint, 1), (Spherical(), 2), (Prismatic(AXIS), 1))
    bodies, links = [], []
    for i, (kind, parent) in enumerate(kinds, start=1):
        inertia, X = random_inertia(rng), random_placement(rng)
        bodies.append(Body(f'b{i}', parent, f'j{i}', kind, X, inertia))
        links.append(Link(f'b{i}', i, PluckerTransform.identity(), inertia))
    return Model.create('arm', bodies, links, gravity=(1.0, -2.0, -9.0))


def states(joint, motion):
    """Return same state with the time, and with the joint's variables, in its place; its s''."""
    rng = np.random.default_rng(5)
    model = arm(joint)
    q, v = np.array(Robot(model).random_configuration(rng)), rng.normal(size=model.nv)
    s, rate, acceleration = motion.at(TIME)
    q[1], v[1] = s, rate
    with_time = q.copy()
    with_time[1] = TIME
    return with_time, np.delete(v, 1), q, v, acceleration


@every_motion
def test_motions_have_their_derivatives(motion):
    for t in (-0.3, 0.0, 0.6):
        s, rate, acceleration = motion.at(t)
        assert slope(lambda x, t=t: motion.at(t + x)[0]) == pytest.approx(rate, abs=1e-12)
        assert slope(lambda x, t=t: motion.at(t + x)[1]) == pytest.approx(acceleration, abs=1e-11)
    assert Polynomial((0.3, -0.5, 0.8)).at(2.0) == pytest.approx((2.5, 2.7, 1.6))
    assert Harmonic(2.0, 3.0, 0.5).at(0.0)[0] == pytest.approx(2.0 * np.sin(0.5))
    assert Harmonic(2.0, 3.0, 0.0, 1.0).at(0.0) == (1.0, 6.0, 0.0)


@pytest.mark.seed('JM12', kind='full')
@every_motion
@every_joint
def test_a_joint_moved_in_time_is_hybrid_dynamics(joint, motion):
    """The others accelerate as under given forces, with the acceleration of this one given."""
    robot, free = Robot(arm(Rheonomic(joint, motion))), Robot(arm(joint))
    q, v, free_q, free_v, acceleration = states(joint, motion)
    assert (robot.nq, robot.nv) == (free.nq, free.nv - 1)
    tau = np.random.default_rng(6).normal(size=robot.nv)
    others = [name for name in free.joint_names if name != 'j2']
    hybrid = free.hybrid.dynamics(free_q, free_v, np.insert(tau, 1, acceleration), others)
    a = np.delete(hybrid.a, 1)
    assert_allclose(robot.forward_dynamics(q, v, tau), a, atol=1e-10)
    assert_allclose(aba(robot.model, q.tolist(), v.tolist(), tau.tolist()), a, atol=1e-10)
    assert_allclose(robot.inverse_dynamics(q, v, a), tau, atol=1e-10)
    for text in (rnea_spatial, rnea):
        assert_allclose(text(robot.model, q.tolist(), v.tolist(), a.tolist()), tau, atol=1e-10)
    H = free.mass_matrix(free_q)
    assert_allclose(robot.mass_matrix(q), np.delete(np.delete(H, 1, 0), 1, 1), atol=1e-12)
    for link in free.link_names:
        assert_allclose(
            robot.forward_kinematics(q)[link], free.forward_kinematics(free_q)[link], atol=1e-14
        )
    assert robot.energy(q, v).kinetic == pytest.approx(free.energy(free_q, free_v).kinetic)


@pytest.mark.seed('JM12', 'CT10')
@every_motion
@every_joint
def test_forces_are_rates_of_momentum_while_time_continues(joint, motion):
    """Newton's law for all bodies, differentiated along a motion that the time takes part in."""
    model = arm(Rheonomic(joint, motion))
    q, v, *_ = states(joint, motion)
    a = np.random.default_rng(6).normal(size=model.nv)

    def at(t):
        step = t * v + 0.5 * t * t * a
        moved = np.empty(len(q))
        for i, (at_q, at_v) in model.independent_slices.items():
            moved[at_q] = model.body(i).joint.integrate(q[at_q].tolist(), step[at_v].tolist())
        moved[1] = TIME + t
        return moved.tolist(), (v + t * a).tolist()

    def momenta(t):
        X0, velocity = body_velocities(model, *at(t))
        return np.array([
            X0[i].inverse_apply(body.inertia * velocity[i]).to_array()
            for i, body in model.outward()
        ])  # fmt: skip

    rates = slope(momenta)
    X0, _ = body_velocities(model, *at(0.0))
    tau = np.zeros(model.nv)
    for i, body in model.outward():
        weight = body.inertia.mass * np.array(model.gravity)
        center = X0[i].inverse_point(tuple(x / body.inertia.mass for x in body.inertia.h))
        force = rates[i - 1] - np.r_[np.cross(center, weight), weight]
        for j in model.support(i):
            other = model.body(j)
            S = other.joint.motion_subspace(q[other.q].tolist()).columns
            for k, s in zip(range(model.nv)[other.v], S):
                tau[k] += np.array(X0[j].inverse_apply(s).to_array()) @ force
    assert_allclose(rnea_spatial(model, q.tolist(), v.tolist(), a.tolist()), tau, atol=1e-8)


@pytest.mark.seed('JM12', 'CT10', 'JM14')
@every_motion
@every_joint
def test_velocity_is_sigma_alone(joint, motion):
    """T^T v_J = T^T sigma with no columns in S, the rate of the transform, and its own rate."""
    moved = Rheonomic(joint, motion)
    X, S, v, c = moved.calc((TIME,), ())
    assert S.columns == () and len(moved.constraint_forces((TIME,))) == 6

    def at(t):
        return moved.calc((TIME + t,), ())

    rate = slope(lambda t: at(t).X.matrix())
    assert_allclose(-rate @ np.linalg.inv(X.matrix()), v.cross_matrix(), atol=1e-10)
    ring = slope(lambda t: np.array(at(t).v.to_array(), dtype=float))
    assert_allclose(c.to_array(), ring, atol=1e-10)
    T = np.array([force.to_array() for force in moved.constraint_forces((TIME,))])
    assert np.linalg.matrix_rank(T) == 6
    back = Reversed(moved).calc((TIME,), ())
    pXs = np.linalg.inv(X.matrix())
    assert_allclose(back.v.to_array(), -pXs @ v.to_array(), atol=1e-12)
    assert_allclose(back.c.to_array(), -pXs @ c.to_array(), atol=1e-12)


@pytest.mark.seed('CT08')
def test_a_joint_that_cannot_be_rheonomic_is_rejected():
    with pytest.raises(ValueError, match='2 position and 2 velocity variables'):
        Rheonomic(Cylindrical(AXIS), MOTIONS['harmonic'])
    joint = Rheonomic(JOINTS['slider'], MOTIONS['harmonic'])
    model = arm(joint)
    with pytest.raises(ModelError, match="joint 'j2' is a prescribed function of time"):
        Simulator(Robot(model))
    ends = Frame(0, PluckerTransform.identity()), Frame(4, PluckerTransform.identity())
    with pytest.raises(ModelError, match='lower pair'):
        arm(JOINTS['hinge']).with_loops([LoopJoint('loop', *ends, joint)])
    assert Reversed(joint).is_rheonomic and not JOINTS['slider'].is_rheonomic


@pytest.mark.seed('JM14', kind='full')
@pytest.mark.seed('JM10')
def test_a_joint_that_stands_still_welds_its_bodies_together():
    """No columns in S and, for the floating joint, none in T: every algorithm takes both.

    Against the model in which the two bodies are one.
    """
    rng = np.random.default_rng(2)
    inertias = [random_inertia(rng) for _ in range(3)]
    places = [random_placement(rng) for _ in range(3)]
    weld = Rheonomic(Revolute(AXIS), Polynomial((0.3,)))
    kinds = (Floating(), weld, Prismatic(AXIS))
    bodies = [
        Body(f'b{i}', i, f'j{i}', kind, X, inertia)
        for i, (kind, X, inertia) in enumerate(zip(kinds, places, inertias))
    ]
    identity = PluckerTransform.identity()
    links = [Link(f'b{i}', i + 1, identity, inertia) for i, inertia in enumerate(inertias)]
    welded = Robot(Model.create('welded', bodies, links))
    fixed = weld.transform((0.0,)) * places[1]
    bodies = [bodies[0], replace(bodies[2], parent=1, tree_transform=places[2] * fixed)]
    links = [links[0], replace(links[1], body=1, placement=fixed), replace(links[2], body=2)]
    lumped = Robot(Model.create('lumped', bodies, links))
    assert (welded.nq, welded.nv) == (lumped.nq + 1, lumped.nv) == (9, 7)
    q = np.array(lumped.random_configuration(rng))
    p = np.insert(q, 7, 0.9)  # at any time
    v, a = rng.normal(size=(2, 7))
    tau = lumped.inverse_dynamics(q, v, a)
    pairs = [
        (robot.inverse_dynamics(x, v, a), robot.forward_dynamics(x, v, tau),
         robot.mass_matrix(x), robot.bias_force(x, v), robot.gravity_torque(x),
         robot.coriolis_matrix(x, v), robot.center_of_mass(x), robot.momentum(x, v),
         robot.center_of_mass_jacobian(x), robot.energy(x, v), robot.integrate(x, v, 0.1)[-1],
         robot.forward_kinematics(x)['b1'], robot.jacobian(x, 'b1'),
         robot.jacobian_derivative(x, v, 'b2'), robot.hybrid.dynamics(x, v, tau, ['j0'])[1])
        for robot, x in ((welded, p), (lumped, q))
    ]  # fmt: skip
    for one, other in zip(*pairs):
        assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    texts = (aba(welded.model, p.tolist(), v.tolist(), tau.tolist()),)
    assert_allclose(texts[0], a, atol=1e-9)


def test_time_stays_constant_unless_it_is_set():
    joint = Rheonomic(JOINTS['slider'], MOTIONS['harmonic'])
    robot = Robot(arm(joint))
    q, v, *_ = states(JOINTS['slider'], MOTIONS['harmonic'])
    assert robot.integrate(q, v, 0.3)[1] == TIME
    assert joint.position_rate((TIME,), ()) == (0.0,) and joint.difference((0.1,), (0.2,)) == ()
    assert robot.difference(q, robot.integrate(q, v, 0.3)) == pytest.approx(0.3 * v)
