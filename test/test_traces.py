# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Files imported for one task do not increase in number."""

import subprocess
import sys

import pytest
from support.source_imports import ROOT

from rbd_ros.compiler import unavailable_reason

INVERSE_DYNAMICS = """
from rbd_ros import Robot
robot = Robot.from_urdf('urdf/six_axis_arm.urdf')
robot.inverse_dynamics(*[[0.0] * 6] * 3)
"""
SIMULATOR = """
from rbd_ros import Robot, Simulator
Simulator(Robot.from_urdf('urdf/six_axis_arm.urdf'), world='config/table_world.yaml')
"""
BENCH = """
from rbd_ros.cli.main import main
main(['hil', 'config/hil/payload_drop.yaml', '--report', {report!r}])
"""
COUNT = "import sys; print(len([each for each in sys.modules if each.split('.')[0] == 'rbd_ros']))"


def modules_of(job, tmp_path):
    """Return how many modules of the package a job imports that finds its machine code on disk."""
    code = f'{job.format(report=str(tmp_path))}\n{COUNT}'
    for _ in range(2):  # the first one makes the machine code
        done = subprocess.run(
            [sys.executable, '-c', code], cwd=ROOT, capture_output=True, text=True, check=True
        )
    return int(done.stdout.splitlines()[-1])


@pytest.mark.skipif(unavailable_reason() is not None, reason='without a compiler all is imported')
@pytest.mark.parametrize(
    ('job', 'most'),
    [
        pytest.param(INVERSE_DYNAMICS, 67, id='inverse dynamics of a URDF'),
        pytest.param(SIMULATOR, 157, id='a simulator in a world'),
        pytest.param(BENCH, 202, id='a run of the bench'),
    ],
)
def test_a_job_imports_few_files(job, most, tmp_path):
    found = modules_of(job, tmp_path)
    assert found <= most, (
        f'{found} modules are imported, and at most {most} should be: whoever follows this job '
        'reads as many files, and waits for them. Import what it does not need where that is '
        'used, name compiled loops by `entry_point_of` or `NamedFunction`, or merge files of one '
        'subject. If the job does need more, raise the bound.'
    )
