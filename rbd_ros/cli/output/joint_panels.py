# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Plots of efforts over time, with one panel per joint."""

from __future__ import annotations

import math
from typing import Any, Iterator, Sequence, Tuple

from rbd_ros.plot_names import plot_name

INK = '#1f2933'
COLUMNS = 3  # maximum


class JointPanels:
    """A figure with one panel per joint, in rows.

    :param names: names of the joints
    :param width: width of a panel [inch]
    :param height: height of a panel [inch]
    :param margin: margin above the panels [inch]
    """

    def __init__(self, names: Sequence[str], width: float, height: float, margin: float):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self._names = names
        self._columns = min(len(names), COLUMNS)
        rows = math.ceil(len(names) / self._columns)
        size = (width * self._columns, margin + height * rows)
        self.figure: Any = Figure(figsize=size, dpi=120, facecolor='white')
        FigureCanvasAgg(self.figure)
        self._panels = self.figure.subplots(
            rows, self._columns, sharex=True, squeeze=False
        ).ravel()

    def __iter__(self) -> Iterator[Tuple[str, Any]]:
        """Iterate over the name and axes of each joint."""
        return iter(zip(self._names, self._panels))

    def save(self, path: str) -> None:
        """Label the panels, and write the figure.

        :raises ValueError: if it cannot be written
        """
        for j, (name, axes) in enumerate(self):
            axes.set_title(plot_name(name), fontsize=9, color=INK)
            axes.tick_params(labelsize=8)
            axes.grid(color='#d9dce3', lw=0.6)
            if j % self._columns == 0:
                axes.set_ylabel('effort [N m or N]', fontsize=8, color=INK)
            if j >= len(self._names) - self._columns:
                axes.set_xlabel('time [s]', fontsize=8, color=INK)
        for axes in self._panels[len(self._names) :]:
            axes.set_visible(False)
        self.figure.tight_layout()
        try:
            self.figure.savefig(path)
        except (OSError, ValueError) as error:
            raise ValueError(f'--plot {path} cannot be written: {error}') from None
