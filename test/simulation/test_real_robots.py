"""Real robots under the worst torques their limits allow, on the ground and in the air."""

import os
import warnings

import numpy as np
import pytest
from support import example_robots

from rbd_ros import Robot, Simulator
from rbd_ros.contact import HalfSpace

ARMS = (
    'ur5_robot',
    'ur3_robot',
    'ur10_robot',
    'ur5_gripper',
    'panda',
    'kinova',
    'xarm7',
    'z1',
    'so100',
    'so101',
    'talos_left_arm',
    'TwoDofs',
    'double_pendulum',
    'finger_edu',
    'allegro_right_hand',
    'baxter',
)
WALKERS = (
    'solo12',
    'anymal_b_simple_description/anymal',
    'hyq_no_sensors',
    'go1',
    'bolt',
    'talos_reduced',
)


def load(robot_paths, name, **options):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        return Robot.from_urdf(str(robot_paths[name]), **options)


@pytest.mark.parametrize('integrator', ['semi_implicit', 'rk4'])
@pytest.mark.parametrize('name', ARMS)
def test_any_torque_within_the_limits_keeps_an_arm_finite(robot_paths, rng, name, integrator):
    arm = load(robot_paths, name)
    simulator = Simulator(arm, 1e-3, integrator)
    reach = np.where(np.isfinite(arm.effort_limits), arm.effort_limits, 100.0)
    lower, upper = simulator.robot.lower_limits, simulator.robot.upper_limits
    for torque in ('random', 'bang', 'constant'):
        simulator.reset()
        tau = reach * rng.choice([-1, 1], arm.nv)
        for _ in range(100):
            if torque == 'random':
                tau = reach * rng.uniform(-1, 1, arm.nv)
            elif torque == 'bang':
                tau = reach * rng.choice([-1, 1], arm.nv)
            simulator.step(tau, 10)
            assert np.isfinite(simulator.q).all() and np.isfinite(simulator.v).all()
            assert np.all(np.abs(simulator.v) <= 2000.0 * (1 + 1e-9))
            assert np.all((lower - 1e-9 <= simulator.q) & (simulator.q <= upper + 1e-9))


@pytest.mark.parametrize('name', WALKERS)
def test_walkers_fall_and_come_to_rest_on_the_ground(robot_paths, name):
    walker = load(robot_paths, name, floating_base=True)
    simulator = Simulator(walker, 1e-3, ground=HalfSpace())
    q = np.clip(walker.neutral(), walker.lower_limits, walker.upper_limits)
    q[6] = 1.5
    simulator.reset(q=q)
    mass = walker.mass_matrix(q)[5, 5]
    damped = np.concatenate([np.zeros(6), np.full(walker.nv - 6, 0.02 * mass)])
    for _ in range(3000):
        simulator.step(-damped * simulator.v)
    assert np.isfinite(simulator.q).all()
    assert 0.0 < simulator.q[6] < 1.5
    support = sum(contact.force for contact in simulator.contacts)
    assert support[2] == pytest.approx(9.81 * mass, rel=0.2)
    assert simulator.status.dropped_contacts == 0


@pytest.mark.slow
def test_every_loadable_robot_simulates(robot_paths, monkeypatch):
    """One tenth of a second each, fixed base, no torque; kernels compiled quickly."""
    monkeypatch.setenv('RBD_ROS_OPTIMISATION', os.environ.get('RBD_ROS_OPTIMISATION') or '0')
    for name in robot_paths:
        if name in (
            *example_robots.EMPTY,
            *example_robots.DANGLING_MIMIC,
            *example_robots.SINGULAR,
        ):
            continue
        robot = load(robot_paths, name)
        simulator = Simulator(robot, 1e-3)
        simulator.step(n=100)
        assert np.isfinite(simulator.q).all(), name
