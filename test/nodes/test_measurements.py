# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Readings of the simulated robot's sensors in the simulation cycle, without a node."""

import struct

import numpy as np
import pytest
from support import outside
from support.simulated_robots import ball

outside.load('rclpy')

from geometry_msgs.msg import WrenchStamped
from node_harness import gravity_torque, joint_state, TWO_LINK_ARM
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import Imu, JointState
from test_simulation_cycle import DiagnosticsRecorder, Recorder

from rbd_ros.model.urdf.control_interfaces import PLUGIN
from rbd_ros.nodes.simulator.commands.control_tag import NO_TAG, read_control_tag
from rbd_ros.nodes.simulator.cycle.simulation_cycle import SimulationCycle
from rbd_ros.nodes.simulator.interface.simulator_interface import (
    check_simulator_parameters,
    SIMULATOR_PARAMETERS,
)
from rbd_ros.nodes.simulator.state.declared_sensors import topic_of
from rbd_ros.robot import Robot

G = 9.81
TAG = """<ros2_control name="c" type="system">
  <sensor name="wrist.fts"><state_interface name="force.x"/><state_interface name="torque.z"/>
    <param name="frame_id">tool</param></sensor>
  <sensor name="lower"><state_interface name="orientation.w"/></sensor>
  <sensor name="both"><state_interface name="angular_velocity.x"/><state_interface name="force.y"/>
    <param name="other">x</param><param name="frame_id"> tool_mount </param></sensor>
  <sensor name="lost"><state_interface name="linear_acceleration.x"/>
    <param name="frame_id">nowhere</param></sensor>
  <sensor name="scanner"><state_interface name="range"/></sensor>
</ros2_control>"""


class MeasurementRecorder:
    """Ports that store messages; topics in `listened`, or all, have subscribers."""

    def __init__(self, listened=None, missing=()):
        self.listened, self.missing = listened, missing
        self.opened, self.sent = {}, []

    def open(self, topic, declared, message_type=''):
        self.opened[topic] = declared
        return topic not in self.missing

    def has_subscribers(self, topic):
        assert topic in self.opened and topic not in self.missing
        return self.listened is None or topic in self.listened

    def send(self, topic, data):
        self.sent.append((topic, bytes(data)))

    def last(self, topic, kind):
        data = [data for name, data in self.sent if name == topic][-1]
        return deserialize_message(data, kind)

    def count(self, topic):
        return sum(name == topic for name, _ in self.sent)


def make(robot, ports=None, tag=NO_TAG, **parameters):
    values = {each.name: each.default for each in SIMULATOR_PARAMETERS}
    values.update(parameters)
    check_simulator_parameters(values)
    ports, warnings = ports or MeasurementRecorder(), []
    cycle = SimulationCycle(
        robot, values, DiagnosticsRecorder(), Recorder(), warnings.append, None, tag, lambda: ports
    )
    cycle.warnings = warnings
    return cycle, ports


def arm(tag=''):
    return Robot.from_urdf(TWO_LINK_ARM.replace('</robot>', f'{tag}</robot>'))


def xyz(vector):
    return [vector.x, vector.y, vector.z]


def stamp(message):
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


def test_without_sensors_and_a_floating_base_there_is_nothing_to_measure():
    cycle, ports = make(arm())
    cycle.run()
    assert cycle.measurements is None and not ports.opened


def test_a_held_arm_reads_gravity_and_weight_by_parameters():
    cycle, ports = make(
        arm(),
        imus=['tool'],
        force_torque_sensors=['elbow', 'tool_mount'],
        joint_torques=True,
        frame_prefix='left/',
        initial_positions=[0.3, 0.2],
        sensor_publish_rate=0.0,
    )
    assert ports.opened == {
        'tool/imu': '<sensor>/imu',
        'elbow/wrench': '<sensor>/wrench',
        'tool_mount/wrench': '<sensor>/wrench',
        'joint_torques': 'joint_torques',
    }
    for action in (lambda: None, cycle.run, lambda: move(cycle)):
        action()
        imu = ports.last('tool/imu', Imu)
        assert imu.header.frame_id == 'left/tool' and stamp(imu) == cycle.time_ns
        # Turned about y by 0.5 rad, the arm points down in front.
        assert xyz(imu.linear_acceleration) == pytest.approx(
            [-G * np.sin(0.5), 0, G * np.cos(0.5)], abs=1e-6
        )
        turn = [*xyz(imu.orientation), imu.orientation.w]
        assert turn == pytest.approx([0, np.sin(0.25), 0, np.cos(0.25)], abs=1e-6)
        assert not imu.orientation_covariance.any()
        assert not imu.linear_acceleration_covariance.any()
        assert not imu.angular_velocity_covariance.any()
        wrench = ports.last('elbow/wrench', WrenchStamped)
        assert wrench.header.frame_id == 'left/lower' and stamp(wrench) == cycle.time_ns
        assert xyz(wrench.wrench.force) == pytest.approx(
            [-G * np.sin(0.5), 0, G * np.cos(0.5)], abs=1e-6
        )
        assert xyz(wrench.wrench.torque) == pytest.approx([0, -0.2 * G * np.cos(0.5), 0], abs=1e-6)
        tool = ports.last('tool_mount/wrench', WrenchStamped)
        assert tool.header.frame_id == 'left/tool'
        assert xyz(tool.wrench.force) == pytest.approx([0, 0, 0], abs=1e-9)
        torques = ports.last('joint_torques', JointState)
        assert list(torques.name) == ['shoulder', 'elbow'] and stamp(torques) == cycle.time_ns
        expected = cycle.robot.gravity_torque(cycle.simulator.q)
        assert list(torques.effort) == pytest.approx(expected, abs=1e-6)
        assert not torques.position and not torques.velocity


def move(cycle):
    """Let servos hold the arm where brakes did."""
    command = joint_state(['shoulder', 'elbow'], position=[0.3, 0.2])
    cycle._ports.by_name.append(serialize_message(command))
    cycle.run()
    assert cycle.simulator.status.steps == 1


def test_a_moving_arm_reads_its_motion():
    cycle, ports = make(
        arm(), imus=['tool'], joint_torques=True, sensor_publish_rate=0.0, command_timeout=0.0
    )
    command = joint_state(['shoulder', 'elbow'], effort=[3.0, 1.0])
    cycle._ports.by_name.append(serialize_message(command))
    for _ in range(30):
        cycle.run()
    torques = ports.last('joint_torques', JointState)
    assert list(torques.effort) == pytest.approx([3.0, 1.0], abs=1e-9)
    imu = ports.last('tool/imu', Imu)
    rates = cycle.simulator.v
    assert xyz(imu.angular_velocity) == pytest.approx([0, rates.sum(), 0], abs=1e-9)
    assert abs(rates.sum()) > 0.1


def test_the_tag_says_where_sensors_are_and_parameters_add_to_it():
    tag = read_control_tag(TWO_LINK_ARM.replace('</robot>', f'{TAG}</robot>'))
    cycle, ports = make(arm(), tag=tag, imus=['upper', 'upper'])
    assert sorted(ports.opened) == [
        'lower/imu',
        'upper/imu',
        'wrist_fts/wrench',
    ]
    lost = [each for each in cycle.warnings if 'sensor' in each]
    assert [('lost' in each, 'both' in each) for each in lost] == [(False, True), (True, False)]
    assert 'nowhere' in lost[1]
    cycle.publish()
    assert ports.last('wrist_fts/wrench', WrenchStamped).header.frame_id == 'tool'


@pytest.mark.parametrize(
    'parameters, text',
    [
        ({'imus': ['nose']}, "parameter imus: unknown link 'nose'"),
        ({'sensors': ['imus:nose']}, "parameter sensors: unknown link 'nose'"),
        ({'sensors': ['tool']}, "parameter sensors: unknown kind of sensors 'tool'.*imus"),
        ({'sensors': ['joint_torques:elbow']}, 'use the parameter joint_torques'),
        ({'force_torque_sensors': ['nose']}, 'parameter force_torque_sensors: .*nose'),
        ({'force_torque_sensors': ['base']}, "parameter force_torque_sensors: 'base'"),
        ({'odom_frame': ''}, 'odom_frame must be a name'),
    ],
)
def test_a_sensor_that_cannot_be_is_rejected_by_name(parameters, text):
    with pytest.raises(ValueError, match=text):
        make(arm(), **parameters)


@pytest.mark.parametrize(
    'plugin, unread', [(PLUGIN, True), ('some_robot/System', False), ('', False)]
)
def test_sensors_that_ros2_control_does_not_read_are_named_with_their_topics(plugin, unread):
    hardware = f'<hardware><plugin>{plugin}</plugin></hardware><sensor'
    text = TWO_LINK_ARM.replace('</robot>', f'{TAG}</robot>').replace('<sensor', hardware, 1)
    cycle, _ = make(arm(), tag=read_control_tag(text))
    named = [each for each in cycle.warnings if 'NaN' in each]
    assert len(named) == unread
    assert all('wrist.fts: wrist_fts/wrench; lower: lower/imu' in each for each in named)
    assert all('JointStateTopicSystem' in each for each in named)


def test_two_sensors_do_not_share_a_topic():
    tag = read_control_tag(
        '<robot name="r"><ros2_control name="c" type="system"><sensor name="tool">'
        '<state_interface name="orientation.x"/><param name="frame_id">lower</param></sensor>'
        '</ros2_control></robot>'
    )
    with pytest.raises(ValueError, match="two sensors would have the topic 'tool'"):
        make(arm(), tag=tag, imus=['tool'])


def test_sensors_without_subscribers_are_not_computed():
    ports = MeasurementRecorder(listened=())
    cycle, _ = make(
        arm(),
        ports,
        imus=['tool', 'upper'],
        force_torque_sensors=['elbow'],
        joint_torques=True,
        sensor_publish_rate=0.0,
    )
    reads = []
    cycle.measurements._sensors.read = lambda: reads.append(1)
    cycle.run()
    assert not reads and not ports.sent
    ports.listened = ('upper/imu',)
    cycle.run()
    assert reads and [topic for topic, _ in ports.sent] == ['upper/imu']


def test_rates_hold_in_simulated_time():
    cycle, ports = make(arm(), imus=['tool'], sensor_publish_rate=100.0)
    for _ in range(20):
        cycle.run()
    before = ports.count('tool/imu')
    for _ in range(100):
        cycle.run()
    assert ports.count('tool/imu') == before + 10


def test_measurements_are_published_after_a_reset():
    cycle, ports = make(ball(), imus=['body'], initial_command='zero', sensor_publish_rate=0.0)
    for _ in range(5):
        cycle.run()
    assert xyz(ports.last('body/imu', Imu).linear_acceleration) == pytest.approx([0, 0, 0])
    cycle.reset()
    assert xyz(ports.last('body/imu', Imu).linear_acceleration) == pytest.approx([0, 0, G])


# -- odometry -------------------------------------------------------------------------------------


def numbers_behind(data, names):
    """Return the numbers of a message that follow strings, given in order."""
    at = 12 if names else 0
    for name in names:
        at += -at % 4
        (size,) = struct.unpack_from('<I', data, at)
        assert data[at + 4 : at + 4 + size] == name.encode() + b'\0'
        at += 4 + size
    at += -(at - 4) % 8
    return np.frombuffer(data[at:], '<f8')


@pytest.mark.parametrize('ground', [False, True])
def test_a_floating_base_publishes_odometry_and_its_frame(ground):
    half = np.sqrt(0.5)
    cycle, ports = make(
        ball(),
        initial_command='zero',
        initial_base_pose=[0, 3, 9, half, 0, 0, half],
        frame_prefix='left/',
        odom_frame='start',
        sensor_publish_rate=0.0,
        **({'ground': True, 'ground_contact_model': 'compliant'} if ground else {}),
    )
    cycle.simulator.physics.state.v[:] = 0.1, 0.2, 0.3, 0.4, 0.5, 0.6
    cycle.run()
    w, x, y, z, *position = cycle.simulator.q
    pose, v = [*position, x, y, z, w], cycle.simulator.v
    odometry = [data for topic, data in ports.sent if topic == 'odom'][-1]
    assert struct.unpack_from('<iI', odometry, 4) == divmod(cycle.time_ns, 10**9)
    numbers = numbers_behind(odometry, ['left/start', 'left/body'])
    assert len(numbers) == 7 + 36 + 6 + 36
    assert numbers[:7] == pytest.approx(pose, abs=0)
    assert numbers[43:49] == pytest.approx([*v[3:], *v[:3]], abs=0)
    assert not numbers[7:43].any() and not numbers[49:].any()
    frames = [data for topic, data in ports.sent if topic == '/tf'][-1]
    assert struct.unpack_from('<IiI', frames, 4) == (1, *divmod(cycle.time_ns, 10**9))
    assert b'left/start\0' in frames and b'left/body\0' in frames
    assert np.frombuffer(frames[-56:], '<f8') == pytest.approx(pose, abs=0)


def test_the_frame_of_the_base_is_not_reported_twice_for_one_time():
    cycle, ports = make(ball(), initial_command='zero', sensor_publish_rate=0.0)
    cycle.run()
    frame_count = ports.count('/tf')
    cycle.publish()
    assert ports.count('/tf') == frame_count and ports.count('odom') == frame_count + 1


def test_missing_packages_and_disabled_frames_are_omitted():
    ports = MeasurementRecorder(missing=('odom',))
    cycle, _ = make(ball(), ports, publish_tf=False, initial_command='zero')
    cycle.run()
    assert list(ports.opened) == ['odom'] and not ports.sent


def test_topics_have_names_that_ros_takes():
    assert [topic_of(each) for each in ('a-b', '/', 'x//y', '2nd/3')] == [
        'a_b',
        'sensor',
        'x/y',
        '_2nd/_3',
    ]


# -- further robots ------------------------------------------------------------------------------


BALL = """<robot name="ball"><link name="body"><inertial><mass value="1"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


class WorldRecorder:
    """Ports of a world without subscribers."""

    def __getattr__(self, name):
        return lambda *given: None


class RobotRecorder(WorldRecorder):
    """Ports of a further robot, which gets no commands."""


def make_three(tmp_path, ports=None, **parameters):
    """Return an arm, a second one whose URDF has sensors, and a ball that floats."""
    (tmp_path / 'arm.urdf').write_text(TWO_LINK_ARM.replace('</robot>', f'{TAG}</robot>'))
    (tmp_path / 'ball.urdf').write_text(BALL)
    world = tmp_path / 'three.yaml'
    world.write_text(
        'robots:\n'
        '  second: {urdf: arm.urdf, xyz: [0, 9, 0], static: false, '
        'initial_joint_positions: {shoulder: 0.4, elbow: -0.1}}\n'
        '  ball: {urdf: ball.urdf, xyz: [0, 3, 2], static: false, floating: true}\n'
        '  still: {urdf: arm.urdf, xyz: [0, -9, 0]}\n'
    )
    values = {each.name: each.default for each in SIMULATOR_PARAMETERS}
    values.update(
        {
            'world': str(world),
            'robot_namespaces': True,
            'sensor_publish_rate': 0.0,
            'initial_positions': [0.3, 0.2],
            **parameters,
        }
    )
    check_simulator_parameters(values)
    ports, warnings = ports or MeasurementRecorder(), []
    cycle = SimulationCycle(
        arm(),
        values,
        DiagnosticsRecorder(),
        Recorder(),
        warnings.append,
        WorldRecorder,
        NO_TAG,
        lambda: ports,
        lambda name: RobotRecorder(),
    )
    return cycle, ports


def test_sensors_of_further_robots_have_topics_below_their_names(tmp_path):
    cycle, ports = make_three(
        tmp_path,
        imus=['tool', 'second/upper'],
        force_torque_sensors=['second/elbow'],
        joint_torques=True,
        frame_prefix='lab/',
    )
    assert ports.opened == {
        'tool/imu': '<sensor>/imu',
        'second/upper/imu': '<sensor>/imu',
        'second/lower/imu': '<sensor>/imu',
        'second/elbow/wrench': '<sensor>/wrench',
        'second/wrist_fts/wrench': '<sensor>/wrench',
        'joint_torques': 'joint_torques',
        'second/joint_torques': '<robot>/joint_torques',
        'ball/odom': '<robot>/odom',
    }
    cycle.run()
    for topic, frame, angle in (
        ('tool/imu', 'tool', 0.5),
        ('second/lower/imu', 'second/lower', 0.3),
    ):
        imu = ports.last(topic, Imu)
        assert imu.header.frame_id == f'lab/{frame}' and stamp(imu) == cycle.time_ns
        assert xyz(imu.linear_acceleration) == pytest.approx(
            [-G * np.sin(angle), 0, G * np.cos(angle)], abs=1e-6
        )
    wrench = ports.last('second/elbow/wrench', WrenchStamped)
    assert wrench.header.frame_id == 'lab/second/lower'
    assert xyz(wrench.wrench.force) == pytest.approx(
        [-G * np.sin(0.3), 0, G * np.cos(0.3)], abs=1e-6
    )


def test_joint_torques_are_those_of_each_robot_by_its_own_names(tmp_path):
    cycle, ports = make_three(tmp_path, force_torque_sensors=['elbow'], joint_torques=True)
    cycle.run()
    for topic, q in (('joint_torques', (0.3, 0.2)), ('second/joint_torques', (0.4, -0.1))):
        torques, holds = ports.last(topic, JointState), gravity_torque(q)
        assert torques.name == ['shoulder', 'elbow'] and stamp(torques) == cycle.time_ns
        assert list(torques.effort) == pytest.approx([holds[n] for n in torques.name], abs=1e-6)


def test_without_separate_topics_all_joint_torques_are_in_one_message(tmp_path):
    cycle, ports = make_three(tmp_path, joint_torques=True, robot_namespaces=False)
    assert set(ports.opened) == {'joint_torques', 'second/lower/imu', 'second/wrist_fts/wrench'}
    cycle.run()
    names = ports.last('joint_torques', JointState).name
    assert names == ['shoulder', 'elbow', 'second/shoulder', 'second/elbow']


def test_a_further_floating_base_publishes_odometry_in_the_world_frame(tmp_path):
    cycle, ports = make_three(tmp_path, frame_prefix='lab/', initial_command='zero')
    at_q, at_v = next(
        (q.start, v.start)
        for i, (q, v) in cycle.robot.model.independent_slices.items()
        if q.stop - q.start == 7
    )
    cycle.simulator.physics.state.v[at_v:] = 0.1, 0.2, 0.3, 0.4, 0.5, 0.6
    cycle.run()
    w, x, y, z, *position = cycle.simulator.q[at_q:]
    assert position == pytest.approx([0, 3, 2], abs=0.01)
    odometry = [data for topic, data in ports.sent if topic == 'ball/odom'][-1]
    numbers = numbers_behind(odometry, ['lab/base', 'lab/ball/body'])
    assert numbers[:7] == pytest.approx([*position, x, y, z, w], abs=0)
    v = cycle.simulator.v[at_v:]
    assert numbers[43:49] == pytest.approx([*v[3:], *v[:3]], abs=0)
    # The world publishes its frame already, and a frame has one parent.
    assert '/tf' not in ports.opened


def test_further_robots_without_sensors_have_no_odometry(tmp_path):
    cycle, ports = make_three(tmp_path, ports=MeasurementRecorder(missing=('ball/odom',)))
    cycle.run()
    assert not [topic for topic, _ in ports.sent if topic.endswith('odom')]
