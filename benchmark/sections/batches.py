# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Time per state in a large batch."""

from __future__ import annotations

from typing import List

from measurement import cases, compare, one_thread
import robots
from rows import Row, SHORT

from sections.section import load_both, Section, Tools

NAME = 'batches'
BATCH = 4096
_UR5 = {'inverse_dynamics': 70.0, 'mass_matrix': 60.0, 'forward_dynamics': 90.0}
_TALOS = {'inverse_dynamics': 20.0, 'forward_dynamics': 20.0}
_FLOORS = {robots.UR5: _UR5, robots.TALOS: _TALOS, robots.TALOS_REDUCED: _TALOS}


def _rows() -> List[Row]:
    return [
        Row(NAME, robot.name, name, 'x', _FLOORS.get(robot, {}).get(name))
        for robot in robots.ALL
        for name in SHORT
    ]


def _measure(row: Row, tools: Tools) -> None:
    ours, peer = load_both(row)
    case = next(cases(ours, [row.function], BATCH, peer))
    with one_thread():
        row.fill(compare(case.batch, case.peer_loop, tools.seconds))


SECTION = Section(
    f'Per state in a batch of {BATCH} on one core, against pin called in a loop', _rows, _measure
)
