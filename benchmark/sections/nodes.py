"""The nodes at 1 kHz beside bare loops (ros.py)."""

from __future__ import annotations

from functools import lru_cache
from typing import Dict, List, Tuple

import ros
from rows import Row

from rbd_ros.cli.measurement import Progress
from sections.section import Section, Tools

NAME = 'nodes'


def _rows() -> List[Row]:
    rows = []
    for node in ros.NODES:
        rows += [
            Row(NAME, node, ros.TIME, 'of the loop', ros.LARGEST_RATIO),
            Row(NAME, node, ros.RATE, 'x', 1.0),
            Row(NAME, node, ros.MEMORY, 'MB', ros.LARGEST_MEMORY),
            Row(NAME, node, ros.THREADS, '', 0.0),  # floors follow from the loop's own number
            Row(NAME, node, ros.IDLE, '', 0.0),
        ]
    return rows


@lru_cache(maxsize=1)
def _measured(rounds: int, seconds: float) -> Dict[Tuple[str, str], ros.Row]:
    found = ros.measure(list(ros.NODES), rounds, seconds, Progress(False, 0))
    return {(row.node, row.quantity): row for row in found}


def _measure(row: Row, tools: Tools) -> None:
    found = _measured(3 if tools.quick else 15, 1.0)[row.robot, row.function]
    row.detail = {'node': found.value, 'bare loop': found.bare}
    if row.function == ros.TIME:
        row.value = found.ratio
    elif row.function == ros.RATE:
        row.value = min(found.value, found.bare) / ros.LOWEST_RATE
    else:
        row.value, row.floor = found.value, float(found.floor)


SECTION = Section(
    'Nodes at 1 kHz on the six-axis arm, beside bare loops; cycles a second as part of '
    f'{ros.LOWEST_RATE:g}',
    _rows,
    _measure,
    long=True,
)
