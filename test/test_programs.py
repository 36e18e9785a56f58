# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C during the import of a program ends it at once, without a traceback.

The signal is sent at the import of a certain module, so nothing depends on timing.
"""

import os
import subprocess
import sys

import pytest
from support import fresh_python, outside
from support.fresh_python import python_path

from rbd_ros import programs

HOOK = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ['INTERRUPTED_MODULE']:
            sys.stdout.write('interrupted\\n')
            sys.stdout.flush()
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
"""
NODES = ('simulator', 'inverse_dynamics', 'gravity_compensation', 'external_torque_observer',
         'trajectory_feedforward', 'udp_bridge')  # fmt: skip
OTHERS = {
    'rbd_ros': (
        'rbd_ros.cli.main',
        ('info', 'six_axis_arm'),
        ('rbd_ros.cli.output.text_table', 'numpy'),
    ),
    'hil_record': ('rbd_ros.nodes.bench.hil_record', ('x.mcap',), ('rclpy',)),
    'hil_run': ('rbd_ros.nodes.bench.hil_run', ('x.yaml',), ('argparse', 'numpy')),
}
PROGRAMS = {
    **{each: (f'rbd_ros.nodes.{each}', (), ('rbd_ros.nodes.common', 'rclpy')) for each in NODES},
    **OTHERS,
}
CASES = [(name, module) for name, (*_, modules) in PROGRAMS.items() for module in modules]


def interrupted(folder, interrupted_module, *words):
    """Return the exit code of a program that is interrupted when it imports a module."""
    (folder / 'sitecustomize.py').write_text(HOOK)
    done = subprocess.run(
        [sys.executable, *words],
        env={
            **os.environ,
            'PYTHONPATH': python_path(folder),
            'INTERRUPTED_MODULE': interrupted_module,
        },
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.stdout, done.stderr) == ('interrupted\n', '')
    return done.returncode


@pytest.mark.parametrize('name, module', CASES)
def test_ctrl_c_ends_commands_that_are_imported(tmp_path, name, module):
    outside.load('rclpy')
    _, words, _ = PROGRAMS[name]
    script = tmp_path / name
    script.write_text(f'import sys\nfrom rbd_ros.programs import {name}\nsys.exit({name}())\n')
    expected = 130 if name in OTHERS else 0
    assert interrupted(tmp_path, module, str(script), *words) == expected


@pytest.mark.parametrize('name, module', CASES)
def test_ctrl_c_ends_modules_that_are_imported(tmp_path, name, module):
    outside.load('rclpy')
    run, words, _ = PROGRAMS[name]
    expected = 130 if name in OTHERS else 0
    assert interrupted(tmp_path, module, '-m', run, *words) == expected


def test_importing_the_package_leaves_signals_alone():
    code = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import rbd_ros.cli.main, rbd_ros.nodes, rbd_ros.programs
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""
    environment = {**os.environ, 'PYTHONPATH': python_path()}
    subprocess.run([sys.executable, '-c', code], env=environment, check=True)


@pytest.mark.parametrize('module', ['rbd_ros.cli.main', 'rbd_ros.nodes.simulator'])
def test_linear_algebra_makes_no_threads_unless_the_environment_asks_for_them(module):
    code = f"""
import os
from rbd_ros import programs
programs.guard({module!r})
import numpy
print(len(os.listdir('/proc/self/task')), *map(os.environ.get, programs.SINGLE_THREADED))
"""
    names = programs.SINGLE_THREADED
    assert fresh_python.run(code, **dict.fromkeys(names)).stdout.split() == ['1', '1', '1', '1']
    asked = fresh_python.run(code, **dict.fromkeys(names, 2)).stdout.split()
    assert asked[1:] == ['2', '2', '2']
