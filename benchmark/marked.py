# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Parts of Markdown files that benchmarks write, between two marked lines.

The second line has a digest of the text between them, so a test distinguishes generated pages from
edited ones.
"""

from __future__ import annotations

from dataclasses import dataclass
import hashlib
from pathlib import Path
import re
from typing import Dict, List, Sequence

_PART = re.compile(
    r'<!-- (?P<name>[\w ]+): written by (?P<command>\S+), do not edit -->\n\n'
    r'(?P<body>.*?)\n\n<!-- end of the (?P=name), (?P<digest>\S+) -->',
    re.DOTALL,
)


@dataclass(frozen=True)
class Part:
    """A part of a page that a command writes.

    :param name: content, as named in its marked lines
    :param command: path of the command, from the root of the repository
    """

    name: str
    command: str

    def replace(self, path: Path, lines: Sequence[str]) -> None:
        """Replace the part in a file.

        :raises ValueError: if the file lacks its marked lines
        """
        text, begin = path.read_text(encoding='utf-8'), self._begin
        ends = f'<!-- end of the {self.name}, '
        before, found, rest = text.partition(begin)
        _, closed, after = rest.partition(ends)
        if not (found and closed):
            raise ValueError(f'{path} lacks the lines {begin!r} and {ends!r}')
        body, after = '\n'.join(lines), after.partition(' -->')[2]
        page = f'{before}{begin}\n\n{body}\n\n{ends}{digest(body)} -->{after}'
        path.write_text(page, encoding='utf-8')

    @property
    def blank(self) -> str:
        """Marked lines of an empty part, for a new page."""
        return f'{self._begin}\n\n\n\n<!-- end of the {self.name}, {digest("")} -->'

    @property
    def _begin(self) -> str:
        return f'<!-- {self.name}: written by {self.command}, do not edit -->'


def parts(text: str) -> List[Dict[str, str]]:
    """Return name, command, body and digest of each part of a page."""
    return [found.groupdict() for found in _PART.finditer(text)]


def digest(body: str) -> str:
    """Return the digest of a text."""
    return hashlib.sha256(body.encode()).hexdigest()[:16]


def row(cells: Sequence[str]) -> str:
    """Return a line of a table."""
    return f'| {" | ".join(cells)} |'
