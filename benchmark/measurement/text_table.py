# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tables of numbers as text."""

from __future__ import annotations

from typing import List, Optional, Sequence


def number(value: Optional[float]) -> str:
    """Return the text of a positive number with about three digits, or '-' for None."""
    if value is None:
        return '-'
    return f'{value:.0f}' if value >= 100.0 else f'{value:.1f}' if value >= 1.0 else f'{value:.2g}'


def columns(rows: Sequence[Sequence[str]], rule_after: int) -> List[str]:
    """Return the lines of a table, the first column aligned left, with a rule below the head."""
    # A heading may extend over the following empty cells.
    body = rows[rule_after - 1 :]
    widths = [max(5, *map(len, column)) for column in zip(*body)]
    lines = []
    for index, row in enumerate(rows):
        if index == rule_after:
            lines.append('-' * (sum(widths) + 2 * (len(widths) - 1)))
        if index < rule_after - 1:
            lines.append(_spanning(row, widths))
        else:
            cells = [f'{row[0]:<{widths[0]}}']
            cells += [f'{cell:>{width}}' for cell, width in zip(row[1:], widths[1:])]
            lines.append('  '.join(cells).rstrip())
    return lines


def _spanning(row: Sequence[str], widths: Sequence[int]) -> str:
    line, position = '', 0
    for cell, width in zip(row, widths):
        if cell:
            line = f'{line:<{position}}' + cell
        position += width + 2
    return line
