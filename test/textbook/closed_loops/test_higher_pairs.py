# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Loop joints whose constraint forces depend on the placement of frames: no lower pairs."""

from types import SimpleNamespace

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import linkages, random_trees
from support.all_joints import example_id, slope
from support.loop_joints import HIGHER_PAIRS
from support.loop_mechanisms import (
    closed_at,
    closed_robot,
    four_bar,
    four_bar_bars,
    four_bar_position,
    RELATIVE,
    with_random_loops,
    Z,
)
from support.textbook import Textbook
from support.textbook_trees import named_tree, run

from rbd_ros.algorithms.closed_loops.loop_constraints import loop_constraints
from rbd_ros.algorithms.kinematics.kinematics import body_transforms, body_velocities
from rbd_ros.model import load_urdf, LoopJoint, ModelError
from rbd_ros.model.joints import (
    Planar,
    Polynomial,
    RackAndPinion,
    Reversed,
    Revolute,
    Rheonomic,
    SphereInCylinder,
    SphericalYawPitchRoll,
    Universal,
)
from rbd_ros.model.joints.joint_type import across
from rbd_ros.robot.families.loops_family import METHODS
from rbd_ros.textbook.closed_loops.global_system import global_system, solve_global_system

CYLINDER = SphereInCylinder((0.0, 0.0, 1.0))


@pytest.mark.seed('JM11', kind='full')
@pytest.mark.parametrize('cut', ['ground', 'rocker'])
@pytest.mark.parametrize('crank', [-2.4, -0.8, 0.4, 1.1, 2.9])
def test_a_four_bar_closed_by_a_sphere_in_a_cylinder(cut, crank, rng):
    """As many constraints as their rank, 2, and the motion of the linkage that a hinge closes.

    It is also that of the linkage in its explicit coordinate, the angle of the crank.
    """
    robot, hinged = four_bar(CYLINDER, cut), four_bar(cut=cut)
    q = four_bar_position(crank, cut)
    found = robot.loops.mobility(q)
    assert (found.constraints, found.rank, found.mobility) == (2, 2, 1)
    assert found.is_properly_constrained and not found.redundant_loops
    assert hinged.loops.mobility(q).overconstraint == 3
    rates = RELATIVE[cut] @ four_bar_bars(cut).spins(crank)
    v, tau = 1.7 * rates, rng.normal(size=3)
    _, _, K, _ = robot.loops.constraints(q, v)
    assert_allclose(K @ v, 0.0, atol=1e-13)
    expected = hinged.loops.forward_dynamics(q, v, tau).a
    explicit = four_bar_bars(cut).acceleration(crank, 1.7, rates @ tau)
    for method in METHODS:
        a = robot.loops.forward_dynamics(q, v, tau, method)
        assert a.rank == 2 and a.mismatch < 1e-12
        assert_allclose(a.a, expected, rtol=1e-9, atol=1e-9)
        assert a.a[0] == pytest.approx(explicit, rel=1e-7)
    by_bodies = solve_global_system(global_system(robot.model, q, v, tau))
    assert_allclose(by_bodies.qdd, expected, rtol=1e-8, atol=1e-8)


def holonomic(joint, Rp, pp, Rs, ps):
    """Return the constraint function of a loop joint, of the poses of its frames in the world.

    Written by geometry: points on lines, angles between axes, and a pinion that rolls.
    """
    apart = ps - pp
    if isinstance(joint, Reversed):
        return holonomic(joint.joint, Rs, ps, Rp, pp)
    if isinstance(joint, SphereInCylinder):
        return np.array([(Rp @ np.array(u)) @ apart for u in across(joint.axis)])
    if isinstance(joint, Universal):
        first, second = np.array(joint.first), np.array(joint.second)
        return np.array([first @ second - (Rp @ first) @ (Rs @ second), *(Rs.T @ apart)])
    E = Rs.T @ Rp
    if isinstance(joint, Planar):
        *plane, normal = map(np.array, joint.axes)
        return np.array(
            [*(np.cross(E @ normal, normal) @ x for x in plane), (Rp @ normal) @ apart]
        )
    x, y, z = Rp.T @ apart
    angle = np.arctan2(E[0, 1].real, E[0, 0].real)
    turned = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    cosine = E[0, :2] @ turned[0]
    sine = turned[0, 0] * E[0, 1] - turned[0, 1] * E[0, 0]
    rolled = joint.radius * (angle + np.arctan(sine / cosine))
    c, s = E[0, :2]
    slip, off = x - rolled, y
    return np.array([E[1, 2], -E[0, 2], c * slip + s * off, -s * slip + c * off, z])


def errors_of(tree, model):
    """Return what the loop joint of a model holds, as a function of the configuration.

    Maybe complex.
    """
    (loop,) = model.loops

    def phi(q):
        poses = []
        for frame in (loop.predecessor, loop.successor):
            R, p = np.eye(3), np.zeros(3)
            if frame.body:
                R, p, _ = tree.book.kinematics(q)[tree.model.body(frame.body).name]
            E, r = np.array(frame.placement.E), np.array(frame.placement.r)
            poses += [R @ E.T, p + R @ r]
        return holonomic(loop.joint, *poses)

    return phi


def derivatives(tree, model, q, v):
    """Return K and k of phi(q), by complex steps and differences of them."""
    phi = errors_of(tree, model)

    def jacobian(q):
        columns = np.eye(tree.model.tree_nv)
        return np.array([tree.book.rate(phi, q, column) for column in columns]).T

    return jacobian(q), -slope(lambda t: jacobian(q + t * v) @ v)


def check_derivatives(tree, model, q, v):
    """Return K and k against phi(q); the errors themselves."""
    delta, _, K, k = run(loop_constraints, model, q=q, v=v)
    assert_allclose(delta, errors_of(tree, model)(q), atol=1e-12)
    expected, bias = derivatives(tree, model, q, v)
    assert_allclose(K, expected, atol=1e-11)
    assert_allclose(k, bias, atol=1e-8 * (1.0 + np.abs(k).max()))
    return delta


every_pair_of_bodies = pytest.mark.parametrize('pair', [(0, 6), (3, 6), (5, 2)])


@pytest.mark.seed('JM11', kind='full')
@pytest.mark.parametrize('joint', HIGHER_PAIRS, ids=example_id)
@every_pair_of_bodies
def test_jacobian_and_bias_are_the_derivatives_of_the_loop_errors(joint, pair):
    """K and k = -Kdot qd of closed loops in space."""
    tree = named_tree('chain')
    for number, (q, v, _) in enumerate(tree.states):
        model = closed_at(tree.model, q, (joint,), np.random.default_rng(number), (pair,))
        K = run(loop_constraints, model, q=q, v=v)[2]
        # along a motion that the loop allows: off it, K is no derivative of the errors
        v = v - np.linalg.pinv(K) @ (K @ v)
        assert_allclose(check_derivatives(tree, model, q, v), 0.0, atol=1e-12)


@pytest.mark.seed('JM11', kind='part')
@pytest.mark.parametrize('joint', HIGHER_PAIRS, ids=example_id)
@pytest.mark.parametrize('pair', [(0, 9), (8, 1)])
def test_all_bodies_at_once_move_as_the_derivatives_say(joint, pair):
    """The textbook's H a + C = tau + K^T lambda with K a = k, for bodies in base coordinates."""
    text = random_trees.tree(21, 9, ('revolute', 'prismatic'), branching=0.0)
    tree = SimpleNamespace(model=load_urdf(text), book=Textbook(text))
    q, v, tau = tree.book.layout.random_states(np.random.default_rng(4))
    model = closed_at(tree.model, q, (joint,), np.random.default_rng(5), (pair,))
    K, _ = derivatives(tree, model, q, v)
    v = v - np.linalg.pinv(K) @ (K @ v)
    K, k = derivatives(tree, model, q, v)
    assert np.abs(k).max() > 0.01
    free, H = tree.book.forward_dynamics(q, v, tau, {}), tree.book.mass_matrix(q)
    multipliers = np.linalg.solve(K @ np.linalg.solve(H, K.T), k - K @ free)
    expected = free + np.linalg.solve(H, K.T @ multipliers)
    found = solve_global_system(global_system(model, q, v, tau))
    assert_allclose(found.qdd, expected, rtol=0, atol=1e-7 * np.abs(expected).max())


@pytest.mark.seed('JM11', kind='full')
@every_pair_of_bodies
def test_a_sphere_off_its_cylinder_moves_as_its_errors_say(pair):
    """Wherever the sphere is, not only on its line, and however it moves."""
    tree, joint = named_tree('chain'), SphereInCylinder((0.48, -0.6, 0.64))
    for number, (q, v, _) in enumerate(tree.states):
        rng = np.random.default_rng(number)
        model = with_random_loops(tree.model, (joint,), rng, (pair,))
        assert np.abs(check_derivatives(tree, model, q, v)).max() > 0.1


def test_loop_joints_move_as_they_are_pushed():
    """Power of the active forces of loop joints is that of the wrenches, and of J^T f."""
    for joint in HIGHER_PAIRS:
        _, robot, q, v, _ = closed_robot(17, (joint,), ((2, 8),), branching=0.0)
        found = robot.loops.motion(q, v)
        (loop,) = robot.model.loops
        frames = loop.predecessor, loop.successor
        X0 = body_transforms(robot.model, q.tolist())
        Xp, Xs = (f.placement * X0[f.body] for f in frames)
        X = Xs * Xp.inverse()
        S = np.array([s.to_array() for s in joint.motion_subspace_at(X).columns], dtype=float).T
        _, velocity = body_velocities(robot.model, q.tolist(), v.tolist())
        vp, vs = (np.array(list(f.placement * velocity[f.body])) for f in frames)
        assert_allclose(S @ found.rate, vs - X.matrix() @ vp, atol=1e-10)
        forces = np.arange(1.0, joint.nv + 1.0)
        (wrench,) = robot.loops.wrenches(q, np.zeros(6 - joint.nv), forces)
        power = wrench @ (np.linalg.inv(Xs.matrix()) @ (vs - X.matrix() @ vp))
        assert power == pytest.approx(forces @ found.rate, rel=1e-10)
        # the same forces in the equations of motion are J^T f
        H, C, K, *_ = robot.loops.equations_of_motion(q, v, forces)
        _, free, *_ = robot.loops.equations_of_motion(q, v, 0.0 * forces)
        assert (free - C) @ v == pytest.approx(power, rel=1e-9)
        # and multipliers push along K
        (wrench,) = robot.loops.wrenches(q, np.ones(6 - joint.nv), 0.0 * forces)
        other = np.random.default_rng(1).normal(size=robot.nv)
        _, velocity = body_velocities(robot.model, q.tolist(), other.tolist())
        vp, vs = (np.array(list(f.placement * velocity[f.body])) for f in frames)
        power = wrench @ (np.linalg.inv(Xs.matrix()) @ (vs - X.matrix() @ vp))
        assert power == pytest.approx(np.sum(K @ other), rel=1e-9)


@pytest.mark.parametrize('joint', HIGHER_PAIRS, ids=example_id)
def test_displacement_is_the_position_that_takes_one_frame_to_the_other(joint, rng):
    position = list(joint.sample(rng.random(joint.uniforms).tolist(), -2.5, 2.5))
    X = joint.transform(joint.normalize(position))
    step = joint.displacement_at(X)
    # where positions are no quaternions, it is the position
    q = step if len(step) == joint.nq else joint.integrate(joint.neutral(), step)
    again = joint.transform(q)
    assert_allclose(again.matrix(), X.matrix(), atol=1e-12)


def test_a_pinion_may_roll_on_and_on():
    joint = RackAndPinion(0.3)
    X = joint.transform([40.0])
    assert_allclose(joint.loop_error(X), 0.0, atol=1e-13)
    assert_allclose(joint.displacement_at(X), [40.0])
    turned = RackAndPinion(0.0)
    assert_allclose(turned.displacement_at(turned.transform([2.5])), [2.5])


@pytest.mark.parametrize(
    'joint', [SphericalYawPitchRoll(), Rheonomic(Revolute(Z), Polynomial((0.0, 1.0)))], ids=repr
)
def test_joints_that_cannot_close_a_loop_are_rejected_by_name(joint):
    """One whose angles have a singularity, and one that depends on time."""
    model = linkages.four_bar().with_loops(())
    loop = LoopJoint('closing', linkages.frame(0), linkages.frame(3), joint)
    with pytest.raises(ModelError, match=f"'closing'.*{type(joint).__name__}.*lower pair"):
        model.with_loops([loop])
