# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Machine code of kernels, called without Python on either side."""

from __future__ import annotations

from typing import List

import kernel_alone
import robots
from rows import Row, SHORT

from sections.section import load_both, Section, Tools

NAME = 'kernels'
_UR5 = {'inverse_dynamics': 17.0, 'mass_matrix': 11.0, 'forward_dynamics': 16.0}
_TALOS_REDUCED = {'inverse_dynamics': 10.0, 'mass_matrix': 6.0, 'forward_dynamics': 7.0}
_FLOORS = {
    robots.UR5: _UR5,
    robots.TALOS: {'forward_dynamics': 4.0},
    robots.TALOS_REDUCED: _TALOS_REDUCED,
}


def _rows() -> List[Row]:
    return [
        Row(NAME, robot.name, name, 'x', floors.get(name))
        for robot, floors in _FLOORS.items()
        for name in SHORT
    ]


def _measure(row: Row, tools: Tools) -> None:
    if reason := kernel_alone.reason_against():
        raise RuntimeError(reason)
    program = kernel_alone.build(tools.progress.step)
    ours, peer = load_both(row)
    row.fill(kernel_alone.measure(program, ours, peer, row.function, tools.seconds))


SECTION = Section(
    "Kernel alone against Pinocchio's C++ compiled -O3 -march=native", _rows, _measure
)
