# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The pictures of reports in the documentation show what the scenarios give now."""

import pytest
from support import hil_pages
from support.source_imports import ROOT

STALE = 'run scripts/update_hil_examples'


@pytest.mark.parametrize('name', hil_pages.PAGES)
def test_a_picture_in_the_documentation_shows_the_report_of_the_command(name, tmp_path):
    page = hil_pages.make(name, tmp_path)
    found = hil_pages.difference(hil_pages.lines_of(page), hil_pages.known_lines()[name])
    assert not found, f'{found}: {STALE}'
    picture = (hil_pages.PICTURES / f'hil_{name}.png').read_bytes()
    assert picture.startswith(b'\x89PNG')
    assert all(10_000 < size < 500_000 for size in (len(page), len(picture)))


def test_all_scenarios_have_a_report_and_the_page_shows_all_reports():
    assert {path.stem for path in hil_pages.SCENARIOS.glob('*.yaml')} <= set(hil_pages.PAGES)
    text = (ROOT / 'docs' / 'hil_examples.md').read_text(encoding='utf-8')
    for name, (scenario, words, _) in hil_pages.PAGES.items():
        assert f'](images/hil_{name}.png)' in text
        command = ' '.join(['rbd_ros hil', f'config/hil/{scenario}.yaml', *words])
        assert f'    {command}\n' in text
    assert set(hil_pages.known_lines()) == set(hil_pages.PAGES)


def test_a_difference_between_pages_is_found():
    page = (
        '<style>p {}</style><p>error 0.10</p>\n<svg>a</svg>'
        '<table><tr><td>time [us]</td><td>7</td></tr>'
        f'<tr><td>k</td><td>1</td></tr></table><code>{"a" * 64}</code>'
    )

    def difference(one):
        return hil_pages.difference(hil_pages.lines_of(one), hil_pages.lines_of(page))

    same = page.replace('<td>7', '<td>9').replace('a' * 64, 'b' * 64).replace('>a<', '>b<')
    assert difference(same.replace('0.10', '0.1002')) == ''
    assert '0.2' in difference(page.replace('0.10', '0.2'))
    assert 'failure' in difference(page.replace('error', 'failure'))
    assert 'svg' in difference(page.replace('<svg>a</svg>', ''))
    assert 'lines' in difference(page + '<tr>')
