# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The page of a report: one HTML file that loads nothing, with plots that its script draws."""

from __future__ import annotations

import base64
from html import escape
import json
from pathlib import Path
from typing import List, NamedTuple, Sequence

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.viewer.page_parts import page_part

_HINT = (
    '<p class="hint">Plots: drag to zoom, double-click to see all again, click a name to hide its '
    'curve. <noscript>They need JavaScript.</noscript></p>'
)


class Curve(NamedTuple):
    """Values of a plot.

    :param name: name in the legend
    :param values: one for each x; without a point where it is not finite
    :param form: 'line', 'points' or 'bars'
    :param color: 'pass' or 'fail'; '' for the next color
    """

    name: str
    values: ArrayLike
    form: str = 'line'
    color: str = ''


class Line(NamedTuple):
    """A straight line in a plot.

    :param axis: the axis with its value, 'x' or 'y'
    :param at: the value
    :param name: name beside the line, '' for none
    :param fault: whether it is the time of a fault, not a limit
    """

    axis: str
    at: float
    name: str
    fault: bool = False


def plot(
    x_label: str,
    x: ArrayLike,
    y_label: str,
    curves: Sequence[Curve],
    *,
    lines: Sequence[Line] = (),
    segments: Sequence[Sequence[float]] = (),
    notes: Sequence[str] = (),
    y_scale: str = 'linear',
    height: int = 260,
) -> str:
    """Return the element of a plot.

    :param x_label: name and unit of x; plots over the same time are zoomed together
    :param x: increasing values, (N,)
    :param y_label: name and unit of y
    :param curves: curves over x
    :param lines: straight lines
    :param segments: segments of a boundary, each x, y, x, y
    :param notes: text for each x under the pointer; none if empty
    :param y_scale: 'linear', 'log', or 'count': logarithmic, with 0
    :param height: height [pixels]
    """
    facts = {
        'x_label': x_label,
        'x': _numbers(x, '<f8'),
        'y_label': y_label,
        'curves': [
            {**each._asdict(), 'name': _shown(each.name), 'values': _numbers(each.values, '<f4')}
            for each in curves
        ],
        'lines': [each._asdict() for each in lines],
        'segments': [list(map(float, each)) for each in segments],
        'notes': list(notes),
        'y_scale': y_scale,
        'height': height,
    }
    # A name must not close the element.
    text = json.dumps(facts, allow_nan=False).replace('<', '\\u003c')
    return f'<script type="application/json" class="plot">{text}</script>'


def passed_and_failed(values: ArrayLike, passed: ArrayLike) -> List[Curve]:
    """Return the points of runs that kept all limits, and of those that did not.

    :param values: a value of each run
    :param passed: whether each kept all limits
    """
    return [
        Curve(name, np.where(which, values, np.nan), 'points', color)
        for name, which, color in (
            ('limits kept', passed, 'pass'),
            ('not kept', np.logical_not(passed), 'fail'),
        )
    ]


def histogram(label: str, values: ArrayLike, bins: int, lines: Sequence[Line] = ()) -> str:
    """Return the element of a histogram.

    :param label: name and unit of the values
    :param values: finite values
    :param bins: number of bins
    :param lines: straight lines
    """
    values = np.asarray(values)
    low, high = 0.0, 0.0
    if values.size:
        low, high = float(values.min()), float(values.max())
    if high - low < max(1e-6 * abs(high), 1e-9):  # all are equal, except for rounding
        high = low + (0.01 * abs(low) if abs(low) > 1e-9 else 1.0)
    counts, edges = np.histogram(values, bins, (low, high))
    middles = 0.5 * (edges[1:] + edges[:-1])
    bars = Curve('count', counts, 'bars')
    return plot(label, middles, 'count', [bars], lines=lines, y_scale='count', height=210)


def _numbers(values: ArrayLike, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode('ascii')


def _shown(name: str) -> str:
    """Return a name of bounded length on one line."""
    text = ''.join(each if each.isprintable() else '?' for each in name)
    return text if len(text) <= 60 else f'{text[:57]}...'


def document(title: str, parts: Sequence[str]) -> str:
    """Return the self-contained HTML page of these parts.

    :param title: title of the page
    :param parts: HTML of the body, one element after another
    """
    body = '\n'.join(parts)
    first = body.find('<h2>')
    if 'class="plot"' in body and first >= 0:
        body = f'{body[:first]}{_HINT}\n{body[first:]}'
    folder = Path(__file__).parent
    style, script = (
        (folder / f'report_page.{kind}').read_text(encoding='utf-8') for kind in ('css', 'js')
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{escape(title)}</title><style>{page_part("uplot.css")}{style}</style></head>\n'
        f'<body>\n{body}\n<script>{page_part("uplot.js")}{script}</script></body></html>\n'
    )
