# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joint states in message files: MCAP, and the SQLite files of ROS 2 bags.

Truncated MCAP files are read as far as possible. A message is a ROS 2 message (CDR), or JSON with
the same fields.
"""

from __future__ import annotations

from contextlib import closing, contextmanager
import json
import os
from pathlib import Path
import sqlite3
from typing import Callable, Dict, Iterable, Iterator, Optional, Tuple
from urllib.parse import quote

from rbd_ros.bounded_files import MAX_RECORDING, unpacked, unpacked_file
from rbd_ros.identification.joint_series import chosen_topics, JointSeries
from rbd_ros.identification.recording import RecordingError
from rbd_ros.wire import JointStateReader, WireError
from rbd_ros.wire.mcap_files import McapFileError, McapReader, unavailable_reason
from rbd_ros.wire.small_messages import read_string

STRINGS = ('std_msgs/msg/String', 'std_msgs/String')
JOINT_STATES = ('sensor_msgs/msg/JointState', 'sensor_msgs/JointState')

Decoder = Callable[[JointSeries, bytes, int], None]


class CdrMessages:
    """Joint states in ROS 2 serialization."""

    def __init__(self) -> None:
        self._reader = JointStateReader()

    def __call__(self, series: JointSeries, data: bytes, received: int) -> None:
        """Add a message to a series; count an unreadable one.

        :param data: the message
        :param received: time of recording [ns], used if it has no stamp
        """
        try:
            message = self._reader.read(bytes(data))
        except WireError:
            series.unreadable += 1
            return
        names = message.names.names
        time = series.seconds(message.stamp or received)
        series.add(time, names, message.position, message.effort)


def json_message(series: JointSeries, data: bytes, received: int) -> None:
    """Add a JSON message with the fields of a JointState to a series."""
    try:
        content = json.loads(data)
        names = tuple(map(str, content['name']))
        position, effort = content.get('position'), content.get('effort')
        time = content.get('header', {}).get('stamp', {})
        stamp = int(time.get('sec', 0)) * 10**9 + int(time.get('nanosec', time.get('nsec', 0)))
        series.add(series.seconds(stamp or received), names, position, effort)
    except (ValueError, KeyError, TypeError, AttributeError):
        series.unreadable += 1


# -- MCAP -----------------------------------------------------------------------------------------


def read_mcap(path: Path, topic: str, series: JointSeries) -> None:
    """Read the joint states of an MCAP file, which may be truncated.

    :raises RecordingError: if the library is missing, or it is not an MCAP file
    """
    reader = McapReader(path)
    reason = unavailable_reason()
    if reason:
        raise RecordingError(reason)
    try:
        for _ in reader:  # to its end, for the channels
            pass
    except McapFileError as error:
        raise RecordingError(f'{series.label} is not an MCAP file: {error}') from None
    named = [name for name, *kind in reader.channels if _decoder(*kind) is not None]
    requested = chosen_topics(series.label, topic, named)
    decoders: Dict[Tuple[str, str], Optional[Decoder]] = {}
    for found in reader:
        if found.topic in requested:
            kind = found.schema, found.encoding
            decode = decoders[kind] = decoders.get(kind) or _decoder(*kind)
            if decode is not None:
                decode(series, found.data, found.time)
    if reader.note:
        series.notes.append(reader.note)


def _decoder(schema: str, encoding: str) -> Optional[Decoder]:
    """Return the decoder of a channel's messages; None if they are not joint states."""
    if encoding == 'cdr' and schema in JOINT_STATES:
        return CdrMessages()
    if encoding == 'json' and (schema in JOINT_STATES or schema.endswith('JointState')):
        return json_message
    return None


# -- bags -----------------------------------------------------------------------------------------


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the SQLite file of a bag for reading.

    :raises sqlite3.DatabaseError: if it is another file
    :raises OSError: if it cannot be decompressed
    """
    with (
        unpacked_file(path, MAX_RECORDING) as plain,
        closing(
            sqlite3.connect(
                f'file:{quote(str(Path(os.fsdecode(plain)).resolve()))}?mode=ro', uri=True
            )
        ) as bag,
    ):
        tables = bag.execute(
            "select count(*) from sqlite_master where type = 'table' and name in (?, ?)",
            ('topics', 'messages'),
        ).fetchone()
        if tables != (2,):  # the query of a view may not end
            raise sqlite3.DatabaseError('it has no tables topics and messages')
        yield bag


def read_bag(path: Path, topic: str, series: JointSeries) -> None:
    """Read the joint states of the SQLite file of a ROS 2 bag.

    :raises RecordingError: if the file is not of this format
    """
    try:
        with _opened(path) as bag:
            topics = {
                name: (number, form)
                for number, name, kind, form in bag.execute(
                    'select id, name, type, serialization_format from topics'
                )
                if kind in JOINT_STATES
            }
            requested = chosen_topics(series.label, topic, topics)
            forms = {topics[name][1] for name in requested}
            if forms != {'cdr'}:
                raise RecordingError(f'{series.label}: messages are {sorted(forms)}, not CDR')
            numbers = [topics[name][0] for name in requested]
            decode = CdrMessages()
            rows = bag.execute(
                'select data, timestamp from messages where topic_id in '
                f'({", ".join("?" * len(numbers))}) order by timestamp, id',
                numbers,
            )
            while True:
                try:
                    row: Optional[Tuple[bytes, int]] = rows.fetchone()
                except sqlite3.DatabaseError as error:
                    kind = type(error).__name__
                    series.notes.append(
                        f'the file ends too early ({kind}); the complete part is read'
                    )
                    return
                if row is None:
                    break
                try:
                    decode(series, unpacked(row[0]), row[1])
                except ValueError as error:
                    raise RecordingError(f'{series.label}: a message: {error}') from None
    except sqlite3.DatabaseError as error:
        raise RecordingError(
            f'{series.label} is not a bag of ROS 2: {error}; give the file .db3 or its folder'
        ) from None


def read_robot_description(path: Path) -> Optional[str]:
    """Return the text of the first robot description in a file; None without one.

    :param path: file .mcap or .db3, possibly compressed
    :raises RecordingError: if the file is not of this format
    """
    is_mcap = path.name.lower().removesuffix('.zstd').endswith('.mcap')
    found: Iterable[bytes] = _of_mcap(path) if is_mcap else _of_bag(path)
    try:
        for data in found:
            return read_string(bytes(data))
    except WireError as error:
        raise RecordingError(f'{path.name}: its robot description: {error}') from None
    except McapFileError as error:
        raise RecordingError(f'{path.name} is not an MCAP file: {error}') from None
    except sqlite3.DatabaseError as error:
        raise RecordingError(f'{path.name} is not a bag of ROS 2: {error}') from None
    except ValueError as error:
        raise RecordingError(f'{path.name}: a message: {error}') from None
    return None


def _of_mcap(path: Path) -> Iterator[bytes]:
    for message in McapReader(path):
        if is_description(message.topic, message.schema) and message.encoding == 'cdr':
            yield message.data


def _of_bag(path: Path) -> Iterator[bytes]:
    with _opened(path) as bag:
        for number, name, kind, form in bag.execute(
            'select id, name, type, serialization_format from topics'
        ):
            if is_description(name, kind) and form == 'cdr':
                query = 'select data from messages where topic_id = ? order by timestamp, id'
                for (data,) in bag.execute(query, (number,)):
                    yield unpacked(data)


def is_description(topic: str, kind: str) -> bool:
    """Return whether a topic has robot descriptions.

    :param topic: its name, possibly with a namespace
    :param kind: type of its messages
    """
    return topic.rpartition('/')[2] == 'robot_description' and kind in STRINGS
