#!/usr/bin/env python3
"""Lockstep: cycles a second of the simulator and a controller, two Python processes over DDS.

    benchmark/hil.py [--cycles 40000] [--json FILE]

The controller answers each state with a torque that depends on it. Twice, from a start anew: the
states of both runs must be the same to the bit. Exit code 1 if they are not, or if the rate is
below the floor. Wants a machine that has nothing else to do, and Linux.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from pathlib import Path
import random
import struct
import sys
import tempfile
import time
from typing import Any, Dict, NamedTuple, Tuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
os.environ['OPENBLAS_NUM_THREADS'] = '1'  # read when NumPy is imported

import numpy as np  # noqa: E402

from rbd_ros import Robot  # noqa: E402
from rbd_ros.demonstration.processes import Children  # noqa: E402

URDF = HERE.parent / 'urdf' / 'six_axis_arm.urdf'
LOWEST_RATE = 4000.0  # cycles a second
START_TIMEOUT = 300.0  # for a simulator that has to compile [s]
ANSWER_TIMEOUT = 30.0  # [s]
WAIT_NS = 10_000_000
STAMP = struct.Struct('<4xiI').unpack_from


class Run(NamedTuple):
    """What a run gave.

    :param rate: cycles a second, after the first tenth
    :param delays: from a command to the next state, as the controller sees them [s]
    :param digest: of all states, stamps included
    """

    rate: float
    delays: np.ndarray
    digest: str


def run(cycles: int, domain: int, folder: Path) -> Run:
    """Run a simulator and control it for so many cycles.

    :raises RuntimeError: if no state comes
    """
    environment = {
        **os.environ,
        'PYTHONPATH': str(HERE.parent),
        'ROS_DOMAIN_ID': str(domain),
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
    }
    options = ['lockstep:=stamp', 'clock_publish_rate:=0.0', f'robot_description_file:={URDF}']
    words = [word for option in options for word in ('-p', option)]
    command = [sys.executable, '-m', 'rbd_ros.nodes.simulator', '--ros-args', *words]
    with Children(environment, folder) as children:
        children.start('simulator', command)
        return control(cycles, domain)


def control(cycles: int, domain: int) -> Run:
    """Be the controller.

    :raises RuntimeError: if no state comes
    """
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    import rclpy
    from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
    from rclpy.qos import QoSProfile
    from sensor_msgs.msg import JointState

    from rbd_ros.nodes.common.wire import JointStateReader, JointStateWriter

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
                continue  # a copy, for who had not seen the first
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


def table(runs: Tuple[Run, ...]) -> Dict[str, Any]:
    """Results by quantity."""
    delays = 1e6 * runs[0].delays
    return {
        'cycles a second': min(each.rate for each in runs),
        'delay [us], median': float(np.median(delays)),
        'delay [us], 99 of 100': float(np.percentile(delays, 99.0)),
        'delay [us], longest': float(delays.max()),
        'same states to the bit': len({each.digest for each in runs}) == 1,
    }


def main() -> int:
    """Measure, print and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--cycles', type=int, default=40_000)
    parser.add_argument('--json', type=Path, help='write the results there, too')
    arguments = parser.parse_args()
    domains = random.Random(time.time_ns()).sample(range(1, 101), 2)
    with tempfile.TemporaryDirectory() as folder:
        runs = tuple(run(arguments.cycles, domain, Path(folder)) for domain in domains)
    results = table(runs)
    for name, value in results.items():
        print(f'{name:28s}{value:>12.0f}' if type(value) is float else f'{name:28s}{value!s:>12}')
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + '\n')
    good = results['cycles a second'] >= LOWEST_RATE and results['same states to the bit']
    print('PASS' if good else f'BELOW: at least {LOWEST_RATE:.0f} cycles/s, and the same states')
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
