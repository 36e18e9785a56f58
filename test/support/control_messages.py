"""The ROS package control_msgs, as far as FollowJointTrajectory needs it.

It is generated, see generated_messages.py; where control_msgs is installed, that is used.
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


def provide(folder):
    """Make control_msgs importable here and in processes started from here, or skip the test.

    :param folder: an empty folder that outlives the tests
    """
    generated_messages.provide(PACKAGE, DEFINITIONS, ('trajectory_msgs',), folder)
    return importlib.import_module('control_msgs.action').FollowJointTrajectory
