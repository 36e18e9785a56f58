# SPDX-License-Identifier: Apache-2.0
"""Timing searches of `rbd_ros hil`: --dead-time and --rates."""

from __future__ import annotations

import argparse
from pathlib import Path
import sys
from typing import Callable, Tuple

from rbd_ros.hil import dead_time, rates
from rbd_ros.hil.bench import Run
from rbd_ros.hil.scenario.scenario import Limits, Scenario

#: Runs a scenario; files go into the folder.
Runner = Callable[[Scenario, Path], Run]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of these."""
    parser.add_argument(
        '--dead-time',
        action='store_true',
        help='find the maximum additional delay of commands that keeps all limits',
    )
    parser.add_argument(
        '--rates',
        metavar='R,...',
        help='compare the controller at these factors of its rate, such as 0.5,1,2',
    )


def is_requested(arguments: argparse.Namespace) -> bool:
    """Return whether one of these is asked for.

    :raises ValueError: if both are, or one beside a campaign
    """
    others = arguments.seeds is not None or arguments.replay is not None or arguments.vary
    named = [
        name
        for name, given in (
            ('--dead-time', arguments.dead_time),
            ('--rates', arguments.rates is not None),
            ('a campaign', bool(others)),
        )
        if given
    ]
    if len(named) > 1:
        raise ValueError(f'{" and ".join(named)} cannot be combined; give one of them')
    return bool(named) and not others


def execute(
    arguments: argparse.Namespace, scenario: Scenario, run: Runner, folder: Path
) -> Tuple[int, str]:
    """Find what is asked for, and write the report.

    :return: 0 if the limits were kept, without further dead time or at all rates, else 1; and what
        to say
    :raises ValueError: for a wrong scenario, controller or argument
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
