# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Every joint type in a tree: all algorithms, on floats and compiled, against rates of momentum.

Of the two trees of each joint, one is compiled. The oracle has no accelerations: it is Newton's
law
for each body, whose momentum in base coordinates is differentiated numerically along a motion. So
c_J, Sring and everything that depends on them follow from transforms only.
"""

import math

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.all_joints import every_joint, slope, tree, worked_example
from support.interpreted import interpreted

from rbd_ros import Robot
from rbd_ros.algorithms.articulated_body.aba import aba
from rbd_ros.algorithms.inertia_matrix.crba import crba
from rbd_ros.algorithms.inverse_dynamics.coriolis import coriolis_matrix
from rbd_ros.algorithms.inverse_dynamics.rnea import rnea
from rbd_ros.algorithms.kinds import REFERENCES
from rbd_ros.algorithms.kinematics.jacobians import jacobian, jacobian_derivative
from rbd_ros.algorithms.kinematics.kinematics import body_transforms, body_velocities
from rbd_ros.spatial import MotionVector
from rbd_ros.textbook.tree_dynamics.rnea_spatial import rnea_spatial

every_seed = pytest.mark.parametrize('seed', range(2))


@pytest.fixture(scope='module')
def robots():
    """Return the robots by joint and seed: made once for all tests."""
    return {}


def case(robots, joint, seed):
    """Return the model, robot, position, velocity, acceleration and a force on each body."""
    if (joint, seed) not in robots:
        robots[joint, seed] = (interpreted if seed else Robot)(tree(joint, seed))
    robot, rng = robots[joint, seed], np.random.default_rng(seed + 7)
    q = robot.random_configuration(rng)
    return robot.model, robot, q, rng.normal(size=robot.nv), rng.normal(size=robot.nv)


def moved(model, q, step):
    result = np.empty(len(q))
    for i, (at_q, at_v) in model.independent_slices.items():
        result[at_q] = model.body(i).joint.integrate(q[at_q].tolist(), step[at_v].tolist())
    return result


def momenta(model, q, v):
    """Return the momentum of each body in base coordinates, (N, 6)."""
    X0, velocity = body_velocities(model, q.tolist(), v.tolist())
    return np.array([
        (X0[i].inverse_apply(body.inertia * velocity[i])).to_array() for i, body in model.outward()
    ])  # fmt: skip


def torque_of_momentum(model, q, v, a):
    """Return the inverse dynamics from the rates of the bodies' momenta, (nv,)."""
    rates = slope(lambda t: momenta(model, moved(model, q, t * v + 0.5 * t * t * a), v + t * a))
    X0 = body_transforms(model, q.tolist())
    gravity = MotionVector((0.0, 0.0, 0.0), model.gravity)
    tau = np.zeros(model.nv)
    for i, body in model.outward():
        weight = X0[i].inverse_apply(body.inertia * X0[i].apply(gravity)).to_array()
        force = rates[i - 1] - np.array(weight, dtype=float)
        for j in model.support(i):
            other = model.body(j)
            for k, s in zip(
                range(model.nv)[other.v], other.joint.motion_subspace(q[other.q].tolist()).columns
            ):
                tau[k] += np.array(X0[j].inverse_apply(s).to_array(), dtype=float) @ force
    armature = np.concatenate([np.full(body.joint.nv, body.armature) for body in model.bodies])
    return tau + armature * a


@pytest.mark.seed('MD11', kind='full')
@every_joint
@every_seed
def test_inverse_dynamics_is_newtons_law(robots, joint, seed):
    model, robot, q, v, a = case(robots, joint, seed)
    expected = torque_of_momentum(model, q, v, a)
    for algorithm in (rnea_spatial, rnea):
        assert_allclose(algorithm(model, q.tolist(), v.tolist(), a.tolist()), expected, atol=1e-8)
    assert_allclose(robot.inverse_dynamics(q, v, a), expected, atol=1e-8)


@pytest.mark.seed('MD11')
@every_joint
@every_seed
def test_forward_dynamics_inverts_inverse_dynamics(robots, joint, seed):
    model, robot, q, v, a = case(robots, joint, seed)
    tau = rnea_spatial(model, q.tolist(), v.tolist(), a.tolist())
    assert_allclose(aba(model, q.tolist(), v.tolist(), tau), a, atol=1e-10)
    assert_allclose(robot.forward_dynamics(q, v, tau), a, atol=1e-10)


@every_joint
@every_seed
def test_mass_matrix_is_the_slope_of_inverse_dynamics(robots, joint, seed):
    model, robot, q, v, _ = case(robots, joint, seed)
    bias = np.array(rnea_spatial(model, q.tolist(), v.tolist(), [0.0] * model.nv))
    columns = [
        np.array(rnea_spatial(model, q.tolist(), v.tolist(), unit.tolist())) - bias
        for unit in np.eye(model.nv)
    ]
    assert_allclose(np.array(crba(model, q.tolist())), np.array(columns).T, atol=1e-11)
    assert_allclose(robot.mass_matrix(q), np.array(columns).T, atol=1e-11)
    assert_allclose(0.5 * v @ robot.mass_matrix(q) @ v, robot.energy(q, v).kinetic, rtol=1e-12)


@every_joint
@every_seed
def test_coriolis_matrix_gives_force_and_leaves_power_to_inertia(robots, joint, seed):
    """C v is the velocity-product force; v^T (Hdot - 2 C) v = 0 though v is no rate of q."""
    model, robot, q, v, _ = case(robots, joint, seed)
    C = np.array(coriolis_matrix(model, q.tolist(), v.tolist()))
    force = robot.bias_force(q, v) - robot.gravity_torque(q)
    assert_allclose(C @ v, force, atol=1e-11)
    assert_allclose(robot.coriolis_matrix(q, v), C, atol=1e-12)
    rate = slope(lambda t: robot.mass_matrix(moved(model, q, t * v)))
    assert v @ (rate - 2.0 * C) @ v == pytest.approx(0.0, abs=1e-8)


@every_joint
@every_seed
@pytest.mark.parametrize('reference', REFERENCES)
def test_jacobian_derivative_is_the_rate_of_the_jacobian(robots, joint, seed, reference):
    model, robot, q, v, _ = case(robots, joint, seed)
    frame = model.frame('link4')

    def J(t):
        at = moved(model, q, t * v).tolist()
        return np.array(jacobian(model, at, frame, reference), dtype=float)

    Jdot = jacobian_derivative(model, q.tolist(), v.tolist(), frame, reference)
    assert_allclose(Jdot, slope(J), atol=1e-8)
    compiled = robot.jacobian_derivative(q, v, 'link4', reference=reference)
    assert_allclose(compiled, Jdot, atol=1e-12)


@every_joint
@every_seed
def test_center_of_mass_moves_by_its_jacobian(robots, joint, seed):
    model, robot, q, v, _ = case(robots, joint, seed)
    rate = slope(lambda t: robot.center_of_mass(moved(model, q, t * v)))
    assert_allclose(robot.center_of_mass_jacobian(q) @ v, rate, atol=1e-9)


@every_joint
def test_configurations_go_through_the_robot(robots, joint):
    model, robot, q, v, _ = case(robots, joint, 0)
    end = robot.integrate(q, v, 0.3)
    assert_allclose(end, moved(model, q, 0.3 * v), atol=1e-14)
    assert_allclose(robot.difference(q, end), 0.3 * v, atol=1e-13)
    assert_allclose(robot.integrate(robot.neutral(), np.zeros(robot.nv), 1.0), robot.neutral())
    assert math.isfinite(robot.energy(q, v).total)


def test_an_edited_type_is_compiled_again():
    """It is not the package's, so its source must be part of the key of the cache."""
    lift = '1.0 - cos(q[0])'
    kinds = worked_example(), worked_example(lift, f'2.0 * ({lift})')
    assert repr(kinds[0](0.1)) == repr(kinds[1](0.1))
    q = np.array([0.1, 0.5, 0.2, 0.7])
    poses = [Robot(tree(kind(0.1), 0)).forward_kinematics(q)['link4'] for kind in kinds]
    assert np.abs(poses[0] - poses[1]).max() > 1e-3
