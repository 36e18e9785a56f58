# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Layout of one publisher's messages, as words to compare, for compiled code.

A reader learns the layout of a publisher's messages; a `Pattern` describes it for compiled code.
"""

from __future__ import annotations

from typing import Mapping, NamedTuple

import numpy as np

from rbd_ros.compiler.loops import compiled, load_i64

WORD = 8  # bytes


class Layout(NamedTuple):
    """Words that a message must contain.

    :param min_size: minimum size of a message [bytes]
    :param max_size: maximum size [bytes]
    :param places: offsets of the words, (k,) [bytes]
    :param masks: masks of their relevant bits, (k,)
    :param words: values of these bits, (k,)
    """

    min_size: int
    max_size: int
    places: np.ndarray
    masks: np.ndarray
    words: np.ndarray


class Pattern(NamedTuple):
    """Layout of messages that differ only in their time stamp and values.

    :param layout: their constant words
    :param values: offset of the numbers of each field, by field [bytes]; little-endian doubles
    """

    layout: Layout
    values: Mapping[str, int]


@compiled
def has_layout(layout: Layout, data: bytes, size: int) -> bool:
    """Return whether a message contains the words of a layout.

    :param data: serialized message
    :param size: its size [bytes]
    """
    if size < layout.min_size or size > layout.max_size:
        return False
    for k in range(len(layout.places)):
        if (load_i64(data, layout.places[k]) ^ layout.words[k]) & layout.masks[k] != 0:
            return False
    return True


def make_pattern(content: bytes, mask: bytes, max_size: int, values: Mapping[str, int]) -> Pattern:
    """Return the pattern of messages that equal `content` where `mask` is not zero.

    :param content: at least one word
    :param mask: mask of the same length
    """
    size = len(content)
    begins = [min(at, size - WORD) for at in range(0, size, WORD)]
    places = [at for at in begins if any(mask[at : at + WORD])]

    def words(data: bytes) -> np.ndarray:
        pieces = [data[at : at + WORD] for at in places]
        return np.frombuffer(b''.join(pieces), np.int64)

    masks = words(mask)
    layout = Layout(
        min_size=size,
        max_size=max_size,
        places=np.array(places, dtype=np.int64),
        masks=masks,
        words=words(content) & masks,
    )
    return Pattern(layout, dict(values))
