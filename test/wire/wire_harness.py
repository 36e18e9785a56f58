# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Helpers of the tests of serialized messages: an encoder, and damaged messages.

The encoder shares nothing with the package or the middleware, and does what they cannot: the other
byte order, and padding filled with anything.
"""

import re
import struct

from hypothesis import strategies as st
import numpy as np
from rclpy.serialization import deserialize_message

from rbd_ros.wire import WireError

TEXT = st.text(max_size=12).filter(lambda text: '\0' not in text)

NUMBERS = {'double': ('d', 8), 'int32': ('i', 4), 'uint32': ('I', 4)}


def encode(message, order='<', padding=b'\0'):
    """Return the bytes of a message; `padding` is repeated where nothing is said."""
    encoder = _Encoder(order, padding)
    encoder.message(message)
    return encoder.data()


class _Encoder:
    def __init__(self, order, padding):
        self._order, self._padding = order, padding
        self._body = bytearray()

    def data(self):
        return (b'\0\1\0\0' if self._order == '<' else b'\0\0\0\0') + bytes(self._body)

    def message(self, message):
        for field, kind in message.get_fields_and_field_types().items():
            self.value(kind, getattr(message, field))

    def value(self, kind, value):
        if sequence := re.fullmatch(r'sequence<(.+)>', kind):
            self.number('I', 4, len(value))
            for element in value:
                self.value(sequence[1], element)
        elif kind == 'string':
            encoded = value.encode() + b'\0'
            self.number('I', 4, len(encoded))
            self._body += encoded
        elif kind in NUMBERS:
            self.number(*NUMBERS[kind], value)
        else:
            self.message(value)

    def number(self, letter, size, value):
        while len(self._body) % size:
            self._body += self._padding
        self._body += struct.pack(f'{self._order}{letter}', value)


def with_bytes(data, at, replacement):
    return data[:at] + replacement + data[at + len(replacement) :]


def spoiled(data, rng):
    """Return the copy of a message with something wrong."""
    data = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(data)))
        what = rng.integers(6)
        if what == 0:
            del data[at:]
        elif what == 1:
            data[at : at + 4] = struct.pack('<i', rng.integers(-3, 12))
        elif what == 2:
            data[at:at] = bytes(rng.integers(0, 256, rng.integers(1, 9), dtype=np.uint8))
        elif what == 3:
            del data[at : at + int(rng.integers(1, 9))]
        else:
            data[at] = rng.integers(256) if what == 4 else data[at] ^ (1 << rng.integers(8))
        if not data:
            break
    return bytes(data)


def check_spoiled_messages(valid, read, message_type, content_of, count, rng, capfd):
    """Read spoiled messages: never another exception, never a silent disagreement with rclpy."""
    accepted = 0
    for k in range(count):
        data = spoiled(valid[k % len(valid)], rng)
        try:
            ours = read(data)
        except WireError as error:
            assert error.code and str(error)
            continue
        try:
            theirs = deserialize_message(data, message_type)
        except Exception:
            continue
        accepted += 1
        assert ours == content_of(theirs), data.hex(' ')
    assert accepted > count / 10  # otherwise nothing was compared
    capfd.readouterr()  # the middleware complains on standard error
