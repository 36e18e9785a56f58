"""The command hil_run, but for ROS: its arguments, and a run in this process."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Callable, Optional, Tuple

from rbd_ros.hil.bench import Bench, Run
from rbd_ros.hil.controllers import Callback, find_factory
from rbd_ros.hil.report import PAGE, summary, write_report
from rbd_ros.hil.scenario import MAX_SEED, read_scenario, Scenario

#: Runs a scenario over ROS: scenario, folder for files, seed.
OverRos = Callable[[Scenario, Path, Optional[int]], Run]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument('scenario', help='path of a scenario file, see docs/hil.md')
    parser.add_argument(
        '--report',
        metavar='DIR',
        default='hil_report',
        help='where report.html, junit.xml and result.json are written (default: %(default)s)',
    )
    parser.add_argument(
        '--seed', type=int, metavar='N', help='of all chance, instead of that of the file'
    )


def execute(arguments: argparse.Namespace, over_ros: OverRos) -> Tuple[int, str]:
    """Run a scenario and write its report.

    :param over_ros: runs one whose controller is a process
    :return: 0 if all limits were kept, else 1; and what to say
    :raises ValueError: for a wrong scenario or controller
    """
    seed, folder = arguments.seed, Path(arguments.report)
    if seed is not None and not 0 <= seed <= MAX_SEED:
        raise ValueError(f'--seed {seed} is no seed; give a whole number from 0 to {MAX_SEED}')
    scenario = read_scenario(arguments.scenario)
    if scenario.controller.kind == 'python':
        controller = make_controller(scenario)
        run = Bench(scenario).run(controller, seed)
    else:
        run = over_ros(scenario, folder, seed)
    verdict = write_report(scenario, run, folder)
    text = f'{summary(scenario, run, verdict)}\nreport: {folder / PAGE}'
    return 0 if verdict.passed else 1, text


def make_controller(scenario: Scenario) -> Callback:
    """Controller of a scenario, made anew, in this process.

    :raises ValueError: if there is none, or it cannot be made
    """
    name = scenario.controller.words[0]
    factory = find_factory(name)
    try:
        return factory(
            scenario.robot, scenario.trajectory, scenario.timestep, **scenario.controller.options
        )
    except Exception as error:  # whatever somebody's function raises
        raise ValueError(f'controller {name}: {type(error).__name__}: {error}') from None
