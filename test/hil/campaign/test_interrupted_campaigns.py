# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A campaign killed at any time resumes without lost or duplicate runs."""

import csv
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from support.source_imports import ROOT
from support.waiting import CEILING, until
import yaml

from rbd_ros.hil.campaign.campaign import Campaign
from rbd_ros.hil.campaign.campaign_files import campaign_lock

RUNS, TRIES = 60, 20
SLOW = """
import time

def hold(robot, trajectory, timestep):
    time.sleep(0.1)
    def control(time, q, v):
        desired = trajectory.sample(time)[0]
        return 40.0 * (desired - q) - 2.0 * v + robot.gravity_torque(q)
    return control
"""


def whole_rows(folder):
    """Return the complete rows of the file, in any state of it."""
    table = folder / 'runs.csv'
    if not table.is_file():
        return []
    text = table.read_text()
    return list(csv.reader(text[: text.rfind('\n') + 1].splitlines()))[1:]


@pytest.mark.slow
def test_a_campaign_killed_twenty_times_is_the_one_that_was_never_killed(path, tmp_path):
    (tmp_path / 'controllers.py').write_text(SLOW)
    content = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump({**content, 'duration': 0.01}))
    whole, killed = tmp_path / 'whole', tmp_path / 'killed'
    Campaign(str(path), whole).execute(RUNS, 2, lambda *_: None)
    words = [sys.executable, '-m', 'rbd_ros.cli.main', 'hil', str(path), '--jobs', '2']
    words += ['--seeds', str(RUNS), '--report', str(killed)]
    environment = {**os.environ, 'PYTHONPATH': str(ROOT)}
    chance = np.random.default_rng(5)
    before, grew = {}, 0
    for number in range(TRIES):
        process = subprocess.Popen(
            words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        # Some are killed while they begin; the others a moment after some more runs, so that the
        # table is written just then.
        more = int(chance.integers(0, 3)) if number % 4 else -1

        rows = min(len(before) + more, RUNS - 2)

        def far_enough(process=process, rows=rows):
            assert process.poll() is None
            return len(whole_rows(killed)) >= rows

        if more >= 0:
            until(far_enough, 'runs', lambda: time.sleep(0.001))
        time.sleep(float(chance.uniform(0.0, 1.5 if more < 0 else 0.1)))
        process.send_signal(signal.SIGKILL)
        process.wait()
        rows = whole_rows(killed)
        found = {each[0]: each for each in rows}
        assert len(found) == len(rows), 'a run is there twice'
        assert {key: found.get(key) for key in before} == before, 'a run was lost or changed'
        grew += len(found) > len(before)
        before = found
    assert grew >= 3 and len(before) < RUNS  # they were killed in the middle of the work
    run = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=CEILING)
    assert f'{len(before)} of {RUNS}' in run.stderr  # where it went on
    assert (killed / 'runs.csv').read_bytes() == (whole / 'runs.csv').read_bytes()
    assert f'of {RUNS} runs kept all limits' in run.stdout


def test_a_second_command_in_the_folder_is_rejected_while_one_is_at_work(path, tmp_path):
    folder = tmp_path / 'runs'
    rejected = []

    def second(done, count):
        with pytest.raises(ValueError, match='another process runs the campaign') as error:
            Campaign(str(path), folder).execute(2, 1, lambda *_: None)
        rejected.append(str(error.value))

    Campaign(str(path), folder).execute(2, 1, second)
    assert len(rejected) == 3 and str(folder) in rejected[0]
    Campaign(str(path), folder).execute(3, 1, lambda *_: None)  # free again


def test_the_lock_of_a_process_that_was_killed_is_free(tmp_path):
    code = (
        'import sys, time\nfrom pathlib import Path\n'
        'from rbd_ros.hil.campaign.campaign_files import campaign_lock\n'
        'with campaign_lock(Path(sys.argv[1])):\n'
        '    print("held", flush=True)\n    time.sleep(600)\n'
    )
    holder = subprocess.Popen(
        [sys.executable, '-c', code, str(tmp_path)],
        env={**os.environ, 'PYTHONPATH': str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout.readline() == 'held\n'
    with pytest.raises(ValueError, match='another process'), campaign_lock(tmp_path):
        pass
    holder.kill()
    holder.wait()
    holder.stdout.close()
    with campaign_lock(Path(tmp_path)):
        pass


@pytest.mark.parametrize('what', ['link', 'pipe'])
def test_a_lock_that_is_not_a_file_is_rejected_and_its_target_is_unchanged(tmp_path, what):
    from rbd_ros.hil.campaign.campaign_files import campaign_lock, LOCK

    precious = tmp_path / 'precious'
    precious.write_text('not to be lost')
    if what == 'link':
        (tmp_path / LOCK).symlink_to(precious)
        with pytest.raises(ValueError, match=f'{LOCK} cannot be opened.*remove it'):
            with campaign_lock(tmp_path):
                pass
    else:
        os.mkfifo(tmp_path / LOCK)
        with campaign_lock(tmp_path):
            pass
    assert precious.read_text() == 'not to be lost'
