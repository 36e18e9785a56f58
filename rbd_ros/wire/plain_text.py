# SPDX-License-Identifier: Apache-2.0
"""String messages, std_msgs/msg/String."""

from __future__ import annotations

from rbd_ros.wire.cdr import Cursor, MessageBuffer, WireError

MAX_BYTES = 1 << 26  # maximum size of a message [bytes]: URDFs with many links


def string_message(text: str) -> bytes:
    """Return the bytes of a String.

    :raises ValueError: if it contains a zero byte

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

    :raises WireError: if it is none
    """
    text = Cursor(data, MAX_BYTES).text('the text')
    try:
        return str(text, 'utf-8')
    except UnicodeDecodeError:
        raise WireError('illegible text', 'the text is not UTF-8') from None
