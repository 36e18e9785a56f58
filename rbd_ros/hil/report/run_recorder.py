# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Runs of the bench as MCAP files with ROS 2 messages, which tools for bags can read.

Time 0 of a scenario has the stamp `BEGIN`, as for a controller process.
"""

from __future__ import annotations

from dataclasses import asdict
import hashlib
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Dict, List, Optional, Sequence, Type

import numpy as np

from rbd_ros import __version__
from rbd_ros.array_types import FloatArray
from rbd_ros.hil.faults.fault_injector import FaultChange
from rbd_ros.hil.faults.faults import Fault
from rbd_ros.hil.scenario.scenario import Scenario
from rbd_ros.wire import (
    ClockWriter,
    JointStateWriter,
    ros2msg_schema,
    string_message,
)
from rbd_ros.wire.mcap_files import McapWriter, ROS2

NANOSECONDS = 1_000_000_000
#: Stamp of time 0 of a scenario [ns].
BEGIN = 2 * NANOSECONDS
CLOCK_PERIOD = 10_000_000  # period of /clock [ns]

#: Name of the metadata, and value of their `format`.
ABOUT, FORMAT = 'rbd_ros', 'rbd_ros recording 1'

JOINT_STATE = 'sensor_msgs/msg/JointState'
STRING = 'std_msgs/msg/String'
#: Topics: measured states, applied commands, and the true motion.
SHOWN, COMMANDS, TRUE = '/joint_states', '/joint_commands', '/true_joint_states'
FAULTS, CLOCK, DESCRIPTION = '/faults', '/clock', '/robot_description'

_TYPES = {
    SHOWN: JOINT_STATE,
    COMMANDS: JOINT_STATE,
    TRUE: JOINT_STATE,
    FAULTS: STRING,
    DESCRIPTION: STRING,
    CLOCK: 'rosgraph_msgs/msg/Clock',
}


#: Quality of service of a publisher in the format of ROS 2 bags: rmw's numbers, no deadlines.
_PROFILE = """- history: 1
  depth: 1
  reliability: 1
  durability: {durability}
  deadline: {{sec: 9223372036, nsec: 854775807}}
  lifespan: {{sec: 9223372036, nsec: 854775807}}
  liveliness: 1
  liveliness_lease_duration: {{sec: 9223372036, nsec: 854775807}}
  avoid_ros_namespace_conventions: false
"""
_TRANSIENT_LOCAL, _VOLATILE = 1, 2


def ros_file(path: Any) -> McapWriter:
    """Return the file for ROS 2 messages, which ros2 bag plays.

    :raises McapFileError: as `McapWriter`
    """
    file = McapWriter(Path(path), ROS2)
    # Without other content in this record, all distributions read profiles as numbers.
    file.metadata('rosbag2', {'ROS_DISTRO': os.environ.get('ROS_DISTRO', '')})
    return file


def ros_channel(file: McapWriter, topic: str, kind: str, latched: bool = False) -> int:
    """Return the channel for the messages of a ROS 2 topic.

    :param latched: whether late subscribers get the last message
    """
    profile = _PROFILE.format(durability=_TRANSIENT_LOCAL if latched else _VOLATILE)
    about = {'offered_qos_profiles': profile}
    return file.channel(topic, kind, 'ros2msg', ros2msg_schema(kind), 'cdr', about)


def fingerprint(description: str) -> str:
    """Return the fingerprint of a URDF."""
    return hashlib.sha256(description.encode()).hexdigest()


class RunRecorder:
    """Recorder of a run of the bench; a context manager.

    :param path: path of the file, usually ending in .mcap
    :param scenario: the scenario
    :raises ValueError: if it cannot be written, or the library mcap is missing

    >>> import os, tempfile
    >>> from rbd_ros.hil import Bench, read_scenario, RunRecorder
    >>> from rbd_ros.hil.controllers import make_controller
    >>> from rbd_ros.hil.report.run_replay import replay
    >>> scenario = read_scenario('config/hil/sticking_joint.yaml')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, 'run.mcap')
    ...     with RunRecorder(path, scenario) as recorder:
    ...         run = Bench(scenario).run(make_controller(scenario), recorder=recorder)
    ...     print(replay(scenario, path))
    5000 steps replayed: bitwise identical
    """

    def __init__(self, path: Any, scenario: Scenario):
        self._scenario, names = scenario, list(scenario.robot.joint_names)
        self._file = ros_file(path)
        self._channels = {
            topic: ros_channel(self._file, topic, kind, topic == DESCRIPTION)
            for topic, kind in _TYPES.items()
        }
        self._shown = JointStateWriter(names, ['position', 'velocity'])
        self._true, self._command = JointStateWriter(names), JointStateWriter(names, ['effort'])
        self._clock = ClockWriter()
        self._written, self._last_tick = 0, -1
        self._path, self._problem = path, ''

    def begin(self, seed: int, faults: Sequence[Fault]) -> None:
        """Write the metadata of the run.

        :param seed: seed of the run
        :param faults: faults of the run
        """
        scenario = self._scenario
        about: Dict[str, str] = {
            'format': FORMAT,
            'kind': 'bench',
            'version': __version__,
            'scenario': scenario.name,
            'robot': scenario.robot.name,
            'joints': json.dumps(list(scenario.robot.joint_names)),
            'description': fingerprint(scenario.description),
            'timestep': repr(scenario.step),
            'seed': str(seed),
            'faults': json.dumps([asdict(each) for each in faults]),
        }
        self._file.metadata(ABOUT, about)
        self._write(DESCRIPTION, string_message(scenario.description), BEGIN)

    def state(self, time: float, stamp: float, q: FloatArray, v: FloatArray) -> None:
        """Record a measured state.

        :param time: time of its arrival at the controller [s]
        :param stamp: time of the state [s]
        """
        self._shown.position[:], self._shown.velocity[:] = q, v
        self._write_stamped(SHOWN, self._shown, stamp, time)

    def command(self, time: float, stamp: float, torque: FloatArray) -> None:
        """Record a command.

        :param time: time of its arrival at the robot [s]
        :param stamp: time of the state that it answers [s]
        """
        self._command.effort[:] = torque
        self._write_stamped(COMMANDS, self._command, stamp, time)

    def step(
        self,
        time: float,
        q: FloatArray,
        v: FloatArray,
        torque: FloatArray,
        changes: List[FaultChange],
    ) -> None:
        """Record a time step.

        :param time: begin of the step [s]
        :param q: positions at the begin
        :param v: velocities at the begin
        :param torque: torques in the step
        :param changes: all changes of faults so far
        """
        now = _stamp(time)
        for change in changes[self._written :]:
            self._write(FAULTS, string_message(str(change)), now)
        self._written = len(changes)
        if now // CLOCK_PERIOD != self._last_tick:
            self._last_tick = now // CLOCK_PERIOD
            self._clock.set_stamp_ns(now)
            self._write(CLOCK, self._clock.data(), now)
        true = self._true
        true.position[:], true.velocity[:], true.effort[:] = q, v, torque
        self._write_stamped(TRUE, true, time, time)

    def _write_stamped(
        self, topic: str, message: JointStateWriter, stamp: float, time: float
    ) -> None:
        message.set_stamp_ns(_stamp(stamp))
        self._write(topic, message.data(), _stamp(time))

    def _write(self, topic: str, data: bytes, time: int) -> None:
        # A full disk is no failure of the controller: it is reported at the end.
        if not self._problem:
            try:
                self._file.write(self._channels[topic], time, data)
            except OSError as error:
                self._problem = str(error.strerror or error)

    def __enter__(self) -> RunRecorder:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        try:
            self._file.close()
        except OSError as fault:
            self._problem = str(fault.strerror or fault)
        if self._problem and kind is None:
            raise ValueError(
                f'{self._path} cannot be written completely: {self._problem}; give a file on a '
                'disk with more space'
            )


def _stamp(time: float) -> int:
    return BEGIN + int(np.rint(time * NANOSECONDS))
