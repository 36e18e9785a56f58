# SPDX-License-Identifier: Apache-2.0
"""Names of joints in messages, cut to a length and a number that a reader takes in."""

from __future__ import annotations

from typing import Iterable

MAX_NAME_LENGTH = 60
MAX_NAMES = 6


def shown(name: str) -> str:
    """Return the name in quotes, cut if it is long."""
    text = str(name[: MAX_NAME_LENGTH + 1]) if isinstance(name, str) else repr(name)
    return (
        repr(text) if len(text) <= MAX_NAME_LENGTH else repr(text[: MAX_NAME_LENGTH - 3] + '...')
    )


def listed(names: Iterable[str]) -> str:
    """Return the names for a message, the first few of them."""
    names = list(names)
    text = ', '.join(shown(name) for name in names[:MAX_NAMES])
    more = len(names) - MAX_NAMES
    return f'{text} and {more} more' if more > 0 else text
