# SPDX-License-Identifier: Apache-2.0
"""The reports in docs/hil_examples are those of the scenarios and of the page as they are now."""

import pytest
from support import hil_pages
from support.source_imports import ROOT

STALE = 'run scripts/update_hil_examples'


@pytest.mark.parametrize('name', hil_pages.PAGES)
def test_a_report_in_the_documentation_is_the_one_that_the_command_writes(name, tmp_path):
    there = (hil_pages.FOLDER / f'{name}.html').read_text(encoding='utf-8')
    found = hil_pages.difference(hil_pages.make(name, tmp_path), there)
    assert not found, f'{found}: {STALE}'


@pytest.mark.parametrize('name', hil_pages.PAGES)
def test_a_picture_in_the_documentation_is_of_the_report_beside_it(name):
    page = hil_pages.FOLDER / f'{name}.html'
    picture = hil_pages.PICTURES / f'hil_{name}.png'
    made_from = hil_pages.pictures_of()[name]
    assert hil_pages.fingerprint(page.read_text(encoding='utf-8')) == made_from, STALE
    assert picture.read_bytes().startswith(b'\x89PNG')
    assert all(10_000 < path.stat().st_size < 500_000 for path in (page, picture))


def test_all_scenarios_have_a_report_and_the_page_shows_all_reports():
    assert {path.stem for path in hil_pages.SCENARIOS.glob('*.yaml')} <= set(hil_pages.PAGES)
    text = (ROOT / 'docs' / 'hil_examples.md').read_text(encoding='utf-8')
    for name, (scenario, words, _) in hil_pages.PAGES.items():
        assert f'](images/hil_{name}.png)](hil_examples/{name}.html)' in text
        command = ' '.join(['rbd_ros hil', f'config/hil/{scenario}.yaml', *words])
        assert f'    {command}\n' in text
    assert {path.stem for path in hil_pages.FOLDER.glob('*.html')} == set(hil_pages.PAGES)


def test_a_difference_between_pages_is_found():
    page = (
        '<p>error 0.10</p>\n<svg>a</svg><table><tr><td>time [us]</td><td>7</td></tr>'
        f'<tr><td>k</td><td>1</td></tr></table><code>{"a" * 64}</code>'
    )
    same = page.replace('<td>7', '<td>9').replace('a' * 64, 'b' * 64).replace('>a<', '>b<')
    assert hil_pages.difference(page, same.replace('0.10', '0.1002')) == ''
    assert '0.2' in hil_pages.difference(page, page.replace('0.10', '0.2'))
    assert 'failure' in hil_pages.difference(page, page.replace('error', 'failure'))
    assert 'plots' in hil_pages.difference(page, page.replace('<svg>a</svg>', ''))
    assert 'lines' in hil_pages.difference(page + '<tr>', page)
