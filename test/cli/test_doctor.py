# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The command `rbd_ros doctor`."""

import json
import re
import sys

import pytest

from rbd_ros.cli.main import main
from rbd_ros.lookup.resources import resource_path

ARM = str(resource_path('urdf', 'two_link_arm.urdf'))


@pytest.fixture
def broken(tmp_path):
    """Return an arm whose forearm has a negative mass and whose elbow has no drive."""
    text = resource_path('urdf', 'two_link_arm.urdf').read_text()
    path = tmp_path / 'broken.urdf'
    before, after = text.split('<link name="forearm">')
    after = after.replace('<mass value="', '<mass value="-', 1)
    path.write_text(f'{before}<link name="forearm">{after}'.replace('effort="20"', 'effort="0"'))
    return str(path)


@pytest.fixture(autouse=True)
def good_machine(monkeypatch):
    """Make the findings depend on the robot only."""
    from rbd_ros.doctor.findings import Finding

    monkeypatch.setattr('rbd_ros.cli.doctor.check_machine', lambda: [Finding('ok', 'it', 'fine')])


def test_a_good_robot_ends_with_zero(capsys):
    assert main(['doctor', ARM]) == 0
    text = capsys.readouterr().out
    assert f'robot {ARM}' in text and 'machine\n  ok     it: fine' in text
    assert text.endswith('0 errors, 0 warnings\n')


def test_errors_come_first_and_end_with_one(capsys, broken):
    assert main(['doctor', broken]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("  error  link 'forearm': the mass is negative")
    assert lines[2].strip() == '-> give a positive mass'
    assert any(
        line.startswith("  warn   joint 'elbow': with the effort limit 0") for line in lines
    )
    assert lines[-1] == '1 error, 1 warning'


def test_without_a_robot_only_the_machine_is_checked(capsys):
    assert main(['doctor']) == 0
    assert capsys.readouterr().out.startswith('machine\n')


def test_json_holds_the_same_findings(capsys, broken):
    assert main(['doctor', broken, '--json']) == 1
    facts = json.loads(capsys.readouterr().out)
    assert facts['level'] == 'error'
    assert [section['title'] for section in facts['sections']] == [f'robot {broken}', 'machine']
    finding = facts['sections'][0]['findings'][0]
    assert set(finding) == {'level', 'subject', 'message', 'cure'}


def test_a_description_that_cannot_be_read_is_a_finding(capsys, tmp_path):
    path = tmp_path / 'empty.urdf'
    path.write_text('<robot name="r"></robot>')
    assert main(['doctor', str(path)]) == 1
    captured = capsys.readouterr()
    assert 'error  description' in captured.out and captured.err == ''


def test_a_robot_that_is_not_there_is_named(capsys):
    assert main(['doctor', 'no/such.urdf']) == 1
    assert 'there is no file' in capsys.readouterr().err


def test_the_graph_needs_ros_and_a_time_to_listen(capsys, monkeypatch):
    assert main(['doctor', '--graph', '--listen', 'nan']) == 1
    assert '--listen must be from 0 to 3600 s, got nan' in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, 'rclpy', None)
    assert main(['doctor', '--graph', '--listen', '0']) == 1
    error = capsys.readouterr().err
    assert '--graph needs ROS 2' in error and "pip install 'rbd_ros[ros]'" in error


def test_links_that_do_not_touch_each_other_are_one_line(capsys, tmp_path):
    """Of three balls in a row, each 0.1 m from the one before, the outer ones overlap, too."""
    ball = (
        '<link name="{0}"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" '
        'ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><sphere radius="0.15"/>'
        '</geometry></collision></link>'
    )
    hinge = (
        '<joint name="j{1}" type="revolute"><parent link="{0}"/><child link="{1}"/><origin '
        'xyz="0.1 0 0"/><axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="9" velocity="9"/>'
        '</joint>'
    )
    path = tmp_path / 'row.urdf'
    path.write_text(
        '<robot name="row">'
        + ''.join(ball.format(name) for name in 'abc')
        + hinge.format('a', 'b')
        + hinge.format('b', 'c')
        + '</robot>'
    )
    line = (
        '1 pair of links that are in contact at the neutral configuration have no collision with '
        'each other (a and c); an entry of `pairs` in a world, or enable_collisions in an SRDF, '
        'enables their collision'
    )
    assert main(['doctor', str(path)]) == 0
    assert f'  ok     self-collision: {line}\n' in capsys.readouterr().out
    assert main(['info', str(path)]) == 0
    assert capsys.readouterr().out.count(line) == 1
    assert main(['info', str(path), '--json']) == 0
    assert json.loads(capsys.readouterr().out)['self_collision'] == [line]


def test_missing_inertias_are_filled_in_and_named(capsys, tmp_path):
    """All other bytes stay as they are."""
    path, filled = tmp_path / 'ball.urdf', tmp_path / 'filled.urdf'
    ball = '<link name="ball"><collision><geometry><sphere radius="0.1"/></geometry></collision>'
    hinge = (
        '<joint name="j" type="continuous"><parent link="base"/><child link="ball"/><axis '
        'xyz="1 0 0"/><limit effort="9" velocity="9"/></joint>'
    )
    path.write_text(f'<robot name="r"><link name="base"/>{ball}</link>{hinge}</robot>')
    assert main(['doctor', str(path)]) == 1
    captured = capsys.readouterr()
    assert 'it moves no mass' in captured.out and '--density KG/M^3 -o' in captured.out
    assert main(['doctor', str(path), '--density', '500', '-o', str(filled)]) == 1
    assert capsys.readouterr().err == (
        f'{filled}: links have the inertia of their shapes at 500 kg/m^3, 2.094 kg in all: '
        "'ball'\n"
    )
    before, element, after = re.split('(<inertial>.*</inertial>)', filled.read_text())
    assert before + after == path.read_text()
    assert main(['doctor', str(filled), '--density', '500', '-o', str(path)]) == 0
    assert capsys.readouterr().err == f'{path}: no link lacks an inertia\n'
    assert path.read_bytes() == filled.read_bytes()


@pytest.mark.parametrize(
    'given', [[ARM, '--density', '500'], [ARM, '-o', 'a'], ['-o', 'a', '--density', '5']]
)
def test_a_density_goes_with_a_file_and_a_robot(capsys, given):
    assert main(['doctor', *given]) == 1
    assert 'give --density and -o together, and a robot' in capsys.readouterr().err
