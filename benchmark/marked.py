"""Parts of Markdown files that benchmarks write, between two marked lines."""

from __future__ import annotations

from pathlib import Path
from typing import Sequence


def replace(path: Path, begin: str, end: str, lines: Sequence[str]) -> None:
    """Replace what is between two lines of a file.

    :raises ValueError: if the file lacks them
    """
    text = path.read_text(encoding='utf-8')
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f'{path} lacks the lines {begin!r} and {end!r}')
    body = '\n'.join(lines)
    path.write_text(f'{before}{begin}\n\n{body}\n\n{end}{after}', encoding='utf-8')


def row(cells: Sequence[str]) -> str:
    """Line of a table."""
    return f'| {" | ".join(cells)} |'
