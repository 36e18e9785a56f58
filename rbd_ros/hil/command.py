# SPDX-License-Identifier: Apache-2.0
"""The commands rbd_ros hil and hil_run, but for ROS: arguments, runs, campaigns."""

from __future__ import annotations

import argparse
from contextlib import contextmanager
import os
from pathlib import Path
import sys
from typing import Callable, Iterator, Optional, Tuple

from rbd_ros.hil import dead_time, rates, timing_commands
from rbd_ros.hil.bench import Bench, Run
from rbd_ros.hil.campaign.campaign import Campaign, failed, run_folder
from rbd_ros.hil.campaign.campaign_files import check_table, write_table
from rbd_ros.hil.campaign.campaign_report import CAMPAIGN_PAGE, write_campaign
from rbd_ros.hil.campaign.variation import read_variations
from rbd_ros.hil.report.recorded_run import about_of
from rbd_ros.hil.report.run_recorder import RunRecorder
from rbd_ros.hil.report.run_replay import replay
from rbd_ros.hil.report.run_report import JUNIT, NUMBERS, PAGE, summary, write_report
from rbd_ros.hil.scenario.controller_entry import CONTROLLERS, RunApart
from rbd_ros.hil.scenario.scenario import MAX_SEED, read_scenario, Scenario

#: Runs a scenario over ROS: scenario, folder for files, seed, who records it.
OverRosRecorded = Callable[[Scenario, Path, Optional[int], Optional[RunRecorder]], Run]

MAX_RUNS = 10_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument('scenario', nargs='?', help='scenario file, see docs/hil_reference.md')
    parser.add_argument(
        '--report',
        metavar='DIR',
        default='hil_report',
        help='folder for report.html, junit.xml and result.json (default: %(default)s)',
    )
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
    timing_commands.add_arguments(parser)


def execute(
    arguments: argparse.Namespace, over_ros: OverRosRecorded, apart: Optional[RunApart] = None
) -> Tuple[int, str]:
    """Run a scenario, or a campaign of it, and write the report.

    :param over_ros: runs one whose controller is a process
    :param apart: the same, so that several at a time do not hear each other
    :return: 0 if all limits were kept, else 1; and what to say
    :raises ValueError: for a wrong scenario, controller or argument
    """
    remove_old_reports(arguments)
    seed, folder = arguments.seed, Path(arguments.report)
    if seed is not None and not 0 <= seed <= MAX_SEED:
        raise ValueError(f'--seed {seed} is not valid; give a whole number from 0 to {MAX_SEED}')
    check_recording(arguments)
    if arguments.scenario is None:
        raise ValueError('give the path of a scenario file, see docs/hil.md')
    about_timing = timing_commands.is_requested(arguments)
    if arguments.seeds is not None or arguments.replay is not None:
        return _campaign(arguments, folder, apart)
    for name in ('vary', 'scheduler', 'table'):
        if getattr(arguments, name):
            raise ValueError(
                f'--{name} applies to a campaign only; give the number of runs by --seeds'
            )
    scenario = read_scenario(arguments.scenario)
    if arguments.replay_recording:
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
        return timing_commands.execute(arguments, scenario, run, folder)
    with _recorder(arguments.record, scenario) as recorder:
        found_run = run(scenario, folder, recorder)
    code, text = _reported(scenario, found_run, folder)
    return code, text + (f'\nrecording: {arguments.record}' if arguments.record else '')


def remove_old_reports(arguments: argparse.Namespace) -> None:
    """Remove what an earlier command wrote where this one is going to.

    It comes first of all: whatever is wrong with the scenario or the controller, CI must not take
    a report of yesterday for that of today.

    :raises ValueError: if it cannot be removed
    """
    if arguments.scenario is None or arguments.replay_recording:
        return
    if arguments.seeds is not None or arguments.replay is not None:
        return  # a campaign goes on where it was
    folder, of_run = Path(arguments.report), (PAGE, JUNIT, NUMBERS)
    if arguments.dead_time:
        old = [folder / dead_time.PAGE, folder / dead_time.NUMBERS]
    elif arguments.rates is not None:
        old = [folder / rates.PAGE, folder / rates.NUMBERS]
        old += [path for name in of_run for path in folder.glob(f'{rates.FOLDER}*/{name}')]
    else:
        old = [folder / name for name in of_run]
    try:
        for path in old:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise ValueError(f'the report cannot be written: {error}') from None


def is_of_a_node(arguments: argparse.Namespace) -> bool:
    """Return whether a recording of a simulator node is to be replayed, which needs no scenario.

    :raises ValueError: if the recording cannot be read
    """
    check_recording(arguments)
    path = arguments.replay_recording
    return bool(path) and about_of(path).get('kind') == 'simulator'


def check_recording(arguments: argparse.Namespace) -> None:
    """Reject what does not go with a recording."""
    many = arguments.seeds is not None or arguments.replay is not None or arguments.vary
    timing = arguments.dead_time or arguments.rates is not None
    for name in ('record', 'replay_recording'):
        if getattr(arguments, name) and (many or timing):
            others = 'a campaign' if many else '--dead-time or --rates'
            raise ValueError(
                f'--{name.replace("_", "-")} applies to one run, not to {others}; leave it out'
            )
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
    with RunRecorder(path, scenario) as recorder:
        yield recorder


def _reported(scenario: Scenario, run: Run, folder: Path) -> Tuple[int, str]:
    verdict = write_report(scenario, run, folder)
    text = f'{summary(scenario, run, verdict)}\nreport: {folder / PAGE}'
    return 0 if verdict.passed else 1, text


def _campaign(
    arguments: argparse.Namespace, folder: Path, apart: Optional[RunApart]
) -> Tuple[int, str]:
    if arguments.seed is not None:
        raise ValueError(
            '--seed applies to one run only, since the seeds of a campaign begin with that of '
            'the file; leave it out'
        )
    variations = read_variations(arguments.vary)
    campaign = Campaign(arguments.scenario, folder, variations, apart)
    if arguments.replay is not None:
        return _replay(campaign, arguments.replay, folder)
    count, jobs = arguments.seeds, arguments.jobs
    if not 1 <= count <= MAX_RUNS:
        raise ValueError(f'--seeds {count}: give 1 to {MAX_RUNS} runs')
    if not 1 <= jobs <= 1024:
        raise ValueError(f'--jobs {jobs}: give 1 to 1024 processes')
    table = None if arguments.table is None else Path(arguments.table)
    if table is not None:
        check_table(table)
    try:
        rows = campaign.execute(count, jobs, _print_progress, arguments.scheduler)
    except RuntimeError as error:
        raise ValueError(
            f'{error}; the finished runs are kept, and the same command continues with the others'
        ) from None
    finally:
        sys.stderr.write('\n')
    write_campaign(campaign, rows)
    if table is not None:
        write_table(table, rows)
    bad = len(failed(rows))
    text = (
        f'{campaign.scenario.name}: {count - bad} of {count} runs kept all limits\n'
        f'report: {folder / CAMPAIGN_PAGE}'
    )
    return (1 if bad else 0), text


def _print_progress(done: int, count: int) -> None:
    bar = '#' * (30 * done // count)
    sys.stderr.write(f'\r[{bar:30s}] {done} of {count}')
    sys.stderr.flush()


def _replay(campaign: Campaign, number: int, folder: Path) -> Tuple[int, str]:
    """Repeat one run of a campaign; return 1 if it differs."""
    rows = campaign.rows()
    if number not in rows:
        raise ValueError(f'--replay {number}: the campaign in {folder} has no such run')
    scenario, run = campaign.replay(number)
    same = rows[number]['digest'] == run.digest
    outcome = (
        'bitwise identical' if same else 'NOT the same run; check whether the code has changed'
    )
    _, text = _reported(scenario, run, folder / run_folder(number))
    values = ', '.join(f'{name} {value:g}' for name, value in campaign.values(number).items())
    return 0 if same else 1, f'run {number} with {values or "its seed"}: {outcome}\n{text}'
