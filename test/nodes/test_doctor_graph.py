# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`rbd_ros doctor --graph` in a separate process, with nodes that have faults."""

import json
import os
import subprocess
import sys
import threading
import time

import pytest
from support import outside
from support.fresh_python import python_path

outside.load('rclpy')

from node_harness import reliable, TWO_LINK_ARM
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.time import Time
from rclpy.utilities import get_rmw_implementation_identifier
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

from rbd_ros.doctor.events_executor import executor_finding, try_events_executor
from rbd_ros.doctor.graph_reading import _endpoint


class Answering:
    """Nodes that answer requests in a separate thread."""

    def __init__(self, context, nodes):
        self._executor = SingleThreadedExecutor(context=context)
        for node in nodes:
            self._executor.add_node(node)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._answer)
        self._thread.start()

    def _answer(self):
        while not self._ended.is_set():
            self._executor.spin_once(timeout_sec=0.05)

    def end(self):
        self._ended.set()
        self._thread.join()
        self._executor.shutdown()


@pytest.fixture(scope='module')
def findings(ros):
    """Return what the doctor says about them, by subject."""
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
        'PYTHONPATH': python_path(),
    }
    follower = rclpy.create_node(
        'follower',
        context=ros.context,
        parameter_overrides=[Parameter('use_sim_time', value=True)],
    )
    idle = LifecycleNode('idle', context=ros.context)
    working = LifecycleNode('working', context=ros.context)
    working.trigger_configure()
    working.trigger_activate()
    clock = driver.create_publisher(Clock, '/clock', reliable())
    answering = Answering(ros.context, (driver, follower, idle, working))
    with subprocess.Popen(
        [*command, '--json'], stdout=subprocess.PIPE, env=environment, cwd=ros.folder
    ) as process:
        message = JointState(name=['elbow', 'finger'], position=[0.0, 1.0])
        begin = time.monotonic()
        while process.poll() is None and time.monotonic() < begin + 60.0:
            message.header.stamp = ros.node.get_clock().now().to_msg()
            states.publish(message)
            simulated = 0.5 * (time.monotonic() - begin)  # half as fast as real time
            clock.publish(Clock(clock=Time(nanoseconds=int(1e9 * simulated)).to_msg()))
            time.sleep(0.01)
        process.kill()
        facts = json.loads(process.stdout.read())
    answering.end()
    for node in (driver, rival, follower, idle, working):
        node.destroy_node()
    assert process.returncode == 1, facts['sections'][-1]
    section = facts['sections'][-1]
    assert section['title'] == f'ROS graph of domain {ros.domain}'
    found = {}
    for finding in section['findings']:
        found.setdefault(finding['subject'], []).append((finding['level'], finding['message']))
    return found


def test_a_subscription_that_receives_nothing_is_reported(findings):
    what = '/driver publishes best effort, /tester subscribes to reliable: it receives nothing'
    assert ('error', what) in findings['topic /joint_states']


def test_two_publishers_of_commands_are_reported(findings):
    assert findings['topic /effort_commands'] == [
        ('error', '2 publishers command the same joints (/driver, /rival)'),
        ('warn', '/driver, /rival publish, and no node subscribes'),
    ]


def test_a_subscription_without_publisher_is_reported(findings):
    assert findings['topic /joint_commands'] == [('warn', '/tester waits, and no node publishes')]


def test_joint_states_are_measured_and_compared_with_the_description(findings):
    found = findings['topic /joint_states']
    (rate,) = (float(what.split()[-2]) for _, what in found if what.startswith('messages come'))
    assert rate > 0.0  # test/doctor/test_graph_checks.py: how it follows from the arrivals
    assert ('warn', 'shoulder of /robot_description: no states') in found
    assert ('warn', 'states of finger, which /robot_description does not have') in found


def test_the_doctor_omits_its_own_node(findings):
    assert not any('rbd_ros_doctor' in what for found in findings.values() for _, what in found)


def test_the_events_executor_is_tried(findings):
    ((level, what),) = findings['EventsExecutor']
    assert (level, what.split()[0]) in {('ok', 'it'), ('ok', 'this'), ('warn', 'spin()')}
    assert what != 'it could not be tested'
    assert executor_finding(try_events_executor(0.0)).message == 'it could not be tested'


def test_nodes_with_another_time_are_reported(findings):
    ((level, what),) = findings['use_sim_time']
    others, _, rest = what.partition(' use the system time, ')
    assert level == 'warn' and rest.endswith(' (/clock), which /follower follows')
    # neither the publisher of the time nor nodes that do not answer
    assert {'/idle', '/working'} <= set(others.split(', ')) and '/driver' not in others
    assert '/rival' not in what and '/follower' not in others


def test_the_speed_of_simulated_time_is_reported(findings):
    ((level, what),) = findings['topic /clock']
    assert level == 'warn' and what.startswith('simulated time runs at ')
    assert 0.3 < float(what.split()[4]) < 0.7


def test_managed_nodes_that_are_not_active_are_reported(findings):
    assert findings['node /idle'] == [('warn', 'it is unconfigured and does not publish commands')]
    assert 'node /working' not in findings


def test_the_middleware_of_an_endpoint_is_known(ros, findings):
    (info, *_) = ros.node.get_subscriptions_info_by_topic('/joint_commands')
    kinds = {'rmw_fastrtps_cpp': 'Fast DDS', 'rmw_cyclonedds_cpp': 'Cyclone DDS'}
    kind = kinds.get(get_rmw_implementation_identifier(), '')
    assert _endpoint(info).middleware == kind
    assert 'RMW' not in findings  # all have the same
