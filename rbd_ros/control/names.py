# SPDX-License-Identifier: Apache-2.0
"""Names of joints in messages, cut to a length and a number that a reader takes in."""

from __future__ import annotations

from typing import Iterable

LONGEST_NAME = 60
MOST_NAMES = 6


def shown(name: str) -> str:
    """Return the name in quotes, cut if it is long."""
    text = str(name[: LONGEST_NAME + 1]) if isinstance(name, str) else repr(name)
    return repr(text) if len(text) <= LONGEST_NAME else repr(text[: LONGEST_NAME - 3] + '...')


def listed(names: Iterable[str]) -> str:
    """Return the names for a message, the first few of them."""
    names = list(names)
    text = ', '.join(shown(name) for name in names[:MOST_NAMES])
    more = len(names) - MOST_NAMES
    return f'{text} and {more} more' if more > 0 else text
