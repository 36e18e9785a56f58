# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""JointState: read by the layout of a publisher's messages, written in place."""

from __future__ import annotations

import struct
import sys
from typing import Dict, List, Optional, Sequence, Tuple

import numpy as np

from rbd_ros.wire.cdr import Cursor, MessageBuffer, NANOSECONDS, StampedMessage
from rbd_ros.wire.pattern import make_pattern, Pattern

FIELDS = ('position', 'velocity', 'effort')
STAMP, FRAME = 4, 12  # offsets of time stamp and frame name in a message

MAX_BYTES = 1 << 18  # maximum size of a message [bytes]; 1024 joints take some 90 000
MAX_LAYOUTS = 16  # limit of remembered layouts
MAX_NAME_LISTS = 64


class NameList:
    """Joint names of a message; one object per list of names.

    :param names: the names, in the order of the message
    """

    __slots__ = ('names',)

    def __init__(self, names: Tuple[str, ...]):
        self.names = names

    def __len__(self) -> int:
        return len(self.names)


class JointStateData:
    """Content of a JointState; an empty field is None.

    Lengths are not checked: a field may have another length than the names. Arrays are read-only.
    The next message of the same layout overwrites them, so copy them if necessary.

    :param stamp: time of the header [ns]
    :param names: joint names
    :param position: positions [rad or m]
    :param velocity: velocities [rad/s or m/s]
    :param effort: efforts [N m or N]
    """

    __slots__ = ('stamp', 'names', 'position', 'velocity', 'effort')

    def __init__(
        self,
        names: NameList,
        position: Optional[np.ndarray],
        velocity: Optional[np.ndarray],
        effort: Optional[np.ndarray],
    ):
        self.stamp = 0
        self.names = names
        self.position, self.velocity, self.effort = position, velocity, effort


class _Layout:
    """Offsets of the fields in messages with one frame, one list of names and the same counts.

    :param cursor: cursor at the beginning of a message
    :param names: known lists of names, by content
    """

    def __init__(self, cursor: Cursor, names: Dict[Tuple[str, ...], NameList]):
        cursor.stamp()
        cursor.text('frame_id')
        found = cursor.names()
        head = cursor.at
        mask = bytearray(b'\xff') * (head - FRAME)
        for begin, end in cursor.padding:
            mask[begin - FRAME : end - FRAME] = bytes(end - begin)
        counts, at, values = [], [], []
        for field in FIELDS:
            counts.append(cursor.count(field, 8))
            at.append(cursor.at - 4)
            values.append(cursor.doubles(field, counts[-1]))
        order = cursor.order
        self._min_size = cursor.at
        self._raw = cursor.data[FRAME:head]
        self._head = head
        self._mask = int.from_bytes(mask, 'little')
        self._key = int.from_bytes(self._raw, 'little') & self._mask
        self._unpack = struct.Struct(
            f'{order}Hxx iI {at[0] - FRAME}x I {at[1] - at[0] - 4}x I {at[2] - at[1] - 4}x I'
        ).unpack_from
        self._fixed = (struct.unpack_from(f'{order}H', cursor.data)[0], *counts)
        filled = [k for k in range(len(FIELDS)) if counts[k]]
        self._begin = values[filled[0]] if filled else 0
        self._end = values[filled[-1]] + 8 * counts[filled[-1]] if filled else 0
        # Numbers are aligned to 8 bytes, so the rest is one array, including counts and padding.
        numbers = np.zeros((self._end - self._begin) // 8)
        # An empty memoryview cannot be cast.
        self._bytes = memoryview(numbers).cast('B') if filled else memoryview(bytearray())
        kind = np.dtype(f'{order}f8')
        self._foreign = None if kind.isnative else (np.zeros_like(numbers), numbers.view(kind))
        if self._foreign is not None:
            numbers = self._foreign[0]
        columns = []
        for begin, count in zip(values, counts):
            start = (begin - self._begin) // 8
            columns.append(numbers[start : start + count] if count else None)
            if count:
                columns[-1].flags.writeable = False
        self.state = JointStateData(_interned(found, names), *columns)
        self._counts_at = at
        self._values = {FIELDS[k]: values[k] for k in filled}
        self.reads = 0

    def pattern(self) -> Optional[Pattern]:
        """See `JointStateReader.pattern`."""
        if self._foreign is not None or sys.byteorder != 'little':
            return None
        content, mask = bytearray(self._min_size), bytearray(self._min_size)

        def put(at: int, data: bytes, counts: bytes) -> None:
            content[at : at + len(data)] = data
            mask[at : at + len(data)] = counts

        kind, *counts = self._fixed
        put(0, struct.pack('<H', kind), b'\xff\xff')
        put(FRAME, self._raw, self._mask.to_bytes(len(self._raw), 'little'))
        for at, count in zip(self._counts_at, counts):
            put(at, struct.pack('<I', count), b'\xff' * 4)
        return make_pattern(bytes(content), bytes(mask), MAX_BYTES, self._values)

    def load(self, data: bytes) -> bool:
        """Fill `state` from a message; return whether it has this layout.

        It uses few different operations: at 1 kHz, most of the interpreter's code has left the
        processor's caches.
        """
        if not self._min_size <= len(data) <= MAX_BYTES:
            return False
        kind, seconds, nanoseconds, positions, velocities, efforts = self._unpack(data)
        if (kind, positions, velocities, efforts) != self._fixed:
            return False
        if not data.startswith(self._raw, FRAME):
            # Other bytes may mean the same names, since publishers do not clear the padding.
            raw = data[FRAME : self._head]
            if int.from_bytes(raw, 'little') & self._mask != self._key:
                return False
            self._raw = raw
        self.reads += 1
        self._bytes[:] = data[self._begin : self._end]
        if self._foreign is not None:
            native, foreign = self._foreign
            native[:] = foreign
        self.state.stamp = seconds * NANOSECONDS + nanoseconds
        return True


def _interned(names: Tuple[str, ...], known: Dict[Tuple[str, ...], NameList]) -> NameList:
    found = known.pop(names, None) or NameList(names)
    if len(known) >= MAX_NAME_LISTS:
        del known[next(iter(known))]
    known[names] = found  # at the end: the least recently used one is dropped first
    return found


class JointStateReader:
    """Reader of JointState messages that decodes names only for a new layout.

    Not thread-safe.
    """

    def __init__(self) -> None:
        self._layouts: List[_Layout] = []
        self._names: Dict[Tuple[str, ...], NameList] = {}
        #: Layout of the last message, one object for messages that only differ in numbers
        self.layout: Optional[_Layout] = None

    @property
    def layouts(self) -> int:
        """Number of remembered layouts."""
        return len(self._layouts)

    def read(self, data: bytes) -> JointStateData:
        """Return the content of a message, valid until the next one is read.

        :param data: serialized message
        :raises WireError: if it is invalid
        """
        layout = self.layout
        if layout is None or not layout.load(data):
            layout = self.layout = self._find(data)
        return layout.state

    def pattern(self, reads: int) -> Optional[Pattern]:
        """Return the pattern of the last message; None if it is not native, or too new.

        :param reads: required number of messages of its layout
        """
        enough = self.layout is not None and self.layout.reads >= reads
        return self.layout.pattern() if enough else None

    def _find(self, data: bytes) -> _Layout:
        """Load a message into its layout, a known or a new one."""
        for layout in self._layouts:
            if layout.load(data):
                return layout
        layout = _Layout(Cursor(data, MAX_BYTES), self._names)
        layout.load(data)
        if len(self._layouts) >= MAX_LAYOUTS:
            del self._layouts[0]
        self._layouts.append(layout)
        return layout


class JointStateWriter(StampedMessage):
    """A JointState for repeated publishing, with NumPy views of its numbers.

    The views `position`, `velocity` and `effort` are (n,), or (0,) for missing fields.

    :param names: joint names, in the order of the views
    :param fields: fields of the message: position, velocity, effort
    :param frame_id: frame of the header
    :raises ValueError: for invalid names
    """

    def __init__(self, names: Sequence[str], fields: Sequence[str] = FIELDS, frame_id: str = ''):
        self.names = tuple(names)
        if unknown := set(fields) - set(FIELDS):
            raise ValueError(f'JointState has no field {sorted(unknown)[0]!r}')
        memory = MessageBuffer()
        memory.stamp()
        memory.text(frame_id)
        memory.texts(self.names)
        for field in FIELDS:
            memory.array(len(self.names) if field in fields else 0)
        self.position, self.velocity, self.effort = memory.finish()
        super().__init__(memory)

    @property
    def stamp(self) -> np.ndarray:
        """View of the time, (1,): nanoseconds in a word's upper half, seconds in its lower."""
        return np.frombuffer(self._stamp, np.int64)
