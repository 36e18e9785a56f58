"""Joint states in files of messages: MCAP, and the SQLite files of ROS 2 bags.

MCAP files that were cut off while they were written are read as far as they go. A message is that
of ROS 2 (CDR), or JSON with the same fields.
"""

from __future__ import annotations

from contextlib import closing
import json
from pathlib import Path
import sqlite3
import struct
from typing import Any, Callable, Dict, Optional, Tuple
from urllib.parse import quote

from rbd_ros.identification.joint_series import chosen_topic, JointSeries
from rbd_ros.identification.recording import RecordingError
from rbd_ros.nodes.common.wire import JointStateReader, WireError

JOINT_STATES = ('sensor_msgs/msg/JointState', 'sensor_msgs/JointState')
#: Maximum size of a record of an MCAP file [bytes].
LARGEST = 1 << 30

Decoder = Callable[[JointSeries, bytes, int], None]


class CdrMessages:
    """Joint states as ROS 2 serialises them."""

    def __init__(self) -> None:
        self._reader = JointStateReader()

    def __call__(self, series: JointSeries, data: bytes, received: int) -> None:
        """Take a message into a series; one that cannot be read is counted.

        :param data: the message
        :param received: when it was recorded [ns], which counts if it has no stamp
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
    """Take a message in JSON, with the fields of a JointState, into a series."""
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
    """Joint states of an MCAP file, as far as it was written.

    :raises RecordingError: if the library is missing, or it is no MCAP file
    """
    try:
        from mcap.exceptions import McapError
        from mcap.records import Channel, Message, Schema
        from mcap.stream_reader import StreamReader
    except ImportError:
        raise RecordingError(
            "MCAP files need the library mcap: pip install 'rbd_ros[recording]'"
        ) from None
    wanted = _chosen_of_mcap(path, topic, series.label)
    schemas: Dict[int, Any] = {}
    decoders: Dict[int, Decoder] = {}
    with path.open('rb') as stream:
        records = StreamReader(stream, record_size_limit=LARGEST).records
        while True:
            try:
                record = next(records, None)
            except (McapError, ValueError, EOFError, struct.error, MemoryError) as error:
                series.notes.append(_cut_off(error))
                return
            except Exception as error:  # of the decompressors, which have classes of their own
                series.notes.append(_cut_off(error))
                return
            if record is None:
                return
            if isinstance(record, Schema):
                schemas[record.id] = record
            elif isinstance(record, Channel) and record.topic == wanted:
                decoder = _decoder(schemas.get(record.schema_id), record)
                if decoder is not None:
                    decoders.setdefault(record.id, decoder)
            elif isinstance(record, Message) and record.channel_id in decoders:
                decoders[record.channel_id](series, record.data, record.log_time)


def _chosen_of_mcap(path: Path, topic: str, label: str) -> str:
    """Topic that is meant, of those with joint states; the file is read as far as it goes."""
    from mcap.exceptions import InvalidMagic
    from mcap.records import Channel, Schema
    from mcap.stream_reader import StreamReader

    schemas: Dict[int, Any] = {}
    topics = []
    with path.open('rb') as stream:
        records = StreamReader(stream, record_size_limit=LARGEST).records
        try:
            for record in records:
                if isinstance(record, Schema):
                    schemas[record.id] = record
                elif isinstance(record, Channel):
                    if _decoder(schemas.get(record.schema_id), record) is not None:
                        topics.append(record.topic)
        except InvalidMagic:
            if stream.tell() <= 8:
                raise RecordingError(
                    f'{label} is no MCAP file: it does not begin like one'
                ) from None
        except Exception as error:  # cut off: what was read counts
            if stream.tell() <= 8:
                raise RecordingError(f'{label} is no MCAP file: {error}') from None
    return chosen_topic(label, topic, topics)


def _decoder(schema: Optional[Any], channel: Any) -> Optional[Decoder]:
    """How messages of a channel are read; None if they are no joint states."""
    name = '' if schema is None else schema.name
    if channel.message_encoding == 'cdr' and name in JOINT_STATES:
        return CdrMessages()
    if channel.message_encoding == 'json' and (
        name in JOINT_STATES or name.endswith('JointState')
    ):
        return json_message
    return None


def _cut_off(error: Exception) -> str:
    return f'the file ends too early ({type(error).__name__}); what was written before is read'


# -- bags -----------------------------------------------------------------------------------------


def read_bag(path: Path, topic: str, series: JointSeries) -> None:
    """Joint states of the SQLite file of a ROS 2 bag.

    :raises RecordingError: if it is no such file
    """
    try:
        place = f'file:{quote(str(path.resolve()))}?mode=ro'
        with closing(sqlite3.connect(place, uri=True)) as bag:
            topics = {
                name: (number, form)
                for number, name, kind, form in bag.execute(
                    'select id, name, type, serialization_format from topics'
                )
                if kind in JOINT_STATES
            }
            wanted = chosen_topic(series.label, topic, topics)
            number, form = topics[wanted]
            if form != 'cdr':
                raise RecordingError(f'{series.label}: messages are {form!r}, not CDR')
            decode = CdrMessages()
            rows = bag.execute(
                'select data, timestamp from messages where topic_id = ? order by timestamp, id',
                (number,),
            )
            while True:
                try:
                    row: Optional[Tuple[bytes, int]] = rows.fetchone()
                except sqlite3.DatabaseError as error:
                    series.notes.append(_cut_off(error))
                    return
                if row is None:
                    return
                decode(series, *row)
    except sqlite3.DatabaseError as error:
        raise RecordingError(
            f'{series.label} is no bag of ROS 2: {error}; give the file .db3 or its folder'
        ) from None
