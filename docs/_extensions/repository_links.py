# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Links of the pages to what lies outside of docs/: pages of the site that show it.

Each linked file of source code or data becomes a page with its text, each linked folder a list of
its files. Where the repository is not at hand beside docs/, such a link is plain text.
"""

from __future__ import annotations

from collections.abc import Iterator
import html
from pathlib import Path, PurePosixPath
import posixpath
import re
from typing import Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename, TextLexer
from pygments.util import ClassNotFound
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
SCHEME = 'repository:'
FOLDER = 'repository'  # of the site, in which the pages of files are
# Pages of docs/ that stand for files of the repository's root.
PAGES = {
    'README.md': 'index',
    'CONTRIBUTING.md': 'contributing',
    'QUALITY_DECLARATION.md': 'quality_declaration',
    'CHANGELOG.rst': 'changelog',
}
SHOWN = {page: name for name, page in PAGES.items() if page != 'index'}
LINK = re.compile(r'(?<=\]\()([^)\s:#]+)(#[^)\s]*)?(?=\))')
CODE = re.compile(r'(^```.*?^```|^    .*?$|`[^`\n]+`)', re.DOTALL | re.MULTILINE)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect('source-read', redirect)
    app.connect('doctree-resolved', resolve)
    app.connect('html-collect-pages', pages_of_files)
    return {'parallel_read_safe': False, 'parallel_write_safe': True}


def redirect(app: Sphinx, page: str, text: list[str]) -> None:
    """Mark links that leave docs/; the pages that stand for a file of the root get its text."""
    folder = PurePosixPath('docs', page).parent
    if page in SHOWN and (ROOT / SHOWN[page]).is_file():
        text[0] = (ROOT / SHOWN[page]).read_text(encoding='utf-8')
        folder = PurePosixPath('.')
    pieces = CODE.split(text[0])  # what lies between code, then code, and so on

    def replaced(link: re.Match[str]) -> str:
        target = posixpath.normpath(str(folder / link[1]))
        if target in PAGES:
            return relative(f'docs/{PAGES[target]}.md', page) + (link[2] or '')
        if target.startswith('docs/'):
            return relative(target, page) + (link[2] or '')
        return SCHEME + target

    pieces[::2] = [LINK.sub(replaced, piece) for piece in pieces[::2]]
    text[0] = ''.join(pieces)


def relative(target: str, page: str) -> str:
    """Address of a file of docs/ seen from a page."""
    return posixpath.relpath(target, PurePosixPath('docs', page).parent)


def resolve(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Point the marked links to the pages of their files, and note the files."""
    for link in list(tree.findall(nodes.reference)):
        target = link.get('refuri', '')
        if not target.startswith(SCHEME):
            continue
        name = target.removeprefix(SCHEME)
        if app.builder.format == 'html' and (ROOT / name).exists():
            linked(app).add(name)
            link['refuri'] = app.builder.get_relative_uri(page, f'{FOLDER}/{name}')
        else:
            link.replace_self(link.children)


def linked(app: Sphinx) -> set[str]:
    """Files and folders that pages link to; kept for builds that write changed pages only."""
    if not hasattr(app.env, 'rbd_ros_linked_files'):
        app.env.rbd_ros_linked_files = set()
    return app.env.rbd_ros_linked_files


def pages_of_files(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Name, contents and template of the page of each file."""
    for name in sorted(linked(app)):
        path = ROOT / name
        if path.exists():
            body = listing(name) if path.is_dir() else colored(path)
            title = html.escape(name)
            context = {'title': title, 'body': f'<h1>{title}</h1>\n{body}'}
            yield f'{FOLDER}/{name}', context, 'page.html'


def listing(name: str) -> str:
    """Names of the files of a folder."""
    paths = (path for path in sorted((ROOT / name).iterdir()) if path.name[0] not in '._')
    items = ''.join(f'<li><code>{html.escape(path.name)}</code></li>' for path in paths)
    return f'<ul>{items}</ul>'


def colored(path: Path) -> str:
    """Text of a file as HTML."""
    try:
        lexer = get_lexer_for_filename(path.name)
    except ClassNotFound:
        lexer = TextLexer()
    return highlight(path.read_text(encoding='utf-8'), lexer, HtmlFormatter(cssclass='highlight'))
