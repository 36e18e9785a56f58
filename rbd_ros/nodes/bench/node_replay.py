# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Replay of a lockstep recording of a simulator node: same states, same answers.

It needs no DDS: the simulation cycle receives the recorded commands, and its output is compared
with the recorded messages.
"""

from __future__ import annotations

from dataclasses import dataclass, field
import json
from pathlib import Path
import re
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np

from rbd_ros.bounded_files import MAX_TEXT, read_text
from rbd_ros.hil.report.recorded_run import about_of, HilRecordingError
from rbd_ros.hil.report.run_recorder import fingerprint, JOINT_STATE, STRING
from rbd_ros.hil.report.run_replay import first_difference, Replay
from rbd_ros.lookup.robots import described_by, RobotNotFoundError, xacro_mappings
from rbd_ros.nodes.messages.conversions import NANOSECONDS
from rbd_ros.nodes.simulator.commands.control_tag import read_control_tag
from rbd_ros.nodes.simulator.cycle.lockstep import BY_STAMP, OFF, stamp_of
from rbd_ros.nodes.simulator.cycle.simulation_cycle import SimulationCycle
from rbd_ros.nodes.simulator.interface.simulator_interface import (
    check_simulator_parameters,
    INTERFACE,
)
from rbd_ros.robot import Robot
from rbd_ros.wire import JointStateReader, read_string, WireError
from rbd_ros.wire.mcap_files import McapReader

ARRAY = 'std_msgs/msg/Float64MultiArray'
DIAGNOSTICS = 'diagnostic_msgs/msg/DiagnosticArray'
#: The status `faults` in a diagnostics message: name, padding, length and message.
FAULTS_ACT = re.compile(rb': faults\0.{4,7}acting: ', re.DOTALL)
BY_NAME, BY_ORDER = 'name', 'order'
_UNITS = {'position': 'rad or m', 'velocity': 'rad/s or m/s', 'effort': 'N m or N'}


class Command(NamedTuple):
    """A recorded command.

    :param kind: BY_NAME or BY_ORDER
    :param data: the message
    """

    kind: str
    data: bytes


@dataclass
class RecordedNode:
    """A recording of a simulator node.

    :param description: URDF of the robot, or the path of its file
    :param states: JointStates by their stamps [ns]
    :param commands: commands in order of arrival
    :param note: reason for an early end of the file; '' if there is none
    """

    parameters: Dict[str, Any]
    description: str = ''
    states: Dict[int, bytes] = field(default_factory=dict)
    commands: List[Command] = field(default_factory=list)
    note: str = ''


def replay_node(path: Any) -> Replay:
    """Replay a recording of a simulator node in lockstep.

    :param path: file of hil_record
    :raises HilRecordingError: if it is damaged, not in lockstep, of another robot, has gaps or
        faults, or its time goes back
    """
    recorded = _read(path)
    cycle, ports = _cycle(recorded, path)
    label = Path(path).name
    first = min(recorded.states)
    if stamp_of(ports.state) != first:
        raise HilRecordingError(
            f'{label} begins at {first / NANOSECONDS:.6f} s, and earlier messages are unknown; '
            'start hil_record before the first answer to the simulator'
        )
    _check_joints(cycle, recorded, label)
    last, by_stamp = max(recorded.states), recorded.parameters['lockstep'] == BY_STAMP
    answers = _by_stamp(recorded.commands) if by_stamp else iter(recorded.commands)
    steps = lost = 0
    reader, expected = JointStateReader(), JointStateReader()
    while True:
        state = ports.state
        if state is not None:
            stamp = stamp_of(state)
            then = recorded.states.get(stamp)
            if then is None:
                lost += 1
            elif then != state:
                difference = _difference(expected.read(then), reader.read(state), stamp)
                if difference:
                    return Replay(steps, difference, recorded.note)
            steps += then is not None
            if stamp >= last:
                break
            command = answers.get(stamp) if isinstance(answers, dict) else next(answers, None)
            if command is None:
                raise HilRecordingError(
                    f'{label}: the state of {stamp / NANOSECONDS:.6f} s has no answer, but later '
                    'states have: messages were lost, or the simulator was paused, stepped or '
                    'moved; record it again without these'
                )
            ports.give(command)
        cycle.run()
    notes = [recorded.note] if recorded.note else []
    if lost:
        notes.append(f'states that were not recorded and are not compared: {lost}')
    return Replay(steps, '', '; '.join(notes))


def _by_stamp(commands: List[Command]) -> Dict[int, Command]:
    """Return the first command that answers each state."""
    found: Dict[int, Command] = {}
    for each in commands:
        if each.kind == BY_NAME:
            found.setdefault(stamp_of(each.data), each)
    return found


# -- reading --------------------------------------------------------------------------------------


def _read(path: Any) -> RecordedNode:
    about = about_of(path)
    if about.get('kind') != 'simulator':
        raise HilRecordingError(f'{path} is a recording of a scenario; give its scenario as well')
    recorded = RecordedNode(_parameters(about, path))
    label, newest, reader = Path(path).name, -1, McapReader(path)
    described = ''
    for found in reader:
        name = found.topic.rpartition('/')[2]
        if found.schema == JOINT_STATE and name == 'joint_states':
            stamp = stamp_of(found.data)
            if stamp < newest:
                raise HilRecordingError(
                    f'{label}: time goes back from {newest / NANOSECONDS:.6f} s to '
                    f'{stamp / NANOSECONDS:.6f} s: the simulation was restarted, or a second one '
                    'publishes joint_states; record each alone'
                )
            newest = stamp
            recorded.states.setdefault(stamp, bytes(found.data))
        elif found.schema == JOINT_STATE and name == 'joint_commands':
            recorded.commands.append(Command(BY_NAME, bytes(found.data)))
        elif found.schema == ARRAY and name == 'effort_commands':
            recorded.commands.append(Command(BY_ORDER, bytes(found.data)))
        elif found.schema == DIAGNOSTICS and FAULTS_ACT.search(bytes(found.data)):
            raise HilRecordingError(
                f'{label}: faults were active, but their exact time is not recorded; record it '
                'without faults, or record a scenario with them (rbd_ros hil --record)'
            )
        elif found.schema == STRING and name == 'robot_description':
            try:
                described = read_string(bytes(found.data))
            except WireError:
                pass
    if not recorded.states:
        raise HilRecordingError(f'{label} has no joint states; record it again with joint_states')
    recorded.description = _description(recorded.parameters, described, about, label)
    recorded.note = reader.note
    return recorded


def _parameters(about: Mapping[str, str], path: Any) -> Dict[str, Any]:
    try:
        given = json.loads(about['parameters'])
        values = {
            each.name: each.convert(given[each.name]) if each.name in given else each.default
            for each in INTERFACE.parameters
        }
        check_simulator_parameters(values)
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise HilRecordingError(
            f'{path} does not contain the parameters of the simulator ({type(error).__name__}: '
            f'{error}); record it again'
        ) from None
    if values['lockstep'] == OFF:
        raise HilRecordingError(
            f'{path} was not recorded in lockstep, so it cannot be replayed exactly; start the '
            'simulator with lockstep:=stamp'
        )
    if values['lockstep_update_rate']:
        raise HilRecordingError(
            f'{path} was recorded with a controller_manager (lockstep_update_rate), and the '
            'recording does not show which commands came in time; record a scenario instead '
            '(rbd_ros hil --record)'
        )
    if values['robot_namespaces']:
        raise HilRecordingError(
            f'{path} has robots with their own topics (robot_namespaces), which are not '
            'recorded; record it without robot_namespaces'
        )
    return values


def _description(
    parameters: Mapping[str, Any], described: str, about: Mapping[str, str], label: str
) -> str:
    """Return the URDF of the robot, or the path of its file.

    :raises HilRecordingError: if there is none, or it has changed since
    """
    text: str = parameters['robot_description']
    if text.strip():
        return text
    path = parameters['robot_description_file']
    if not path:
        if not described:
            raise HilRecordingError(
                f'{label} has no robot description; start hil_record before the simulator'
            )
        return described
    try:
        place = Path(path).expanduser()
        if about['description'] and about['description'] != fingerprint(
            read_text(place, MAX_TEXT)
        ):
            raise HilRecordingError(
                f'{label} belongs to another robot: {path} has changed since; restore its content'
            )
        return described_by(
            place, xacro_mappings(parameters['xacro_args']), parameters['package_paths']
        ).source
    except (OSError, UnicodeDecodeError, RobotNotFoundError) as error:
        raise HilRecordingError(
            f'{label}: the robot description {path} cannot be read: {error}'
        ) from None


# -- the simulator --------------------------------------------------------------------------------


def _cycle(recorded: RecordedNode, path: Any) -> Tuple[SimulationCycle, ReplayPorts]:
    parameters, ports = recorded.parameters, ReplayPorts()
    try:
        robot = Robot.from_urdf(
            recorded.description,
            armature=parameters['armature_file'] or None,
            extension=parameters['extension_file'] or None,
            package_paths=parameters['package_paths'],
            floating_base=parameters['floating_base'],
            gravity=parameters['gravity'],
        )
        cycle = SimulationCycle(
            robot,
            parameters,
            _Silent(),  # type: ignore[arg-type]
            ports,
            lambda _: None,
            lambda: _Nothing(),  # type: ignore[arg-type,return-value]
            read_control_tag(recorded.description),
        )
    except ValueError as error:
        raise HilRecordingError(
            f'{path}: the simulator cannot be created again: {error}'
        ) from None
    return cycle, ports


class ReplayPorts:
    """Ports of a simulation cycle that replay recorded commands and record its messages."""

    def __init__(self) -> None:
        self._command: Optional[Command] = None
        #: The last sent state, without an answer yet.
        self.state: Optional[bytes] = None

    def give(self, command: Command) -> None:
        """Answer the state with a command."""
        self._command, self.state = command, None

    def _taken(self, kind: str) -> Optional[Tuple[bytes, Any]]:
        if self._command is None or self._command.kind != kind:
            return None
        command, self._command = self._command, None
        return command.data, None

    def take_by_name(self) -> Optional[Tuple[bytes, Any]]:
        """Take the command, if it is a JointState."""
        return self._taken(BY_NAME)

    def take_by_order(self) -> Optional[Tuple[bytes, Any]]:
        """Take the command, if it is an array."""
        return self._taken(BY_ORDER)

    def take_accelerations(self) -> None:
        """Ignore accelerations, which are not recorded."""

    def take_wrench(self) -> None:
        """Ignore wrenches, which are not recorded."""

    def send_state(self, data: bytes) -> None:
        """Keep a state."""
        self.state = bytes(data)

    def send_clock(self, data: bytes) -> None:
        """Ignore the time."""

    def send_base(self, q: Any, v: Any, time: int) -> None:
        """Ignore the base."""


class _Silent:
    """Diagnostics that discard everything."""

    def event(self, *_: Any, **__: Any) -> None:
        pass

    condition = add_values = event


class _Nothing:
    """Ports of a world without subscribers."""

    def has_subscribers(self, _: str) -> bool:
        return False

    def send_objects(self, *_: Any) -> None:
        pass

    send_frames = send_standing = send_wrench = send_markers = send_objects


def _check_joints(cycle: SimulationCycle, recorded: RecordedNode, label: str) -> None:
    try:
        names = JointStateReader().read(recorded.states[min(recorded.states)]).names.names
    except WireError as error:
        raise HilRecordingError(f'{label}: the first state cannot be read: {error}') from None
    own = cycle.commands.names
    if missing := [name for name in own if name not in names]:
        raise HilRecordingError(
            f'{label} belongs to another robot: its states lack joint {", ".join(missing)}, but '
            f'have {", ".join(names)}'
        )


def _difference(then: Any, now: Any, stamp: int) -> str:
    """Return where and by how much two states differ; '' if only in irrelevant fields."""
    for name, unit in _UNITS.items():
        old, new = getattr(then, name), getattr(now, name)
        if old is None and new is None:
            continue
        if old is None or new is None or len(old) != len(new):
            return f'only one of the two recordings has {name} at {stamp / NANOSECONDS:.6f} s'
        found = first_difference(
            np.array(old, dtype=float)[None], np.array(new, dtype=float)[None], now.names.names
        )
        if found is not None:
            _, joint, by = found
            return f'{name} of {joint} at {stamp / NANOSECONDS:.6f} s, by {by:.3g} {unit}'
    return ''
