"""How long a torque node takes to end its torque when states fail, by kind of failure.

    python benchmark/reaction.py --rounds 10

A publisher in a process of its own sends states at 1 kHz and notes when it sent the last good one;
the time ends when this process has received the last torque, zero. It prints a table for
docs/safety.md.
"""

import argparse
import mmap
import os
from pathlib import Path
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from typing import Any, Dict, List

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / 'test')]

from support.limited_arm import limited_arm  # noqa: E402

FAILURES = ('states end', 'not a number', 'excess speed', 'kill -9 of the publisher')
TIMEOUT = 0.1  # parameter state_timeout [s]
POSE = (0.3, -1.1)


def publish(folder: str, kind: str) -> None:
    """Send good states, then fail in a way; runs in a process of its own."""
    import rclpy
    from sensor_msgs.msg import JointState

    rclpy.init()
    node = rclpy.create_node('robot')
    publisher = node.create_publisher(JointState, 'joint_states', 1)
    with open(Path(folder) / 'last', 'r+b') as file:
        last = mmap.mmap(file.fileno(), 16)
    good = JointState(name=['shoulder', 'elbow'], position=list(POSE), velocity=[0.0, 0.0])
    bad = JointState(name=good.name, position=list(POSE), velocity=[0.0, 0.0])
    if kind == 'not a number':
        bad.position = [float('nan'), POSE[1]]
    if kind == 'excess speed':
        bad.velocity = [0.0, 1e3]
    due = time.monotonic()
    while True:
        fails = last[8] != 0
        if fails and kind == 'states end':
            time.sleep(0.1)
            continue
        message = bad if fails else good
        message.header.stamp = node.get_clock().now().to_msg()
        # of excess speed, the first bad state is what is answered
        if not fails or (kind == 'excess speed' and last[9] == 0):
            last[:8] = struct.pack('d', time.monotonic())
            last[9] = fails
        publisher.publish(message)
        due = max(due + 0.001, time.monotonic())
        time.sleep(max(due - time.monotonic(), 0.0))


class Rig:
    """A torque node, a publisher of states, and what the node sends."""

    def __init__(self, folder: Path, description: str):
        import rclpy
        from sensor_msgs.msg import JointState

        self._rclpy, self._folder = rclpy, folder
        self.node = rclpy.create_node('reaction')
        self.torques: List[Any] = []
        self.node.create_subscription(
            JointState,
            'joint_commands',
            lambda m: self.torques.append((time.monotonic(), any(m.effort))),
            1000,
        )
        parameters = folder / 'parameters.yaml'
        parameters.write_text(
            '/**:\n  ros__parameters:\n'
            f'    robot_description_file: {description}\n'
            f'    state_timeout: {TIMEOUT}\n    overspeed_factor: 2.0\n'
        )
        command = [sys.executable, '-m', 'rbd_ros.nodes.gravity_compensation', '--ros-args']
        self._torque_node = subprocess.Popen([*command, '--params-file', str(parameters)])

    def until(self, condition: Any, seconds: float = 60.0) -> None:
        """Spin until a condition holds."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError('the torque node does not answer')
            self._rclpy.spin_once(self.node, timeout_sec=0.01)

    def measure(self, kind: str) -> float:
        """Time from the last good state to the receipt of the last torque [s]."""
        path = self._folder / 'last'
        path.write_bytes(bytes(16))
        command = [sys.executable, __file__, '--publish', str(self._folder), kind]
        publisher = subprocess.Popen(command)
        try:
            self.torques.clear()
            self.until(lambda: len(self.torques) > 100 and self.torques[-1][1])
            with open(path, 'r+b') as file:
                shared = mmap.mmap(file.fileno(), 16)
            if kind.startswith('kill'):
                os.kill(publisher.pid, signal.SIGKILL)
                publisher.wait()
            else:
                shared[8] = 1
            self.until(lambda: not self.torques[-1][1])
            arrived = next(at for at, moves in reversed(self.torques) if not moves)
            return float(arrived - struct.unpack('d', shared[:8])[0])
        finally:
            publisher.kill()
            publisher.wait()

    def activate_again(self) -> None:
        """Go on after a cut-off."""
        from lifecycle_msgs.srv import ChangeState

        client = self.node.create_client(ChangeState, 'gravity_compensation/change_state')
        for label in ('deactivate', 'activate'):
            request = ChangeState.Request()
            request.transition.label = label
            future = client.call_async(request)
            self.until(future.done)
        self.node.destroy_client(client)

    def close(self) -> None:
        """End the torque node."""
        self._torque_node.terminate()
        self._torque_node.wait()


def measure(rounds: int) -> Dict[str, List[float]]:
    """Times of all rounds by kind of failure [s]."""
    import rclpy

    os.environ.setdefault('ROS_DOMAIN_ID', str(100 + os.getpid() % 100))
    os.environ['PYTHONPATH'] = f'{ROOT}{os.pathsep}{os.environ.get("PYTHONPATH", "")}'
    times: Dict[str, List[float]] = {kind: [] for kind in FAILURES}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        description = folder / 'arm.urdf'
        description.write_text(limited_arm())
        rclpy.init()
        rig = Rig(folder, str(description))
        try:
            for kind in FAILURES:
                for _ in range(rounds):
                    times[kind].append(rig.measure(kind))
                    rig.activate_again()
        finally:
            rig.close()
            rclpy.shutdown()
    return times


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--rounds', type=int, default=10, help='of each kind (default: 10)')
    parser.add_argument('--publish', nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.publish:
        publish(*options.publish)
        return
    print('| failure | median [ms] | maximum [ms] |\n|---|---|---|')
    for kind, times in measure(options.rounds).items():
        median, most = 1e3 * statistics.median(times), 1e3 * max(times)
        print(f'| {kind} | {median:.1f} | {most:.1f} |', flush=True)


if __name__ == '__main__':
    main()
