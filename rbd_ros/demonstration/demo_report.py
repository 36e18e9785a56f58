# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tables of the demo: tracking errors, torques, and times of the loop."""

from __future__ import annotations

from typing import List, Mapping, Optional, Sequence, Tuple

import numpy as np

from rbd_ros.demonstration.experiment import Plan, Timing, Tracking

PERCENTILES = (50.0, 90.0, 99.0, 99.9)


def ratio(baseline: Tracking, tracking: Tracking) -> float:
    """Return the ratio of the baseline's overall error to that of a run."""
    return baseline.overall / tracking.overall if tracking.overall > 0.0 else np.inf


def report(
    plan: Plan,
    runs: Mapping[str, Tracking],
    units: Sequence[Tuple[str, str]],
    effort_limits: np.ndarray,
    timing: Optional[Timing],
) -> str:
    """Return all tables as text.

    :param runs: results of its laws by key, in the order of the plan
    :param units: units of position and torque of each joint
    :param effort_limits: maximum torques, (n,) [N m or N]
    :param timing: times of the loop with the last law in real time; None: not measured
    """
    tables = [_errors(plan, runs, units), _torques(plan, runs, units, effort_limits)]
    return '\n\n'.join(tables + ([] if timing is None else [_loop(plan, timing)]))


def _errors(plan: Plan, runs: Mapping[str, Tracking], units: Sequence[Tuple[str, str]]) -> str:
    titles = [law.title for law in plan.laws]
    rows = [['', '', *(cell for title in titles for cell in (title, ''))]]
    rows.append(['tracking error', '', *(cell for _ in titles for cell in ('RMS', 'peak'))])
    for j, name in enumerate(plan.joint_names):
        row = [name, units[j][0]]
        for tracking in runs.values():
            row += [f'{tracking.rms[j]:.5f}', f'{tracking.peak[j]:.5f}']
        rows.append(row)
    row, times = (
        ['all joints, as a share of the swing', ''],
        ['times closer than feedback alone', ''],
    )
    first = next(iter(runs.values()))
    for tracking in runs.values():
        row += [f'{tracking.overall:.5f}', '']
        times += ['' if tracking is first else f'{ratio(first, tracking):.1f}', '']
    return _table([*rows, row, times], header=2)


def _torques(
    plan: Plan,
    runs: Mapping[str, Tracking],
    units: Sequence[Tuple[str, str]],
    effort_limits: np.ndarray,
) -> str:
    rows = [['peak torque', '', *(law.title for law in plan.laws), 'limit']]
    for j, name in enumerate(plan.joint_names):
        limit = f'{effort_limits[j]:.4g}' if np.isfinite(effort_limits[j]) else 'none'
        peaks = [f'{tracking.peak_effort[j]:.3f}' for tracking in runs.values()]
        rows.append([name, units[j][1], *peaks, limit])
    return _table(rows, header=1)


def _loop(plan: Plan, timing: Timing) -> str:
    rows = [
        ['real time, not judged', '', plan.laws[-1].title],
        ['real-time factor', '', f'{timing.real_time_factor:.3f}'],
        ['commands', 'Hz', f'{timing.rate:.1f}'],
        ['states', '', f'{timing.states}'],
        [
            'no command before the next state',
            '',
            f'{timing.missed} ({timing.missed / timing.states:.2%})',
        ],
        ['longest gap', 'ms', f'{1e3 * timing.longest_gap:.0f}'],
        ['number of lost states', '', f'{timing.lost_states}'],
    ]
    for percentile, value in zip(PERCENTILES, timing.latency_percentiles(PERCENTILES)):
        title = 'median' if percentile == 50.0 else f'{percentile:g} %'
        rows.append([f'state to command, {title}', 'us', f'{1e6 * value:.0f}'])
    busy = '\nThese times depend on the load of the machine. No figure above depends on them.'
    return _table(rows, header=1) + busy * timing.busy


def _table(rows: List[List[str]], header: int) -> str:
    """Return aligned columns: the first two to the left, numbers to the right."""
    # A title beside an empty cell spans both columns and does not widen the first.
    spans = [
        [bool(cell and k >= 2 and row[k + 1 : k + 2] == ['']) for k, cell in enumerate(row)]
        for row in rows
    ]
    widths = [
        max(len(row[k]) for row, span in zip(rows, spans) if not span[k])
        for k in range(len(rows[0]))
    ]
    for row, span in zip(rows, spans):
        for k, cell in enumerate(row):
            if span[k]:
                widths[k + 1] = max(widths[k + 1], len(cell) - widths[k] - 2)
    lines = []
    for row, span in zip(rows, spans):
        cells, k = [], 0
        while k < len(row):
            if span[k]:
                cells.append(row[k].rjust(widths[k] + 2 + widths[k + 1]))
                k += 2
                continue
            cells.append(row[k].ljust(widths[k]) if k < 2 else row[k].rjust(widths[k]))
            k += 1
        lines.append('  '.join(cells).rstrip())
    lines.insert(header, '-' * max(len(line) for line in lines))
    return '\n'.join(lines)
