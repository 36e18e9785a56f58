# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Index of the tests that are not named after a source file: test/README.md."""

import ast
from pathlib import Path

from support.source_imports import package_sources, ROOT

TEST = ROOT / 'test'
PAGE = TEST / 'README.md'
HEAD = """\
# Index of the tests

`rbd_ros/collision/convex/epa.py` is tested in `test/collision/convex/test_epa.py`, and so on;
`scripts/test --for FILE` finds the tests of a file by imports, and runs them. The files below test
more than one source file, or a whole. `scripts/update_test_index` writes this page.
"""


def page() -> str:
    """Return the text of the index: the files of each folder, and their subjects."""
    mirrored = {_test_of(path) for path in package_sources()}
    lines, folder = [HEAD], None
    for path in sorted(TEST.rglob('test_*.py'), key=lambda path: (path.parent, path.name)):
        if path not in mirrored:
            if path.parent != folder:
                folder = path.parent
                lines.append(f'\n## {folder.relative_to(ROOT)}\n\n')
            lines.append(f'* `{path.name}`: {_first_sentence(path)}\n')
    return ''.join(lines)


def _test_of(source: Path) -> Path:
    """Return the path of a source file's own test, if it has one."""
    folder = TEST / source.relative_to(ROOT / 'rbd_ros').parent
    return folder / f'test_{source.name}'


def _first_sentence(path: Path) -> str:
    lines = ast.get_docstring(ast.parse(path.read_text(encoding='utf-8'))).splitlines()
    return lines[0].rstrip('.')
