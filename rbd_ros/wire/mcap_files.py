# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Writer and reader of MCAP files, with the optional library mcap.

Files are written in chunks, so that a truncated file keeps all complete chunks; reading goes as
far as possible.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Type, Union

from rbd_ros.bounded_files import MAX_RECORDING, open_regular, unpacked, unpacked_file

#: Profile of files with ROS 2 messages and ros2msg schemas.
ROS2 = 'ros2'
#: Size of a chunk before compression [bytes], the possible loss if the writer is killed.
CHUNK = 1 << 16
#: Maximum size of a record [bytes].
MAX_BYTES = 1 << 30


class McapFileError(ValueError):
    """An invalid MCAP file, or a missing library; the message gives the cure."""


def unavailable_reason() -> str:
    """Return why MCAP files are not available, and the cure; '' if they are.

    >>> from rbd_ros.wire.mcap_files import unavailable_reason
    >>> unavailable_reason() == '' or 'pip install' in unavailable_reason()
    True
    """
    try:
        import mcap.writer  # noqa: F401
    except ImportError:
        return "an MCAP file needs the library mcap: pip install 'rbd_ros[recording]'"
    return ''


class McapWriter:
    """An MCAP file for writing; a context manager.

    :param profile: '' or `ROS2`
    :raises McapFileError: if the library is missing, or the file cannot be created
    :raises OSError: in `write` and `close`, for example if the disk is full

    >>> import os, tempfile
    >>> from rbd_ros.wire.mcap_files import McapReader, McapWriter
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, 'a.mcap')
    ...     with McapWriter(path) as file:
    ...         channel = file.channel('/word', 'text', 'jsonschema', b'{}', 'json')
    ...         file.write(channel, 5, b'"hello"')
    ...     for found in McapReader(path):
    ...         print(found.topic, found.schema, found.time, found.data)
    /word text 5 b'"hello"'
    """

    def __init__(self, path: Union[str, Path], profile: str = ''):
        reason = unavailable_reason()
        if reason:
            raise McapFileError(reason)
        from mcap.writer import Writer

        try:
            self._stream = Path(path).open('wb')
            self._writer: Any = Writer(self._stream, chunk_size=CHUNK)
            self._writer.start(profile=profile, library='rbd_ros')
            self._stream.flush()
        except OSError as error:
            raise McapFileError(
                f'{path} cannot be written: {error.strerror or error}; give another file'
            ) from None
        self._schemas: Dict[Any, int] = {}
        self._unflushed = 0

    def channel(
        self,
        topic: str,
        name: str,
        encoding: str,
        schema: bytes,
        messages: str,
        metadata: Optional[Mapping[str, str]] = None,
    ) -> int:
        """Return the number of a new channel.

        :param name: name of its schema
        :param encoding: encoding of the schema: 'ros2msg', 'jsonschema'
        :param schema: the schema itself
        :param messages: encoding of its messages: 'cdr', 'json'
        :param metadata: further metadata
        """
        key = (name, encoding, schema)
        if key not in self._schemas:
            self._schemas[key] = self._writer.register_schema(name, encoding, schema)
        about = dict(metadata or {})
        return int(self._writer.register_channel(topic, messages, self._schemas[key], about))

    def write(self, channel: int, time: int, data: bytes) -> None:
        """Add a message.

        :param channel: see `channel`
        :param time: time of recording [ns]
        :param data: the message
        """
        self._writer.add_message(channel, time, data, time)
        self._unflushed += len(data)
        if self._unflushed > CHUNK:
            self.flush()

    def metadata(self, name: str, values: Mapping[str, str]) -> None:
        """Add metadata, and flush them to the file."""
        self._writer.add_metadata(name, dict(values))
        self.flush()

    def flush(self) -> None:
        """Flush all data to the file."""
        self._unflushed = 0
        # Older libraries finish chunks by size only.
        getattr(self._writer, 'flush', self._stream.flush)()

    def close(self) -> None:
        """Write the index and close the file."""
        try:
            self._writer.finish()
        finally:
            self._stream.close()

    def __enter__(self) -> McapWriter:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()


class Found(NamedTuple):
    """A message of a file.

    :param schema: name of its schema, '' without one
    :param encoding: encoding of the message: 'cdr', 'json'
    :param time: time of recording [ns]
    :param data: the message
    """

    topic: str
    schema: str
    encoding: str
    time: int
    data: bytes


def _records(reader: Any) -> Iterator[Any]:
    """Yield the records of a file and of its chunks, which are decompressed up to a bound.

    :raises Exception: of the library and of decompressors
    """
    from mcap.records import Chunk
    from mcap.stream_reader import breakup_chunk

    for record in reader.records:
        if isinstance(record, Chunk):
            unpacked = replace(record, compression='', data=_unpacked(record))
            yield from breakup_chunk(unpacked, validate_crc=True)
        else:
            yield record


def _unpacked(chunk: Any) -> bytes:
    """Return the content of a chunk of bounded size; the library has no bound."""
    size: int = chunk.uncompressed_size
    if size > MAX_BYTES:
        raise ValueError(f'a chunk has {size} bytes, more than the limit of {MAX_BYTES}')
    data: bytes = chunk.data
    if chunk.compression == 'zstd':
        import zstandard

        data = zstandard.ZstdDecompressor().stream_reader(chunk.data).read(size + 1)
    elif chunk.compression == 'lz4':
        from lz4.frame import LZ4FrameDecompressor

        data = LZ4FrameDecompressor().decompress(chunk.data, max_length=size + 1)
    if len(data) != size:
        raise ValueError(f'a chunk has {len(data)} bytes or more instead of {size}')
    return data


class McapReader:
    """Reader of an MCAP file, also a truncated one; can be iterated repeatedly.

    ROS 2 bags may be compressed as a whole or message by message, both by zstd.

    :raises McapFileError: during iteration, if it is invalid, or the library is missing
    :raises OSError: likewise, if it cannot be read
    """

    def __init__(self, path: Union[str, Path]):
        self._path = Path(path)
        #: Reason for an early end of the file; '' if there is none. Set by the iteration.
        self.note = ''
        #: Metadata so far, by name.
        self.metadata: Dict[str, Dict[str, str]] = {}
        #: Channels so far: topic, name of the schema, encoding.
        self.channels: List[Any] = []

    def __iter__(self) -> Iterator[Found]:
        try:
            from mcap.exceptions import InvalidMagic
            from mcap.records import Channel, Message, Metadata, Schema
            from mcap.stream_reader import StreamReader
        except ImportError:
            raise McapFileError(unavailable_reason()) from None
        schemas: Dict[int, str] = {}
        channels: Dict[int, Any] = {}
        self.note, self.metadata, self.channels = '', {}, []
        with (
            unpacked_file(self._path, MAX_RECORDING) as plain,
            open_regular(plain, MAX_RECORDING) as stream,
        ):
            records = _records(
                StreamReader(
                    stream, emit_chunks=True, validate_crcs=True, record_size_limit=MAX_BYTES
                )
            )
            while True:
                try:
                    record = next(records, None)
                except Exception as error:  # also of decompressors
                    if isinstance(error, InvalidMagic) and stream.tell() <= 8:
                        raise McapFileError('it does not begin with the magic bytes') from None
                    if stream.tell() < 8:
                        raise McapFileError(str(error) or 'it is too short') from None
                    self.note = (
                        f'the file ends too early ({type(error).__name__}); the complete part is '
                        'read'
                    )
                    return
                if record is None:
                    return
                if isinstance(record, Schema):
                    schemas[record.id] = record.name
                elif isinstance(record, Channel):
                    name = schemas.get(record.schema_id, '')
                    if record.id not in channels:
                        channels[record.id] = (record.topic, name, record.message_encoding)
                        self.channels.append(channels[record.id])
                elif isinstance(record, Metadata):
                    self.metadata.setdefault(record.name, dict(record.metadata))
                elif isinstance(record, Message) and record.channel_id in channels:
                    topic, name, encoding = channels[record.channel_id]
                    try:
                        data = unpacked(record.data)
                    except ValueError as error:
                        raise McapFileError(f'a message of {topic}: {error}') from None
                    yield Found(topic, name, encoding, record.log_time, data)
