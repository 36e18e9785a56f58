"""`rbd_ros hil scenario.yaml`: a controller under test, run against a robot that breaks on purpose.

Exit code 0: all limits were kept; 1: not all, or the controller failed, or the file is wrong.
"""

from __future__ import annotations

import argparse
from pathlib import Path
import subprocess
import sys

from rbd_ros.hil import Bench, read_scenario
from rbd_ros.hil.controllers import find_factory
from rbd_ros.hil.report import PAGE, summary, write_report
from rbd_ros.hil.scenario import MAX_SEED

OVER_ROS = 'rbd_ros.nodes.hil_run'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rbd_ros hil`."""
    parser.add_argument('scenario', help='path of a scenario file, see docs/hil.md')
    parser.add_argument(
        '--report',
        metavar='DIR',
        default='hil_report',
        help='where report.html, junit.xml and result.json are written (default: %(default)s)',
    )
    parser.add_argument(
        '--seed', type=int, metavar='N', help='instead of that of the file, of all chance'
    )


def run(arguments: argparse.Namespace) -> int:
    """Run a scenario and write its report.

    :return: 0 if all limits were kept, else 1
    :raises ValueError: for a wrong scenario or controller
    """
    seed = arguments.seed
    if seed is not None and not 0 <= seed <= MAX_SEED:
        raise ValueError(f'--seed {seed} is no seed; give a whole number from 0 to {MAX_SEED}')
    scenario = read_scenario(arguments.scenario)
    if scenario.controller.kind != 'python':
        words = [sys.executable, '-m', OVER_ROS, arguments.scenario, '--report', arguments.report]
        return subprocess.call([*words, *([] if seed is None else ['--seed', str(seed)])])
    factory = find_factory(scenario.controller.words[0])
    bench = Bench(scenario)
    try:
        controller = factory(
            scenario.robot, scenario.trajectory, scenario.timestep, **scenario.controller.options
        )
    except Exception as error:  # whatever somebody's function raises
        raise ValueError(
            f'controller {scenario.controller.words[0]}: {type(error).__name__}: {error}'
        ) from None
    found = bench.run(controller, seed)
    verdict = write_report(scenario, found, Path(arguments.report))
    print(summary(scenario, found, verdict))
    print(f'report: {Path(arguments.report) / PAGE}')
    return 0 if verdict.passed else 1
