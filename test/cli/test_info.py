# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The command `rbd_ros info`."""

import io
import json
import os
import re
import subprocess
import sys

import pytest
from support.urdf_text import chain, inertial, joint, LIMIT, link, robot
from support.waiting import CEILING

from rbd_ros import Robot
from rbd_ros.cli.main import main
from rbd_ros.lookup.resources import resource_path

ARM = robot(
    link('base'),
    link('upper', inertial(mass='-1')),
    link('lower'),
    link('tool'),
    link('finger', ''),
    joint('shoulder', 'base', 'upper', 'continuous', '', axis='0 -1 0'),
    joint('elbow', 'upper', 'lower', 'revolute', LIMIT + '<dynamics damping="0.125"/>'),
    joint('flange', 'lower', 'tool', 'fixed'),
    joint(
        'slide',
        'tool',
        'finger',
        'prismatic',
        LIMIT + '<mimic joint="elbow" multiplier="0.5" offset="-0.25"/>',
    ),
    name='two_arm',
)


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(ARM)
    return str(path)


def printed(capsys, *argv):
    code = main(['info', *argv])
    captured = capsys.readouterr()
    assert (code, captured.err) == (0, '')
    return captured.out


def test_info_prints_tree_masses_limits_mimics_and_warnings(arm, capsys):
    text = printed(capsys, arm)
    lines = [line.split() for line in text.splitlines()]
    assert text.startswith(
        'two_arm: 3 moving bodies, 5 links, fixed base\nnq = 2, nv = 2, total mass 2 kg'
    )
    assert ['0', 'base', '1'] in lines
    assert ['1', 'upper', 'shoulder', 'continuous', '0', '-1', '0', '-1'] in lines
    assert ['2', 'lower', 'elbow', 'revolute', '0', '0', '1', '2', 'tool'] in lines
    assert ['elbow', '-1', '1', '2', '3', '0.125', '0', '0'] in lines
    assert ['shoulder', '-', '-', '-', '-', '0', '0', '0'] in lines
    assert 'slide = 0.5 * elbow - 0.25' in text
    assert "link 'upper': the mass is negative" in text


def test_bodies_are_indented_by_their_depth(arm, capsys):
    lines = printed(capsys, arm).splitlines()
    columns = [
        next(line.index(name) for line in lines if line.split()[1:2] == [name])
        for name in ('base', 'upper', 'lower', 'finger')
    ]
    assert columns == sorted(set(columns))


def test_json_holds_the_same_facts(arm, capsys):
    facts = json.loads(printed(capsys, arm, '--json', '--floating-base'))
    assert (facts['name'], facts['nq'], facts['nv'], facts['total_mass']) == ('two_arm', 9, 8, 2.0)
    assert facts['joint_names'] == ['floating_base', 'shoulder', 'elbow']
    elbow = next(body for body in facts['bodies'] if body['name'] == 'lower')
    assert (elbow['parent'], elbow['fixed_links'], elbow['mass']) == (2, ['tool'], 2.0)
    assert elbow['joint']['axis'] == [0.0, 0.0, 1.0]
    assert elbow['joint']['upper'] == 1.0
    assert facts['bodies'][2]['joint']['upper'] is None
    assert facts['mimic'] == [{'joint': 'slide', 'master': 'elbow', 'ratio': 0.5, 'offset': -0.25}]
    assert len(facts['warnings']) == 2


def test_singular_joints_are_named(tmp_path, capsys):
    path = tmp_path / 'arm.urdf'
    path.write_text(robot(link('a'), link('b', ''), joint('j', 'a', 'b')))
    assert 'no mass moves with joint j.' in printed(capsys, str(path))
    (tmp_path / 'armature.yaml').write_text('j: 0.5')
    text = printed(capsys, str(path), '--armature', str(tmp_path / 'armature.yaml'))
    assert 'singular' not in text and '0.5' in text


def test_strict_rejects_a_model_with_warnings(arm, capsys):
    assert main(['info', arm, '--strict']) == 1
    assert "link 'upper': the mass is negative" in capsys.readouterr().err


@pytest.mark.parametrize(
    'text, word', [('<robot name="r"', 'truncated'), (chain('screw'), "joint 'j1'"), ('', 'empty')]
)
def test_a_bad_file_is_an_error_of_one_line_and_exit_code_1(tmp_path, capsys, text, word):
    path = tmp_path / 'bad.urdf'
    path.write_text(text)
    assert main(['info', str(path)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ''
    assert captured.err.startswith('rbd_ros info: error: ') and word in captured.err
    assert captured.err.count('\n') == 1


def test_the_description_may_come_from_standard_input(capsys, monkeypatch):
    monkeypatch.setattr(sys, 'stdin', io.TextIOWrapper(io.BytesIO(ARM.encode())))
    assert printed(capsys, '-').startswith('two_arm')


def test_the_command_runs_as_a_module_and_ends_quietly_when_its_reader_leaves(arm):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, '-m', 'rbd_ros.cli.main', 'info', arm],
        stdout=write,
        stderr=subprocess.PIPE,
        timeout=CEILING,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b'')


@pytest.mark.parametrize('argv', [[], ['info'], ['nonsense']])
def test_a_wrong_command_line_is_exit_code_2(argv, capsys):
    try:
        code = main(argv)
    except SystemExit as stop:
        code = stop.code
    assert code == 2
    captured = capsys.readouterr()
    assert 'usage' in captured.out + captured.err


def test_a_subcommand_that_cannot_be_loaded_says_why(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, 'rbd_ros.cli.codegen', None)
    assert main(['codegen']) == 2
    assert 'rbd_ros codegen: error: cannot be loaded' in capsys.readouterr().err


def test_help_names_the_subcommands_without_loading_them(capsys):
    with pytest.raises(SystemExit) as stop:
        main(['--help'])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert all(name in text for name in ('info', 'codegen', 'demo'))


def test_info_shows_loops_with_rank_mobility_and_actuated_joints(capsys):
    four_bar = str(resource_path('urdf', 'four_bar.urdf'))
    extension = str(resource_path('config', 'four_bar.yaml'))
    text = printed(capsys, four_bar, '--extension', extension)
    lines = [line.split() for line in text.splitlines()]
    assert ['pin', 'revolute', '0', '-1', '0', 'coupler', 'rocker', '5', '3'] in lines
    assert (
        'Mobility 1: 3 degrees of freedom of the tree minus 2, the rank of 5 constraints (3'
        in text
    )
    assert 'Actuated: crank_joint' in text
    facts = json.loads(printed(capsys, four_bar, '--extension', extension, '--json'))
    assert facts['mobility']['rank'] == 2 and facts['mobility']['overconstraint'] == 3
    robot = Robot.from_urdf(four_bar, extension=extension)
    closed = robot.loops.closure(facts['mobility']['configuration'])
    assert abs(closed.residual).max() < 1e-10
    assert facts['accuracy']['loop_condition_number'] == pytest.approx(
        robot.diagnose(facts['mobility']['configuration']).loop_condition_number
    )


def test_info_names_an_impossible_loop_in_one_line(tmp_path, capsys):
    path = tmp_path / 'far.yaml'
    path.write_text(
        'loops:\n  far: {type: spherical, predecessor: coupler, '
        'successor: {frame: ground, xyz: [9, 0, 0]}}\n'
    )
    four_bar = str(resource_path('urdf', 'four_bar.urdf'))
    assert main(['info', four_bar, '--extension', str(path)]) == 1
    error = capsys.readouterr().err
    assert "line 2: loops: 'far'" in error and 'open by 8.7 ' in error
    assert error.count('\n') == 1


@pytest.mark.parametrize('mass', ['', inertial(mass='-1')])
def test_info_has_the_findings_of_doctor(tmp_path, capsys, mass):
    shape = '<visual><geometry><sphere radius="0.1"/></geometry></visual>'
    text = robot(
        link('a'),
        link('b', mass + shape),
        link('c'),
        joint('j', 'a', 'b', 'continuous', ''),
        joint('k', 'b', 'c', 'continuous', '<mimic joint="nobody"/>'),
    )
    (tmp_path / 'r.urdf').write_text(text)
    lines = printed(capsys, str(tmp_path / 'r.urdf')).splitlines()
    main(['doctor', str(tmp_path / 'r.urdf')])
    doctor = capsys.readouterr().out.splitlines()
    (title,) = (line for line in doctor if line.startswith('robot '))
    count = title.partition('.urdf: ')[2]
    assert re.fullmatch(r'\d+ errors?, \d+ warnings?', count) and '0 warnings' not in count
    assert count in lines
    assert lines[lines.index(count) + 1 :] == doctor[1 : doctor.index('')]
    facts = json.loads(printed(capsys, str(tmp_path / 'r.urdf'), '--json'))
    levels = [finding['level'] for finding in facts['findings']]
    assert f'{levels.count("warn")} warning' in count
