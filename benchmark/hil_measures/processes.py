# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Campaigns with a controller in a separate process, over DDS."""

from __future__ import annotations

import csv
import os
from pathlib import Path
import subprocess
import sys
import time
from typing import List, Tuple

from hil_measures import scenarios
from hil_measures.figure import at_least, at_most, Figure, reported

ROOT = Path(__file__).resolve().parents[2]
FLOOR = 3.5  # minimum multiple of real time, per pair of processes
NODE = [sys.executable, '-m', 'rbd_ros.nodes.inverse_dynamics', '--ros-args']
PARAMETERS = ['-p', 'robot_description_file:={robot}', '-p', 'output:=joint_state']


def measure(folder: Path, count: int, duration: float) -> List[Figure]:
    """Return the runs of our inverse_dynamics node: one process for all runs, and one for each.

    :param count: number of runs with one process; a tenth as many have separate ones
    :param duration: duration of each [s]
    :raises RuntimeError: if a run failed
    """
    kept, digests = campaign(folder, 'kept', count, duration)
    few = max(2, count // 10)
    anew, others = campaign(folder, 'anew', few, duration)
    different = sum(one != other for one, other in zip(digests, others))
    part, runs = 'processes', f'runs of {duration:g} s over DDS, times real time per pair'
    return [
        at_least(part, f'{count} {runs}, process kept', count * duration / kept, FLOOR),
        reported(part, f'{few} {runs}, a process for each', few * duration / anew),
        at_most(part, 'of the latter, runs with another motion, bitwise', different, 0.0),
    ]


def campaign(folder: Path, name: str, count: int, duration: float) -> Tuple[float, List[str]]:
    """Return the real time of a campaign [s], and the fingerprints of its runs.

    :param name: 'kept' or 'anew'
    """
    urdf = ROOT / 'urdf' / 'six_axis_arm.urdf'
    words = [*NODE, *(word.format(robot=urdf) for word in PARAMETERS)]
    controller = {'command': words, 'keep': name == 'kept'}
    path = scenarios.write(folder, f'processes_{name}', {'controller': controller}, duration)
    command = [sys.executable, '-m', 'rbd_ros.cli.main', 'hil', str(path)]
    command += ['--seeds', str(count), '--jobs', '1', '--report', str(folder / name)]
    begin = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, 'PYTHONPATH': str(ROOT)},
        capture_output=True,
        text=True,
    )
    spent = time.perf_counter() - begin
    table = folder / name / 'runs.csv'
    if not table.exists():
        raise RuntimeError(f'the campaign has no table: {done.stderr[-500:]}')
    with table.open(newline='', encoding='utf-8') as file:
        rows = list(csv.DictReader(file))
    if bad := [row for row in rows if row['failure']]:
        raise RuntimeError(f'a run failed: {bad[0]["failure"]}')
    return spent, [row['digest'] for row in rows]
