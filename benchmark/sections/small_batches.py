# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Small batches: at most 1.5 times as many single kernels, plus a microsecond."""

from __future__ import annotations

from typing import List

from measurement import Call, cases, compare, one_thread
import robots
from rows import Row, SHORT

from sections.section import load_both, Section, Tools

NAME = 'small_batches'
_ROWS = 8


def _rows() -> List[Row]:
    return [
        Row(NAME, robot.name, name, 'x', 1.0)
        for robot in (robots.UR5, robots.PANDA)
        for name in SHORT
    ]


def _measure(row: Row, tools: Tools) -> None:
    ours, _ = load_both(row)
    case = next(cases(ours, [row.function], _ROWS))
    arguments = case.batch.arguments
    with one_thread():
        kernels = compare(
            Call(ours.kernel(row.function).function, tuple(x[0].copy() for x in arguments)),
            seconds=tools.seconds,
        )
        batch = compare(Call(case.batch.function, arguments), seconds=tools.seconds)
    bound = 1.5 * _ROWS * kernels.ours + 1000.0
    row.value = bound / batch.ours
    row.detail = {'ours_ns': batch.ours, 'theirs_ns': bound, 'kernel_ns': kernels.ours}


SECTION = Section(
    f'A batch of {_ROWS} states, against 1.5 times {_ROWS} single calls and 1 µs', _rows, _measure
)
