# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Speed-up of batches by several cores: no batch may be slower, large ones must be faster."""

from __future__ import annotations

import time
from typing import List

from measurement import Call, cases, compare, machine
import robots
from rows import Row, SHORT

from rbd_ros.robot import set_threads
from sections.section import load_both, Section, Tools

NAME = 'threads'
_SIZES = (64, 512, 1024, 4096, 16384, 65536)
_GAIN_FROM = 16384


def _rows() -> List[Row]:
    return [
        Row(NAME, robots.UR5.name, f'{SHORT[name]}, {size} states', 'x', _floor(name, size))
        for name in SHORT
        for size in _SIZES
    ]


def _floor(name: str, size: int) -> float:
    return 1.8 if size >= _GAIN_FROM and name == 'inverse_dynamics' else 1.0 / 1.05


def _measure(row: Row, tools: Tools) -> None:
    if machine()['cores'] < 2:
        raise RuntimeError('there is one core only')
    ours, _ = load_both(row)
    short, size = row.function.split(', ')
    name = next(key for key, value in SHORT.items() if value == short)
    case = next(cases(ours, [name], int(size.split()[0])))

    def with_threads(count: int) -> Call:
        def call() -> None:
            set_threads(count)
            case.batch.function(*case.batch.arguments)

        return Call(call, states=case.batch.states)

    cores = machine()['cores']
    several, one = with_threads(cores), with_threads(1)
    row.fill(compare(several, one, tools.seconds, clock=time.perf_counter))
    set_threads(cores)


SECTION = Section('Batches with the default number of threads, against one', _rows, _measure)
