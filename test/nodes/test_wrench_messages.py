# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Wrench messages with ramps, without node and DDS."""

import numpy as np
import pytest
from support import outside
from support.simulated_robots import sled

outside.load('rclpy')

from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import serialize_message
from test_cycle_memory import make, run

H = 1e-3  # cycle of the node [s]


def rail():
    """Return 2 kg on a rail along x."""
    return sled(2.0, 'sphere radius="0.1"', effort=10.0)


def rig(**parameters):
    return make(rail(), initial_command='zero', **parameters)


def push(ports, force):
    message = WrenchStamped()
    message.header.frame_id = 'sled'
    message.wrench.force.x = float(force)
    ports.wrenches.append(serialize_message(message))


def speeds(cycle, ports, count):
    return np.array([velocity[0] for _, _, velocity, _ in run(cycle, ports, count)])


def test_a_push_rises_and_falls_evenly_and_its_impulse_is_that_of_one_without_ramp():
    cycle, ports = rig(external_wrench_duration=0.1, external_wrench_ramp=0.02)
    run(cycle, ports, 4)
    push(ports, 20.0)
    found = speeds(cycle, ports, 140)
    forces = 2.0 * np.diff([0.0, *found]) / H
    assert found[-1] == pytest.approx(20.0 * 0.1 / 2.0, rel=1e-9)
    assert forces.max() == pytest.approx(20.0, rel=1e-9)
    # By a twentieth of it from cycle to cycle, no more, up and down.
    assert np.abs(np.diff(forces)).max() == pytest.approx(1.0, rel=1e-6)
    assert np.count_nonzero(forces > 1e-9) == 120
    assert not cycle.wrenches.acting


def test_without_a_ramp_it_jumps():
    cycle, ports = rig(external_wrench_duration=0.1)
    run(cycle, ports, 4)
    push(ports, 20.0)
    found = speeds(cycle, ports, 140)
    forces = 2.0 * np.diff(found) / H
    assert np.abs(np.diff(forces)).max() == pytest.approx(20.0, rel=1e-9)
    assert found[-1] == pytest.approx(1.0, rel=1e-9)


def test_a_new_push_begins_with_the_active_wrench():
    cycle, ports = rig(external_wrench_duration=0.0, external_wrench_ramp=0.05)
    push(ports, 20.0)
    run(cycle, ports, 40)
    push(ports, -20.0)
    forces = 2.0 * np.diff(speeds(cycle, ports, 100)) / H
    assert np.abs(np.diff(forces)).max() < 20.0 * 2.0 / 50.0 + 1e-9
    assert forces[-1] == pytest.approx(-20.0, rel=1e-9)
    assert cycle.wrenches.acting  # until the next one
