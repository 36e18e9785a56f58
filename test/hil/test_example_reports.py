# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Example reports: as the documentation pictures them, and as a real browser draws them."""

import io

from matplotlib import image
import numpy as np
import pytest
from support import browser, hil_pages, outside
from support.source_imports import ROOT

STALE = 'run scripts/update_hil_examples'

# What is not visible of the plots: those without an extent, or without a line or a bar.
EMPTY = """[...document.querySelectorAll('svg')].filter(plot => {
    const box = plot.getBoundingClientRect();
    const drawn = [...plot.querySelectorAll('path, use')].filter(each => {
        const extent = each.getBoundingClientRect();
        return extent.width + extent.height > 1;
    });
    return box.width < 300 || box.height < 100 || drawn.length < 10;
}).length"""
PLOTS = {
    'payload_drop': 5,
    'slow_network': 5,
    'sticking_joint': 5,
    'dead_time': 1,
    'rates': 2,
    'campaign': 3,
}


@pytest.fixture(scope='module', params=hil_pages.PAGES)
def report(request, tmp_path_factory):
    """Return the name of a page and its text."""
    return request.param, hil_pages.make(request.param, tmp_path_factory.mktemp('report'))


@pytest.fixture(scope='module')
def tab(tmp_path_factory):
    """Yield a browser, or skip the test."""
    line = outside.browser_problem()
    if line is not None:
        pytest.skip(line)
    with browser.browser(tmp_path_factory.mktemp('profile')) as started:
        yield started


def test_a_picture_in_the_documentation_shows_the_report_of_the_command(report):
    name, page = report
    found = hil_pages.difference(hil_pages.lines_of(page), hil_pages.known_lines()[name])
    assert not found, f'{found}: {STALE}'
    picture = (hil_pages.PICTURES / f'hil_{name}.png').read_bytes()
    assert picture.startswith(b'\x89PNG')
    assert all(10_000 < size < 500_000 for size in (len(page), len(picture)))


@pytest.mark.slow
def test_a_report_draws_its_plots_and_loads_nothing(report, tab, tmp_path):
    name, text = report
    path = tmp_path / 'page.html'
    path.write_text(text, encoding='utf-8')
    tab.requests.clear()
    tab.open(path.as_uri(), "document.readyState === 'complete'")
    assert tab.evaluate("document.querySelectorAll('svg').length") == PLOTS[name]
    assert tab.evaluate(EMPTY) == 0
    title = tab.evaluate("document.querySelector('h1').innerText")
    assert title and title.split(':')[0] in tab.evaluate('document.title')
    # Lines in color are seen on it, not only in its text.
    pixels = image.imread(io.BytesIO(tab.whole_page(hil_pages.WIDTH)), format='png')[..., :3]
    colored = np.ptp(pixels, axis=-1) > 0.3
    assert colored.sum() > 1000 and (pixels.min(axis=-1) > 0.99).mean() > 0.5
    # Nothing is wider than a window, so that nobody has to scroll sideways.
    assert tab.evaluate('document.documentElement.scrollWidth') <= hil_pages.WIDTH
    assert tab.requests == [path.as_uri()] and tab.complaints == []


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
