# SPDX-License-Identifier: Apache-2.0
"""The page of a campaign: how the results are distributed, and which runs were worst."""

from __future__ import annotations

from html import escape
from typing import Any, List, Sequence

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.hil.campaign.campaign import Campaign, failed, number_of, TABLE, worst
from rbd_ros.hil.campaign.campaign_files import Row
from rbd_ros.hil.report.run_report import document, FAULT, figure_of, svg_of

CAMPAIGN_PAGE = 'campaign.html'
SHOWN = 'largest_error'  # what is plotted


def write_campaign(campaign: Campaign, rows: Sequence[Row]) -> None:
    """Write the page.

    :param rows: of all runs
    :raises ValueError: if it cannot be written
    """
    try:
        text = campaign_page(campaign, rows)
        (campaign.folder / CAMPAIGN_PAGE).write_text(text, encoding='utf-8')
    except OSError as error:
        raise ValueError(f'the report cannot be written: {error}') from None


def campaign_page(campaign: Campaign, rows: Sequence[Row]) -> str:
    """Return the HTML page, whole in itself."""
    name, bad = campaign.scenario.name, len(failed(rows))
    errors = _numbers(rows, SHOWN)
    parts = [
        f'<h1>{escape(name)}: <span class="{"fail" if bad else "pass"}">{len(rows) - bad} of '
        f'{len(rows)} runs kept all limits</span></h1>',
        f'<p>Seeds {campaign.seed(0)} to {campaign.seed(len(rows) - 1)}; all rows are in {TABLE}.'
        '</p>',
    ]
    good = errors[np.isfinite(errors)]
    if good.size:
        cells = ''.join(f'<td>{np.percentile(good, p):.4g}</td>' for p in (0, 50, 95, 99, 100))
        parts.append(
            '<h2>Maximum position error [rad, '
            'm]</h2><table><tr><th>minimum</th><th>median</th><th>95 %</th><th>99 '
            f'%</th><th>maximum</th></tr><tr>{cells}</tr></table>'
        )
        parts.append(_histogram(good, campaign.scenario.limits.tracking_error))
    for variation in campaign.variations:
        parts.append(f'<h2>By {escape(variation.kind)}</h2>')
        parts.append(_scatter(rows, variation.kind))
    parts.append(_worst(campaign, rows))
    return document(f'campaign: {name}', parts)


def _numbers(rows: Sequence[Row], name: str) -> FloatArray:
    """Return the numbers of a column, NaN where there is none, (runs,)."""
    found = (number_of(each, name) for each in rows)
    return np.array([np.nan if value is None else value for value in found], dtype=np.float64)


def _histogram(values: FloatArray, limit: Any) -> str:
    figure, (axes,) = figure_of(1, 2.6)
    # Values that differ by rounding alone leave no room for bins.
    low = float(values.min())
    top = max(float(values.max()), low + 1e-9 * max(1.0, abs(low)))
    axes.hist(values, bins=60, range=(low, top), color='#1769aa')
    if limit is not None:
        axes.axvline(limit, color=FAULT, lw=1.0, ls='--')
    axes.set_xlabel('maximum position error [rad, m]')
    axes.set_ylabel('runs')
    return svg_of(figure)


def _scatter(rows: Sequence[Row], name: str) -> str:
    figure, (axes,) = figure_of(1, 2.6)
    passed = np.array([each['passed'] == 'True' for each in rows])
    x, y = _numbers(rows, name), _numbers(rows, SHOWN)
    for which, color in ((passed, '#1769aa'), (~passed, FAULT)):
        axes.plot(x[which], y[which], '.', ms=4, color=color, rasterized=len(rows) > 2000)
    axes.set_xlabel(name.replace('_', ' '))
    axes.set_ylabel('largest error')
    return svg_of(figure)


def _worst(campaign: Campaign, rows: Sequence[Row]) -> str:
    names: List[str] = [
        'run', 'seed', *(each.kind for each in campaign.variations), 'passed', SHOWN, 'failure'
    ]  # fmt: skip
    head = ''.join(f'<th>{escape(name.replace("_", " "))}</th>' for name in names)
    lines = []
    for each in worst(rows):
        cells = ''.join(f'<td>{escape(_short(each[name]))}</td>' for name in names)
        lines.append(f'<tr>{cells}</tr>')
    return (
        f'<h2>The worst runs</h2><table><tr>{head}</tr>{"".join(lines)}</table><p>To repeat '
        'a run bitwise, give the command <code>--replay RUN</code> instead of '
        '<code>--seeds</code>.</p>'
    )


def _short(text: str) -> str:
    try:
        return text if text.isdigit() else f'{float(text):.5g}'
    except ValueError:
        return text
