# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The tree of the pages, for the navigation of the site, from their lists and tables of links.

A page with such lists says itself what belongs below it: index.md has a section for each part
of the navigation, python_api.md a table of its pages. So the tree is written once, where readers
see it.
"""

from pathlib import Path
import re

from sphinx.application import Sphinx

# Pages with pages below them, and the folders that these lie in ('': beside the page).
PARENTS = {'index': ('', 'nodes', 'tutorials'), 'python_api': ('api',)}
HEADING = re.compile(r'^## (.+)$')
LINK = re.compile(r'\[([^\]]+)\]\(([\w/]+)\.(?:md|rst)\)')


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect('source-read', append_tree)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}


def append_tree(app: Sphinx, page: str, text: list[str]) -> None:
    """Add the pages below a page, which are not shown twice."""
    for caption, links in sections(text[0]) if page in PARENTS else ():
        entries = [
            f'{title.replace("`", "")} <{target}>'
            for title, target in links
            if belongs_below(page, target)
        ]
        if entries:
            named = [f':caption: {caption}'] if page == 'index' else []
            lines = ['', '', '```{toctree}', ':hidden:', *named, '', *entries, '```', '']
            text[0] += '\n'.join(lines)


def belongs_below(page: str, target: str) -> bool:
    """Whether a linked page is one of those below."""
    folder = Path(target).parent.as_posix().removeprefix('.')
    return folder in PARENTS[page] and target != page


def sections(text: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Title and links, each once, of the sections of a page: its lists and its tables."""
    found, seen = [('', [])], set()
    for line in text.splitlines():
        heading = HEADING.match(line)
        if heading:
            found.append((heading[1], []))
        if line.startswith(('* ', '  ', '| ', '1. ')):
            for title, target in LINK.findall(line):
                if target not in seen:
                    seen.add(target)
                    found[-1][1].append((title, target))
    return found
