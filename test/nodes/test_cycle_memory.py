# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""State of a simulation cycle in a snapshot, beside the physics, without node and DDS."""

from collections import deque
from dataclasses import replace
import json

import numpy as np
import pytest
from support import outside
from support.simulated_robots import turntable

outside.load('rclpy')

from geometry_msgs.msg import WrenchStamped
from node_harness import joint_state, TWO_LINK_ARM
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from rbd_ros import Robot
from rbd_ros.nodes.simulator.cycle.lockstep import LockstepPorts
from rbd_ros.nodes.simulator.cycle.simulation_cycle import SimulationCycle
from rbd_ros.nodes.simulator.interface.simulator_interface import INTERFACE


class Ports:
    """Ports that store sent messages, and return given ones."""

    def __init__(self):
        self.commands, self.wrenches, self.states = deque(), deque(), []

    def take_by_name(self):
        return (self.commands.popleft(), None) if self.commands else None

    def take_wrench(self):
        return (self.wrenches.popleft(), None) if self.wrenches else None

    def take_by_order(self):
        return None

    take_accelerations = take_by_order

    def send_state(self, data):
        self.states.append(deserialize_message(bytes(data), JointState))

    def send_clock(self, data):
        pass

    def send_base(self, q, v, time):
        pass


class Quiet:
    def event(self, *args, **options):
        pass

    condition = event


def make(robot=None, **parameters):
    ports = Ports()
    values = {**INTERFACE.defaults, 'command_timeout': 0.0, **parameters}
    robot = Robot.from_urdf(TWO_LINK_ARM) if robot is None else robot
    return SimulationCycle(robot, values, Quiet(), ports, lambda _: None), ports


def keep(cycle):
    """Return the snapshot as a file would have it."""
    return replace(cycle.simulator.snapshot(), extra=json.loads(json.dumps(cycle.snapshot())))


def run(cycle, ports, count):
    """Return the states of so many cycles, and after which of them each came."""
    found = []
    for k in range(count):
        before = len(ports.states)
        cycle.run()
        found += [
            (k, list(s.position), list(s.velocity), list(s.effort)) for s in ports.states[before:]
        ]
    return found


def command(ports, **fields):
    ports.commands.append(serialize_message(joint_state(**fields)))


def go_back(cycle, snapshot, **options):
    begun = []
    cycle.restore(snapshot, lambda: begun.append(1), **options)
    assert begun == [1]
    cycle.publish()


@pytest.mark.parametrize('ramp', [0.0, 0.02])
def test_pushes_continue_and_end_as_they_would_have(ramp):
    cycle, ports = make(
        initial_command='zero', external_wrench_duration=0.05, external_wrench_ramp=ramp
    )
    push = WrenchStamped()
    push.header.frame_id = 'lower'
    push.wrench.force.z = 60.0
    ports.wrenches.append(serialize_message(push))
    run(cycle, ports, 20)
    kept = keep(cycle)
    first = run(cycle, ports, 60)
    assert not cycle.wrenches.acting
    go_back(cycle, kept)
    assert cycle.wrenches.acting
    assert run(cycle, ports, 60) == first
    push.header.frame_id = 'upper'
    ports.wrenches.append(serialize_message(push))
    run(cycle, ports, 10)
    go_back(cycle, kept)  # that push was not there yet
    assert run(cycle, ports, 60) == first


def test_brakes_hold_again_and_bear_the_same_torque():
    cycle, ports = make(initial_positions=[0.3, 0.4])
    first = run(cycle, ports, 5)
    assert first[0][1] == [0.3, 0.4] and abs(first[0][3][0]) > 1.0
    kept = keep(cycle)
    command(ports, effort=[5.0, 2.0])
    run(cycle, ports, 50)
    assert ports.states[-1].position[0] != 0.3
    go_back(cycle, kept)
    assert run(cycle, ports, 5) == first
    # And the other way round: those that had let go do not hold.
    command(ports, effort=[5.0, 2.0])
    run(cycle, ports, 10)
    moving = keep(cycle)
    second = run(cycle, ports, 20)
    go_back(cycle, kept)
    run(cycle, ports, 5)
    go_back(cycle, moving)
    assert run(cycle, ports, 20) == second


def test_states_come_at_the_same_cycles():
    cycle, ports = make(initial_command='zero', state_publish_rate=100.0)
    run(cycle, ports, 13)
    kept = keep(cycle)
    first = run(cycle, ports, 35)
    assert 3 <= len(first) <= 4
    run(cycle, ports, 4)
    go_back(cycle, kept)
    assert run(cycle, ports, 35) == first


def test_a_snapshot_keeps_which_values_of_a_message_are_new():
    """An effort that stands beside a position counts only when it changes."""
    both = {'names': ['elbow'], 'effort': [3.0], 'position': [0.5]}
    cycle, ports = make(initial_command='zero')
    command(ports, names=['elbow'], effort=[3.0], position=[0.2])
    run(cycle, ports, 5)
    command(ports, **both)  # the position is new, the effort stands
    run(cycle, ports, 5)
    kept = keep(cycle)
    command(ports, **both)
    first = run(cycle, ports, 50)
    command(ports, names=['elbow'], effort=[7.0], position=[0.5])
    run(cycle, ports, 5)
    go_back(cycle, kept)
    command(ports, **both)
    assert run(cycle, ports, 50) == first
    assert first[-1][1][1] > 0.25  # it goes there, at its velocity limit of 5 rad/s at most


def test_commands_are_as_old_as_they_were_by_the_present_clock():
    cycle, ports = make(initial_command='zero')
    command(ports, effort=[1.0, 2.0])
    cycle.run()
    commands = cycle.commands
    commands.drives.received[:] = 99.5, np.inf
    memory = json.loads(json.dumps(commands.snapshot(100.0)))
    assert memory['receiving']
    commands.drives.received[:] = 0.0
    commands.reports.receiving = False
    commands.restore(memory, 200.0)
    assert list(commands.drives.received) == [199.5, np.inf] and commands.reports.receiving


@pytest.mark.parametrize('lockstep, step', [('off', 0), ('stamp', 1_000_000)])
def test_time_advances_one_step_for_each_response(lockstep, step):
    cycle, ports = make(initial_command='zero', lockstep=lockstep)
    run(cycle, ports, 5)
    kept = keep(cycle)
    run(cycle, ports, 30)
    before = cycle.time_ns
    go_back(cycle, kept)
    assert cycle.time_ns == before + step
    stamp = ports.states[-1].header.stamp
    assert stamp.sec * 10**9 + stamp.nanosec == cycle.time_ns
    go_back(cycle, kept, lag=7)
    assert cycle.time_ns == before + 2 * step + 7


@pytest.mark.parametrize(
    'there, here, words',
    [
        ({'servo_bandwidth': 50.0}, {}, 'servo_bandwidth 50.0, but here it is 100.0'),
        (
            {'timestep': 0.002, 'substeps': 2},
            {},
            'timestep 0.002, but here it is 0.001',
        ),
        ({'timestep': 0.002}, {}, 'timestep 0.002'),
        ({'integrator': 'rk4'}, {}, 'to the integrator rk4'),
        ({'gravity': 1}, {'robot': turntable(0.2)}, "'two_link', but this is a simulation of"),
    ],
)
def test_one_of_another_cycle_is_rejected_and_changes_nothing(there, here, words):
    there.pop('gravity', None)
    other, others = make(initial_command='zero', **there)
    run(other, others, 3)
    kept = keep(other)
    cycle, ports = make(initial_command='zero', **here)
    run(cycle, ports, 5)
    before, time = keep(cycle), cycle.time_ns
    with pytest.raises(ValueError, match=words):
        cycle.restore(kept, lambda: pytest.fail('nothing may begin'))
    after = keep(cycle)
    assert cycle.time_ns == time and after.extra.keys() == before.extra.keys()
    for name, array in before.arrays.items():
        assert after.arrays[name].tobytes() == array.tobytes()


def test_one_of_the_library_leaves_joints_to_the_initial_command():
    cycle, ports = make(initial_command='gravity')
    command(ports, effort=[5.0, 2.0])
    run(cycle, ports, 20)
    plain = cycle.simulator.snapshot()
    go_back(cycle, plain)
    run(cycle, ports, 1)
    robot = cycle.robot
    gravity = robot.gravity_torque(plain.arrays['state.q'])
    assert ports.states[-1].effort == pytest.approx(list(gravity), abs=1e-9)


def test_lockstep_waits_for_an_answer_only_if_it_did():
    class Silent(Ports):
        send_state = Ports.send_clock

    ports = LockstepPorts(Silent(), 'stamp', lambda _: None, Quiet(), lambda: 0.0)
    assert not ports.waiting and ports.ready()
    ports.send_state(serialize_message(joint_state(['elbow'], position=[0.1])))
    ports.expect(True)
    assert ports.waiting and not ports.ready()
    ports.expect(False)
    assert not ports.waiting and ports.ready()
