# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""String, Float64MultiArray, Clock and WrenchStamped."""

from __future__ import annotations

import struct
import sys
from typing import NamedTuple, Optional

import numpy as np

from rbd_ros.wire.cdr import Cursor, MessageBuffer, StampedMessage, WireError
from rbd_ros.wire.pattern import make_pattern, Pattern

MAX_BYTES = 1 << 26  # maximum size of a message [bytes]: URDFs with many links


def string_message(text: str) -> bytes:
    """Return the bytes of a String.

    :raises ValueError: if it has a zero byte

    >>> from rbd_ros.wire import read_string, string_message
    >>> read_string(string_message('hello'))
    'hello'
    """
    memory = MessageBuffer()
    memory.text(text)
    memory.finish()
    return memory.bytes.tobytes()


def read_string(data: bytes) -> str:
    """Return the text of a String.

    :raises WireError: if it is invalid
    """
    text = Cursor(data, MAX_BYTES).text('the text')
    try:
        return str(text, 'utf-8')
    except UnicodeDecodeError:
        raise WireError('illegible text', 'the text is not UTF-8') from None


MAX_BYTES = 1 << 18  # maximum size of a message [bytes]
MAX_DIMENSIONS = 16  # of a Float64MultiArray; their labels and sizes are skipped

# The common layout: little-endian, no dimensions, an unused offset, count, numbers.
_PLAIN = struct.Struct('<Hxx I I I')
_PLAIN_DATA = 20


class Float64MultiArrayReader:
    """Reader of the numbers of Float64MultiArray messages; their layout is ignored."""

    def read(self, data: bytes) -> np.ndarray:
        """Return the numbers of a message, (n,), read-only.

        :raises WireError: if it is invalid
        """
        size = len(data)
        if _PLAIN.size <= size <= MAX_BYTES:
            kind, dimensions, _, count = _PLAIN.unpack_from(data)
            end = _PLAIN_DATA + 8 * count
            if kind == 0x0100 and not dimensions and count and end <= size:
                return np.frombuffer(data[_PLAIN_DATA:end], '<f8').astype(float, copy=False)
        cursor = Cursor(data, MAX_BYTES)
        dimensions = cursor.count('the dimensions', 12)
        if dimensions > MAX_DIMENSIONS:
            raise WireError(
                'too many dimensions',
                f'{dimensions} dimensions, more than the limit of {MAX_DIMENSIONS}',
            )
        for k in range(dimensions):
            cursor.text(f'dimension {k}')
            cursor.unsigned(f'dimension {k}')
            cursor.unsigned(f'dimension {k}')
        cursor.unsigned('data_offset')
        return cursor.array('data', cursor.count('data', 8))


def plain_array_pattern(count: int) -> Optional[Pattern]:
    """Return the pattern of Float64MultiArrays of `count` numbers without dimensions."""
    if sys.byteorder != 'little' or not count:
        return None
    content = _PLAIN.pack(0x0100, 0, 0, count).ljust(_PLAIN_DATA + 8 * count, b'\0')
    mask = b'\xff\xff\0\0' + b'\xff' * 4 + bytes(4) + b'\xff' * 4 + bytes(8 * count + 4)
    return make_pattern(content, mask, MAX_BYTES, {'data': _PLAIN_DATA})


class Float64MultiArrayWriter:
    """A Float64MultiArray without dimensions, for repeated publishing.

    :param size: size of its view `values`
    """

    def __init__(self, size: int):
        memory = MessageBuffer()
        memory.unsigned(0)  # dimensions
        memory.unsigned(0)  # data_offset
        memory.array(size)
        (self.values,) = memory.finish()
        self._bytes = memory.bytes

    def data(self) -> bytes:
        """Return the bytes of the message."""
        return self._bytes.tobytes()


class ClockWriter(StampedMessage):
    """A Clock for repeated publishing."""

    def __init__(self) -> None:
        memory = MessageBuffer()
        memory.stamp()
        memory.finish()
        super().__init__(memory)


class WrenchStampedData(NamedTuple):
    """Content of a WrenchStamped.

    :param stamp: time of the header [ns]
    :param frame_id: frame of the header
    :param force: force, (3,) [N]
    :param torque: torque, (3,) [N m]
    """

    stamp: int
    frame_id: str
    force: np.ndarray
    torque: np.ndarray


class WrenchStampedReader:
    """Reads WrenchStamped messages."""

    def read(self, data: bytes) -> WrenchStampedData:
        """Return the content of a message; its arrays are read-only.

        :raises WireError: if it is invalid
        """
        cursor = Cursor(data, MAX_BYTES)
        stamp, frame = cursor.stamp(), _frame(cursor, 'frame_id')
        wrench = cursor.array('wrench', 6)
        return WrenchStampedData(stamp, frame, wrench[:3], wrench[3:])


def _frame(cursor: Cursor, what: str) -> str:
    """Return the name of a frame.

    :raises WireError: if it is not text
    """
    text = cursor.text(what)
    try:
        frame = str(text, 'utf-8')
    except UnicodeDecodeError:
        raise WireError('illegible text', f'{what} is not UTF-8') from None
    if '\0' in frame:
        raise WireError('illegible text', f'{what} contains a zero byte')
    return frame
