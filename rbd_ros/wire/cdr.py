# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Plain CDR, field by field: a cursor that reads within bounds, and a buffer for messages.

Padding is never compared or checked, since middlewares do not clear it.
"""

from __future__ import annotations

import struct
from typing import List, Sequence, Tuple

import numpy as np

NANOSECONDS = 1_000_000_000
HEADER = 4  # bytes of the encapsulation; alignment counts from here
MAX_NAMES = 1024  # maximum number of joint names in a message
LITTLE_ENDIAN = b'\x00\x01\x00\x00'  # encapsulation of written messages

UNSIGNED = {order: struct.Struct(f'{order}I').unpack_from for order in '<>'}
_STAMP = {order: struct.Struct(f'{order}iI').unpack_from for order in '<>'}
_PACK_STAMP = struct.Struct('<iI').pack


class WireError(ValueError):
    """The bytes are not a message of the expected type, or an unusable one.

    :param code: short classification, for counting
    :param text: problem, with numbers
    """

    def __init__(self, code: str, text: str):
        super().__init__(text)
        self.code = code


def packed_stamp(seconds: int, nanoseconds: int) -> bytes:
    """Return the bytes of a time in a message.

    :raises ValueError: if it is out of range
    """
    try:
        return _PACK_STAMP(seconds, nanoseconds)
    except struct.error as error:
        raise ValueError(
            f'{seconds} s and {nanoseconds} ns are not a valid time: {error}'
        ) from None


def aligned(at: int, size: int) -> int:
    """Return the first offset >= `at` for an element of `size` bytes, a power of two."""
    return ((at - HEADER + size - 1) & -size) + HEADER


class Cursor:
    """Reads a message sequentially, never beyond its end.

    :param data: the message with its encapsulation
    :param max_size: maximum size [bytes]
    :raises WireError: if it is larger, or not plain CDR
    """

    def __init__(self, data: bytes, max_size: int):
        size = len(data)
        if size > max_size:
            raise WireError(
                'too large', f'a message of {size} bytes, more than the limit of {max_size}'
            )
        if size < HEADER:
            raise WireError('truncated', f'a message of {size} bytes')
        if data[0] or data[1] > 1:
            raise WireError(
                'not plain CDR', f'encapsulation 0x{data[0]:02x}{data[1]:02x} is not plain CDR'
            )
        self.data, self.size, self.at = data, size, HEADER
        self.order = '<' if data[1] else '>'
        self.padding: List[Tuple[int, int]] = []  # padding since last cleared

    def truncated(self, what: str) -> WireError:
        """Return the error for a message that ends within `what`."""
        return WireError('truncated', f'the message ends within {what}')

    def align(self, size: int) -> None:
        """Skip the padding before an element of `size` bytes."""
        at = aligned(self.at, size)
        if at != self.at:
            self.padding.append((self.at, at))
            self.at = at

    def stamp(self) -> int:
        """Return the time of a message's header [ns]."""
        if self.at + 8 > self.size:
            raise self.truncated('the time stamp')
        seconds, nanoseconds = _STAMP[self.order](self.data, self.at)
        self.at += 8
        return seconds * NANOSECONDS + nanoseconds

    def unsigned(self, what: str) -> int:
        """Return an unsigned 32-bit integer."""
        self.align(4)
        if self.at + 4 > self.size:
            raise self.truncated(what)
        value = UNSIGNED[self.order](self.data, self.at)[0]
        self.at += 4
        return value

    def count(self, what: str, min_size: int) -> int:
        """Return the number of elements of a sequence.

        :param min_size: minimum size of an element [bytes]
        :raises WireError: if the rest of the message is too short
        """
        count = self.unsigned(what)
        if count * min_size > self.size - self.at:
            raise WireError(
                'truncated', f'the message ends within {what}, of which it declares {count}'
            )
        return count

    def doubles(self, what: str, count: int) -> int:
        """Skip `count` floating-point numbers; return their offset."""
        if not count:
            return self.at
        self.align(8)
        begin = self.at
        if begin + 8 * count > self.size:
            raise self.truncated(what)
        self.at = begin + 8 * count
        return begin

    def array(self, what: str, count: int) -> np.ndarray:
        """Return the floating-point numbers, (count,), aligned in memory and read-only."""
        begin = self.doubles(what, count)
        if not count:
            return np.zeros(0)
        values = np.frombuffer(self.data[begin : self.at], f'{self.order}f8')
        return values.astype(float, copy=False)

    def text(self, what: str) -> bytes:
        """Return the bytes of a string without the final zero."""
        length = self.unsigned(what)
        end = self.at + length
        if end > self.size:
            raise self.truncated(what)
        if not length or self.data[end - 1]:
            raise WireError('illegible text', f'{what} does not end in a zero byte')
        begin, self.at = self.at, end
        return self.data[begin : end - 1]

    def names(self, most: int = MAX_NAMES) -> Tuple[str, ...]:
        """Return the sequence of joint names.

        :raises WireError: if there are more than `most`, or they are not UTF-8
        """
        count = self.unsigned('the joint names')
        if count > most:
            raise WireError(
                'too many names', f'{count} joint names, more than the limit of {most}'
            )
        if count * 5 > self.size - self.at:  # each has a length and a final zero
            raise self.truncated(f'the {count} joint names')
        data, size, padding, unsigned = self.data, self.size, self.padding, UNSIGNED[self.order]
        found, at = [], self.at
        for k in range(count):
            begin = (at + 3) & -4
            if begin != at:
                padding.append((at, begin))
            if begin + 4 > size:
                raise self.truncated(f'joint name {k} of {count}')
            end = begin + 4 + unsigned(data, begin)[0]
            if end > size:
                raise self.truncated(f'joint name {k} of {count}')
            if end == begin + 4 or data[end - 1]:
                raise WireError('illegible text', f'joint name {k} does not end in a zero byte')
            try:
                found.append(str(data[begin + 4 : end - 1], 'utf-8'))
            except UnicodeDecodeError:
                raise WireError('illegible text', f'joint name {k} is not UTF-8') from None
            at = end
        self.at = at
        if '\0' in ''.join(found):
            raise WireError('illegible text', 'a joint name contains a zero byte')
        return tuple(found)


class MessageBuffer:
    """A message for repeated publishing, built once and then changed in place.

    Numbers are aligned in memory, which NumPy needs for speed.
    """

    def __init__(self) -> None:
        self._parts = bytearray(LITTLE_ENDIAN)
        self._arrays: List[Tuple[int, int]] = []
        self.bytes = memoryview(b'')  # the whole message, after `finish`

    def align(self, size: int) -> None:
        """Append padding before an element of `size` bytes."""
        self._parts += bytes(aligned(len(self._parts), size) - len(self._parts))

    def unsigned(self, value: int) -> None:
        """Append an unsigned 32-bit integer."""
        self.align(4)
        self._parts += struct.pack('<I', value)

    def text(self, value: str) -> None:
        """Append a string.

        :raises ValueError: if it has a zero byte or cannot be encoded
        """
        if '\0' in value:
            raise ValueError(f'{value!r} contains a zero byte')
        encoded = value.encode() + b'\0'
        self.unsigned(len(encoded))
        self._parts += encoded

    def texts(self, values: Sequence[str]) -> None:
        """Append a sequence of strings."""
        self.unsigned(len(values))
        for value in values:
            self.text(value)

    def stamp(self) -> int:
        """Append a time of zero; return its offset."""
        self.align(4)
        begin = len(self._parts)
        self._parts += bytes(8)
        return begin

    def array(self, count: int) -> None:
        """Append a sequence of floating-point numbers, initially zero."""
        self.unsigned(count)
        self.numbers(count)

    def numbers(self, count: int) -> None:
        """Append floating-point numbers without a count, initially zero."""
        if count:
            self.align(8)
        self._arrays.append((len(self._parts), count))
        self._parts += bytes(8 * count)

    def finish(self) -> List[np.ndarray]:
        """Allocate the message; nothing can be appended afterwards.

        :return: views of the arrays, in order
        """
        size = len(self._parts)
        memory = np.zeros(size + 16, dtype=np.uint8)
        begin = -(memory.ctypes.data + HEADER) % 8
        self.bytes = memoryview(memory)[begin : begin + size]
        self.bytes[:] = self._parts
        return [
            np.ndarray(count, dtype='<f8', buffer=memory, offset=begin + at)
            if count
            else np.zeros(0)
            for at, count in self._arrays
        ]


class StampedMessage:
    """A message with a leading time stamp, for repeated publishing.

    :param memory: the finished message
    """

    def __init__(self, memory: MessageBuffer):
        self._bytes, self._stamp = memory.bytes, memory.bytes[HEADER : HEADER + 8]

    def set_stamp(self, seconds: int, nanoseconds: int) -> None:
        """Write the time.

        :param seconds: seconds, may be negative [s]
        :param nanoseconds: nonnegative remainder [ns]
        :raises ValueError: if it is out of range
        """
        self._stamp[:] = packed_stamp(seconds, nanoseconds)

    def set_stamp_ns(self, time: int) -> None:
        """Write the time [ns]."""
        self._stamp[:] = packed_stamp(time // NANOSECONDS, time % NANOSECONDS)

    def data(self) -> bytes:
        """Return the bytes of the message."""
        return self._bytes.tobytes()
