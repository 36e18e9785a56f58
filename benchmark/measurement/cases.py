# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The cases: each function of a robot, for one state per call and in batches."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
import os
from typing import Any, Callable, Iterator, List, Optional, Sequence

import numpy as np

from measurement.functions import inputs, label
from measurement.pinocchio_peer import PinocchioPeer
from measurement.timing import Call
from rbd_ros import Robot
from rbd_ros.robot import set_threads
from rbd_ros.robot.kernels import declared


@dataclass(frozen=True)
class Case:
    """A function of a robot, ready to be measured.

    :param function: name of the method
    :param label: name of the function in tables
    :param single: our call for one state
    :param batch: our call for a batch
    :param peer_single: the peer's call for one state, if there is a peer
    :param peer_loop: the peer called for one state after another
    """

    function: str
    label: str
    single: Call
    batch: Call
    peer_single: Optional[Call]
    peer_loop: Optional[Call]


def cases(
    robot: Robot,
    functions: Sequence[str],
    batch: int,
    peer: Optional[PinocchioPeer] = None,
    seed: int = 0,
) -> Iterator[Case]:
    """Yield the cases of `functions`, compiled one by one.

    :param robot: the robot
    :param functions: names of the functions
    :param batch: number of states in a batch
    :param peer: Pinocchio with the same robot, None to measure ours alone
    :param seed: seed of the random states
    :raises ValueError: for an unknown function
    """
    rng = np.random.default_rng(seed)
    states = random_states(robot, batch, rng)
    one = tuple(array[0].copy() for array in states)
    peer_states = [] if peer is None else peer.states(batch, rng)
    frame = last_link(robot)
    for function in functions:
        arrays = inputs(function)
        call = bound(robot, function, frame)
        single, several = [one[k] for k in arrays], [states[k] for k in arrays]
        call(*single)
        yield Case(
            function,
            label(function),
            Call(call, tuple(single)),
            Call(call, tuple(several), states=batch),
            None if peer is None else peer.single(function, peer_states[0], frame),
            None if peer is None else peer.loop(function, peer_states, frame),
        )


def bound(robot: Robot, function: str, frame: str) -> Callable[..., Any]:
    """Return the callable for a loop over states: a builtin.

    The poses of all links are one array, (links, 4, 4), as in a fast loop; the method's dictionary
    of views costs more than the poses.
    """
    chosen = {'frame': frame} if 'frame' in declared(function).choices else {}
    return robot.kernel(function, **chosen).function


def last_link(robot: Robot) -> str:
    """Return the link at the end of the longest chain of joints."""
    model = robot.model
    return max(model.links, key=lambda name: len(model.support(model.link(name).body)))


def random_states(robot: Robot, count: int, rng: np.random.Generator) -> List[np.ndarray]:
    """Return random q, (count, nq), v and a (or tau), (count, nv)."""
    q = np.array([robot.random_configuration(rng) for _ in range(count)])
    return [q, rng.normal(size=(count, robot.nv)), rng.normal(size=(count, robot.nv))]


@contextmanager
def one_thread() -> Iterator[None]:
    """Provide a context in which batches run on one thread."""
    set_threads(1)
    try:
        yield
    finally:
        set_threads(int(os.environ.get('RBD_ROS_NUM_THREADS', '0')) or os.cpu_count() or 1)
