# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Launch descriptions of the example worlds: robot, objects and initial state."""

from __future__ import annotations

from typing import Dict

from launch import LaunchDescription

from rbd_ros.launching.bringup import bringup_launch_description

_LEG = '0, 0.8, -1.6'

#: Arguments of bringup.launch.py by example; the command line has priority.
EXAMPLES: Dict[str, Dict[str, str]] = {
    'push_world': {
        'urdf': 'six_axis_arm',
        'initial_positions': '[0, 0.5, 2.35, -1.28, -1.57, 0]',
    },
    'peg_world': {
        'urdf': 'six_axis_arm',
        'initial_positions': '[0, 0.3, 2.0, -0.73, -1.57, 0]',
    },
    'gripper_world': {
        'urdf': 'two_finger_gripper',
        'initial_positions': '[-0.215, 0.03, 0.03]',
    },
    'two_arms_world': {
        'urdf': 'six_axis_arm',
        'initial_positions': '[0, -1.2, 1.5, 0, 0, 0]',
        'robot_namespaces': 'true',
        'controller': 'gravity_compensation',
    },
    'steps_world': {
        'urdf': 'quadruped',
        'floating_base': 'true',
        'initial_positions': f'[{_LEG}, {_LEG}, {_LEG}, {_LEG}]',
        'servo_bandwidth': '400',  # bears its weight with the knees yielding by half a degree
        'controller': 'none',  # the torque nodes need a fixed base
    },
}


def example_launch_description(name: str) -> LaunchDescription:
    """Return the launch description of an example: bringup.launch.py with other defaults.

    :param name: name of its world file without .yaml, and of the launch file
    """
    return bringup_launch_description(f'{name}.launch.py', {'world': name, **EXAMPLES[name]})
