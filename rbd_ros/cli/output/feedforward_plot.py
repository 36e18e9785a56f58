# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The plot of `rbd_ros feedforward`: efforts of the joints over time, with their limits."""

from __future__ import annotations

from typing import Sequence, Tuple

import numpy as np

from rbd_ros import Robot
from rbd_ros.array_types import FloatArray
from rbd_ros.cli.output.joint_panels import JointPanels
from rbd_ros.control import TrajectoryReport

LINE, LIMIT = '#1769aa', '#e4572e'


def plot_feedforward(
    names: Sequence[str],
    samples: Tuple[FloatArray, FloatArray],
    report: TrajectoryReport,
    robot: Robot,
    limits: FloatArray,
    path: str,
) -> None:
    """Plot the efforts of a trajectory, one panel per joint, and mark their smallest margins.

    :param names: joints of the trajectory
    :param samples: times, (N,), and efforts in the order of the robot, (N, nv)
    :param report: the check of these efforts, with their smallest margins
    :param limits: effort limits in the order of the robot, (nv,) [N m or N]
    :param path: file to write
    :raises ValueError: if it cannot be written
    """
    panels = JointPanels(robot, names, 4.2, 2.2)
    closest = report.margins_of('effort')
    for name, axes in panels:
        j = robot.joint_names.index(name)
        axes.plot(samples[0], samples[1][:, j], color=LINE, lw=1.4)
        limit = limits[j]
        if np.isfinite(limit):
            for sign in (-1.0, 1.0):
                axes.axhline(sign * limit, color=LIMIT, lw=0.9, ls='--')
        margin = closest.get(name)
        if margin is not None:
            color = LINE if margin.within_limits else LIMIT
            axes.plot([margin.time], [margin.value], marker='o', ms=5, color=color)
            axes.annotate(
                f'{margin.value:.4g} at {margin.time:.3f} s',
                (margin.time, margin.value),
                (4, 4),
                textcoords='offset points',
                fontsize=7,
            )
    panels.save(path)
