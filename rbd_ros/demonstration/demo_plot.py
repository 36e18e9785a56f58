# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Plot of the demo: desired and actual motion, its error, and the torques of each joint."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Mapping, Sequence, Tuple

import numpy as np

from rbd_ros.demonstration.experiment import Plan, Tracking
from rbd_ros.plot_names import plot_name

COLORS = ('#d1495b', '#edae49', '#00798c', '#6a4c93')
INK, FAINT = '#2b2d42', '#d9dce3'
FLOOR = 1e-6  # minimum displayed error [rad or m]
MAX_POINTS = 1500  # maximum number of points of a curve
PANEL_HEIGHTS = (2.2, 1.3, 1.4)
STYLE = {
    'font.size': 9,
    'axes.edgecolor': '#8d93a5',
    'axes.labelcolor': INK,
    'axes.linewidth': 0.7,
    'axes.spines.top': False,
    'axes.spines.right': False,
    'text.color': INK,
    'xtick.color': INK,
    'ytick.color': INK,
    'xtick.labelsize': 8,
    'ytick.labelsize': 8,
    'grid.color': FAINT,
    'grid.linewidth': 0.6,
}


def plot(
    path: Path,
    title: str,
    subtitle: str,
    plan: Plan,
    runs: Mapping[str, Tracking],
    units: Sequence[Tuple[str, str]],
    effort_limits: np.ndarray,
) -> None:
    """Write the plot as PNG.

    :param path: file to write
    :param title: heading
    :param subtitle: second line of the heading
    :param runs: results of its laws by key, in the order of the plan
    :param units: units of position and torque of each joint
    :param effort_limits: maximum torques, (n,) [N m or N]
    """
    import matplotlib

    matplotlib.use('Agg')
    from matplotlib import pyplot

    n = len(plan.joint_names)
    columns = min(n, 3 if n <= 6 else 4)
    rows = math.ceil(n / columns)
    with pyplot.rc_context(STYLE):
        figure = pyplot.figure(figsize=(1.0 + 4.4 * columns, 1.2 + 4.4 * rows))
        outer = figure.add_gridspec(
            rows,
            columns,
            left=0.8 / (1.0 + 4.4 * columns),
            right=1.0 - 0.2 / (1.0 + 4.4 * columns),
            top=1.0 - 1.35 / (1.2 + 4.4 * rows),
            bottom=0.5 / (1.2 + 4.4 * rows),
            wspace=0.2,
            hspace=0.22,
        )
        for j in range(n):
            inner = outer[j // columns, j % columns].subgridspec(
                3, 1, height_ratios=PANEL_HEIGHTS, hspace=0.14
            )
            axes = [figure.add_subplot(inner[k]) for k in range(3)]
            _draw_joint(axes, j, plan, runs, units[j], effort_limits[j])
            if j % columns == 0:
                for axis, label in zip(axes, ('position', 'error', 'torque')):
                    axis.set_ylabel(label)
                    axis.yaxis.set_label_coords(-0.13, 0.5)
        _same_decades(figure.axes[1::3])
        height = figure.get_figheight()
        figure.text(0.5, 1.0 - 0.3 / height, title, ha='center', va='center', fontsize=15)
        figure.text(0.5, 1.0 - 0.58 / height, subtitle, ha='center', va='center', fontsize=10.5)
        handles = figure.axes[0].get_lines()[: 1 + len(runs)]
        figure.legend(
            handles,
            [handle.get_label() for handle in handles],
            loc='center',
            bbox_to_anchor=(0.5, 1.0 - 0.87 / height),
            ncol=len(handles),
            frameon=False,
            fontsize=10,
            handlelength=2.4,
        )
        figure.savefig(path, dpi=110, facecolor='white')
        pyplot.close(figure)


def _draw_joint(
    axes: Sequence[Any],
    j: int,
    plan: Plan,
    runs: Mapping[str, Tracking],
    units: Tuple[str, str],
    limit: float,
) -> None:
    position, error, torque = axes
    scale, unit = (np.degrees(1.0), 'deg') if units[0] == 'rad' else (1e3, 'mm')
    first = next(iter(runs.values()))
    thin = slice(None, None, max(1, len(first.times) // MAX_POINTS))
    desired = scale * first.desired[thin, j]
    style = {'color': INK, 'lw': 1.3, 'dashes': (4, 3), 'zorder': 9}
    position.plot(first.times[thin], desired, label='desired', **style)
    for (k, tracking), law, color in zip(enumerate(runs.values()), plan.laws, COLORS):
        thin = slice(None, None, max(1, len(tracking.times) // MAX_POINTS))
        times = tracking.times[thin]
        width = 4.0 if k == len(runs) - 1 else 1.5
        position.plot(times, scale * tracking.q[thin, j], color=color, lw=width, label=law.title)
        size = np.maximum(np.abs(tracking.error[thin, j]), FLOOR)
        error.semilogy(times, scale * size, color=color, lw=1.0)
        torque.plot(times, tracking.effort[thin, j], color=color, lw=1.0)
    position.set_title(
        f'{plot_name(plan.joint_names[j])}  [{unit}, {units[1]}]',
        fontsize=9.5,
        loc='left',
        weight='bold',
    )
    _mark_limit(torque, limit)
    for axis in axes:
        axis.grid(visible=True)
        axis.margins(x=0)
        axis.tick_params(length=2)
    for axis in (position, error):
        axis.tick_params(labelbottom=False)
    torque.set_xlabel('time [s]', fontsize=8, labelpad=1)


def _same_decades(axes: Sequence[Any]) -> None:
    """Set a common scale for the errors of all joints, with at most six decades."""
    limits = np.log10([axis.get_ylim() for axis in axes])
    high = math.ceil(limits[:, 1].max())
    low = max(math.floor(limits[:, 0].min()), high - 6)
    for axis in axes:
        axis.set_ylim(10.0**low, 10.0**high)


def _mark_limit(axis: Any, limit: float) -> None:
    """Draw the effort limits as lines if they do not compress the rest."""
    low, high = axis.get_ylim()
    for value in (limit, -limit):
        if np.isfinite(value) and low - (high - low) / 3 < value < high + (high - low) / 3:
            axis.axhline(value, color=INK, lw=0.8, ls=':')
