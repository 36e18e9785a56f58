# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The nodes at 1 kHz and bare loops (ros_measures/loops.py)."""

from __future__ import annotations

from functools import lru_cache
from typing import Dict, List, Tuple

from measurement import Progress
from ros_measures import loops, row as measured
from rows import Row

from sections.section import Section, Tools

NAME = 'nodes'
OF_THE_LOOP = 'of the loop'  # unit of ratios


def _rows() -> List[Row]:
    rows = []
    for node, ratios in loops.MAX_RATIOS.items():
        rows += [Row(NAME, node, name, OF_THE_LOOP, largest) for name, largest in ratios.items()]
        rows += [
            Row(NAME, node, loops.RATE, 'x', 1.0),
            Row(NAME, node, loops.MEMORY, 'MB', loops.MAX_MEMORY),
            Row(NAME, node, loops.THREADS, '', 0.0),  # floors depend on the loop's number
            Row(NAME, node, loops.IDLE, '', 0.0),
        ]
    return rows


@lru_cache(maxsize=1)
def _measured(rounds: int, seconds: float) -> Dict[Tuple[str, str], measured.Row]:
    found = loops.measure(list(loops.NODES), rounds, seconds, Progress(False, 0))
    return {(row.node, row.quantity): row for row in found}


def _measure(row: Row, tools: Tools) -> None:
    found = _measured(3 if tools.quick else 15, 1.0)[row.robot, row.function]
    row.detail = {'node': found.value, 'bare loop': found.bare}
    if row.unit == OF_THE_LOOP:
        row.value = found.ratio
    elif row.function == loops.RATE:
        row.value = min(found.value, found.bare) / loops.LOWEST_RATE
    else:
        row.value, row.floor = found.value, found.limit


SECTION = Section(
    'Nodes at 1 kHz on the six-axis arm, beside bare loops; cycles a second as part of '
    f'{loops.LOWEST_RATE:g}',
    _rows,
    _measure,
    long=True,
)
