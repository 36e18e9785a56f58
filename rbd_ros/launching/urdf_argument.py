# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The launch argument `urdf`, found, read and checked before any node starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Optional, Sequence
from xml.etree import ElementTree

from rbd_ros.launching.arguments import ArgumentError
from rbd_ros.launching.declarations import FROM_TOPIC
from rbd_ros.lookup.robots import DEFAULT_ROBOT, load_robot, RobotNotFoundError
from rbd_ros.model import load_urdf, ModelError


@dataclass(frozen=True)
class LaunchedRobot:
    """The robot of a launch.

    :param parameters: parameters for the robot of a node
    :param text: its URDF; None if it comes from the topic robot_description
    """

    parameters: Dict[str, str]
    text: Optional[str] = None

    @property
    def root_link(self) -> Optional[str]:
        """Name of the root link; None if the robot is not known yet."""
        if self.text is None:
            return None
        robot = ElementTree.fromstring(self.text.strip())
        children = {joint.find('child').get('link') for joint in robot.findall('joint')}
        links = (link.get('name') for link in robot.findall('link'))
        return next(name for name in links if name not in children)


def launched_robot(
    urdf: str, xacro_arguments: Sequence[str] = (), package_paths: Sequence[str] = ()
) -> LaunchedRobot:
    """Return the robot of the argument `urdf`.

    :param urdf: text of the argument
    :param xacro_arguments: words of the argument `xacro_args`
    :param package_paths: directories that are searched first for packages
    :raises ArgumentError: if the robot does not exist, or its description is invalid
    """
    if urdf == FROM_TOPIC:
        if xacro_arguments:
            raise ArgumentError(
                'launch argument xacro_args: it does not apply, because the topic '
                'robot_description has the expanded description; leave it out'
            )
        return LaunchedRobot({'robot_description': '', 'robot_description_file': ''})
    try:
        robot = load_robot(urdf or DEFAULT_ROBOT, xacro_arguments, package_paths)
        load_urdf(robot.source, package_paths=package_paths)
        text = robot.text
    except (RobotNotFoundError, ModelError) as error:
        raise ArgumentError(f'launch argument urdf: {error}') from None
    # Both are set, since a node would prefer the text from a parameter file.
    if robot.expanded is None:
        given = {'robot_description': '', 'robot_description_file': str(robot.path)}
    else:
        given = {'robot_description': text, 'robot_description_file': ''}
    return LaunchedRobot(given, text)
