# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""One syntax for options shared by several commands."""

import argparse
import json

from numpy.testing import assert_allclose
import pytest

from rbd_ros import Robot
from rbd_ros.cli.command_line import COMMANDS, load_command
from rbd_ros.cli.main import main
from rbd_ros.cli.options.option_values import joint_values, numbers, payload
from rbd_ros.lookup.resources import resource_path

TWO_LINK = str(resource_path('urdf', 'two_link_arm.urdf'))


def options():
    """Yield all options of all commands: (command, action)."""
    for name in COMMANDS:
        parser = argparse.ArgumentParser()
        load_command(name).add_arguments(parser)
        for action in parser._actions:
            yield name, action


def test_json_is_printed_by_every_command_that_has_it():
    found = [(name, each) for name, each in options() if '--json' in each.option_strings]
    assert len(found) >= 8
    assert [name for name, each in found if each.nargs != 0] == []
    assert {each.help for _, each in found} == {'print JSON'}


def test_written_files_go_where_output_says():
    found = {name: each for name, each in options() if '--output' in each.option_strings}
    assert set(found) == {
        'feedforward',
        'codegen',
        'demo',
        'doctor',
        'excitation-trajectory',
        'identify',
    }
    assert all('-o' in each.option_strings for each in found.values())
    assert [name for name, each in options() if '--out' in each.option_strings] == []


def test_an_option_of_several_commands_has_one_metavar():
    found = {}
    for _, each in options():
        for text in each.option_strings or [each.dest]:
            found.setdefault(text, set()).add((each.metavar, each.nargs))
    del found['robot']  # optional in some commands
    assert {text for text, kinds in found.items() if len(kinds) > 1} == {'--output', '-o'}


def test_defaults_and_choices_are_in_the_help():
    for name, each in options():
        if each.option_strings and each.nargs != 0 and each.default not in (None, '', [], 0.0):
            assert 'default: ' in each.help or each.dest == 'help', (name, each.dest)


@pytest.mark.parametrize('option', ['--gravity', '--payload', '--missing-joints'])
def test_options_of_several_commands_have_one_syntax(option):
    known = [each for name, each in options() if option in each.option_strings]
    assert len(known) >= 2 and len({(each.metavar, each.nargs) for each in known}) == 1


@pytest.mark.parametrize('text', ['1.5@tool0:0,-0.2,0.1', '2@tool0'])
def test_a_payload_is_the_same_for_commands(text, capsys, tmp_path):
    names, pose = ('shoulder', 'elbow'), '0.3,0.5'
    assert main(['static-torque', TWO_LINK, f'--pose={pose}', '--payload', text, '--json']) == 0
    held = [each['torque'] for each in json.loads(capsys.readouterr().out)['joints']]
    motion, out = tmp_path / 'motion.csv', tmp_path / 'out.csv'
    head = ','.join(f'{name}.position' for name in names)
    motion.write_text(f'time,{head}\n0,0,0\n9,{pose}\n')
    assert main(['feedforward', TWO_LINK, str(motion), '--payload', text, '-o', str(out)]) == 0
    last = [float(word) for word in out.read_text().split()[-1].split(',')]
    assert_allclose(last[-2:], held, rtol=1e-12)


def test_a_payload_is_a_point_mass_where_the_text_says():
    robot = Robot.from_urdf(TWO_LINK)
    link, parameters = payload(robot, '2@tool0:0.1,0.2,-0.3')
    assert link == 'tool0'
    # m, m c, and the inertia of a point mass, m (|c|^2 1 - c c^T).
    expected = [2, 0.2, 0.4, -0.6, 0.26, -0.04, 0.06, 0.2, 0.12, 0.1]
    assert_allclose(parameters, expected, rtol=1e-12)


def test_names_of_links_may_have_colons():
    text = resource_path('urdf', 'two_link_arm.urdf').read_text().replace('tool0', 'arm:tool')
    robot = Robot.from_urdf(text)
    assert payload(robot, '2@arm:tool')[0] == 'arm:tool'
    link, parameters = payload(robot, '2@arm:tool:0,0,1')
    assert link == 'arm:tool' and parameters[3] == 2.0


def test_numbers_and_joints_are_finite_and_named_once():
    assert numbers('--gravity', '0, 0,-9.81', 3) == [0.0, 0.0, -9.81]
    assert joint_values('--missing-joints', ' a = 1,b=-2e-1') == {'a': 1.0, 'b': -0.2}
    assert joint_values('--missing-joints', '') == {}
    for text in ('a', '=1', 'a=x', 'a=inf', 'a=1,a=2'):
        with pytest.raises(ValueError, match='^--missing-joints '):
            joint_values('--missing-joints', text)
