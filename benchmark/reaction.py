# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Reaction time of nodes to failures, by kind of failure.

    python benchmark/reaction.py --rounds 10

A separate process sends states to a torque node, or commands to the simulator, or answers a
bridge, at 1 kHz, and records the time of the last good message. The reaction time ends when this
process receives the node's reaction: the last torque, zero, or a state in which the command is no
longer followed. It prints a table for docs/safety.md.
"""

import argparse
from contextlib import closing
import mmap
import os
from pathlib import Path
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from typing import Any, Dict, List

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / 'test'), str(ROOT)]

from support.limited_arm import limited_arm  # noqa: E402
import yaml  # noqa: E402

#: Parameters of the torque node gravity_compensation.
OF_STATES = (
    'states end',
    'not a number',
    'excess speed',
    'kill -9 of the publisher',
    'two publishers that contradict each other',
)
OF_PROGRAM = 'kill -9 of the program behind udp_bridge'
OF_COMMANDS = 'kill -9 of the torque node, seen by the simulator'
TIMEOUT = 0.1  # parameters state_timeout, response_timeout, command_timeout [s]
EFFORT = 5.0  # of the commands to the simulator [N m]
POSE = (0.3, -1.1)


def shared(folder: Path) -> mmap.mmap:
    """Return shared memory: the time of the last good message, and the kind of failure."""
    with open(folder / 'last', 'r+b') as file:
        return mmap.mmap(file.fileno(), 16)


def publish(folder: str, kind: str) -> None:
    """Send good states, then fail in a way; runs in a separate process."""
    import rclpy
    from sensor_msgs.msg import JointState

    rclpy.init()
    node = rclpy.create_node('robot')
    publisher = node.create_publisher(JointState, 'joint_states', 1)
    last = shared(Path(folder))
    good = JointState(name=['shoulder', 'elbow'], position=list(POSE), velocity=[0.0, 0.0])
    bad = JointState(name=good.name, position=list(POSE), velocity=[0.0, 0.0])
    if kind == 'not a number':
        bad.position = [float('nan'), POSE[1]]
    if kind == 'excess speed':
        bad.velocity = [0.0, 1e3]
    if kind.startswith('two'):
        other = node.create_publisher(JointState, 'joint_states', 1)
        wrong = JointState(name=good.name, position=[-1.0, 1.0], velocity=[0.0, 0.0])
    due = time.monotonic()
    while True:
        fails = last[8] != 0
        if fails and kind == 'states end':
            time.sleep(0.1)
            continue
        message = bad if fails and not kind.startswith('two') else good
        message.header.stamp = node.get_clock().now().to_msg()
        # the first state with excess speed is the bad one
        if not fails or (kind == 'excess speed' and last[9] == 0):
            last[:8] = struct.pack('d', time.monotonic())
            last[9] = fails
        publisher.publish(message)
        if fails and kind.startswith('two'):
            wrong.header.stamp = message.header.stamp
            other.publish(wrong)
        due = max(due + 0.001, time.monotonic())
        time.sleep(max(due - time.monotonic(), 0.0))


def answer(folder: str, port: str) -> None:
    """Answer the states of a bridge over UDP; runs in a separate process."""
    import numpy as np

    from rbd_ros.hil.controllers.udp_packets import ANSWER_HEAD, ANSWER_MAGIC, STATE_HEAD, VERSION

    last = shared(Path(folder))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as program:
        program.bind(('127.0.0.1', int(port)))
        while True:
            data, where = program.recvfrom(65536)
            _, _, n, sequence, _, _, _ = STATE_HEAD.unpack_from(data)
            head = ANSWER_HEAD.pack(ANSWER_MAGIC, VERSION, n, sequence)
            program.sendto(head + np.ones(n).tobytes(), where)
            last[:8] = struct.pack('d', time.monotonic())


def command(folder: str, kind: str) -> None:
    """Command the simulator; runs in a separate process."""
    import rclpy
    from sensor_msgs.msg import JointState

    rclpy.init()
    node = rclpy.create_node('commander')
    publisher = node.create_publisher(JointState, 'joint_commands', 1)
    last = shared(Path(folder))
    message = JointState(name=['shoulder', 'elbow'], effort=[EFFORT, EFFORT])
    while True:
        last[:8] = struct.pack('d', time.monotonic())
        publisher.publish(message)
        time.sleep(0.001)


class Rig:
    """A node, the process that it subscribes to, and its output.

    :param folder: folder for files
    :param module: name of the node
    :param topic: topic of its output
    :param parameters: those of the node
    """

    def __init__(self, folder: Path, module: str, topic: str, parameters: Dict[str, Any]):
        import rclpy
        from sensor_msgs.msg import JointState

        self._rclpy, self._folder, self._module = rclpy, folder, module
        self.node = rclpy.create_node('reaction')
        self.torques: List[Any] = []
        self.node.create_subscription(
            JointState,
            topic,
            lambda m: self.torques.append((time.monotonic(), any(m.effort))),
            1000,
        )
        file = folder / f'{module}.yaml'
        file.write_text(yaml.safe_dump({'/**': {'ros__parameters': parameters}}))
        words = [sys.executable, '-m', f'rbd_ros.nodes.{module}', '--ros-args']
        self._process = subprocess.Popen([*words, '--params-file', str(file)])

    def until(self, condition: Any, seconds: float = 60.0) -> None:
        """Spin until a condition holds."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError('the torque node does not answer')
            self._rclpy.spin_once(self.node, timeout_sec=0.01)

    def measure(self, kind: str, role: str = '--publish', word: str = '') -> float:
        """Return the time from the last good message to the receipt of the last torque [s].

        :param kind: kind of failure
        :param role: function of the other process
        :param word: its second argument, instead of `kind`
        """
        path = self._folder / 'last'
        path.write_bytes(bytes(16))
        words = [sys.executable, __file__, role, str(self._folder), word or kind]
        publisher = subprocess.Popen(words)
        try:
            self.torques.clear()
            self.until(lambda: len(self.torques) > 100 and self.torques[-1][1])
            last = shared(self._folder)
            if kind.startswith('kill'):
                os.kill(publisher.pid, signal.SIGKILL)
                publisher.wait()
            else:
                last[8] = 1
            self.until(lambda: not self.torques[-1][1])
            arrived = next(at for at, moves in reversed(self.torques) if not moves)
            return float(arrived - struct.unpack('d', last[:8])[0])
        finally:
            publisher.kill()
            publisher.wait()

    def activate_again(self) -> None:
        """Activate the node after a cut-off."""
        from lifecycle_msgs.srv import ChangeState

        client = self.node.create_client(ChangeState, f'{self._module}/change_state')
        for label in ('deactivate', 'activate'):
            request = ChangeState.Request()
            request.transition.label = label
            future = client.call_async(request)
            self.until(future.done)
        self.node.destroy_client(client)

    def close(self) -> None:
        """Stop the node."""
        self._process.terminate()
        self._process.wait()
        self.node.destroy_node()


def measure(rounds: int) -> Dict[str, List[float]]:
    """Return the times of all rounds by kind of failure [s]."""
    import rclpy

    os.environ.setdefault('ROS_DOMAIN_ID', str(100 + os.getpid() % 100))
    os.environ['PYTHONPATH'] = f'{ROOT}{os.pathsep}{os.environ.get("PYTHONPATH", "")}'
    times: Dict[str, List[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / 'arm.urdf').write_text(limited_arm())
        common = {'robot_description_file': str(folder / 'arm.urdf')}
        rclpy.init()
        try:
            of_states = {**common, 'state_timeout': TIMEOUT, 'overspeed_factor': 2.0}
            with closing(Rig(folder, 'gravity_compensation', 'joint_commands', of_states)) as rig:
                for kind in OF_STATES:
                    times[kind] = []
                    for _ in range(rounds):
                        times[kind].append(rig.measure(kind))
                        rig.activate_again()
            times[OF_PROGRAM] = _without_program(folder, common, rounds)
            times[OF_COMMANDS] = _without_commands(folder, common, rounds)
        finally:
            rclpy.shutdown()
    return times


def _without_program(folder: Path, common: Dict[str, Any], rounds: int) -> List[float]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    parameters = {
        **common,
        'port': port,
        'response_timeout': 0.5 * TIMEOUT,
        'state_timeout': TIMEOUT,
    }
    # With a separate file: times are those of the program.
    beside = folder / 'robot'
    beside.mkdir()
    (beside / 'last').write_bytes(bytes(16))
    states = [sys.executable, __file__, '--publish', str(beside), 'go on']
    with closing(Rig(folder, 'udp_bridge', 'joint_commands', parameters)) as rig:
        robot = subprocess.Popen(states)
        try:
            return [rig.measure(OF_PROGRAM, '--answer', str(port)) for _ in range(rounds)]
        finally:
            robot.kill()
            robot.wait()


def _without_commands(folder: Path, common: Dict[str, Any], rounds: int) -> List[float]:
    parameters = {
        **common,
        'command_timeout': TIMEOUT,
        'timeout_command': 'zero',
        'initial_command': 'zero',
    }
    with closing(Rig(folder, 'simulator', 'joint_states', parameters)) as rig:
        return [rig.measure(OF_COMMANDS, '--command') for _ in range(rounds)]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--rounds', type=int, default=10, help='of each kind (default: 10)')
    roles = {'publish': publish, 'answer': answer, 'command': command}
    for name in roles:
        parser.add_argument(f'--{name}', nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    for name, role in roles.items():
        if given := getattr(options, name):
            role(*given)
            return
    print('| failure | median [ms] | maximum [ms] |\n|---|---|---|')
    for kind, times in measure(options.rounds).items():
        median, most = 1e3 * statistics.median(times), 1e3 * max(times)
        print(f'| {kind} | {median:.1f} | {most:.1f} |', flush=True)


if __name__ == '__main__':
    main()
