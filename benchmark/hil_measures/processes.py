"""Campaigns of a controller that is a process, over DDS."""

from __future__ import annotations

import csv
import os
from pathlib import Path
import subprocess
import sys
import time
from typing import List

from hil_measures import scenarios
from hil_measures.figure import at_least, Figure, told

ROOT = Path(__file__).resolve().parents[2]
FLOOR = 3.5  # times real time, per pair of processes
NODE = [sys.executable, '-m', 'rbd_ros.nodes.inverse_dynamics', '--ros-args']
PARAMETERS = ['-p', 'robot_description_file:={robot}', '-p', 'output:=joint_state']


def measure(folder: Path, count: int, duration: float) -> List[Figure]:
    """Runs of our inverse_dynamics node, one pair of processes after the other.

    :param count: number of runs
    :param duration: of each [s]
    :raises RuntimeError: if a run failed
    """
    urdf = ROOT / 'urdf' / 'six_axis_arm.urdf'
    words = [*NODE, *(word.format(robot=urdf) for word in PARAMETERS)]
    path = scenarios.write(folder, 'processes', {'controller': {'command': words}}, duration)
    command = [sys.executable, '-m', 'rbd_ros.cli.main', 'hil', str(path)]
    command += ['--seeds', str(count), '--jobs', '1', '--report', str(folder / 'pairs')]
    begin = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, 'PYTHONPATH': str(ROOT)},
        capture_output=True,
        text=True,
    )
    spent = time.perf_counter() - begin
    table = folder / 'pairs' / 'runs.csv'
    if not table.exists():
        raise RuntimeError(f'the campaign has no table: {done.stderr[-500:]}')
    with table.open(newline='', encoding='utf-8') as file:
        rows = list(csv.DictReader(file))
    if bad := [row for row in rows if row['failure']]:
        raise RuntimeError(f'a run failed: {bad[0]["failure"]}')
    part = 'processes'
    what = f'{count} runs of {duration:g} s over DDS, times real time per pair'
    return [
        at_least(part, what, count * duration / spent, FLOOR),
        told(part, 'real time of a run [s]', spent / count),
    ]
