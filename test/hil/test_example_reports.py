# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Example reports: equal to those pictured in the documentation, and drawn by a real browser."""

import io
import re

from matplotlib import image
import numpy as np
import pytest
from support import browser, hil_pages, outside
from support.source_imports import ROOT

from rbd_ros.hil.report.report_page import Curve, document, Line, passed_and_failed, plot

STALE = 'run scripts/update_hil_examples'

# Plots without an extent, or with few colored pixels.
EMPTY = """reportPlots.filter(plot => {
    const { width, height } = plot.ctx.canvas;
    const pixels = plot.ctx.getImageData(0, 0, width, height).data;
    let colored = 0;
    for (let k = 0; k < pixels.length; k += 4) {
        const color = pixels.subarray(k, k + 3);
        colored += pixels[k + 3] > 0 && Math.max(...color) - Math.min(...color) > 75;
    }
    return width < 300 || height < 100 || colored < 30;
}).length"""
PLOTS = {
    'payload_drop': 8,
    'slow_network': 8,
    'sticking_joint': 8,
    'dead_time': 1,
    'rates': 2,
    'campaign': 4,
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
    tab.open(path.as_uri())
    tab.whole_page(hil_pages.WIDTH)
    assert tab.evaluate('reportPlots.length') == PLOTS[name]
    assert tab.evaluate(EMPTY) == 0
    title = tab.evaluate("document.querySelector('h1').innerText")
    assert title and title.split(':')[0] in tab.evaluate('document.title')
    # Lines in color are seen on it, not only in its text.
    pixels = image.imread(io.BytesIO(tab.whole_page(hil_pages.WIDTH)), format='png')[..., :3]
    colored = np.ptp(pixels, axis=-1) > 0.3
    assert colored.sum() > 1000 and (pixels.min(axis=-1) > 0.99).mean() > 0.5
    # Nothing is wider than a window, so there is no horizontal scrolling.
    assert tab.evaluate('document.documentElement.scrollWidth') <= hil_pages.WIDTH
    tab.whole_page(390)  # of a phone
    assert tab.evaluate('document.documentElement.scrollWidth') <= 390
    assert tab.evaluate(EMPTY) == 0
    assert tab.requests == [path.as_uri()] and tab.complaints == []


@pytest.fixture(scope='module')
def opened(tab, tmp_path_factory):
    """Return the browser with a page of two plots over time and one of points."""
    time = np.linspace(0.0, 2.0, 201)
    lines = [Line('x', 0.5, 'payload', True), Line('y', 3.0, 'limit')]
    curves = [Curve('one [rad]', np.sin(time)), Curve('other [rad]', 0.1 * time)]
    plots = [plot('time [s]', time, 'error [rad]', curves, lines=lines)]
    plots += [plot('time [s]', time, 'torque [N m]', [Curve('one', time), Curve('other', -time)])]
    points = passed_and_failed([1.0, 4.0, 2.0], [True, False, True])
    plots += [plot('payload [kg]', [0.0, 1.0, 1.0], 'latency [s]', points, notes=['a', 'b', 'c'])]
    path = tmp_path_factory.mktemp('plots') / 'page.html'
    path.write_text(document('plots', ['<h2>x</h2>', *plots]), encoding='utf-8')
    tab.complaints.clear()
    tab.open(path.as_uri())
    tab.whole_page(800)
    yield tab
    assert tab.complaints == []


def mouse(tab, kind, k, x, y, **more):
    """Move or press the mouse at fractions of the area of a plot."""
    where = f'(() => {{ const over = reportPlots[{k}].over; over.scrollIntoView();'
    where += ' const box = over.getBoundingClientRect();'
    where += f' return [box.left + {x} * box.width, box.top + {y} * box.height]; }})()'
    at = dict(zip('xy', tab.evaluate(where)))
    tab.call('Input.dispatchMouseEvent', type=f'mouse{kind}', **at, **more)


def values(tab, k):
    """Return the values under the pointer, as shown in a legend."""
    shown = f"[...reportPlots[{k}].root.querySelectorAll('.u-value')].map(x => x.textContent)"
    return tab.evaluate(shown)


@pytest.mark.slow
def test_the_values_under_the_pointer_are_shown_in_all_plots_over_time(opened):
    mouse(opened, 'Moved', 0, 0.25, 0.5)
    opened.wait('reportPlots[1].cursor.idx === 50')
    assert values(opened, 0) == ['0.5', f'{np.sin(0.5):.5g}', '0.05']
    assert values(opened, 1) == ['0.5', '0.5', '-0.5']


@pytest.mark.slow
def test_the_nearest_point_is_named_of_several_at_one_place(opened):
    for y, name, shown in ((0.02, 'b', ['-', '4']), (0.98, 'c', ['2', '-'])):
        mouse(opened, 'Moved', 2, 0.98, y)
        opened.wait(f"reportPlots[2].root.textContent.includes('1, {name}')")
        assert values(opened, 2) == [f'1, {name}', *shown]


@pytest.mark.slow
def test_a_drag_zooms_all_plots_over_time_and_a_double_click_shows_all(opened):
    def ranges(axis):
        return opened.evaluate(
            f'reportPlots.map(each => [each.scales.{axis}.min, each.scales.{axis}.max])'
        )

    whole, heights, left = ranges('x'), ranges('y'), {'button': 'left', 'clickCount': 1}
    assert whole[0] == whole[1] == [0.0, 2.0] and heights[0][1] >= 3.0  # its limit is seen
    mouse(opened, 'Moved', 0, 0.5, 0.5)
    mouse(opened, 'Pressed', 0, 0.5, 0.5, **left)
    mouse(opened, 'Moved', 0, 0.75, 0.5, button='left', buttons=1)
    mouse(opened, 'Released', 0, 0.75, 0.5, **left)
    opened.wait('reportPlots[1].scales.x.min > 0.5')
    zoomed = ranges('x')
    for k in (0, 1):
        assert zoomed[k] == pytest.approx([1.0, 1.5], abs=0.02)
    assert zoomed[2] == whole[2] and ranges('y')[0][1] < 1.5
    for count in (1, 2):
        again = {'button': 'left', 'clickCount': count}
        mouse(opened, 'Pressed', 0, 0.5, 0.5, **again)
        mouse(opened, 'Released', 0, 0.5, 0.5, **again)
    opened.wait('reportPlots[1].scales.x.min === 0')
    assert ranges('x') == whole and ranges('y') == heights


@pytest.mark.slow
def test_a_click_on_a_name_hides_its_curve(opened):
    press = "reportPlots[0].root.querySelectorAll('.u-series th')[1].click()"
    shown = 'reportPlots.map(each => each.series[1].show)'
    opened.evaluate(press)
    assert opened.evaluate(shown) == [False, False, True]
    opened.evaluate(press)
    assert opened.evaluate(shown) == [True, True, True]


@pytest.mark.slow
def test_a_dark_page_has_light_text(opened):
    def brightness():
        dark = "['color', 'backgroundColor'].map(x => getComputedStyle(document.body)[x])"
        return [sum(map(int, re.findall(r'\d+', each))) for each in opened.evaluate(dark)]

    text, back = brightness()
    assert text < back
    media = [{'name': 'prefers-color-scheme', 'value': 'dark'}]
    opened.call('Emulation.setEmulatedMedia', features=media)
    text, back = brightness()
    opened.call('Emulation.setEmulatedMedia', features=[])
    assert text > back


@pytest.mark.slow
def test_the_legend_has_the_colors_of_the_color_scheme(opened):
    markers = """[...reportPlots[2].root.querySelectorAll('.u-marker')].slice(1)
        .map(each => getComputedStyle(each).backgroundColor)"""
    named = """['pass', 'fail'].map(each => {
        document.body.style.outlineColor = `var(--${each})`;
        return getComputedStyle(document.body).outlineColor;
    })"""
    light = opened.evaluate(markers)
    assert light == opened.evaluate(named)
    media = [{'name': 'prefers-color-scheme', 'value': 'dark'}]
    opened.call('Emulation.setEmulatedMedia', features=media)
    dark, expected = opened.evaluate(markers), opened.evaluate(named)
    opened.call('Emulation.setEmulatedMedia', features=[])
    assert dark == expected != light


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
        '<style>p {}</style><p>error 0.10</p>\n<script>a</script>'
        '<table><tr><td>time [us]</td><td>7</td></tr>'
        f'<tr><td>k</td><td>1</td></tr></table><code>{"a" * 64}</code>'
    )

    def difference(one):
        return hil_pages.difference(hil_pages.lines_of(one), hil_pages.lines_of(page))

    same = page.replace('<td>7', '<td>9').replace('a' * 64, 'b' * 64).replace('>a<', '>b<')
    assert difference(same.replace('0.10', '0.1002')) == ''
    assert '0.2' in difference(page.replace('0.10', '0.2'))
    assert 'failure' in difference(page.replace('error', 'failure'))
    assert 'script' in difference(page.replace('<script>a</script>', ''))
    assert 'lines' in difference(page + '<tr>')
