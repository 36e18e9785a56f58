# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Scenarios of the bench: the six-axis arm, 5 s at 1 kHz, with noise and latency."""

from __future__ import annotations

from pathlib import Path
import sys
from typing import Any, Dict, List

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / 'test')]

from support.c_example import build_example, EXAMPLE  # noqa: E402
from support.small_units import Number, numbers, write_unit  # noqa: E402
import yaml  # noqa: E402

from rbd_ros import Robot  # noqa: E402
from rbd_ros.fmi import compile_fmu, make_fmu  # noqa: E402
from rbd_ros.lookup.resources import resource_path  # noqa: E402

PYTHON = {'controller': {'python': 'rbd_ros.hil.controllers:computed_torque'}}
_INPUTS = ('position', 'velocity', 'desired_position', 'desired_velocity', 'desired_acceleration')
_LAW = """
    static const double kp[6] = {1200, 1200, 600, 60, 20, 2}, kd[6] = {80, 80, 40, 2, 0.5, 0.02};
    for (int k = 0; k < 6; ++k)
        x[30 + k] = kp[k] * (x[12 + k] - x[k]) + kd[k] * (x[18 + k] - x[6 + k]);
"""


def write(folder: Path, name: str, changes: Dict[str, Any], duration: float = 5.0) -> Path:
    """Write a scenario; return its path.

    :param changes: keys that differ from the example in C
    :param duration: duration [s]
    """
    content = yaml.safe_load((EXAMPLE / 'scenario.yaml').read_text())
    path = folder / f'{name}.yaml'
    # In a shorter run, faults and events after its end are omitted.
    faults = [each for each in content.get('faults', ()) if each.get('start_time', 0.0) < duration]
    content |= {'duration': duration, 'faults': faults, **changes}
    path.write_text(yaml.safe_dump(content))
    return path


def in_process(folder: Path, names: List[str], duration: float) -> Dict[str, Path]:
    """Return the scenarios with controllers in the process of the bench, by kind of controller.

    :param folder: folder for files
    :param names: some of 'function in Python', 'function in C', 'FMU', and
        'function in C, FMU as plant'
    :param duration: duration of each [s]
    :raises FileNotFoundError: if there is no C compiler
    """
    in_c = {'c': {'library': 'build/libcontrol.so', 'function': 'computed_torque'}}
    if any(' C' in name for name in names):
        build_example(folder / 'build')
    robot = Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))
    if any('plant' in name for name in names):
        unit = make_fmu(robot, 0.001, 'semi_implicit')
        (folder / 'arm.fmu').write_bytes(unit.archive(compile_fmu(unit)))
    if 'FMU' in names:
        joints = robot.joint_names
        inputs = [v for each in _INPUTS for v in numbers(f'{{joint}}.{each}', joints, 'input')]
        inputs += numbers('{joint}.effort', joints, 'output')
        write_unit(folder / 'law.fmu', '3.0', [*inputs, Number('unused', 'parameter')], _LAW)
    changes = {
        'function in Python': PYTHON,
        'function in C': {'controller': in_c},
        'FMU': {'controller': {'fmu': 'law.fmu'}},
        'function in C, FMU as plant': {'controller': in_c, 'plant': {'fmu': 'arm.fmu'}},
    }
    return {
        name: write(folder, name.replace(' ', '_').replace(',', ''), changes[name], duration)
        for name in names
    }
