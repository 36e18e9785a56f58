# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forces and motions across joints: the identities of the general joint model (book 3.5)."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.all_joints import every_joint, slope, tree

from rbd_ros import Robot
from rbd_ros.algorithms.kinematics.kinematics import body_velocities
from rbd_ros.model.joints import Revolute
from rbd_ros.textbook.models.joint_forces import active_forces, split_force


def columns(vectors):
    return np.array([x.to_array() for x in vectors], dtype=float).reshape(-1, 6).T


def state(joint, seed=3):
    rng = np.random.default_rng(seed)
    q = list(joint.sample(rng.random(joint.uniforms), -np.inf, np.inf))
    return rng, q, rng.normal(size=joint.nv)


@pytest.mark.seed('CT10')
@every_joint
def test_forces_across_a_joint_are_active_ones_and_constraint_forces(joint):
    """T_a^T S = 1, T^T S = 0, S^T f_J = tau, and the constraint forces do no work."""
    rng, q, v = state(joint)
    S, T = columns(joint.motion_subspace(q).columns), columns(joint.constraint_forces(q))
    T_a = active_forces(joint, q)
    assert_allclose(T_a.T @ S, np.eye(joint.nv), atol=1e-13)
    assert_allclose(T.T @ S, 0.0, atol=1e-14)
    other = T_a + T @ rng.normal(size=(6 - joint.nv, joint.nv))  # of a motor elsewhere
    tau, constraint = rng.normal(size=joint.nv), rng.normal(size=6 - joint.nv)
    for active in (T_a, other):
        f = active @ tau + T @ constraint
        found = split_force(joint, q, f, active)
        assert_allclose(found.tau, tau, atol=1e-12)
        assert_allclose(S.T @ f, tau, atol=1e-12)
        assert_allclose(found.constraint, constraint, atol=1e-12)
        assert_allclose(found.active + found.load, f, atol=1e-13)
        assert found.load @ (S @ v) == pytest.approx(0.0, abs=1e-12)
    if 0 < joint.nv < 6:
        mixed = split_force(joint, q, other @ tau)
        assert_allclose(mixed.tau, tau, atol=1e-12)
        assert np.abs(mixed.load).max() > 1e-3
    if joint.nv:
        for wrong in (2.0 * T_a, T_a[:, :-1]):
            with pytest.raises(ValueError, match='T_a'):
                split_force(joint, q, f, wrong)


@pytest.mark.seed('CT10', kind='full')
@every_joint
def test_accelerations_across_a_joint(joint):
    """a_J = S qdd + c_J + v_s x v_J, and T^T a_J has no qdd in it (book eq 3.40 to 3.44).

    In a tree that moves: the joint's velocity, the difference of its bodies', is differentiated in
    base coordinates.
    """
    model = tree(joint, 0)
    rng = np.random.default_rng(4)
    robot = Robot(model)
    q = np.array(robot.random_configuration(rng))
    v, a = rng.normal(size=(2, robot.nv))

    def at(t):
        step, moved = t * v + 0.5 * t * t * a, np.empty(len(q))
        for i, (at_q, at_v) in model.independent_slices.items():
            moved[at_q] = model.body(i).joint.integrate(q[at_q].tolist(), step[at_v].tolist())
        return moved.tolist(), (v + t * a).tolist()

    def joint_velocity(t):
        X0, velocity = body_velocities(model, *at(t))
        outer, inner = (X0[i].inverse_apply(velocity[i]) for i in (2, 1))
        return np.array((outer - inner).to_array(), dtype=float)

    X0, velocity = body_velocities(model, *at(0.0))
    _, S, v_J, c_J = joint.calc(q[model.body(2).q].tolist(), v[model.body(2).v].tolist())
    across = X0[2].matrix() @ slope(joint_velocity)
    product = c_J.to_array() + velocity[2].cross_matrix() @ v_J.to_array()
    qdd = a[model.body(2).v]
    assert_allclose(across, columns(S.columns) @ qdd + product, atol=1e-9)
    T = columns(joint.constraint_forces(q[model.body(2).q].tolist()))
    assert_allclose(T.T @ v_J.to_array(), 0.0, atol=1e-13)
    assert_allclose(T.T @ across, T.T @ product, atol=1e-9)

    def carried(t):
        """Return T in base coordinates, (6, 6 - nv)."""
        moved, _ = at(t)
        X, _ = body_velocities(model, *at(t))
        T = joint.constraint_forces(moved[model.body(2).q])
        return columns([X[2].inverse_apply(x) for x in T])

    # d/dt (T^T v_J) = 0: T^T a_J = -Tdot^T v_J
    rate = -slope(carried).T @ joint_velocity(0.0)
    assert_allclose(carried(0.0).T @ slope(joint_velocity), rate, atol=1e-8)


@pytest.mark.seed('CT11', kind='full')
def test_a_motor_that_drives_a_hinge_by_a_pinion_loads_its_bearings():
    """Book example 3.2: a pinion at radius r pushes with tau / r along y.

    The motion does not depend on the radius, the load on the bearings does.
    """
    hinge, q = Revolute((0.0, 0.0, 1.0)), [0.4]
    S = columns(hinge.motion_subspace(q).columns)
    T = columns(hinge.constraint_forces(q))
    assert_allclose(S[:, 0], [0, 0, 1, 0, 0, 0])
    assert_allclose(np.sort(T), np.sort(np.delete(np.eye(6), 2, axis=1)))
    push, loads = 7.0, []
    model = tree(hinge, 1)
    robot, rng = Robot(model), np.random.default_rng(2)
    state_q, v, a = np.array(robot.random_configuration(rng)), *rng.normal(size=(2, robot.nv))
    tau = robot.inverse_dynamics(state_q, v, a)
    for r in (0.1, 0.4):
        T_a = np.array([[0, 0, 1, 0, -1 / r, 0]]).T
        assert_allclose(T_a.T @ S, 1.0)
        alone = split_force(hinge, q, T_a @ [-r * push], T_a)  # the pinion's push and nothing else
        assert_allclose(alone.active, [0, 0, -r * push, 0, push, 0], atol=1e-14)
        assert_allclose(alone.load, 0.0, atol=1e-14)
        f = robot.reactions(state_q, v, a)[1]
        found = split_force(hinge, state_q[1:2], f, T_a)
        # what the hinge's own equation of motion takes: the same torque, so the same motion
        rotor = model.body(2).armature * a[1]
        assert found.tau[0] + rotor == pytest.approx(tau[1], rel=1e-10)
        assert_allclose(found.load[[0, 1, 3, 5]], f[[0, 1, 3, 5]], atol=1e-12)
        assert found.load[4] == pytest.approx(f[4] + found.tau[0] / r)
        assert found.load[2] == pytest.approx(0.0, abs=1e-12)
        loads.append(found.load)
    assert_allclose(robot.forward_dynamics(state_q, v, tau), a, atol=1e-10)
    assert np.abs(loads[0] - loads[1]).max() > 1e-2
