# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Source of a node's robot: parameter, file, or the topic `robot_description`.

An unusable description in a parameter ends the node. An unusable one on the topic is reported in
the log and on `/diagnostics`, and the node waits for a valid one. The first valid description is
used; a different later one is reported and ignored.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Optional, TYPE_CHECKING

from rclpy.node import Node
from std_msgs.msg import String

from rbd_ros.bounded_files import MAX_TEXT, open_regular
from rbd_ros.lookup.robots import (
    described_by,
    RobotDescription,
    RobotNotFoundError,
    xacro_mappings,
)
from rbd_ros.model.unknown_masses import links_without_mass, WITHOUT_MASS
from rbd_ros.model.urdf.urdf_document import is_xacro
from rbd_ros.nodes.common.communication import subscription
from rbd_ros.nodes.common.compile_progress import Progress
from rbd_ros.nodes.common.declared import DESCRIPTION_TOPIC
from rbd_ros.nodes.common.diagnostics import Diagnostics, ERROR, OK, WARN
from rbd_ros.nodes.common.node_process import interruptible, StartupError
from rbd_ros.nodes.common.parameter_table import ParameterTable
from rbd_ros.nodes.messages.text import readable, short_name, shorten

if TYPE_CHECKING:
    from rbd_ros.robot import Robot

SUBJECT = 'robot_description'
TOPIC = 'topic robot_description'


class RobotSource:
    """Loads the robot from the first usable description.

    :param parameters: parameters that include `DESCRIPTION_PARAMETERS`
    :param diagnostics: diagnostics of the node
    :param use: configures the node for the robot; an exception rejects the description
    :param options: further arguments of `Robot.from_urdf`
    """

    def __init__(
        self,
        node: Node,
        parameters: ParameterTable,
        diagnostics: Diagnostics,
        use: Callable[[Robot, Progress], None],
        **options: Any,
    ):
        self._node = node
        self._parameters = parameters
        self._diagnostics = diagnostics
        self._use = use
        self._options = options
        self._text: Optional[str] = None
        self._subscription: Any = None
        self._newest: Optional[str] = None  # description on the topic
        self._started = False
        #: Called after a robot from the topic was accepted
        self.arrived: Callable[[], None] = lambda: None
        #: URDF in use, or the path of its file
        self.description = ''
        self.robot: Optional[Robot] = None

    def listen(self) -> None:
        """Keep messages of the topic for `start`, unless a parameter gives a description."""
        given = self._parameters['robot_description'].strip()
        if not given and not self._parameters['robot_description_file']:
            self._subscribe()

    def reset(self) -> None:
        """Drop the robot; `start` loads one again, or the newest of the topic."""
        self.robot, self._text, self.description = None, None, ''
        self._started = False
        self._diagnostics.hardware_id = ''
        self._diagnostics.condition(SUBJECT, OK, 'not loaded', code='not loaded')

    def start(self) -> None:
        """Load the robot from the parameters or the topic, or begin to wait for it there.

        :raises StartupError: if the description of a parameter, or an earlier one of the topic,
            cannot be used
        """
        text = self._parameters['robot_description']
        path = self._parameters['robot_description_file']
        if text.strip():
            self._load_or_end(text, text, 'parameter robot_description')
        elif path:
            found = self._readable_file(path)
            self._load_or_end(found.source, found.expanded, f'file {path}')
        else:
            self._wait_for_topic()

    def _readable_file(self, path: str) -> RobotDescription:
        try:
            expanded = Path(path).expanduser()
            with open_regular(expanded, MAX_TEXT):
                pass
        except (OSError, RuntimeError, ValueError) as error:
            raise StartupError(
                f'robot_description_file {path!r} cannot be read: {error}'
            ) from None
        try:
            return described_by(
                expanded,
                xacro_mappings(self._parameters['xacro_args']),
                self._parameters['package_paths'],
            )
        except RobotNotFoundError as error:
            raise StartupError(
                readable(f'parameters robot_description_file and xacro_args: {error}')
            ) from None

    def _load_or_end(self, source: str, text: Optional[str], origin: str) -> None:
        try:
            self._load(source, text, origin)
        except Exception as error:
            raise StartupError(
                f'robot description from {origin} cannot be used: {error}'
            ) from error

    def _subscribe(self) -> None:
        if self._subscription is None:
            self._subscription = subscription(self._node, DESCRIPTION_TOPIC, self._on_description)

    def _wait_for_topic(self) -> None:
        self._subscribe()
        if self._newest is not None:
            self._load_or_end(self._newest, self._newest, TOPIC)
            self._started = True
            return
        self._started = True
        self._diagnostics.condition(
            SUBJECT,
            WARN,
            f'waiting for a robot description on topic {self._subscription.topic_name} (or start '
            'the node with the parameter robot_description or robot_description_file)',
            code='waiting',
        )

    def _on_description(self, message: String) -> None:
        self._newest = message.data
        if not self._started:
            return
        if self.robot is not None:
            if message.data != self._text:
                self._diagnostics.event(
                    SUBJECT,
                    WARN,
                    'a different robot description arrived and is ignored; restart the node to '
                    'use it',
                    code='different description ignored',
                )
            return
        try:
            with interruptible():
                self._load(message.data, message.data, TOPIC)
        except KeyboardInterrupt:
            # A stop signal; the executor would write a traceback of it.
            return
        # after any failure, the node waits for another description
        except Exception as error:
            text = f'robot description from {TOPIC} cannot be used: {error}'
            self._diagnostics.condition(
                SUBJECT, ERROR, f'{readable(text)}. Waiting for a valid description on that topic'
            )
            return
        self.arrived()

    def _load(self, source: str, text: Optional[str], origin: str) -> None:
        if text is not None and not text.lstrip('\ufeff \t\r\n').startswith('<'):
            raise ValueError('not a URDF: the text does not begin with an XML element')
        if origin == TOPIC and is_xacro(source):
            # Only files that the user names may evaluate expressions.
            raise ValueError(
                'it is xacro, not URDF; let robot_state_publisher publish the expanded URDF'
            )
        from rbd_ros.robot import release_memory, Robot

        with Progress(self._node.get_logger()) as progress:
            progress.stage('reading the robot description')
            robot = Robot.from_urdf(
                source,
                armature=self._parameters['armature_file'] or None,
                extension=self._parameters['extension_file'] or None,
                package_paths=self._parameters['package_paths'],
                **self._options,
            )
            self.description = source
            self._use(robot, progress)
        release_memory()  # from here on, the node runs in machine code
        self.robot, self._text = robot, text
        self._diagnostics.hardware_id = short_name(robot.name)
        lost = links_without_mass(robot.model)
        self._diagnostics.condition(
            SUBJECT,
            WARN if lost else OK,
            f'{robot.name}, {robot.nv} degrees of freedom, from {origin}'
            + (f'; {WITHOUT_MASS}: {shorten(lost)}' if lost else ''),
            code='loaded',
        )
        self._node.get_logger().info(
            readable(f'robot {robot.name!r} from {origin}: {", ".join(robot.joint_names)}')
        )
        for warning in robot.warnings:
            self._node.get_logger().warning(readable(f'robot description: {warning}'))
