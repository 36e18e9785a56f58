# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Figures 5 and 6 of S. K. Saha's paper of 1999: torques and free fall of a planar arm.

    python examples/saha_planar_arm.py --folder /tmp

The paper omits the lengths and masses of the links, that they are slender rods, and that every
joint moves by half a turn (eq 38): these are inferred. The curves stay within the axes of the
printed figures, but cannot be compared with them point by point.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Sequence

import numpy as np
from saha import draw, DURATION, folder, free_fall, inverse_dynamics_along, planar_arm

INFERRED = 'inferred: lengths 0.3, 0.25, 0.22 m, masses 0.5, 0.4, 0.3 kg, rods'
MOTION = 'and motion by half a turn'


def main(arguments: Sequence[str] | None = None) -> list[Path]:
    """Draw both figures; return their paths.

    :param arguments: command line, None for that of the process
    """
    where = folder(__doc__ or '', arguments)
    robot = planar_arm()
    start, change = np.zeros(3), np.full(3, math.pi)

    times = np.linspace(0.0, DURATION, 401)
    tau = inverse_dynamics_along(robot, start, change, times)
    torques = where / 'saha_figure_5_planar_torques.png'
    curves = {f'tau_{i}': values for i, values in enumerate(tau.T, start=1)}
    title = 'Planar arm: torques along a cycloid'
    draw(torques, title, f'{INFERRED} {MOTION}', times, [('torque [N m]', curves)])

    times = np.linspace(0.0, 1.0, 201)
    fall = free_fall(robot, start, times)
    angles = where / 'saha_figure_6_planar_free_fall.png'
    curves = {f'th_{i}': values for i, values in enumerate(fall.q.T, start=1)}
    title = 'Planar arm: free fall from rest along X'
    draw(angles, title, INFERRED, times, [('angle [rad]', curves)])
    return [torques, angles]


if __name__ == '__main__':
    main()
