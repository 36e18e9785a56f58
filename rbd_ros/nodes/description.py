"""Where a node's robot comes from: parameter, file, or the topic `robot_description`.

A description that does not parse is reported in the log and on `/diagnostics`, and the node waits
for a good one on the topic. The first good one counts; a different one later is reported, not
taken.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Optional, Tuple

from rclpy.node import Node
from std_msgs.msg import String

from rbd_ros.nodes.diagnostics import Diagnostics, ERROR, OK, WARN
from rbd_ros.nodes.parameters import Declaration, ParameterTable
from rbd_ros.nodes.runtime import interruptible, quality_of_service
from rbd_ros.robot import Robot

SUBJECT = 'robot_description'

DESCRIPTION_PARAMETERS: Tuple[Declaration, ...] = (
    Declaration(
        'robot_description',
        '',
        'URDF of the robot as text. If empty, robot_description_file counts, and without that the '
        'topic '
        'robot_description.',
    ),
    Declaration(
        'robot_description_file', '', 'Path of a URDF file, used if robot_description is empty.'
    ),
    Declaration(
        'armature_file',
        '',
        'Path of a YAML file with the reflected rotor inertia of joints by name [kg m^2 or kg]; '
        'none if empty.',
    ),
    Declaration(
        'package_paths',
        (),
        'Folders in which to look for packages of package:// URIs.',
        element=str,
    ),
)


class RobotSource:
    """Gets the robot and hands it over once.

    :param node: the node
    :param parameters: its parameters, with those of `DESCRIPTION_PARAMETERS`
    :param diagnostics: where to report
    :param use: takes the robot into use; may raise, and then the description counts as bad
    :param options: further arguments of `Robot.from_urdf`
    """

    def __init__(
        self,
        node: Node,
        parameters: ParameterTable,
        diagnostics: Diagnostics,
        use: Callable[[Robot], None],
        **options: Any,
    ):
        self._node = node
        self._parameters = parameters
        self._diagnostics = diagnostics
        self._use = use
        self._options = options
        self._text: Optional[str] = None
        self.robot: Optional[Robot] = None

    def start(self) -> None:
        """Load the robot from the parameters, or begin to wait for it on the topic."""
        text, path = (
            self._parameters['robot_description'],
            self._parameters['robot_description_file'],
        )
        if text.strip() and self._load(text, text, 'parameter robot_description'):
            return
        if not text.strip() and path and self._load_file(path):
            return
        self._subscription = self._node.create_subscription(
            String,
            'robot_description',
            self._on_description,
            quality_of_service(1, transient_local=True),
        )
        if not text.strip() and not path:
            topic = self._subscription.topic_name
            self._diagnostics.condition(
                SUBJECT,
                WARN,
                f'waiting for a robot description on topic {topic} (or start the node with the '
                'parameter '
                'robot_description or robot_description_file)',
                code='waiting',
            )

    def _load_file(self, path: str) -> bool:
        try:
            expanded = Path(path).expanduser()
            with expanded.open('rb'):
                pass
        except (OSError, RuntimeError, ValueError) as error:
            self._report(f'robot_description_file {path!r} cannot be read: {error}')
            return False
        return self._load(str(expanded), None, f'file {path}')

    def _on_description(self, message: String) -> None:
        if self.robot is not None:
            if message.data != self._text:
                self._diagnostics.event(
                    SUBJECT,
                    WARN,
                    'a different robot description arrived; it is not used: restart the node for '
                    'it',
                    code='different description ignored',
                )
            return
        with interruptible():
            self._load(message.data, message.data, 'topic robot_description')

    def _load(self, source: str, text: Optional[str], origin: str) -> bool:
        try:
            if text is not None and not text.lstrip('\ufeff \t\r\n').startswith('<'):
                raise ValueError('not a URDF: the text does not begin with an XML element')
            robot = Robot.from_urdf(
                source,
                armature=self._parameters['armature_file'] or None,
                package_paths=self._parameters['package_paths'],
                **self._options,
            )
            self._use(robot)
        # whatever is wrong with a description, the node goes on waiting for a good one
        except Exception as error:
            self._report(f'robot description from {origin} cannot be used: {error}')
            return False
        self.robot, self._text = robot, text
        self._diagnostics.hardware_id = robot.name
        self._diagnostics.condition(
            SUBJECT,
            OK,
            f'{robot.name}, {robot.nv} degrees of freedom, from {origin}',
            code='loaded',
        )
        self._node.get_logger().info(
            f'robot {robot.name!r} from {origin}: {", ".join(robot.joint_names)}'
        )
        for warning in robot.warnings:
            self._node.get_logger().warning(f'robot description: {warning}')
        return True

    def _report(self, text: str) -> None:
        text = text if len(text) < 1000 else text[:1000] + ' ...'
        self._diagnostics.condition(
            SUBJECT, ERROR, f'{text}. Waiting for a good one on topic robot_description'
        )
