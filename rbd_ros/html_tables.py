# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tables in HTML, with names of any letters."""

from __future__ import annotations

from html import escape
from typing import Any, Iterable, Sequence


def html_table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as HTML; texts are escaped, numbers have four digits.

    Numbers are rounded to 12 decimals, so that rounding errors are zero.

    :param caption: text above the table
    :param heads: texts of the first row
    :param rows: cells of each row: texts, numbers or arrays of numbers
    """
    head = ''.join(f'<th>{escape(each)}</th>' for each in heads)
    lines = (''.join(f'<td>{_cell(each)}</td>' for each in row) for row in rows)
    body = ''.join(f'<tr>{line}</tr>' for line in lines)
    return f'<table><caption>{escape(caption)}</caption><tr>{head}</tr>{body}</table>'


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return escape(value)
    numbers = value if hasattr(value, '__len__') else [value]
    return ' '.join(f'{round(float(x), 12) + 0.0:.4g}' for x in numbers)
