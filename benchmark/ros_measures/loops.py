# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Nodes at 1 kHz and bare loops: time from state to torque, processor time, memory, threads."""

from __future__ import annotations

from pathlib import Path
import signal
import statistics
import tempfile
import time
from typing import Dict, Iterator, List, Optional, Set

from measurement import Progress

from rbd_ros.demonstration.child_processes import ChildProcesses
from ros_measures.board import Board
from ros_measures.processes import (
    domains,
    family,
    in_domain,
    last_words,
    node_command,
    resident,
    role_command,
    START_TIMEOUT,
    usage,
    wait_for,
)
from ros_measures.row import at_most, compared, Row

# Quantities of the table.
MEDIAN = 'state in to effort out, median [us]'
LATE = 'state in to effort out, 99th percentile [us]'
TIME = 'processor time of a cycle [us]'
RATE = 'cycles a second'
MEMORY = 'resident memory [MB]'
THREADS = 'threads'
IDLE = 'threads that never woke'

# Roles in ros_processes.py: the bare loop for a node, and the counterpart of both.
OTHER_SIDES = {'bare_simulator': 'commands', 'echo': 'states'}
NODES = {
    'simulator': 'bare_simulator',
    'inverse_dynamics': 'echo',
    'gravity_compensation': 'echo',
}
# One message in, one out, as in the echo.
PARAMETERS = {'inverse_dynamics': {'output': 'joint_state'}}
PARAMETERS['gravity_compensation'] = PARAMETERS['inverse_dynamics']

MAX_RATIOS = {
    'simulator': {TIME: 1.3},
    'inverse_dynamics': {MEDIAN: 1.1, LATE: 1.25, TIME: 1.2},
    'gravity_compensation': {MEDIAN: 1.1, LATE: 1.25, TIME: 1.2},
}
MAX_MEMORY = 150.0  # resident [MB]
MORE_THREADS = 4  # than the bare loop: signals, the control loop, the watchdog, timers
MORE_IDLE_THREADS = 1  # than the bare loop: the thread that waits for signals
LOWEST_RATE = 950.0  # minimum cycles a second of a valid measurement

SETTLING = 0.4  # after a pair resumes, before it counts [s]
CYCLES_BEFORE = 500


class Pair:
    """A measured process and its counterpart, alone in a ROS domain.

    Both are stopped between rounds, so only one pair runs at a time.

    :param name: a node, or the role of a bare loop
    :param domain: ROS domain
    :param children: starts and ends the processes
    :param folder: folder for files
    """

    def __init__(self, name: str, domain: int, children: ChildProcesses, folder: Path):
        #: Values of each round by quantity; times in microseconds
        self.rounds: Dict[str, List[float]] = {k: [] for k in (TIME, RATE, MEDIAN, LATE)}
        path = folder / f'{name}.board'
        self.board = Board.create(path)
        self._idle: Optional[Set[str]] = None
        if name in NODES:
            command, bare = node_command(name, PARAMETERS.get(name, {})), NODES[name]
        else:
            command, bare = role_command(name, path), name
        other = OTHER_SIDES[bare]
        self._processes = [
            children.start(label, in_domain(domain, arguments), urgent=True)
            for label, arguments in (
                (name, command),
                (f'{name} {other}', role_command(other, path)),
            )
        ]

    def ready(self) -> bool:
        """Return whether both have run for a while."""
        return self.board.cycles >= CYCLES_BEFORE

    def send(self, number: int) -> None:
        """Send a signal to both processes."""
        for process in self._processes:
            if process.poll() is None:
                process.send_signal(number)

    def measure(self, seconds: float) -> None:
        """Run both for `seconds`, and record cycles and usage of the measured one."""
        pid, board = self._processes[0].pid, self.board
        self.send(signal.SIGCONT)
        time.sleep(SETTLING)
        noted = board.latencies
        begin, cycles, before = time.monotonic(), board.cycles, usage(pid)
        time.sleep(seconds)
        elapsed, cycles, after = time.monotonic() - begin, board.cycles - cycles, usage(pid)
        latencies = board.since(noted)
        self.send(signal.SIGSTOP)
        spent = sum(after.processor[k] - before.processor.get(k, 0) for k in after.processor)
        self.rounds[TIME].append(spent / max(cycles, 1) / 1e3)
        self.rounds[RATE].append(cycles / elapsed)
        if len(latencies) > 1:
            percentiles = statistics.quantiles(latencies, n=100)
            self.rounds[MEDIAN].append(percentiles[49] / 1e3)
            self.rounds[LATE].append(percentiles[98] / 1e3)
        idle = {k for k, n in after.switches.items() if n == before.switches.get(k)}
        self._idle = idle if self._idle is None else self._idle & idle

    def now(self) -> Dict[str, float]:
        """Return the present memory and threads, by quantity."""
        pid = self._processes[0].pid
        return {
            MEMORY: resident(pid),
            THREADS: len(usage(pid).processor),
            IDLE: len(self._idle or ()),
        }


def measure(nodes: List[str], rounds: int, seconds: float, progress: Progress) -> List[Row]:
    """Measure nodes and their bare loops.

    :param rounds: number of rounds
    :param seconds: duration of a round [s]
    :raises RuntimeError: if a process does not start
    """
    names = sorted({NODES[name] for name in nodes}) + nodes
    with tempfile.TemporaryDirectory() as folder, family() as children:
        pairs: Dict[str, Pair] = {}
        try:
            for name, domain in zip(names, domains(len(names))):
                progress.step(f'starting {name}')
                pairs[name] = Pair(name, domain, children, Path(folder))
                wait_for(pairs[name].ready, name, children, START_TIMEOUT)
                pairs[name].send(signal.SIGSTOP)
            for k in range(rounds):
                progress.step(f'round {k + 1} of {rounds}')
                for pair in pairs.values():
                    pair.measure(seconds)
            if exited := children.exited():
                raise RuntimeError(f'{exited[0]} has ended: {last_words(children, exited[0])}')
            return [row for name in nodes for row in _rows(name, pairs)]
        finally:
            for pair in pairs.values():
                pair.send(signal.SIGCONT)  # a stopped process cannot react to other signals


def _rows(name: str, pairs: Dict[str, Pair]) -> Iterator[Row]:
    node, bare = pairs[name], pairs[NODES[name]]
    for quantity, largest in MAX_RATIOS[name].items():
        yield compared(name, quantity, node.rounds[quantity], bare.rounds[quantity], largest)
    rates = [statistics.median(each.rounds[RATE]) for each in (node, bare)]
    yield Row(name, RATE, *rates, min(rates) >= LOWEST_RATE, f'{LOWEST_RATE:g}')
    ours, theirs = node.now(), bare.now()
    yield at_most(name, MEMORY, ours[MEMORY], MAX_MEMORY, theirs[MEMORY])
    for quantity, more in ((THREADS, MORE_THREADS), (IDLE, MORE_IDLE_THREADS)):
        yield at_most(name, quantity, ours[quantity], theirs[quantity] + more, theirs[quantity])
