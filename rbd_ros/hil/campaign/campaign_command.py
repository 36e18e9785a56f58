# SPDX-License-Identifier: Apache-2.0
"""Campaigns of `rbd_ros hil`: --seeds, and --replay of one run."""

from __future__ import annotations

import argparse
from pathlib import Path
import sys
from typing import Optional, Tuple

from rbd_ros.hil.campaign.campaign import Campaign, failed, run_folder
from rbd_ros.hil.campaign.campaign_files import check_table, write_table
from rbd_ros.hil.campaign.campaign_report import CAMPAIGN_PAGE, write_campaign
from rbd_ros.hil.campaign.variation import read_variations
from rbd_ros.hil.report.run_report import reported
from rbd_ros.hil.scenario.controller_entry import RunApart

MAX_RUNS = 10_000_000


def execute_campaign(
    arguments: argparse.Namespace, folder: Path, apart: Optional[RunApart]
) -> Tuple[int, str]:
    """Run a campaign, or one of its runs again.

    :param folder: folder of the report
    :param apart: runs one whose controller is a process, several at a time
    :return: 0 if all limits were kept, or the run is the same, else 1; and what to say
    :raises ValueError: for a wrong scenario, controller or argument
    """
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
    _, text = reported(scenario, run, folder / run_folder(number))
    values = ', '.join(f'{name} {value:g}' for name, value in campaign.values(number).items())
    return 0 if same else 1, f'run {number} with {values or "its seed"}: {outcome}\n{text}'
