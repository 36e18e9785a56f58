"""A page that shows a robot which another process moves: what its joint states say, over ROS 2."""

from __future__ import annotations

import math
import time
from typing import Any, Dict, List, Tuple

import numpy as np
from numpy.typing import NDArray

from rbd_ros.model.joints import Floating
from rbd_ros.robot import Robot
from rbd_ros.viewer.live import LivePage
from rbd_ros.viewer.page_text import floats, page
from rbd_ros.viewer.scene import Scene
from rbd_ros.viewer.session import FRAME

FloatArray = NDArray[np.float64]

NODE = 'rbd_ros_viewer'
_SILENT = 2.0  # without a message, before the page says so [s]


class WatchSession:
    """A page that follows `joint_states`, and `base_pose` if the robot's base is floating.

    :param robot: the robot that is watched
    :param scene: what there is to see
    :param namespace: namespace of the topics, as '/left'; '' for none
    :param port: port of 127.0.0.1; 0 for any that is free
    :raises ValueError: if there is no rclpy, the namespace is none, or the port cannot be used
    """

    def __init__(self, robot: Robot, scene: Scene, namespace: str = '', port: int = 8000):
        self.robot, self.scene = robot, scene
        self.q: FloatArray = np.clip(robot.neutral(), robot.lower_limits, robot.upper_limits)
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
        self._heard = -math.inf
        poses = scene.poses(robot, self.q[None])[0]
        self._ros = _subscriber(namespace, self._take_states, self._take_pose, self._base >= 0)
        try:
            self._page = LivePage(page(scene, None, poses, live='watch'), port)
        except ValueError:
            self._ros.close()
            raise

    @property
    def url(self) -> str:
        """Address of the page."""
        return self._page.url

    def run(self, duration: float = math.inf) -> None:
        """Show what comes.

        :param duration: how long [s]
        """
        end = time.monotonic() + duration
        while time.monotonic() < end:
            began = time.monotonic()
            self._ros.take()
            self._page.orders()  # of none is there any use
            self._page.publish(self._state())
            time.sleep(max(0.0, FRAME - (time.monotonic() - began)))

    def close(self) -> None:
        """Serve the page no more, and leave ROS."""
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
        self._heard = time.monotonic()

    def _take_pose(self, message: Any) -> None:
        turned, at = message.pose.orientation, message.pose.position
        pose = np.array([turned.w, turned.x, turned.y, turned.z, at.x, at.y, at.z])
        if np.isfinite(pose).all() and np.linalg.norm(pose[:4]) > 0.5:
            self.q[self._base : self._base + 7] = pose

    def _state(self) -> Any:
        return {
            'time': self._time,
            'factor': 0.0,
            'speed': 1.0,
            'playing': True,
            'message': self._problem(),
            'poses': floats(self.scene.poses(self.robot, self.q[None])),
            'contacts': '',
        }

    def _problem(self) -> str:
        """Say what is not heard of."""
        if self._heard == -math.inf:
            return f'No message on {self._ros.topic} yet.'
        if time.monotonic() - self._heard > _SILENT:
            return f'No message on {self._ros.topic} any more.'
        if self._missing:
            return f'{self._ros.topic} does not have {", ".join(sorted(self._missing))}.'
        return ''


class _Ros:
    """A node of its own context, so that nobody else's is ended."""

    def __init__(self, context: Any, node: Any, executor: Any, topic: str, count: int):
        self._context, self._node, self._executor = context, node, executor
        self.topic, self._count = topic, count

    def take(self) -> None:
        """Take the newest message of each topic."""
        for _ in range(self._count):
            self._executor.spin_once(timeout_sec=0.0)

    def close(self) -> None:
        self._executor.shutdown()
        self._node.destroy_node()
        self._context.try_shutdown()


def _subscriber(namespace: str, take_states: Any, take_pose: Any, floating: bool) -> _Ros:
    try:
        from geometry_msgs.msg import PoseStamped
        from rclpy import init
        from rclpy.context import Context
        from rclpy.exceptions import InvalidNamespaceException
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.node import Node
        from rclpy.qos import QoSProfile, ReliabilityPolicy
        from rclpy.signals import SignalHandlerOptions
        from sensor_msgs.msg import JointState
    except ImportError as error:
        raise ValueError(
            f"--watch needs ROS 2 ({error}): source it, or pip install 'rbd_ros[ros]'"
        ) from None
    context = Context()
    # Ctrl-C is Python's: it ends the page as well.
    init(args=[], context=context, signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = Node(NODE, namespace=namespace or None, context=context)
    except InvalidNamespaceException as error:
        context.try_shutdown()
        raise ValueError(f'--namespace {namespace!r} is none: {error}') from None
    # Best effort hears reliable publishers, too; of many messages, the newest counts.
    make_profile: Any = QoSProfile
    quality = make_profile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    wanted: List[Tuple[Any, str, Any]] = [(JointState, 'joint_states', take_states)]
    if floating:
        wanted.append((PoseStamped, 'base_pose', take_pose))
    subscriptions = [node.create_subscription(*each, quality) for each in wanted]
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    # Each time one of them: with its topics, a node has a timer or two of its own.
    return _Ros(context, node, executor, subscriptions[0].topic_name, 2 * len(wanted))
