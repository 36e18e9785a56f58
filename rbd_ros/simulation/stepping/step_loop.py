# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The loop that takes steps, bound to the records of one simulation."""

from __future__ import annotations

from typing import Callable, NamedTuple

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import entry_point_of, excludes_threads, Record
from rbd_ros.simulation.records.mutex import Mutex
from rbd_ros.simulation.records.simulation_state import BUSY
from rbd_ros.simulation.records.workspace import Access

# By name: the source of steps is imported only without machine code.
advance = entry_point_of('rbd_ros.simulation.stepping.stepping', 'advance')
step_unless_locked = entry_point_of('rbd_ros.simulation.stepping.stepping', 'step_unless_locked')
place_on_ground = entry_point_of('rbd_ros.simulation.stepping.stepping', 'place_on_ground')


class Steps(NamedTuple):
    """The loop that takes steps, `stepping.advance`, bound to the records of one simulation.

    :param alone: function of torque and number of steps, `step_unless_locked`; other Python
        threads wait meanwhile
    :param aside: function of the number of steps, under the commanded torque; other Python
        threads run meanwhile, which costs a microsecond. The caller holds the mutex
    :param address: address for `call_loop`
    """

    alone: Callable[[FloatArray, int], int]
    aside: Callable[[int], int]
    address: int


def bind_steps(record: Record, mutex: Mutex) -> Steps:
    """Return the loop for the records of a simulation; loaded, or compiled.

    :param record: its table
    :param mutex: of the threads that use it
    """
    address = advance.address(record)
    alone = step_locked
    if excludes_threads():
        alone = step_unless_locked.bind(
            record, Record(Access(address, mutex.held)), release_gil=False
        )
    return Steps(alone, advance.bind(record), address)


def step_locked(torque: FloatArray, count: int) -> int:
    """Replace `step_unless_locked` if every step must acquire the mutex."""
    return BUSY
