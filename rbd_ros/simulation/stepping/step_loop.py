# SPDX-License-Identifier: Apache-2.0
"""The loop that takes steps, bound to the records of one simulation."""

from __future__ import annotations

from typing import Callable, NamedTuple

from rbd_ros.compiler.loops import (
    call_loop,
    entry_point,
    entry_point_of,
    excludes_threads,
    Record,
)
from rbd_ros.contact.contact_arrays import FloatArray, IntArray
from rbd_ros.simulation.records.mutex import Mutex
from rbd_ros.simulation.records.workspace import PhysicsRecord
from rbd_ros.simulation.stepping.linear import copy

# By name: what steps are compiled from is imported only where there is no machine code of it.
advance = entry_point_of('rbd_ros.simulation.stepping.stepping', 'advance')
place_on_ground = entry_point_of('rbd_ros.simulation.stepping.stepping', 'place_on_ground')

#: Answer of `Steps.alone` if the mutex has to be asked for, or the torque to be converted.
BUSY = -2


class Access(NamedTuple):
    """Data of steps that begin without asking for the mutex.

    :param advance: address of the loop that takes steps
    :param held: how often the mutex is held, (1,)
    """

    advance: int
    held: IntArray


@entry_point
def step_alone(physics: PhysicsRecord, access: Access, torque: FloatArray, count: int) -> int:
    """Take steps under a torque, unless the mutex of the simulation is held.

    While the interpreter's lock is kept, this is one instruction for all other threads: nobody can
    take the mutex or write the torque in between.

    :return: as `advance`; `BUSY`, with nothing changed, if the mutex is held, or the torque is no
        plain array
    """
    if access.held[0] != 0 or len(torque) != len(physics.commands.torque):
        return BUSY
    copy(torque, physics.commands.torque)
    return call_loop(access.advance, physics, count)


class Steps(NamedTuple):
    """The loop that takes steps, `stepping.advance`, bound to the records of one simulation.

    :param alone: function of torque and number of steps, `step_alone`; other Python threads wait
        meanwhile
    :param aside: function of the number of steps, under the torque of the commands; other Python
        threads run meanwhile, which costs a microsecond. The caller holds the mutex
    :param address: for `call_loop`
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
    alone = ask_first
    if excludes_threads():
        alone = step_alone.bind(record, Record(Access(address, mutex.held)), release_gil=False)
    return Steps(alone, advance.bind(record), address)


def ask_first(torque: FloatArray, count: int) -> int:
    """Stand in for `step_alone` where every step has to ask for the mutex."""
    return BUSY
