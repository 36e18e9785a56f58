# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Reports of a run: one self-contained HTML page, JUnit XML, and numbers as JSON."""

from __future__ import annotations

from html import escape
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
from rbd_ros.hil.report.report_page import Curve, document, histogram, Line, plot
from rbd_ros.hil.report.verdict import judge, row, Verdict
from rbd_ros.hil.scenario.scenario import Scenario

PAGE, JUNIT, NUMBERS = 'report.html', 'junit.xml', 'result.json'
MAX_POINTS = 2000  # points of a plotted line


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
        parts += [f'<h2>{escape(title)}</h2>\n{each}' for title, each in _plots(scenario, run)]
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
    model = getattr(scenario.robot, 'model', None)  # a plant may have no description
    units = model.position_units if model else ('rad or m',) * scenario.robot.nq
    names = scenario.robot.joint_names
    joints = [f'{name} [{unit}]' for name, unit in zip(names, units)]
    unit = ', '.join(dict.fromkeys(units))
    effort = np.array(scenario.robot.effort_limits)
    part = np.where(np.isfinite(effort) & (effort > 0.0), run.torque / effort, np.nan)
    limits, error = scenario.limits, f'error [{unit}]'
    plots = [
        (
            'Position error',
            _lines(run, error, run.error, joints, limits.tracking_error),
        ),
        (
            'Torque, as a fraction of the limit',
            _lines(run, 'torque / limit', part, names, limits.torque),
        ),
        ('Positions', _lines(run, f'position [{unit}]', run.q, joints, None)),
    ]
    latencies = ''.join(
        histogram(each.title, each.scale * _without_tail(each.values), 40)
        for each in series_of(run)
    )
    text = '<p class="hint">The last bins hold all values above the 99.5th percentile.</p>'
    title = 'Histograms of latency and jitter'
    plots.append((title, f'{text}<div class="row">{latencies}</div>'))
    if run.answer_times.size:
        plots.append(('Real time from state to command, for each cycle', _cycles(run)))
    return plots


def _without_tail(values: FloatArray) -> FloatArray:
    """Return the values, those above their 99.5th percentile cut to it."""
    return np.minimum(values, np.percentile(values, 99.5)) if values.size else values


def _lines(
    run: Run, label: str, values: FloatArray, names: Sequence[str], limit: Optional[float]
) -> str:
    thin = max(1, len(run.time) // MAX_POINTS)
    curves = [Curve(name, values[::thin, j]) for j, name in enumerate(names)]
    return plot('time [s]', run.time[::thin], label, curves, lines=lines_of(run.changes, limit))


def lines_of(changes: Sequence[FaultChange], limit: Optional[float] = None) -> List[Line]:
    """Return lines with the names of faults that begin or end, and at a limit on both sides.

    :param changes: faults that begin or end
    :param limit: limit of the absolute value; None: none
    """
    names: Dict[float, List[str]] = {}
    for change in changes:
        text = change.fault.kind + ' ends' * (not change.began)
        names.setdefault(change.time, []).append(text)
    lines = [Line('x', t, ', '.join(dict.fromkeys(each)), True) for t, each in names.items()]
    if limit is not None:
        lines += [Line('y', limit, 'limit'), Line('y', -limit, '')]
    return lines


def _cycles(run: Run) -> str:
    """Return the plot of the real time of each answer; groups of many show their maximum."""
    values = 1e6 * decimated_maxima(run.answer_times, MAX_POINTS)
    cycles = np.linspace(1, len(run.answer_times), len(values))
    curves = [Curve('real time [us]', values)]
    return plot('cycle', cycles, 'real time [us]', curves, y_scale='log', height=210)


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


def decimated_maxima(values: FloatArray, count: int) -> FloatArray:
    """Return at most `count` values, each the maximum of a group of neighbors.

    :param values: (N,)
    :param count: maximum number of values
    """
    if len(values) <= count:
        return values
    size = -(-len(values) // count)
    return np.array([values[k : k + size].max() for k in range(0, len(values), size)])
