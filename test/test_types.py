# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Types of robots, their families and options, as seen by type checkers and editors."""

from functools import cached_property
import re
import subprocess
import sys
from typing import get_args

import pytest
from support.source_imports import ROOT

from rbd_ros import Robot
from rbd_ros.simulation.integrators.integrator import integrators
from rbd_ros.simulation.physics import IntegratorName

FAMILIES = [name for name, each in vars(Robot).items() if isinstance(each, cached_property)]
#: Lines of a program, and what the type checker says about each.
LINES = {
    'from rbd_ros import Robot, Simulator': '',
    "robot = Robot.from_urdf('arm.urdf')": '',
    'q = v = a = robot.neutral()': '',
    **{f'reveal_type(robot.{name})': 'Functions"' for name in FAMILIES},
    'reveal_type(robot.derivatives.inverse_dynamics(q, v, a).dtau_dq)': 'ndarray',
    'reveal_type(robot.derivatives.forward_dynamics(q, v, a))': 'ForwardDynamicsDerivatives',
    'reveal_type(robot.regressors.torque(q, v, a))': 'ndarray',
    "tool = robot.frame('tool0', 'aligned')": '',
    'reveal_type(tool.jacobian_gradient(q).dJ_dq)': 'ndarray',
    'reveal_type(tool.inverse_kinematics(tool.pose(q)).q)': 'ndarray',
    'reveal_type(Simulator(robot).rollout(q, v, a, 9).diverged)': 'ndarray',
    "robot.jacobian(q, 'tool0', 'alined')": 'incompatible type "Literal[\'alined\']"',
    "robot.mass_matrix(q, storage='paked')": 'incompatible type',
    "robot.loops.forward_dynamics(q, v, a, method='ktt')": 'incompatible type',
    "Simulator(robot, integrator='midpont')": 'incompatible type',
    "Simulator(robot, world={}, restitution_model='poison')": 'incompatible type',
}


@pytest.mark.slow
def test_a_type_checker_knows_families_results_and_options(tmp_path):
    file = tmp_path / 'program.py'
    file.write_text('\n'.join(LINES))
    done = subprocess.run(
        [sys.executable, '-m', 'mypy', '--strict', '--config-file', 'pyproject.toml', str(file)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    found = dict(re.findall(r'program\.py:(\d+): (?:error|note): (.*)', done.stdout))
    assert found, done.stdout + done.stderr
    for number, (line, expected) in enumerate(LINES.items(), 1):
        message = found.get(str(number), '')
        assert expected in message and bool(message) == bool(expected), (line, message)


def test_all_integrators_are_known_by_name():
    assert set(get_args(IntegratorName)) == set(integrators())
