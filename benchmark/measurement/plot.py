# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The plot of `one_robot.py`: times per state of each function, ours and the peer's."""

from __future__ import annotations

from typing import Any, Dict, List, Sequence, Tuple

from rbd_ros.plot_names import plot_name

INK, FAINT = '#1f2933', '#9aa5b1'
# Series in the order of drawing: key, label, color, marker.
SERIES = (
    ('theirs', 'Pinocchio, one call from Python', '#9aa5b1', 'o'),
    ('single', 'rbd_ros, one call from Python', '#1769aa', 'o'),
    ('batch', 'rbd_ros, per state of a batch, one core', '#e4572e', 'D'),
)
Row = Tuple[str, Dict[str, float], Dict[str, float]]


def plot_robot(facts: Dict[str, Any], path: str) -> None:
    """Plot the facts of `one_robot.measure` and write the picture to `path`."""
    rows = [
        (
            row['label'],
            {
                'theirs': row['single']['theirs_ns'],
                'single': row['single']['ours_ns'],
                'batch': row['batch_one_core']['ours_ns'],
            },
            {'single': row['single']['ratio'], 'batch': row['batch_one_core']['ratio']},
        )
        for row in facts['rows']
    ]
    robot = facts['robot']
    plot_groups(
        [(f'{plot_name(robot["name"])}, {robot["nv"]} degrees of freedom', rows)],
        path,
        f'batches of {facts["batch"]} states; {facts["machine"]["cpu"]}',
    )


def plot_groups(groups: Sequence[Tuple[str, List[Row]]], path: str, caption: str) -> None:
    """Plot rows of points on a common logarithmic axis of time, one panel per group.

    :param groups: title and rows of each; a row is a label, times by the keys of `SERIES` [ns],
        and our speed-up relative to the peer
    :param path: file to write
    :param caption: text below the panels
    :raises ValueError: if the file cannot be written
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, NullFormatter

    count = sum(len(rows) for _, rows in groups)
    height = 1.5 + 0.36 * count + 0.45 * len(groups)
    figure = Figure(figsize=(8.6, height), dpi=140, facecolor='white')
    FigureCanvasAgg(figure)
    panels = figure.subplots(
        len(groups),
        1,
        sharex=True,
        squeeze=False,
        gridspec_kw={'height_ratios': [len(rows) + 0.3 for _, rows in groups]},
    )[:, 0]
    handles: Dict[str, Any] = {}
    for axes, (title, rows) in zip(panels, groups):
        _draw_panel(axes, title, rows, handles)
    values = [t for _, rows in groups for _, times, _ in rows for t in times.values() if t]
    panels[0].set_xscale('log')
    panels[0].set_xlim(min(values) / 1.8, max(values) * 2.6)
    panels[-1].xaxis.set_major_formatter(FuncFormatter(_time_text))
    panels[-1].xaxis.set_minor_formatter(NullFormatter())
    panels[-1].set_xlabel('time per state (logarithmic; further left is faster)', color=INK)
    figure.legend(
        handles.values(),
        handles.keys(),
        loc='upper left',
        ncol=len(handles),
        frameon=False,
        bbox_to_anchor=(0.01, 1.0),
        fontsize=9,
        labelcolor=INK,
        handletextpad=0.2,
    )
    figure.text(0.99, 0.25 / height, caption, ha='right', va='bottom', fontsize=7.5, color=FAINT)
    figure.subplots_adjust(
        left=0.235,
        right=0.985,
        top=1.0 - 0.72 / height,
        bottom=0.88 / height,
        hspace=0.55 * len(groups) / max(count, 1) * 1.6,
    )
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise ValueError(f'the plot cannot be written: {error}') from None


def _draw_panel(axes: Any, title: str, rows: List[Row], handles: Dict[str, Any]) -> None:
    for y, (_, times, factors) in enumerate(rows):
        known = {key: value for key, value in times.items() if value}
        axes.plot(
            [min(known.values()), max(known.values())],
            [y, y],
            color='#dde3ea',
            lw=2.2,
            zorder=1,
            solid_capstyle='round',
        )
        for key, label, color, marker in SERIES:
            if key in known:
                handles[label] = axes.plot(
                    known[key],
                    y,
                    marker,
                    color=color,
                    ms=7,
                    mec='white',
                    mew=0.8,
                    ls='none',
                    zorder=3,
                )[0]
        ours = sorted(
            (known[key], key, color)
            for key, _, color, _ in SERIES[1:]
            if key in known and factors.get(key)
        )
        close = len(ours) == 2 and ours[1][0] < 1.35 * ours[0][0]
        for (value, key, color), side in zip(ours, ('right', 'left')):
            axes.annotate(
                f'{_factor(factors[key])}x',
                (value, y),
                ({'right': 2, 'left': -2}[side] if close else 0, 5.5),
                textcoords='offset points',
                ha=side if close else 'center',
                fontsize=8,
                color=color,
            )
    axes.set_ylim(len(rows) - 0.5, -0.75)
    axes.set_yticks(range(len(rows)), [label for label, *_ in rows], fontsize=9, color=INK)
    axes.set_title(title, loc='left', fontsize=10, fontweight='bold', color=INK, pad=4)
    axes.grid(axis='x', color='#eef1f4', zorder=0)
    axes.tick_params(axis='both', which='both', length=0, colors=INK)
    for side in ('top', 'right', 'left', 'bottom'):
        axes.spines[side].set_visible(False)


def _factor(value: float) -> str:
    return f'{value:.0f}' if value >= 9.95 else f'{value:.1f}'


def _time_text(value: float, _: object) -> str:
    return f'{value / 1e3:g} us' if value >= 1e3 else f'{value:g} ns'
