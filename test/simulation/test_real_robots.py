# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Real robots with maximum torques and without, on the ground and without it."""

import warnings

import numpy as np
import pytest
from support import example_robots

from rbd_ros import Robot, Simulator
from rbd_ros.contact import HalfSpace

ARMS = (
    'ur5_robot',
    'ur5_gripper',
    'panda',
    'kinova',
    'xarm7',
    'z1',
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

#: Height of the floor below robots that reach below their base [m]; 0 below others.
FLOORS = {
    'allegro_right_hand': -0.3,
    'panda_collision': -0.1,
    'talos_left_arm': -1.5,
}
#: Margin of velocity limits: the tolerance of the solver at the fastest joint [rad/s, m/s].
TOO_FAST = 1e-6
#: Depth at which nothing is in the floor [m]: what strikes it at 20 rad/s may be 0.02 mm deep in
#: a step.
DEEP = 1e-4
#: Most steps of 2000 that are not solved to the tolerance. Where two feet press each other and the
#: ground, or fingers each other, gaps of nanometres ask for velocities that contradict each other
#: by 1e-10 and more. Which steps meet them is chance: 20 to 40 of talos_reduced_box, for starts
#: that differ by rounding.
UNSOLVED = 5
OFTEN_UNSOLVED = {
    'alex_psyonic_hands': 10,
    'talos_reduced_box': 60,
}
#: Most steps in which something overlaps and cannot be separated: a finger under a hand that falls
#: on it, which is as fast as it may be.
UNRESOLVED_OVERLAPS = {'alex_psyonic_hands': 20}


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


@pytest.mark.slow
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
    assert simulator.status.contacts_truncated == 0


def all_robots():
    """Return the names of robots whose dynamics have a solution, of variants one."""
    left_out = {*example_robots.MASSLESS, *example_robots.VARIANTS} - {*OFTEN_UNSOLVED}
    return [name for name in example_robots.loadable() if name not in left_out]


@pytest.mark.slow
@pytest.mark.parametrize('name', all_robots())
def test_every_robot_runs_in_a_world_from_its_default_start(robot_paths, name):
    """For 2 s without torques: it falls, and lies on a floor and on itself."""
    floating = name not in example_robots.FIXED
    robot = load(robot_paths, name, floating_base=floating)
    floor = {'type': 'plane', 'xyz': [0, 0, FLOORS.get(name, 0.0)]}
    simulator = Simulator(robot, 1e-3, world={'objects': {'floor': floor}})
    at = simulator.physics.model.position
    limited = (at >= 0) & (robot.velocity_limits > 0.0)
    limits = robot.velocity_limits[limited]
    for _ in range(200):
        q = simulator.q
        simulator.step(n=10)
        moved = (simulator.q - q)[at[limited]]
        assert (np.abs(moved) <= 0.01 * limits + TOO_FAST).all()
        assert (np.abs(simulator.v[limited]) <= limits + TOO_FAST).all()
    assert np.isfinite(simulator.q).all() and np.isfinite(simulator.v).all()
    status = simulator.status
    assert status.steps == 2000 and status.contacts_truncated == 0
    # Inertia divides few steps, rounding none: iCub has a direction that moves next to no mass.
    assert status.substeps < 0.5 * status.steps
    assert status.unresolved_overlap_steps <= UNRESOLVED_OVERLAPS.get(name, 0)
    assert status.unconverged_steps <= OFTEN_UNSOLVED.get(name, UNSOLVED)
    gaps = simulator.distances().distance
    on_floor = ['floor' in pair for pair in simulator.distance_pairs]
    assert gaps[on_floor].min(initial=0.0) > -DEEP
