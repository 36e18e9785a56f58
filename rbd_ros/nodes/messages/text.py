# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Short texts for logs, diagnostics and responses, with bounded names and values."""

from __future__ import annotations

import re
from typing import Any, Iterable, List

MAX_NAMES_SHOWN = 6
MAX_NAME_LENGTH = 60
MAX_WORD = 100
MAX_TEXT = 1000


def short_name(name: Any) -> str:
    """Return the name of a joint or link, no longer than `MAX_NAME_LENGTH`."""
    text = str(name)
    return text if len(text) <= MAX_NAME_LENGTH else f'{text[: MAX_NAME_LENGTH - 3]}...'


def shorten(names: Iterable[Any]) -> str:
    """Return the names for a message, the first `MAX_NAMES_SHOWN` of them."""
    names = list(names)
    shown = ', '.join(map(short_name, names[:MAX_NAMES_SHOWN]))
    rest = len(names) - MAX_NAMES_SHOWN
    return f'{shown} and {rest} more' if rest > 0 else shown


def readable(text: Any) -> str:
    """Return a line of at most `MAX_TEXT`, long words cut, empty parentheses removed."""
    line = ' '.join(str(text)[: 20 * MAX_TEXT].split())
    line = re.sub(r' ?\(\)', '', line)
    line = re.sub(r'\S{%d,}' % (MAX_WORD + 1), lambda word: _shorter(word[0]), line)
    return line if len(line) <= MAX_TEXT else f'{line[: MAX_TEXT - 4]} ...'


def _shorter(word: str) -> str:
    """Return a shortened long word: the end of a path, the beginning of others."""
    if '/' not in word:
        return f'{word[:MAX_NAME_LENGTH]}...'
    end = word[4 - MAX_WORD :]
    return f'...{end[max(end.find("/", 0, -1), 0) :]}'


def first_line(error: BaseException) -> str:
    """Return the cause of an error of rclpy or another library, in one line."""
    lines: List[str] = [line.strip() for line in str(error).splitlines() if line.strip()]
    return readable(lines[0] if lines else type(error).__name__)
