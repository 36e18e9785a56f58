#!/usr/bin/env python3
"""Processes that benchmark/ros.py starts: the other side of a node, and bare loops beside nodes.

    ros_processes.py states FILE JOINT ...          other side of a torque node: a robot at 1 kHz
    ros_processes.py commands FILE JOINT ...        other side of the simulator: answers each state
    ros_processes.py bare_torque FILE JOINT ...     bare loop in place of a torque node
    ros_processes.py bare_simulator FILE JOINT ...  bare loop in place of the simulator

A bare loop takes and publishes the messages of the node, with the same quality of service and at
the same rate, and does nothing else: the minimum cost of a node with rclpy. Messages stay
serialised, the executor is the quickest one, and there are no parameters, services and rosout. The
other side counts the cycles of the process it faces in the first eight bytes of FILE.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path
import struct
import sys
import threading
import time
from typing import Callable, List

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ['OPENBLAS_NUM_THREADS'] = '1'  # read when NumPy is imported

import rclpy
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from rbd_ros.nodes.common.communication import create_executor
from rbd_ros.nodes.common.wire import (
    ClockWriter,
    Float64MultiArrayWriter,
    JointStateWriter,
)

PERIOD = 0.001  # [s]
PERIOD_NS = 1_000_000
CLOCK_CYCLES = 10  # cycles between two messages on /clock
LARGEST_LAG = 0.1  # a schedule that is further behind starts again from the present [s]
WAIT_NS = 1_000_000_000
FOR_EVER = 1e6  # some builds of rclpy only wait well with an end [s]


def quality(depth: int = 1, reliable: bool = True) -> QoSProfile:
    """Quality of service as in the nodes."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
    )


def publish(node: Node, kind: type, topic: str) -> Callable[[bytes], None]:
    """Create a publisher, and return the function of it that publishes bytes.

    `Publisher.publish` does the same, but checks the type of its argument twice before.
    """
    return node.create_publisher(kind, topic, quality()).handle.publish_raw


def subscribe(node: Node, kind: type, topic: str, profile: QoSProfile) -> Callable[[], object]:
    """Subscribe, and return a function that takes a message as bytes, or None if there is none."""
    handle = node.create_subscription(kind, topic, lambda message: None, profile, raw=True).handle
    return lambda: handle.take_message(kind, True)


def every_millisecond(cycle: Callable[[int], None]) -> None:
    """Call `cycle` with its number every millisecond, at absolute deadlines, for ever."""
    deadline, number = time.monotonic(), 0
    while True:
        deadline += PERIOD
        remaining = deadline - time.monotonic()
        if remaining > 0.0:
            time.sleep(remaining)
        elif remaining < -LARGEST_LAG:
            deadline = time.monotonic()
        number += 1
        cycle(number)


def spin(node: Node) -> None:
    """Serve the subscriptions of a node, for ever."""
    executor = create_executor()
    executor.add_node(node)
    executor.spin_until_future_complete(Future(), timeout_sec=FOR_EVER)


def on_states(node: Node, use: Callable[[bytes], None]) -> None:
    """Call `use` with every state, for ever.

    The other side of a torque node: with a wait set of one subscription, so that as little as can
    be of what is seen is its own.
    """
    handle = node.create_subscription(
        JointState, 'joint_states', lambda message: None, quality(reliable=False), raw=True
    ).handle
    waiting = _rclpy.WaitSet(1, 0, 0, 0, 0, 0, node.context.handle)
    waiting.clear_entities()
    waiting.add_subscription(handle)
    while True:
        waiting.wait(WAIT_NS)
        if not waiting.is_ready('subscription', 0):
            # What was not ready has been taken out; waiting again without it would be fatal.
            waiting.clear_entities()
            waiting.add_subscription(handle)
        elif (taken := handle.take_message(JointState, True)) is not None:
            use(taken[0])


class Commands:
    """Publisher of the two messages of a torque node, which are serialised beforehand."""

    def __init__(self, node: Node, joints: List[str]):
        self._by_name = node.create_publisher(JointState, 'joint_commands', quality()).publish
        self._by_order = node.create_publisher(
            Float64MultiArray, 'effort_commands', quality()
        ).publish
        self._data = JointStateWriter(joints, ['effort']).data()
        self._array = Float64MultiArrayWriter(len(joints)).data()

    def __call__(self) -> None:
        """Publish both."""
        self._by_name(self._data)
        self._by_order(self._array)


def states(node: Node, joints: List[str], count: memoryview) -> None:
    """Publish states of a robot at rest, at 1 kHz, and count the answers."""
    writer = JointStateWriter(joints)
    publish_states = publish(node, JointState, 'joint_states')
    takes = [
        subscribe(node, JointState, 'joint_commands', quality(100)),
        subscribe(node, Float64MultiArray, 'effort_commands', quality(100)),
    ]
    answers = [0, 0]

    def cycle(number: int) -> None:
        for k, take in enumerate(takes):
            while take() is not None:
                answers[k] += 1
        count[0] = max(answers)
        writer.set_stamp_ns(time.monotonic_ns())
        publish_states(writer.data())

    every_millisecond(cycle)


def commands(node: Node, joints: List[str], count: memoryview) -> None:
    """Answer every state with commands; time stamps tell the number of cycles."""
    answer = Commands(node, joints)
    stamp = struct.Struct('<4xiI').unpack_from

    def use(data: bytes) -> None:
        answer()
        seconds, nanoseconds = stamp(data)
        count[0] = (seconds * 1_000_000_000 + nanoseconds) // PERIOD_NS

    on_states(node, use)


def bare_torque(node: Node, joints: List[str], count: memoryview) -> None:
    """Answer every state with commands."""
    answer = Commands(node, joints)
    node.create_subscription(
        JointState, 'joint_states', lambda data: answer(), quality(reliable=False), raw=True
    )
    spin(node)


def bare_simulator(node: Node, joints: List[str], count: memoryview) -> None:
    """Take commands and publish states at 1 kHz, and the time at 100 Hz."""
    writer, clock = JointStateWriter(joints), ClockWriter()
    publish_states = node.create_publisher(JointState, 'joint_states', quality()).publish
    publish_clock = node.create_publisher(Clock, '/clock', quality()).publish
    for kind, topic, depth in (
        (JointState, 'joint_commands', 10),
        (Float64MultiArray, 'effort_commands', 1),
    ):
        node.create_subscription(kind, topic, lambda data: None, quality(depth), raw=True)
    threading.Thread(target=spin, args=(node,), daemon=True).start()

    def cycle(number: int) -> None:
        writer.set_stamp_ns(number * PERIOD_NS)
        publish_states(writer.data())
        if number % CLOCK_CYCLES == 0:
            clock.set_stamp_ns(number * PERIOD_NS)
            publish_clock(clock.data())

    every_millisecond(cycle)


ROLES = {role.__name__: role for role in (states, commands, bare_torque, bare_simulator)}


def main() -> None:
    """Play a role until a signal comes."""
    role, path, *joints = sys.argv[1:]
    with open(path, 'r+b') as file:
        count = memoryview(mmap.mmap(file.fileno(), 8)).cast('q')
    rclpy.init()
    node = rclpy.create_node(f'{role}_loop', start_parameter_services=False, enable_rosout=False)
    try:
        ROLES[role](node, joints, count)
    except Exception:
        if rclpy.ok():  # otherwise it is the signal that ends this process
            raise


if __name__ == '__main__':
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(0)
