# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A page that shows the motion of another process over ROS 2: a robot, and a simulator's world.

The robot follows its joint states. For a world, `simulator/object_states` and
`simulator/contact_markers` of the simulator node give the poses of the objects and the contacts.
"""

from __future__ import annotations

import math
import time
from typing import Any, Callable, Dict, Mapping, Sequence, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.model.joints import Floating
from rbd_ros.robot import Robot
from rbd_ros.spatial.rotation import quaternion_to_rotation
from rbd_ros.viewer.live import LivePage, LOCAL
from rbd_ros.viewer.page_text import floats, page
from rbd_ros.viewer.session import FRAME
from rbd_ros.viewer.viewer_scene import Scene

NODE = 'rbd_ros_viewer'
#: Topics of the simulator node about its world.
OBJECTS, CONTACTS = 'simulator/object_states', 'simulator/contact_markers'
_SILENT = 2.0  # time without a message that the page reports [s]
_ARROW_SCALE = 0.005  # of contact arrows, the simulator's default [m/N]
_NAMED = 5  # maximum number of names of hidden objects
_AWAY = -1e6  # height of a removed object [m]


class WatchSession:
    """A page that follows `joint_states`, and `base_pose` if the robot's base is floating.

    If there are movable objects, it also follows those of a simulator node.

    :param robot: the watched robot, including movable robots of its world
    :param scene: the drawn scene
    :param namespace: namespace of the topics, as '/left'; '' for none
    :param port: its port; 0 for any that is free
    :param host: see `LivePage`
    :raises ValueError: if rclpy is missing, the namespace is invalid, or the port cannot be used
    """

    def __init__(
        self,
        robot: Robot,
        scene: Scene,
        namespace: str = '',
        port: int = 8000,
        host: str = LOCAL,
    ):
        self.robot, self.scene = robot, scene
        #: Whether `run` should return as soon as possible.
        self.stopped = False
        self.q: FloatArray = robot.clamp(robot.neutral())
        self._places: Dict[str, int] = {}
        self._base = -1
        for i, (at_q, _) in robot.model.independent_slices.items():
            joint = robot.model.body(i)
            if at_q.stop - at_q.start == 1:
                self._places[joint.joint_name] = at_q.start
            elif isinstance(joint.joint, Floating) and self._base < 0:
                self._base = at_q.start
        self._missing = set(self._places)
        self._time = 0.0
        self._received = -math.inf
        #: Poses of the objects of the scene, (O, 4, 4), and contacts for the page, (C, 6).
        self.objects: FloatArray = scene.start.copy()
        self.contacts: FloatArray = np.empty((0, 6))
        self._objects_received = -math.inf
        self._unknown_objects: Tuple[str, ...] = ()
        poses = self._poses()[0]
        self._ros = _subscriber(
            namespace,
            {
                'joint_states': self._take_states,
                **({'base_pose': self._take_pose} if self._base >= 0 else {}),
                **({OBJECTS: self._take_objects} if scene.objects else {}),
                **({CONTACTS: self._take_contacts} if scene.grounds is not None else {}),
            },
        )
        try:
            text = page(scene, None, poses, live='watch', contacts=scene.grounds is not None)
            self._page = LivePage(text, port, host)
        except ValueError:
            self._ros.close()
            raise

    @property
    def url(self) -> str:
        """Address of the page."""
        return self._page.url

    def run(self, duration: float = math.inf) -> None:
        """Show received states.

        :param duration: duration [s]
        """
        end = time.monotonic() + duration
        while time.monotonic() < end and not self.stopped:
            began = time.monotonic()
            self._ros.take()
            self._page.requests()  # discarded, since none applies here
            self._page.publish(self._state())
            time.sleep(max(0.0, FRAME - (time.monotonic() - began)))

    def close(self) -> None:
        """Stop serving the page, and shut ROS down."""
        self._page.close()
        self._ros.close()

    def _take_states(self, message: Any) -> None:
        if len(message.name) != len(message.position):
            return
        for name, position in zip(message.name, message.position):
            at = self._places.get(name)
            if at is not None and math.isfinite(position):
                self.q[at] = position
                self._missing.discard(name)
        self._time = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        self._received = time.monotonic()

    def _take_pose(self, message: Any) -> None:
        turned, at = message.pose.orientation, message.pose.position
        pose = np.array([turned.w, turned.x, turned.y, turned.z, at.x, at.y, at.z])
        if np.isfinite(pose).all() and np.linalg.norm(pose[:4]) > 0.5:
            self.q[self._base : self._base + 7] = pose

    def _take_objects(self, message: Any) -> None:
        known = {name: k for k, name in enumerate(self.scene.objects)}
        if len(message.joint_names) != len(message.transforms):
            return
        there = dict(zip(message.joint_names, message.transforms))
        for name, k in known.items():
            if name not in there:
                self.objects[k, 2, 3] = _AWAY
                continue
            at, turned = there[name].translation, there[name].rotation
            numbers = np.array([at.x, at.y, at.z, turned.w, turned.x, turned.y, turned.z])
            length = float(np.linalg.norm(numbers[3:]))
            if np.isfinite(numbers).all() and length > 0.5:
                w, x, y, z = (numbers[3:] / length).tolist()
                self.objects[k, :3, :3] = quaternion_to_rotation((w, x, y, z))
                self.objects[k, :3, 3] = numbers[:3]
        self._unknown_objects = tuple(name for name in message.joint_names if name not in known)
        self._objects_received = time.monotonic()

    def _take_contacts(self, message: Any) -> None:
        found = []
        for each in message.markers:
            if len(each.points) == 2:
                first, second = (np.array([p.x, p.y, p.z]) for p in each.points)
                found.append(np.concatenate([first, (second - first) / _ARROW_SCALE]))
        contacts: FloatArray = np.array(found).reshape(-1, 6)
        self.contacts = contacts[np.isfinite(contacts).all(axis=1)]

    def _poses(self) -> FloatArray:
        return self.scene.poses(self.robot, self.q[None], self.objects)

    def _state(self) -> Any:
        return {
            'time': self._time,
            'factor': 0.0,
            'speed': 1.0,
            'playing': True,
            'message': self._problem(),
            'poses': floats(self._poses()),
            'contacts': floats(self.contacts),
            'q': floats(self.q),
        }

    def _problem(self) -> str:
        """Report topics without messages."""
        if self._received == -math.inf:
            return f'No message on {self._ros.topic} yet.'
        if time.monotonic() - self._received > _SILENT:
            return f'No message on {self._ros.topic} any more.'
        if self._missing:
            return f'{self._ros.topic} does not have {", ".join(sorted(self._missing))}.'
        if self.scene.objects and time.monotonic() - self._objects_received > _SILENT:
            return f'No message on {self._ros.resolved(OBJECTS)}: objects are not followed.'
        if self._unknown_objects:
            names = _listed(self._unknown_objects)
            return f'Not shown, because they are not in the world file: {names}.'
        return ''


def _listed(names: Sequence[str]) -> str:
    more = f' and {len(names) - _NAMED} more' if len(names) > _NAMED else ''
    return f'{", ".join(name[:40] for name in names[:_NAMED])}{more}'


class _Ros:
    """A node with its own context, independent of other nodes."""

    def __init__(self, context: Any, node: Any, executor: Any, count: int):
        self._context, self._node, self._executor = context, node, executor
        self._count = count
        self.topic = self.resolved('joint_states')

    def resolved(self, topic: str) -> str:
        """Return the full name of a topic."""
        return str(self._node.resolve_topic_name(topic))

    def take(self) -> None:
        """Take the newest message of each topic."""
        for _ in range(self._count):
            self._executor.spin_once(timeout_sec=0.0)

    def close(self) -> None:
        self._executor.shutdown()
        self._node.destroy_node()
        self._context.try_shutdown()


def _subscriber(namespace: str, callbacks: Mapping[str, Callable[[Any], None]]) -> _Ros:
    """Subscribe to topics.

    :param namespace: their namespace
    :param callbacks: callbacks of their messages, by topic
    """
    try:
        from rclpy import init
        from rclpy.context import Context
        from rclpy.exceptions import InvalidNamespaceException
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.node import Node
        from rclpy.qos import QoSProfile, ReliabilityPolicy
        from rclpy.signals import SignalHandlerOptions

        kinds = {topic: _message_type(topic) for topic in callbacks}
    except ImportError as error:
        raise ValueError(
            f"--watch needs ROS 2 ({error}): source it, or pip install 'rbd_ros[ros]'"
        ) from None
    context = Context()
    # Python handles Ctrl-C, which also ends the page.
    init(args=[], context=context, signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = Node(NODE, namespace=namespace or None, context=context)
    except InvalidNamespaceException as error:
        context.try_shutdown()
        raise ValueError(f'--namespace {namespace!r} is not valid: {error}') from None
    # Best effort also receives from reliable publishers; the newest message counts.
    make_profile: Any = QoSProfile
    quality = make_profile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    for topic, take in callbacks.items():
        node.create_subscription(kinds[topic], topic, take, quality)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    # One callback at a time: the node has timers as well as topics.
    return _Ros(context, node, executor, 2 * len(callbacks))


def _message_type(topic: str) -> Any:
    """Return the message class of a topic.

    :raises ImportError: if it is not installed
    """
    if topic == 'joint_states':
        from sensor_msgs.msg import JointState

        return JointState
    if topic == 'base_pose':
        from geometry_msgs.msg import PoseStamped

        return PoseStamped
    if topic == OBJECTS:
        from sensor_msgs.msg import MultiDOFJointState

        return MultiDOFJointState
    from visualization_msgs.msg import MarkerArray

    return MarkerArray
