# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Time from the start of a process to the first torque, with machine code in the cache."""

from __future__ import annotations

from pathlib import Path
from statistics import median, quantiles
import tempfile
import time
from typing import Dict, List

from measurement import Progress

from ros_measures.board import Board
from ros_measures.loops import NODES
from ros_measures.processes import (
    domains,
    family,
    in_domain,
    node_command,
    role_command,
    START_TIMEOUT,
    wait_for,
)
from ros_measures.row import Row

QUANTITY = 'process start to first torque [s]'
MAX_START_TIME = 1.5  # [s]
TORQUE_NODES = [name for name, bare in NODES.items() if bare == 'echo']


def measure(nodes: List[str], starts: int, progress: Progress) -> List[Row]:
    """Start torque nodes and the echo in turn; the first start of each may compile and is ignored.

    :param starts: starts of each
    :raises RuntimeError: if a process does not start
    """
    nodes = [name for name in nodes if name in TORQUE_NODES]
    times: Dict[str, List[float]] = {name: [] for name in ['echo', *nodes]}
    if not nodes:
        return []
    for k in range(starts + 1):
        progress.step(f'start {k} of {starts}')
        for name, found in times.items():
            found.append(_start(name))
    bare = times['echo'][1:]
    rows = []
    for name in nodes:
        ours = times[name][1:]
        ratios = [a / b for a, b in zip(ours, bare)]
        low, ratio, high = quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
        row = Row(name, QUANTITY, median(ours), median(bare), False, f'{MAX_START_TIME:g}', ratio)
        row.holds, row.ratio_quartiles = row.value <= MAX_START_TIME, [low, high]
        rows.append(row)
    return rows


def _start(name: str) -> float:
    """Return the time to the first response of a new process, with states at 1 kHz [s]."""
    with tempfile.TemporaryDirectory() as folder, family() as children:
        path = Path(folder) / 'board'
        board, domain = Board.create(path), domains(1)[0]
        children.start('states', in_domain(domain, role_command('states', path)))
        wait_for(lambda: board.running, 'states', children, START_TIMEOUT)
        command = node_command(name, {}) if name in NODES else role_command(name, path)
        begin = time.monotonic_ns()
        children.start(name, in_domain(domain, command))
        wait_for(lambda: board.first > 0, name, children, START_TIMEOUT)
        return (board.first - begin) / 1e9
