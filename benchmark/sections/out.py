# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Large results in the caller's arrays: no new arrays, hence no page faults."""

from __future__ import annotations

from functools import partial
from typing import List

from measurement import Call, cases, compare, one_thread
import numpy as np
import robots
from rows import Row

from sections.section import load_both, Section, Tools

NAME = 'out'
_BATCH = 4096


def _rows() -> List[Row]:
    return [Row(NAME, robots.TALOS.name, 'mass_matrix', 'ns', 450.0)]


def _measure(row: Row, tools: Tools) -> None:
    ours, _ = load_both(row)
    case = next(cases(ours, [row.function], _BATCH))
    out = np.empty((_BATCH, ours.nv, ours.nv))
    call = Call(partial(case.batch.function, out=out), case.batch.arguments, states=_BATCH)
    with one_thread():
        found = compare(call, seconds=tools.seconds)
    row.value, row.detail = found.ours, found.as_dict()


SECTION = Section(f'Per state in a batch of {_BATCH} on one core, with out=', _rows, _measure)
