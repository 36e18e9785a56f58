# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Processes of a measurement: nodes, bare loops, and their counterparts."""

from __future__ import annotations

from contextlib import contextmanager
import os
from pathlib import Path
import sys
import tempfile
import time
from typing import Any, Callable, Dict, IO, Iterator, List, Mapping, NamedTuple

from rbd_ros import Robot
from rbd_ros.demonstration.child_processes import ChildProcesses
from rbd_ros.nodes.bench.domains import free_domain

HERE = Path(__file__).resolve().parents[1]
URDF = HERE.parent / 'urdf' / 'six_axis_arm.urdf'
START_TIMEOUT = 300.0  # for a node that compiles [s]
POLL = 0.02  # [s]
_locks: List[IO[str]] = []

# Children choose their numbers of threads themselves, so these variables of the environment are
# removed.
POOLS = ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS', 'NUMBA_NUM_THREADS')


def joints() -> List[str]:
    """Return the joints of the arm, similar to a UR5."""
    return list(Robot.from_urdf(URDF).joint_names)


def domains(count: int) -> List[int]:
    """Return unused ROS domains, reserved until this process ends."""
    taken = [free_domain(os.getpid()) for _ in range(count)]
    _locks.extend(lock for _, lock in taken)
    return [domain for domain, _ in taken]


@contextmanager
def family() -> Iterator[ChildProcesses]:
    """Provide child processes and a folder for their files; all end with the block."""
    environment = {name: value for name, value in os.environ.items() if name not in POOLS}
    environment['PYTHONPATH'] = os.pathsep.join(
        filter(None, [str(HERE.parent), environment.get('PYTHONPATH')])
    )
    environment['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    with (
        tempfile.TemporaryDirectory() as folder,
        ChildProcesses(environment, Path(folder)) as children,
    ):
        yield children


def in_domain(domain: int, command: List[str]) -> List[str]:
    """Return the command that runs in a ROS domain."""
    return ['env', f'ROS_DOMAIN_ID={domain}', *command]


def node_command(node: str, parameters: Mapping[str, Any]) -> List[str]:
    """Return the command that starts a node of this package on the arm."""
    given = {'robot_description_file': URDF, **parameters}
    settings = [word for name, value in given.items() for word in ('-p', f'{name}:={value}')]
    return [sys.executable, '-m', f'rbd_ros.nodes.{node}', '--ros-args', *settings]


def role_command(role: str, path: Path) -> List[str]:
    """Return the command that starts a role of ros_processes.py."""
    return [sys.executable, str(HERE / 'ros_processes.py'), role, str(path), *joints()]


def wait_for(
    condition: Callable[[], bool], what: str, children: ChildProcesses, limit: float
) -> None:
    """Wait until `condition()` is true.

    :raises RuntimeError: if a child has ended, or after `limit` [s]
    """
    deadline = time.monotonic() + limit
    while not condition():
        time.sleep(POLL)
        exited = children.exited()
        if exited or time.monotonic() > deadline:
            name = exited[0] if exited else what
            raise RuntimeError(f'{name} does not run: {last_words(children, name)}')


def last_words(children: ChildProcesses, name: str) -> str:
    """Return the end of a child's output."""
    log = children.log(name)
    return log.read_text(errors='replace')[-2000:] if log.exists() else 'it says nothing'


class Usage(NamedTuple):
    """Processor usage of a process so far.

    :param processor: processor time of each thread [ns]
    :param switches: number of times that each thread was scheduled
    """

    processor: Dict[str, int]
    switches: Dict[str, int]


def usage(pid: int) -> Usage:
    """Return the processor usage of the process `pid` so far."""
    processor, switches = {}, {}
    for task in Path(f'/proc/{pid}/task').iterdir():
        try:
            spent, _, count = (task / 'schedstat').read_text().split()
        except OSError:
            continue  # the thread has ended
        processor[task.name], switches[task.name] = int(spent), int(count)
    return Usage(processor, switches)


def resident(pid: int) -> float:
    """Return the resident memory of the process `pid` [MB]."""
    for line in Path(f'/proc/{pid}/status').read_text().splitlines():
        if line.startswith('VmRSS:'):
            return int(line.split()[1]) * 1024 / 1e6
    raise OSError('the kernel does not tell the resident memory')
