# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The simulator node with other start parameters: paused, without hold, floating above ground."""

from pathlib import Path

import pytest
from support import outside

outside.load('rclpy')

from geometry_msgs.msg import PoseStamped, TwistStamped
from node_harness import efforts, Feed, gravity_torque, joint_state, reliable, TWO_LINK_ARM
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger

from rbd_ros.lookup import resources

BOX = """
<robot name="box">
  <link name="box"><inertial><mass value="2"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
  <link name="flap"><inertial><origin xyz="0.05 0 0"/><mass value="0.1"/>
    <inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="revolute"><parent link="box"/><child link="flap"/>
    <origin xyz="0 0 0.2"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="5" velocity="10"/></joint>
</robot>
"""


@pytest.fixture
def start(ros):
    """Start a simulator with a unique name, which ends after the test."""
    started = []

    def start_simulator(parameters, robot=TWO_LINK_ARM):
        ros.mark()
        ros.diagnostics.clear()
        started.append(ros.start('simulator', {'robot_description': robot, **parameters}))
        states = ros.listen(JointState, 'joint_states', reliable(1))
        ros.until(lambda: states, 'joint states')
        return states

    yield start_simulator
    for process in started:
        assert process.stop() == 0
        assert 'Traceback' not in process.output()
        ros.processes.remove(process)


def test_started_paused_it_waits_and_then_begins_where_it_was(ros, start):
    clock = ros.listen(Clock, '/clock', reliable(1))
    states = start(
        {'start_paused': True, 'initial_command': 'zero', 'initial_positions': [0.2, 0.1]}
    )
    count = len(states)
    ros.until(lambda: clock and len(states) > count + 5, 'time and states')
    assert list(states[-1].position) == [0.2, 0.1]
    assert states[-1].header.stamp == states[0].header.stamp == clock[-1].clock
    assert ros.call(Trigger, '/simulator/step', Trigger.Request()).success
    ros.until(lambda: states[-1].header.stamp != states[0].header.stamp, 'one step')
    assert ros.call(SetBool, '/simulator/pause', SetBool.Request(data=False)).success
    ros.until(lambda: states[-1].position[0] > 0.5, 'the arm falls')


def test_gravity_keeps_an_arm_without_commands_in_balance(ros, start):
    states = start(
        {
            'initial_command': 'gravity',
            'initial_joints': ['elbow', 'shoulder'],
            'initial_positions': [-0.8, 0.5],
            'joints': ['elbow', 'shoulder'],
        }
    )
    expected = pytest.approx(list(gravity_torque([0.5, -0.8]).values()))
    ros.until(lambda: list(states[-1].effort) == expected, 'the gravity torque')
    ros.spin(0.5)
    assert list(states[-1].position) == pytest.approx([0.5, -0.8], abs=1e-6)
    assert list(states[-1].effort) == expected
    # The order of effort_commands is that of the parameter.
    commands = ros.publisher(Float64MultiArray, 'effort_commands')
    with Feed(commands, efforts(3.0, -4.0), stamped=False):
        ros.until(lambda: list(states[-1].effort) == [-4.0, 3.0], 'the efforts')


OWN_JOINT = BOX.replace(
    '<link name="box">',
    '<link name="world"/><joint name="free" type="floating"><parent link="world"/>'
    '<child link="box"/></joint><link name="box">',
)


@pytest.mark.parametrize(
    ('robot', 'floating'), [(BOX, True), (OWN_JOINT, False)], ids=['parameter', 'own joint']
)
def test_a_floating_robot_falls_on_the_ground_and_rests_there(ros, start, robot, floating):
    poses = ros.listen(PoseStamped, 'base_pose', reliable(1))
    twists = ros.listen(TwistStamped, 'base_twist', reliable(1))
    states = start(
        {
            'floating_base': floating,
            'ground': True,
            'initial_command': 'gravity',
            'initial_base_pose': [1.0, 2.0, 0.3, 0.0, 0.0, 0.0, 1.0],
        },
        robot,
    )
    assert list(states[0].name) == ['hinge']

    def at_rest():
        v = twists and twists[-1].twist
        return (
            v
            and poses[-1].pose.position.z < 0.1001
            and max(abs(x) for x in (v.linear.x, v.linear.y, v.linear.z, v.angular.x, v.angular.y))
            < 1e-2
        )

    ros.until(at_rest, 'the box at rest on the ground')
    position = poses[-1].pose.position
    assert position.z == pytest.approx(0.1, abs=1e-4)  # nothing gives way
    assert (position.x, position.y) == pytest.approx((1.0, 2.0), abs=0.02)
    assert twists[-1].header.frame_id == 'box'


def test_a_velocity_command_moves_a_joint_with_dry_friction(ros, start):
    """The wrist of the arm that comes with the package has friction and hardly any inertia."""
    robot = resources.resource_path('urdf', 'six_axis_arm.urdf').read_text(encoding='utf-8')
    states = start({}, robot)
    commands = ros.publisher(JointState, 'joint_commands')
    with Feed(commands, joint_state(['wrist_3_joint'], velocity=[0.5])):
        ros.until(lambda: states[-1].velocity[5] == pytest.approx(0.5, rel=1e-6), 'its speed')


def test_all_entities_belong_to_the_requested_node(ros, start):
    graph = ros.node

    def named():
        names = [name for name, _ in graph.get_node_names_and_namespaces()]
        return [name for name in names if 'simulator' in name]

    def topics():
        return dict(graph.get_subscriber_names_and_types_by_node('simulator', '/'))

    def services():
        return dict(graph.get_service_names_and_types_by_node('simulator', '/'))

    # One that was killed in an earlier test is known until its lease ends.
    ros.until(lambda: not named(), 'the end of the nodes before')
    start({'start_paused': True})
    # States may come before the middleware reports the nodes.
    ros.until(lambda: named() == ['simulator'], 'one node, the simulator')
    expected_topics = {'/joint_commands', '/effort_commands', '/external_wrench'}
    ros.until(lambda: expected_topics <= set(topics()), 'its topics')
    expected_services = {'/simulator/step', '/simulator/pause', '/simulator/reset'}
    ros.until(lambda: expected_services <= set(services()), 'its services')
    assert named() == ['simulator']


def test_the_process_is_small_and_has_no_idle_pools(ros, start):
    """Measures of benchmark/ros.py, with a margin for other machines and the first compilation."""
    start({})
    status = Path(f'/proc/{ros.processes[-1].process.pid}/status')
    if not status.exists():
        pytest.skip('needs Linux')

    def resident():
        numbers = dict(line.split(':\t', 1) for line in status.read_text().splitlines())
        return 1024 * int(numbers['VmRSS'].split()[0])

    # States come a moment before the memory of the compiler is given back.
    ros.until(lambda: resident() < 150e6, 'resident memory below 150 MB')
    maps = status.with_name('maps').read_text()
    assert 'libgomp' not in maps and '/numba/' not in maps and '/scipy/' not in maps
