# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Figures 8 and 9 of S. K. Saha's paper of 1999: torques and free fall of the Stanford arm.

    python examples/saha_stanford_arm.py --folder /tmp

Table 3 of the paper has all numbers of the arm. Two facts are inferred. Gravity points along -Z1;
in the paper, joint 2 rotates by more than 90 degrees while the arm falls, which would need the
other direction, or the other sign of alpha_2. Joint 2 either ends at 60 degrees (reading A) or
moves by 60 degrees (reading B): eq 39a allows both, and both are drawn.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Sequence

import numpy as np
from saha import (
    draw,
    DURATION,
    folder,
    free_fall,
    inverse_dynamics_along,
    stanford_arm,
    STANFORD_START,
)

CHANGE_B = np.array([math.pi / 3, math.pi / 3, 0.1, *[math.pi / 3] * 3])
CHANGE_A = CHANGE_B - np.array([0.0, math.pi / 2, 0.0, 0.0, 0.0, 0.0])
INFERRED = 'inferred: gravity along -Z1'
UNITS = ('N m', 'N m', 'N', 'N m', 'N m', 'N m')


def main(arguments: Sequence[str] | None = None) -> list[Path]:
    """Draw both figures; return their paths.

    :param arguments: command line, None for that of the process
    """
    where = folder(__doc__ or '', arguments)
    robot = stanford_arm()

    times = np.linspace(0.0, DURATION, 401)
    runs = {
        reading: inverse_dynamics_along(robot, STANFORD_START, change, times)
        for reading, change in (('A', CHANGE_A), ('B', CHANGE_B))
    }
    torques = where / 'saha_figure_8_stanford_torques.png'
    panels = [
        (f'tau_{i + 1} [{UNITS[i]}]', {f'reading {x}': tau[:, i] for x, tau in runs.items()})
        for i in range(6)
    ]
    note = f'{INFERRED}; joint 2 ends at 60 degrees (A) or moves by 60 degrees (B)'
    draw(torques, 'Stanford arm: forces along a cycloid', note, times, panels)

    times = np.linspace(0.0, 1.0, 201)
    fall = free_fall(robot, STANFORD_START, times)
    angles = where / 'saha_figure_9_stanford_free_fall.png'
    panels = [
        (f'joint {i + 1} [{"m" if i == 2 else "rad"}]', {'position': fall.q[:, i]})
        for i in range(6)
    ]
    title = 'Stanford arm: free fall from rest, joint 2 at 90 degrees'
    draw(angles, title, INFERRED, times, panels)
    return [torques, angles]


if __name__ == '__main__':
    main()
