# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Controllers as functions of shared libraries, in the process of the bench."""

import re
import shutil
import subprocess

import numpy as np
import pytest
from support import outside
from support.c_example import build_example, compile_library, COMPILER, EXAMPLE
import yaml

from rbd_ros.cli.main import main
from rbd_ros.hil import Bench, read_scenario, ScenarioError
from rbd_ros.hil.controllers import make_controller
from rbd_ros.lookup.robots import load_robot
from rbd_ros.robot.export import c_library

pytestmark = outside.needs('C compiler')

HEAD = (
    'int control(int64_t n, double t, const double q[], const double v[], const double qw[], '
    'const double vw[], const double aw[], double tau[])'
)
FEEDBACK = (
    HEAD
    + """
{ for (int k = 0; k < n; ++k)
    tau[k] = 40.0 * (qw[k] - q[k]) + 2.0 * (vw[k] - v[k]) + 0.1 * aw[k] + 0.01 * t;
  return 0; }
"""
)
PYTHON = """
def feedback(robot, trajectory, timestep):
    def control(time, q, v):
        desired = trajectory.sample(time)
        return 40.0 * (desired[0] - q) + 2.0 * (desired[1] - v) + 0.1 * desired[2] + 0.01 * time
    return control
"""


def scenario_of(folder, c, **changes):
    content = {
        'robot': 'two_link_arm',
        'duration': 0.5,
        'trajectory': {'times': [0.0, 0.4], 'positions': [[0.2, 0.3], [0.5, 0.1]]},
        'controller': {'c': c} if c else {'python': 'feedback.py:feedback'},
        **changes,
    }
    path = folder / 'scenario.yaml'
    path.write_text(yaml.safe_dump(content))
    return path


def run_of(path):
    scenario = read_scenario(path)
    return Bench(scenario).run(make_controller(scenario))


@pytest.fixture(scope='module')
def example(tmp_path_factory):
    """Return the example, built."""
    return build_example(tmp_path_factory.mktemp('example'))


def test_a_function_controls_as_the_same_law_in_python_does(tmp_path):
    compile_library(tmp_path, FEEDBACK)
    (tmp_path / 'feedback.py').write_text(PYTHON)
    faults = [
        {'fault': 'position_noise', 'value': 0.001},
        {'fault': 'jitter', 'value': 0.003},
    ]
    ours = run_of(scenario_of(tmp_path, None, faults=faults))
    path = scenario_of(tmp_path, {'library': 'own.so', 'function': 'control'}, faults=faults)
    theirs = [run_of(path) for _ in range(2)]
    assert not theirs[0].failure and np.abs(ours.torque).max() > 1.0
    np.testing.assert_allclose(theirs[0].q, ours.q, rtol=0, atol=1e-12)
    assert theirs[0].digest == theirs[1].digest


@pytest.mark.parametrize(('function', 'most'), [('computed_torque', 0.02), ('gravity_pd', 0.02)])
def test_the_example_follows_its_trajectory(example, tmp_path, function, most):
    content = yaml.safe_load((EXAMPLE / 'scenario.yaml').read_text())
    assert content['controller']['c']['function'] == 'computed_torque'
    assert content['limits']['tracking_error'] == 0.02
    content['controller'] = {
        'c': {'library': str(example / 'libcontrol.so'), 'function': function}
    }
    content['faults'] = [] if function == 'gravity_pd' else content['faults']
    path = tmp_path / 'scenario.yaml'
    path.write_text(yaml.safe_dump(content))
    run = run_of(path)
    assert not run.failure and len(run.time) == 5000
    assert np.abs(run.desired - run.q).max() < most


def test_an_exported_function_is_a_controller(example, tmp_path):
    three = ['desired_position', 'desired_velocity', 'desired_acceleration']
    given = {'library': str(example / 'libcontrol.so'), 'function': 'arm_inverse_dynamics'}
    content = yaml.safe_load((EXAMPLE / 'scenario.yaml').read_text())
    content.update(faults=[], limits={}, duration=0.3)
    content['controller'] = {'c': {**given, 'arguments': three}}
    path = tmp_path / 'scenario.yaml'
    path.write_text(yaml.safe_dump(content))
    scenario, run = read_scenario(path), run_of(path)
    expected = [scenario.robot.inverse_dynamics(*scenario.trajectory.sample(t)) for t in run.time]
    limits = scenario.robot.effort_limits
    expected = np.clip(expected, -limits, limits)
    np.testing.assert_allclose(run.torque, expected, rtol=0, atol=1e-9)


def test_gravity_torque_alone_takes_the_measured_position(tmp_path):
    robot_file = load_robot('two_link_arm')
    from rbd_ros import Robot

    robot = Robot.from_urdf(robot_file.source)
    for name, text in c_library(robot, ['gravity_torque'], 'own').items():
        (tmp_path / name).write_text(text)
    source = tmp_path / 'own_gravity_torque.c'
    command = [COMPILER, '-O1', '-fPIC', '-shared', '-o', str(tmp_path / 'own.so'), str(source)]
    subprocess.run([*command, '-lm'], check=True)
    given = {'library': 'own.so', 'function': 'own_gravity_torque', 'arguments': ['position']}
    run = run_of(scenario_of(tmp_path, given))
    assert np.abs(run.q - run.q[0]).max() < 1e-6
    np.testing.assert_allclose(run.torque[7], robot.gravity_torque(run.q[7]), atol=1e-12)


def test_begin_is_called_before_each_run(tmp_path):
    text = (
        """
    static int count; static double step, joints;
    void start(int64_t n, double h) { joints = n; step = h; count = 0; }
    """
        + HEAD
        + '{ tau[0] = ++count; tau[1] = step + joints; return 0; }'
    )
    compile_library(tmp_path, text)
    given = {'library': 'own.so', 'function': 'control', 'begin': 'start'}
    path = scenario_of(tmp_path, given, duration=0.01, timestep=0.002)
    for _ in range(2):
        run = run_of(path)
        assert list(run.torque[:, 0]) == [1.0, 2.0, 3.0, 4.0, 5.0]
        assert np.all(run.torque[:, 1] == 2.002)


@pytest.mark.parametrize(
    ('body', 'words'),
    [
        ('{ tau[0] = tau[1] = 0.0; return t > 0.0095 ? 7 : 0; }', 'returned 7 at 0.010000 s'),
        ('{ tau[0] = 0.0; return 0; }', 'not finite'),
        ('{ tau[0] = tau[1] = NAN; return 0; }', 'not finite'),
    ],
)
def test_a_function_that_fails_ends_the_run(tmp_path, body, words):
    compile_library(tmp_path, HEAD + body)
    run = run_of(scenario_of(tmp_path, {'library': 'own.so', 'function': 'control'}))
    assert words in run.failure
    assert len(run.time) == (10 if 'returned' in words else 0)


def test_a_library_that_is_none_is_reported(tmp_path):
    (tmp_path / 'text.so').write_text('no library')
    for name in ('text.so', 'none.so'):
        path = scenario_of(tmp_path, {'library': name, 'function': 'control'})
        with pytest.raises(ValueError, match=f'controller .*{name}.*give a shared library'):
            make_controller(read_scenario(path))


@pytest.mark.parametrize('keys', [{'function': 'contorl'}, {'function': 'control', 'begin': 'go'}])
def test_a_function_that_is_not_there_is_reported(tmp_path, keys):
    compile_library(tmp_path, FEEDBACK)
    path = scenario_of(tmp_path, {'library': 'own.so', **keys})
    missing = keys.get('begin', keys['function'])
    with pytest.raises(ValueError, match=f'has no function {missing}; export it'):
        make_controller(read_scenario(path))


@pytest.mark.parametrize(
    ('given', 'words'),
    [
        ({'library': 'a.so'}, 'function is missing'),
        ({'library': 'a.so', 'function': 'f', 'start': 'g'}, 'unknown key.*start'),
        ({'library': 'a.so', 'function': 'a b'}, 'function.*not a valid name in C'),
        ({'library': 'a.so', 'function': 'f', 'begin': '2'}, 'begin.*not a valid name'),
        ({'library': 'a.so', 'function': 'f', 'arguments': []}, 'arguments: the list is empty'),
        ({'library': 'a.so', 'function': 'f', 'arguments': ['torque']}, 'arguments.*torque'),
    ],
)
def test_wrong_entries_are_rejected_by_line_and_key(tmp_path, given, words):
    with pytest.raises(ScenarioError, match=f'(?s)scenario.yaml.*line.*controller: c.*{words}'):
        read_scenario(scenario_of(tmp_path, given))


def test_a_function_that_crashes_costs_a_campaign_its_run_alone(tmp_path):
    crash = '{ tau[0] = tau[1] = 0.0; if (q[0] > 0.45) *(volatile int *)0 = 1; return 0; }'
    compile_library(tmp_path, HEAD + crash)
    given = {'library': 'own.so', 'function': 'control'}
    faults = [{'fault': 'position_bias', 'value': 0.0}]
    path = scenario_of(tmp_path, given, duration=0.01, faults=faults)
    report = tmp_path / 'report'
    command = ['hil', str(path), '--report', str(report), '--jobs', '1', '--seeds', '8']
    assert main([*command, '--vary', 'position_bias=0:0.3:4']) == 1
    rows = (report / 'runs.csv').read_text().splitlines()[1:]
    died = [row for row in rows if 'its worker died' in row]
    assert len(rows) == 8 and 0 < len(died) < 8


@outside.needs('cmake')
def test_the_example_is_built_by_cmake(example, tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / 'example', ignore=shutil.ignore_patterns('build'))
    shutil.copytree(example / 'arm', tmp_path / 'example' / 'build' / 'arm')
    for words in (['-B', 'build', '-S', '.'], ['--build', 'build']):
        subprocess.run(['cmake', *words], cwd=tmp_path / 'example', check=True)
    assert {p.name for p in (tmp_path / 'example' / 'build').iterdir()} >= {
        'udp_controller',
        'libcontrol.so',
    }


def test_the_prototypes_of_page_and_header_agree():
    page = (EXAMPLE.parents[1] / 'docs' / 'hil_controllers.md').read_text()
    header = (EXAMPLE / 'control.h').read_text()

    def plain(text, name):
        found = re.search(rf'int {name}(\(.*?\));', text, re.DOTALL)
        return re.sub(r'\s+', ' ', found[1])

    assert plain(page, 'computed_torque') == plain(header, 'controller')
