# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""First call of a function in a fresh process."""

from __future__ import annotations

from typing import List

from measurement import FUNCTIONS
from measurement.first_call import first_calls
import robots
from rows import Row, SHORT

from sections.section import load, Section, Tools

NAME = 'first_calls'
_NEW, _CACHED = 'nothing cached', 'cached on disk'
_FUNCTIONS = (*FUNCTIONS, 'coriolis_matrix')


def _rows() -> List[Row]:
    return [
        Row(NAME, robot.name, what, 's', floor)
        for robot, new in ((robots.UR5, 0.5), (robots.PANDA, 0.5), (robots.TALOS, 5.0))
        for what, floor in ((_NEW, new), (_CACHED, 0.05))
    ]


_times: dict = {}  # of a robot, by function: one pair of processes measures both rows


def _measure(row: Row, tools: Tools) -> None:
    robot, path, _, _ = load(row.robot)
    if row.robot not in _times:
        _times[row.robot] = {}
        for name in SHORT if tools.quick else _FUNCTIONS:
            tools.step(row, name)
            _times[row.robot][name] = first_calls(str(path), name, robot.floating_base)
    times, key = _times[row.robot], 'cold' if row.function == _NEW else 'cached'
    calls = {
        f'{name}{suffix}': values[key][what]
        for name, values in times.items()
        for what, suffix in (('call_processor', ''), ('batch_call_processor', ', batch'))
    }
    slowest = max(calls, key=calls.get)
    row.value = calls[slowest]
    row.detail = {
        'slowest': slowest,
        'calls_s': calls,
        'wall_s': max(values[key][w] for values in times.values() for w in ('call', 'batch_call')),
        'before_s': max(values[key]['import'] + values[key]['load'] for values in times.values()),
    }


SECTION = Section(
    'First call of a function in a fresh process: processor time of the slowest (imports and the '
    'reading of the URDF come before)',
    _rows,
    _measure,
)
