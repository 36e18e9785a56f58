"""The plot of `rbd_ros annotate`: efforts of the joints over time, with their limits."""

from __future__ import annotations

import math

import numpy as np

from rbd_ros import Robot
from rbd_ros.control import AnnotatedTrajectory
from rbd_ros.control.arrays import FloatArray

INK, LINE, LIMIT = '#1f2933', '#1769aa', '#e4572e'


def plot_annotation(
    trajectory: AnnotatedTrajectory, robot: Robot, limits: FloatArray, path: str
) -> None:
    """Plot the efforts of a trajectory, one panel a joint.

    :param trajectory: the trajectory
    :param robot: its robot
    :param limits: effort limits in the order of the robot, (nv,) [N m or N]
    :param path: file to write
    :raises ValueError: if it cannot be written
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    names = trajectory.joint_names
    columns = min(len(names), 3)
    rows = math.ceil(len(names) / columns)
    figure = Figure(figsize=(4.2 * columns, 0.6 + 2.2 * rows), dpi=120, facecolor='white')
    FigureCanvasAgg(figure)
    panels = figure.subplots(rows, columns, sharex=True, squeeze=False).ravel()
    for j, (name, axes) in enumerate(zip(names, panels)):
        axes.plot(trajectory.times, trajectory.efforts[:, j], color=LINE, lw=1.4)
        limit = limits[robot.joint_names.index(name)]
        if np.isfinite(limit):
            for sign in (-1.0, 1.0):
                axes.axhline(sign * limit, color=LIMIT, lw=0.9, ls='--')
        axes.set_title(name, fontsize=9, color=INK)
        axes.tick_params(labelsize=8)
        axes.grid(color='#d9dce3', lw=0.6)
        if j % columns == 0:
            axes.set_ylabel('effort [N m or N]', fontsize=8, color=INK)
        if j >= len(names) - columns:
            axes.set_xlabel('time [s]', fontsize=8, color=INK)
    for axes in panels[len(names) :]:
        axes.set_visible(False)
    figure.tight_layout()
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise ValueError(f'--plot {path} cannot be written: {error}') from None
