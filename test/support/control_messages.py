# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The part of the ROS package control_msgs that FollowJointTrajectory needs.

`provide` generates it, see generated_messages.py, unless control_msgs is installed. `RELEASED` has
the fields of each released version, for plain_messages.py.
"""

import importlib

from support import generated_messages

PACKAGE = 'control_msgs'
TOLERANCE = """
module control_msgs { module msg {
  struct JointTolerance {
    string name;
    double position;
    double velocity;
    double acceleration;
  };
}; };
"""
ACTION = """
#include "builtin_interfaces/msg/Duration.idl"
#include "control_msgs/msg/JointTolerance.idl"
#include "std_msgs/msg/Header.idl"
#include "trajectory_msgs/msg/JointTrajectory.idl"
#include "trajectory_msgs/msg/JointTrajectoryPoint.idl"
#include "trajectory_msgs/msg/MultiDOFJointTrajectory.idl"

module control_msgs { module action {
  struct FollowJointTrajectory_Goal {
    trajectory_msgs::msg::JointTrajectory trajectory;
    trajectory_msgs::msg::MultiDOFJointTrajectory multi_dof_trajectory;
    sequence<control_msgs::msg::JointTolerance> path_tolerance;
    sequence<control_msgs::msg::JointTolerance> goal_tolerance;
    builtin_interfaces::msg::Duration goal_time_tolerance;
  };
  module FollowJointTrajectory_Result_Constants {
    const int32 SUCCESSFUL = 0;
    const int32 INVALID_GOAL = -1;
    const int32 INVALID_JOINTS = -2;
    const int32 OLD_HEADER_TIMESTAMP = -3;
    const int32 PATH_TOLERANCE_VIOLATED = -4;
    const int32 GOAL_TOLERANCE_VIOLATED = -5;
  };
  struct FollowJointTrajectory_Result {
    int32 error_code;
    string error_string;
  };
  struct FollowJointTrajectory_Feedback {
    std_msgs::msg::Header header;
    sequence<string> joint_names;
    trajectory_msgs::msg::JointTrajectoryPoint desired;
    trajectory_msgs::msg::JointTrajectoryPoint actual;
    trajectory_msgs::msg::JointTrajectoryPoint error;
  };
}; };
"""
DEFINITIONS = {'msg/JointTolerance.idl': TOLERANCE, 'action/FollowJointTrajectory.idl': ACTION}

# Types of these fields of the action, besides messages of other packages.
MESSAGES = {
    'JointTolerance': 'string name, float64 position, float64 velocity, float64 acceleration',
    'JointComponentTolerance': (
        'string joint_name, uint16 component, float64 position, float64 velocity, '
        'float64 acceleration'
    ),
}
OTHERS = {
    'Duration': 'builtin_interfaces', 'Header': 'std_msgs', 'JointTrajectory': 'trajectory_msgs',
    'JointTrajectoryPoint': 'trajectory_msgs', 'MultiDOFJointTrajectory': 'trajectory_msgs',
    'MultiDOFJointTrajectoryPoint': 'trajectory_msgs',
}  # fmt: skip
RESULT = 'int32 error_code, string error_string'
FIRST = (
    'JointTrajectory trajectory, JointTolerance[] path_tolerance, JointTolerance[] '
    'goal_tolerance, Duration goal_time_tolerance',
    RESULT,
    'Header header, string[] joint_names, JointTrajectoryPoint desired, JointTrajectoryPoint '
    'actual, JointTrajectoryPoint error',
)
COMPONENTS = (
    f'{FIRST[0]}, MultiDOFJointTrajectory multi_dof_trajectory, JointComponentTolerance[] '
    'component_path_tolerance, JointComponentTolerance[] component_goal_tolerance',
    RESULT,
    f'{FIRST[2]}, string[] multi_dof_joint_names, MultiDOFJointTrajectoryPoint '
    'multi_dof_desired, MultiDOFJointTrajectoryPoint multi_dof_actual, '
    'MultiDOFJointTrajectoryPoint multi_dof_error',
)
#: Fields of goal, result and feedback of the action, by release.
RELEASED = {
    '2.0.0 to 2.5.1': FIRST,
    '3.0.0 to 6.2.0': COMPONENTS,
    '6.3.0 to 6.8.0': (
        COMPONENTS[0],
        RESULT,
        f'{COMPONENTS[2]}, int32 index, int32 multi_dof_index',
    ),
}


def provide(folder):
    """Make control_msgs importable here and in processes started from here, or skip the test.

    :param folder: an empty folder that outlives the tests
    """
    generated_messages.provide(PACKAGE, DEFINITIONS, ('trajectory_msgs',), folder)
    return importlib.import_module('control_msgs.action').FollowJointTrajectory
