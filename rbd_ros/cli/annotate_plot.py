"""The plot of `rbd_ros annotate`: efforts of the joints over time, with their limits."""

from __future__ import annotations

import numpy as np

from rbd_ros import Robot
from rbd_ros.cli.joint_panels import JointPanels
from rbd_ros.control import AnnotatedTrajectory
from rbd_ros.control.arrays import FloatArray

LINE, LIMIT = '#1769aa', '#e4572e'


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
    panels = JointPanels(trajectory.joint_names, 4.2, 2.2, margin=0.6)
    for j, (name, axes) in enumerate(panels):
        axes.plot(trajectory.times, trajectory.efforts[:, j], color=LINE, lw=1.4)
        limit = limits[robot.joint_names.index(name)]
        if np.isfinite(limit):
            for sign in (-1.0, 1.0):
                axes.axhline(sign * limit, color=LIMIT, lw=0.9, ls='--')
    panels.save(path)
