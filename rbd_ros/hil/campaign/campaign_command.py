# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Campaign options of `rbd_ros hil`: --seeds, and --replay of one run."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from html import escape
from itertools import combinations
from pathlib import Path
import re
import sys
from typing import List, Optional, Sequence, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.hil.campaign.campaign import Campaign, failed, number_of, run_folder, TABLE, worst
from rbd_ros.hil.campaign.campaign_files import check_table, Row, write_table
from rbd_ros.hil.campaign.pass_boundary import pass_boundary
from rbd_ros.hil.campaign.variation import read_variations, Variation
from rbd_ros.hil.faults.faults import FAULT_KINDS
from rbd_ros.hil.report.report_page import document, histogram, Line, passed_and_failed, plot
from rbd_ros.hil.report.run_report import reported
from rbd_ros.hil.scenario.controller_entry import IsolatedRun

CAMPAIGN_PAGE = 'campaign.html'
SHOWN, ERROR = 'largest_error', 'maximum position error [rad, m]'  # plotted value
MAX_DRAWN = 10_000  # points of a plot


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
    errors, limit = _numbers(rows, SHOWN), campaign.scenario.limits.tracking_error
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
        parts.append(_histogram(good, limit))
    drawn = rows[:: -(-len(rows) // MAX_DRAWN)]
    if len(drawn) < len(rows):
        parts.append(f'<p>{len(drawn)} of the runs, evenly spaced, are drawn below.</p>')
    for one, other in combinations(campaign.variations, 2):
        parts.append(f'<h2>By {escape(one.kind)} and {escape(other.kind)}</h2>')
        parts.append(_map(campaign, drawn, one, other))
    for variation in campaign.variations:
        parts.append(f'<h2>By {escape(variation.kind)}</h2>')
        parts.append(_scatter(drawn, variation, limit))
    parts.append(_worst(campaign, rows))
    return document(f'campaign: {name}', parts)


def _numbers(rows: Sequence[Row], name: str) -> FloatArray:
    """Return the numbers of a column, NaN if missing, (runs,)."""
    found = (number_of(each, name) for each in rows)
    return np.array([np.nan if value is None else value for value in found], dtype=np.float64)


def _label(variation: Variation) -> str:
    """Return the name of a variation, with its unit."""
    unit = re.search(r'\[.*\]', FAULT_KINDS[variation.kind].quantity)
    return f'{variation.kind.replace("_", " ")} {unit[0] if unit else ""}'.strip()


def _passed(rows: Sequence[Row]) -> List[bool]:
    return [each['passed'] == 'True' for each in rows]


def _histogram(values: FloatArray, limit: Optional[float]) -> str:
    lines = [] if limit is None else [Line('x', limit, 'limit')]
    return histogram(ERROR, values, 60, lines)


def _scatter(rows: Sequence[Row], variation: Variation, limit: Optional[float]) -> str:
    rows = sorted(rows, key=lambda each: number_of(each, variation.kind) or 0.0)
    return plot(
        _label(variation),
        _numbers(rows, variation.kind),
        ERROR,
        passed_and_failed(_numbers(rows, SHOWN), _passed(rows)),
        lines=[] if limit is None else [Line('y', limit, 'limit')],
        notes=[_note(each) for each in rows],
    )


def _map(campaign: Campaign, rows: Sequence[Row], one: Variation, other: Variation) -> str:
    """Return the plot of two varied values, with the boundary if no others vary."""
    rows = sorted(rows, key=lambda each: number_of(each, one.kind) or 0.0)
    x, y = _numbers(rows, one.kind), _numbers(rows, other.kind)
    segments = []
    if len(campaign.variations) == 2:
        segments = pass_boundary(x, y, [_excess(campaign, each) for each in rows])
    curves = passed_and_failed(y, _passed(rows))
    notes = [_note(each) for each in rows]
    text = '<p>The line, interpolated between the runs, separates passed from failed ones.</p>'
    drawn = plot(_label(one), x, _label(other), curves, segments=segments, notes=notes)
    return text * bool(segments) + drawn


def _note(values: Row) -> str:
    limits = values['exceeded'] and f'exceeds the limit of {values["exceeded"]}'
    return ': '.join(each for each in (f'run {values["run"]}', limits, values['failure']) if each)


def _excess(campaign: Campaign, values: Row) -> float:
    """Return the largest value relative to its limit, minus 1, within 1; above 0 for failures."""
    limits = asdict(campaign.scenario.limits)
    parts = [
        (number_of(values, name) or 0.0) / limits[name] - 1.0
        for name in ('tracking_error', 'torque', 'recovery_time')
        if limits[name]
    ]
    low, high = (-1.0, -1e-9) if values['passed'] == 'True' else (1e-9, 1.0)
    return high if values['failure'] else min(max([low, *parts]), high)


def _worst(campaign: Campaign, rows: Sequence[Row]) -> str:
    kinds = [each.kind for each in campaign.variations]
    names = ['run', 'seed', *kinds, 'passed', SHOWN, 'exceeded', 'failure']
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
