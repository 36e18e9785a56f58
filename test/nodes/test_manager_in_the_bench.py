# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The bench with a controller_manager on simulated time: one cycle per period."""

import json
import os
from pathlib import Path
import subprocess
import sys

import pytest
from support import outside
from support.fresh_python import python_path
from support.waiting import CEILING
import yaml

outside.load('rclpy')

from rbd_ros.nodes.bench.topic_controller import STEPS_BEFORE

ROOT = Path(__file__).resolve().parents[2]
MANAGER = ROOT / 'test' / 'nodes' / 'manager_stand_in.py'
MILLISECOND = 1_000_000


class Report:
    """Outcome of a run.

    :param done: the process of hil_run
    :param folder: of the report
    :param log: what the manager wrote, one line per cycle
    """

    def __init__(self, done, folder, log):
        self.code, self.text = done.returncode, done.stdout + done.stderr
        result = folder / 'result.json'
        self.numbers = json.loads(result.read_text()) if result.is_file() else {}
        lines = log.read_text().splitlines() if log.is_file() else []
        self.cycles = [json.loads(line) for line in lines]
        #: Times of the cycles.
        self.times = [line[0] for line in self.cycles]


@pytest.fixture
def bench(ros, tmp_path):
    def run(name, *options, changes=(), patience=20, **controller):
        log, folder = tmp_path / f'{name}.log', tmp_path / name
        scenario = tmp_path / f'{name}.yaml'
        content = {
            'robot': 'two_link_arm',
            'duration': 0.4,
            'trajectory': {'times': [0.0, 0.3], 'positions': [[0.2, 0.3], [0.3, 0.2]]},
            'controller': {
                'command': [sys.executable, str(MANAGER), str(log), *options],
                'answers': 'order',
                **controller,
            },
            **dict(changes),
        }
        scenario.write_text(yaml.safe_dump(content))
        done = subprocess.run(
            [
                *(sys.executable, '-m', 'rbd_ros.nodes.bench.hil_run', str(scenario)),
                *('--report', str(folder), '--ros-args'),
            ],
            env={
                **os.environ,
                'ROS_DOMAIN_ID': str(ros.domain),
                'PYTHONPATH': python_path(),
                'RBD_ROS_HIL_START_TIMEOUT': str(patience),
            },
            capture_output=True,
            text=True,
            timeout=CEILING,
        )
        return Report(done, folder, log)

    return run


def periods(run):
    """From cycle to cycle, since states come as fast as they are answered."""
    times = run.times[-STEPS_BEFORE - 40 :]
    return {b - a for a, b in zip(times, times[1:])}


def test_each_period_is_one_cycle_with_the_state_of_its_time(bench):
    # A manager that takes states slowly, and does not wake up once.
    troubled = ('--slow', '0.002', '--miss', '4400', '--late', '0.15')
    runs = [bench('first', update_rate=100), bench('second', *troubled, update_rate=100)]
    for run in runs:
        assert run.code == 0, run.text
        assert run.numbers['steps'] == 400 and run.numbers['largest_torque'] > 0.1
        assert periods(run) == {10 * MILLISECOND}
        # Before, a manager that is late sees the newest time alone.
        assert not any(measured % (10 * MILLISECOND) for _, measured, _, _ in run.cycles)
    assert runs[0].times[-40:] == [4280 * MILLISECOND + 10 * k * MILLISECOND for k in range(40)]
    assert runs[0].times[-40:] == runs[1].times[-40:]
    assert [line[2] for line in runs[0].cycles[-40:]] == [line[2] for line in runs[1].cycles[-40:]]
    assert runs[0].numbers['digest'] == runs[1].numbers['digest']
    assert runs[0].cycles[-40][2] == [0.2, 0.3]  # time 0


def test_without_update_rate_the_timestep_is_the_period(bench):
    run = bench('same', changes={'timestep': 0.01})
    assert run.code == 0, run.text
    assert periods(run) == {10 * MILLISECOND}


def test_commands_of_nan_are_no_readiness_and_no_error(bench):
    run = bench('inactive', '--switched', 'inf', update_rate=100, patience=8)
    assert run.code == 1 and run.numbers['steps'] == 0
    failure = run.numbers['failure']
    assert 'no usable command within 8 s: its efforts are not finite' in failure
    assert len(run.times) > 10  # it was given time to start


def test_a_manager_of_another_rate_is_reported(bench):
    run = bench(
        'slower', '--update-rate', '50', update_rate=100, changes={'response_timeout': 2.5}
    )
    assert run.code == 1
    assert 'one is due in each period' in run.numbers['failure']
