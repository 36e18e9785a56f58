# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Plots of efforts over time, with one panel per joint, and optionally one of its residual."""

from __future__ import annotations

import math
from typing import Any, Dict, Iterator, Sequence, Tuple

from rbd_ros import Robot
from rbd_ros.plot_names import plot_name

INK = '#1f2933'
COLUMNS = 3  # maximum


class JointPanels:
    """A figure with one panel per joint, in rows.

    :param robot: robot of the joints, whose types give the units
    :param names: names of the joints
    :param width: width of a panel [inch]
    :param height: height of a panel, with that of its residual [inch]
    :param with_residuals: whether each panel has a lower one below it, in `residuals` by joint
    """

    def __init__(
        self,
        robot: Robot,
        names: Sequence[str],
        width: float,
        height: float,
        with_residuals: bool = False,
    ):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        columns = min(len(names), COLUMNS)
        rows, parts = math.ceil(len(names) / columns), 1 + with_residuals
        size = (width * columns, 0.6 + height * rows)
        self.figure: Any = Figure(figsize=size, dpi=120, facecolor='white', layout='constrained')
        FigureCanvasAgg(self.figure)
        ratios = {'height_ratios': (5, 2)[:parts] * rows}
        grid = self.figure.subplots(
            parts * rows, columns, sharex=True, squeeze=False, gridspec_kw=ratios
        )
        positions = dict(zip(robot.joint_names, robot.model.position_units))
        #: Units of the efforts, by name.
        self.units = {name: 'N' if positions[name] == 'm' else 'N m' for name in names}
        self._panels = dict(zip(names, grid[::parts].ravel()))
        lower = grid[1::2].ravel() if with_residuals else ()
        #: Axes of the residual of each joint, by name.
        self.residuals: Dict[str, Any] = dict(zip(names, lower))
        self._lowest = [(self.residuals or self._panels)[name] for name in names[-columns:]]
        for axes in set(grid.flat) - {*self._panels.values(), *self.residuals.values()}:
            axes.set_visible(False)

    def __iter__(self) -> Iterator[Tuple[str, Any]]:
        """Iterate over the name and axes of each joint."""
        return iter(self._panels.items())

    def save(self, path: str) -> None:
        """Label the panels, and write the figure.

        :raises ValueError: if it cannot be written
        """
        for name, axes in self:
            axes.set_title(plot_name(name), fontsize=9, color=INK)
            for label, each in (('effort', axes), ('residual', self.residuals.get(name))):
                if each is not None:
                    each.tick_params(labelsize=8)
                    each.grid(color='#d9dce3', lw=0.6)
                    each.set_ylabel(f'{label} [{self.units[name]}]', fontsize=8, color=INK)
        for axes in self._lowest:
            axes.set_xlabel('time [s]', fontsize=8, color=INK)
            axes.tick_params(labelbottom=True)
        self.figure.align_ylabels()
        try:
            self.figure.savefig(path)
        except (OSError, ValueError) as error:
            raise ValueError(f'--plot {path} cannot be written: {error}') from None
