# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Campaigns: multiple of real time with one worker and two, and the cost of a kill."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path
import resource
import signal
import time
from typing import Callable, List, Tuple

from hil_measures import scenarios
from hil_measures.figure import at_least, at_most, Figure
from rbd_ros.hil.campaign.campaign import Campaign
from rbd_ros.hil.campaign.campaign_files import Row

KINDS = ['function in Python', 'function in C', 'FMU', 'function in C, FMU as plant']
FLOOR = 20.0  # minimum multiple of real time, per core
LEAST_GAIN = 1.8  # minimum speed-up of two workers
PART = 'campaign'

Progress = Callable[[int, int], None]


def children_time() -> float:
    """Return the processor time of all processes that have ended, and of this one [s]."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime + time.process_time()


def run(
    path: Path, folder: Path, count: int, jobs: int, on_progress: Progress
) -> Tuple[List[Row], float]:
    """Return the rows of a campaign, and the real time that it took [s]."""
    begin = time.perf_counter()
    rows = Campaign(str(path), folder).execute(count, jobs, on_progress)
    return rows, time.perf_counter() - begin


def per_core(
    folder: Path, count: int, duration: float, kinds: List[str], on_progress: Progress
) -> List[Figure]:
    """Return campaigns of each kind of controller, by total processor time of the runs.

    :param count: runs per campaign
    :param duration: duration of a run [s]
    :raises RuntimeError: if a run failed
    """
    figures = []
    for kind, path in scenarios.in_process(folder, kinds, duration).items():
        before = children_time()
        rows, _ = run(path, folder / path.stem, count, 1, on_progress)
        spent = children_time() - before
        if bad := [row for row in rows if row['failure']]:
            raise RuntimeError(f'{kind}: {bad[0]["failure"]}')
        what = f'{kind}: {count} runs of {duration:g} s, times real time per core'
        figures.append(at_least(PART, what, count * duration / spent, FLOOR))
    return figures


def two_workers(folder: Path, count: int, duration: float, on_progress: Progress) -> List[Figure]:
    """Return the real time of the same runs with one worker and two."""
    path = scenarios.write(folder, 'cores', scenarios.PYTHON, duration)
    times = [run(path, folder / f'by_{jobs}', count, jobs, on_progress)[1] for jobs in (1, 2)]
    what = f'{count} runs of {duration:g} s, two workers against one, real time'
    return [at_least('cores', what, times[0] / times[1], LEAST_GAIN)]


def killed(folder: Path, count: int, duration: float, on_progress: Progress) -> List[Figure]:
    """Kill one of two workers during a campaign."""
    path = scenarios.write(folder, 'killed', scenarios.PYTHON, duration)
    victims: List[int] = []

    def watch(done: int, of: int) -> None:
        on_progress(done, of)
        if done >= count // 3 and not victims:
            workers = [each.pid for each in multiprocessing.active_children() if each.pid]
            victims.append(workers[0])
            os.kill(victims[0], signal.SIGKILL)

    rows, _ = run(path, folder / 'killed_runs', count, 2, watch)
    numbers = {int(row['seed']) for row in rows}
    lost = sum(bool(row['failure']) for row in rows)
    part = 'killed worker'
    return [
        at_most(part, f'runs that failed, of {count}', lost, 1.0),
        at_most(part, 'runs without a row, or with two', abs(count - len(numbers)), 0.0),
        at_least(part, 'workers killed', len(victims), 1.0),
    ]
