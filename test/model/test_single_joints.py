# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Single joint types: published numbers, special cases that equal other types, equivalent chains.

Common properties of all types are in test_joints.py and test_joints_in_trees.py.
"""

import math

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.all_joints import example_id, JOINTS, slope
from support.assembled_mechanisms import random_inertia, random_placement

from rbd_ros import Robot, Simulator
from rbd_ros.algorithms.articulated_body.aba import aba
from rbd_ros.model import Body, Link, Model
from rbd_ros.model.joints import (
    Cylindrical,
    Floating,
    FloatingInSuccessor,
    Helical,
    Planar,
    PlanarInSuccessor,
    Prismatic,
    Revolute,
    Spherical,
    SphericalYawPitchRoll,
    Universal,
)
from rbd_ros.spatial import PluckerTransform, RigidBodyInertia
from rbd_ros.spatial.rotation import rotation_to_quaternion

AXIS = (0.48, -0.6, 0.64)
GRAVITY = (1.0, -2.0, -9.0)
SEEDS = range(3)
every_seed = pytest.mark.parametrize('seed', SEEDS)


def matrix(vectors):
    return np.array([x.to_array() for x in vectors], dtype=float).reshape(-1, 6).T


def S_of(joint, q):
    return matrix(joint.motion_subspace(list(q)).columns)


def T_of(joint, q):
    return matrix(joint.constraint_forces(list(q)))


def between(joints, seed=1):
    """Return the hinge, then joints in a row without inertia between them.

    Then a body with a hinge on it.

    :return: the model, and the link that the joints carry
    """
    rng = np.random.default_rng(seed)
    kinds = [Revolute(AXIS), *joints, Revolute((0.0, 0.6, 0.8))]
    places = {0: random_placement(rng), 1: random_placement(rng)}
    last, inertias = random_placement(rng), [random_inertia(rng) for _ in range(3)]
    bodies, links = [], []
    for i, kind in enumerate(kinds, start=1):
        X = last if i == len(kinds) else places.get(i - 1, PluckerTransform.identity())
        massless = 1 < i < len(kinds) - 1
        inertia = RigidBodyInertia.zero() if massless else inertias.pop()
        bodies.append(Body(f'b{i}', i - 1, f'j{i}', kind, X, inertia))
        links.append(Link(f'b{i}', i, PluckerTransform.identity(), inertia))
    return Model.create('row', bodies, links, gravity=GRAVITY), f'b{len(kinds) - 1}'


def same_dynamics(one, other, seed, atol=1e-10):
    """Whether joints in a row move as one joint does, with the same variables."""
    (model, link), (chain, chain_link) = between([one]), between(other)
    rng = np.random.default_rng(seed)
    robot, row = Robot(model), Robot(chain)
    q, v, a = rng.uniform(-1.2, 1.2, model.nq), *rng.normal(size=(2, model.nv))
    ours, theirs = robot.forward_kinematics(q)[link], row.forward_kinematics(q)[chain_link]
    assert_allclose(ours, theirs, atol=1e-13)
    J, J_row = robot.frame(link).jacobian(q), row.frame(chain_link).jacobian(q)
    assert_allclose(J, J_row, atol=1e-12)
    tau = row.inverse_dynamics(q, v, a)
    assert_allclose(robot.inverse_dynamics(q, v, a), tau, atol=atol)
    assert_allclose(robot.forward_dynamics(q, v, tau), a, atol=atol)
    assert_allclose(row.forward_dynamics(q, v, tau), a, atol=atol)
    assert_allclose(aba(model, q.tolist(), v.tolist(), tau.tolist()), a, atol=atol)


# -- hinge and slider -----------------------------------------------------------------------------


@pytest.mark.seed('JM01', 'JM02', kind='full')
def test_hinge_and_slider_are_as_printed():
    """Book table 4.1, whose T are lost; JM00 is what test_joints.py asserts of every type."""
    z, q = (0.0, 0.0, 1.0), 0.7
    c, s = math.cos(q), math.sin(q)
    hinge, slider = Revolute(z).calc([q], [1.3]), Prismatic(z).calc([q], [1.3])
    assert_allclose(hinge.X.E, [[c, s, 0], [-s, c, 0], [0, 0, 1]])
    assert_allclose(hinge.X.r, np.zeros(3))
    assert_allclose(slider.X.E, np.eye(3))
    assert_allclose(slider.X.r, [0, 0, q])
    for kind, joint, row in ((Revolute(z), hinge, 2), (Prismatic(z), slider, 5)):
        assert_allclose(S_of(kind, [q]), np.eye(6)[:, [row]])
        assert_allclose(np.sort(T_of(kind, [q])), np.sort(np.delete(np.eye(6), row, axis=1)))
        assert_allclose(joint.v.to_array(), 1.3 * np.eye(6)[row])
        assert_allclose(joint.c.to_array(), 0.0)
        assert kind in JOINTS and type(kind)(AXIS) in JOINTS


# -- screw ----------------------------------------------------------------------------------------


@pytest.mark.seed('JM03', 'SV06', kind='part')
@pytest.mark.parametrize('axis', [(0.0, 0.0, 1.0), AXIS])
@pytest.mark.parametrize('pitch', [0.2, -0.3, 1e-3])
def test_pitch_of_a_screw_is_that_of_its_motion_subspace(axis, pitch):
    """H = s . s_O / s . s (book eq 2.10), and so are its displacements: h of advance a radian."""
    joint, q = Helical(axis, pitch), 0.7
    s = S_of(joint, [q])[:, 0]
    assert s[:3] @ s[3:] / (s[:3] @ s[:3]) == pytest.approx(pitch, rel=1e-14)
    assert_allclose(np.cross(s[:3], s[3:]), 0.0, atol=1e-16)  # its axis is through the origin
    X = joint.transform([q])
    turn = math.acos(0.5 * (np.trace(X.E) - 1.0))
    assert turn == pytest.approx(q, rel=1e-13)
    assert_allclose(X.r, pitch * turn * np.array(axis), atol=1e-15)


@pytest.mark.seed('JM03', kind='full')
def test_a_screw_is_as_printed_and_without_pitch_a_hinge():
    """Book table 4.1, whose T is lost; and the pitch of S is the screw's."""
    h, q = 0.25, 0.7
    c, s = math.cos(q), math.sin(q)
    joint = Helical((0.0, 0.0, 1.0), h)
    X = joint.transform([q])
    assert_allclose(X.E, [[c, s, 0], [-s, c, 0], [0, 0, 1]])
    assert_allclose(X.r, [0, 0, h * q])
    S = S_of(joint, [q])
    assert_allclose(S.T, [[0, 0, 1, 0, 0, h]])
    assert S[:3, 0] @ S[3:, 0] / (S[:3, 0] @ S[:3, 0]) == h
    T = T_of(joint, [q])
    printed = np.vstack([np.eye(6)[[0, 1, 3, 4]], [0, 0, -h, 0, 0, 1]])
    assert_allclose(T.T, printed)
    for axis in ((0.0, 0.0, 1.0), AXIS):
        flat, hinge = Helical(axis, 0.0), Revolute(axis)
        assert flat.transform([q]) == hinge.transform([q])
        assert_allclose(S_of(flat, [q]), S_of(hinge, [q]), atol=0)
        assert np.linalg.matrix_rank(np.hstack([T_of(flat, [q]), T_of(hinge, [q])])) == 5
        same_dynamics(flat, [hinge], 4)


@pytest.mark.seed('JM03')
@every_seed
def test_a_screw_is_a_slider_geared_to_a_hinge(seed):
    """Forces of hinge and slider on one axis, added in proportion: tau = tau_1 + h tau_2."""
    h = -0.3
    (model, link), (row, row_link) = between([Helical(AXIS, h)]), between([Cylindrical(AXIS)])
    rng = np.random.default_rng(seed)
    G = np.zeros((4, 3))
    G[0, 0] = G[1, 1] = G[3, 2] = 1.0
    G[2, 1] = h
    q, v, a = rng.normal(size=(3, 3))
    robot, other = Robot(model), Robot(row)
    assert_allclose(
        robot.forward_kinematics(q)[link], other.forward_kinematics(G @ q)[row_link], atol=1e-14
    )
    tau = other.inverse_dynamics(G @ q, G @ v, G @ a)
    assert_allclose(robot.inverse_dynamics(q, v, a), G.T @ tau, atol=1e-11)
    assert_allclose(robot.forward_dynamics(q, v, G.T @ tau), a, atol=1e-10)


@pytest.mark.parametrize('q', [-40.0, -3.0, -2.0, -0.5, 0.0, 0.5, 3.0, math.pi, 7.0, 100.0])
def test_a_screw_closes_a_loop_after_any_number_of_turns(q):
    joint = Helical(AXIS, -0.3)
    X = joint.transform([q])
    assert_allclose(joint.loop_error(X), 0.0, atol=1e-13)
    assert_allclose(joint.displacement_at(X), [q], rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize('turn', [-3.0, -0.5, 0.5, 3.0])
def test_a_screw_that_has_turned_too_far_lags_behind_its_thread(turn):
    """Turned by more than its place on the axis demands: the last error is pitch times that."""
    joint = Helical(AXIS, -0.3)
    X = Revolute(AXIS).transform([turn]) * joint.transform([8.0])
    assert_allclose(joint.loop_error(X), [0.0, 0.0, 0.0, 0.0, 0.3 * turn], atol=1e-13)


# -- pairs of joints in one -----------------------------------------------------------------------


@pytest.mark.seed('JM04', kind='full')
@every_seed
@pytest.mark.parametrize('axis', [(0.0, 0.0, 1.0), AXIS])
def test_cylindrical_joint_is_a_hinge_and_a_slider(seed, axis):
    same_dynamics(Cylindrical(axis), [Revolute(axis), Prismatic(axis)], seed)
    same_dynamics(Cylindrical(axis), [Revolute(axis), Prismatic(axis)], seed + 10)


@pytest.mark.seed('JM04')
def test_cylindrical_joint_is_as_printed():
    """Book table 4.1."""
    joint, q = Cylindrical((0.0, 0.0, 1.0)), [0.7, -0.4]
    c, s = math.cos(q[0]), math.sin(q[0])
    X = joint.transform(q)
    assert_allclose(X.E, [[c, s, 0], [-s, c, 0], [0, 0, 1]])
    assert_allclose(X.r, [0, 0, q[1]])
    assert_allclose(S_of(joint, q), np.eye(6)[:, [2, 5]])
    assert_allclose(T_of(joint, q), np.eye(6)[:, [0, 1, 3, 4]])
    assert_allclose(joint.bias(q, [1.0, 2.0]).to_array(), 0.0)


@every_seed
@pytest.mark.parametrize('joint', Universal.examples(), ids=example_id)
def test_universal_joint_is_two_hinges_whose_axes_meet(seed, joint):
    same_dynamics(joint, [Revolute(joint.first), Revolute(joint.second)], seed)


def test_universal_joint_is_never_singular():
    """Its axes include the same angle always, so that S keeps its singular values."""
    for joint in Universal.examples():
        expected = np.linalg.svd(S_of(joint, [0.0, 0.0]))[1]
        for q in np.random.default_rng(0).uniform(-np.pi, np.pi, (20, 2)):
            assert_allclose(np.linalg.svd(S_of(joint, q))[1], expected, atol=1e-14)


# -- yaw, pitch and roll --------------------------------------------------------------------------


@pytest.mark.seed('JM07')
def test_yaw_pitch_and_roll_are_as_printed():
    """Book eq 4.7 to 4.9, from products of coordinate rotations and finite differences."""
    joint = SphericalYawPitchRoll()
    rng = np.random.default_rng(1)
    for _ in range(5):
        q, qd = rng.uniform(-1.3, 1.3, 3), rng.normal(size=3)
        (c1, c2, c3), (s1, s2, s3) = np.cos(q), np.sin(q)
        rz = np.array([[c1, s1, 0], [-s1, c1, 0], [0, 0, 1]])
        ry = np.array([[c2, 0, -s2], [0, 1, 0], [s2, 0, c2]])
        rx = np.array([[1, 0, 0], [0, c3, s3], [0, -s3, c3]])
        assert_allclose(joint.transform(q.tolist()).E, rx @ ry @ rz, atol=1e-15)
        S = np.array([[-s2, 0, 1], [c2 * s3, c3, 0], [c2 * c3, -s3, 0]])
        assert_allclose(S_of(joint, q), np.vstack([S, np.zeros((3, 3))]), atol=1e-15)

        def E(t, q=q, qd=qd):
            return np.array(joint.transform((q + t * qd).tolist()).E, dtype=float)

        turning = -slope(E) @ E(0.0).T  # dE/dt = -(w x) E
        w = np.array([turning[2, 1], turning[0, 2], turning[1, 0]])
        assert_allclose(joint.calc(q.tolist(), qd.tolist()).v.angular, w, atol=1e-11)
        rate = slope(lambda t, q=q, qd=qd: S_of(joint, q + t * qd) @ qd)
        assert_allclose(joint.bias(q.tolist(), qd.tolist()).to_array(), rate, atol=1e-11)


@pytest.mark.seed('JM07', kind='full')
@every_seed
def test_angles_accelerate_as_the_quaternion_does(seed):
    """The same tree with either joint: w' = S q'' + c, and forces S^T n."""
    by_angles, by_quaternion = (
        between([joint])[0] for joint in (SphericalYawPitchRoll(), Spherical())
    )
    robot, other = Robot(by_angles), Robot(by_quaternion)
    rng = np.random.default_rng(seed)
    q, v, tau = rng.uniform(-1.3, 1.3, 5), *rng.normal(size=(2, 5))
    joint = SphericalYawPitchRoll()
    X = joint.transform(q[1:4].tolist())
    G = np.eye(5)
    G[1:4, 1:4] = S_of(joint, q[1:4])[:3]
    c = np.zeros(5)
    c[1:4] = joint.bias(q[1:4].tolist(), v[1:4].tolist()).angular
    p = np.array([q[0], *rotation_to_quaternion(np.transpose(X.E).tolist()), q[4]])
    a = other.forward_dynamics(p, G @ v, np.linalg.solve(G.T, tau))
    found = robot.forward_dynamics(q, v, tau)
    assert_allclose(G @ found + c, a, atol=1e-10)
    assert_allclose(robot.inverse_dynamics(q, v, found), tau, atol=1e-10)
    assert_allclose(G.T @ other.inverse_dynamics(p, G @ v, a), tau, atol=1e-10)


@pytest.mark.seed('JM07')
def test_a_pitch_near_90_degrees_is_reported_as_singular():
    """The smallest singular value of S is the sine of half of what pitch lacks, times root 2."""
    joint = SphericalYawPitchRoll()
    for pitch in (math.pi / 2, -math.pi / 2, math.pi / 2 - 0.04, -math.pi / 2 + 0.04):
        q = [0.3, pitch, -0.4]
        assert np.linalg.svd(S_of(joint, q))[1][-1] < 0.06
        assert f'pitch of {math.degrees(pitch):.1f} deg' in joint.singularity(q)
        assert 'quaternion has no singularity' in joint.singularity(q)
    for pitch in (0.0, 1.4, -1.4, math.pi):
        q = [0.3, pitch, -0.4]
        assert joint.singularity(q) is None
        assert np.linalg.svd(S_of(joint, q))[1][-1] > 0.1
    q = [0.3, math.pi / 2, -0.4]
    assert np.linalg.matrix_rank(S_of(joint, q), tol=1e-9) == 2
    assert Spherical().singularity([1.0, 0.0, 0.0, 0.0]) is None


# -- quaternions ----------------------------------------------------------------------------------


@pytest.mark.seed('JM06')
def test_quaternion_is_that_of_the_book():
    """Eq 4.10 to 4.13: E is orthonormal, p' is the rate of p; no rotation is (1, 0, 0, 0)."""
    rng, joint = np.random.default_rng(1), Spherical()
    for _ in range(5):
        p = np.array(joint.sample(rng.random(3).tolist(), -1.0, 1.0))
        w = rng.normal(size=3)
        p0, p1, p2, p3 = p
        E = 2 * np.array([
            [p0**2 + p1**2 - 0.5, p1 * p2 + p0 * p3, p1 * p3 - p0 * p2],
            [p1 * p2 - p0 * p3, p0**2 + p2**2 - 0.5, p2 * p3 + p0 * p1],
            [p1 * p3 + p0 * p2, p2 * p3 - p0 * p1, p0**2 + p3**2 - 0.5],
        ])  # fmt: skip
        assert_allclose(E @ E.T, np.eye(3), atol=1e-15)
        assert_allclose(joint.transform(p.tolist()).E, E, atol=1e-15)
        G = np.array([[-p1, -p2, -p3], [p0, -p3, p2], [p3, p0, -p1], [-p2, p1, p0]])
        assert_allclose(joint.position_rate(p.tolist(), w.tolist()), 0.5 * G @ w, atol=1e-15)
        turned = slope(lambda t, p=p, w=w: np.array(joint.integrate(p.tolist(), (t * w).tolist())))
        assert_allclose(turned, 0.5 * G @ w, atol=1e-11)
        angle, axis = np.linalg.norm(w), w / np.linalg.norm(w)
        end = joint.integrate(joint.neutral(), w.tolist())
        assert_allclose(end, [math.cos(angle / 2), *(math.sin(angle / 2) * axis)], atol=1e-15)
    assert joint.neutral() == (1.0, 0.0, 0.0, 0.0)


@pytest.mark.seed('JM06', kind='full')
@pytest.mark.parametrize('kind', [Spherical, Floating])
def test_a_symmetric_top_without_torque_precesses_steadily(kind):
    """Its angular momentum stands, and the axis goes round it at |L| / I_1 at a constant angle.

    In the body, the angular velocity goes round the axis at (1 - I_3 / I_1) w_3.
    """
    I1, I3 = 0.03, 0.05
    inertia = RigidBodyInertia.from_mass_center(2.0, (0, 0, 0), np.diag([I1, I1, I3]).tolist())
    X = PluckerTransform.identity()
    top = Body('top', 0, 'joint', kind(), X, inertia)
    robot = Robot(Model.create('top', [top], [Link('top', 1, X, inertia)], gravity=(0, 0, 0)))
    simulator = Simulator(robot, 1e-3, 'rk4')
    w = np.array([1.5, 0.0, 4.0])
    simulator.reset(v=[*w, *np.zeros(robot.nv - 3)])
    L = np.array([I1, I1, I3]) * w
    axis = L / np.linalg.norm(L)
    worst = 0.0
    for _ in range(10):
        simulator.step(n=500)
        t = simulator.time
        turn = (1.0 - I3 / I1) * w[2] * t
        expected = [1.5 * math.cos(turn), -1.5 * math.sin(turn), 4.0]
        assert_allclose(simulator.v[:3], expected, atol=1e-8)
        # e = cos(a) L + sin(a) across, turned about L by |L| t / I1
        angle, e = np.linalg.norm(L) * t / I1, np.array([0.0, 0.0, 1.0])
        along, across = (e @ axis) * axis, e - (e @ axis) * axis
        e = along + math.cos(angle) * across + math.sin(angle) * np.cross(axis, across)
        assert_allclose(robot.forward_kinematics(simulator.q)['top'][:3, 2], e, atol=1e-7)
        worst = max(worst, abs(np.linalg.norm(simulator.q[:4]) - 1.0))
    assert worst < 1e-15  # the quaternion is normal after every step


# -- positions in successor coordinates -----------------------------------------------------------


def free_body(joint, gravity=GRAVITY):
    inertia = RigidBodyInertia.from_mass_center(
        1.3, (0.1, -0.2, 0.05), np.diag([0.02, 0.03, 0.04]).tolist()
    )
    body = Body('body', 0, 'joint', joint, PluckerTransform.identity(), inertia)
    links = [Link('body', 1, PluckerTransform.identity(), inertia)]
    return Robot(Model.create('body', [body], links, gravity=gravity))


@pytest.mark.seed('JM05')
def test_both_planar_variants_have_the_rates_of_example_4_5():
    """Rates of the positions in predecessor coordinates from those in successor coordinates."""
    here, there = Planar.about((0.0, 0.0, 1.0)), PlanarInSuccessor.about((0.0, 0.0, 1.0))
    rng = np.random.default_rng(1)
    for _ in range(5):
        p, v = rng.normal(size=(2, 3))
        c, s = math.cos(p[0]), math.sin(p[0])
        R = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
        q = R.T @ p
        assert here.transform(p.tolist()).matrix() == pytest.approx(
            there.transform(q.tolist()).matrix()
        )
        assert_allclose(there.transform(q.tolist()).r, [*(R @ q)[1:], 0.0], atol=1e-14)
        printed = np.array([[1, 0, 0], [-p[2], c, -s], [p[1], s, c]])
        rates = there.position_rate(q.tolist(), v.tolist())
        assert_allclose(here.position_rate(p.tolist(), v.tolist()), printed @ rates, atol=1e-13)
        assert_allclose(S_of(there, q), np.eye(6)[:, 2:5])
        assert_allclose(T_of(there, q), np.eye(6)[:, [0, 1, 5]])


@pytest.mark.seed('JM05', kind='full')
@pytest.mark.parametrize('normal', [(0.0, 0.0, 1.0), AXIS])
def test_both_planar_variants_simulate_the_same_motion(normal):
    robots = [free_body(kind.about(normal)) for kind in (Planar, PlanarInSuccessor)]
    v, tau = np.array([2.0, 0.5, -0.7]), np.array([0.3, -0.2, 0.4])
    poses = []
    for robot, q in zip(robots, ([0.4, 1.0, -2.0], None)):
        if q is None:
            c, s = math.cos(0.4), math.sin(0.4)
            q = [0.4, c * 1.0 + s * -2.0, c * -2.0 - s * 1.0]
        simulator = Simulator(robot, 1e-3, 'rk4')
        simulator.reset(q=q, v=v)
        start = robot.forward_kinematics(simulator.q)['body']
        simulator.step(tau, n=1500)
        poses.append((start, robot.forward_kinematics(simulator.q)['body'], simulator.v))
    for one, other in zip(*poses):
        assert_allclose(other, one, atol=1e-10)
    assert np.abs(poses[0][1] - poses[0][0]).max() > 1.0  # and far


@pytest.mark.seed('JM08')
def test_position_in_successor_coordinates_changes_by_v_minus_w_cross_q():
    """And that in predecessor coordinates by E^T v."""
    rng = np.random.default_rng(1)
    here, there = Floating(), FloatingInSuccessor()
    for _ in range(5):
        q = list(there.sample(rng.random(6).tolist(), -1.0, 1.0))
        v = rng.normal(size=6)
        rate = there.position_rate(q, v.tolist())
        assert_allclose(rate[4:], v[3:] - np.cross(v[:3], q[4:]), atol=1e-15)
        X = there.transform(q)
        E = np.array(X.E, dtype=float)
        assert_allclose(X.r, E.T @ q[4:], atol=1e-14)
        p = [*q[:4], *X.r]
        assert here.transform(p).matrix() == pytest.approx(X.matrix())
        assert_allclose(here.position_rate(p, v.tolist())[4:], E.T @ v[3:], atol=1e-14)
        assert_allclose(here.position_rate(p, v.tolist())[:4], rate[:4], atol=0)
        assert_allclose(S_of(there, q), np.eye(6))
        assert there.constraint_forces(q) == ()


@pytest.mark.seed('JM08', kind='full')
def test_a_long_tumble_is_the_same_by_both_floating_variants():
    """A satellite that spins for 30 s, far away: momentum, free fall of its center of mass.

    Against the parabola of the center and the constancy of what gravity does not change.
    """
    robots = [free_body(kind()) for kind in (Floating, FloatingInSuccessor)]
    v = np.array([1.0, 4.0, 0.3, 0.2, -0.1, 0.3])
    ends = []
    for robot in robots:
        simulator = Simulator(robot, 2e-3, 'rk4')
        q = robot.neutral()
        q[4:] = 10.0, 20.0, -5.0
        simulator.reset(q=q, v=v)
        center = robot.center_of_mass(q)
        momentum = robot.momentum(q, v)
        simulator.step(n=15000)
        t, g = simulator.time, robot.gravity
        fallen = center + t * momentum[3:] / 1.3 + 0.5 * t * t * g
        at = robot.center_of_mass(simulator.q)
        assert_allclose(at, fallen, rtol=1e-7)
        after = robot.momentum(simulator.q, simulator.v)
        assert_allclose(after[3:], momentum[3:] + 1.3 * t * g, rtol=1e-7)
        about_center = momentum[:3] - np.cross(center, momentum[3:])
        assert_allclose(after[:3] - np.cross(at, after[3:]), about_center, atol=1e-6)
        ends.append((robot.forward_kinematics(simulator.q)['body'], simulator.v, at))
    for one, other in zip(*ends):
        assert_allclose(other, one, rtol=1e-6, atol=1e-6)


def test_spinning_makes_positions_in_successor_coordinates_change_fast():
    """Book example 4.5: that is why they are not the usual ones."""
    v = [0.0, 0.0, 5.0, 0.0, 0.0, 0.0]
    q = [1.0, 0.0, 0.0, 0.0, 100.0, 0.0, 0.0]
    assert np.abs(Floating().position_rate(q, v)[4:]).max() == 0.0
    assert np.abs(FloatingInSuccessor().position_rate(q, v)[4:]).max() == 500.0
