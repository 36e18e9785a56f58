"""Layout of one publisher's messages, as words to compare, for compiled code that reads them.

A reader learns the layout of a publisher's messages; a `Pattern` describes it to other code.
"""

from __future__ import annotations

from typing import Mapping, NamedTuple

import numpy as np

WORD = 8  # bytes


class Pattern(NamedTuple):
    """Messages that contain these words differ in nothing but their time stamp and their numbers.

    :param smallest: minimum size of a message [bytes]
    :param largest: maximum size [bytes]
    :param places: where the words begin, (k,) [bytes]
    :param masks: which of their bits count, (k,)
    :param words: what those bits are, (k,)
    :param values: where the numbers of each field begin, by field [bytes]; little-endian doubles
    """

    smallest: int
    largest: int
    places: np.ndarray
    masks: np.ndarray
    words: np.ndarray
    values: Mapping[str, int]


def make_pattern(content: bytes, mask: bytes, largest: int, values: Mapping[str, int]) -> Pattern:
    """Pattern of messages that begin with `content` where `mask` is not zero.

    :param content: at least one word
    :param mask: as long as `content`
    """
    size = len(content)
    begins = [min(at, size - WORD) for at in range(0, size, WORD)]
    places = [at for at in begins if any(mask[at : at + WORD])]

    def words(data: bytes) -> np.ndarray:
        pieces = [data[at : at + WORD] for at in places]
        return np.frombuffer(b''.join(pieces), np.int64)

    masks = words(mask)
    return Pattern(
        smallest=size,
        largest=largest,
        places=np.array(places, dtype=np.int64),
        masks=masks,
        words=words(content) & masks,
        values=dict(values),
    )
