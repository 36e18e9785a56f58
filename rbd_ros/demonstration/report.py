"""Tables of the demo: how close the arm tracked, with which torques, how regular the loop was."""

from __future__ import annotations

from typing import List, Mapping, Sequence, Tuple

import numpy as np

from rbd_ros.demonstration.experiment import Plan, Tracking

PERCENTILES = (50.0, 90.0, 99.0, 99.9)


def ratio(baseline: Tracking, tracking: Tracking) -> float:
    """How many times closer a run tracked than the baseline: the ratio of their overall errors."""
    return baseline.overall / tracking.overall if tracking.overall > 0.0 else np.inf


def report(
    plan: Plan,
    runs: Mapping[str, Tracking],
    units: Sequence[Tuple[str, str]],
    effort_limits: np.ndarray,
) -> str:
    """All tables as text.

    :param plan: the plan
    :param runs: results of its laws by key, in the order of the plan
    :param units: units of position and torque of each joint
    :param effort_limits: maximum torques, (n,) [N m or N]
    """
    return '\n\n'.join(
        [_errors(plan, runs, units), _torques(plan, runs, units, effort_limits), _loop(plan, runs)]
    )


def _errors(plan: Plan, runs: Mapping[str, Tracking], units: Sequence[Tuple[str, str]]) -> str:
    titles = [law.title for law in plan.laws]
    rows = [['', '', *(cell for title in titles for cell in (title, ''))]]
    rows.append(['tracking error', '', *(cell for _ in titles for cell in ('RMS', 'peak'))])
    for j, name in enumerate(plan.joint_names):
        row = [name, units[j][0]]
        for tracking in runs.values():
            row += [f'{tracking.rms[j]:.5f}', f'{tracking.peak[j]:.5f}']
        rows.append(row)
    row, times = ['overall, part of swing', ''], ['times closer than feedback alone', '']
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


def _loop(plan: Plan, runs: Mapping[str, Tracking]) -> str:
    rows = [['control loop', '', *(law.title for law in plan.laws)]]
    trackings = list(runs.values())
    rows.append(['real-time factor', '', *(f'{t.real_time_factor:g}' for t in trackings)])
    rows.append(['commands', 'Hz', *(f'{t.rate:.1f}' for t in trackings)])
    rows.append(['states', '', *(f'{t.states}' for t in trackings)])
    missed = (f'{t.missed} ({t.missed / t.states:.2%})' for t in trackings)
    rows.append(['no command before the next state', '', *missed])
    rows.append(['longest gap', 'ms', *(f'{1e3 * t.longest_gap:.0f}' for t in trackings)])
    rows.append(['states not recorded', '', *(f'{t.lost_states}' for t in trackings)])
    for percentile in PERCENTILES:
        values = [1e6 * t.latency_percentiles([percentile])[0] for t in trackings]
        title = 'median' if percentile == 50.0 else f'{percentile:g} %'
        rows.append([f'state to command, {title}', 'us', *(f'{v:.0f}' for v in values)])
    return _table(rows, header=1)


def _table(rows: List[List[str]], header: int) -> str:
    """Columns aligned: the first two to the left, numbers to the right."""
    # A title above an empty cell spans both columns: it does not widen the first.
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
