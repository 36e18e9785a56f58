# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Plot of the contact benchmark: error against processor time, with the Pareto front."""

from __future__ import annotations

import math
import re
import textwrap
from typing import Any, Dict, List, Sequence, Tuple

INK, FAINT = '#1f2933', '#9aa5b1'
#: Scenes with several time steps, and the plotted error.
FRONT: Dict[str, int] = {
    'dragged': 0, 'tipped': 0, 'rolling_xy': 0, 'bouncing': 0, 'anymal_energy': 0, 'standing': 1,
}  # fmt: skip
STYLES: Dict[str, Tuple[str, str]] = {
    'rbd_ros': ('#1769aa', 'o'),
    'MuJoCo': ('#e4572e', 's'),
    'MuJoCo, hard': ('#f3a712', 's'),
    'Drake': ('#2a9d60', '^'),
    'Bullet': ('#8e5ea2', 'D'),
    'Pinocchio': ('#6b7785', 'v'),
    'Pinocchio, PGS': ('#b3bcc6', 'v'),
}
_LEAST = 1e-16  # errors below are plotted here
_DASHES = {'': '-', 'midpoint': '-.', 'rk4': '--', 'event-driven': ':'}


def points(facts: Dict[str, Any], scene: str) -> Dict[Tuple[str, str], List[tuple]]:
    """Return processor time per simulated second [s] and error, by engine and variant."""
    found: Dict[Tuple[str, str], List[tuple]] = {}
    for result in facts['results']:
        if result['scene'] != scene or result['skipped']:
            continue
        errors = result['errors']
        error = errors[FRONT.get(scene, 0)] if errors else None
        if error is None or not math.isfinite(error):
            continue
        key = result['engine'], result['variant']
        time = result['step'] / result['timestep']
        found.setdefault(key, []).append((time, max(error, _LEAST), result['timestep']))
    return {key: sorted(each) for key, each in found.items()}


def pareto(points: Sequence[tuple]) -> List[tuple]:
    """Return the points that no other exceeds in both speed and accuracy, fastest first."""
    front: List[tuple] = []
    for point in sorted(points):
        if not front or point[1] < front[-1][1]:
            front.append(point)
    return front


def plot(facts: Dict[str, Any], path: str, names: Sequence[str] = tuple(FRONT)) -> None:
    """Plot measured scenes.

    :param names: the scenes; those without measurements are omitted
    :raises ValueError: if there are none, or the file cannot be written
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    scenes = [name for name in names if name in facts['scenes'] and points(facts, name)]
    if not scenes:
        raise ValueError(f'there is nothing to plot: none of {", ".join(names)} was measured')
    across = min(3 if len(scenes) <= 9 else 5, len(scenes))
    down = -(-len(scenes) // across)
    figure = Figure(figsize=(3.7 * across, 3.1 * down + 0.7), dpi=140, facecolor='white')
    FigureCanvasAgg(figure)
    handles: Dict[str, Any] = {}
    for k, name in enumerate(scenes):
        _panel(figure.add_subplot(down, across, k + 1), facts, name, handles)
    figure.legend(
        handles.values(),
        handles.keys(),
        loc='upper center',
        ncol=len(handles),
        frameon=False,
        fontsize=8.5,
        labelcolor=INK,
    )
    figure.text(
        0.99, 0.005, f'{facts["machine"]["cpu"]}; shaded: no engine is both faster and more exact',
        ha='right', va='bottom', fontsize=7, color=FAINT,
    )  # fmt: skip
    # The legend has the height of a line, for any number of panels.
    figure.tight_layout(rect=(0.0, 0.04 / down, 1.0, 1.0 - 0.12 / down))
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise ValueError(f'the plot cannot be written: {error}') from None


def _panel(axes: Any, facts: Dict[str, Any], name: str, handles: Dict[str, Any]) -> None:
    from matplotlib.ticker import NullFormatter

    found = points(facts, name)
    front = pareto([point for each in found.values() for point in each])
    axes.set_xscale('log')
    axes.set_yscale('log')
    x, y = [point[0] for point in front], [point[1] for point in front]
    axes.step(x, y, where='post', color='#dde3ea', lw=7, zorder=1, solid_capstyle='round')
    for (engine, variant), each in found.items():
        color, marker = STYLES[engine]
        handle = axes.plot(
            [point[0] for point in each],
            [point[1] for point in each],
            _DASHES[variant],
            color=color,
            marker=marker,
            ms=4.5,
            mec='white',
            mew=0.6,
            lw=1.1,
            zorder=3,
        )[0]
        if not variant:
            handles[engine] = handle
    scene = facts['scenes'][name]
    title = scene['title']
    if not title.startswith('The same'):
        title = re.split('[:,]', title)[0]
    axes.set_title(textwrap.fill(title, 42), fontsize=8.5, color=INK, loc='left')
    what = textwrap.fill(scene['errors'][FRONT.get(name, 0)]['what'], 36)
    axes.set_ylabel(what, fontsize=7, color=INK)
    axes.set_xlabel('processor time of a simulated second [s]', fontsize=7, color=INK)
    axes.tick_params(which='both', labelsize=7, colors=INK)
    for axis, limits, set_limits in (
        (axes.xaxis, axes.get_xlim(), axes.set_xlim),
        (axes.yaxis, axes.get_ylim(), axes.set_ylim),
    ):
        # At least a decade, with a labeled power of ten; other labels would overlap.
        short = max(0.0, 1.1 - math.log10(limits[1] / limits[0]))
        set_limits(limits[0] * 10 ** (-0.5 * short), limits[1] * 10 ** (0.5 * short))
        axis.set_minor_formatter(NullFormatter())
    axes.grid(color='#eef1f4', zorder=0)
    for side in ('top', 'right'):
        axes.spines[side].set_visible(False)
