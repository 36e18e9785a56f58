# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Reports of a run: one self-contained HTML page, JUnit XML, and numbers as JSON."""

from __future__ import annotations

from html import escape
import io
import json
import math
from pathlib import Path
import re
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple
from xml.etree import ElementTree

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.hil.bench import Run
from rbd_ros.hil.faults.fault_injector import FaultChange
from rbd_ros.hil.report.verdict import judge, row, Verdict
from rbd_ros.hil.scenario.scenario import Scenario
from rbd_ros.plot_names import plot_name

PAGE, JUNIT, NUMBERS = 'report.html', 'junit.xml', 'result.json'
FAULT, FAINT, BLUE = '#e4572e', '#9aa5b1', '#1769aa'
MAX_POINTS = 2000  # points of a plotted line
LEGEND_ROWS = 16
FAULT_LABELS = 12  # names of faults in a plot

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1f2933; max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
td, th { border-bottom: 1px solid #d5dbe1; padding: .25rem .9rem .25rem 0; text-align: left; }
.pass { color: #1b7f3b; } .fail { color: #c0341d; }
svg { max-width: 100%; height: auto; }
code { overflow-wrap: anywhere; }
"""


def write_report(scenario: Scenario, run: Run, folder: Path) -> Verdict:
    """Write `report.html`, `junit.xml` and `result.json`.

    :param folder: created if it does not exist
    :return: the verdict
    :raises ValueError: if it cannot be written
    """
    verdict = judge(scenario, run)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # The page last, so that a failing plot does not lose the other files.
        (folder / JUNIT).write_text(junit(scenario, run, verdict), encoding='utf-8')
        numbers = {**plain(row(scenario, run)), 'timing': latency_numbers(run)}
        text = json.dumps(numbers, indent=2)
        (folder / NUMBERS).write_text(text + '\n', encoding='utf-8')
        (folder / PAGE).write_text(page(scenario, run, verdict), encoding='utf-8')
    except OSError as error:
        raise ValueError(f'the report cannot be written: {error}') from None
    return verdict


def plain(values: Dict[str, Any]) -> Dict[str, Any]:
    """Return the values for JSON, which has no infinity."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in values.items()
    }


def summary(scenario: Scenario, run: Run, verdict: Verdict) -> str:
    """Return the verdict as text."""
    lines = [f'{scenario.name}: {"PASS" if verdict.passed else "FAIL"}']
    if verdict.failure:
        lines.append(f'  ended after {len(run.time)} of {scenario.steps} steps: {verdict.failure}')
    for each in verdict.checks:
        mark = 'pass' if each.passed else 'FAIL'
        lines.append(
            f'  {mark}  {each.name}: {each.value:.4g}, allowed {each.limit:g} {each.unit} '
            f'({each.where})'
        )
    return '\n'.join(lines)


def junit(scenario: Scenario, run: Run, verdict: Verdict) -> str:
    """Return the JUnit XML: one test for a complete run, and one for each limit."""
    failed = sum(not each.passed for each in verdict.checks) + bool(verdict.failure)
    suite = ElementTree.Element(
        'testsuite',
        name=_printable(scenario.name),
        tests=str(1 + len(verdict.checks)),
        failures=str(failed),
        errors='0',
        time=f'{len(run.time) * scenario.step:.3f}',
    )

    def case(name: str, problem: str) -> None:
        each = ElementTree.SubElement(
            suite, 'testcase', classname=_printable(scenario.name), name=name
        )
        if problem:
            ElementTree.SubElement(each, 'failure', message=_printable(problem))

    case('runs to the end', verdict.failure)
    for check in verdict.checks:
        failure = (
            f'{check.value:.6g} {check.unit}, above the limit of {check.limit:g} {check.unit}, '
            f'{check.where}'
        )
        case(check.name, '' if check.passed else failure)
    return ElementTree.tostring(suite, encoding='unicode', xml_declaration=True) + '\n'


def _printable(text: str) -> str:
    """Return the text without characters that XML does not allow."""
    return re.sub('[^\t\n\r\x20-\ud7ff\ue000-\ufffd]', '?', text)


# -- the page -------------------------------------------------------------------------------------


def page(scenario: Scenario, run: Run, verdict: Verdict) -> str:
    """Return the self-contained HTML page.

    It is the same for the same run, except for the times of answers.
    """
    word = 'PASS' if verdict.passed else 'FAIL'
    parts = [
        f'<h1>{escape(scenario.name)}: <span class="{word.lower()}">{word}</span></h1>',
        f'<p>Robot {escape(scenario.robot.name)}, {len(run.time)} steps of '
        f'{scenario.step:g} s, seed {run.seed}. Controller: '
        f'<code>{escape(" ".join(scenario.controller.words))}</code>.</p>',
    ]
    if verdict.failure:
        parts.append(f'<p class="fail">{escape(verdict.failure)}</p>')
    parts.append(_checks(verdict))
    if len(run.time):
        parts += [f'<h2>{escape(title)}</h2>\n{svg}' for title, svg in _plots(scenario, run)]
    parts.append(_delays(run))
    changes = ''.join(f'<li>{escape(str(each))}</li>' for each in run.changes)
    parts.append(f'<h2>Faults</h2><ul>{changes or "<li>none</li>"}</ul>')
    counts = ''.join(
        f'<tr><td>{name.replace("_", " ")}</td><td>{count}</td></tr>'
        for name, count in run.counts.items()
    )
    parts.append(f'<h2>Messages</h2><table>{counts}</table>')
    parts.append(f'<p>Fingerprint of the motion: <code>{run.digest}</code></p>')
    return document(scenario.name, parts)


def document(title: str, parts: Sequence[str]) -> str:
    """Return the self-contained HTML page of these parts."""
    body = '\n'.join(parts)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<title>{escape(title)}</title><style>{STYLE}</style></head>\n'
        f'<body>\n{body}\n</body></html>\n'
    )


def _checks(verdict: Verdict) -> str:
    rows = ''.join(
        f'<tr><td>{escape(each.name)}</td><td class="{"pass" if each.passed else "fail"}">'
        f'{each.value:.4g}</td><td>{each.limit:g} {escape(each.unit)}</td>'
        f'<td>{escape(each.where)}</td></tr>'
        for each in verdict.checks
    )
    if not rows:
        return '<p>No limits are declared.</p>'
    return (
        f'<table><tr><th>limit</th><th>reached</th><th>allowed</th><th>where</th></tr>{rows}'
        '</table>'
    )


def _delays(run: Run) -> str:
    """Return the table of simulated delays and of the real times of answers."""
    rows = []
    for each in series_of(run):
        if each.values.size:
            percentiles = (
                each.scale * np.percentile(each.values, p) for p in PERCENTILES.values()
            )
            cells = ''.join(f'<td>{value:.3g}</td>' for value in percentiles)
            rows.append(f'<tr><td>{escape(each.title)}</td>{cells}</tr>')
    heads = ''.join(f'<th>{name}</th>' for name in PERCENTILES)
    return f'<h2>Latency</h2><table><tr><th></th>{heads}</tr>{"".join(rows)}</table>'


def _plots(scenario: Scenario, run: Run) -> List[Tuple[str, str]]:
    names = scenario.robot.joint_names
    thin = max(1, len(run.time) // MAX_POINTS)
    time = run.time[::thin]
    effort = np.array(scenario.robot.effort_limits)
    part = np.where(np.isfinite(effort) & (effort > 0.0), run.torque / effort, np.nan)
    limit = scenario.limits.tracking_error
    plots = [
        ('Position error [rad, m]', _lines(run, time, run.error[::thin], names, limit)),
        (
            'Torque, as a fraction of the limit',
            _lines(run, time, part[::thin], names, scenario.limits.torque),
        ),
        ('Positions [rad, m]', _lines(run, time, run.q[::thin], names, None)),
    ]
    plots.append(('Histograms of latency and jitter', _histograms(series_of(run))))
    if run.answer_times.size:
        plots.append(('Real time from state to command, for each cycle [us]', _cycles(run)))
    return plots


def _lines(
    run: Run, time: FloatArray, values: FloatArray, names: Sequence[str], limit: Any
) -> str:
    figure, (axes,) = figure_of(1, 2.8)
    mark_faults(axes, run.changes)
    for j, name in enumerate(names):
        axes.plot(time, values[:, j], lw=1.0, label=plot_name(name))
    if limit is not None:
        for side in (-limit, limit):
            axes.axhline(side, color=FAINT, lw=0.8, ls='--')
    axes.set_xlabel('time [s]')
    beside_axes(axes, len(names))
    return svg_of(figure)


def mark_faults(axes: Any, changes: Sequence[FaultChange]) -> None:
    """Draw a line where faults begin or end, with the names of those that begin.

    :param axes: axes of plots over time
    """
    names: Dict[float, List[str]] = {}
    for change in changes:
        axes.axvline(change.time, color=FAULT, lw=0.8, ls='-' if change.began else ':')
        if change.began:
            names.setdefault(change.time, []).append(change.fault.kind)
    # More would cover each other; the list below the plots has all.
    for time in sorted(names)[:FAULT_LABELS]:
        text = ', '.join(dict.fromkeys(names[time]))
        place = {'xy': (time, 1.0), 'xycoords': ('data', 'axes fraction')}
        around = {'xytext': (2, -2), 'textcoords': 'offset points', 'rotation': 90}
        axes.annotate(text, **place, **around, color=FAULT, fontsize=6, va='top')


def _histograms(series: Sequence[Series]) -> str:
    figure, all_axes = figure_of(2, 4.4, -(-len(series) // 2))
    for axes, each in zip(all_axes, series):
        values = each.scale * each.values
        if values.size:
            top = float(np.percentile(values, 99.5))
            low = float(values.min())
            # Values that differ by rounding only do not fit into bins.
            top = max(top, low + 1e-9 * max(1.0, abs(low)))
            axes.hist(np.clip(values, low, top), bins=40, range=(low, top), color=BLUE)
        axes.set_yscale('symlog')
        axes.set_xlabel(each.title, fontsize=8)
    return svg_of(figure)


def _cycles(run: Run) -> str:
    """Return the plot of the real time of each answer; groups of many show their maximum."""
    from matplotlib.ticker import LogLocator

    values = 1e6 * thinned_maxima(run.answer_times, MAX_POINTS)
    figure, (axes,) = figure_of(1, 2.2)
    axes.plot(np.linspace(1, len(run.answer_times), len(values)), values, lw=0.8, color=BLUE)
    axes.set_yscale('log')
    axes.yaxis.set_minor_locator(LogLocator(subs=(2.0, 5.0)))
    axes.yaxis.set_major_formatter('{x:g}')
    axes.yaxis.set_minor_formatter('{x:g}')
    axes.tick_params(which='both', labelsize=8)
    axes.set_xlabel('cycle')
    return svg_of(figure)


def figure_of(columns: int, height: float, rows: int = 1) -> Tuple[Any, List[Any]]:
    """Return a figure and its axes, row by row.

    :param height: total height [inches]
    """
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, height), layout='constrained')
    FigureCanvasSVG(figure)
    return figure, [figure.add_subplot(rows, columns, k + 1) for k in range(rows * columns)]


def beside_axes(axes: Any, count: int) -> None:
    """Put the legend to the right of the axes, clear of the curves.

    :param count: number of legend entries
    """
    axes.legend(
        loc='center left',
        bbox_to_anchor=(1.0, 0.5),
        fontsize=7,
        frameon=False,
        ncols=-(-count // LEGEND_ROWS),
    )


def svg_of(figure: Any) -> str:
    """Return the figure as an SVG element, deterministic for the same numbers.

    If it cannot be drawn, the page contains a message instead.
    """
    import matplotlib

    buffer = io.StringIO()
    try:
        with matplotlib.rc_context({'svg.hashsalt': 'rbd_ros'}):
            figure.savefig(buffer, format='svg', metadata={'Date': None, 'Creator': None})
    except Exception as error:  # matplotlib and its fonts may fail on a text
        reason = ' '.join(str(error).split())[:200] or type(error).__name__
        return f'<p class="fail">This plot cannot be drawn: {escape(reason)}</p>'
    text = buffer.getvalue()
    return text[text.index('<svg') :]


def reported(scenario: Scenario, run: Run, folder: Path) -> Tuple[int, str]:
    """Write the report of a run; return 0 if all limits were kept, otherwise 1, and a message."""
    verdict = write_report(scenario, run, folder)
    text = f'{summary(scenario, run, verdict)}\nreport: {folder / PAGE}'
    return 0 if verdict.passed else 1, text


#: Percentiles by the name of each.
PERCENTILES = {'median': 50.0, 'p90': 90.0, 'p99': 99.0, 'p99.9': 99.9, 'largest': 100.0}


class Series(NamedTuple):
    """Values of one quantity, one for each cycle.

    :param key: name in `result.json`
    :param title: name on the page, with the unit
    :param values: the values [s]
    :param scale: from seconds to the unit of the title
    """

    key: str
    title: str
    values: FloatArray
    scale: float


def series_of(run: Run) -> List[Series]:
    """Return the latencies of a run, and their jitter: the changes between cycles.

    >>> from rbd_ros.hil import Bench, read_scenario
    >>> from rbd_ros.hil.controllers import make_controller
    >>> from rbd_ros.hil.report.run_report import series_of
    >>> scenario = read_scenario('config/hil/slow_network.yaml')
    >>> for each in series_of(Bench(scenario).run(make_controller(scenario)))[:2]:
    ...     print(each.key, np.median(each.values))
    command_age 0.02
    command_age_jitter 0.0
    """
    age, answers = run.delay[np.isfinite(run.delay)], run.answer_times
    return [
        Series('command_age', 'age of the state behind the command in force [ms]', age, 1e3),
        Series('command_age_jitter', 'its change between steps [ms]', _jitter(age), 1e3),
        Series('state_to_command', 'real time from state to command [us]', answers, 1e6),
        Series(
            'state_to_command_jitter',
            'its change between cycles [us]',
            _jitter(answers),
            1e6,
        ),
    ]


def _jitter(values: FloatArray) -> FloatArray:
    return np.asarray(np.abs(np.diff(values)))


def latency_numbers(run: Run) -> Dict[str, Dict[str, Optional[float]]]:
    """Return the percentiles of all series by key, in seconds; None where there is no value."""
    return {
        each.key: {
            name: float(np.percentile(each.values, part)) if each.values.size else None
            for name, part in PERCENTILES.items()
        }
        for each in series_of(run)
    }


def thinned_maxima(values: FloatArray, count: int) -> FloatArray:
    """Return at most `count` values, each the maximum of a group of neighbors.

    :param values: (N,)
    :param count: maximum number of values
    """
    if len(values) <= count:
        return values
    size = -(-len(values) // count)
    return np.array([values[k : k + size].max() for k in range(0, len(values), size)])
