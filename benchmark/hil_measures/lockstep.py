# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Lockstep: cycles per second of the simulator and a controller, two Python processes over DDS.

The controller answers each state with a torque that depends on it. The states of two
runs, each from a new start, must be bitwise identical.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
import random
import struct
import sys
import time
from typing import Callable, List, NamedTuple, Tuple

import numpy as np

from hil_measures.figure import at_least, at_most, Figure, reported
from rbd_ros import Robot
from rbd_ros.demonstration.child_processes import ChildProcesses

PART = 'lockstep'
ROOT = Path(__file__).resolve().parents[2]
URDF = ROOT / 'urdf' / 'six_axis_arm.urdf'
FLOOR = 4000.0  # minimum cycles a second
START_TIMEOUT = 300.0  # for a simulator that compiles [s]
ANSWER_TIMEOUT = 30.0  # [s]
WAIT_NS = 10_000_000
STAMP = struct.Struct('<4xiI').unpack_from


class Run(NamedTuple):
    """Result of a run.

    :param rate: cycles a second, after the first tenth
    :param delays: from a command to the next state, at the controller [s]
    :param digest: digest of all states, including stamps
    """

    rate: float
    delays: np.ndarray
    digest: str


def run(cycles: int, domain: int, folder: Path) -> Run:
    """Run a simulator and control it for some cycles.

    :raises RuntimeError: if no state comes
    """
    environment = {
        **os.environ,
        'PYTHONPATH': str(ROOT),
        'ROS_DOMAIN_ID': str(domain),
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
    }
    options = ['lockstep:=stamp', 'clock_publish_rate:=0.0', f'robot_description_file:={URDF}']
    words = [word for option in options for word in ('-p', option)]
    command = [sys.executable, '-m', 'rbd_ros.nodes.simulator', '--ros-args', *words]
    with ChildProcesses(environment, folder) as children:
        children.start('simulator', command)
        return control(cycles, domain)


def control(cycles: int, domain: int) -> Run:
    """Act as the controller.

    :raises RuntimeError: if no state comes
    """
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    import rclpy
    from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
    from rclpy.qos import QoSProfile
    from sensor_msgs.msg import JointState

    from rbd_ros.wire import JointStateReader, JointStateWriter

    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain)
    node = rclpy.create_node(
        'controller', context=context, start_parameter_services=False, enable_rosout=False
    )
    robot = Robot.from_urdf(URDF)
    profile = QoSProfile(depth=10)
    states = node.create_subscription(
        JointState, 'joint_states', lambda _: None, profile, raw=True
    ).handle
    publish = node.create_publisher(JointState, 'joint_commands', profile).handle.publish_raw
    waiting = _rclpy.WaitSet(1, 0, 0, 0, 0, 0, context.handle)
    reader = JointStateReader()
    writer = JointStateWriter(list(robot.joint_names), ['effort'])
    digest, delays = hashlib.sha256(), np.zeros(cycles)
    last, answered, begin, sent = 0, 0, 0.0, 0.0
    patience = time.monotonic() + START_TIMEOUT
    try:
        while answered < cycles:
            waiting.clear_entities()
            waiting.add_subscription(states)
            waiting.wait(WAIT_NS)
            taken = states.take_message(JointState, True)
            now = time.perf_counter()
            if taken is None:
                if time.monotonic() > patience:
                    raise RuntimeError('the simulator does not answer')
                continue
            seconds, nanoseconds = STAMP(taken[0])
            stamp = seconds * 1_000_000_000 + nanoseconds
            if stamp <= last:
                continue  # a state that is sent again, for late subscribers
            last = stamp
            digest.update(taken[0])
            delays[answered] = now - sent
            state = reader.read(taken[0])
            writer.effort[:] = 20.0 * (0.5 - state.position) - 5.0 * state.velocity
            writer.set_stamp_ns(stamp)
            sent = time.perf_counter()
            publish(writer.data())
            answered += 1
            if answered == cycles // 10:
                begin = time.perf_counter()
            if answered % 1000 == 0:
                patience = time.monotonic() + ANSWER_TIMEOUT
        rate = (cycles - cycles // 10) / (time.perf_counter() - begin)
    finally:
        node.destroy_node()
        rclpy.shutdown(context=context)
    return Run(rate, delays[cycles // 10 :], digest.hexdigest())


def figures(cycles: int, runs: Tuple[Run, ...]) -> List[Figure]:
    """Return the figures of two runs."""
    rates, delays = [each.rate for each in runs], 1e6 * np.concatenate([r.delays for r in runs])
    different = len({each.digest for each in runs}) - 1
    found = [
        at_least(PART, f'cycles a second, the slower of two runs of {cycles}', min(rates), FLOOR),
        reported(PART, 'likewise, the faster one', max(rates)),
        at_most(PART, 'runs with other states, bitwise', different, 0.0),
    ]
    for what, part in (('median', 50.0), ('99 of 100', 99.0), ('longest', 100.0)):
        value = float(np.percentile(delays, part))
        found.append(
            reported(PART, f'from a command to the next state, both runs: {what} [µs]', value)
        )
    return found


def measure(folder: Path, cycles: int, on_progress: Callable[[int, int], None]) -> List[Figure]:
    """Run twice, in separate domains.

    :param folder: folder for logs
    :param cycles: cycles of each run
    :param on_progress: called with the number of runs done, and of all runs
    :raises RuntimeError: if no state comes
    """
    runs: List[Run] = []
    for domain in random.Random(time.time_ns()).sample(range(1, 101), 2):
        on_progress(len(runs), 2)
        runs.append(run(cycles, domain, folder))
    return figures(cycles, tuple(runs))
