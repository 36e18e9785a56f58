# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The two arms of S. K. Saha's paper of 1999, their motions and free falls, and plots of them.

"Dynamics of serial multibody systems using the decoupled natural orthogonal complement matrices",
ASME J. Applied Mechanics 66, section 6. saha_planar_arm.py and saha_stanford_arm.py draw its
figures. `inverse_dynamics_along` corresponds to the paper's program RIDIM, `free_fall` to RFDSIM,
with a Runge-Kutta method of order 5(4) instead of 5/6.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import NamedTuple, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from rbd_ros import Robot
from rbd_ros.textbook.models.dh import DHLink, distal_chain

Array = NDArray[np.float64]

DURATION = 10.0  # of the motions [s]
GRAVITY = 9.81  # [m/s^2]

# Planar arm: the paper has neither lengths nor masses. These are inferred: they put all curves
# into the axes of its figures. The links are slender rods.
PLANAR_LENGTHS = (0.3, 0.25, 0.22)  # [m]
PLANAR_MASSES = (0.5, 0.4, 0.3)  # [kg]

# Stanford arm, table 3: b [m], alpha [deg], mass [kg], center of mass -r [m] and inertia about it
# [kg m^2], both in the frame beyond the link; all a are zero.
STANFORD = (
    (0.2, -90, 9.0, (0, 0.1, 0), (0.01, 0.02, 0.01)),
    (0.1, -90, 6.0, (0, 0, 0), (0.05, 0.06, 0.01)),
    (0.0, 0, 4.0, (0, 0, 0), (0.4, 0.4, 0.01)),
    (0.6, 90, 1.0, (0, 0.1, 0), (0.001, 0.001, 0.0005)),
    (0.0, -90, 0.6, (0, 0, 0), (0.0005, 0.0005, 0.0002)),
    (0.0, 0, 0.5, (0, 0, 0), (0.003, 0.001, 0.002)),
)
STANFORD_START = np.array([0.0, math.pi / 2, 0.0, 0.0, 0.0, 0.0])


class Fall(NamedTuple):
    """A free fall.

    :param times: times, (k,) [s]
    :param q: configurations, (k, n) [rad, m]
    :param v: velocities, (k, n) [rad/s, m/s]
    """

    times: Array
    q: Array
    v: Array


def planar_arm() -> Robot:
    """Return an arm of three links in the X-Y plane, gravity along -Y."""
    table = []
    for a, m in zip(PLANAR_LENGTHS, PLANAR_MASSES):
        I = m * a * a / 12.0
        inertia = ((0.0, 0.0, 0.0), (0.0, I, 0.0), (0.0, 0.0, I))
        table.append(DHLink(a=a, mass=m, center=(-a / 2.0, 0.0, 0.0), inertia=inertia))
    return Robot(distal_chain('planar_3r', table, gravity=(0.0, -GRAVITY, 0.0)))


def stanford_arm() -> Robot:
    """Return the Stanford arm; that gravity points along -Z1 is inferred."""
    table = [
        DHLink(
            alpha=math.radians(alpha),
            d=b,
            type='prismatic' if i == 3 else 'revolute',
            mass=mass,
            center=center,
            inertia=tuple(tuple(row) for row in np.diag(inertia).tolist()),
        )
        for i, (b, alpha, mass, center, inertia) in enumerate(STANFORD, start=1)
    ]
    return Robot(distal_chain('stanford_arm', table, gravity=(0.0, 0.0, -GRAVITY)))


def cycloid(start: Array, change: Array, times: Array) -> tuple[Array, Array, Array]:
    """Return the motion start + change (t/T - sin(2 pi t/T) / 2 pi), from rest to rest.

    :param start: initial configuration, (n,) [rad, m]
    :param change: change of the configuration, (n,) [rad, m]
    :param times: times from 0 to T, (k,) [s]
    :return: positions, velocities and accelerations, (k, n) each
    """
    s, w = times[:, None] / DURATION, 2.0 * math.pi / DURATION
    return (
        start + change * (s - np.sin(2.0 * math.pi * s) / (2.0 * math.pi)),
        change / DURATION * (1.0 - np.cos(2.0 * math.pi * s)),
        change / DURATION * w * np.sin(2.0 * math.pi * s),
    )


def inverse_dynamics_along(robot: Robot, start: Array, change: Array, times: Array) -> Array:
    """Return joint forces along a cycloid, (k, n) [N m, N], by the paper's section 5.1.

    :param robot: the arm
    :param start: initial configuration, (n,) [rad, m]
    :param change: change of the configuration, (n,) [rad, m]
    :param times: times, (k,) [s]
    """
    return robot.denoc.inverse_dynamics(*cycloid(start, change, times))


def free_fall(robot: Robot, start: Array, times: Array, tolerance: float = 1e-9) -> Fall:
    """Return the motion without joint forces from rest, by the paper's section 5.2.

    :param robot: the arm
    :param start: initial configuration, (n,) [rad, m]
    :param times: ascending times from 0, (k,) [s]
    :param tolerance: relative tolerance of a time step
    """
    n, idle = robot.nv, np.zeros(robot.nv)

    def rate(t: float, x: Array) -> Array:
        return np.r_[x[n:], robot.denoc.forward_dynamics(x[:n], x[n:], idle)]

    solved = solve_ivp(
        rate,
        (0.0, times[-1]),
        np.r_[start, idle],
        method='RK45',
        t_eval=times,
        rtol=tolerance,
        atol=1e-3 * tolerance,
    )
    return Fall(times, solved.y[:n].T, solved.y[n:].T)


def draw(
    path: Path,
    title: str,
    note: str,
    x: Array,
    panels: Sequence[tuple[str, dict[str, Array]]],
) -> None:
    """Plot curves over time into a file.

    :param path: file to write
    :param title: heading
    :param note: note on inferred data, below the heading
    :param x: times, (k,) [s]
    :param panels: label of the vertical axis, and curves (k,) by name, of each panel
    """
    import matplotlib

    matplotlib.use('Agg')
    from matplotlib import pyplot

    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure, grid = pyplot.subplots(
        rows, columns, figsize=(max(8.4, 4.2 * columns + 1.0), 2.8 * rows + 1.2), squeeze=False
    )
    for axes, (label, curves) in zip(grid.flat, panels):
        for name, values in curves.items():
            axes.plot(x, values, label=name)
        axes.set_xlabel('time [s]')
        axes.set_ylabel(label)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    figure.suptitle(f'{title}\n{note}', fontsize=10)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def folder(description: str, arguments: Sequence[str] | None) -> Path:
    """Return the folder for pictures, from the command line.

    :param description: description of the script
    :param arguments: command line, None for that of the process
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument('--folder', type=Path, default=Path(), help='where to put the pictures')
    return parser.parse_args(arguments).folder
