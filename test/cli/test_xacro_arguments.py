# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`--xacro name:=value`: commands take xacro files in place of URDFs."""

import io
import json
from types import SimpleNamespace

import pytest
from support import outside
from support.urdf_text import inertial, joint, LIMIT, link, robot
from support.xacro_files import xacro_of

from rbd_ros.cli.main import main

ARM = xacro_of(
    robot(
        link('base'),
        link('upper', inertial(mass='2')),
        link('lower', inertial(mass='1')),
        joint('shoulder', 'base', 'upper', 'revolute', LIMIT),
        joint('elbow', 'upper', 'lower', 'revolute', LIMIT),
        name='two_link',
    )
)
GIVEN = ['--xacro', 'upper_mass:=2.5', '--xacro', 'mass:=0.5']
TRAJECTORY = 'time,shoulder,elbow\n0,0,0\n1,0.1,0.1\n2,0,0\n'


@pytest.fixture
def file(tmp_path, monkeypatch):
    outside.load('xacro')
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'arm.urdf.xacro').write_text(ARM)
    (tmp_path / 'motion.csv').write_text(TRAJECTORY)
    return 'arm.urdf.xacro'


def test_arguments_reach_the_file(file, capsys):
    assert main(['info', file, *GIVEN, '--json']) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [body['mass'] for body in facts['bodies'][1:]] == [2.5, 0.5]


@pytest.mark.parametrize(
    'words',
    [
        ['info'],
        ['doctor'],
        ['static-torque', '--samples', '3'],
        ['feedforward', 'motion.csv'],
        ['codegen', '--functions', 'gravity_torque', '--output', 'out'],
    ],
    ids=lambda words: words[0],
)
def test_every_command_takes_xacro(file, capsys, words):
    command, *rest = words
    code = main([command, file, *rest, *GIVEN])
    captured = capsys.readouterr()
    assert code == 0, captured.err
    assert main([command, file, *rest]) == 1
    error = ''.join(capsys.readouterr())
    assert 'arm.urdf.xacro' in error and 'upper_mass:=VALUE' in error


def test_the_demo_takes_xacro(file, monkeypatch, capsys):
    from rbd_ros.demonstration import demo

    asked = []

    def load(robot, arguments, *_):
        asked.append((robot, arguments))
        raise ValueError('that is enough')

    monkeypatch.setattr(demo, 'load_robot', load)
    assert main(['demo', file, *GIVEN]) == 2
    assert asked == [(file, ['upper_mass:=2.5', 'mass:=0.5'])]


def test_a_live_simulation_takes_xacro(file, capsys):
    assert main(['simulate', file]) == 1
    assert 'upper_mass:=VALUE' in capsys.readouterr().err


def test_a_xacro_cannot_be_read_from_standard_input(monkeypatch, capsys):
    monkeypatch.setattr('sys.stdin', SimpleNamespace(buffer=io.BytesIO(b'<robot/>')))
    assert main(['info', '-', *GIVEN]) == 1
    assert 'name the xacro file' in capsys.readouterr().err


def test_an_argument_without_a_value_is_rejected(file, capsys):
    assert main(['info', file, '--xacro', 'mass=1']) == 1
    assert "name:=value, not 'mass=1'" in capsys.readouterr().err
