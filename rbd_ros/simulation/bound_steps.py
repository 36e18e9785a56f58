"""The loop that takes steps, bound to the records of one simulation."""

from __future__ import annotations

from typing import Callable, NamedTuple

from rbd_ros.compiler.loops import Record
from rbd_ros.simulation.stepping import advance


class Steps(NamedTuple):
    """The loop that takes steps, `stepping.advance`, bound to the records of one simulation.

    :param alone: function of the number of steps; other Python threads wait meanwhile
    :param aside: likewise, but other Python threads run meanwhile, which costs a microsecond
    :param address: for `call_loop`
    """

    alone: Callable[[int], int]
    aside: Callable[[int], int]
    address: int


def bind_steps(record: Record) -> Steps:
    """Loop for the records of a simulation; loaded, or compiled.

    :param record: its table
    """
    return Steps(
        advance.bind(record, keep_lock=True), advance.bind(record), advance.address(record)
    )
