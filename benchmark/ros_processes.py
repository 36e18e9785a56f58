#!/usr/bin/env python3
# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Processes that benchmark/ros.py starts: counterparts of nodes, and bare loops.

    ros_processes.py states FILE JOINT ...          other side of a torque node: a robot at 1 kHz
    ros_processes.py commands FILE JOINT ...        other side of the simulator: answers each state
    ros_processes.py echo FILE JOINT ...            bare loop in place of a torque node
    ros_processes.py bare_simulator FILE JOINT ...  bare loop in place of the simulator

A bare loop only receives and publishes the messages of the node, with the same quality of service
and rate: the minimum cost of a node with rclpy. Messages stay serialized, and there are no
parameters, services and rosout. The echo copies each state to joint_commands, by the loop of the
torque nodes; the bare simulator has the fastest executor. The counterpart records its observations
in FILE, a `Board`.
"""

from __future__ import annotations

import os
from pathlib import Path
import struct
import sys
import threading
import time
from typing import Callable, List, Optional

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
os.environ['OPENBLAS_NUM_THREADS'] = '1'  # read when NumPy is imported

import rclpy
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from ros_measures.board import Board
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from rbd_ros.nodes.common.blocking_subscriber import BlockingSubscriber
from rbd_ros.nodes.common.communication import create_executor
from rbd_ros.nodes.torque.torque_interface import JOINT_STATES
from rbd_ros.wire import (
    ClockWriter,
    Float64MultiArrayWriter,
    JointStateWriter,
)

PERIOD = 0.001  # [s]
PERIOD_NS = 1_000_000
CLOCK_CYCLES = 10  # cycles between two messages on /clock
MAX_LAG = 0.1  # a schedule that is further behind restarts from the present [s]
WAIT_NS = 1_000_000_000
LISTENING_NS = 900_000  # timeout of the response to a state; then the next state is due
STAMP = struct.Struct('<4xiI').unpack_from  # seconds and nanoseconds of a header
FOREVER = 1e6  # some builds of rclpy need a finite timeout [s]


def quality(depth: int = 1, reliable: bool = True) -> QoSProfile:
    """Return the quality of service of the nodes."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
    )


def publish(node: Node, kind: type, topic: str) -> Callable[[bytes], None]:
    """Create a publisher, and return its function that publishes bytes.

    `Publisher.publish` does the same after two checks of its argument's type.
    """
    return node.create_publisher(kind, topic, quality()).handle.publish_raw


def every_millisecond(cycle: Callable[[int], None]) -> None:
    """Call `cycle` with its number every millisecond, at absolute deadlines, forever."""
    deadline, number = time.monotonic(), 0
    while True:
        deadline += PERIOD
        remaining = deadline - time.monotonic()
        if remaining > 0.0:
            time.sleep(remaining)
        elif remaining < -MAX_LAG:
            deadline = time.monotonic()
        number += 1
        cycle(number)


def spin(node: Node) -> None:
    """Serve the subscriptions of a node, forever."""
    executor = create_executor()
    executor.add_node(node)
    executor.spin_until_future_complete(Future(), timeout_sec=FOREVER)


class Waiting:
    """One subscription with its own wait set, for minimum overhead.

    :param node: node that subscribes
    :param kind: type of the messages
    :param topic: name of the topic
    :param profile: quality of service
    """

    def __init__(self, node: Node, kind: type, topic: str, profile: QoSProfile):
        self._subscription = node.create_subscription(
            kind, topic, lambda message: None, profile, raw=True
        )
        self._handle, self._kind = self._subscription.handle, kind
        self._set = _rclpy.WaitSet(1, 0, 0, 0, 0, 0, node.context.handle)

    @property
    def publishers(self) -> int:
        """Number of publishers that are connected."""
        return self._subscription.get_publisher_count()

    def take(self) -> Optional[bytes]:
        """Take an available message."""
        taken = self._handle.take_message(self._kind, True)
        return None if taken is None else taken[0]

    def wait(self, nanoseconds: int) -> Optional[bytes]:
        """Wait for a message up to a timeout [ns], and take it."""
        # Waiting removes entities that are not ready; waiting again without them would block
        # forever.
        self._set.clear_entities()
        self._set.add_subscription(self._handle)
        self._set.wait(nanoseconds)
        return self.take()


def on_states(node: Node, use: Callable[[bytes], None]) -> None:
    """Call `use` with every state, forever; the counterpart of a simulator."""
    waiting = Waiting(node, JointState, 'joint_states', quality(reliable=False))
    while True:
        if (data := waiting.wait(WAIT_NS)) is not None:
            use(data)


class Commands:
    """Publisher of both kinds of commands, serialized beforehand."""

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


def stamp_of(data: bytes) -> int:
    """Return the time in the header of a serialized message [ns]."""
    seconds, nanoseconds = STAMP(data)
    return seconds * 1_000_000_000 + nanoseconds


def states(node: Node, joints: List[str], board: Board) -> None:
    """Publish states of a robot at rest, at 1 kHz, and record the times of responses."""
    writer = JointStateWriter(joints)
    publish_states = publish(node, JointState, 'joint_states')
    commands = Waiting(node, JointState, 'joint_commands', quality(100))

    def cycle(number: int) -> None:
        begin = now = time.monotonic_ns()
        writer.set_stamp_ns(begin)
        publish_states(writer.data())
        while now < begin + LISTENING_NS:
            data = commands.wait(begin + LISTENING_NS - now)
            now = time.monotonic_ns()
            while data is not None:
                # A last torque, or a torque for a state of another publisher, is no response.
                if 0 < (sent := stamp_of(data)) <= begin:
                    board.cycles += 1
                    board.note(now - sent)
                if sent == begin:
                    return
                data = commands.take()

    board.begin()
    every_millisecond(cycle)


def commands(node: Node, joints: List[str], board: Board) -> None:
    """Answer every state with commands; time stamps count the cycles."""
    answer = Commands(node, joints)

    def use(data: bytes) -> None:
        answer()
        board.cycles = stamp_of(data) // PERIOD_NS

    board.begin()
    on_states(node, use)


def echo(node: Node, joints: List[str], board: Board) -> None:
    """Copy every state to joint_commands."""
    BlockingSubscriber(node, JOINT_STATES).serve(publish(node, JointState, 'joint_commands'))


def bare_simulator(node: Node, joints: List[str], board: Board) -> None:
    """Receive commands and publish states at 1 kHz, and the time at 100 Hz."""
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


ROLES = {role.__name__: role for role in (states, commands, echo, bare_simulator)}


def main() -> None:
    """Run a role until a signal."""
    role, path, *joints = sys.argv[1:]
    board = Board(Path(path))
    rclpy.init()
    node = rclpy.create_node(f'{role}_loop', start_parameter_services=False, enable_rosout=False)
    try:
        ROLES[role](node, joints, board)
    except Exception:
        if rclpy.ok():  # otherwise the signal ends this process
            raise


if __name__ == '__main__':
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(0)
