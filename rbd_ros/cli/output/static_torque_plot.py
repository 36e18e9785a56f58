# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The plot of `rbd_ros static-torque`: the used fraction of each joint's effort limit."""

from __future__ import annotations

from typing import Any, Dict

import numpy as np

from rbd_ros.control import StaticTorqueMargin
from rbd_ros.plot_names import plot_name

INK, FAINT, HELD, OVER = '#1f2933', '#9aa5b1', '#1769aa', '#e4572e'


def plot_static_torque(facts: Dict[str, Any], found: StaticTorqueMargin, path: str) -> None:
    """Plot the range of the torques of each joint as fractions of its limit.

    :param facts: result of `rbd_ros.cli.static_torque.summary`
    :param found: the torques
    :param path: file to write
    :raises ValueError: if the file cannot be written
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    joints = facts['joints']
    height = 1.5 + 0.42 * len(joints)
    figure = Figure(figsize=(8.6, height), dpi=140, facecolor='white')
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.axvspan(-100.0, 100.0, color='#eef4fa', zorder=0)
    axes.axvline(0.0, color=FAINT, lw=0.8, zorder=1)
    widest = 100.0
    for y, joint in enumerate(joints):
        limit, torques = joint['effort_limit'], found.torques[:, y]
        if not limit:
            text = 'no effort limit' if limit is None else 'limit is zero'
            axes.text(
                0.0, y, f'{text}: {joint["torque"]:.3g}', ha='center', va='center',
                fontsize=8, color=INK if joint['held'] else OVER,
            )  # fmt: skip
            continue
        share = 100.0 * torques / limit
        low, q1, q3, high = np.percentile(share, (0.0, 25.0, 75.0, 100.0))
        widest = max(widest, -low, high)
        color = HELD if joint['held'] else OVER
        axes.plot([low, high], [y, y], color=color, lw=2.0, solid_capstyle='round', zorder=2)
        axes.plot([q1, q3], [y, y], color=color, lw=7.0, solid_capstyle='round', zorder=3)
        worst = 100.0 * joint['torque'] / limit
        axes.plot(worst, y, 'D', color=color, ms=6.5, mec='white', mew=0.8, zorder=4)
        axes.annotate(
            f'{joint["torque"]:.3g} of {limit:.4g}',
            (worst, y),
            (0, 7),
            textcoords='offset points',
            ha='center',
            fontsize=7.5,
            color=color,
        )
    axes.set_xlim(-1.12 * widest, 1.12 * widest)
    axes.set_ylim(len(joints) - 0.5, -0.75)
    axes.set_yticks(
        range(len(joints)), [plot_name(joint['joint']) for joint in joints], fontsize=9, color=INK
    )
    load = plot_name(f' with {facts["payload"]}') if facts['payload'] else ''
    name = plot_name(facts['name'])
    axes.set_title(
        f'{name}{load}: {facts["poses_held"]} of {facts["poses"]} poses can be held',
        loc='left',
        fontsize=10,
        fontweight='bold',
        color=INK,
    )
    axes.set_xlabel(
        'holding torque in % of the effort limit: all poses, middle half (thick), worst (diamond)',
        fontsize=8.5,
        color=INK,
    )
    axes.tick_params(axis='both', which='both', length=0, colors=INK)
    for side in ('top', 'right', 'left', 'bottom'):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise ValueError(f'the plot cannot be written: {error}') from None
