"""JointState: read by recognising the layout of a publisher's messages, written in place."""

from __future__ import annotations

import struct
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from rbd_ros.nodes.common.wire.cdr import Cursor, Memory, NANOSECONDS

FIELDS = ('position', 'velocity', 'effort')
STAMP, FRAME = 4, 12  # where in a message the time stamp and the name of the frame are

LARGEST = 1 << 18  # bytes of a message that is looked at; 1024 joints take some 90 000
MAX_LAYOUTS = 16  # a publisher that invents layouts must not fill the memory
MAX_NAME_LISTS = 64


class NameList:
    """Joint names of a message; the same object for the same names in the same order.

    :param names: the names, in the order of the message
    """

    __slots__ = ('names',)

    def __init__(self, names: Tuple[str, ...]):
        self.names = names

    def __len__(self) -> int:
        return len(self.names)


class JointStateData(NamedTuple):
    """Content of a JointState; a field that is empty is None.

    Lengths are as they came: a field need not have as many numbers as there are names.

    :param stamp: time of the header [ns]
    :param names: joint names
    :param position: [rad or m]
    :param velocity: [rad/s or m/s]
    :param effort: [N m or N]
    """

    stamp: int
    names: NameList
    position: Optional[np.ndarray]
    velocity: Optional[np.ndarray]
    effort: Optional[np.ndarray]


class _Layout:
    """Where everything is in messages with one frame, one list of names and the same counts.

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
        self.names = _interned(found, names)
        self.size = cursor.at
        self._head = head
        self._raw = cursor.data[FRAME:head]
        self._mask = int.from_bytes(mask, 'little')
        self._key = int.from_bytes(self._raw, 'little') & self._mask
        self._unpack = struct.Struct(
            f'{order}Hxx iI {at[0] - FRAME}x I {at[1] - at[0] - 4}x I {at[2] - at[1] - 4}x I'
        ).unpack_from
        self._fixed = (struct.unpack_from(f'{order}H', cursor.data)[0], *counts)
        filled = [k for k in range(len(FIELDS)) if counts[k]]
        self._begin = values[filled[0]] if filled else 0
        self._end = values[filled[-1]] + 8 * counts[filled[-1]] if filled else 0
        # Numbers are aligned to 8 bytes, so the whole rest is one array, counts and padding too.
        starts = [(begin - self._begin) // 8 for begin in values]
        self._position, self._velocity, self._effort = (
            slice(start, start + count) if count else None for start, count in zip(starts, counts)
        )
        self._type = np.dtype(f'{order}f8')
        self._foreign = not self._type.isnative

    def read(self, data: bytes) -> Optional[JointStateData]:
        """Content of a message, or None if it has another layout."""
        if len(data) < self.size:
            return None
        kind, seconds, nanoseconds, positions, velocities, efforts = self._unpack(data)
        if (kind, positions, velocities, efforts) != self._fixed:
            return None
        raw = data[FRAME : self._head]
        if raw != self._raw:
            # Other bytes may still mean the same names: nobody clears the padding.
            if int.from_bytes(raw, 'little') & self._mask != self._key:
                return None
            self._raw = raw
        stamp = seconds * NANOSECONDS + nanoseconds
        if not self._end:
            return JointStateData(stamp, self.names, None, None, None)
        numbers = np.frombuffer(data[self._begin : self._end], self._type)
        if self._foreign:
            numbers = numbers.astype(float)
        return JointStateData(
            stamp,
            self.names,
            None if self._position is None else numbers[self._position],
            None if self._velocity is None else numbers[self._velocity],
            None if self._effort is None else numbers[self._effort],
        )


def _interned(names: Tuple[str, ...], known: Dict[Tuple[str, ...], NameList]) -> NameList:
    found = known.pop(names, None) or NameList(names)
    if len(known) >= MAX_NAME_LISTS:
        del known[next(iter(known))]
    known[names] = found  # at the end: what has not been used for longest is dropped first
    return found


class JointStateReader:
    """Reads JointState messages; those of publishers that it knows without looking at each name.

    Not for use by two threads at once.
    """

    def __init__(self) -> None:
        self._layouts: List[_Layout] = []
        self._names: Dict[Tuple[str, ...], NameList] = {}
        self._last: Optional[_Layout] = None

    @property
    def layouts(self) -> int:
        """Number of layouts that are remembered."""
        return len(self._layouts)

    def read(self, data: bytes) -> JointStateData:
        """Content of a message; its arrays are not writeable and stay as they are.

        :param data: the serialised message
        :raises WireError: if it cannot be used
        """
        size = len(data)
        if size <= LARGEST:
            last = self._last
            if last is not None:
                found = last.read(data)
                if found is not None:
                    return found
            for layout in self._layouts:
                if layout is not last:
                    found = layout.read(data)
                    if found is not None:
                        self._last = layout
                        return found
        layout = _Layout(Cursor(data, LARGEST), self._names)
        if len(self._layouts) >= MAX_LAYOUTS:
            del self._layouts[0]
        self._layouts.append(layout)
        self._last = layout
        return layout.read(data)


class JointStateWriter:
    """A JointState to be published again and again, its numbers filled in through NumPy views.

    The views `position`, `velocity` and `effort` are (n,), or (0,) where the message carries none.

    :param names: joint names, in the order of the views
    :param fields: which of position, velocity and effort the message carries
    :param frame_id: frame of the header
    :raises ValueError: for names that a message cannot carry
    """

    def __init__(self, names: Sequence[str], fields: Sequence[str] = FIELDS, frame_id: str = ''):
        self.names = tuple(names)
        if unknown := set(fields) - set(FIELDS):
            raise ValueError(f'JointState has no field {sorted(unknown)[0]!r}')
        memory = self._memory = Memory()
        memory.stamp()
        memory.text(frame_id)
        memory.texts(self.names)
        for field in FIELDS:
            memory.array(len(self.names) if field in fields else 0)
        self.position, self.velocity, self.effort = memory.finish()

    def set_stamp(self, seconds: int, nanoseconds: int) -> None:
        """Write the time of the header.

        :param seconds: may be negative [s]
        :param nanoseconds: what is left, counted forward [ns]
        :raises ValueError: if it does not fit
        """
        self._memory.set_stamp(STAMP, seconds, nanoseconds)

    def set_stamp_ns(self, time: int) -> None:
        """Write the time of the header [ns]."""
        self._memory.set_stamp(STAMP, *divmod(time, NANOSECONDS))

    def data(self) -> bytes:
        """Return the message as it is now, to be published."""
        return self._memory.data()
