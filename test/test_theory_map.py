# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""docs/theory.md names existing rows and files."""

import re

import pytest
from support import seed_coverage

PAGE = seed_coverage.ROOT / 'docs' / 'theory.md'
LINES = [
    line.strip('|').split('|')
    for line in PAGE.read_text(encoding='utf-8').splitlines()
    if line.startswith('|') and not line.startswith(('|---', '| theory'))
]
RANGE = re.compile(r'([A-Z]{2})(\d\d)(?: to ([A-Z]{2})(\d\d))?')


def rows_named(text):
    """Return the rows of a cell such as 'SV01 to SV03, CT06'."""
    names = []
    for family, first, last_family, last in RANGE.findall(text):
        assert last_family in ('', family), text
        names += [f'{family}{n:02}' for n in range(int(first), int(last or first) + 1)]
    return names


def test_the_map_is_read_as_it_is_written():
    assert len(LINES) > 60
    assert rows_named('SV01 to SV03, CT06') == ['SV01', 'SV02', 'SV03', 'CT06']


@pytest.mark.parametrize('line', LINES, ids=lambda line: line[0].strip())
def test_a_line_names_rows_of_the_inventory_and_files_of_the_package(line):
    theory, rows, files = (cell.strip() for cell in line)
    known = {row.row for row in seed_coverage.rows()}
    names = rows_named(rows)
    assert theory and names, 'a line is a piece of theory, its rows and its files'
    assert not set(names) - known, sorted(set(names) - known)
    assert rows == ', '.join(RANGE.search(x.strip())[0] for x in rows.split(',')), rows
    links = re.findall(r'\[([^\]]+)\]\(\.\./(rbd_ros/[^)]+)\)', files)
    assert links, 'no file of the package'
    for title, target in links:
        path = seed_coverage.ROOT / target
        assert path.exists(), target
        assert target.endswith(title) or target.rstrip('/').endswith(title.rstrip('/')), target
