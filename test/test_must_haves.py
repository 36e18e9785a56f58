# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""docs/must_haves.md names evidence that exists."""

from pathlib import Path
import re

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / 'docs' / 'must_haves.md'
ROWS = re.findall(r'^\| (\d+) \| (.+?) \| (.+) \|$', PAGE.read_text(encoding='utf-8'), re.M)


def test_all_thirty_have_a_row():
    assert [int(number) for number, _, _ in ROWS] == list(range(1, 31))


@pytest.mark.parametrize('number, what, evidence', ROWS, ids=[row[0] for row in ROWS])
def test_named_evidence_exists(number, what, evidence):
    named = [name for name in re.findall(r'`([^`]+)`', evidence) if '/' in name]
    assert any(name.startswith('test/') for name in named), f'no test for {what}'
    for name in named:
        file, _, function = name.partition('::')
        assert (ROOT / file).is_file(), name
        if function:
            text = (ROOT / file).read_text(encoding='utf-8')
            assert re.search(rf'^def {function}\(', text, re.M), name
