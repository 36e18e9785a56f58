# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Base parameters: as many as are identifiable, and sufficient for the forces."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import urdf_text
from support.states import every_robot, named_robot, random_state

from rbd_ros import Robot
from rbd_ros.algorithms.regressors.base_parameters import base_parameters
from rbd_ros.spatial import PluckerTransform, RigidBodyInertia


def planar_arm():
    """Return two hinges about z in a vertical plane, gravity along -y."""
    first = urdf_text.inertial(2.0, (0.1, 0, 0, 0.2, 0, 0.25), '0.3 0.1 0')
    second = urdf_text.inertial(1.0, (0.05, 0, 0, 0.06, 0, 0.1), '0.2 -0.05 0')
    text = urdf_text.robot(
        urdf_text.link('base'),
        urdf_text.link('upper', first),
        urdf_text.link('lower', second),
        urdf_text.joint('shoulder', 'base', 'upper', axis='0 0 1'),
        urdf_text.joint(
            'elbow', 'upper', 'lower', 'revolute', '<origin xyz="0.7 0 0"/>', axis='0 0 1'
        ),
    )
    return Robot.from_urdf(text, gravity=(0.0, -9.81, 0.0))


@pytest.mark.seed('BL08', kind='full')
def test_a_planar_arm_of_two_links_has_the_six_that_books_give():
    """Izz1 + m2 l^2, m1 cx1 + m2 l, m1 cy1, Izz2, m2 cx2, m2 cy2; recovered from noisy forces."""
    robot = planar_arm()
    base, names = robot.regressors.base_parameters(), robot.regressors.parameter_names
    assert [names[k] for k in base.columns] == [
        *(f'upper: {name}' for name in ('m cx', 'm cy', 'Izz')),
        *(f'lower: {name}' for name in ('m cx', 'm cy', 'Izz')),
    ]
    pi = robot.regressors.parameters
    value = dict(zip(names, pi))
    length = 0.7
    expected = [
        value['upper: m cx'] + length * value['lower: m'],
        value['upper: m cy'],
        value['upper: Izz'] + length**2 * value['lower: m'],
        value['lower: m cx'],
        value['lower: m cy'],
        value['lower: Izz'],
    ]
    assert_allclose(base.of(pi), expected, rtol=1e-9)

    rng = np.random.default_rng(3)
    q, v, a = rng.uniform(-3.0, 3.0, (3, 400, 2))
    Y, tau = robot.regressors.torque(q, v, a), robot.inverse_dynamics(q, v, a)
    assert_allclose(base.fit(Y, tau), expected, rtol=1e-9)
    noisy = tau + rng.normal(scale=0.01 * np.abs(tau).max(), size=tau.shape)
    beta = base.fit(Y, noisy)
    assert_allclose(beta, expected, atol=0.05 * np.max(expected))
    q, v, a = rng.uniform(-3.0, 3.0, (3, 100, 2))  # other states than those of the fit
    tau = robot.inverse_dynamics(q, v, a)
    predicted = base.reduce(robot.regressors.torque(q, v, a)) @ beta
    assert np.abs(predicted - tau).max() < 0.02 * np.abs(tau).max()


@every_robot
def test_forces_depend_on_the_base_parameters_alone(name):
    robot = named_robot(name)
    base = robot.regressors.base_parameters()
    q, v, a = random_state(robot)
    Y = robot.regressors.torque(q, v, a)
    rng = np.random.default_rng(4)
    pi = rng.normal(size=Y.shape[1])  # any bodies, possible or not
    tau = Y @ pi
    assert_allclose(base.reduce(Y) @ base.of(pi), tau, atol=1e-9 * np.abs(tau).max())
    # none of them can be done without
    states = [random_state(robot, seed) for seed in range(40)]
    stack = np.concatenate([base.reduce(robot.regressors.torque(*state)) for state in states])
    size = np.linalg.norm(stack, axis=0)
    if len(stack) >= len(base.columns):
        assert np.linalg.matrix_rank(stack / size, tol=1e-8) == len(base.columns)


def test_inertia_that_a_hinge_cannot_separate_from_its_parent_does_not_count():
    """Book table 9.7: of a hinge about z, Ixx and Iyy together, m, and m cz."""
    robot = planar_arm()
    base = robot.regressors.base_parameters()
    X = PluckerTransform.translation((0.7, 0.0, 0.0))
    for delta in ([0, 0, 0, 0, 1, 0, 0, 1, 0, 0], [1, *[0] * 9], [0, 0, 0, 1, *[0] * 6]):
        on_child = RigidBodyInertia.from_parameters([float(x) for x in delta])
        on_parent = -1.0 * X.inverse_apply(on_child)
        shifted = np.array([*on_parent.parameters(), *on_child.parameters()], dtype=float)
        assert np.abs(shifted).max() == 1.0
        assert_allclose(base.of(shifted), 0.0, atol=1e-9)


def test_states_that_excite_too_little_are_rejected():
    robot = planar_arm()
    base = robot.regressors.base_parameters()
    q = np.random.default_rng(1).uniform(-1.0, 1.0, (50, 2))
    still = np.zeros((50, 2))
    Y = robot.regressors.torque(q, still, still)
    with pytest.raises(ValueError, match='excite 4 of 6 base parameters'):
        base.fit(Y, robot.gravity_torque(q))
    with pytest.raises(ValueError, match='3 rows cannot determine 20 parameters'):
        base_parameters(np.ones((3, 20)))
