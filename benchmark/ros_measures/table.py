# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The table of benchmark/ros.py, for a terminal and for a document, and its plot."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List

from marked import row as text_row
from measurement.text_table import columns, number

from ros_measures.row import Row

INK, FAINT, GOOD, BAD = '#1f2933', '#9aa5b1', '#1769aa', '#e4572e'
HEAD = ('node', 'quantity', 'node', 'bare loop', 'ratio', 'middle half', 'goal', '')
DOCUMENT_HEAD = (
    'Node', 'Quantity', 'Node', 'Bare loop', 'Ratio', 'Middle half of the rounds', 'Goal',
    'Verdict',
)  # fmt: skip


def cells(row: Row) -> tuple:
    """Return the cells of a row of the table, as text."""
    low, high = row.ratio_quartiles or (None, None)
    return (
        row.node,
        row.quantity,
        *map(_amount, (row.value, row.bare)),
        '' if row.ratio is None else f'{row.ratio:.2f} x',
        '' if low is None else f'{low:.2f} .. {high:.2f}',
        row.goal,
        row.verdict,
    )


def _amount(value: Any) -> str:
    if value is None:
        return ''
    return str(value) if isinstance(value, int) else number(value)


def report(facts: Dict[str, Any], rows: List[Row]) -> Iterator[str]:
    """Yield the lines of the table for a terminal."""
    yield conditions(facts)
    yield ''
    yield from columns([HEAD, *map(cells, rows)], rule_after=1)
    yield ''
    good = sum(row.holds for row in rows)
    yield f'{good} of {len(rows)} goals are reached, {len(rows) - good} are not'


def markdown(facts: Dict[str, Any], rows: List[Row]) -> Iterator[str]:
    """Yield the lines of the table for a document."""
    rule = [':---' if k < 2 else '---:' for k in range(len(DOCUMENT_HEAD))]
    yield f'Measured on {conditions(facts)}.'
    yield ''
    for line in (DOCUMENT_HEAD, rule, *map(cells, rows)):
        yield text_row(line)


def conditions(facts: Dict[str, Any]) -> str:
    """Return the conditions of the measurement."""
    computer, made_by = facts['machine'], facts['versions']
    return (
        f'{computer["cpu"]}, {computer["cores"]} cores, {computer["system"]}, Python '
        f'{made_by["python"]}, NumPy {made_by["numpy"]}, {facts["middleware"]}, '
        f'{facts["rounds"]} rounds of {facts["seconds"]:g} s'
    )


def plot(facts: Dict[str, Any], rows: List[Row], path: str) -> None:
    """Plot the ratios to bare loops with their goals.

    :raises ValueError: if there are none, or the file cannot be written
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    shown = [row for row in rows if row.ratio is not None and row.goal.endswith(' x')][::-1]
    if not shown:
        raise ValueError('there is nothing to plot: no ratios were measured')
    figure = Figure(figsize=(8.6, 1.2 + 0.36 * len(shown)), dpi=140, facecolor='white')
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for k, row in enumerate(shown):
        low, high = row.ratio_quartiles
        color = GOOD if row.holds else BAD
        axes.plot([low, high], [k, k], color=color, linewidth=2.5, alpha=0.35)
        axes.plot(row.ratio, k, 'o', color=color, markersize=6)
        axes.plot([row.limit] * 2, [k - 0.35, k + 0.35], color=INK, linewidth=1.4)
    axes.set_yticks(range(len(shown)), [f'{row.node}: {row.quantity}' for row in shown])
    axes.tick_params(labelsize=8, colors=INK)
    axes.axvline(1.0, color=FAINT, linewidth=0.8, linestyle=':')
    axes.set_xlabel('ratio to the bare loop, median and middle half; black: goal', color=INK)
    for side in ('top', 'right'):
        axes.spines[side].set_visible(False)
    figure.text(0.99, 0.01, facts['machine']['cpu'], ha='right', fontsize=7, color=FAINT)
    figure.tight_layout()
    try:
        figure.savefig(path)
    except OSError as error:
        raise ValueError(f'cannot write {path}: {error}') from error
