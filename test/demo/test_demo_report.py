# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The demo's table and plot, from synthetic recordings; its command line."""

import argparse
from dataclasses import replace

import numpy as np
import pytest

from rbd_ros.cli.demo import add_arguments, run
from rbd_ros.cli.main import main
from rbd_ros.demonstration import demo
from rbd_ros.demonstration.demo_motion import demonstration
from rbd_ros.demonstration.demo_plot import plot
from rbd_ros.demonstration.demo_report import ratio, report
from rbd_ros.demonstration.experiment import evaluate, measure, Plan, Recording
from rbd_ros.lookup.resources import resource_path
from rbd_ros.robot import Robot

MILLISECOND = 1_000_000
ERRORS = (0.1, 0.05, 0.001)


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(resource_path('urdf', 'stanford_arm.urdf'))


@pytest.fixture(scope='module')
def plan(robot):
    t = demonstration(robot).trajectory
    return Plan(t.joint_names, t.times, t.positions, t.velocities, t.accelerations, demo.LAWS)


@pytest.fixture(scope='module')
def recordings(plan):
    result = {}
    for law, error in zip(plan.laws, ERRORS):
        stamps = MILLISECOND * np.arange(0, int(1e3 * plan.times[-1]) + 2)
        q = np.array([plan.trajectory.sample(t)[0] for t in (stamps / 1e9).tolist()])
        sent = 10**18 + stamps
        result[law.key] = Recording(
            start=0,
            state_stamps=stamps,
            state_sent=sent,
            q=q + error * np.sin(stamps / 1e8)[:, None],
            v=0 * q,
            effort=5.0 * np.cos(q),
            command_stamps=stamps,
            command_sent=sent + 300_000,
        )
    return result


@pytest.fixture(scope='module')
def runs(plan, recordings):
    return {key: evaluate(plan, recording) for key, recording in recordings.items()}


@pytest.fixture(scope='module')
def timing(plan, recordings):
    return measure(plan, recordings['inverse_dynamics'])


UNITS = [('rad', 'N m'), ('rad', 'N m'), ('m', 'N'), *[('rad', 'N m')] * 3]


def test_the_ratio_is_that_of_the_errors(runs):
    first, *_, last = runs.values()
    assert ratio(first, last) == pytest.approx(ERRORS[0] / ERRORS[-1], rel=1e-6)


def test_the_table_has_every_joint_law_and_figure(plan, runs, robot, timing):
    text = report(plan, runs, UNITS, robot.effort_limits, timing)
    for name in (*plan.joint_names, *(law.title for law in plan.laws)):
        assert name in text
    for phrase in ('RMS', 'peak torque', 'Hz', 'no command before', 'median', '99.9 %'):
        assert phrase in text
    assert f'{ERRORS[0] / ERRORS[-1]:.1f}' in text
    assert 'busy' not in text


def test_only_the_table_of_times_depends_on_the_machine(plan, runs, robot, timing):
    busy = replace(timing, missed=timing.states // 2)
    texts = [report(plan, runs, UNITS, robot.effort_limits, t) for t in (timing, busy, None)]
    quiet, loaded, nothing = (text.split('\n\n') for text in texts)
    assert quiet[:-1] == loaded[:-1] == nothing
    assert 'depend on the load of the machine' in loaded[-1]


def test_the_columns_of_the_table_are_aligned(plan, runs, robot, timing):
    for block in report(plan, runs, UNITS, robot.effort_limits, timing).split('\n\n'):
        rule = next(line for line in block.splitlines() if set(line) == {'-'})
        assert all(len(line) <= len(rule) for line in block.splitlines())


@pytest.mark.parametrize('limits', [np.full(6, np.inf), np.full(6, 6.0)])
def test_the_plot_is_a_png_that_is_not_blank(plan, runs, tmp_path, limits):
    pyplot = pytest.importorskip('matplotlib.pyplot')
    path = tmp_path / 'plot.png'
    plot(path, 'title', 'subtitle', plan, runs, UNITS, limits)
    image = pyplot.imread(path)
    assert image.shape[0] > 500
    assert image.shape[1] > 500
    assert image[..., :3].std() > 0.02
    assert not pyplot.get_fignums()


def arguments(*words):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(words)


@pytest.mark.parametrize(
    ('words', 'message'),
    [
        (('no_such_robot',), 'no robot'),
        (('two_link_arm', '--time-scale', '0.5'), '--time-scale'),
        (('{folder}/sick.urdf',), 'sick'),
        (('{folder}/fixed.urdf',), 'no movable joint'),
    ],
)
def test_an_impossible_run_ends_with_code_2_and_a_reason(words, message, tmp_path, capfd):
    (tmp_path / 'sick.urdf').write_text('<robot name="sick"><link')
    (tmp_path / 'fixed.urdf').write_text('<robot name="fixed"><link name="base"/></robot>')
    words = [word.format(folder=tmp_path) for word in words]
    assert run(arguments(*words, '-o', str(tmp_path / 'out'))) == 2
    assert message in ''.join(capfd.readouterr())


def test_without_a_robot_the_demo_takes_the_embedded_arm():
    assert arguments().robot == 'six_axis_arm'


def test_help_lists_laws_gains_and_exit_codes(capsys):
    with pytest.raises(SystemExit):
        main(['demo', '--help'])
    text = capsys.readouterr().out
    for phrase in ('same feedback', 'lockstep', 'exit codes:', '--threshold', 'SIGTERM'):
        assert phrase in text


@pytest.mark.parametrize(
    'line',
    [b'', b'\n', b'\xff\n', b'3\n', b'{}\n', b'[RTPS_TRANSPORT_SHM Error] Failed to create\n'],
)
def test_output_of_the_middleware_among_the_reports_is_ignored(line):
    assert demo._message(line) is None
    assert demo._message(b'{"event": "done"}\n') == {'event': 'done'}
