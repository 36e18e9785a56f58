# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Commands of accelerations in the simulation cycle, without a node."""

import numpy as np
import pytest
from support import outside
from support.simulated_robots import turntable

outside.load('rclpy')

from node_harness import joint_state, TWO_LINK_ARM
from rclpy.serialization import serialize_message
from std_msgs.msg import Float64MultiArray
from test_simulation_cycle import Recorder

from rbd_ros.nodes.simulator.cycle.simulation_cycle import SimulationCycle
from rbd_ros.nodes.simulator.interface.simulator_interface import SIMULATOR_PARAMETERS
from rbd_ros.robot import Robot
from rbd_ros.simulation.stepping.drives import ACCELERATION, EFFORT, POSITION

NAMES = ['shoulder', 'elbow']


class Heard:
    """Keeps what diagnostics are reported."""

    def __init__(self):
        self.events, self.conditions = [], []

    def event(self, subject, level, text, **options):
        self.events.append(text)

    def condition(self, subject, level, text, **options):
        self.conditions.append(text)


class Rig:
    def __init__(self, robot=None, **parameters):
        values = {each.name: each.default for each in SIMULATOR_PARAMETERS}
        values.update({'acceleration_commands': True, **parameters})
        self.ports, self.reported = Recorder(), Heard()
        robot = robot or Robot.from_urdf(TWO_LINK_ARM)
        self.cycle = SimulationCycle(robot, values, self.reported, self.ports, print)
        self.simulator, self.commands = self.cycle.simulator, self.cycle.commands

    def accelerate(self, *values):
        message = Float64MultiArray(data=[float(x) for x in values])
        self.ports.accelerations.append(serialize_message(message))
        self.cycle.run()

    def command(self, **fields):
        self.ports.by_name.append(serialize_message(joint_state(NAMES, **fields)))
        self.cycle.run()

    @property
    def modes(self):
        return list(self.commands.drives.mode)


def test_joints_accelerate_as_they_are_reported():
    rig = Rig()
    for _ in range(5):
        rig.accelerate(2.0, -1.0)
        assert rig.simulator.a == pytest.approx([2.0, -1.0], abs=1e-8)
    assert rig.simulator.v == pytest.approx([0.010, -0.005], abs=1e-9)
    assert rig.commands.accepted == 5


def test_the_order_is_that_of_the_parameter_joints():
    rig = Rig(joints=['elbow', 'shoulder'])
    rig.accelerate(2.0, -1.0)
    assert rig.simulator.a == pytest.approx([-1.0, 2.0], abs=1e-8)


def test_nan_leaves_a_joint_to_its_drive():
    rig = Rig()
    rig.accelerate(np.nan, 3.0)
    assert rig.modes == [POSITION, ACCELERATION]
    assert rig.simulator.a[1] == pytest.approx(3.0, abs=1e-8)
    assert abs(rig.simulator.a[0]) < 1e-8  # its servo holds it meanwhile
    accepted = rig.commands.accepted
    rig.accelerate(np.nan, np.nan)
    assert rig.commands.accepted == accepted and rig.modes == [POSITION, ACCELERATION]


def test_interfaces_are_switched_live():
    rig = Rig()
    rig.command(position=[0.1, 0.2])
    rig.accelerate(1.0, 1.0)
    assert rig.modes == [ACCELERATION] * 2
    for _ in range(5):  # what stands is no news
        rig.command(position=[0.1, 0.2])
    assert rig.modes == [ACCELERATION] * 2
    rig.command(position=[0.1, 0.3])
    assert rig.modes == [ACCELERATION, POSITION]
    rig.command(effort=[1.0, 2.0])
    assert rig.modes == [EFFORT, EFFORT]
    rig.accelerate(1.0, np.nan)
    assert rig.modes == [ACCELERATION, EFFORT]


def test_an_old_acceleration_no_longer_counts():
    rig = Rig(command_timeout=0.5)
    rig.accelerate(1.0, 1.0)
    rig.commands.expire(rig.commands.drives.received[0] + 0.4, 0.5, 'hold', rig.simulator.q)
    assert rig.modes == [ACCELERATION] * 2
    rig.commands.expire(rig.commands.drives.received[0] + 0.6, 0.5, 'hold', rig.simulator.q)
    assert rig.modes == [POSITION] * 2
    assert any('no command for 0.5 s' in text for text in rig.reported.conditions)
    rig.command(position=[0.1, 0.2])  # anything is news now
    assert list(rig.commands.drives.position) == [0.1, 0.2]


@pytest.mark.parametrize(
    'values, text',
    [
        ((1.0,), '1 accelerations for 2 joints'),
        ((1.0, 2.0, 3.0), '3 accelerations for 2 joints'),
        ((np.inf, 0.0), 'acceleration is infinite'),
        ((0.0, -2e9), 'beyond 1e+09'),
    ],
)
def test_an_invalid_acceleration_is_rejected(values, text):
    rig = Rig()
    rig.accelerate(*values)
    assert rig.commands.rejected == 1 and text in rig.reported.events[-1]
    assert rig.modes == [POSITION] * 2


def test_rubbish_is_rejected():
    rig = Rig()
    rig.ports.accelerations.append(b'\x00\x01')
    rig.cycle.run()
    assert rig.commands.rejected == 1


def test_the_effort_limit_holds_and_is_counted():
    rig = Rig()
    rig.accelerate(1e6, 0.0)
    assert rig.simulator.tau[0] == 40.0 and rig.simulator.status.saturated_steps == 1
    assert rig.ports.states[-1].effort[0] == 40.0


def test_accelerations_are_read_only_on_request():
    rig = Rig(turntable(), acceleration_commands=False)
    rig.accelerate(1.0)
    assert len(rig.ports.accelerations) == 1 and ACCELERATION not in rig.modes


def test_a_reset_drops_received_commands():
    rig = Rig()
    rig.accelerate(1.0, 1.0)
    rig.ports.accelerations.append(serialize_message(Float64MultiArray(data=[1.0, 1.0])))
    rig.cycle.reset()
    assert not rig.ports.accelerations
    rig.cycle.run()
    assert not rig.simulator.v.any()
