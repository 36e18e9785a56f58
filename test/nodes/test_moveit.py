# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The controllers of docs/moveit.md as MoveIt drives them, over DDS.

`Controllers` does what the Jazzy branch of MoveIt does: moveit_simple_controller_manager reads the
parameters of a node that declares all that it is given, and makes for each controller a client of
the action `<name>/<action_ns>` (MoveItSimpleControllerManager::initialize, getActionName);
TrajectoryExecutionManager::distributeTrajectory gives each controller its joints of a plan, in
alphabetical order, and executePart sends all parts before it waits for each. Goals have neither
tolerances nor a stamp, and the first point of a plan is where the robot is.
"""

import re

import pytest
from support import control_messages, outside
from support.source_imports import ROOT

outside.load('rclpy')

from action_msgs.msg import GoalStatus
from node_harness import Feed, joint_state
import rclpy
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from test_inverse_dynamics_node import point, trajectory
import yaml

from rbd_ros.lookup.resources import resource_path

PAGE = (ROOT / 'docs' / 'moveit.md').read_text(encoding='utf-8')
ONE, TWO, BEHIND_ROS2_CONTROL = re.findall(r'```yaml\n(.*?)```', PAGE, re.DOTALL)
START = {'lift_joint': 0.0, 'left_finger_joint': 0.02, 'right_finger_joint': 0.02}
PLAN = {'lift_joint': -0.1, 'left_finger_joint': 0.04, 'right_finger_joint': 0.03}


class Controllers:
    """MoveIt's side: a client for each controller of a file."""

    def __init__(self, ros, action, text, folder):
        self.ros, self.action = ros, action
        file = folder / 'moveit_controllers.yaml'
        file.write_text(yaml.safe_dump({'/**': {'ros__parameters': yaml.safe_load(text)}}))
        node = rclpy.create_node(
            'move_group',
            context=ros.node.context,
            cli_args=['--ros-args', '--params-file', str(file)],
            automatically_declare_parameters_from_overrides=True,
        )
        prefix = 'moveit_simple_controller_manager.'
        self.joints, self.clients = {}, {}
        for name in node.get_parameter(f'{prefix}controller_names').value:
            of = {
                key: node.get_parameter(f'{prefix}{name}.{key}').value
                for key in ('type', 'action_ns', 'default', 'joints')
            }
            assert of['type'] == 'FollowJointTrajectory' and of['default'] is True
            self.joints[name] = of['joints']
            self.clients[name] = ActionClient(ros.node, action, f'{name}/{of["action_ns"]}')
        node.destroy_node()

    def execute(self, plan, duration=0.5):
        """Send each controller its part of a plan; return the futures of the results."""
        results = []
        for name, client in self.clients.items():
            names = sorted(set(self.joints[name]) & set(plan))
            if not names:
                continue
            self.ros.until(client.server_is_ready, 'the action')
            rest = [0.0] * len(names)
            points = [
                point(0.0, [START[each] for each in names], rest, rest),
                point(duration, [plan[each] for each in names], rest, rest),
            ]
            sent = client.send_goal_async(
                self.action.Goal(trajectory=trajectory(*points, names=names))
            )
            self.ros.until(sent.done, 'an answer to a goal')
            assert sent.result().accepted
            results.append(sent.result().get_result_async())
        return results


@pytest.fixture(scope='module')
def action(tmp_path_factory):
    return control_messages.provide(tmp_path_factory.mktemp('control_msgs'))


@pytest.fixture(scope='module')
def robot(ros):
    """Yield the node, and a robot that follows exactly: its position by joint."""
    urdf = str(resource_path('urdf', 'two_finger_gripper.urdf'))
    (launch,) = re.findall(r'bringup\.launch\.py (.*)', PAGE)
    given = dict(each.split(':=') for each in launch.split())
    assert given.pop('urdf') in urdf
    parameters = {name: yaml.safe_load(value) for name, value in given.items()}
    ros.start(
        'inverse_dynamics', {'robot_description_file': urdf, 'state_timeout': 5.0, **parameters}
    )
    desired = ros.listen(JointState, '/inverse_dynamics/desired_state')
    at = dict(START)

    def state():
        if desired:
            at.update(zip(desired[-1].name, desired[-1].position))
        return joint_state(list(at), list(at.values()), [0.0] * len(at))

    with Feed(ros.publisher(JointState, 'joint_states'), state):
        ros.until(lambda: desired, 'a desired state')
        yield at


@pytest.mark.parametrize(
    'text, plan, goals',
    [
        (ONE, PLAN, 1),
        (ONE, {'lift_joint': 0.0}, 1),
        (TWO, {**START, 'lift_joint': -0.2}, 2),
        (TWO, {'left_finger_joint': 0.01, 'right_finger_joint': 0.01}, 1),
    ],
    ids=['whole', 'one group', 'two groups', 'gripper of two groups'],
)
def test_a_plan_is_executed_by_the_controllers_of_the_page(
    ros, action, robot, tmp_path, text, plan, goals
):
    START.update(robot)
    results = Controllers(ros, action, text, tmp_path).execute(plan)
    assert len(results) == goals
    for each in results:
        ros.until(each.done, 'a result')
        result = each.result()
        assert result.status == GoalStatus.STATUS_SUCCEEDED, result.result.error_string
    expected = {**START, **plan}
    ros.until(lambda: robot == pytest.approx(expected, abs=1e-4), 'the goal')


def test_the_controllers_behind_ros2_control_have_their_own_actions_and_all_joints():
    manager = yaml.safe_load(BEHIND_ROS2_CONTROL)['moveit_simple_controller_manager']
    names = manager['controller_names']
    assert len(set(names)) == len(names) == 2 and not any('/' in name for name in names)
    joints = [joint for name in names for joint in manager[name]['joints']]
    assert sorted(joints) == sorted(START)
    assert all(name in PAGE.split('## Through ros2_control')[1] for name in names)
