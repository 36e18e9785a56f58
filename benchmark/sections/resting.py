# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Final positions of arms under inverse_dynamics with its defaults (goals.py)."""

from __future__ import annotations

from typing import List

import goals
from rows import Row

from sections.section import Section, Tools

NAME = 'resting'
_RIGHT, _WRONG = 'right model', f'models wrong by {goals.WRONG:.0%}'


def _rows() -> List[Row]:
    return [
        Row(NAME, name, what, 'mrad', 1e3 * floor)
        for name in goals.EMBEDDED + goals.REAL
        for what, floor in ((_RIGHT, goals.FLOOR), (_WRONG, goals.FLOOR_WRONG))
    ]


_measured: dict = {}


def _measure(row: Row, tools: Tools) -> None:
    if row.robot not in _measured:
        path = goals.find(row.robot)
        if path is None:
            raise FileNotFoundError('example-robot-data is not installed')
        _measured[row.robot] = goals.measure(row.robot, path, 1 if tools.quick else 6)
    found = _measured[row.robot]
    row.value = 1e3 * (found.rest if row.function == _RIGHT else found.rest_wrong)


SECTION = Section(
    'Error of the worst joint at rest after a motion [1e-3 rad or m]', _rows, _measure, long=True
)
