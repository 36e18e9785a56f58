#!/usr/bin/env python3
"""What the nodes cost at 1 kHz, beside bare loops that only take and publish the same messages.

    benchmark/ros.py [--nodes simulator,...] [--rounds 15] [--json FILE]
                     [--document docs/performance.md]

Exit code 1 if a floor does not hold. Wants a machine that has nothing else to do, and Linux.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, dataclass
import json
import mmap
import os
from pathlib import Path
import random
import signal
import statistics
import sys
import tempfile
import time
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Set

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from marked import replace, row as text_row  # noqa: E402

from rbd_ros import Robot  # noqa: E402
from rbd_ros.cli.bench import columns, number  # noqa: E402
from rbd_ros.cli.measurement import machine, Progress, versions  # noqa: E402
from rbd_ros.demonstration.processes import Children  # noqa: E402

FORMAT = 'rbd_ros benchmark of nodes 1'
URDF = HERE.parent / 'urdf' / 'six_axis_arm.urdf'

# Quantities of the table.
TIME = 'processor time of a cycle [us]'
RATE = 'cycles a second'
MEMORY = 'resident memory [MB]'
THREADS = 'threads'
IDLE = 'threads that never woke'

# Roles of benchmark/ros_processes.py: the bare loop beside a node and the other side of both.
OTHER_SIDES = {'bare_simulator': 'commands', 'bare_torque': 'states'}
NODES = {
    name: (bare, OTHER_SIDES[bare])
    for name, bare in (
        ('simulator', 'bare_simulator'),
        ('inverse_dynamics', 'bare_torque'),
        ('gravity_compensation', 'bare_torque'),
    )
}

LARGEST_RATIO = 1.3
LARGEST_MEMORY = 150.0  # resident [MB]
MORE_THREADS = 4  # than the bare loop: signals, the control loop, the watchdog, timers
MORE_IDLE_THREADS = 1  # than the bare loop: the one that waits for signals
LOWEST_RATE = 950.0  # cycles a second, below which nothing can be said

START_TIMEOUT = 300.0  # for a node that has to compile [s]
SETTLING = 0.4  # after a pair goes on, before it counts [s]
CYCLES_BEFORE = 500

# Children must choose their threads themselves: nothing of this process' environment helps them.
POOLS = ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS', 'NUMBA_NUM_THREADS')

BEGIN = '<!-- measured nodes: written by benchmark/ros.py, do not edit -->'
END = '<!-- end of the measured nodes -->'


@dataclass
class Row:
    """One line of the table, one floor.

    :param node: name of the node
    :param quantity: what was measured
    :param value: value of the node
    :param bare: value of the bare loop beside it
    :param holds: whether the floor holds
    :param floor: the floor, as text
    :param ratio: ratio of the node to the bare loop, median over the rounds
    :param ratio_quartiles: its lower and upper quartile
    """

    node: str
    quantity: str
    value: float
    bare: float
    holds: bool
    floor: str
    ratio: Optional[float] = None
    ratio_quartiles: Optional[List[float]] = None

    @property
    def verdict(self) -> str:
        """Whether the floor holds, as PASS or BELOW."""
        return 'PASS' if self.holds else 'BELOW'


class Usage(NamedTuple):
    """Use of processors by a process so far.

    :param processor: processor time of each thread [ns]
    :param switches: how often each thread was given a processor
    """

    processor: Dict[str, int]
    switches: Dict[str, int]


def usage(pid: int) -> Usage:
    """Use of processors by the process `pid` so far."""
    processor, switches = {}, {}
    for task in Path(f'/proc/{pid}/task').iterdir():
        try:
            spent, _, count = (task / 'schedstat').read_text().split()
        except OSError:
            continue  # the thread has ended
        processor[task.name], switches[task.name] = int(spent), int(count)
    return Usage(processor, switches)


def resident(pid: int) -> float:
    """Resident memory of the process `pid` [MB]."""
    for line in Path(f'/proc/{pid}/status').read_text().splitlines():
        if line.startswith('VmRSS:'):
            return int(line.split()[1]) * 1024 / 1e6
    raise OSError('the kernel does not tell the resident memory')


class Pair:
    """A process that is measured and its other side, alone in a ROS domain.

    Between the rounds both are stopped, so that only one pair runs at any time.

    :param name: what is measured: a node, or the role of a bare loop
    :param domain: ROS domain
    :param joints: names of the robot's joints
    :param children: starts and ends the processes
    :param folder: folder for files
    """

    def __init__(
        self, name: str, domain: int, joints: List[str], children: Children, folder: Path
    ):
        self.rounds: List[float] = []  # processor time of a cycle [ns]
        self.rates: List[float] = []  # cycles a second
        path = folder / f'{name}.count'
        path.write_bytes(bytes(8))
        with open(path, 'r+b') as file:
            self._count = memoryview(mmap.mmap(file.fileno(), 8)).cast('q')
        self._idle: Optional[Set[str]] = None
        node = name in NODES
        bare, other = NODES[name] if node else (name, OTHER_SIDES[name])
        program = [sys.executable, str(HERE / 'ros_processes.py')]
        command = [*program, bare, str(path), *joints]
        if node:
            command = [
                sys.executable,
                '-m',
                f'rbd_ros.nodes.{name}',
                '--ros-args',
                '-p',
                f'robot_description_file:={URDF}',
            ]
        self._processes = [
            children.start(
                f'{name}{suffix}', ['env', f'ROS_DOMAIN_ID={domain}', *arguments], urgent=True
            )
            for suffix, arguments in (
                ('', command),
                (f' {other}', [*program, other, str(path), *joints]),
            )
        ]

    @property
    def cycles(self) -> int:
        """Number of cycles so far."""
        return self._count[0]

    def send(self, number: int) -> None:
        """Send a signal to both processes."""
        for process in self._processes:
            if process.poll() is None:
                process.send_signal(number)

    def measure(self, seconds: float) -> None:
        """Let both run for `seconds`, and note what the measured one used."""
        pid = self._processes[0].pid
        self.send(signal.SIGCONT)
        time.sleep(SETTLING)
        begin, cycles, before = time.monotonic(), self.cycles, usage(pid)
        time.sleep(seconds)
        elapsed, cycles, after = time.monotonic() - begin, self.cycles - cycles, usage(pid)
        self.send(signal.SIGSTOP)
        spent = sum(after.processor[k] - before.processor.get(k, 0) for k in after.processor)
        self.rounds.append(spent / max(cycles, 1))
        self.rates.append(cycles / elapsed)
        idle = {k for k, n in after.switches.items() if n == before.switches.get(k)}
        self._idle = idle if self._idle is None else self._idle & idle

    def results(self) -> Dict[str, float]:
        """Results by quantity: medians over the rounds, memory and threads as they are now."""
        pid = self._processes[0].pid
        return {
            TIME: statistics.median(self.rounds) / 1e3,
            RATE: statistics.median(self.rates),
            MEMORY: resident(pid),
            THREADS: len(usage(pid).processor),
            IDLE: len(self._idle),
        }


def measure(nodes: List[str], rounds: int, seconds: float, progress: Progress) -> List[Row]:
    """Measure nodes and the bare loops beside them.

    :raises RuntimeError: if a process does not come up
    """
    names = sorted({NODES[name][0] for name in nodes}) + nodes
    joints = list(Robot.from_urdf(URDF).joint_names)
    domains = random.Random(time.time_ns()).sample(range(1, 101), len(names))
    with (
        tempfile.TemporaryDirectory() as folder,
        Children(_environment(), Path(folder)) as children,
    ):
        pairs: Dict[str, Pair] = {}
        try:
            for name, domain in zip(names, domains):
                progress.step(f'starting {name}')
                pairs[name] = Pair(name, domain, joints, children, Path(folder))
                _await(pairs[name], name, children)
                pairs[name].send(signal.SIGSTOP)
            for k in range(rounds):
                progress.step(f'round {k + 1} of {rounds}')
                for pair in pairs.values():
                    pair.measure(seconds)
            if dead := children.dead():
                raise RuntimeError(f'{dead[0]} has ended: {_last_words(children, dead[0])}')
            return [row for name in nodes for row in _rows(name, pairs)]
        finally:
            for pair in pairs.values():
                pair.send(signal.SIGCONT)  # what is stopped does not hear that it should end


def _environment() -> Dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if name not in POOLS}
    environment['PYTHONPATH'] = os.pathsep.join(
        filter(None, [str(HERE.parent), environment.get('PYTHONPATH')])
    )
    return {**environment, 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}


def _await(pair: Pair, name: str, children: Children) -> None:
    deadline = time.monotonic() + START_TIMEOUT
    while pair.cycles < CYCLES_BEFORE:
        time.sleep(0.1)
        dead = children.dead()
        if dead or time.monotonic() > deadline:
            what = dead[0] if dead else name
            raise RuntimeError(f'{what} does not run: {_last_words(children, what)}')


def _last_words(children: Children, name: str) -> str:
    log = children.log(name)
    return log.read_text(errors='replace')[-2000:] if log.exists() else 'it says nothing'


def _rows(name: str, pairs: Dict[str, Pair]) -> Iterator[Row]:
    node, bare = pairs[name], pairs[NODES[name][0]]
    ours, theirs = node.results(), bare.results()
    ratios = [ours / theirs for ours, theirs in zip(node.rounds, bare.rounds)]
    low, ratio, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    yield Row(
        name,
        TIME,
        ours[TIME],
        theirs[TIME],
        ratio <= LARGEST_RATIO,
        f'{LARGEST_RATIO:g} x',
        ratio,
        [low, high],
    )
    yield Row(
        name,
        RATE,
        ours[RATE],
        theirs[RATE],
        min(ours[RATE], theirs[RATE]) >= LOWEST_RATE,
        f'{LOWEST_RATE:g}',
    )
    yield Row(
        name,
        MEMORY,
        ours[MEMORY],
        theirs[MEMORY],
        ours[MEMORY] <= LARGEST_MEMORY,
        f'{LARGEST_MEMORY:g}',
    )
    for quantity, more in ((THREADS, MORE_THREADS), (IDLE, MORE_IDLE_THREADS)):
        floor = theirs[quantity] + more
        yield Row(
            name, quantity, ours[quantity], theirs[quantity], ours[quantity] <= floor, f'{floor:g}'
        )


# -- text -----------------------------------------------------------------------------------------

HEAD = ('node', 'quantity', 'node', 'bare loop', 'ratio', 'middle half', 'floor', '')


def cells(row: Row) -> tuple:
    """Cells of a row of the table, as text."""
    low, high = row.ratio_quartiles or (None, None)
    return (
        row.node,
        row.quantity,
        *map(_amount, (row.value, row.bare)),
        '' if row.ratio is None else f'{row.ratio:.2f} x',
        '' if low is None else f'{low:.2f} .. {high:.2f}',
        row.floor,
        row.verdict,
    )


def _amount(value: float) -> str:
    return str(value) if isinstance(value, int) else number(value)


def report(facts: Dict[str, Any], rows: List[Row]) -> Iterator[str]:
    """Lines of the table for a terminal."""
    yield _conditions(facts)
    yield ''
    yield from columns([HEAD, *map(cells, rows)], rule_after=1)
    yield ''
    good = sum(row.holds for row in rows)
    yield f'{good} of {len(rows)} floors hold, {len(rows) - good} do not'


def markdown(facts: Dict[str, Any], rows: List[Row]) -> Iterator[str]:
    """Lines of the table for a document."""
    head = (
        'Node',
        'Quantity',
        'Node',
        'Bare loop',
        'Ratio',
        'Middle half of the rounds',
        'Floor',
        'Verdict',
    )
    rule = [':---' if k < 2 else '---:' for k in range(len(head))]
    yield f'Measured on {_conditions(facts)}.'
    yield ''
    for line in (head, rule, *map(cells, rows)):
        yield text_row(line)


def _conditions(facts: Dict[str, Any]) -> str:
    computer, made_by = facts['machine'], facts['versions']
    return (
        f'{computer["cpu"]}, {computer["cores"]} cores, {computer["system"]}, Python '
        f'{made_by["python"]}, NumPy {made_by["numpy"]}, {facts["middleware"]}, '
        f'{facts["rounds"]} rounds of {facts["seconds"]:g} s'
    )


def main(argv: Optional[List[str]] = None) -> int:
    """Measure as the command line says and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument(
        '--nodes',
        default=','.join(NODES),
        metavar='NODE,...',
        help='nodes to measure (default: %(default)s)',
    )
    parser.add_argument('--rounds', type=int, default=15, help='default: %(default)s')
    parser.add_argument(
        '--seconds',
        type=float,
        default=1.0,
        help='time of a process in a round [s] (default: %(default)s)',
    )
    parser.add_argument('--json', metavar='FILE', help='write the results as JSON')
    parser.add_argument(
        '--document',
        metavar='FILE.md',
        help='put the table between the markers of a Markdown file',
    )
    parser.add_argument(
        '--progress',
        action='store_true',
        default=None,
        help='say what is being done even where there is no terminal',
    )
    arguments = parser.parse_args(argv)
    nodes = arguments.nodes.split(',')
    if unknown := [name for name in nodes if name not in NODES]:
        parser.error(f'unknown node {unknown[0]!r}; there are {", ".join(NODES)}')
    if not Path('/proc/self/schedstat').exists():
        parser.error('needs Linux, whose /proc tells the processor time of each thread')

    progress = Progress(arguments.progress, 2 * len(nodes) + arguments.rounds)
    try:
        rows = measure(nodes, arguments.rounds, arguments.seconds, progress)
    except RuntimeError as error:
        parser.exit(2, f'\n{error}\n')
    progress.finish()
    facts = {
        'format': FORMAT,
        'machine': machine(),
        'versions': versions(),
        'middleware': os.environ.get('RMW_IMPLEMENTATION') or 'the default middleware',
        'rounds': arguments.rounds,
        'seconds': arguments.seconds,
        'rows': [{**asdict(row), 'verdict': row.verdict} for row in rows],
    }
    print('\n'.join(report(facts, rows)))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(facts, indent=2) + '\n', encoding='utf-8')
    if arguments.document:
        replace(Path(arguments.document), BEGIN, END, list(markdown(facts, rows)))
    return 0 if all(row.holds for row in rows) else 1


if __name__ == '__main__':
    sys.exit(main())
