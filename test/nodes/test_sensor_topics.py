# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sensors, odometry and acceleration commands of the simulator, over DDS."""

import os

import numpy as np
import pytest
from support import outside
from support.contributing import shown_in
from support.simulated_robots import GRAVITY as G
from support.tiny_distribution import install

outside.load('rclpy')

from geometry_msgs.msg import PointStamped, WrenchStamped
from node_harness import gravity_torque, reliable, Ros, TWO_LINK_ARM
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger

pytestmark = pytest.mark.ros

SENSOR = """<ros2_control name="c" type="system"><sensor name="skin">
  <state_interface name="force.x"/><param name="frame_id">elbow</param></sensor>
  <sensor name="lost"><state_interface name="force.x"/></sensor></ros2_control></robot>"""

FLOATING = TWO_LINK_ARM.replace(
    '<link name="base"/>',
    '<link name="base"><inertial><mass value="3"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>',
)


@pytest.fixture(scope='module')
def ros(tmp_path_factory):
    with Ros(tmp_path_factory.mktemp('sensors')) as ros:
        yield ros


def test_sensors_are_read_and_accelerations_obeyed(ros):
    process = ros.start(
        'simulator',
        {
            'robot_description': TWO_LINK_ARM.replace('</robot>', SENSOR),
            'imus': ['tool'],
            'force_torque_sensors': ['tool_mount'],
            'joint_torques': True,
            'acceleration_commands': True,
            'command_timeout': 0.0,
            'sensor_publish_rate': 0.0,
        },
    )
    imus = ros.listen(Imu, 'tool/imu', reliable(1))
    skin = ros.listen(WrenchStamped, 'skin/wrench', reliable(1))
    mount = ros.listen(WrenchStamped, 'tool_mount/wrench', reliable(1))
    torques = ros.listen(JointState, 'joint_torques', reliable(1))
    states = ros.listen(JointState, 'joint_states', reliable(1))
    ros.until(lambda: imus and skin and mount and torques and states, 'measurements')
    assert imus[-1].header.frame_id == 'tool' == mount[-1].header.frame_id
    assert imus[-1].linear_acceleration.z == pytest.approx(G)
    assert skin[-1].header.frame_id == 'lower'
    assert skin[-1].wrench.force.z == pytest.approx(G * 1.0)
    assert skin[-1].wrench.torque.y == pytest.approx(-0.2 * G)
    expected = gravity_torque([0.0, 0.0])
    assert dict(zip(torques[-1].name, torques[-1].effort)) == pytest.approx(expected)
    assert "sensor 'lost' of the robot description is left out" in process.output()
    # Time stands still, so that each step is that of one command.
    assert ros.call(SetBool, '/simulator/pause', SetBool.Request(data=True)).success
    accelerate = ros.publisher(Float64MultiArray, 'acceleration_commands')
    ros.until(lambda: accelerate.get_subscription_count() == 1, 'the simulator')
    accelerate.publish(Float64MultiArray(data=[2.0, float('nan')]))
    ros.until(lambda: accelerate.wait_for_all_acked(), 'the command')

    def speed():
        assert ros.call(Trigger, '/simulator/step', Trigger.Request()).success
        return list(states[-1].velocity)[0] > 0.0

    ros.until(speed, 'a motion')
    v = list(states[-1].velocity)[0]
    for _ in range(3):
        assert ros.call(Trigger, '/simulator/step', Trigger.Request()).success
    ros.until(lambda: states[-1].velocity[0] >= v + 0.0059, 'three steps more')
    assert states[-1].velocity[0] == pytest.approx(v + 3 * 2.0 * 1e-3, abs=1e-7)
    stamp = states[-1].header.stamp
    ros.until(lambda: imus[-1].header.stamp == stamp, 'the reading of that step')
    # The tool is at 0.9 m from the shoulder, and the elbow is held.
    assert imus[-1].linear_acceleration.z == pytest.approx(G - 0.9 * 2.0, abs=1e-2)
    assert imus[-1].angular_velocity.y == pytest.approx(np.sum(states[-1].velocity), abs=1e-6)
    assert process.stop() == 0


def test_a_floating_robot_runs_with_whatever_packages_there_are(ros):
    process = ros.start(
        'simulator',
        {'robot_description': FLOATING, 'floating_base': True, 'start_paused': True},
    )
    ros.until(lambda: 'robot' in process.output(), 'the robot')
    text = process.output()
    for package, topic in (('nav_msgs', 'odom'), ('tf2_msgs', '/tf')):
        try:
            __import__(f'{package}.msg')
        except ImportError:
            ros.until(
                lambda p=package, t=topic: (
                    f'{p} is not installed: {t} is not published' in process.output()
                ),
                text,
            )
    assert process.stop() == 0


def test_a_sensor_of_another_package_has_a_topic(ros, tmp_path, monkeypatch):
    text = shown_in('A new sensor').replace("name = 'markers'", "name = 'far_markers'")
    line = {'rbd_ros.sensors': 'far_markers = far_sensors:Markers'}
    install(tmp_path, monkeypatch, 'far-sensors', text, line)
    path = os.pathsep.join([str(tmp_path), os.environ.get('PYTHONPATH', '')])
    monkeypatch.setenv('PYTHONPATH', path.rstrip(os.pathsep))
    process = ros.start(
        'simulator', {'robot_description': TWO_LINK_ARM, 'sensors': ['far_markers:tool']}
    )
    found = ros.listen(PointStamped, 'tool/marker', reliable(1))
    ros.until(lambda: found, 'a marker')
    assert found[-1].header.frame_id == 'world'
    assert np.linalg.norm([found[-1].point.x, found[-1].point.z]) == pytest.approx(0.9)
    assert process.stop() == 0


def test_a_sensor_that_the_robot_has_not_ends_the_node_by_name(ros):
    process = ros.start('simulator', {'robot_description': TWO_LINK_ARM, 'imus': ['nose']})
    assert process.wait() not in (0, 'had to be killed')
    assert "parameter imus: unknown link 'nose'" in process.output()
