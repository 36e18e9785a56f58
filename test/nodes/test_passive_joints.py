# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Arms with passive joints, by extension files: these are not commanded."""

import pytest
from support import outside

outside.load('rclpy')

from node_harness import (
    effort_by_name,
    efforts,
    Feed,
    gravity_torque,
    joint_state,
    TWO_LINK_ARM,
)
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from test_simulation_cycle import make

from rbd_ros import Robot
from rbd_ros.nodes.simulator.start.closed_loop_start import holding_effort

Q = (0.3, -0.5)


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(TWO_LINK_ARM, extension={'actuated': ['shoulder']})


def test_the_simulator_drives_joints_with_motors_alone(robot):
    cycle, ports = make(robot, initial_positions=list(Q), initial_command='gravity')
    cycle.run()
    assert list(ports.states[-1].effort) == [
        pytest.approx(gravity_torque(Q)['shoulder'], rel=1e-3),
        0.0,
    ]
    for _ in range(3):
        ports.by_order.append(serialize_message(efforts(1.5)))
        cycle.run()
    assert list(ports.states[-1].effort) == [1.5, 0.0]
    ports.by_name.append(serialize_message(joint_state(['elbow'], effort=[5.0])))
    with pytest.raises(AssertionError, match='joints without an actuator ignored: elbow'):
        cycle.run()  # without handlers of events
    with pytest.raises(ValueError, match='elbow has no actuator'):
        make(robot, joints=['shoulder', 'elbow'])


def test_all_joints_of_a_tree_bear_its_weight_by_default():
    expected = [gravity_torque(Q)[name] for name in ('shoulder', 'elbow')]
    assert list(holding_effort(Robot.from_urdf(TWO_LINK_ARM), list(Q))) == pytest.approx(expected)


def test_torques_go_to_joints_with_motors_alone(ros, tmp_path):
    file = tmp_path / 'arm.yaml'
    file.write_text('actuated: [shoulder]\n')
    commands = ros.listen(JointState, 'joint_commands')
    parameters = {'robot_description': TWO_LINK_ARM, 'extension_file': str(file)}
    node = ros.start('gravity_compensation', parameters)
    states = ros.publisher(JointState, 'joint_states')
    held = {'shoulder': pytest.approx(gravity_torque(Q)['shoulder'])}
    with Feed(states, joint_state(position=Q, velocity=[0.0, 0.0])):
        ros.until(lambda: commands and effort_by_name(commands[-1]) == held, 'the torque')
    assert node.stop() == 0
    assert 'joint elbow has no actuator' in node.output()
    rejected = ros.start('gravity_compensation', {**parameters, 'joints': ['elbow']})
    assert rejected.wait() != 0
    assert 'parameter joints: elbow has no actuator' in rejected.output()
