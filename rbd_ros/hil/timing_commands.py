# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Timing searches of `rbd_ros hil`: --dead-time and --rates."""

from __future__ import annotations

import argparse
from pathlib import Path
import sys
from typing import Callable, List, Sequence, Tuple

from rbd_ros.hil import dead_time, rates
from rbd_ros.hil.bench import Run
from rbd_ros.hil.scenario.scenario import Limits, Scenario

#: Runs a scenario; files go into the given folder.
Runner = Callable[[Scenario, Path], Run]


def old_files(arguments: argparse.Namespace, folder: Path, of_run: Sequence[str]) -> List[Path]:
    """Return the files that an earlier, similar command may have left.

    :param of_run: names of the files of a run
    """
    if arguments.dead_time:
        return [folder / dead_time.PAGE, folder / dead_time.NUMBERS]
    of_rates = [path for name in of_run for path in folder.glob(f'{rates.FOLDER}*/{name}')]
    return [folder / rates.PAGE, folder / rates.NUMBERS, *of_rates]


def execute(
    arguments: argparse.Namespace, scenario: Scenario, run: Runner, folder: Path
) -> Tuple[int, str]:
    """Run the search, and write the report.

    :return: 0 if the limits were kept without additional dead time or at all rates, otherwise 1;
        and a message
    :raises ValueError: for an invalid scenario, controller or argument
    """
    if scenario.limits == Limits():
        raise ValueError(
            f'{scenario.name} has no limits to check; add some under limits:, such as '
            'tracking_error'
        )
    if arguments.dead_time:
        found = dead_time.find_dead_time(scenario, lambda each: run(each, folder), _print_try)
        sys.stderr.write('\n')
        dead_time.write_dead_time(scenario, found, folder)
        text = f'{dead_time.summary(scenario, found)}\nreport: {folder / dead_time.PAGE}'
        return 0 if found.tolerated is not None else 1, text
    results = rates.run_at_rates(scenario, rates.read_rates(arguments.rates), run, folder)
    text = f'{rates.summary(scenario, results)}\nreport: {folder / rates.PAGE}'
    return 0 if all(each.passed for each in results) else 1, text


def _print_try(tried: dead_time.Try) -> None:
    mark = 'kept' if tried.verdict.passed else 'not kept'
    sys.stderr.write(f'\rdead time {1e3 * tried.dead_time:g} ms: limits {mark}   ')
    sys.stderr.flush()
