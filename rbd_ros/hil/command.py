"""The commands rbd_ros hil and hil_run, but for ROS: arguments, runs, campaigns."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
import sys
from typing import Callable, Optional, Tuple

from rbd_ros.hil.bench import Bench, Run
from rbd_ros.hil.campaign import Campaign, failed
from rbd_ros.hil.campaign_report import CAMPAIGN_PAGE, write_campaign
from rbd_ros.hil.controller_entry import IN_PROCESS
from rbd_ros.hil.controllers import make_controller
from rbd_ros.hil.report import PAGE, summary, write_report
from rbd_ros.hil.scenario import MAX_SEED, read_scenario, Scenario
from rbd_ros.hil.udp_controller import over_udp
from rbd_ros.hil.variation import read_variations

#: Runs a scenario over ROS: scenario, folder for files, seed.
OverRos = Callable[[Scenario, Path, Optional[int]], Run]

MOST_RUNS = 10_000_000


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
    parser.add_argument(
        '--seeds', type=int, metavar='N', help='do a campaign of so many runs, a row each'
    )
    parser.add_argument(
        '--vary',
        metavar='FAULT=LOW:HIGH,...',
        help='what differs between the runs of a campaign, as payload=0:5,latency=0:20ms',
    )
    parser.add_argument(
        '--jobs',
        type=int,
        metavar='N',
        default=os.cpu_count() or 1,
        help='processes of a campaign (default: the number of cores)',
    )
    parser.add_argument(
        '--replay', type=int, metavar='RUN', help='do one run of the campaign in DIR again'
    )


def execute(arguments: argparse.Namespace, over_ros: OverRos) -> Tuple[int, str]:
    """Run a scenario, or a campaign of it, and write the report.

    :param over_ros: runs one whose controller is a process
    :return: 0 if all limits were kept, else 1; and what to say
    :raises ValueError: for a wrong scenario, controller or argument
    """
    seed, folder = arguments.seed, Path(arguments.report)
    if seed is not None and not 0 <= seed <= MAX_SEED:
        raise ValueError(f'--seed {seed} is no seed; give a whole number from 0 to {MAX_SEED}')
    if arguments.seeds is not None or arguments.replay is not None:
        return _campaign(arguments, folder)
    if arguments.vary:
        raise ValueError('--vary is for a campaign: say by --seeds how many runs')
    scenario = read_scenario(arguments.scenario)
    if scenario.controller.kind in IN_PROCESS:
        controller = make_controller(scenario)
        run = Bench(scenario).run(controller, seed)
    elif scenario.controller.kind == 'udp':
        run = over_udp(scenario, folder, seed)
    else:
        run = over_ros(scenario, folder, seed)
    return _reported(scenario, run, folder)


def _reported(scenario: Scenario, run: Run, folder: Path) -> Tuple[int, str]:
    verdict = write_report(scenario, run, folder)
    text = f'{summary(scenario, run, verdict)}\nreport: {folder / PAGE}'
    return 0 if verdict.passed else 1, text


def _campaign(arguments: argparse.Namespace, folder: Path) -> Tuple[int, str]:
    if arguments.seed is not None:
        raise ValueError(
            '--seed is for one run: the seeds of a campaign begin with that of the file'
        )
    variations = read_variations(arguments.vary)
    campaign = Campaign(arguments.scenario, folder, variations)
    if arguments.replay is not None:
        return _replay(campaign, arguments.replay, folder)
    count, jobs = arguments.seeds, arguments.jobs
    if not 1 <= count <= MOST_RUNS:
        raise ValueError(f'--seeds {count}: give 1 to {MOST_RUNS} runs')
    if not 1 <= jobs <= 1024:
        raise ValueError(f'--jobs {jobs}: give 1 to 1024 processes')
    try:
        rows = campaign.execute(count, jobs, _tell_progress)
    except RuntimeError as error:
        raise ValueError(
            f'{error}; what was done is kept, and the command goes on there'
        ) from None
    finally:
        sys.stderr.write('\n')
    write_campaign(campaign, rows)
    bad = len(failed(rows))
    text = (
        f'{campaign.scenario.name}: {count - bad} of {count} runs kept all limits\n'
        f'report: {folder / CAMPAIGN_PAGE}'
    )
    return (1 if bad else 0), text


def _tell_progress(done: int, count: int) -> None:
    bar = '#' * (30 * done // count)
    sys.stderr.write(f'\r[{bar:30s}] {done} of {count}')
    sys.stderr.flush()


def _replay(campaign: Campaign, number: int, folder: Path) -> Tuple[int, str]:
    """Do one run of a campaign again; 1 if it is another one than then."""
    rows = campaign.rows()
    if number not in rows:
        raise ValueError(f'--replay {number}: the campaign in {folder} has no such run')
    scenario, run = campaign.replay(number)
    same = rows[number]['digest'] == run.digest
    told = 'the same to the bit' if same else 'NOT the run that it was: has the code changed?'
    _, text = _reported(scenario, run, folder / f'run_{number}')
    values = ', '.join(f'{name} {value:g}' for name, value in campaign.values(number).items())
    return 0 if same else 1, f'run {number} with {values or "its seed"}: {told}\n{text}'
