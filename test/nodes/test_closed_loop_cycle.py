# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Simulation cycle with a four-bar, without a node: only its actuators are driven."""

import numpy as np
import pytest
from support import outside
from support.four_bar_statics import holding_torque, kinetic, positions, slope, unwrapped

outside.load('rclpy')

from node_harness import efforts, joint_state
from rclpy.serialization import serialize_message
from test_simulation_cycle import make

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.nodes.simulator.start.closed_loop_start import holding_effort

JOINTS = ['crank_joint', 'coupler_joint', 'rocker_joint']
PIN = {
    'type': 'revolute',
    'axis': [0, -1, 0],
    'predecessor': {'frame': 'coupler', 'xyz': [0.45, 0, 0]},
    'successor': {'frame': 'rocker', 'xyz': [0.4, 0, 0]},
}


def four_bar(*actuated):
    extension = {'loops': {'pin': PIN}, 'actuated': list(actuated or JOINTS[:1])}
    return Robot.from_urdf(resource_path('urdf', 'four_bar.urdf'), extension=extension)


@pytest.fixture(scope='module')
def robot():
    return four_bar()


def begun(robot, **parameters):
    values = {'initial_positions': positions(0.9).tolist(), 'command_timeout': 0.0}
    return make(robot, **{**values, **parameters})


def test_an_effort_accelerates_the_linkage_whose_passive_joints_are_free(robot):
    cycle, ports = begun(robot)
    push = holding_torque(0.9) + 0.2
    for _ in range(5):
        ports.by_order.append(serialize_message(efforts(push)))
        cycle.run()
    inertia = 2.0 * kinetic(0.9, 1.0)
    assert ports.states[-1].velocity[0] == pytest.approx(5e-3 * 0.2 / inertia, rel=1e-4)
    assert list(ports.states[-1].effort) == [push, 0.0, 0.0]


@pytest.mark.parametrize('actuated', [JOINTS[:1], JOINTS[2:], JOINTS[::2], JOINTS])
def test_actuators_under_gravity_bear_the_weight_together(actuated):
    """Forces do the work of the weight, whichever joints exert them."""
    robot = four_bar(*actuated)
    cycle, ports = begun(robot, initial_command='gravity')
    start = holding_effort(robot, cycle.simulator.q)
    for _ in range(300):
        cycle.run()
    state = ports.states[-1]
    assert list(state.position) == pytest.approx(positions(0.9).tolist(), abs=1e-6)
    rates = slope(lambda y: unwrapped(y, positions(0.9)), 0.9)
    for effort in (np.array(state.effort), start):
        assert rates @ effort == pytest.approx(holding_torque(0.9), abs=1e-4)
        passive = [k for k, name in enumerate(JOINTS) if name not in actuated]
        assert not effort[passive].any()
    # Of those that share it, the smallest sum of squares
    chosen = np.array([name in actuated for name in JOINTS])
    share = np.where(chosen, rates, 0.0)
    expected = share * holding_torque(0.9) / (share @ share)
    assert list(start) == pytest.approx(expected.tolist(), abs=1e-6)


def test_passive_joints_take_no_commands(robot):
    cycle, ports = begun(robot)
    codes = []
    cycle.commands.reports.diagnostics = type(
        'Recorder',
        (),
        {'event': lambda *a, code: codes.append(code), 'condition': lambda *a, code: 0},
    )()
    rocker = joint_state(['rocker_joint'], effort=[5.0])
    ports.by_name.append(serialize_message(rocker))
    cycle.run()
    assert codes == ['no actuator', 'no actuator'] and cycle.commands.rejected == 1
    assert ports.states[-1].velocity[0] == 0.0  # still locked
    both = joint_state(['rocker_joint', 'crank_joint'], effort=[5.0, 1.0])
    for _ in range(6):  # read at first, then taken by machine code
        ports.by_name.append(serialize_message(both))
        cycle.run()
    assert list(ports.states[-1].effort) == [1.0, 0.0, 0.0]
    assert codes[2:] == ['no actuator'] and cycle.commands.accepted == 6
    ports.by_order.append(serialize_message(efforts(1.0, 2.0, 3.0)))
    cycle.run()
    assert codes[3:] == ['wrong length']


def test_efforts_by_order_are_those_of_joints_with_actuators(robot):
    with pytest.raises(ValueError, match='rocker_joint has no actuator'):
        make(robot, joints=['crank_joint', 'rocker_joint'])
    cycle, _ = make(four_bar('crank_joint', 'rocker_joint'), joints=['rocker_joint'])
    assert [cycle.commands.names[k] for k in cycle.commands.driven] == JOINTS[::2]


def test_actuated_joints_that_are_given_stay_where_the_loops_let_them(robot):
    cycle, ports = begun(robot, initial_positions=[0.9], initial_joints=['crank_joint'])
    q = np.array(ports.states[-1].position)
    assert q[0] == 0.9
    mode = min((1.0, -1.0), key=lambda m: np.abs(unwrapped(0.9, q, m) - q).max())
    assert q == pytest.approx(unwrapped(0.9, q, mode), abs=1e-9)
    # With the rocker given where the crank cannot be: it moves too.
    two = four_bar('crank_joint', 'rocker_joint')
    cycle, ports = begun(two, initial_positions=[0.9, 0.0, 2.9])
    q = np.array(ports.states[-1].position)
    mode = min((1.0, -1.0), key=lambda m: np.abs(unwrapped(q[0], q, m) - q).max())
    assert q == pytest.approx(unwrapped(q[0], q, mode), abs=1e-9)
    assert q[0] != 0.9 and q[2] != 2.9


def test_hold_stops_the_motor_and_the_linkage_with_it(robot):
    cycle, ports = begun(robot)
    ports.by_name.append(serialize_message(joint_state(['crank_joint'], velocity=[1.0])))
    for _ in range(100):
        cycle.run()
    assert ports.states[-1].velocity[0] == pytest.approx(1.0, abs=1e-3)
    ports.by_name.append(serialize_message(joint_state(['crank_joint'], position=[1.0])))
    for _ in range(1000):
        cycle.run()
    q = np.array(ports.states[-1].position)
    assert q == pytest.approx(positions(1.0).tolist(), abs=1e-4)
    assert list(ports.states[-1].effort[1:]) == [0.0, 0.0]
