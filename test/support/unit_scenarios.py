# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Scenarios with FMUs, and the FMUs that many of their tests share."""

from __future__ import annotations

import yaml

from rbd_ros import Robot
from rbd_ros.fmi import compile_fmu, make_fmu
from rbd_ros.hil import Bench, read_scenario
from rbd_ros.hil.controllers import make_controller
from rbd_ros.lookup.resources import resource_path
from support.small_units import Number, numbers, write_unit

JOINTS = ('shoulder', 'elbow')
ARRAYS = ('position', 'velocity', 'desired_position', 'desired_velocity', 'desired_acceleration')
# Two joints: positions from 0, velocities from 2, desired values from 4 to 9, efforts from 10.
FEEDBACK = """
    for (int k = 0; k < 2; ++k) x[10 + k] = x[12] * (x[4 + k] - x[k]) + 2.0 * (x[6 + k] - x[2 + k])
        + 0.1 * x[8 + k];
"""
PYTHON = """
def feedback(robot, trajectory, timestep, stiffness=40.0):
    def control(time, q, v):
        q_desired, v_desired, a_desired = trajectory.sample(time)
        return stiffness * (q_desired - q) + 2.0 * (v_desired - v) + 0.1 * a_desired
    return control
"""


def controller_variables(pattern='{joint}.'):
    given = [n for name in ARRAYS for n in numbers(pattern + name, JOINTS, 'input')]
    return [
        *given,
        *numbers(pattern + 'effort', JOINTS, 'output'),
        Number('stiffness', 'parameter', 40.0),
    ]


def scenario_of(folder, controller, **changes):
    content = {
        'robot': 'two_link_arm',
        'duration': 0.5,
        'trajectory': {'times': [0.0, 0.4], 'positions': [[0.2, 0.3], [0.5, 0.1]]},
        'controller': controller,
        **changes,
    }
    path = folder / 'scenario.yaml'
    path.write_text(yaml.safe_dump({k: v for k, v in content.items() if v is not None}))
    return path


def run_of(path):
    scenario = read_scenario(path)
    return Bench(scenario).run(make_controller(scenario))


def write_units(folder):
    """Write the FMUs that many tests share: controllers of both versions, an exported arm."""
    for version in ('2.0', '3.0'):
        write_unit(folder / f'feedback{version[0]}.fmu', version, controller_variables(), FEEDBACK)
    arm = Robot.from_urdf(resource_path('urdf', 'two_link_arm.urdf'))
    unit = make_fmu(arm, 0.001, 'semi_implicit')
    (folder / 'arm.fmu').write_bytes(unit.archive(compile_fmu(unit)))
    (folder / 'feedback.py').write_text(PYTHON)
