# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sources of a node's robot: parameter, file, topic; and invalid descriptions."""

import re

import pytest
from support import outside

outside.load('rclpy')

from diagnostic_msgs.msg import DiagnosticStatus
from node_harness import effort_by_name, Feed, gravity_torque, joint_state, reliable, TWO_LINK_ARM
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

ERROR = DiagnosticStatus.ERROR
POSE = (0.3, -1.1)


@pytest.fixture
def description(ros):
    publisher = ros.publisher(String, 'robot_description', reliable(1, True), wait=False)
    yield publisher
    ros.node.destroy_publisher(publisher)


@pytest.fixture
def start(ros):
    """Start a gravity-compensation node, which is gone after the test."""
    started = []

    def start_node(parameters=None, arguments=()):
        ros.mark()
        ros.diagnostics.clear()
        started.append(ros.start('gravity_compensation', parameters, arguments))
        return started[-1]

    yield start_node
    for process in started:
        assert process.stop() == 0
        assert 'Traceback' not in process.output()
        ros.processes.remove(process)


def assert_torques_come(ros):
    commands = ros.listen(JointState, 'joint_commands')
    states = ros.publisher(JointState, 'joint_states')
    held = pytest.approx(gravity_torque(POSE))
    with Feed(states, joint_state(position=POSE)):
        ros.until(lambda: commands and effort_by_name(commands[-1]) == held, 'the torque')
    ros.node.destroy_publisher(states)


def test_from_a_file(ros, start, tmp_path):
    (tmp_path / 'arm.urdf').write_text(TWO_LINK_ARM)
    start({'robot_description_file': str(tmp_path / 'arm.urdf')})
    assert_torques_come(ros)


def test_from_a_topic_that_was_published_before_the_node_started(ros, start, description):
    description.publish(String(data=TWO_LINK_ARM))
    start()
    assert_torques_come(ros)


def test_the_parameter_wins_over_file_and_topic(ros, start, description):
    description.publish(String(data='<robot/>'))
    start({'robot_description': TWO_LINK_ARM, 'robot_description_file': '/nowhere.urdf'})
    assert_torques_come(ros)


def test_without_a_description_the_node_says_that_it_waits(ros, start):
    process = start()
    status = ros.until_status('waiting for a robot description on topic /robot_description')
    assert status.level == DiagnosticStatus.WARN
    assert 'waiting for a robot description' in process.output()


WITHOUT_MASSES = re.sub('<inertial>.*?</inertial>', '', TWO_LINK_ARM, flags=re.DOTALL)
BAD = {
    '': 'not a URDF',
    'this is no URDF': 'not a URDF',
    '<robot name="broken"><link name="a">': '',
    '<sdf/>': '',
    '<robot name="x"/>': '',
    '<robot name="rock"><link name="rock"/></robot>': 'no movable joint',
    TWO_LINK_ARM.replace('<parent link="upper"/>', '<parent link="nobody"/>'): 'nobody',
    TWO_LINK_ARM.replace('value="1"', 'value="heavy"'): 'lower',
    WITHOUT_MASSES: 'moves has a mass',
    TWO_LINK_ARM.replace(
        'type="revolute"><parent link="base"/>', 'type="floating"><parent link="base"/>'
    ): 'shoulder',
}


def test_bad_descriptions_are_reported_and_a_good_one_on_the_topic_is_taken(
    ros, start, description
):
    start()
    for text, part in BAD.items():
        ros.mark()
        ros.diagnostics.clear()
        description.publish(String(data=text))
        status = ros.until_status('topic robot_description', 'robot_description', ERROR)
        ros.until_status(part, 'robot_description', ERROR)
        assert 'cannot be used' in status.message
    description.publish(String(data=TWO_LINK_ARM))
    ros.until_status('two_link, 2 degrees of freedom', 'robot_description', DiagnosticStatus.OK)
    assert_torques_come(ros)
    description.publish(String(data=TWO_LINK_ARM.replace('two_link', 'other')))
    ros.until_status('a different robot description arrived', 'robot_description')


@pytest.mark.parametrize(
    ('module', 'text'),
    [
        ('inverse_dynamics', 'moves no mass'),
        ('external_torque_observer', 'moves has a mass'),
        ('trajectory_feedforward', 'moves has a mass'),
    ],
)
def test_a_robot_without_masses_is_rejected_by_nodes_that_need_its_weight(ros, module, text):
    parameters = {'robot_description': WITHOUT_MASSES}
    assert_ends_with(ros, module, parameters, 'cannot be used', text)


def test_links_with_shapes_but_no_mass_are_a_warning_for_as_long_as_the_robot_is_used(ros, start):
    shape = '<visual><geometry><sphere radius="1"/></geometry></visual>'
    own = re.search('<link name="lower">(<inertial>.*?</inertial>)', TWO_LINK_ARM, re.DOTALL)[1]
    # The same arm, with the mass of the lower link at the tool, 0.4 m further on.
    text = TWO_LINK_ARM.replace(own, shape)
    moved = own.replace('xyz="0.2 0 0"', 'xyz="-0.2 0 0"')
    text = text.replace('<link name="tool"/>', f'<link name="tool">{moved}</link>')
    start({'robot_description': text})
    ros.until_status('shapes but no mass', 'robot_description', DiagnosticStatus.WARN)
    status = ros.until_status(': lower', 'robot_description', DiagnosticStatus.WARN)
    assert 'two_link, 2 degrees of freedom' in status.message
    assert_torques_come(ros)


def assert_ends_with(ros, module, parameters, *texts, arguments=()):
    """Check that only the topic is waited for.

    What is given by parameter must fit, or the node ends.
    """
    process = ros.start(module, parameters, arguments)
    assert process.wait() == 1
    ros.processes.remove(process)
    (line,) = [line for line in process.output().splitlines() if 'FATAL' in line]
    assert 'Traceback' not in process.output() and len(line) < 1100
    assert 'ready' not in process.output()
    for text in texts:
        assert text in line


@pytest.mark.parametrize('module', ['gravity_compensation', 'simulator'])
@pytest.mark.parametrize('path', ['/nowhere/arm.urdf', 'x' * 300])
def test_a_file_that_is_none_ends_the_node(ros, module, path):
    assert_ends_with(
        ros, module, {'robot_description_file': path}, 'robot_description_file', 'cannot be read'
    )


def test_the_file_name_of_a_long_path_is_reported(ros):
    path = '/nowhere' + '/folder' * 30 + '/arm.urdf'
    assert_ends_with(ros, 'simulator', {'robot_description_file': path}, '/folder/arm.urdf')


YAML = """
/**:
  ros__parameters:
    gravity: [0.0, 0.0
"""


@pytest.mark.parametrize('module', ['inverse_dynamics', 'simulator'])
@pytest.mark.parametrize(
    'arguments, text',
    [
        (['--params-file', 'no_such_file.yaml'], 'no_such_file.yaml'),
        (['--params-file', 'bad.yaml'], 'bad.yaml'),
        (['--remap', 'joint_states:=a b'], 'a b'),
        (['--remap', 'joint_states'], 'joint_states'),
        (['-p', 'gravity'], 'gravity'),
    ],
    ids=['no file', 'no YAML', 'no name', 'no rule', 'no value'],
)
def test_a_wrong_command_line_is_reported_in_one_line(ros, module, arguments, text):
    (ros.folder / 'bad.yaml').write_text(YAML)
    assert_ends_with(ros, module, None, text, arguments=arguments)


@pytest.mark.parametrize('text', list(BAD)[1:])
def test_a_bad_description_by_parameter_ends_the_node(ros, text):
    assert_ends_with(
        ros, 'gravity_compensation', {'robot_description': text}, 'cannot be used', BAD[text]
    )


@pytest.mark.parametrize(
    'module, parameters, text',
    [
        ('gravity_compensation', {'joints': ['shoulder', 'wing']}, 'parameter joints'),
        ('gravity_compensation', {'optional_joints': ['wing']}, 'parameter optional_joints'),
        ('gravity_compensation', {'payload_link': 'wing', 'payload_mass': 1.0}, "link 'wing'"),
        ('inverse_dynamics', {'effort_limits': [1.0, 2.0, 3.0]}, 'effort_limits has 3 numbers'),
        ('inverse_dynamics', {'kp': [1.0, 2.0, 3.0]}, 'kp has 3 numbers'),
        ('simulator', {'joints': ['wing']}, 'the robot has no joint wing'),
        ('simulator', {'initial_positions': [1.0]}, 'initial_positions has 1 numbers'),
        (
            'simulator',
            {'initial_positions': [1.0], 'initial_joints': ['wing']},
            'the robot has no joint wing',
        ),
    ],
)
def test_parameters_that_do_not_fit_the_robot_end_the_node(ros, module, parameters, text):
    parameters = {'robot_description': TWO_LINK_ARM, **parameters}
    assert_ends_with(ros, module, parameters, 'cannot be used', text)


def test_the_order_and_the_choice_of_joints_can_be_given(ros, start):
    start({'robot_description': TWO_LINK_ARM, 'joints': ['elbow'], 'output': 'joint_state'})
    commands = ros.listen(JointState, 'joint_commands')
    with Feed(ros.publisher(JointState, 'joint_states'), joint_state(position=POSE)):
        held = pytest.approx({'elbow': gravity_torque(POSE)['elbow']})
        ros.until(lambda: commands and effort_by_name(commands[-1]) == held, 'the torque')
    assert not ros.node.count_publishers('effort_commands')


def test_optional_joints_may_be_absent(ros, start):
    start({'robot_description': TWO_LINK_ARM, 'optional_joints': ['elbow']})
    commands = ros.listen(JointState, 'joint_commands')
    with Feed(ros.publisher(JointState, 'joint_states'), joint_state(['shoulder'], [0.7])):
        held = pytest.approx(gravity_torque((0.7, 0.0)))
        ros.until(lambda: commands and effort_by_name(commands[-1]) == held, 'the torque')


def test_topics_and_names_can_be_remapped(ros, start):
    start(
        {'robot_description': TWO_LINK_ARM},
        ['-r', '__ns:=/left', '-r', '__node:=helper', '-r', 'joint_commands:=/torque'],
    )
    commands = ros.listen(JointState, '/torque')
    with Feed(ros.publisher(JointState, '/left/joint_states'), joint_state(position=POSE)):
        ros.until(lambda: commands, 'a torque')
        ros.until_status('publishing', 'left/helper: torque')


def test_a_simulator_waits_for_its_robot_too(ros, description):
    ros.mark()
    ros.diagnostics.clear()
    process = ros.start(
        'simulator', {'timestep': 0.002}, ['-r', '__node:=arm', '-r', '__ns:=/sim']
    )
    ros.until_status('waiting for a robot description on topic /sim/robot_description')
    answer = ros.call(Trigger, '/sim/arm/reset', Trigger.Request())
    assert not answer.success and 'no robot description' in answer.message
    publisher = ros.publisher(String, '/sim/robot_description', reliable(1, True))
    publisher.publish(String(data='<robot'))
    ros.until_status('cannot be used', 'robot_description', ERROR)
    publisher.publish(String(data=TWO_LINK_ARM))
    states = ros.listen(JointState, '/sim/joint_states')
    ros.until(lambda: states, 'joint states')
    # Commands reach it under its name and namespace.
    commands = ros.publisher(JointState, '/sim/joint_commands')
    with Feed(commands, joint_state(effort=(0.0, 0.0))):
        ros.until(lambda: abs(states[-1].position[0]) > 0.1, 'the arm falls')
    assert process.stop() == 0
    ros.processes.remove(process)


def test_the_simulator_rejects_to_follow_its_own_clock(ros):
    process = ros.start('simulator', {'use_sim_time': True})
    values = ros.get_parameters('/simulator', ['use_sim_time'])
    assert values[0].bool_value is False
    (result,) = ros.set_parameters('/simulator', use_sim_time=True)
    assert not result.successful and 'cannot use it' in result.reason
    assert not ros.get_parameters('/simulator', ['use_sim_time'])[0].bool_value
    assert process.stop() == 0
    assert 'cannot use it' in process.output()
    ros.processes.remove(process)
