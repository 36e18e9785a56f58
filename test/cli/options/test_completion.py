# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Shell completion by the protocol of argcomplete in a separate process, as shells run it."""

import os
import subprocess
import sys

import pytest
from support import outside
from support.fresh_python import python_path
from support.source_imports import ROOT

from rbd_ros.cli.command_line import COMMANDS
from rbd_ros.cli.options.completion import paths

PROGRAM = 'from rbd_ros.programs import rbd_ros\nrbd_ros()\n'


@pytest.fixture
def shell(tmp_path):
    """Return a function that completes a line as a shell does: exit code and completions."""
    program = tmp_path / 'rbd_ros'
    program.write_text(PROGRAM)
    folder = tmp_path / 'here'
    (folder / 'models').mkdir(parents=True)
    for name in ('my_arm.urdf', 'my_notes.txt', 'my_world.yaml', 'models/hand.xacro'):
        (folder / name).write_text('')

    def complete(line, path=()):
        environment = {
            **os.environ,
            'PYTHONPATH': os.pathsep.join([*path, str(ROOT), os.environ.get('PYTHONPATH', '')]),
            '_ARGCOMPLETE': '1',
            '_ARGCOMPLETE_IFS': '\n',
            '_ARGCOMPLETE_SUPPRESS_SPACE': '1',
            'COMP_LINE': line,
            'COMP_POINT': str(len(line)),
        }
        # The completions are read from descriptor 8, and nothing else is shown.
        command = ['sh', '-c', 'exec "$@" 8>&1 1>/dev/null 2>&1', 'sh', sys.executable, program]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout.splitlines()

    return complete


@pytest.mark.parametrize(
    ('line', 'expected'),
    [
        ('rbd_ros ', list(COMMANDS)),
        ('rbd_ros s', ['simulate', 'static-torque']),
        ('rbd_ros --v', ['--version']),
        ('rbd_ros static-torque --pa', ['--package-path', '--payload']),
        ('rbd_ros info planar', ['planar_3r']),
        ('rbd_ros info my', ['my_arm.urdf']),
        ('rbd_ros info mod', ['models/']),
        ('rbd_ros info models/', ['models/hand.xacro']),
        ('rbd_ros simulate --world p', ['peg', 'push']),
        ('rbd_ros simulate --world=pu', ['--world=push']),
        ('rbd_ros simulate --world my', ['my_world.yaml']),
        ('rbd_ros codegen planar_3r --precision ', ['double', 'float']),
        ('rbd_ros feedforward planar_3r my_n', ['my_notes.txt']),
        ('rbd_ros info planar_3r --package-path ', ['models/']),
        ('rbd_ros static-torque planar_3r --samples ', []),
        ('rbd_ros no-such-command --', ['--help', '--version']),
    ],
)
def test_a_line_is_completed(shell, line, expected):
    outside.load('argcomplete')
    assert shell(line) == (0, expected)


def test_without_argcomplete_there_are_no_completions(shell, tmp_path):
    (tmp_path / 'missing').mkdir()
    (tmp_path / 'missing' / 'argcomplete.py').write_text('raise ImportError')
    assert shell('rbd_ros s', [str(tmp_path / 'missing')]) == (1, [])


def test_commands_do_not_import_it():
    code = (
        "import sys; from rbd_ros.cli.main import main; main(['worlds']); "
        "print({'argcomplete', 'rbd_ros.cli.options.completion'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, '-c', code],
        env={**os.environ, 'PYTHONPATH': python_path()},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == 'set()'


def test_paths_that_cannot_be_listed_are_none(tmp_path, monkeypatch):
    monkeypatch.setenv('HOME', str(tmp_path))
    (tmp_path / '.hidden').write_text('')
    (tmp_path / 'seen').write_text('')
    assert paths('~/') == ['~/seen'] and paths('~/.h') == ['~/.hidden']
    assert paths('~nobody-of-that-name/') == [] and paths('no/such/') == []
