# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Campaign options of `rbd_ros hil`: --seeds, and --replay of one run."""

from __future__ import annotations

import argparse
from html import escape
from pathlib import Path
import sys
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.hil.campaign.campaign import Campaign, failed, number_of, run_folder, TABLE, worst
from rbd_ros.hil.campaign.campaign_files import check_table, Row, write_table
from rbd_ros.hil.campaign.variation import read_variations
from rbd_ros.hil.report.run_report import document, FAULT, figure_of, reported, svg_of
from rbd_ros.hil.scenario.controller_entry import IsolatedRun

CAMPAIGN_PAGE = 'campaign.html'
SHOWN = 'largest_error'  # plotted value


def write_campaign(campaign: Campaign, rows: Sequence[Row]) -> None:
    """Write the result page.

    :param rows: rows of all runs
    :raises ValueError: if it cannot be written
    """
    try:
        text = campaign_page(campaign, rows)
        (campaign.folder / CAMPAIGN_PAGE).write_text(text, encoding='utf-8')
    except OSError as error:
        raise ValueError(f'the report cannot be written: {error}') from None


def campaign_page(campaign: Campaign, rows: Sequence[Row]) -> str:
    """Return the self-contained HTML page."""
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
    """Return the numbers of a column, NaN if missing, (runs,)."""
    found = (number_of(each, name) for each in rows)
    return np.array([np.nan if value is None else value for value in found], dtype=np.float64)


def _histogram(values: FloatArray, limit: Any) -> str:
    figure, (axes,) = figure_of(1, 2.6)
    # Values that differ by rounding only do not fit into bins.
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


MAX_RUNS = 10_000_000


def execute_campaign(
    arguments: argparse.Namespace, folder: Path, isolated: Optional[IsolatedRun]
) -> Tuple[int, str]:
    """Run a campaign, or repeat one of its runs.

    :param folder: folder of the report
    :param isolated: runs a scenario with a controller process, several in parallel
    :return: 0 if all limits were kept, or the repeated run is identical, otherwise 1; and a
        message
    :raises ValueError: for an invalid scenario, controller or argument
    """
    if arguments.seed is not None:
        raise ValueError(
            '--seed applies to one run only, since the seeds of a campaign begin with that of '
            'the file; leave it out'
        )
    variations = read_variations(arguments.vary)
    campaign = Campaign(arguments.scenario, folder, variations, isolated)
    if arguments.replay is not None:
        return _replay(campaign, arguments.replay, folder)
    count, jobs = arguments.seeds, arguments.jobs
    if not 1 <= count <= MAX_RUNS:
        raise ValueError(f'--seeds {count}: give 1 to {MAX_RUNS} runs')
    if not 1 <= jobs <= 1024:
        raise ValueError(f'--jobs {jobs}: give 1 to 1024 processes')
    table = None if arguments.table is None else Path(arguments.table)
    if table is not None:
        check_table(table)
    try:
        rows = campaign.execute(count, jobs, _print_progress, arguments.scheduler)
    except RuntimeError as error:
        raise ValueError(
            f'{error}; the finished runs are kept, and the same command continues with the others'
        ) from None
    finally:
        sys.stderr.write('\n')
    write_campaign(campaign, rows)
    if table is not None:
        write_table(table, rows)
    bad = len(failed(rows))
    text = (
        f'{campaign.scenario.name}: {count - bad} of {count} runs kept all limits\n'
        f'report: {folder / CAMPAIGN_PAGE}'
    )
    return (1 if bad else 0), text


def _print_progress(done: int, count: int) -> None:
    bar = '#' * (30 * done // count)
    sys.stderr.write(f'\r[{bar:30s}] {done} of {count}')
    sys.stderr.flush()


def _replay(campaign: Campaign, number: int, folder: Path) -> Tuple[int, str]:
    """Repeat one run of a campaign; return 1 if it differs."""
    rows = campaign.rows()
    if number not in rows:
        raise ValueError(f'--replay {number}: the campaign in {folder} has no such run')
    scenario, run = campaign.replay(number)
    same = rows[number]['digest'] == run.digest
    outcome = (
        'bitwise identical' if same else 'NOT the same run; check whether the code has changed'
    )
    _, text = reported(scenario, run, folder / run_folder(number))
    values = ', '.join(f'{name} {value:g}' for name, value in campaign.values(number).items())
    return 0 if same else 1, f'run {number} with {values or "its seed"}: {outcome}\n{text}'
