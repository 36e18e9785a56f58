# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Reports of the bench in a real browser: they draw their plots, and load nothing."""

import io

from matplotlib import image
import numpy as np
import pytest
from support import browser, hil_pages, outside

pytestmark = pytest.mark.slow

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


@pytest.fixture(scope='module')
def page(tmp_path_factory):
    line = outside.browser_problem()
    if line is not None:
        pytest.skip(line)
    with browser.browser(tmp_path_factory.mktemp('profile')) as started:
        yield started


@pytest.mark.parametrize('name', hil_pages.PAGES)
def test_a_report_draws_its_plots_and_loads_nothing(name, page, tmp_path):
    path = tmp_path / 'page.html'
    path.write_text(hil_pages.make(name, tmp_path / 'made'), encoding='utf-8')
    page.requests.clear()
    page.open(path.as_uri(), "document.readyState === 'complete'")
    assert page.evaluate("document.querySelectorAll('svg').length") == PLOTS[name]
    assert page.evaluate(EMPTY) == 0
    title = page.evaluate("document.querySelector('h1').innerText")
    assert title and title.split(':')[0] in page.evaluate('document.title')
    # Lines in color are seen on it, not only in its text.
    pixels = image.imread(io.BytesIO(page.whole_page(hil_pages.WIDTH)), format='png')[..., :3]
    colored = np.ptp(pixels, axis=-1) > 0.3
    assert colored.sum() > 1000 and (pixels.min(axis=-1) > 0.99).mean() > 0.5
    # Nothing is wider than a window, so that nobody has to scroll sideways.
    assert page.evaluate('document.documentElement.scrollWidth') <= hil_pages.WIDTH
    assert page.requests == [path.as_uri()] and page.complaints == []
