# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Dead time that a controller tolerates: the maximum additional delay that keeps all limits.

The search doubles and bisects, in whole time steps. Each try is a run of the scenario with the
same seed and delayed commands.
"""

from __future__ import annotations

from dataclasses import replace
from html import escape
import json
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from rbd_ros.hil.bench import Run
from rbd_ros.hil.faults.faults import Fault
from rbd_ros.hil.report.report_page import document, Line, passed_and_failed, plot
from rbd_ros.hil.report.run_report import plain
from rbd_ros.hil.report.verdict import failed_checks, judge, row, Verdict
from rbd_ros.hil.scenario.scenario import Scenario

PAGE, NUMBERS = 'dead_time.html', 'dead_time.json'
MAX_DEAD_TIME = 1.0  # upper bound of the search [s]

#: Runs a scenario.
Runner = Callable[[Scenario], Run]


class Try(NamedTuple):
    """One run.

    :param dead_time: delay of commands in addition to the scenario's [s]
    :param verdict: whether the limits were kept
    :param numbers: row of the run
    """

    dead_time: float
    verdict: Verdict
    numbers: Dict[str, Any]


class DeadTime(NamedTuple):
    """Result of the search.

    :param tolerated: maximum dead time that keeps all limits [s]; None: not even zero
    :param resolution: difference to the next larger try [s]
    :param broken: whether a larger try exceeds a limit; otherwise more may be tolerated
    :param tries: all runs, ordered by dead time
    """

    tolerated: Optional[float]
    resolution: float
    broken: bool
    tries: Tuple[Try, ...]


def delayed(faults: Sequence[Fault], seconds: float) -> Tuple[Fault, ...]:
    """Return the faults with all commands delayed by a further time.

    >>> from rbd_ros.hil import Fault
    >>> from rbd_ros.hil.dead_time import delayed
    >>> for each in delayed([Fault('latency', 0.01, start_time=2.0)], 0.005):
    ...     print(each, 'from', each.start_time)
    latency 0.005 of commands from 0.0
    latency 0.01 of states from 2.0
    latency 0.015 of commands from 2.0
    """
    if seconds == 0.0:
        return tuple(faults)
    # Of several faults of a channel, the last active one counts.
    result = [Fault('latency', seconds, channel='command')]
    for each in faults:
        if each.kind != 'latency' or each.channel == 'state':
            result.append(each)
            continue
        if each.channel == 'both':
            result.append(replace(each, channel='state'))
        result.append(replace(each, channel='command', value=each.value + seconds))
    return tuple(result)


def find_dead_time(
    scenario: Scenario, run: Runner, progress: Callable[[Try], None] = lambda _: None
) -> DeadTime:
    """Find the dead time that the controller of a scenario tolerates.

    It is exact to a time step if the result is monotonic in the delay; the page shows all tries.

    :param scenario: the scenario, with at least one limit
    :param run: runs a scenario, with the same seed each time
    :param progress: called with each try
    """
    tries: List[Try] = []

    def keeps(steps: int) -> bool:
        seconds = round(steps * scenario.step, 9)
        changed = replace(scenario, faults=delayed(scenario.faults, seconds))
        done = run(changed)
        tries.append(Try(seconds, judge(changed, done), row(changed, done)))
        progress(tries[-1])
        return tries[-1].verdict.passed

    good, bad, most = 0, 1, max(1, int(min(MAX_DEAD_TIME, scenario.duration) / scenario.step))
    found: Optional[float] = None
    broken = not keeps(0)
    if not broken:
        while good < most and not broken:
            bad = min(max(1, 2 * good), most)
            broken = not keeps(bad)
            good = good if broken else bad
        while broken and bad - good > 1:
            middle = (good + bad) // 2
            if keeps(middle):
                good = middle
            else:
                bad = middle
        found = round(good * scenario.step, 9)
    return DeadTime(found, scenario.step, broken, tuple(sorted(tries, key=lambda e: e.dead_time)))


# -- report ---------------------------------------------------------------------------------------


def summary(scenario: Scenario, found: DeadTime) -> str:
    """Return the result as text."""
    return f'{scenario.name}: {_sentence(found)}' + ''.join(
        f'\n  beyond: {each}' for each in _exceeded_limits(found)
    )


def _sentence(found: DeadTime) -> str:
    if found.tolerated is None:
        return 'the limits are exceeded even without additional dead time'
    tolerance = f'{_milliseconds(found.tolerated)} ms'
    if not found.broken:
        return (
            f'tolerates an additional dead time of {tolerance} or more; longer dead times were '
            'not tested'
        )
    step = f'{_milliseconds(found.resolution)} ms'
    return f'tolerates an additional dead time of {tolerance} (resolution {step})'


def _milliseconds(seconds: float) -> str:
    return f'{1e3 * seconds:g}'


def _exceeded_limits(found: DeadTime) -> List[str]:
    """Return the failures at the smallest dead time that exceeds a limit."""
    least = next((each for each in found.tries if not each.verdict.passed), None)
    if least is None:
        return []
    words = [
        f'{each.name} {each.value:.4g}, allowed {each.limit:g} {each.unit} ({each.where})'
        for each in failed_checks(least.verdict)
    ]
    return words + [least.verdict.failure] * bool(least.verdict.failure)


def write_dead_time(scenario: Scenario, found: DeadTime, folder: Path) -> None:
    """Write `dead_time.html` and `dead_time.json`.

    :raises ValueError: if they cannot be written
    """
    numbers = {
        'scenario': scenario.name,
        'dead_time': found.tolerated,
        'resolution': found.resolution,
        'limit_found': found.broken,
        'tries': [{'dead_time': each.dead_time, **plain(each.numbers)} for each in found.tries],
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / NUMBERS).write_text(json.dumps(numbers, indent=2) + '\n', encoding='utf-8')
        (folder / PAGE).write_text(page(scenario, found), encoding='utf-8')
    except OSError as error:
        raise ValueError(f'the report cannot be written: {error}') from None


def page(scenario: Scenario, found: DeadTime) -> str:
    """Return the self-contained HTML page."""
    word = 'fail' if found.tolerated is None else 'pass'
    names = [each.name for each in found.tries[0].verdict.checks]
    heads = ''.join(f'<th>{escape(name)}</th>' for name in ('dead time [ms]', 'limits', *names))
    lines = []
    for each in found.tries:
        kept = each.verdict.passed
        cells = [
            f'<td>{_milliseconds(each.dead_time)}</td>',
            f'<td class="{"pass" if kept else "fail"}">'
            f'{"kept" if kept else "not kept"} {escape(each.verdict.failure)}</td>',
            *(f'<td>{check.value:.4g}</td>' for check in each.verdict.checks),
        ]
        lines.append(f'<tr>{"".join(cells)}</tr>')
    beyond = ''.join(f'<li>{escape(each)}</li>' for each in _exceeded_limits(found))
    parts = [
        f'<h1>{escape(scenario.name)}: '
        f'<span class="{word}">{escape(_sentence(found))}</span></h1>',
        '<p>The dead time delays commands in addition to the delays of the scenario.</p>',
        f'<h2>Verdict against dead time</h2>{_plot(scenario, found)}',
        f'<p>At the minimum dead time that exceeds a limit:</p><ul>{beyond}</ul>'
        if beyond
        else '',
        f'<h2>All runs</h2><table><tr>{heads}</tr>{"".join(lines)}</table>',
    ]
    return document(f'dead time: {scenario.name}', parts)


def _plot(scenario: Scenario, found: DeadTime) -> str:
    tries = sorted(found.tries, key=lambda each: each.dead_time)
    # Zero cannot be shown on a logarithmic axis.
    errors = [max(each.numbers['largest_error'], 1e-12) for each in tries]
    lines = []
    if found.tolerated is not None:
        lines.append(Line('x', 1e3 * found.tolerated, 'tolerated'))
    if scenario.limits.tracking_error is not None:
        lines.append(Line('y', scenario.limits.tracking_error, 'limit'))
    return plot(
        'additional dead time of commands [ms]',
        [1e3 * each.dead_time for each in tries],
        'maximum position error [rad, m]',
        passed_and_failed(errors, [each.verdict.passed for each in tries]),
        lines=lines,
        y_scale='log',
    )
