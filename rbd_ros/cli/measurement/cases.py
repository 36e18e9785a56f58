"""The cases that are measured: each function of a robot, for one state a call and in batches."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
import os
from typing import Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from rbd_ros import Robot
from rbd_ros.cli.measurement.pinocchio_peer import PinocchioPeer
from rbd_ros.cli.measurement.timing import Call
from rbd_ros.robot import set_threads

# Functions in the order of the table: label, and how many of q, v, a they take.
FUNCTIONS: Dict[str, Tuple[str, int]] = {
    'inverse_dynamics': ('inverse dynamics (RNEA)', 3),
    'mass_matrix': ('mass matrix (CRBA)', 1),
    'forward_dynamics': ('forward dynamics (ABA)', 3),
    'gravity_torque': ('gravity torque', 1),
    'bias_force': ('bias force', 2),
    'forward_kinematics': ('kinematics of all links', 1),
    'jacobian': ('Jacobian of the last link', 1),
}
# Measured on request only.
MORE_FUNCTIONS: Dict[str, Tuple[str, int]] = {'coriolis_matrix': ('Coriolis matrix', 2)}


@dataclass(frozen=True)
class Case:
    """A function of a robot, ready to be measured.

    :param function: name of the method
    :param label: name of the function for people
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
    """Cases of `functions`, each compiled when its turn comes.

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
        label, inputs = description(function)
        call, more = bound(robot, function, one[:inputs], frame)
        yield Case(
            function,
            label,
            Call(call, (*one[:inputs], *more)),
            Call(call, (*states[:inputs], *more), states=batch),
            None if peer is None else peer.single(function, peer_states[0], frame),
            None if peer is None else peer.loop(function, peer_states, frame),
        )


def description(function: str) -> Tuple[str, int]:
    """Label of a function, and how many of q, v, a it takes.

    :raises ValueError: for an unknown one
    """
    known = {**FUNCTIONS, **MORE_FUNCTIONS}
    if function not in known:
        raise ValueError(f'unknown function {function!r}; there are {", ".join(known)}')
    return known[function]


def bound(
    robot: Robot, function: str, arguments: Sequence[np.ndarray], frame: str
) -> Tuple[Callable, tuple]:
    """Callable that a loop over states would hold on to, and its further arguments.

    The first call on a robot compiles and puts the builtin in place of the method, so the method
    is looked up afterwards. The poses of all links are taken as one array, (links, 4, 4), as a
    loop that cares for speed would; the method's dictionary of views costs more than the poses.
    """
    if function == 'forward_kinematics':
        call, more = robot.function(function), ()
    else:
        more = (frame,) if function == 'jacobian' else ()
        getattr(robot, function)(*arguments, *more)
        call = getattr(robot, function)
    call(*arguments, *more)
    return call, more


def last_link(robot: Robot) -> str:
    """Link at the end of the longest chain of joints."""
    model = robot.model
    return max(model.links, key=lambda name: len(model.support(model.link(name).body)))


def random_states(robot: Robot, count: int, rng: np.random.Generator) -> List[np.ndarray]:
    """Random q, (count, nq), v and a (or tau), (count, nv)."""
    q = np.array([robot.random_configuration(rng) for _ in range(count)])
    return [q, rng.normal(size=(count, robot.nv)), rng.normal(size=(count, robot.nv))]


@contextmanager
def one_thread() -> Iterator[None]:
    """Context in which batches run on one thread."""
    set_threads(1)
    try:
        yield
    finally:
        set_threads(int(os.environ.get('RBD_ROS_NUM_THREADS', '0')) or os.cpu_count() or 1)
