# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The commands rbd_ros hil and hil_run, except for ROS: arguments, and a run with its report.

Campaigns, timing searches, recordings and replays are imported on demand.
"""

from __future__ import annotations

import argparse
from contextlib import contextmanager
import os
from pathlib import Path
from typing import Callable, Iterator, Optional, Tuple, TYPE_CHECKING

from rbd_ros.bounded_files import MAX_TEXT, read_text
from rbd_ros.hil.bench import Bench, Run
from rbd_ros.hil.report.run_report import JUNIT, NUMBERS, PAGE, reported
from rbd_ros.hil.scenario.controller_entry import CONTROLLERS, IsolatedRun
from rbd_ros.hil.scenario.scenario import MAX_SEED, read_scenario, Scenario

if TYPE_CHECKING:
    from rbd_ros.hil.report.run_recorder import RunRecorder

#: Runs a scenario over ROS: scenario, folder for files, seed, recorder.
OverRosRecorded = Callable[[Scenario, Path, Optional[int], Optional['RunRecorder']], Run]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument('scenario', nargs='?', help='scenario file, see docs/hil_reference.md')
    parser.add_argument(
        '--report',
        metavar='DIR',
        default='hil_report',
        help='folder for report.html, junit.xml and result.json (default: %(default)s)',
    )
    parser.add_argument('--json', action='store_true', help='print JSON')
    parser.add_argument(
        '--seed',
        type=int,
        metavar='N',
        help='seed of the random numbers (default: that of the file)',
    )
    parser.add_argument(
        '--seeds', type=int, metavar='N', help='run a campaign of N runs with different seeds'
    )
    parser.add_argument(
        '--vary',
        metavar='FAULT=LOW:HIGH,...',
        help='draw values of faults for each run, such as payload=0:5,latency=0:20ms',
    )
    parser.add_argument(
        '--jobs',
        type=int,
        metavar='N',
        default=os.cpu_count() or 1,
        help='number of processes of a campaign (default: the number of cores)',
    )
    parser.add_argument(
        '--record',
        metavar='FILE',
        help='write the run as an MCAP file, for example for Foxglove or PlotJuggler',
    )
    parser.add_argument(
        '--replay-recording',
        metavar='FILE',
        help='replay the commands of a recording, and check that the motion is bitwise identical',
    )
    parser.add_argument(
        '--replay',
        type=int,
        metavar='RUN',
        help='repeat run RUN of the campaign in the folder of --report',
    )
    parser.add_argument(
        '--scheduler',
        metavar='ADDRESS',
        help='run a campaign on Dask: address of a scheduler, such as tcp://server:8786, or local',
    )
    parser.add_argument(
        '--table',
        metavar='FILE',
        help='also write the rows of a campaign to FILE, .parquet or .csv',
    )
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


def execute(
    arguments: argparse.Namespace,
    over_ros: OverRosRecorded,
    isolated: Optional[IsolatedRun] = None,
) -> Tuple[int, str]:
    """Run a scenario, or a campaign of it, and write the report.

    :param over_ros: runs a scenario with a controller process
    :param isolated: the same in a separate domain, for parallel runs
    :return: 0 if all limits were kept, otherwise 1; and a message
    :raises ValueError: for an invalid scenario, controller or argument
    """
    remove_old_reports(arguments)
    seed, folder = arguments.seed, Path(arguments.report)
    if seed is not None and not 0 <= seed <= MAX_SEED:
        raise ValueError(f'--seed {seed} is not valid; give a whole number from 0 to {MAX_SEED}')
    check_recording(arguments)
    if arguments.scenario is None:
        raise ValueError('give the path of a scenario file, see docs/hil.md')
    about_timing = _is_about_timing(arguments)
    if arguments.seeds is not None or arguments.replay is not None:
        from rbd_ros.hil.campaign.campaign_command import execute_campaign

        return execute_campaign(arguments, folder, isolated)
    for name in ('vary', 'scheduler', 'table'):
        if getattr(arguments, name):
            raise ValueError(
                f'--{name} applies to a campaign only; give the number of runs by --seeds'
            )
    scenario = read_scenario(arguments.scenario)
    if arguments.replay_recording:
        from rbd_ros.hil.report.run_replay import replay

        found = replay(scenario, arguments.replay_recording)
        return (0 if found.identical else 1), str(found)

    def run(scenario: Scenario, folder: Path, recorder: Optional[RunRecorder] = None) -> Run:
        kind = CONTROLLERS[scenario.controller.kind]
        if kind.over_ros:
            return over_ros(scenario, folder, seed, recorder)
        if (alone := kind.runner()) is not None:
            return alone(scenario, folder, seed, recorder)
        return Bench(scenario).run(kind.make(scenario), seed, recorder=recorder)

    if about_timing:
        from rbd_ros.hil.timing_commands import execute as search

        return search(arguments, scenario, run, folder)
    with _recorder(arguments.record, scenario) as recorder:
        found_run = run(scenario, folder, recorder)
    code, text = reported(scenario, found_run, folder)
    if arguments.json:
        return code, read_text(folder / NUMBERS, MAX_TEXT).rstrip()
    return code, text + (f'\nrecording: {arguments.record}' if arguments.record else '')


def remove_old_reports(arguments: argparse.Namespace) -> None:
    """Remove reports of an earlier command from the folder.

    This is the first step, so that CI cannot read an old report after an error.

    :raises ValueError: if one cannot be removed
    """
    if arguments.scenario is None or arguments.replay_recording:
        return
    if arguments.seeds is not None or arguments.replay is not None:
        return  # a campaign is resumed
    folder, of_run = Path(arguments.report), (PAGE, JUNIT, NUMBERS)
    if arguments.dead_time or arguments.rates is not None:
        from rbd_ros.hil.timing_commands import old_files

        old = old_files(arguments, folder, of_run)
    else:
        old = [folder / name for name in of_run]
    try:
        for path in old:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise ValueError(f'the report cannot be written: {error}') from None


def is_of_a_node(arguments: argparse.Namespace) -> bool:
    """Return whether the replayed recording is of a simulator node, which needs no scenario.

    :raises ValueError: if the recording cannot be read
    """
    check_recording(arguments)
    if not arguments.replay_recording:
        return False
    from rbd_ros.hil.report.recorded_run import about_of

    return about_of(arguments.replay_recording).get('kind') == 'simulator'


def _is_about_timing(arguments: argparse.Namespace) -> bool:
    """Return whether a timing search is requested: --dead-time or --rates.

    :raises ValueError: for both, or one with a campaign
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


def check_recording(arguments: argparse.Namespace) -> None:
    """Reject options that do not apply to a recording."""
    many = arguments.seeds is not None or arguments.replay is not None or arguments.vary
    timing = arguments.dead_time or arguments.rates is not None
    for name in ('record', 'replay_recording', 'json'):
        if getattr(arguments, name) and (many or timing):
            others = 'a campaign' if many else '--dead-time or --rates'
            raise ValueError(
                f'--{name.replace("_", "-")} applies to one run, not to {others}; leave it out'
            )
    if arguments.json and arguments.replay_recording:
        raise ValueError('--json and --replay-recording do not go together: leave one out')
    if arguments.record and arguments.replay_recording:
        raise ValueError('--record and --replay-recording do not go together: leave one out')
    if arguments.replay_recording and arguments.seed is not None:
        raise ValueError(
            '--seed applies to a new run only, since a recording has its own; leave it out'
        )


@contextmanager
def _recorder(path: Optional[str], scenario: Scenario) -> Iterator[Optional[RunRecorder]]:
    if not path:
        yield None
        return
    from rbd_ros.hil.report.run_recorder import RunRecorder

    with RunRecorder(path, scenario) as recorder:
        yield recorder
