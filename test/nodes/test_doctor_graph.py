"""`rbd_ros doctor --graph`, in a process of its own, beside nodes that do some things wrong."""

import json
import os
import subprocess
import sys
import time

import pytest
from support import outside

outside.load('rclpy')

from node_harness import reliable, ROOT, TWO_LINK_ARM
import rclpy
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

from rbd_ros.doctor.events_executor import executor_finding, try_events_executor


@pytest.fixture(scope='module')
def findings(ros):
    """What the doctor says about them, by subject."""
    best_effort = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    driver = rclpy.create_node('driver', context=ros.context)
    rival = rclpy.create_node('rival', context=ros.context)
    states = driver.create_publisher(JointState, 'joint_states', best_effort)
    ros.node.create_subscription(JointState, 'joint_states', lambda message: None, reliable())
    ros.node.create_subscription(JointState, 'joint_commands', lambda message: None, reliable())
    for node in (driver, rival):
        node.create_publisher(Float64MultiArray, 'effort_commands', reliable())
    description = driver.create_publisher(String, 'robot_description', reliable(1, True))
    description.publish(String(data=TWO_LINK_ARM))
    command = [sys.executable, '-m', 'rbd_ros.cli.main', 'doctor', '--graph', '--listen', '1']
    environment = {
        **os.environ,
        'ROS_DOMAIN_ID': str(ros.domain),
        'PYTHONPATH': os.pathsep.join([str(ROOT), os.environ.get('PYTHONPATH', '')]),
    }
    with subprocess.Popen(
        [*command, '--json'], stdout=subprocess.PIPE, env=environment, cwd=ros.folder
    ) as process:
        message = JointState(name=['elbow', 'finger'], position=[0.0, 1.0])
        begin = time.monotonic()
        while process.poll() is None and time.monotonic() < begin + 60.0:
            message.header.stamp = ros.node.get_clock().now().to_msg()
            states.publish(message)
            time.sleep(0.01)
        process.kill()
        facts = json.loads(process.stdout.read())
    for node in (driver, rival):
        node.destroy_node()
    assert process.returncode == 1, facts['sections'][-1]
    section = facts['sections'][-1]
    assert section['title'] == f'ROS graph of domain {ros.domain}'
    found = {}
    for finding in section['findings']:
        found.setdefault(finding['subject'], []).append((finding['level'], finding['what']))
    return found


def test_a_subscription_that_hears_nothing_is_told(findings):
    what = '/driver publishes best effort, /tester asks for reliable: it hears nothing'
    assert ('error', what) in findings['topic /joint_states']


def test_two_publishers_of_commands_are_told(findings):
    assert findings['topic /effort_commands'] == [
        ('error', '2 publishers command the same joints (/driver, /rival)'),
        ('warn', '/driver, /rival publish, and nobody listens'),
    ]


def test_a_subscription_without_publisher_is_told(findings):
    assert findings['topic /joint_commands'] == [('warn', '/tester waits, and nobody publishes')]


def test_joint_states_are_measured_and_compared_with_the_description(findings):
    found = findings['topic /joint_states']
    (rate,) = (float(what.split()[-2]) for _, what in found if what.startswith('messages come'))
    assert 20.0 < rate < 110.0
    assert ('warn', 'no states of shoulder, of /robot_description') in found
    assert ('warn', 'states of finger, which /robot_description does not have') in found


def test_the_doctor_leaves_itself_out(findings):
    assert not any('rbd_ros_doctor' in what for found in findings.values() for _, what in found)


def test_the_events_executor_is_tried(findings):
    ((level, what),) = findings['EventsExecutor']
    assert (level, what.split()[0]) in {('ok', 'it'), ('ok', 'this'), ('warn', 'spin()')}
    assert what != 'it could not be tried'
    assert executor_finding(try_events_executor(0.0)).what == 'it could not be tried'
