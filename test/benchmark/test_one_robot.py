# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`benchmark/one_robot.py` and `run.py` run and print their output; speed is not tested."""

import io
import json
import os
from pathlib import Path
import subprocess
import sys

import pytest
from support import example_robots, outside
from support.speed_benchmark import first_call, measurement, one_robot, text_table
from support.urdf_text import chain, inertial, joint, LIMIT, link, robot
from support.waiting import CEILING

from rbd_ros import Robot
from rbd_ros.model import equivalent_model

Call, cases, compare = measurement.Call, measurement.cases, measurement.compare
columns, number = text_table.columns, text_table.number
first_calls = first_call.first_calls
ROOT = Path(__file__).resolve().parents[2]
ARM = robot(
    link('base'),
    link('upper', inertial()),
    link('lower', inertial()),
    link('finger', inertial()),
    joint('shoulder', 'base', 'upper', 'continuous', '', axis='0 0 1'),
    joint('elbow', 'upper', 'lower', 'revolute', LIMIT),
    joint('slide', 'lower', 'finger', 'prismatic', LIMIT + '<mimic joint="elbow"/>'),
    name='two_arm',
)


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(ARM)
    return str(path)


def bench(*arguments):
    return one_robot.main(list(arguments))


def facts_of(capsys, *arguments):
    assert bench(*arguments, '--quick', '--json') == 0
    return json.loads(capsys.readouterr().out)


def test_table_has_a_row_for_each_function(arm, capsys):
    assert bench(arm, '--quick', '--batch', '32') == 0
    out = capsys.readouterr().out
    assert out.startswith('two_arm: 2 degrees of freedom')
    for label in map(measurement.label, measurement.FUNCTIONS):
        assert sum(line.startswith(label) for line in out.splitlines()) == 1, label


def test_it_prints_the_savings_of_an_equivalent_model(capsys):
    """Of the same kernels counted on the model itself, which has all of its parameters."""
    ur5 = str(example_robots.path('ur5_robot'))
    functions = 'inverse_dynamics,mass_matrix,gravity_torque,jacobian'
    facts = facts_of(capsys, ur5, '--functions', functions, '--batch', '16')
    itself = Robot.from_urdf(ur5)
    equivalent = Robot(equivalent_model(itself.model))
    for row in facts['rows'][:3]:
        found, all_parameters = row['operations'], row['operations_of_the_model_itself']
        assert found == vars(itself.operation_count(row['function']))
        as_it_is = vars(equivalent.operation_count(row['function'], equivalent=False))
        if row['function'] == 'inverse_dynamics':  # by screws, which save more
            assert all(found[kind] <= as_it_is[kind] for kind in found)
        else:
            assert found == as_it_is
        assert found['multiplications'] < 0.9 * all_parameters['multiplications']
    assert facts['rows'][3]['operations'] == facts['rows'][3]['operations_of_the_model_itself']
    assert bench(ur5, '--quick', '--batch', '16', '--functions', functions) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if '%' in line]
    shares = [int(word[:-1]) for row in rows for word in row if word.endswith('%')]
    assert shares[3] == 0 and all(10 <= share < 90 for share in shares[:3])


def test_default_robot_is_the_embedded_arm(capsys):
    facts = facts_of(capsys, '--functions', 'gravity_torque', '--batch', '16')
    assert facts['robot']['name'] == 'six_axis_arm'
    assert facts['robot']['nv'] == 6


def test_json_contains_machine_versions_robot_and_times(arm, capsys):
    facts = facts_of(capsys, arm, '--batch', '32')
    assert facts['format'] == 'rbd_ros one_robot 1'
    assert facts['machine']['cores'] >= 1
    assert facts['versions']['python'] and facts['versions']['numpy']
    assert facts['robot']['nv'] == 2 and facts['batch'] == 32
    assert [row['function'] for row in facts['rows']] == list(measurement.FUNCTIONS)
    for row in facts['rows']:
        for way in ('single', 'batch_one_core', 'batch_all_cores'):
            assert row[way]['ours_ns'] > 0.0
            low, high = row[way]['ours_quartiles_ns']
            assert low <= row[way]['ours_ns'] <= high


def test_peer_is_measured_where_it_is_installed(arm, capsys):
    outside.load('pinocchio')
    facts = facts_of(capsys, arm, '--batch', '32')
    for row in facts['rows']:
        assert row['single']['theirs_ns'] > 0.0 and row['batch_one_core']['ratio'] > 0.0
    assert facts['robot']['peer_nv'] == 3
    assert any('mimic' in note for note in facts['notes'])


def test_without_the_peer_the_table_says_so(arm, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, 'pinocchio', None)
    assert bench(arm, '--quick', '--batch', '16', '--functions', 'mass_matrix') == 0
    out = capsys.readouterr().out
    assert 'Note: Pinocchio is not installed' in out


def test_floating_base_adds_six_dofs(arm, capsys):
    facts = facts_of(capsys, arm, '--floating-base', '--functions', 'bias_force', '--batch', '16')
    assert facts['robot']['nv'] == 8


def test_description_comes_from_standard_input(capsys, monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(ARM.encode()))
    monkeypatch.setattr(sys, 'stdin', stdin)
    facts = facts_of(capsys, '-', '--functions', 'gravity_torque', '--batch', '16')
    assert facts['robot']['name'] == 'two_arm'


def test_json_and_plot_are_written(arm, tmp_path, capsys):
    plot = tmp_path / 'plot.png'
    assert (
        bench(
            arm,
            '--quick',
            '--batch',
            '16',
            '--functions',
            'gravity_torque,mass_matrix',
            '--plot',
            str(plot),
            '--json',
        )
        == 0
    )
    assert plot.read_bytes().startswith(b'\x89PNG')
    assert len(json.loads(capsys.readouterr().out)['rows']) == 2


def test_progress_goes_to_standard_error(arm, capsys):
    assert (
        bench(arm, '--quick', '--batch', '16', '--functions', 'gravity_torque', '--progress') == 0
    )
    captured = capsys.readouterr()
    assert 'gravity torque: single calls' in captured.err
    assert 'gravity torque: single calls' not in captured.out


def test_no_progress_without_a_terminal(arm, capsys):
    assert bench(arm, '--quick', '--batch', '16', '--functions', 'gravity_torque') == 0
    assert capsys.readouterr().err == ''


@pytest.mark.slow
def test_first_calls_are_measured_in_fresh_processes(arm, capsys):
    assert bench(arm, '--batch', '16', '--functions', 'gravity_torque', '--json') == 0
    first = json.loads(capsys.readouterr().out)['rows'][0]['first_call']
    for kind in ('cold', 'cached'):
        assert set(first[kind]) == {
            'import',
            'load',
            'call',
            'batch_call',
            'call_processor',
            'batch_call_processor',
        }
        assert all(seconds > 0.0 for seconds in first[kind].values())


@pytest.mark.slow
@pytest.mark.parametrize(
    'function', ['inverse_dynamics_derivatives', 'inverse_operational_inertia']
)
def test_first_calls_are_measured_of_kernels_without_a_method(function, arm):
    """A kernel is called, of the last link where one takes a frame."""
    first = first_calls(arm, function, batch=0)
    assert first['cold']['call'] > 0.0 and first['cached']['call'] > 0.0


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (
            ['--functions', 'mass_matricks'],
            "unknown function 'mass_matricks'; did you mean 'mass_matrix'",
        ),
        (['--functions', ','], '--functions is empty'),
        (['--batch', '0'], '--batch must be from 1'),
        (['--batch', '100000000'], '--batch must be from 1'),
        (['--plot', '/nowhere/at/all.png'], 'the folder of /nowhere/at/all.png does not exist'),
    ],
)
def test_wrong_arguments_are_reported_before_anything_is_measured(arm, capsys, arguments, message):
    assert bench(arm, '--quick', *arguments) == 1
    assert message in capsys.readouterr().err


def test_missing_file_is_a_clear_error(capsys):
    assert bench('/no/such/robot.urdf', '--quick') == 1
    error = capsys.readouterr().err
    assert 'error:' in error and '/no/such/robot.urdf' in error


def test_broken_description_is_a_clear_error(tmp_path, capsys):
    path = tmp_path / 'broken.urdf'
    path.write_text('<robot name="x"><link name="a"></robot>')
    assert bench(str(path), '--quick') == 1
    assert 'error:' in capsys.readouterr().err


def test_robot_without_joints_is_a_clear_error(tmp_path, capsys):
    path = tmp_path / 'rock.urdf'
    path.write_text(robot(link('rock'), name='rock'))
    assert bench(str(path), '--quick') == 1
    assert "'rock' has no movable joint" in capsys.readouterr().err


def test_interpreted_functions_can_be_measured(arm):
    command = [
        sys.executable,
        str(ROOT / 'benchmark' / 'one_robot.py'),
        arm,
        '--quick',
        '--batch',
        '4',
        '--functions',
        'gravity_torque',
    ]
    environment = {
        **os.environ,
        'RBD_ROS_COMPILER': 'off',
        'PYTHONPATH': os.pathsep.join(filter(None, (str(ROOT), os.environ.get('PYTHONPATH')))),
    }
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=CEILING
    )
    assert done.returncode == 0, done.stderr
    assert 'interpreted' in done.stdout


def test_ratio_is_their_time_over_ours():
    def work(n):
        for _ in range(n):
            pass

    result = compare(Call(work, (200,)), Call(work, (), [(20000,)] * 3, states=3), 0.05)
    assert result.ratio_low <= result.ratio <= result.ratio_high
    assert result.ratio > 10.0  # a hundred times the work; wide, because time decides no test


def test_unknown_function_of_a_case_is_named():
    from rbd_ros import Robot

    with pytest.raises(ValueError, match="unknown function 'nothing'"):
        next(cases(Robot.from_urdf(chain('revolute')), ['nothing'], 8))


def test_numbers_have_about_three_digits():
    assert [number(x) for x in (None, 0.123, 1.26, 99.99, 12345.6)] == [
        '-',
        '0.12',
        '1.3',
        '100.0',
        '12346',
    ]


def test_columns_line_up():
    lines = columns([('a', 'bcdefgh'), ('wider', '1')], rule_after=1)
    assert lines == ['a      bcdefgh', '--------------', 'wider        1']


# -- benchmark/run.py -----------------------------------------------------------------------------


def run_benchmark(*arguments):
    environment = {
        **os.environ,
        'PYTHONPATH': os.pathsep.join(entry for entry in (os.environ.get('PYTHONPATH'),) if entry),
    }
    return subprocess.run(
        [sys.executable, str(ROOT / 'benchmark' / 'run.py'), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.slow
def test_benchmark_prints_every_row_with_its_floor(tmp_path):
    example_robots.path('ur5_robot')
    outside.load('pinocchio')
    path, plot, document = tmp_path / 'b.json', tmp_path / 'b.png', tmp_path / 'b.md'
    document.write_text((ROOT / 'docs' / 'measurements.md').read_text())
    done = run_benchmark(
        '--quick',
        '--robots',
        'UR5',
        '--only',
        'single_calls,batches,small_batches,first_calls',
        '--json',
        str(path),
        '--plot',
        str(plot),
        '--document',
        str(document),
    )
    assert done.returncode == 0, done.stderr
    facts = json.loads(path.read_text())
    assert facts['format'] == 'rbd_ros benchmark 2'
    found = {(row['section'], row['function']): row for row in facts['rows']}
    assert found['single_calls', 'forward_dynamics']['floor'] == 12.0
    assert found['batches', 'inverse_dynamics']['floor'] == 70.0
    assert found['small_batches', 'mass_matrix']['floor'] == 1.0
    assert found['first_calls', 'nothing cached']['floor'] == 0.5
    assert found['first_calls', 'cached on disk']['floor'] == 0.05
    assert all(row['value'] > 0.0 for row in facts['rows'])
    assert all(row['verdict'] in ('PASS', 'BELOW', '') for row in facts['rows'])
    assert plot.read_bytes().startswith(b'\x89PNG')
    assert '| UR5 | RNEA |' in document.read_text()


def test_benchmark_names_skipped_parts(tmp_path):
    path = tmp_path / 'b.json'
    code = (
        'import sys; sys.path.insert(0, sys.argv[1]); import run, robots\n'
        'robots.cmeel_prefix = lambda: None\n'
        'sys.exit(run.main(["--quick", "--only", "single_calls,out", "--json", sys.argv[2]]))'
    )
    done = subprocess.run(
        [sys.executable, '-c', code, str(ROOT / 'benchmark'), str(path)],
        capture_output=True,
        text=True,
        timeout=CEILING,
    )
    assert done.returncode == 0, done.stderr
    assert 'skipped: example-robot-data is not installed' in done.stdout
    assert {row['verdict'] for row in json.loads(path.read_text())['rows']} == {'skipped'}


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (['--only', 'batches,double'], "unknown section 'double'; there are single_calls, "),
        (['--robots', 'R2D2'], "unknown robot 'R2D2'; there are UR5, Panda"),
    ],
)
def test_benchmark_rejects_unknown_names(arguments, message):
    done = run_benchmark(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
