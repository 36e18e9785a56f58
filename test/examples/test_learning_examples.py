# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/learning.md learn, and swing up."""

import os
from pathlib import Path
import re
import subprocess
import sys

from support import outside
from support.fresh_python import python_path

ROOT = Path(__file__).resolve().parents[2]


def run(name, *arguments):
    """Return the output of an example."""
    environment = {**os.environ, 'PYTHONPATH': python_path()}
    command = [sys.executable, str(ROOT / 'examples' / f'{name}.py'), *arguments]
    return subprocess.run(
        command, check=True, env=environment, cwd=ROOT, capture_output=True, text=True
    ).stdout


def test_an_arm_learns_to_reach():
    outside.load('cma')
    outside.load('gymnasium')
    printed = run('learn_to_reach', '--generations', '40', '--environments', '16')
    reached, idle = map(float, re.search(r'targets: ([\d.]+) m, ([\d.]+) m', printed).groups())
    assert reached < 0.7 * idle


def test_a_weak_arm_swings_up():
    printed = run('model_predictive_control')
    assert float(re.search(r'at the end ([\d.]+) rad', printed)[1]) < 0.1
    # On the way it folds, which takes less torque than to lift the stretched arm.
    assert min(float(x) for x in re.findall(r'at \[ *[-\d.]+ +([-\d.]+)', printed)) < -0.5
