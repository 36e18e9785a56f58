# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""FMUs of both versions as controllers in scenarios, and rejections."""

import shutil
import sys
import zipfile

import numpy as np
import pytest
from support import outside
from support.small_units import Number, numbers, write_unit
from support.unit_scenarios import (
    controller_variables,
    JOINTS,
    run_of,
    scenario_of,
    write_units,
)

from rbd_ros.cli.main import main
from rbd_ros.hil import read_scenario, ScenarioError
from rbd_ros.hil.controllers import make_controller

outside.load('fmpy')
pytestmark = outside.needs('C compiler')


@pytest.fixture(scope='module')
def units(tmp_path_factory):
    """Return the folder with the FMUs that many tests share."""
    folder = tmp_path_factory.mktemp('units')
    write_units(folder)
    return folder


@pytest.mark.parametrize('version', ['2', '3'])
def test_an_fmu_controls_as_the_same_law_in_python_does_bitwise(units, version):
    faults = [{'fault': 'velocity_noise', 'value': 0.01}]
    fmu = f'feedback{version}.fmu'
    ours = run_of(scenario_of(units, {'python': 'feedback.py:feedback'}, faults=faults))
    theirs = [run_of(scenario_of(units, {'fmu': fmu}, faults=faults)) for _ in range(2)]
    assert not ours.failure and len(ours.time) == 500
    assert np.abs(ours.torque).max() > 1.0
    # C may fuse nothing that Python does not: the same sums of the same products.
    np.testing.assert_allclose(theirs[0].q, ours.q, rtol=0, atol=1e-12)
    assert theirs[0].digest == theirs[1].digest


def test_parameters_are_set_before_the_start(units):
    stiff = {'fmu': {'file': 'feedback3.fmu', 'parameters': {'stiffness': 90.0}}}
    ours = scenario_of(units, {'python': 'feedback.py:feedback', 'options': {'stiffness': 90.0}})
    expected = run_of(ours)
    found = run_of(scenario_of(units, stiff))
    np.testing.assert_allclose(found.q, expected.q, rtol=0, atol=1e-12)
    assert np.abs(found.q - run_of(scenario_of(units, {'fmu': 'feedback3.fmu'})).q).max() > 1e-3


def test_variables_may_have_other_names(tmp_path, units):
    names = [Number(f'q[{k + 1}]', 'input') for k in range(2)]
    names += [Number(f'tau_{k}') for k in range(2)]
    step = 'for (int k = 0; k < 2; ++k) x[2 + k] = -3.0 * x[k];'
    write_unit(tmp_path / 'own.fmu', '3.0', names, step)
    patterns = {'position': 'q[{index1}]', 'effort': 'tau_{index}'}
    run = run_of(scenario_of(tmp_path, {'fmu': {'file': 'own.fmu', 'variables': patterns}}))
    assert not run.failure
    np.testing.assert_array_equal(run.torque, -3.0 * run.q)


def test_states_that_are_lost_or_late_leave_the_time_of_the_fmu_right(tmp_path):
    # Its torque is its count of steps: one per time step, for any input.
    names = [Number('a.position', 'input'), Number('a.effort'), Number('steps', 'local')]
    step = 'x[1] = x[2] += 1.0; if (fabs(h - 0.001) > 1e-12) FAIL("another step");'
    write_unit(tmp_path / 'counts.fmu', '3.0', names, step)
    write_unit(
        tmp_path / 'plant.fmu',
        '3.0',
        [*numbers('a.{joint}', ('position', 'velocity'), 'output'), Number('a.effort', 'input')],
        '',
    )
    faults = [
        {'fault': 'drop', 'value': 0.3, 'channel': 'state'},
        {'fault': 'jitter', 'value': 0.004, 'channel': 'state'},
        {'fault': 'duplicate', 'value': 0.3, 'channel': 'state'},
    ]
    run = run_of(
        scenario_of(
            tmp_path,
            {'fmu': 'counts.fmu'},
            robot=None,
            plant={'fmu': 'plant.fmu'},
            trajectory={'times': [0.0], 'positions': [[0.0]]},
            faults=faults,
        )
    )
    assert not run.failure and run.counts['states_dropped'] > 100
    steps = run.torque[:, 0]
    k = np.arange(len(steps))
    assert np.all(steps <= k + 1) and np.all(np.diff(steps) >= 0)
    assert steps[-1] > len(steps) - 20 and np.any(np.diff(steps) > 1)
    # What acts is the count at the newest state that was seen.
    seen = steps > 0
    assert np.all(run.delay[seen] > -1e-12)


@pytest.mark.parametrize('version', ['2.0', '3.0'])
def test_a_controller_that_fails_ends_the_run_with_its_words(tmp_path, version):
    step = 'if (t > 0.0995) FAIL("out of ideas"); x[10] = x[11] = 0.0;'
    write_unit(tmp_path / 'fails.fmu', version, controller_variables(), step)
    run = run_of(scenario_of(tmp_path, {'fmu': 'fails.fmu'}))
    assert len(run.time) == 100 and 'out of ideas' in run.failure
    assert 'step from 0.100000 s' in run.failure


def test_a_controller_that_asks_to_end_does_so(tmp_path):
    write_unit(tmp_path / 'ends.fmu', '3.0', controller_variables(), 'if (t > 0.05) return 2;')
    run = run_of(scenario_of(tmp_path, {'fmu': 'ends.fmu'}))
    assert 'requested the end' in run.failure and 50 <= len(run.time) <= 52


def test_a_torque_that_is_not_finite_ends_the_run(tmp_path):
    write_unit(tmp_path / 'nan.fmu', '3.0', controller_variables(), 'x[11] = 0.0 / 0.0;')
    assert 'not finite' in run_of(scenario_of(tmp_path, {'fmu': 'nan.fmu'})).failure


@pytest.mark.slow
def test_a_campaign_of_an_fmu_is_done_and_replayed_bitwise(units, capsys):
    path = scenario_of(units, {'fmu': 'feedback3.fmu'}, duration=0.1)
    report = str(units / 'campaign')
    command = ['hil', str(path), '--report', report]
    assert main([*command, '--seeds', '4', '--jobs', '2', '--vary', 'latency=0:5ms']) == 0
    assert main([*command, '--vary', 'latency=0:5ms', '--replay', '2']) == 0
    assert 'bitwise identical' in capsys.readouterr().out


def test_workers_of_a_campaign_leave_no_unpacked_fmu_behind(units, tmp_path, monkeypatch):
    monkeypatch.setenv('TMPDIR', str(tmp_path))
    path = scenario_of(units, {'fmu': 'feedback3.fmu'}, duration=0.1)
    options = ['--report', str(units / 'tidy'), '--seeds', '3', '--jobs', '2']
    assert main(['hil', str(path), *options]) == 0
    assert not list(tmp_path.glob('rbd_ros_fmu_*'))


# -- unsupported FMUs
# ------------------------------------------------------------------------------


def no_unit(folder, what):
    path = folder / 'bad.fmu'
    two, feedback = controller_variables(), 'x[10] = 0.0;'
    if what == 'text':
        path.write_text('no archive')
    elif what == 'no description':
        with zipfile.ZipFile(path, 'w') as archive:
            archive.writestr('readme.txt', 'nothing')
    elif what == 'broken description':
        with zipfile.ZipFile(path, 'w') as archive:
            archive.writestr('modelDescription.xml', '<fmiModelDescription')
    elif what in ('1.0', '4.0'):
        text = f'<fmiModelDescription fmiVersion="{what}" modelIdentifier="a" '
        text += 'numberOfContinuousStates="0" numberOfEventIndicators="0"/>'
        with zipfile.ZipFile(path, 'w') as archive:
            archive.writestr('modelDescription.xml', text)
    elif what == 'truncated':
        write_unit(path, '3.0', two, feedback)
        path.write_bytes(path.read_bytes()[:-300])
    elif what == 'damaged':
        write_unit(path, '3.0', two, feedback)
        data = bytearray(path.read_bytes())
        at = data.index(b'\x7fELF')
        data[at : at + 64] = bytes(64)
        path.write_bytes(bytes(data))
    elif what == 'model exchange':
        write_unit(path, '2.0', two, feedback, kind='ModelExchange')
    elif what == 'no binary':
        write_unit(path, '3.0', two, feedback, binary=False)
    elif what == 'no effort':
        write_unit(path, '3.0', two[:10], feedback)
    elif what == 'half an input':
        write_unit(path, '3.0', [two[0], *two[2:]], feedback)
    elif what == 'a plant':
        plant = [*numbers('{joint}.position', JOINTS, 'output')]
        write_unit(path, '3.0', [*plant, *numbers('{joint}.effort', JOINTS, 'input')], '')
    elif what == 'no inputs':
        write_unit(path, '3.0', two[10:], '')
    elif what == 'integer':
        write_unit(path, '3.0', [Number(two[0].name, 'input', kind='Integer'), *two[1:]], feedback)
    return path


@pytest.mark.parametrize(
    ('what', 'words'),
    [
        ('nothing', 'No such file'),
        ('text', '(is not|as) an FMU'),
        ('no description', '(is not|as) an FMU.*modelDescription'),
        ('broken description', '(is not|as) an FMU'),
        ('1.0', 'has FMI 1.0; export it as FMI 2.0 or 3.0'),
        ('4.0', 'has FMI 4.0'),
        ('truncated', '(is not|as) an FMU'),
        ('damaged', 'cannot be unpacked'),
        ('model exchange', 'not support co-simulation'),
        ('no binary', 'cannot be loaded.*Cannot find shared library.*fmpy compile'),
        ('no effort', "no output 'shoulder.effort'.*variables"),
        ('half an input', "no input 'elbow.position'"),
        ('no inputs', 'no input such as'),
        ('a plant', 'shoulder.effort is an input, but must be an output'),
        ('integer', 'of the type Int32; it must be one Real or Float64'),
    ],
)
def test_an_fmu_that_is_not_a_controller_is_reported(tmp_path, what, words):
    no_unit(tmp_path, what)
    scenario = read_scenario(scenario_of(tmp_path, {'fmu': 'bad.fmu'}))
    with pytest.raises(ValueError, match=f'(?s){words}') as error:
        make_controller(scenario)
    assert 'bad.fmu' in str(error.value)


def test_a_parameter_that_is_not_there_is_reported(units):
    path = scenario_of(units, {'fmu': {'file': 'feedback3.fmu', 'parameters': {'mass': 1.0}}})
    with pytest.raises(ValueError, match="no variable 'mass'"):
        make_controller(read_scenario(path))


def test_without_fmpy_the_cure_is_reported(tmp_path, units, monkeypatch):
    shutil.copy(units / 'feedback3.fmu', tmp_path / 'lonely.fmu')
    monkeypatch.setitem(sys.modules, 'fmpy', None)
    with pytest.raises(ValueError, match='pip install'):
        make_controller(read_scenario(scenario_of(tmp_path, {'fmu': 'lonely.fmu'})))


def test_a_replaced_fmu_is_read_again(tmp_path):
    names = [Number('a', 'input'), Number('b', 'input'), Number('t1'), Number('t2')]
    patterns = {'position': '{joint}', 'effort': 't{index1}'}
    scenario = scenario_of(
        tmp_path,
        {'fmu': {'file': 'it.fmu', 'variables': {**patterns, 'position': 'p{index}'}}},
        duration=0.01,
    )
    names[0], names[1] = Number('p0', 'input'), Number('p1', 'input')
    write_unit(tmp_path / 'it.fmu', '3.0', names, 'x[2] = 1.0;')
    assert run_of(scenario).torque[0, 0] == 1.0
    write_unit(tmp_path / 'it.fmu', '3.0', names, 'x[2] = 2.0; x[3] = 0.5 * t;')
    assert run_of(scenario).torque[0, 0] == 2.0


@pytest.mark.parametrize(
    ('controller', 'words'),
    [
        ({'fmu': {'variables': {}}}, 'file is missing'),
        ({'fmu': {'file': 'a.fmu', 'variables': {'effort': 'tau'}}}, 'variables: effort.*{joint}'),
        (
            {'fmu': {'file': 'a.fmu', 'variables': {'effort': '{joint}{arm}'}}},
            'variables: effort.*unknown placeholder',
        ),
        ({'fmu': {'file': 'a.fmu', 'variables': {'torque': '{joint}'}}}, 'unknown key.*torque'),
        ({'fmu': {'file': 'a.fmu', 'parameters': {'k': 'much'}}}, 'parameters: k.*finite number'),
    ],
)
def test_wrong_entries_are_rejected_by_line_and_key(tmp_path, controller, words):
    with pytest.raises(ScenarioError, match=f'(?s)scenario.yaml.*line.*controller: fmu.*{words}'):
        read_scenario(scenario_of(tmp_path, controller))
