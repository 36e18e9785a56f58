# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A recorded run of the bench, read and checked for missing states."""

from __future__ import annotations

from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any, Dict, List, Mapping, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.hil.faults.faults import Fault
from rbd_ros.hil.report.run_recorder import ABOUT, BEGIN, COMMANDS, FORMAT, NANOSECONDS, TRUE
from rbd_ros.wire import JointStateReader, WireError
from rbd_ros.wire.mcap_files import Found, McapFileError, McapReader


class HilRecordingError(ValueError):
    """An unusable recording; the message names file, time and cure."""


@dataclass(frozen=True)
class RecordedRun:
    """A recorded run of the bench; each row is one of T time steps.

    :param about: metadata of the file
    :param joints: names of the joints, (n,)
    :param timestep: h [s]
    :param seed: seed of the run
    :param faults: faults
    :param time: stamps, (T,) [ns]
    :param q: positions, (T, n) [rad, m]
    :param v: velocities, (T, n) [rad/s, m/s]
    :param torque: applied torques, (T, n) [N m, N]
    :param command_time: times of arrival of commands, (C,) [ns]
    :param commands: commands, (C, n) [N m, N]
    :param note: reason for an early end of the file; '' if there is none
    """

    about: Mapping[str, str]
    joints: Tuple[str, ...]
    timestep: float
    seed: int
    faults: Tuple[Fault, ...]
    time: IntArray
    q: FloatArray
    v: FloatArray
    torque: FloatArray
    command_time: IntArray
    commands: FloatArray
    note: str


def about_of(path: Any) -> Dict[str, str]:
    """Return the metadata of a recording of the bench.

    :raises HilRecordingError: if it is another file, or cannot be read
    """
    reader = McapReader(path)
    for _ in _messages(reader, path):
        if ABOUT in reader.metadata:
            break
    about = reader.metadata.get(ABOUT, {})
    if about.get('format') != FORMAT:
        found = about.get('format', 'no metadata of a run')
        raise HilRecordingError(
            f'{path} has {found[:80]}, but this command replays {FORMAT!r}; record it by '
            '--record or hil_record'
        )
    return about


def _messages(reader: McapReader, path: Any) -> Any:
    try:
        yield from reader
    except McapFileError as error:
        raise HilRecordingError(f'{path} is not an MCAP file: {error}') from None
    except OSError as error:
        raise HilRecordingError(
            f'{path} cannot be read: {error.strerror or error}; check the path'
        ) from None


def read_run(path: Any) -> RecordedRun:
    """Read a run of the bench.

    :raises HilRecordingError: if it is another file, joints or states are missing, or time goes
        back
    """
    about = about_of(path)
    if about.get('kind') != 'bench':
        raise HilRecordingError(
            f'{path} is a recording of a simulator node, which has no scenario; replay it by '
            f'hil_run --replay-recording {path}'
        )
    try:
        joints = tuple(json.loads(about['joints']))
        timestep, seed = float(about['timestep']), int(about['seed'])
        faults = tuple(_fault(each) for each in json.loads(about['faults']))
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise HilRecordingError(
            f'{path} does not contain the scenario ({type(error).__name__}: {error}); record it '
            'again'
        ) from None
    reader, decode = McapReader(path), JointStateReader()
    states = _Rows(path, joints, ('position', 'velocity', 'effort'))
    commands = _Rows(path, joints, ('effort',))
    for found in _messages(reader, path):
        if found.topic == TRUE:
            states.add(decode, found)
        elif found.topic == COMMANDS:
            commands.add(decode, found)
    if not states.times:
        raise HilRecordingError(
            f'{path} has no state on {TRUE}: it ended before the first state; record it again'
        )
    time = np.array(states.times, dtype=np.int64)
    _check_times(path, time, round(timestep * NANOSECONDS))
    n = len(joints)
    rows = np.array(states.rows).reshape(-1, 3, n)
    return RecordedRun(
        about,
        joints,
        timestep,
        seed,
        faults,
        time,
        rows[:, 0],
        rows[:, 1],
        rows[:, 2],
        np.array(commands.times, dtype=np.int64),
        np.array(commands.rows).reshape(-1, n),
        reader.note,
    )


def _fault(values: Dict[str, Any]) -> Fault:
    given: Dict[str, Any] = {
        name: tuple(x) if isinstance(x, list) else x for name, x in values.items()
    }
    return Fault(**given)


class _Rows:
    """Numbers of the messages of a topic, in the order of the joints."""

    def __init__(self, path: Any, joints: Tuple[str, ...], fields: Tuple[str, ...]):
        self._label, self._joints, self._fields = Path(path).name, joints, fields
        self.times: List[int] = []
        self.rows: List[Any] = []

    def add(self, decode: JointStateReader, found: Found) -> None:
        when = f'{self._label}: at {(found.time - BEGIN) / NANOSECONDS:.6f} s, {found.topic}'
        try:
            message = decode.read(bytes(found.data))
        except WireError as error:
            raise HilRecordingError(f'{when} cannot be read: {error}; record it again') from None
        names = message.names.names
        if missing := [name for name in self._joints if name not in names]:
            raise HilRecordingError(
                f'{when} lacks joint {", ".join(missing)}: record all joints of the robot'
            )
        order = [names.index(name) for name in self._joints]
        for field in self._fields:
            values = getattr(message, field)
            if values is None or len(values) != len(names):
                raise HilRecordingError(
                    f'{when} does not contain the {field} of each joint: record position, '
                    'velocity and effort'
                )
            self.rows.append(np.array(values)[order])
        # Time at which the command arrived, or of the state.
        self.times.append(found.time)


def _check_times(path: Any, time: IntArray, step: int) -> None:
    """Reject missing states, and times that go back.

    :raises HilRecordingError: with the time
    """
    label = Path(path).name
    if time[0] != BEGIN:
        raise HilRecordingError(
            f'{label} begins at {(time[0] - BEGIN) / NANOSECONDS:.6f} s, so earlier states are '
            'unknown; record from the start'
        )
    gaps = np.diff(time)
    for wrong, text in (
        (gaps <= 0, 'the time does not increase at {:.6f} s'),
        (gaps != step, 'states are missing after {:.6f} s'),
    ):
        if wrong.any():
            at = (time[int(np.argmax(wrong))] - BEGIN) / NANOSECONDS
            raise HilRecordingError(
                f'{label}: {text.format(at)}; cut the recording there, or record it again'
            )
