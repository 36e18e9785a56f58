# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Changes of the robot's inertias during a simulation, as of a payload: `Physics.load`."""

import numpy as np
import pytest

from rbd_ros import Robot, Simulator
from rbd_ros.hil import Fault
from rbd_ros.hil.scenario.payloads import MAX_KEPT, payload_sets, with_payloads
from rbd_ros.lookup.resources import resource_path

Q = np.array([0.1, -1.2, 1.3, -0.9, -1.1, 0.2])
PAYLOAD = Fault('payload', 2.0, link='tool0', center_of_mass=(0.0, 0.02, 0.05))
WORLD = {'objects': {'table': {'type': 'box', 'size': [1, 1, 0.1], 'xyz': [0.5, 0, -0.3]}}}


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))


@pytest.fixture(scope='module')
def loaded(arm):
    return with_payloads(arm, [PAYLOAD])


KINDS = [
    {'integrator': 'semi_implicit'},
    {'integrator': 'midpoint'},
    {'integrator': 'rk4'},
    {'world': WORLD},
]


@pytest.mark.parametrize('options', KINDS, ids=str)
def test_the_motion_continues_as_that_of_the_robot_with_them(arm, loaded, options):
    simulator, other = Simulator(arm, **options), Simulator(loaded, **options)
    tau = arm.gravity_torque(Q)
    simulator.reset(Q)
    simulator.step(tau, n=50)
    simulator.physics.change_inertias(loaded)
    assert simulator.physics.loaded_robot is loaded and simulator.time == pytest.approx(0.05)
    other.reset(simulator.q, simulator.v)
    for each in (simulator, other):
        each.step(tau, n=100)
    assert (simulator.q == other.q).all() and (simulator.v == other.v).all()
    # And back, without the payload.
    simulator.physics.change_inertias(arm)
    alone = Simulator(arm, **options)
    alone.reset(simulator.q, simulator.v)
    for each in (simulator, alone):
        each.step(tau, n=100)
    assert (simulator.q == alone.q).all() and (simulator.v == alone.v).all()


def test_sensors_feel_it(arm, loaded):
    simulator = Simulator(arm)
    sensors = simulator.sensors(force_torque=['tool0'], joint_torques=['elbow_joint'])
    simulator.reset(Q)
    simulator.step(arm.gravity_torque(Q), n=5)
    force = sensors.wrenches['tool0'][3:]
    assert np.abs(force).max() < 1e-9  # a tool without mass
    simulator.physics.change_inertias(loaded)
    simulator.reset(Q)
    simulator.step(loaded.gravity_torque(Q), n=5)
    assert np.linalg.norm(sensors.wrenches['tool0'][3:]) == pytest.approx(2.0 * 9.81, rel=1e-9)
    assert sensors.joint_torques['elbow_joint'] == pytest.approx(loaded.gravity_torque(Q)[2])


def test_it_is_kept_when_the_world_changes_and_when_forces_begin(arm, loaded):
    simulator = Simulator(arm, world=WORLD)
    simulator.reset(Q)
    simulator.physics.change_inertias(loaded)
    simulator.add_object('ball', {'type': 'sphere', 'radius': 0.1, 'xyz': [3, 0, 1]})
    simulator.apply_wrench('tool0', np.zeros(6), 0.1)
    tau = loaded.gravity_torque(Q)
    simulator.step(tau, n=20)
    assert np.abs(simulator.q - Q).max() < 1e-9


def test_a_snapshot_is_valid_for_any_payload(arm, loaded):
    simulator = Simulator(arm)
    simulator.reset(Q)
    kept = simulator.snapshot()
    simulator.physics.change_inertias(loaded)
    simulator.step(n=10)
    simulator.restore(kept)
    assert (simulator.q == Q).all() and simulator.physics.loaded_robot is loaded


def test_another_robot_is_rejected(arm):
    other = Robot.from_urdf(resource_path('urdf', 'two_link_arm.urdf'))
    simulator = Simulator(arm)
    with pytest.raises(ValueError, match='with other inertias'):
        simulator.physics.change_inertias(other)
    assert simulator.physics.loaded_robot is arm


def test_robots_with_the_same_payloads_are_the_same_and_not_too_many_are_kept(arm):
    second = Fault('payload', 0.5, link='upper_arm_link')
    assert with_payloads(arm, []) is arm
    both = with_payloads(arm, [PAYLOAD, second])
    assert with_payloads(arm, [second, PAYLOAD]) is both
    for k in range(MAX_KEPT):
        with_payloads(arm, [Fault('payload', 0.1 + 0.01 * k, link='tool0')])
    assert with_payloads(arm, [second, PAYLOAD]) is not both


def test_all_sets_that_a_robot_will_carry_are_known_before():
    first = Fault('payload', 1.0, link='a', start_time=1.0, duration=2.0)
    second = Fault('payload', 2.0, link='b', start_time=2.0)
    noise = Fault('position_noise', 0.1, start_time=0.5)
    assert payload_sets([first, second, noise]) == [(), (first,), (first, second), (second,)]
