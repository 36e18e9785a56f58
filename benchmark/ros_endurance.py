#!/usr/bin/env python3
# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Counterpart of a node under many messages, which the node must answer without loss.

    ros_endurance.py WANTED JOINT ...       WANTED: options of endurance.py, as JSON

A torque node and trajectory_feedforward receive the next message after their response to the last
one; the simulator is in lockstep, and each of its states is answered by a command. The node's
counters and memory are recorded after `warm` messages, at most after `warm_seconds`, and again
after `messages` more, at most after `seconds`. The last line of output is the result, as JSON.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
import struct
import sys
import time
from typing import Any, Dict, List

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from diagnostic_msgs.msg import DiagnosticArray
import rclpy
from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message
from ros_measures.processes import resident
from ros_processes import publish, quality, stamp_of, Waiting
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from rbd_ros.wire import JointStateWriter

PERIOD_NS = 1_000_000  # between the stamps of two messages
RESPONSE_TIMEOUT_NS = 5_000_000_000  # for a response
BEGIN_NS = 50_000_000  # for a response while the node may not be connected
START_TIMEOUT = 300.0  # for a node that compiles [s]
SAMPLE_PERIOD = 0.1  # between two samples of the memory [s]
MAX_LOST = 10  # messages, after which the run ends
DIFFERENT = 1000  # different messages
SETTLED = 2  # reports after which counters have settled


class Answers:
    """Messages that are answered one by one, with the stamp of the message.

    :param node: this process' node
    :param kind: type of messages and answers
    :param topics: topic of messages, topic of answers
    :param messages: serialized messages, sent in turn with new stamps
    """

    def __init__(self, node: Node, kind: type, topics: tuple, messages: List[bytes]):
        self._messages = [bytearray(each) for each in messages]
        self._publish = publish(node, kind, topics[0])
        self._answers = Waiting(node, kind, topics[1], quality(100))
        self.sent = 0
        self.lost = 0

    def begin(self) -> bool:
        """Send one message, and return whether it is answered in time."""
        return self._exchange(BEGIN_NS)

    def resume(self) -> None:
        """Resume after a pause without messages."""

    def exchange(self) -> None:
        """Send a message and wait for its answer."""
        if not self._exchange(RESPONSE_TIMEOUT_NS):
            self.lost += 1

    def _exchange(self, patience: int) -> bool:
        self.sent += 1
        stamp = self.sent * PERIOD_NS
        message = self._messages[self.sent % len(self._messages)]
        struct.pack_into('<iI', message, 4, *divmod(stamp, 1_000_000_000))
        self._publish(bytes(message))
        deadline = time.monotonic_ns() + patience
        while (left := deadline - time.monotonic_ns()) > 0:
            data = self._answers.wait(left)
            if data is not None and stamp_of(data) == stamp:
                return True
        return False

    @property
    def time(self) -> int:
        """Time stamp of the last message [ns]."""
        return self.sent * PERIOD_NS


class States:
    """States of the simulator in lockstep, each answered by a command.

    :param node: this process' node
    :param commands: serialized commands, sent in turn with the stamps of the states
    """

    def __init__(self, node: Node, commands: List[bytes]):
        self._commands = [bytearray(each) for each in commands]
        self._publish = publish(node, JointState, 'joint_commands')
        self._states = Waiting(node, JointState, 'joint_states', quality(100))
        self.sent = self.lost = self.time = 0

    def begin(self) -> bool:
        """Wait for the first state, and return whether it was received."""
        data = self._states.wait(BEGIN_NS)
        self.time = 0 if data is None else stamp_of(data)
        return data is not None

    def resume(self) -> None:
        """Resume after a pause with the newest state: without lockstep the simulator continued."""
        while (data := self._states.take()) is not None:
            self.time = max(self.time, stamp_of(data))

    def exchange(self) -> None:
        """Answer the last state and wait for the next one."""
        self.sent += 1
        command = self._commands[self.sent % len(self._commands)]
        struct.pack_into('<iI', command, 4, *divmod(self.time, 1_000_000_000))
        self._publish(bytes(command))
        deadline = time.monotonic_ns() + RESPONSE_TIMEOUT_NS
        while (left := deadline - time.monotonic_ns()) > 0:
            data = self._states.wait(left)
            # The simulator repeats a state for late subscribers.
            if data is not None and (passed := stamp_of(data) - self.time) > 0:
                self.lost += passed // PERIOD_NS - 1
                self.time += passed
                return
        self.lost += 1


def _wave(k: int, joint: int) -> float:
    return 0.3 * math.sin(2.0 * math.pi * k / DIFFERENT + joint)


def joint_states(joints: List[str], fields: tuple) -> List[bytes]:
    """Return states or commands of a robot with small motions."""
    writer, found = JointStateWriter(joints, fields), []
    for k in range(DIFFERENT):
        for field in fields:
            getattr(writer, field)[:] = [_wave(k, joint) for joint in range(len(joints))]
        found.append(bytes(writer.data()))
    return found


def trajectories(joints: List[str]) -> List[bytes]:
    """Return the trajectories of two points."""
    found = []
    for k in range(DIFFERENT):
        message = JointTrajectory(joint_names=joints)
        for number in range(2):
            point = JointTrajectoryPoint(positions=[_wave(k + 50 * number, j) for j in range(6)])
            point.time_from_start.sec = 1 + number
            message.points.append(point)
        found.append(serialize_message(message))
    return found


def traffic_of(name: str, node: Node, joints: List[str]) -> Any:
    """Return the messages for a node."""
    if name == 'simulator':
        return States(node, joint_states(joints, ('position',)))
    if name == 'trajectory_feedforward':
        topics = 'joint_trajectory', 'feedforward_trajectory'
        return Answers(node, JointTrajectory, topics, trajectories(joints))
    topics = 'joint_states', 'joint_commands'
    return Answers(
        node, JointState, topics, joint_states(joints, ('position', 'velocity', 'effort'))
    )


def counters(reports: Waiting) -> Dict[str, float]:
    """Return the counters that a node reports when no more messages arrive."""
    while reports.take() is not None:
        pass
    found: Dict[str, float] = {}
    for _ in range(SETTLED):
        data = reports.wait(RESPONSE_TIMEOUT_NS)
        if data is None:
            raise RuntimeError('no diagnostics')
        for status in deserialize_message(data, DiagnosticArray).status:
            for pair in status.values:
                try:
                    found[pair.key] = float(pair.value)
                except ValueError:
                    pass  # not a number
    return found


def run(traffic: Any, reports: Waiting, options: Dict[str, Any]) -> Dict[str, Any]:
    """Exchange messages and return the result.

    :raises RuntimeError: without any response
    """
    deadline = time.monotonic() + START_TIMEOUT
    while not traffic.begin():
        if time.monotonic() > deadline:
            raise RuntimeError('no answer')
    deadline = time.monotonic() + options['warm_seconds']
    for _ in range(options['warm']):
        traffic.exchange()
        if time.monotonic() > deadline:
            break
    before, pid = counters(reports), options['pid']
    traffic.resume()
    lost, sent, begun = traffic.lost, traffic.sent, traffic.time
    count, memory = 0, [resident(pid)]
    begin = time.monotonic()
    looked = begin
    while count < options['messages']:
        traffic.exchange()
        count += 1
        now = time.monotonic()
        if now - looked > SAMPLE_PERIOD:
            looked = now
            memory.append(resident(pid))
            if now - begin > options['seconds'] or traffic.lost > lost + MAX_LOST:
                break
    elapsed = time.monotonic() - begin
    memory.append(resident(pid))
    return {
        'messages': count,
        'sent': traffic.sent - sent,
        'lost': traffic.lost - lost,
        'elapsed': elapsed,
        'stamps': (traffic.time - begun) / 1e9,
        'memory': memory,
        'before': before,
        'after': counters(reports),
    }


def main() -> None:
    """Exchange messages by the command line."""
    options, joints = json.loads(sys.argv[1]), sys.argv[2:]
    rclpy.init()
    node = rclpy.create_node('other_side', start_parameter_services=False, enable_rosout=False)
    reports = Waiting(node, DiagnosticArray, '/diagnostics', quality(100))
    print(json.dumps(run(traffic_of(options['node'], node, joints), reports, options)))


if __name__ == '__main__':
    main()
