# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The compiled C code of `rbd_ros codegen`, called without Python on either side."""

from __future__ import annotations

from typing import List

import kernel_alone
import robots
from rows import Row, SHORT

from sections.section import load_both, Section, Tools

NAME = 'generated_c'
_FLOORS = {robots.UR5: 5.0, robots.TALOS_REDUCED: 1.0}


def _rows() -> List[Row]:
    return [
        Row(NAME, robot.name, name, 'x', floor)
        for robot, floor in _FLOORS.items()
        for name in SHORT
    ]


def _measure(row: Row, tools: Tools) -> None:
    if reason := kernel_alone.reason_against():
        raise RuntimeError(reason)
    program = kernel_alone.build(tools.progress.step)
    ours, peer = load_both(row)
    code = kernel_alone.generated_address
    row.fill(kernel_alone.measure(program, ours, peer, row.function, tools.seconds, code))


SECTION = Section(
    "Generated C against Pinocchio's C++, both compiled -O3 -march=native", _rows, _measure
)
