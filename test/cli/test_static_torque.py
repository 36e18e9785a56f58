# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The command `rbd_ros static-torque`."""

import json

import pytest

from rbd_ros.cli.main import main
from rbd_ros.lookup.resources import resource_path

TWO_LINK = str(resource_path('urdf', 'two_link_arm.urdf'))


def printed(capsys, *argv):
    code = main(['static-torque', *argv])
    return code, capsys.readouterr()


def test_an_arm_that_is_held_is_reported_with_its_margins(capsys):
    code, captured = printed(capsys, TWO_LINK, '--samples', '50')
    rows = {line.split()[0]: line.split()[1:] for line in captured.out.splitlines() if line}
    assert (code, captured.err) == (0, '')
    assert 'two_link_arm: 52 poses, random poses' in captured.out
    assert [word.lstrip('-') for word in rows['shoulder']] == ['60', '13.98', '77%']
    assert 'All poses can be held.' in captured.out


def test_an_arm_that_is_not_held_ends_with_one(capsys):
    code, captured = printed(capsys, TWO_LINK, '--samples', '50', '--payload', '8@tool0')
    assert code == 1
    assert 'with payload 8@tool0' in captured.out and 'EXCEEDED' in captured.out
    assert 'poses (' in captured.out and 'reduce the payload' in captured.out


def test_the_worst_pose_is_a_valid_option(capsys):
    code, captured = printed(capsys, TWO_LINK, '--samples', '50', '--payload', '8@tool0')
    pose = captured.out[captured.out.index('--pose=') :].split()[0]
    code, captured = printed(capsys, TWO_LINK, pose, '--payload', '8@tool0', '--json')
    facts = json.loads(captured.out)
    assert (code, facts['poses'], facts['poses_held'], facts['sampled']) == (1, 1, 0, False)


def test_samples_are_those_of_the_seed(capsys):
    run = [TWO_LINK, '--samples', '20', '--json']
    first, again, other = (printed(capsys, *run, *more)[1].out for more in ([], [], ['--seed=1']))
    assert first == again != other


def test_poses_are_numbers_or_names(capsys):
    poses = [f'--pose={text}' for text in ('0,0.5', 'elbow=0.5')]
    code, captured = printed(capsys, TWO_LINK, *poses, '--json')
    facts = json.loads(captured.out)
    assert (code, facts['poses']) == (0, 2)
    assert facts['joints'][1]['worst_pose'] == [0.0, 0.5]
    tops = [printed(capsys, TWO_LINK, pose, '--json')[1].out for pose in poses]
    assert tops[0] == tops[1]


def test_gravity_is_that_of_the_mounting(capsys):
    flat = printed(capsys, TWO_LINK, '--pose=0.3,0.5', '--gravity=0,0,0', '--json')
    facts = json.loads(flat[1].out)
    assert [joint['torque'] for joint in facts['joints']] == [0.0, 0.0]


def test_joints_without_limit_are_named(capsys, tmp_path):
    text = resource_path('urdf', 'two_link_arm.urdf').read_text()
    limit = '<limit lower="-2.8" upper="2.8" velocity="8" effort="20"/>'
    path = tmp_path / 'free.urdf'
    path.write_text(text.replace('"revolute"', '"continuous"').replace(limit, ''))
    code, captured = printed(capsys, str(path), '--samples', '10')
    (row,) = (line for line in captured.out.splitlines() if line.split()[:1] == ['elbow'])
    assert code == 0 and row.endswith('-  no limit')
    assert 'Add effort="..." to the <limit> of elbow.' in captured.out


def test_a_joint_of_several_degrees_of_freedom_is_named_once(capsys, tmp_path):
    text = resource_path('urdf', 'two_link_arm.urdf').read_text()
    limit = '<limit lower="-2.8" upper="2.8" velocity="8" effort="20"/>'
    path = tmp_path / 'table.urdf'
    path.write_text(
        text.replace('name="elbow" type="revolute"', 'name="elbow" type="planar"').replace(
            limit, ''
        )
    )
    _, captured = printed(capsys, str(path), '--samples', '10')
    assert 'to the <limit> of elbow.' in captured.out


def test_the_plot_is_a_picture(capsys, tmp_path):
    picture = tmp_path / 'static_torque.png'
    code, captured = printed(capsys, TWO_LINK, '--samples', '20', '--plot', str(picture))
    assert code == 0 and captured.err == f'{picture} written\n'
    assert picture.read_bytes().startswith(b'\x89PNG')


@pytest.mark.parametrize(
    ('argument', 'message'),
    [
        ('--samples=0', '--samples must be from 1 to'),
        ('--seed=-1', '--seed must not be negative'),
        ('--payload=2', '--payload must be MASS@LINK[:X,Y,Z], such as 2.5@tool0'),
        ('--payload=@tool0', '--payload: MASS of MASS@LINK[:X,Y,Z] must be a finite number'),
        ('--payload=x@tool0', "must be a finite number, got 'x'"),
        ('--payload=2@tool0:0,1', 'the center of mass X,Y,Z must be 3 finite numbers'),
        ('--gravity=0,0', '--gravity must be 3 finite numbers, separated by commas'),
        ('--gravity=0,0,nan', '--gravity must be 3 finite numbers, separated by commas'),
        ('--payload=2@hand', "the robot has no link 'hand'; its links are "),
        ('--payload=-2@tool0', 'mass of the payload must be finite and not negative'),
        ('--pose=1', '--pose 1 has 1 number, but the robot has 2 position variables'),
        ('--pose=1,x', "--pose must be 2 finite numbers, separated by commas, got '1,x'"),
        ('--pose=1,nan', '--pose must be 2 finite numbers'),
        ('--pose=elbow=x', "--pose elbow must be a finite number, got 'x'"),
        ('--pose=elbow=1,elbow=1', "--pose names 'elbow' twice"),
        ('--pose=wrist=1', "--pose: unknown joint 'wrist'"),
        ('--pose=0,9', 'elbow at 9 is outside its limits'),
        ('--plot=/no/such/folder/x.png', 'the folder of /no/such/folder/x.png does not exist'),
    ],
)
def test_bad_input_is_named(capsys, argument, message):
    code, captured = printed(capsys, TWO_LINK, argument)
    assert code == 1 and captured.out == ''
    assert captured.err.startswith('rbd_ros static-torque: error: ') and message in captured.err


SHAPE = '<collision><geometry><box size="0.1 0.1 0.5"/></geometry></collision>'
LINK = f'<link name="{{}}">{{}}{SHAPE}</link>'
MASS = (
    '<inertial><mass value="2"/>'
    '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
)
JOINT = (
    '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/><origin xyz="0.5 0 0"/>'
    '<axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="{}" velocity="2"/></joint>'
)


def two_links(upper=MASS, lower=MASS, first='revolute', effort=50):
    return (
        f'<robot name="r"><link name="base"/>{LINK.format("upper", upper)}'
        f'{LINK.format("lower", lower)}{JOINT.format("a", first, "base", "upper", effort)}'
        f'{JOINT.format("b", "revolute", "upper", "lower", effort)}</robot>'
    )


@pytest.mark.parametrize(
    ('text', 'options', 'reason'),
    [
        (two_links('', ''), [], "no link of 'r' that moves has a mass"),
        (two_links('', ''), ['--payload', '1@base'], "no link of 'r' that moves has a mass"),
        (two_links(first='floating'), [], "floats by its joint 'a', which cannot hold it"),
        (two_links(), ['--floating-base'], 'floating base, which no joint holds'),
        ('<robot name="r"><link name="base"/></robot>', [], 'no movable joint'),
    ],
)
def test_a_robot_that_cannot_be_judged_ends_with_two(capsys, tmp_path, text, options, reason):
    (tmp_path / 'r.urdf').write_text(text)
    code, captured = printed(capsys, str(tmp_path / 'r.urdf'), *options)
    assert (code, captured.out) == (2, '')
    assert captured.err.startswith('rbd_ros static-torque: error: the robot cannot be judged: ')
    assert reason in captured.err
    code, captured = printed(capsys, str(tmp_path / 'r.urdf'), *options, '--json')
    facts = json.loads(captured.out)
    assert (code, facts['held']) == (2, None)
    assert reason in facts['not_judged'][0]['reason']


def test_joints_that_carry_an_unknown_mass_are_not_judged(capsys, tmp_path):
    (tmp_path / 'r.urdf').write_text(two_links(upper=''))
    code, captured = printed(capsys, str(tmp_path / 'r.urdf'), '--json')
    facts = json.loads(captured.out)
    assert (code, facts['held']) == (2, None)
    assert [joint['held'] for joint in facts['joints']] == [None, True]
    assert facts['not_judged'] == [{'joint': 'a', 'reason': "link 'upper' has shapes but no mass"}]
    text = printed(capsys, str(tmp_path / 'r.urdf'))[1].out
    assert "a cannot be judged: link 'upper' has shapes but no mass" in text
    assert 'can be held' not in text


def test_an_overload_by_known_masses_is_reported_despite_unknown_ones(capsys, tmp_path):
    (tmp_path / 'r.urdf').write_text(two_links(upper='', effort=9))  # needs 2 kg 0.5 m g = 9.81
    code, captured = printed(capsys, str(tmp_path / 'r.urdf'))
    assert code == 1 and 'EXCEEDED' in captured.out and 'a cannot be judged' in captured.out


def test_without_gravity_masses_do_not_matter(capsys, tmp_path):
    (tmp_path / 'r.urdf').write_text(two_links('', ''))
    assert printed(capsys, str(tmp_path / 'r.urdf'), '--gravity=0,0,0')[0] == 0


def test_a_robot_without_any_effort_limit_is_not_judged(capsys, tmp_path):
    text = two_links().replace(' effort="50"', '').replace('"revolute"', '"continuous"')
    (tmp_path / 'r.urdf').write_text(
        text.replace('<limit lower="-2" upper="2" velocity="2"/>', '')
    )
    code, captured = printed(capsys, str(tmp_path / 'r.urdf'))
    assert code == 2 and 'neither this joint nor any other one has' in captured.out


def test_help_says_the_exit_codes(capsys):
    with pytest.raises(SystemExit):
        main(['static-torque', '--help'])
    text = ' '.join(capsys.readouterr().out.split())
    assert '2 the robot cannot be judged' in text and '130 interrupted' in text
