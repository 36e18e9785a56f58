# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""First derivatives of the dynamics, one call and in a batch, against Pinocchio's."""

from __future__ import annotations

from typing import List

from measurement import cases, compare, one_thread
import robots
from rows import Row

from sections.section import load_both, Section, Tools

NAME = 'derivatives'
# A state of a humanoid has 35 kB of derivatives; larger batches would measure memory bandwidth.
BATCH = 64
_FUNCTIONS = ('inverse_dynamics_derivatives', 'forward_dynamics_derivatives')
# One call, and a state in a batch. Pinocchio's Panda has one more DoF, a finger that mimics the
# other.
_FLOORS = {robots.UR5: (8.0, 40.0), robots.PANDA: (8.0, 40.0), robots.TALOS: (2.5, 12.0)}
_IN_A_BATCH = f', {BATCH} states'


def _rows() -> List[Row]:
    return [
        Row(NAME, robot.name, name + which, 'x', floor)
        for robot, floors in _FLOORS.items()
        for name in _FUNCTIONS
        for which, floor in zip(('', _IN_A_BATCH), floors)
    ]


def _measure(row: Row, tools: Tools) -> None:
    ours, peer = load_both(row)
    name = row.function.removesuffix(_IN_A_BATCH)
    case = next(cases(ours, [name], BATCH, peer))
    if row.function == name:
        row.fill(compare(case.single, case.peer_single, tools.seconds))
    else:
        with one_thread():
            row.fill(compare(case.batch, case.peer_loop, tools.seconds))


SECTION = Section(
    'First derivatives of the dynamics, against those of pin called from Python', _rows, _measure
)
