# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The command `rbd_ros feedforward`: report, output file, and rejections."""

import json

import numpy as np
from numpy.testing import assert_allclose
import pytest

from rbd_ros import Robot
from rbd_ros.cli.main import main
from rbd_ros.control.motion.trajectory_files import read_trajectory
from rbd_ros.lookup.resources import resource_path

#: What is compiled is used for a moment: see conftest.py.
OPTIMIZED = False

ARM = str(resource_path('urdf', 'two_link_arm.urdf'))


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(ARM)


@pytest.fixture
def motion(tmp_path, arm):
    """Return the path of a trajectory of the arm that ends `seconds` after its start."""

    def write(seconds=2.0, goal=(0.6, -0.4), names=arm.joint_names):
        path = tmp_path / 'motion.csv'
        zeros = ','.join('0' for _ in names)
        end = ','.join(map(str, goal[: len(names)]))
        path.write_text(f'time,{",".join(names)}\n0,{zeros}\n{seconds},{end}\n')
        return str(path)

    return write


def run(*arguments):
    return main(['feedforward', ARM, *map(str, arguments)])


def test_the_report_has_the_margins_of_all_joints(capsys, motion, arm):
    assert run(motion()) == 0
    text = capsys.readouterr().out
    for quantity in ('position', 'velocity', 'effort'):
        assert f'Smallest margins to the {quantity} limits' in text
    assert all(text.count(name) == 3 for name in arm.joint_names)
    assert 'The trajectory keeps all limits.\nShortest duration within the limits: 0.' in text


def test_a_limit_that_is_exceeded_is_in_the_report_and_the_exit_code(capsys, motion):
    assert run(motion(0.1)) == 3
    text = capsys.readouterr().out
    assert 'EXCEEDED' in text and 'The trajectory exceeds limits.\nShortest duration' in text


def test_the_efforts_are_written(capsys, tmp_path, motion, arm):
    out = tmp_path / 'out.csv'
    assert run(motion(), '-o', out) == 0
    table = np.loadtxt(out, delimiter=',', skiprows=1)
    assert out.read_text().splitlines()[0].split(',')[-1] == f'{arm.joint_names[1]}.effort'
    assert_allclose(table[-1, -2:], arm.gravity_torque([0.6, -0.4]), rtol=1e-12)
    assert run(motion(), '-o', tmp_path / 'out.yaml', '--point-spacing', '0.5') == 0
    assert len(read_trajectory(str(tmp_path / 'out.yaml')).times) == 5
    capsys.readouterr()
    assert run(motion(), '-o', '-') == 0
    captured = capsys.readouterr()
    assert captured.out == out.read_text() and 'all limits' in captured.err


def test_gravity_payload_and_friction_are_those_of_the_options(tmp_path, motion, arm):
    out = tmp_path / 'out.csv'

    def last(*options):
        assert run(motion(), '-o', out, *options) in (0, 3)
        return np.loadtxt(out, delimiter=',', skiprows=1)[:, -2:]

    holds = arm.gravity_torque([0.6, -0.4])
    assert_allclose(last('--gravity', '0,0,-19.62')[-1], 2.0 * holds, rtol=1e-12)
    link = list(arm.model.links)[-1]
    assert np.abs(last('--payload', f'1.5@{link}:0,0,0.1')[-1] - holds).max() > 0.1
    # In between, where it moves.
    moving = last('--point-spacing', '1') - last('--point-spacing', '1', '--no-friction')
    v = read_trajectory(str(out)).velocities
    expected = arm.damping * v + arm.friction * np.sign(v)
    assert_allclose(moving, expected, rtol=1e-9, atol=1e-9)


def test_omitted_joints_are_held_at_the_optional_positions(capsys, tmp_path, motion, arm):
    first, second = arm.joint_names
    path, out = motion(names=[second], goal=(0.3,)), tmp_path / 'out.csv'
    assert run(path) == 1
    assert f"leaves out joint '{first}'" in capsys.readouterr().err
    assert run(path, '--missing-joints', f'{first}=0.7', '-o', out) == 0
    effort = np.loadtxt(out, delimiter=',', skiprows=1)[-1, -1]
    assert_allclose(effort, arm.gravity_torque([0.7, 0.3])[1], rtol=1e-12)


def test_a_duration_that_fits_is_the_shortest_within_the_limits(capsys, tmp_path, motion):
    assert run(motion(0.1), '--json') == 3
    report = json.loads(capsys.readouterr().out)
    assert not report['within_limits'] and report['min_time_scale'] > 1.0
    out = tmp_path / 'out.csv'
    assert run(motion(0.1), '--time-scale', 'fit', '-o', out, '--json') == 0
    fitted = json.loads(capsys.readouterr().out)
    assert fitted['within_limits']
    assert_allclose(fitted['duration'], 0.1 * report['min_time_scale'])
    assert_allclose(read_trajectory(str(out)).times[-1], 0.1 * report['min_time_scale'])
    assert run(motion(0.1), '--time-scale', 0.99 * report['min_time_scale']) == 3


def test_a_limit_that_no_duration_cures_is_named(capsys, motion):
    assert run(motion(goal=(9.0, 0.0)), '--time-scale', 'fit') == 1
    text = capsys.readouterr().err
    assert 'the position limit of' in text and 'even by the slowest motion' in text
    assert run(motion(), '--gravity', '0,0,-1000') == 3
    text = capsys.readouterr().out
    assert 'the effort limit of' in text and 'a smaller payload' in text


def test_a_plot_is_written(tmp_path, motion):
    plot = tmp_path / 'out.png'
    assert run(motion(), '--plot', plot, '--point-spacing', '0.1') == 0
    assert plot.read_bytes().startswith(b'\x89PNG')


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (['--gravity', '0,0'], '--gravity must be 3 finite numbers'),
        (
            ['--payload', 'hand'],
            "--payload must be MASS@LINK[:X,Y,Z], such as 2.5@tool0, got 'hand'",
        ),
        (['--payload', '1@wing'], "the robot has no link 'wing'; its links are "),
        (
            ['--missing-joints', 'wing'],
            "--missing-joints must be JOINT=VALUE,..., such as elbow=1.5, got 'wing'",
        ),
        (['--missing-joints', 'wing=1'], "'wing' to be held is not a joint of the robot"),
        (['--time-scale', '0'], '--time-scale must be positive'),
        (['--time-scale', 'x'], '--time-scale must be a finite number'),
        (['--point-spacing', '0'], '--point-spacing must be positive'),
        (['--output', 'no/folder/out.csv'], '--output no/folder/out.csv cannot be written'),
        (['--plot', 'no/such/folder/out.png'], 'cannot be written'),
    ],
)
def test_invalid_options_are_rejected(capsys, motion, options, message):
    assert run(motion(), *options) == 1
    assert message in capsys.readouterr().err


def test_errors_of_the_file_are_named_by_their_line(capsys, tmp_path):
    path = tmp_path / 'bad.yaml'
    path.write_text('joint_names: [a]\npoints:\n- positions: [x]\n  time_from_start: 1\n')
    assert run(path) == 1
    expected = f"error: {path}: line 3: points[0].positions[0] must be a number, got 'x'"
    assert expected in capsys.readouterr().err


def test_help_names_the_file_formats(capsys):
    with pytest.raises(SystemExit):
        run('--help')
    text = capsys.readouterr().out
    assert 'JOINT.position' in text and 'exit codes:' in text


def test_the_plot_draws_the_values_of_the_table(tmp_path, motion, capsys, monkeypatch):
    drawn = {}

    def keep(panels, path):
        for name, axes in panels:
            curve, *_, mark = axes.get_lines()
            drawn[name] = curve.get_xydata(), mark.get_xydata()[0], axes.texts[0].get_text()

    monkeypatch.setattr('rbd_ros.cli.output.joint_panels.JointPanels.save', keep)
    # Two points: what is between them is the motion that the table is about.
    assert run(motion(0.7), '--plot', tmp_path / 'out.png', '--json') in (0, 3)
    margins = json.loads(capsys.readouterr().out)['margins']
    efforts = {m['joint']: m for m in margins if m['quantity'] == 'effort'}
    assert set(drawn) == set(efforts) == {'shoulder', 'elbow'}
    for name, margin in efforts.items():
        curve, mark, text = drawn[name]
        assert mark.tolist() == [margin['time'], margin['value']]
        assert text == f'{margin["value"]:.4g} at {margin["time"]:.3f} s'
        assert mark.tolist() in curve.tolist()
        assert np.abs(curve[:, 1]).max() == abs(margin['value'])
        assert (np.diff(curve[:, 0]) >= -1e-9).all()
