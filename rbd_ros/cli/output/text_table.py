# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tables and counts of printed reports."""

from __future__ import annotations

from typing import List, Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]], align: str) -> List[str]:
    """Return the lines of a table.

    :param head: titles of the columns
    :param rows: cells
    :param align: one character per column, > for right alignment
    """
    widths = [max(map(len, column)) for column in zip(head, *rows)]
    return [
        '  '
        + '  '.join(
            f'{cell:>{width}}' if side == '>' else f'{cell:<{width}}'
            for cell, width, side in zip(row, widths, align.ljust(len(head), '.'))
        ).rstrip()
        for row in (head, *rows)
    ]


def plural(count: int, noun: str, several: str = '') -> str:
    """Return a count with its noun.

    :param several: the plural of the noun; default: with an s

    >>> from rbd_ros.cli.output.text_table import plural
    >>> plural(1, 'joint'), plural(2, 'joint'), plural(2, 'body', 'bodies')
    ('1 joint', '2 joints', '2 bodies')
    """
    return f'{count} {noun if count == 1 else several or noun + "s"}'
