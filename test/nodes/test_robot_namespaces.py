# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Several robots in one simulator, with separate topics: nodes in processes, over DDS."""

import time

import pytest
from support import outside

outside.load('rclpy')

from geometry_msgs.msg import WrenchStamped
from node_harness import gravity_torque, joint_state, reliable, TWO_LINK_ARM
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

HERE, THERE = [0.5, -0.8], {'shoulder': -0.4, 'elbow': 0.9}


class Rig:
    def __init__(self, ros):
        self.ros = ros
        (ros.folder / 'arm.urdf').write_text(TWO_LINK_ARM)
        world = ros.folder / 'arms.yaml'
        world.write_text(
            'robots: {left: {urdf: arm.urdf, xyz: [0, 3, 0], static: false, '
            f'initial_joint_positions: {{shoulder: {THERE["shoulder"]}, '
            f'elbow: {THERE["elbow"]}}}}}}}\n'
        )
        self.parameters = {
            'robot_description': TWO_LINK_ARM,
            'initial_positions': HERE,
            'world': str(world),
            'robot_namespaces': True,
            'external_wrench_duration': 0.3,
        }
        self.process = ros.start('simulator', self.parameters)
        self.own = ros.listen(JointState, 'joint_states', reliable(1))
        self.left = ros.listen(JointState, 'left/joint_states', reliable(1))
        ros.until(lambda: self.own and self.left, 'states of both')

    def position(self, messages):
        return dict(zip(messages[-1].name, messages[-1].position))

    def effort(self, messages):
        return dict(zip(messages[-1].name, messages[-1].effort))


@pytest.fixture(scope='module')
def rig(ros):
    return Rig(ros)


def publish_until(rig, kind, topic, message, condition, what):
    publisher = rig.ros.node.create_publisher(kind, topic, reliable(10))
    sent = [0.0]

    def send():
        if time.monotonic() - sent[0] > 0.05:
            sent[0] = time.monotonic()
            publisher.publish(message)
        return condition()

    rig.ros.until(send, what)
    rig.ros.node.destroy_publisher(publisher)


def test_each_robot_publishes_its_joints_by_its_own_names(rig):
    assert rig.own[-1].name == rig.left[-1].name == ['shoulder', 'elbow']
    own, left = rig.own[0], rig.left[0]
    assert list(own.position) == pytest.approx(HERE, abs=1e-3)
    assert list(left.position) == pytest.approx(list(THERE.values()), abs=1e-3)
    assert len(own.velocity) == len(left.effort) == 2 and left.header.stamp.nanosec


def test_one_gravity_compensation_node_a_robot_floats_both(rig):
    # A busy machine must not end the torques that hold the arms.
    start = ({'robot_description': TWO_LINK_ARM, 'state_timeout': 0.0},)
    nodes = [
        rig.ros.start('gravity_compensation', *start),
        rig.ros.start('gravity_compensation', *start, arguments=['-r', '__ns:=/left']),
    ]

    def floats(messages):
        q, effort = rig.position(messages), rig.effort(messages)
        expected = gravity_torque((q['shoulder'], q['elbow']))
        return all(abs(effort[joint] - expected[joint]) < 1e-3 for joint in expected)

    def driven(topic):
        return rig.ros.node.count_publishers(topic) > 0

    rig.ros.until(
        lambda: driven('/joint_commands') and driven('/left/joint_commands'), 'controllers'
    )
    rig.ros.until(lambda: floats(rig.own) and floats(rig.left), 'two arms that float')
    before = rig.position(rig.own)
    push = WrenchStamped()
    push.header.frame_id = 'tool'
    push.wrench.force.z = 20.0
    seen = rig.position(rig.left)
    publish_until(
        rig,
        WrenchStamped,
        'left/external_wrench',
        push,
        lambda: abs(rig.position(rig.left)['shoulder'] - seen['shoulder']) > 0.1,
        'a push of the left arm',
    )
    assert rig.position(rig.own) == pytest.approx(before, abs=0.02)
    for node in nodes:
        node.stop()
        rig.ros.processes.remove(node)


def test_commands_by_name_and_by_order_reach_the_robot_whose_topic_it_is(rig):
    before = {'shoulder': 0.4, 'elbow': -0.3}
    publish_until(
        rig,
        JointState,
        'joint_commands',
        joint_state(list(before), position=before.values()),
        lambda: rig.position(rig.own) == pytest.approx(before, abs=1e-3),
        'positions of the described arm',
    )
    publish_until(
        rig,
        JointState,
        'left/joint_commands',
        joint_state(['elbow', 'shoulder'], position=[0.2, 0.1]),
        lambda: rig.position(rig.left) == pytest.approx({'shoulder': 0.1, 'elbow': 0.2}, abs=1e-3),
        'positions of the left arm',
    )
    publish_until(
        rig,
        Float64MultiArray,
        'left/effort_commands',
        Float64MultiArray(data=[-7.0, 2.5]),
        lambda: list(rig.left[-1].effort) == pytest.approx([-7.0, 2.5]),
        'efforts of the left arm',
    )
    assert rig.position(rig.own) == pytest.approx(before, abs=0.02)
    publish_until(
        rig,
        Float64MultiArray,
        'effort_commands',
        Float64MultiArray(data=[-6.0, 1.5]),
        lambda: list(rig.own[-1].effort) == pytest.approx([-6.0, 1.5]),
        'efforts of the described arm',
    )


def test_joints_of_another_robot_are_rejected_by_name(rig):
    publish_until(
        rig,
        JointState,
        'left/joint_commands',
        joint_state(['left/elbow', 'wrist'], position=[0.2, 0.1]),
        lambda: rig.ros.status('no joint of the robot'),
        'a rejection',
    )


def test_a_second_simulator_of_the_same_robots_is_named(rig):
    other = rig.ros.start('simulator', rig.parameters, ['-r', '__node:=second_simulator'])
    rig.ros.until(
        lambda: rig.ros.status('second_simulator publishes /left/joint_states as well'),
        'the name of the second simulator',
    )
    other.stop()
    rig.ros.processes.remove(other)
