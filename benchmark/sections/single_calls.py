# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""One call from Python: the three main functions."""

from __future__ import annotations

from typing import List

from measurement import cases, compare
import robots
from rows import Row, SHORT

from sections.section import load_both, Section, Tools

NAME = 'single_calls'
_UR5 = {'inverse_dynamics': 9.0, 'mass_matrix': 8.0, 'forward_dynamics': 12.0}
_TALOS = {'inverse_dynamics': 9.0, 'mass_matrix': 7.0, 'forward_dynamics': 6.0}
_FLOORS = {robots.UR5: _UR5, robots.PANDA: dict.fromkeys(SHORT, 4.0), robots.TALOS: _TALOS}


def _rows() -> List[Row]:
    return [
        Row(NAME, robot.name, name, 'x', _FLOORS.get(robot, {}).get(name, 3.0))
        for robot in robots.ALL
        for name in SHORT
    ]


def _measure(row: Row, tools: Tools) -> None:
    ours, peer = load_both(row)
    case = next(cases(ours, [row.function], 1, peer))
    row.fill(compare(case.single, case.peer_single, tools.seconds))


SECTION = Section(
    'One call from Python, NumPy in and out, against the same call of pin', _rows, _measure
)
