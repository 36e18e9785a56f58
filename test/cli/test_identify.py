# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Commands for identification: the example of the page, and rejections."""

import json
from pathlib import Path
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest
from support.fresh_python import python_path

from rbd_ros import Robot
from rbd_ros.cli.main import main
from rbd_ros.cli.output.joint_panels import JointPanels
from rbd_ros.control.motion.trajectory_files import read_trajectory

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope='module')
def example(tmp_path_factory):
    """Return the folder in which the example of docs/identification.md was run.

    And what was printed.
    """
    folder = tmp_path_factory.mktemp('example')
    page = (ROOT / 'docs' / 'identification.md').read_text()
    block = re.search(r'((?:^    \S.*\n)+)', page, re.MULTILINE).group(1)
    printed = {}
    for line in block.splitlines():
        words = shlex.split(line)
        short = words[1]
        if words[0] == 'rbd_ros':
            words = [sys.executable, '-m', 'rbd_ros.cli.main', *words[1:]]
        else:
            words = [sys.executable, str(ROOT / words[1]), *words[2:]]
        done = subprocess.run(
            words,
            cwd=folder,
            env={**__import__('os').environ, 'PYTHONPATH': python_path()},
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stderr
        printed[short] = done.stdout
    return folder, printed


def test_the_example_prints_the_output_of_the_page(example):
    folder, printed = example
    page = (ROOT / 'docs' / 'identification.md').read_text()
    documented = re.search(r'^    (Payload of tool0: .*\n.*\n)', page, re.MULTILINE).group(1)

    def numbers(text):
        return [float(x) for x in re.findall(r'(?<![a-z])-?\d+\.\d+', text)]

    got = ''.join(printed['identify'].splitlines(keepends=True)[:2])
    # The seed is the same, but not the rounding of another processor.
    np.testing.assert_allclose(numbers(got), numbers(documented), rtol=0.05, atol=2e-4)
    assert 'condition number' in printed['excitation-trajectory']
    assert (folder / 'payload.png').stat().st_size > 20_000


def test_the_example_finds_the_payload_and_patches_the_urdf(example):
    folder, printed = example
    urdf = (ROOT / 'urdf' / 'six_axis_arm.urdf').read_text()
    patched = (folder / 'with_payload.urdf').read_text()
    found = Robot.from_urdf(patched).model.link('tool0').inertia
    assert float(found.mass) == pytest.approx(1.5, abs=0.01)
    np.testing.assert_allclose(np.divide(found.h, found.mass), (0.01, 0.02, 0.08), atol=2e-3)
    begin, end = patched.index('<link name="tool0">'), patched.index('</inertial></link>')
    was = patched[:begin] + '<link name="tool0"/>' + patched[end + len('</inertial></link>') :]
    assert was == urdf
    assert re.search(r'payload of 1\.5\d* kg', printed['validate-model'])


def test_the_motion_is_one_that_feedforward_reads(example, capsys):
    folder, _ = example
    trajectory = read_trajectory(str(folder / 'excitation.yaml'))
    assert trajectory.duration == pytest.approx(20.0) and len(trajectory.times) == 1001
    assert main(['feedforward', 'six_axis_arm', str(folder / 'excitation.yaml')]) == 0
    assert 'The trajectory keeps all limits.' in capsys.readouterr().out


def test_base_parameters_as_json_and_urdf(example, capsys):
    folder, _ = example
    out = str(folder / 'patched.urdf')
    words = ['six_axis_arm', str(folder / 'run.csv'), '--base-parameters', '--friction']
    assert main(['identify', *words, '-o', out, '--json']) == 0
    facts = json.loads(capsys.readouterr().out)
    values = {p['name']: p['value'] for p in facts['parameters']}
    assert len(values) == 48 and facts['confidence'] == 0.99
    assert values['shoulder_pan_joint: Coulomb'] == pytest.approx(1.5, abs=0.1)
    assert main(['validate-model', out, str(folder / 'run.csv'), '--json']) == 0
    after = json.loads(capsys.readouterr().out)
    assert after['payload'] is None
    assert all(joint['relative_error'] < 0.2 for joint in after['joints'])
    assert main(['identify', *words]) == 0
    assert re.search(r'wrist_1_joint: viscous +0\.1\d+ +\+- 0', capsys.readouterr().out)


def test_the_plot_has_a_residual_below_each_effort(example, monkeypatch, capsys):
    drawn = []
    monkeypatch.setattr(JointPanels, 'save', lambda panels, path: drawn.append((panels, path)))
    words = ['six_axis_arm', str(example[0] / 'run.csv'), '--plot', 'x.png']
    assert main(['identify', *words, '--payload-link', 'tool0']) == 0
    capsys.readouterr()
    assert main(['validate-model', *words, '--json']) == 0
    facts = json.loads(capsys.readouterr().out)
    (panels, path), (before, _) = drawn
    assert path == 'x.png' and len(facts['joints']) == 6
    for (name, axes), fit in zip(panels, facts['joints'], strict=True):
        measured, model, identified = (line.get_ydata() for line in axes.get_lines())
        wrong, right = (line.get_ydata() for line in panels.residuals[name].get_lines())
        np.testing.assert_array_equal(wrong, measured - model)
        np.testing.assert_array_equal(right, measured - identified)
        error = fit['error']
        assert fit['joint'] == name and np.sqrt(np.nanmean(wrong**2)) == pytest.approx(error)
        text = panels.residuals[name].get_title()
        assert f' {error:.3g} -> ' in text and text.endswith(' N m')
        assert np.sqrt(np.nanmean(right**2)) < 0.5 * error
        (alone,) = before.residuals[name].get_lines()
        np.testing.assert_array_equal(alone.get_ydata(), wrong)


@pytest.mark.parametrize('with_residuals', [False, True])
def test_panels_of_efforts_have_the_units_of_their_joints(with_residuals, tmp_path):
    robot = Robot.from_urdf(ROOT / 'urdf' / 'stanford_arm.urdf')
    panels = JointPanels(robot, robot.joint_names[1:5], 2.0, 2.0, with_residuals)
    panels.save(tmp_path / 'x.png')
    shown = [axes for axes in panels.figure.axes if axes.get_visible()]
    labels = sorted(axes.get_ylabel() for axes in shown)
    expected = ['effort [N m]'] * 3 + ['effort [N]']
    expected += (['residual [N m]'] * 3 + ['residual [N]']) * with_residuals
    assert labels == sorted(expected)
    # The lowest panel of each column names the time.
    assert [axes.get_xlabel() for axes in shown].count('time [s]') == 3


@pytest.mark.parametrize(
    ('words', 'text'),
    [
        (['identify', 'six_axis_arm', 'RUN', '--payload-link', 'nowhere'], 'nowhere'),
        (['identify', 'two_link_arm', 'RUN', '--payload-link', 'tool0'], 'to another robot'),
        (['identify', 'six_axis_arm', 'absent.csv', '--payload-link', 'tool0'], 'cannot be read'),
        (
            ['identify', 'six_axis_arm', 'RUN', '--payload-link', 'tool0', '--confidence', '1'],
            '--confidence',
        ),
        (['validate-model', 'six_axis_arm', 'RUN', '--between', '3'], '--between'),
        (['validate-model', 'six_axis_arm', 'RUN', '--between', '90,99'], 'no state was recorded'),
        (['validate-model', 'six_axis_arm', 'RUN', '--cutoff', '-1'], '--cutoff'),
        (
            ['validate-model', 'six_axis_arm', 'RUN', '--missing-joints', 'elbow'],
            '--missing-joints',
        ),
        (['validate-model', 'six_axis_arm', 'RUN', '--plot', '/nowhere/x.png'], '--plot'),
        (['excitation-trajectory', 'six_axis_arm', '--range', 'elbow_joint'], '--range'),
        (['excitation-trajectory', 'six_axis_arm', '--period', '0'], '--period'),
    ],
)
def test_an_unusable_input_is_named(example, capsys, words, text):
    folder, _ = example
    assert main([str(folder / 'run.csv') if word == 'RUN' else word for word in words]) == 1
    assert text in capsys.readouterr().err


def test_the_subject_of_identification_is_required(example, capsys):
    folder, _ = example
    with pytest.raises(SystemExit):
        main(['identify', 'six_axis_arm', str(folder / 'run.csv')])
    assert '--payload-link' in capsys.readouterr().err


def test_undetermined_parameters_have_no_number(tmp_path, capsys):
    arm = (
        '<robot name="pendulum"><link name="base"/><link name="l"><inertial><mass value="2"/>'
        '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j" type="revolute"><parent link="base"/><child link="l"/>'
        '<axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="40" velocity="6"/></joint></robot>'
    )
    t = np.arange(0.0, 20.0, 0.005)
    q = 1.2 * np.sin(0.9 * t) + 0.5 * np.sin(2.3 * t)
    a = -1.2 * 0.81 * np.sin(0.9 * t) - 0.5 * 2.3**2 * np.sin(2.3 * t)
    # 0.7 kg at (0.3, 0, 0): weight turns it down, about y.
    tau = (0.1 + 0.063 + 0.001) * a - 0.21 * 9.81 * np.cos(q)
    urdf, csv, out = (str(tmp_path / name) for name in ('p.urdf', 'p.csv', 'out.urdf'))
    Path(urdf).write_text(arm)
    np.savetxt(
        csv,
        np.c_[t, q, tau],
        delimiter=',',
        header='time,j.position,j.effort',
        comments='',
        fmt='%.12g',
    )
    assert main(['identify', urdf, csv, '--payload-link', 'l', '-o', out]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[:2] == [
        'Payload of l',
        'mass: not determined by this recording',
    ]
    assert ' kg' not in captured.out
    assert re.search(r'l: m cx +0\.21 +\+- ', captured.out)
    assert re.search(r'l: Iyy +0\.064 +\+- ', captured.out)
    assert '; m, m cy, ' in captured.err and 'are chosen, not measured' in captured.err
    assert main(['identify', urdf, csv, '--payload-link', 'l', '--json']) == 0
    payload = json.loads(capsys.readouterr().out)['payload']
    assert payload['mass'] is None and payload['center_of_mass'] == [None] * 3
    assert payload['not_determined'] == ['m', 'm cy', 'Ixx', 'Ixy', 'Ixz', 'Iyz', 'Izz']
    assert main(['validate-model', out, csv, '--json']) == 0
    (joint,) = json.loads(capsys.readouterr().out)['joints']
    assert joint['relative_error'] < 1e-4  # the body that was written explains the efforts
