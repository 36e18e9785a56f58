# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`hil_record run.mcap`: records the messages of a simulator or robot and its controller.

The command ends by Ctrl-C or after `--duration`. The file is readable even after a kill.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import signal
import sys
from time import monotonic
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from rcl_interfaces.srv import GetParameters
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.parameter import parameter_value_to_python
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions

from rbd_ros import __version__
from rbd_ros.bounded_files import MAX_TEXT, read_text
from rbd_ros.hil.report.run_recorder import (
    ABOUT,
    fingerprint,
    FORMAT,
    JOINT_STATE,
    ros_channel,
    ros_file,
    STRING,
)
from rbd_ros.nodes.common.communication import message_type
from rbd_ros.nodes.common.repeated_request import RepeatedRequest
from rbd_ros.nodes.simulator.interface.simulator_interface import INTERFACE

DEPTH = 10_000  # queue length of a topic
WAIT = 50_000_000  # longest wait for a message [ns]
MAX_AT_ONCE = 1000  # messages of one topic in a row, before the other topics are served
FLUSH_PERIOD = 1.0  # longest time until a message is in the file [s]

SIMULATOR = 'simulator'


class Recorded(NamedTuple):
    """A recorded topic.

    :param name: full name
    :param subscription: polled, without an executor
    :param kind: message class
    :param channel: channel of the file
    """

    name: str
    subscription: Any
    kind: type
    channel: int


class DdsRecorder:
    """Writes messages of topics as they arrive; a context manager.

    :param simulator: name of the simulator node, whose parameters are recorded
    :param arguments: for ROS
    :raises ValueError: if the file cannot be written, or the library mcap is missing
    """

    def __init__(self, path: Path, simulator: str, arguments: Sequence[str] = ()):
        self._file = ros_file(path)
        self._context = rclpy.Context()
        # The command handles signals: it closes the file first.
        rclpy.init(
            args=['hil_record', *arguments],
            context=self._context,
            signal_handler_options=SignalHandlerOptions.NO,
        )
        self._node = rclpy.create_node('hil_record', context=self._context)
        # A separate node, because this one is spun and the subscriptions above are polled.
        self._asker = rclpy.create_node('hil_record_parameters', context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._asker)
        self._topics = [
            self._record(name, kind, latched)
            for name, kind, latched in (
                ('joint_states', JOINT_STATE, False),
                ('joint_commands', JOINT_STATE, False),
                ('effort_commands', 'std_msgs/msg/Float64MultiArray', False),
                ('/clock', 'rosgraph_msgs/msg/Clock', False),
                ('/diagnostics', 'diagnostic_msgs/msg/DiagnosticArray', False),
                ('robot_description', STRING, True),
            )
        ]
        self._wait_set = _rclpy.WaitSet(len(self._topics), 0, 0, 0, 0, 0, self._context.handle)
        client = self._asker.create_client(GetParameters, f'{simulator}/get_parameters')
        names = [each.name for each in INTERFACE.parameters]
        self._service = client.srv_name
        self._parameters = RepeatedRequest(client, GetParameters.Request(names=names))
        self._flushed = monotonic()
        #: Number of written messages, by topic.
        self.counts: Dict[str, int] = {topic.name: 0 for topic in self._topics}
        #: Whether the parameters of the simulator are in the file.
        self.has_simulator = False

    def _record(self, name: str, kind: str, latched: bool) -> Recorded:
        durability = DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
        profile = QoSProfile(depth=1 if latched else DEPTH, durability=durability)
        subscription = self._node.create_subscription(
            message_type(kind), name, lambda _: None, profile, raw=True
        )
        channel = ros_channel(self._file, subscription.topic_name, kind, latched)
        return Recorded(subscription.topic_name, subscription, message_type(kind), channel)

    def run_once(self) -> None:
        """Write the received messages; if there are none, wait for one for a moment.

        :raises ValueError: if the file cannot be written
        """
        self._wait_set.clear_entities()
        for topic in self._topics:
            self._wait_set.add_subscription(topic.subscription.handle)
        self._wait_set.wait(WAIT)
        try:
            for topic in self._topics:
                self._take(topic)
            now = monotonic()
            if now - self._flushed > FLUSH_PERIOD:
                self._flushed = now
                self._file.flush()
            if not self.has_simulator:
                self._find_simulator()
        except OSError as error:
            raise ValueError(
                f'the recording cannot be written: {error.strerror or error}'
            ) from None

    def _take(self, topic: Recorded) -> None:
        take = topic.subscription.handle.take_message
        for _ in range(MAX_AT_ONCE):
            taken = take(topic.kind, True)
            if taken is None:
                return
            data, info = taken
            self._file.write(topic.channel, info['received_timestamp'], bytes(data))
            self.counts[topic.name] += 1

    def _find_simulator(self) -> None:
        """Request the parameters of the simulator, which a replay needs."""
        self._executor.spin_once(0.0)
        if self._parameters.answered():
            found = {
                each.name: _plain(parameter_value_to_python(value))
                for each, value in zip(INTERFACE.parameters, self._parameters.response().values)
            }
            self._file.metadata(ABOUT, _about(self._service, found))
            self.has_simulator = True

    def __enter__(self) -> DdsRecorder:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._node.destroy_node()
        self._asker.destroy_node()
        rclpy.shutdown(context=self._context)
        self._file.close()


def _about(service: str, parameters: Dict[str, Any]) -> Dict[str, str]:
    """Return the metadata of a recording of a simulator node."""
    text = parameters.get('robot_description') or ''
    if not text.strip():
        try:
            path = parameters.get('robot_description_file') or ''
            text = read_text(Path(path).expanduser(), MAX_TEXT) if path else ''
        except (OSError, ValueError):
            text = ''  # on another machine: the replay uses the file as it is
    return {
        'format': FORMAT,
        'kind': 'simulator',
        'version': __version__,
        'node': service.rpartition('/')[0],
        'description': fingerprint(text) if text.strip() else '',
        'parameters': json.dumps(parameters),
    }


def _plain(value: Any) -> Any:
    """Return the value of a parameter as a JSON type."""
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    return list(value)


class _Stop:
    """Set by a stop signal."""

    def __init__(self) -> None:
        self.requested = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)

    def _stop(self, *_: Any) -> None:
        self.requested = True


def record(path: Path, simulator: str, duration: float, arguments: List[str]) -> str:
    """Record until interrupted; return the final message.

    :param duration: duration [s]; 0: until interrupted
    :raises ValueError: if the file cannot be written
    """
    stop, end = _Stop(), monotonic() + duration if duration > 0.0 else None
    with DdsRecorder(path, simulator, arguments) as recorder:
        sys.stdout.write(f'hil_record: recording to {path}; end with Ctrl-C\n')
        sys.stdout.flush()
        while not stop.requested and (end is None or monotonic() < end):
            recorder.run_once()
        for _ in range(3):  # messages under way
            recorder.run_once()
        counts, known = recorder.counts, recorder.has_simulator
    text = ', '.join(f'{count} of {name}' for name, count in counts.items() if count)
    note = (
        ''
        if known
        else (
            f'\nno parameters were received from a simulator {simulator!r}, so the recording '
            'cannot '
            'be replayed'
        )
    )
    return f'hil_record: {text or "no messages"}, in {path}{note}'


def main(args: Optional[Sequence[str]] = None) -> None:
    """Run the command and end the process."""
    parser = argparse.ArgumentParser(
        prog='hil_record',
        description='Record a simulator or robot and its controller as an MCAP file.',
    )
    parser.add_argument('file', help='the recording, as run.mcap')
    parser.add_argument(
        '--simulator',
        metavar='NAME',
        default=SIMULATOR,
        help='name of the simulator node (default: %(default)s)',
    )
    parser.add_argument(
        '--duration', type=float, metavar='S', default=0.0, help='duration of the recording'
    )
    words = list(sys.argv[1:] if args is None else args)
    at = words.index('--ros-args') if '--ros-args' in words else len(words)
    given = parser.parse_args(words[:at])
    code = 0
    try:
        text = record(Path(given.file), given.simulator, given.duration, words[at:])
        sys.stdout.write(text + '\n')
    except ValueError as error:
        sys.stderr.write(f'hil_record: error: {error}\n')
        code = 1
    sys.exit(code)


if __name__ == '__main__':
    main()
