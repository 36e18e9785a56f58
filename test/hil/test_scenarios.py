# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Scenarios: reading, runs, assertions and reports; bitwise identical for a seed."""

from dataclasses import replace
from fractions import Fraction
from html import escape
import json
import math
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from support import outside
from support.hil_pages import plots_of
import yaml

from rbd_ros import Simulator
from rbd_ros.cli.main import main
from rbd_ros.hil import Bench, Fault, judge, read_scenario, Run, RunRecorder, ScenarioError
from rbd_ros.hil.controllers import find_factory, make_controller
from rbd_ros.hil.faults.fault_injector import FaultChange
from rbd_ros.hil.rates import at_rates
from rbd_ros.hil.report.recorded_run import about_of
from rbd_ros.hil.report.run_report import junit, page, write_report
from rbd_ros.hil.report.verdict import row

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / 'config' / 'hil').glob('*.yaml'))

CONTROLLER = """
import numpy as np

def hold(robot, trajectory, timestep, stiffness=40.0):
    def control(time, q, v):
        return stiffness * (trajectory.sample(time)[0] - q) - 2.0 * v + robot.gravity_torque(q)
    return control

def raises(robot, trajectory, timestep):
    def control(time, q, v):
        if time > 0.05:
            raise RuntimeError('out of memory')
        return np.zeros(2)
    return control

def odd(robot, trajectory, timestep, what='word'):
    answers = {'word': 'up', 'short': [0.0], 'nan': [np.nan, 0.0], 'nothing': None}
    return lambda time, q, v: answers[what]

def cannot_be_made(robot, trajectory, timestep):
    raise OSError('no license')

number = 7
"""


def scenario_of(tmp_path, **changes):
    """Return the path of a scenario with the two-link arm."""
    (tmp_path / 'controllers.py').write_text(CONTROLLER)
    content = {
        'robot': 'two_link_arm',
        'duration': 0.5,
        'trajectory': {'times': [0.0, 0.4], 'positions': [[0.2, 0.3], [0.5, 0.1]]},
        'controller': {'python': 'controllers.py:hold'},
        'limits': {'tracking_error': 0.2},
        **changes,
    }
    path = tmp_path / 'scenario.yaml'
    path.write_text(yaml.safe_dump({k: v for k, v in content.items() if v is not None}))
    return path


#: A controller_manager.
MANAGER = {'command': 'a', 'answers': 'order'}


def run_of(scenario, seed=None):
    return Bench(scenario).run(make_controller(scenario), seed)


# -- reading --------------------------------------------------------------------------------------


def test_a_scenario_file_declares_the_run(tmp_path):
    faults = [{'fault': 'actuator_failure', 'start_time': 0.1}]
    limits = {'torque': 0.5, 'recovery_time': 0.2, 'recovery_error': 0.03}
    scenario = read_scenario(
        scenario_of(tmp_path, name='a test', seed=9, timestep=0.002, faults=faults, limits=limits)
    )
    assert (scenario.name, scenario.seed, scenario.steps) == ('a test', 9, 250)
    assert list(scenario.start) == [0.2, 0.3]
    assert scenario.faults == (Fault('actuator_failure', start_time=0.1),)
    assert scenario.limits.tracking_error is None and scenario.limits.recovery_error == 0.03
    assert scenario.controller.words[0].endswith('controllers.py:hold')


def test_omitted_keys_have_defaults(tmp_path):
    path = scenario_of(tmp_path, duration=None, limits=None)
    scenario = read_scenario(path)
    assert scenario.duration == pytest.approx(1.4) and scenario.timestep == 0.001
    assert scenario.seed == 0 and scenario.faults == () and scenario.response_timeout == 10.0


def test_states_come_once_in_the_period_of_a_controller_manager(tmp_path):
    controller = {**MANAGER, 'update_rate': 125}
    scenario = read_scenario(scenario_of(tmp_path, controller=controller, timestep=0.002))
    assert (scenario.timestep, scenario.substeps, scenario.step) == (0.008, 4, 0.002)
    assert scenario.steps == 250
    with pytest.raises(ValueError, match='update_rate sets its rate'):
        at_rates(scenario, [Fraction(1), Fraction(2)])


def test_joints_that_the_trajectory_leaves_out_stand_still(tmp_path):
    trajectory = {'joints': ['elbow_joint'], 'times': [0.0, 1.0], 'positions': [[0.1], [0.4]]}
    names = read_scenario(scenario_of(tmp_path)).robot.joint_names
    trajectory['joints'] = [names[1]]
    scenario = read_scenario(scenario_of(tmp_path, trajectory=trajectory))
    assert list(scenario.trajectory.sample(1.0)[0]) == [0.0, 0.4]


@pytest.mark.parametrize(
    ('kind', 'given', 'words'),
    [
        ('command', ['a', 'b c'], ('a', 'b c')),
        ('command', 'a b', ('a', 'b')),
        ('launch', 'file.launch.py x:=1', ('file.launch.py', 'x:=1')),
    ],
)
def test_controllers_can_be_processes(tmp_path, kind, given, words):
    controller = read_scenario(scenario_of(tmp_path, controller={kind: given})).controller
    assert (controller.kind, controller.words) == (kind, words)


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'robot': None}, 'robot is missing'),
        ({'robot': 'no_such_arm'}, 'line.*robot.*no_such_arm'),
        ({'robots': 'x'}, 'unknown key.*robots'),
        ({'duration': 0}, 'duration.*not above 0'),
        ({'duration': 1e9}, 'line 3: scenario: duration: more than .* timesteps'),
        ({'duration': 12200}, 'more than 12195121 timesteps, which do not fit into memory'),
        (
            {'duration': 1e-4},
            'line 3: scenario: duration: 0.0001 s is shorter than the timestep of 0.001 s',
        ),
        ({'timestep': 1.5}, 'timestep.*nanoseconds'),
        ({'timestep': 1.23456789012e-3}, 'timestep.*nanoseconds'),
        ({'seed': 1.5}, 'seed.*whole number'),
        ({'seed': -1}, 'seed.*below the minimum of 0'),
        ({'trajectory': {'times': [0.0], 'positions': [[0.0]]}}, '1 positions for 2 joints'),
        ({'trajectory': {'times': [0.0], 'positions': []}}, '0 points for 1 times'),
        ({'trajectory': {'times': [], 'positions': []}}, 'list of points is empty'),
        (
            {'trajectory': {'times': [1.0, 0.5], 'positions': [[0.0, 0.0], [0.0, 0.0]]}},
            'trajectory.*increas',
        ),
        (
            {'trajectory': {'joints': ['elbo'], 'times': [0.0], 'positions': [[0.0]]}},
            'joints.*elbo',
        ),
        ({'controller': {}}, 'give one of c, command, fmu, launch, python, udp'),
        ({'controller': {'python': 'a:b', 'command': 'c'}}, 'got 2 of them'),
        ({'controller': {'python': 'a.b'}}, 'module:name'),
        ({'controller': {'command': []}}, 'empty'),
        ({'controller': {'command': [True]}}, 'expected a word'),
        ({'controller': {'command': 'a', 'options': {}}}, 'options is for python; leave it out'),
        ({'controller': {'python': 'a:b', 'keep': True}}, 'keep is for command and launch'),
        ({'controller': {'command': 'a', 'keep': 3}}, 'true or false'),
        ({'controller': {'command': 'a', 'answers': 'late'}}, 'order'),
        ({'controller': {'fmu': 'a.fmu', 'answers': 'order'}}, 'answers is for command'),
        ({'controller': {'command': 'a', 'update_rate': 100}}, 'answers: order'),
        ({'controller': {**MANAGER, 'update_rate': 0}}, 'a whole number of Hz'),
        ({'controller': {**MANAGER, 'update_rate': 300}}, 'use an update_rate of 250 Hz'),
        ({'controller': {**MANAGER, 'update_rate': 100, 'keep': True}}, 'leave out keep'),
        ({'limits': {'torque': -1}}, 'torque.*not above 0'),
        ({'limits': {'tork': 1}}, 'unknown key.*tork'),
        (
            {'limits': {'torque': 1, 'recovery_error': 0.1}},
            'line .*limits: recovery_error: it has no effect without recovery_time',
        ),
        ({'faults': [{'fault': 'gremlin'}]}, 'gremlin'),
        (
            {
                'faults': [
                    {'fault': 'actuator_failure'},
                    {'fault': 'actuator_failure', 'start_time': 20},
                ]
            },
            r'line .*faults\[2\]: start_time: 20 s is after the last state, of 0.499 s',
        ),
        (
            {'faults': [{'fault': 'actuator_failure', 'start_time': 0.4995}]},
            'start_time: 0.4995 s is after the last state',
        ),
        (
            {'faults': [{'fault': 'actuator_failure', 'joints': []}]},
            r'line .*faults\[1\]: joints: it is empty; name joints, or leave it out for all',
        ),
        ({'faults': [{'fault': 'payload', 'value': 1.0, 'link': 'hand'}]}, 'link.*hand'),
    ],
)
def test_wrong_scenarios_are_rejected_by_file_line_and_key(tmp_path, changes, words):
    with pytest.raises(ScenarioError, match=f'(?s)scenario file .*scenario.yaml.*{words}'):
        read_scenario(scenario_of(tmp_path, **changes))


def test_the_line_of_an_error_is_reported(tmp_path):
    path = tmp_path / 'bad.yaml'
    path.write_text('robot: two_link_arm\ncontroller: {python: "a:b"}\ntrajectory:\n  times: 3\n')
    with pytest.raises(ScenarioError, match='line 4.*positions is missing'):
        read_scenario(path)
    with pytest.raises(ScenarioError, match='no such file'):
        read_scenario(tmp_path / 'none.yaml')
    with pytest.raises(ScenarioError, match='unknown key'):
        read_scenario({'robot': 'two_link_arm', 'trajectory': {}, 'controller': {}, 'x': 1})


LINES = """\
robot: two_link_arm
duration: 0.5
timestep: 0.001
seed: 1
trajectory:
  times: [0.0, 0.4]
  positions: [[0.2, 0.3], [0.5, 0.1]]
controller:
  python: a:b
limits:
  torque: 5.0
  tracking_error: 0.2
faults:
  - fault: actuator_failure
    start_time: 0.1
  - fault: latency
    value: 0.02
"""


@pytest.mark.parametrize(
    ('right', 'wrong', 'key'),
    [
        ('robot: two_link_arm', 'robot: no_such_arm', 'robot'),
        ('duration: 0.5', 'duration: -1.0', 'duration'),
        ('timestep: 0.001', 'timestep: soon', 'timestep'),
        ('seed: 1', 'seed: 1.5', 'seed'),
        ('torque: 5.0', 'torque: -5.0', 'torque'),
        ('tracking_error: 0.2', 'tracking_error: [0.2]', 'tracking_error'),
        ('python: a:b', 'python: a.b', 'python'),
        ('start_time: 0.1', 'start_time: -0.1', 'start_time'),
        ('value: 0.02', 'value: much', 'value'),
    ],
)
def test_the_line_is_that_of_the_wrong_value(tmp_path, right, wrong, key):
    path = tmp_path / 'scenario.yaml'
    path.write_text(LINES)
    read_scenario(path)
    number = LINES[: LINES.index(right)].count('\n') + 1
    path.write_text(LINES.replace(right, wrong))
    with pytest.raises(ScenarioError, match=rf'line {number}: .*{key}'):
        read_scenario(path)


# -- running --------------------------------------------------------------------------------------


def test_without_faults_the_run_is_that_of_a_simulator(tmp_path):
    scenario = read_scenario(scenario_of(tmp_path))
    run, controller = run_of(scenario), make_controller(scenario)
    simulator = Simulator(scenario.robot, 0.001, 'semi_implicit')
    simulator.reset(scenario.start)
    for k in range(scenario.steps):
        assert np.array_equal(run.q[k], simulator.q) and np.array_equal(run.v[k], simulator.v)
        simulator.step(controller(k * 0.001, simulator.q, simulator.v))
        assert np.array_equal(run.torque[k], simulator.tau)
    assert run.counts['states_sent'] == run.counts['commands_sent'] == 500
    assert np.all(run.delay == 0.0) and len(run.answer_times) == 500 and not run.failure
    assert np.array_equal(run.desired[399], scenario.trajectory.sample(0.399)[0])


NOISY = [
    {'fault': 'position_noise', 'value': 0.001},
    {'fault': 'jitter', 'value': 0.003},
    {'fault': 'drop', 'value': 0.2},
    {'fault': 'friction', 'value': 0.3, 'start_time': 0.1},
    {'fault': 'payload', 'value': 0.5, 'link': 'tool0', 'start_time': 0.2, 'duration': 0.1},
]


def test_a_seed_fixes_the_run_bitwise_also_on_a_bench_that_was_used(tmp_path):
    faults = NOISY[:4]
    scenario = read_scenario(scenario_of(tmp_path, faults=faults))
    bench = Bench(scenario)
    digests = [bench.run(make_controller(scenario), seed).digest for seed in (1, 2, 1)]
    assert digests[0] == digests[2] != digests[1]
    assert run_of(scenario, 1).digest == digests[0]
    assert run_of(scenario).digest == run_of(scenario, 0).digest


def test_latency_is_the_age_of_the_state_behind_the_command(tmp_path):
    faults = [
        {'fault': 'latency', 'value': 0.003, 'channel': 'state'},
        {'fault': 'latency', 'value': 0.002, 'channel': 'command'},
    ]
    run = run_of(read_scenario(scenario_of(tmp_path, faults=faults)))
    assert np.isnan(run.delay[:5]).all() and np.allclose(run.delay[5:], 0.005, atol=1e-12)
    assert np.all(run.torque[:5] == 0.0) and np.any(run.torque[5] != 0.0)


def test_a_payload_is_exact_and_does_not_change_the_velocity(tmp_path):
    scenario = read_scenario(scenario_of(tmp_path))
    link = scenario.robot.model.body(2).name  # which has an inertia of its own
    faults = [{'fault': 'payload', 'value': 0.5, 'link': link, 'start_time': 0.2, 'duration': 0.1}]
    run = run_of(read_scenario(scenario_of(tmp_path, faults=faults)))
    free = run_of(scenario)
    assert np.array_equal(run.q[:201], free.q[:201])
    assert np.abs(run.v[201] - free.v[201]).max() > 1e-4  # it pulls from then on
    assert np.array_equal(run.v[200], free.v[200]) and np.abs(run.v[200]).min() > 0.1
    assert np.abs(run.v[201] - run.v[200]).max() < 0.05  # and does not jump
    assert np.abs(run.v[301] - run.v[300]).max() < 0.05
    assert [str(each)[:8] for each in run.changes] == ['0.200000', '0.300000']
    # With it, the motion is that of the robot with this inertia.
    from rbd_ros import Robot
    from rbd_ros.spatial import RigidBodyInertia

    point = RigidBodyInertia.from_mass_center(0.5, (0.0, 0.0, 0.0), ((0.0,) * 3,) * 3)
    heavy = Robot(scenario.robot.model.with_link_inertia(link, point, add=True))
    simulator = Simulator(heavy, 0.001, 'semi_implicit')
    simulator.reset(run.q[250], run.v[250])
    simulator.step(run.torque[250])
    assert simulator.v == pytest.approx(run.v[251], abs=1e-9)


def test_faults_of_the_machine_continue_when_a_payload_comes(tmp_path):
    link = read_scenario(scenario_of(tmp_path)).robot.model.body(2).name
    faults = [
        {'fault': 'actuator_failure', 'start_time': 0.1},
        {'fault': 'payload', 'value': 0.5, 'link': link, 'start_time': 0.2},
    ]
    run = run_of(read_scenario(scenario_of(tmp_path, faults=faults)))
    assert np.all(run.torque[100:] == 0.0) and np.all(run.torque[:100, 0] != 0.0)


@pytest.mark.parametrize(
    ('name', 'options', 'words'),
    [
        ('raises', {}, 'raised RuntimeError at 0.051000 s: out of memory'),
        ('odd', {}, "returned 'up' instead of 2 torques"),
        ('odd', {'what': 'short'}, 'instead of 2 torques'),
        ('odd', {'what': 'nothing'}, 'instead of 2 torques'),
        ('odd', {'what': 'nan'}, 'not finite'),
    ],
)
def test_a_controller_that_fails_ends_the_run_and_is_reported(tmp_path, name, options, words):
    controller = {'python': f'controllers.py:{name}', 'options': options}
    scenario = read_scenario(
        scenario_of(tmp_path, controller=controller, faults=[{'fault': 'actuator_failure'}])
    )
    bench = Bench(scenario)
    run = bench.run(make_controller(scenario))
    assert words in run.failure
    assert len(run.time) == len(run.q) == (51 if name == 'raises' else 0)
    verdict = judge(scenario, run)
    assert not verdict.passed and escape(words) in page(scenario, run, verdict)
    suite = ElementTree.fromstring(junit(scenario, run, verdict))
    assert suite.get('failures') == str(sum(case.find('failure') is not None for case in suite))
    assert suite[0].find('failure').get('message') == run.failure
    # A fault of the robot ends with its run.
    plant = bench._plant(())
    assert np.array_equal(plant.model.effort, scenario.robot.effort_limits)


@pytest.mark.parametrize(
    ('name', 'words'),
    [
        ('no.such.module:x', 'ModuleNotFoundError'),
        ('rbd_ros.hil.controllers:x', 'AttributeError'),
        ('/no/such/file.py:x', 'FileNotFoundError'),
        ('controllers.py:number', 'not a function'),
    ],
)
def test_a_controller_that_is_not_there_is_reported(tmp_path, monkeypatch, name, words):
    (tmp_path / 'controllers.py').write_text(CONTROLLER)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=words):
        find_factory(name)


def test_one_that_cannot_be_made_is_reported(tmp_path):
    controller = {'python': 'controllers.py:cannot_be_made'}
    with pytest.raises(ValueError, match='OSError: no license'):
        make_controller(read_scenario(scenario_of(tmp_path, controller=controller)))


# -- judging --------------------------------------------------------------------------------------


def made_run(error, changes=(), torque=0.0):
    """Return a run of one second of two joints whose second joint has these errors."""
    time = np.arange(1000) * 1e-3
    zero = np.zeros((1000, 2))
    q = np.stack([np.zeros(1000), -error(time)], axis=1)
    return Run(0, time, q, zero, zero, zero + torque, zero[:, 0], zero[0], tuple(changes), {})


def checks(tmp_path, run, **limits):
    scenario = read_scenario(scenario_of(tmp_path, limits=limits))
    return {each.name: each for each in judge(scenario, run).checks}


def test_tracking_error_and_torque_are_the_largest_of_any_joint(tmp_path):
    names = read_scenario(scenario_of(tmp_path)).robot.joint_names
    run = made_run(lambda t: np.where(t == 0.3, 0.25, 0.1), torque=-3.0)
    found = checks(tmp_path, run, tracking_error=0.25, torque=0.2)
    assert found['tracking error'].value == 0.25 and found['tracking error'].passed
    assert found['tracking error'].where == f'{names[1]} at 0.300 s'
    effort = read_scenario(scenario_of(tmp_path)).robot.effort_limits
    assert found['torque'].value == pytest.approx(3.0 / min(effort))
    assert not checks(tmp_path, run, tracking_error=0.2499)['tracking error'].passed


def test_recovery_is_counted_from_the_last_change_until_the_error_stays_small(tmp_path):
    begin, end = (
        FaultChange(0.2, True, Fault('actuator_failure')),
        FaultChange(0.3, False, Fault('actuator_failure')),
    )
    run = made_run(lambda t: np.where((t > 0.2) & (t < 0.45), 0.1, 0.001), [begin, end])
    found = checks(tmp_path, run, recovery_time=0.2)['recovery time']
    assert found.value == pytest.approx(0.15) and 'ends' in found.where and found.passed
    # A fault that lasts longer than that has to be borne.
    found = checks(tmp_path, run, recovery_time=0.05)['recovery time']
    assert found.value == math.inf and 'begins' in found.where
    # The error that comes back has not been small for good.
    run = made_run(lambda t: np.where((t > 0.3) & (t < 0.35) | (t > 0.9), 0.1, 0.0), [end])
    assert checks(tmp_path, run, recovery_time=0.2)['recovery time'].value == math.inf
    found = checks(tmp_path, run, recovery_time=0.2, recovery_error=0.2)['recovery time']
    assert found.value == 0.0
    start = FaultChange(0.0, True, Fault('actuator_failure'))
    assert checks(
        tmp_path, run.__class__(**{**vars(run), 'changes': (start,)}), recovery_time=1.0
    )['recovery time'].passed


def test_a_run_without_steps_never_passes(tmp_path):
    scenario = read_scenario(scenario_of(tmp_path))
    whole = made_run(lambda t: 0.0 * t)
    assert judge(scenario, whole).passed
    rows = ('time', 'q', 'v', 'desired', 'torque', 'delay', 'answer_times')
    none = replace(whole, **{name: getattr(whole, name)[:0] for name in rows})
    verdict = judge(scenario, none)
    assert not verdict.passed and verdict.failure == 'no timestep was simulated'
    assert 'FAIL' in page(scenario, none, verdict) and not row(scenario, none)['passed']
    assert ElementTree.fromstring(junit(scenario, none, verdict)).get('failures') == '1'


# -- the command and its reports ------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize('path', EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_pass_and_are_reported(path, tmp_path, capsys):
    assert main(['hil', str(path), '--report', str(tmp_path)]) == 0
    assert 'PASS' in capsys.readouterr().out
    text = (tmp_path / 'report.html').read_text()
    assert len(plots_of(text)) == 8 and 'http-equiv' not in text
    for loaded in ('src=', '@import', '<link'):
        assert loaded not in text
    suite = ElementTree.parse(tmp_path / 'junit.xml').getroot()
    assert suite.get('failures') == '0' and int(suite.get('tests')) == len(list(suite))
    numbers = json.loads((tmp_path / 'result.json').read_text())
    assert numbers['passed'] and numbers['steps'] == 5000
    assert main(['hil', str(path), '--report', str(tmp_path / 'again')]) == 0
    again = json.loads((tmp_path / 'again' / 'result.json').read_text())
    # Real-time measurements differ each time.
    for key in ('state_to_command', 'state_to_command_jitter'):
        assert again['timing'].pop(key).keys() == numbers['timing'].pop(key).keys()
    assert again == numbers


def test_a_limit_that_is_not_kept_fails_the_command(tmp_path, capsys):
    path = scenario_of(
        tmp_path, limits={'tracking_error': 1e-6, 'torque': 5.0}, name='<a> & b\x07'
    )
    assert main(['hil', str(path), '--report', str(tmp_path / 'r'), '--seed', '3']) == 1
    assert 'FAIL  tracking error' in capsys.readouterr().out
    suite = ElementTree.parse(tmp_path / 'r' / 'junit.xml').getroot()
    assert suite.get('failures') == '1' and suite.get('name') == '<a> & b?'
    failed = [case.get('name') for case in suite if case.find('failure') is not None]
    assert failed == ['tracking error']
    text = (tmp_path / 'r' / 'report.html').read_text()
    assert '&lt;a&gt;' in text and '<a>' not in text and 'seed 3' in text


def test_the_numbers_are_printed_as_json(tmp_path, capsys):
    path = scenario_of(tmp_path)
    assert main(['hil', str(path), '--json', '--report', str(tmp_path / 'r')]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / 'r' / 'result.json').read_text())
    assert printed['passed'] is True


def test_faults_are_named_where_they_begin_and_end(tmp_path):
    scenario = read_scenario(scenario_of(tmp_path))
    run = made_run(lambda t: 0.0 * t)
    faults = [Fault('payload', link='tool0'), Fault('joint_lock'), Fault('payload', link='tool0')]
    changes = [FaultChange(0.1, True, fault) for fault in faults]
    changes.append(FaultChange(0.2, False, faults[0]))
    text = page(scenario, replace(run, changes=tuple(changes)), judge(scenario, run))
    expected = [(0.1, 'payload, joint_lock'), (0.2, 'payload ends')]
    over_time = [each for each in plots_of(text) if each['x_label'] == 'time [s]']
    assert len(over_time) == 3
    for each in over_time:
        named = [(line['at'], line['name']) for line in each['lines'] if line['fault']]
        assert named == expected


REPORTS = ('report.html', 'junit.xml', 'result.json')


def write_old_reports(folder):
    folder.mkdir(parents=True)
    for name in REPORTS:
        (folder / name).write_text('PASS')


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'robots': 'x'}, []),
        ({'controller': {'python': 'controllers.py:cannot_be_made'}}, []),
        ({'controller': {'command': ['a', 'b']}, 'seed': 1.5}, []),
        ({}, ['--seed', '-1']),
    ],
)
def test_no_report_of_an_earlier_run_stays_when_this_one_cannot_be(tmp_path, changes, words):
    path, folder = scenario_of(tmp_path, **changes), tmp_path / 'r'
    write_old_reports(folder)
    (folder / 'notes.txt').write_text('of somebody')
    assert main(['hil', str(path), '--report', str(folder), *words]) == 1
    assert [each.name for each in folder.iterdir()] == ['notes.txt']


def test_reports_of_other_commands_stay(tmp_path):
    path, folder = scenario_of(tmp_path, robots='x'), tmp_path / 'r'
    write_old_reports(folder)
    for each in ('rate_0.5', 'rates'):
        write_old_reports(folder / each)
    for name in ('dead_time.html', 'rates.json'):
        (folder / name).write_text('PASS')
    words = ['hil', str(path), '--report', str(folder)]
    for more in (['--seeds', '2'], ['--replay', '0'], ['--replay-recording', str(path)]):
        assert main([*words, *more]) == 1
        assert len([each for each in folder.rglob('*') if each.is_file()]) == 11
    assert main([*words, '--dead-time']) == 1
    assert not (folder / 'dead_time.html').exists() and (folder / 'rates.json').exists()
    assert main([*words, '--rates', '0.5']) == 1
    assert not (folder / 'rates.json').exists() and not list((folder / 'rate_0.5').iterdir())
    for each in (folder, folder / 'rates'):
        assert all((each / name).is_file() for name in REPORTS)


def test_a_controller_that_never_answers_has_a_run_that_is_reported_and_recorded(tmp_path):
    outside.load('mcap')
    scenario = read_scenario(scenario_of(tmp_path, seed=4))
    file = tmp_path / 'run.mcap'
    with RunRecorder(file, scenario) as recorder:
        run = Bench(scenario).unanswered('no answer', recorder=recorder)
    assert (run.seed, run.failure, run.counts['states_sent']) == (4, 'no answer', 0)
    assert about_of(file)['seed'] == '4'
    assert not write_report(scenario, run, tmp_path / 'r').passed
    facts = json.loads((tmp_path / 'r' / 'result.json').read_text())
    assert facts['timing']['command_age']['median'] is None and facts['steps'] == 0


def test_wrong_words_are_reported(tmp_path, capsys):
    path = scenario_of(tmp_path)
    assert main(['hil', str(path), '--seed', '-1']) == 1
    assert '--seed -1' in capsys.readouterr().err
    blocked = tmp_path / 'file'
    blocked.write_text('')
    assert main(['hil', str(path), '--report', str(blocked / 'r')]) == 1
    assert 'cannot be written' in capsys.readouterr().err
    assert main(['hil', str(tmp_path / 'none.yaml')]) == 1
    assert 'no such file' in capsys.readouterr().err


def test_a_report_without_limits_and_one_without_steps(tmp_path):
    scenario = read_scenario(scenario_of(tmp_path, limits=None))
    run = run_of(scenario)
    verdict = judge(scenario, run)
    assert verdict.passed and 'No limits' in page(scenario, run, verdict)
    facts = row(scenario, run)
    assert facts['digest'] == run.digest and facts['largest_error'] >= facts['rms_error'] > 0.0
    assert junit(scenario, run, verdict).count('<testcase') == 1


def test_turns_of_joints_without_limits_are_no_error(tmp_path):
    """A plant may give an angle within +-pi where the trajectory counts turns."""
    text = (ROOT / 'urdf' / 'two_link_arm.urdf').read_text()
    shoulder = text.index('type="revolute"')
    text = text[:shoulder] + text[shoulder:].replace('type="revolute"', 'type="continuous"', 1)
    (tmp_path / 'arm.urdf').write_text(text)
    scenario = read_scenario(scenario_of(tmp_path, robot='arm.urdf'))
    run = run_of(scenario)
    assert list(run.periods) == [2.0 * np.pi, np.inf]
    plain = judge(scenario, run).checks[0].value
    for joint, passed in ((0, True), (1, False)):
        q = run.q.copy()
        q[100:, joint] += 2.0 * np.pi
        turned = replace(run, q=q)
        check = judge(scenario, turned).checks[0]
        assert check.passed == passed
        # A turn further, or as far as before.
        if passed:
            assert check.value == pytest.approx(plain, abs=1e-9)
        else:
            assert check.value == pytest.approx(2.0 * np.pi, abs=0.2)
