# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The example in C, examples/c_controller, compiled as its page says."""

from __future__ import annotations

from pathlib import Path
import shutil
import subprocess

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.robot.export import c_library
from support.source_imports import ROOT

COMPILER = shutil.which('cc') or shutil.which('gcc') or shutil.which('clang')
EXAMPLE = ROOT / 'examples' / 'c_controller'
STRICT = ['-std=gnu99', '-Wall', '-Wextra', '-Werror', '-O2']


def build_example(folder: Path, robot_name: str = 'six_axis_arm') -> Path:
    """Export the kernels and compile `libcontrol.so` and `udp_controller` into a folder."""
    robot = Robot.from_urdf(resource_path('urdf', f'{robot_name}.urdf'))
    kernels = Path(folder) / 'arm'
    kernels.mkdir(parents=True)
    for name, text in c_library(robot, ['gravity_torque', 'inverse_dynamics'], 'arm').items():
        (kernels / name).write_text(text)
    shared = [*map(str, sorted(kernels.glob('*.c'))), str(EXAMPLE / 'control.c')]
    head = [COMPILER, *STRICT, '-I', str(EXAMPLE), '-I', str(kernels)]
    library = ['-fPIC', '-shared', '-o', str(Path(folder) / 'libcontrol.so')]
    program = ['-o', str(Path(folder) / 'udp_controller'), str(EXAMPLE / 'udp_controller.c')]
    for options in (library, program):
        subprocess.run([*head, *options, *shared, '-lm'], check=True)
    return Path(folder)


def compile_library(folder: Path, text: str, name: str = 'own.so') -> Path:
    """Compile a text in C to a shared library."""
    source = Path(folder) / f'{name}.c'
    source.write_text('#include <stdint.h>\n#include <math.h>\n' + text)
    target = Path(folder) / name
    options = ['-O1', '-fPIC', '-shared', '-o', str(target), str(source), '-lm']
    subprocess.run([COMPILER, *options], check=True)
    return target
