# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The sampled closed loop at rest, with integral and dead time, is asymptotically stable.

The law is linearized by finite differences, the robot by its mass matrix, its viscous friction and
the gradient of gravity.
"""

from hypothesis import given, settings as profile, strategies as st
import numpy as np
import pytest
from scipy.linalg import expm
from support.arms import EMBEDDED, load, REAL
from support.random_trees import SIMPLE_TYPES, tree

from rbd_ros import Robot
from rbd_ros.control import default_gains, LawSettings, TorqueLaw
from rbd_ros.control.law.gains import gravity_gradient

STEP = 1e-6


def differences(function, n):
    """Return the derivative of a function of a vector about zero, (m, n)."""
    columns = [function(STEP * e) - function(-STEP * e) for e in np.eye(n)]
    return np.array(columns).T / (2.0 * STEP)


def spectral_radius(robot, law, q, period, delay):
    """Return the greatest eigenvalue of the loop from one sample to the next.

    State: errors of position and velocity, integral torque, torques on their way.
    """
    n, rest = robot.nv, np.zeros(robot.nv)

    def torque(dq, dv):
        return law(q + dq, dv, q, rest, rest)

    def growth(dq):
        law.reset()
        # Not about zero, where the integral of a joint without error rests.
        law(q + dq + 1e-4, rest, q, rest, rest, dt=0.01)
        return law.integral * (period / 0.01)

    stiffness, damping = (
        -differences(lambda x: torque(x, rest), n),
        -differences(lambda x: torque(rest, x), n),
    )
    integral = -differences(growth, n)
    # Robot: H a = -(D v + G x) + u, exact over one period with u held.
    H = robot.mass_matrix(q)
    G = gravity_gradient(robot, q[None])[0]
    plant = np.zeros((3 * n, 3 * n))
    plant[:n, n : 2 * n] = np.eye(n)
    plant[n : 2 * n] = np.linalg.solve(H, np.hstack([-G, -np.diag(robot.damping), np.eye(n)]))
    moved = expm(plant * period)
    A, B = moved[: 2 * n, : 2 * n], moved[: 2 * n, 2 * n :]
    size = (3 + delay) * n
    loop = np.zeros((size, size))
    loop[: 2 * n, : 2 * n] = A
    new = np.hstack([-stiffness, -damping, np.eye(n), np.zeros((n, delay * n))])
    if delay:
        loop[: 2 * n, 3 * n : 4 * n] = B
        for k in range(delay - 1):
            loop[(3 + k) * n : (4 + k) * n, (4 + k) * n : (5 + k) * n] = np.eye(n)
        loop[(2 + delay) * n :] = new
    else:
        loop[: 2 * n] += B @ new
    loop[2 * n : 3 * n, :n] = -integral
    loop[2 * n : 3 * n, 2 * n : 3 * n] = np.eye(n)
    return np.abs(np.linalg.eigvals(loop)).max()


def check(robot, seed, period, delay, count=5, **options):
    given_gains = dict(zip(('kp', 'kd', 'ki'), default_gains(robot, **options)))
    settings = LawSettings.for_robot(
        robot,
        feedback=options.get('feedback', 'computed_torque'),
        friction='none',
        integral_deadband=0.0,
        effort_limits=np.inf,
        **given_gains,
    )
    law = TorqueLaw(robot, settings)
    rng = np.random.default_rng(seed)
    for _ in range(count):
        q = robot.random_configuration(rng)
        assert spectral_radius(robot, law, q, period, delay) < 1.0


@pytest.mark.parametrize('name', EMBEDDED + REAL)
@pytest.mark.parametrize(('period', 'delay'), [(1e-3, 3), (5e-3, 1), (1e-2, 1)])
def test_default_gains_are_stable_with_dead_time(name, period, delay):
    check(load(name), 0, period, delay, count=10)


@pytest.mark.parametrize('name', EMBEDDED + REAL)
def test_default_gains_of_pd_are_stable_with_dead_time(name):
    check(load(name), 0, 1e-3, 3, count=10, feedback='pd')


@given(st.integers(0, 10**6), st.floats(2.0, 20.0), st.floats(0.5, 1.5))
@profile(max_examples=12, deadline=None)
def test_gains_of_any_robot_and_frequency_are_stable(seed, frequency, ratio):
    robot = Robot.from_urdf(tree(seed % 7, bodies=4, types=SIMPLE_TYPES))
    gains = {'natural_frequency': frequency, 'damping_ratio': ratio}
    check(robot, seed, 1e-3, 3, **gains)
    check(robot, seed, 5e-3, 1, **gains)


@given(st.integers(0, 10**6), st.floats(2.0, 18.0), st.floats(0.7, 1.5))
@profile(max_examples=8, deadline=None)
def test_gains_of_pd_of_any_robot_and_frequency_are_stable(seed, frequency, ratio):
    robot = Robot.from_urdf(tree(seed % 5, bodies=4, types=SIMPLE_TYPES))
    check(robot, seed, 1e-3, 1, feedback='pd', natural_frequency=frequency, damping_ratio=ratio)


def test_gains_below_the_gradient_of_gravity_are_not():
    """The test can fail."""
    robot = load('six_axis_arm')
    settings = LawSettings.for_robot(robot, feedback='pd', friction='none', kp=20.0, kd=10.0)
    law = TorqueLaw(robot, settings)
    radius = spectral_radius(robot, law, np.array([0, -np.pi / 2, 0, 0, 0, 0]), 1e-3, 1)
    assert radius > 1.0
