# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""FMUs as plants of scenarios: motion, start, failure, and possible faults."""

import re

import numpy as np
import pytest
from support import outside
from support.small_units import numbers, write_unit
from support.unit_scenarios import (
    JOINTS,
    run_of,
    scenario_of,
    write_units,
)

from rbd_ros.cli.main import main
from rbd_ros.hil import Bench, judge, read_scenario, ScenarioError
from rbd_ros.hil.controllers import make_controller

outside.load('fmpy')
pytestmark = outside.needs('C compiler')


@pytest.fixture(scope='module')
def units(tmp_path_factory):
    """Return the folder with the FMUs that many tests share."""
    folder = tmp_path_factory.mktemp('units')
    write_units(folder)
    return folder


def test_an_exported_arm_moves_as_the_bench_does_to_rounding(units):
    controller = {'python': 'rbd_ros.hil.controllers:computed_torque'}
    faults = [
        {'fault': 'velocity_noise', 'value': 0.01},
        {'fault': 'actuator_failure', 'joints': ['elbow'], 'start_time': 0.2, 'duration': 0.05},
        {'fault': 'effort_derating', 'value': 0.1, 'start_time': 0.3, 'duration': 0.05},
        {'fault': 'latency', 'value': 0.003},
    ]
    ours = run_of(scenario_of(units, controller, faults=faults))
    path = scenario_of(units, controller, faults=faults, plant={'fmu': 'arm.fmu'})
    theirs = [run_of(path) for _ in range(2)]
    assert not theirs[0].failure and len(theirs[0].time) == 500
    for name in ('q', 'v', 'torque'):
        found, expected = getattr(theirs[0], name), getattr(ours, name)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7, err_msg=name)
    assert np.all(theirs[0].torque[200:250, 1] == 0.0) and np.any(theirs[0].torque[:200, 1])
    assert theirs[0].digest == theirs[1].digest != ours.digest


def test_one_bench_runs_a_plant_again_and_again_the_same(units):
    path = scenario_of(units, {'python': 'feedback.py:feedback'}, plant={'fmu': 'arm.fmu'})
    scenario = read_scenario(path)
    bench = Bench(scenario)
    runs = [bench.run(make_controller(scenario)) for _ in range(3)]
    assert len({run.digest for run in runs}) == 1


def test_a_power_cut_in_a_plant_ends_with_its_limits_whole(units):
    faults = [{'fault': 'power_cut', 'start_time': 0.1, 'duration': 0.1}]
    scenario = read_scenario(
        scenario_of(
            units, {'python': 'feedback.py:feedback'}, plant={'fmu': 'arm.fmu'}, faults=faults
        )
    )
    bench = Bench(scenario)
    for _ in range(2):
        torque = bench.run(make_controller(scenario)).torque
        assert not torque[100:200].any() and torque[:100].any() and torque[200:].any()


def test_without_a_robot_the_joints_are_those_of_the_fmu(units):
    controller = {'fmu': 'feedback3.fmu'}
    with_robot = run_of(scenario_of(units, controller, plant={'fmu': 'arm.fmu'}))
    path = scenario_of(units, controller, plant={'fmu': 'arm.fmu'}, robot=None)
    scenario = read_scenario(path)
    assert scenario.robot.joint_names == JOINTS and scenario.robot.name == 'arm'
    assert run_of(path).digest == with_robot.digest


def test_a_report_of_a_plant_without_a_robot_is_written(units, capsys):
    path = scenario_of(
        units,
        {'fmu': 'feedback3.fmu'},
        plant={'fmu': 'arm.fmu'},
        robot=None,
        limits={'tracking_error': 5.0, 'torque': 0.9},
    )
    assert main(['hil', str(path), '--report', str(units / 'report')]) == 0
    assert 'Robot arm' in (units / 'report' / 'report.html').read_text()


def test_dynamics_without_a_robot_are_an_error_that_names_the_cure(units):
    path = scenario_of(
        units,
        {'python': 'rbd_ros.hil.controllers:computed_torque'},
        plant={'fmu': 'arm.fmu'},
        robot=None,
    )
    with pytest.raises(ValueError, match='give robot in addition to plant'):
        make_controller(read_scenario(path))


PLANT = [
    *numbers('{joint}.position', ('a', 'b'), 'output'),
    *numbers('{joint}.velocity', ('a', 'b'), 'output'),
    *numbers('{joint}.effort', ('a', 'b'), 'input', maximum=3.0),
    *numbers('{joint}.q0', ('a', 'b'), 'parameter'),
]
MASSES = """
    for (int k = 0; k < 2; ++k) {
        if (t == 0.0) x[k] = x[6 + k];
        x[2 + k] += h * x[4 + k];
        x[k] += h * x[2 + k];
    }
"""
PUSH = """
import numpy as np

def push(robot, trajectory, timestep):
    return lambda time, q, v: np.array([10.0, -1.0])
"""


@pytest.mark.parametrize('version', ['2.0', '3.0'])
def test_a_foreign_plant_moves_and_its_limits_hold(tmp_path, version):
    write_unit(tmp_path / 'masses.fmu', version, PLANT, MASSES)
    (tmp_path / 'push.py').write_text(PUSH)
    path = scenario_of(
        tmp_path,
        {'python': 'push.py:push'},
        robot=None,
        plant={'fmu': 'masses.fmu'},
        trajectory={'times': [0.0], 'positions': [[0.0, 0.0]]},
        faults=[{'fault': 'effort_derating', 'value': 0.5, 'start_time': 0.3}],
    )
    run = run_of(path)
    assert not run.failure
    torque = np.where(run.time[:, None] < 0.3, [3.0, -1.0], [1.5, -1.0])
    np.testing.assert_array_equal(run.torque, torque)
    v = np.cumsum(1e-3 * torque, axis=0)
    np.testing.assert_allclose(run.v[1:], v[:-1], atol=1e-12)
    np.testing.assert_allclose(run.q[1:], np.cumsum(1e-3 * v, axis=0)[:-1], atol=1e-12)


def test_a_plant_begins_where_the_trajectory_does_or_is_rejected(tmp_path):
    # Positions count from the first step on, so earlier settings are in the start values.
    write_unit(tmp_path / 'masses.fmu', '3.0', PLANT, MASSES)
    (tmp_path / 'push.py').write_text(PUSH)
    content = {
        'controller': {'python': 'push.py:push'},
        'robot': None,
        'trajectory': {'times': [0.0], 'positions': [[0.5, -0.25]]},
    }
    plain = scenario_of(tmp_path, plant={'fmu': 'masses.fmu'}, **content)
    assert list(run_of(plain).q[0]) == [0.5, -0.25]
    start = {'file': 'masses.fmu', 'variables': {'start': '{joint}.q0'}}
    scenario = read_scenario(scenario_of(tmp_path, plant={'fmu': start}, **content))
    with pytest.raises(ValueError, match='a.position begins at 0, but the trajectory at 0.5'):
        Bench(scenario).run(make_controller(scenario))


def test_parameters_of_a_plant_are_set(tmp_path):
    write_unit(tmp_path / 'masses.fmu', '3.0', PLANT, 'x[0] = x[6];')
    (tmp_path / 'push.py').write_text(PUSH)
    path = scenario_of(
        tmp_path,
        {'python': 'push.py:push'},
        robot=None,
        plant={'fmu': {'file': 'masses.fmu', 'parameters': {'a.q0': 7.0}}},
        trajectory={'times': [0.0], 'positions': [[0.0, 0.0]]},
    )
    assert run_of(path).q[1, 0] == 7.0


@pytest.mark.parametrize(
    ('step', 'words'),
    [
        ('if (t > 0.0995) FAIL("it broke");', 'the simulation failed.*it broke'),
        ('if (t > 0.0995) x[2] = 0.0 / 0.0;', 'the simulation failed.*not finite after 0.101000'),
    ],
)
def test_a_plant_that_fails_is_reported_and_no_controller_blamed(tmp_path, step, words):
    write_unit(tmp_path / 'breaks.fmu', '3.0', PLANT, step)
    (tmp_path / 'push.py').write_text(PUSH)
    path = scenario_of(
        tmp_path,
        {'python': 'push.py:push'},
        robot=None,
        plant={'fmu': 'breaks.fmu'},
        trajectory={'times': [0.0], 'positions': [[0.0, 0.0]]},
    )
    run = run_of(path)
    assert len(run.time) == 100 and not judge(read_scenario(path), run).passed
    assert re.search(words, run.failure), run.failure


@pytest.mark.parametrize(
    ('fault', 'words'),
    [
        ({'fault': 'friction', 'value': 1.0}, 'friction changes the physics'),
        ({'fault': 'joint_lock'}, 'joint_lock changes the physics'),
        ({'fault': 'payload', 'value': 1.0, 'link': 'tool0'}, 'payload changes the physics'),
    ],
)
def test_faults_inside_the_fmu_are_rejected_by_line_and_name(units, fault, words):
    faults = [{'fault': 'latency', 'value': 0.001}, fault]
    path = scenario_of(units, {'fmu': 'feedback3.fmu'}, plant={'fmu': 'arm.fmu'}, faults=faults)
    with pytest.raises(ScenarioError, match=rf'(?s)line \d+.*faults\[2\].*{words}'):
        read_scenario(path)


def test_a_saturated_actuator_needs_known_limits(units):
    faults = [{'fault': 'effort_derating', 'value': 0.5}]
    given = {'plant': {'fmu': 'arm.fmu'}, 'faults': faults}
    read_scenario(scenario_of(units, {'fmu': 'feedback3.fmu'}, **given))
    path = scenario_of(units, {'fmu': 'feedback3.fmu'}, robot=None, **given)
    with pytest.raises(ScenarioError, match='which the plant does not contain; give robot'):
        read_scenario(path)


def test_a_campaign_may_not_vary_the_physics_of_an_fmu(units, capsys):
    path = scenario_of(units, {'fmu': 'feedback3.fmu'}, plant={'fmu': 'arm.fmu'}, duration=0.05)
    report = str(units / 'inside')
    command = ['hil', str(path), '--report', report, '--seeds', '2', '--jobs', '1']
    assert main([*command, '--vary', 'friction=0:1']) != 0
    assert 'friction changes the physics' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('plant', 'words'),
    [
        ({}, 'plant: give one of fmu, python; got 0'),
        ({'mujoco': 'a.xml'}, 'plant.*unknown key.*mujoco'),
        ({'fmu': 'feedback3.fmu'}, "no input such as 'JOINT.effort'"),
        ({'fmu': 'none.fmu'}, 'plant.*none.fmu.*No such file'),
        ({'fmu': {'file': 'arm.fmu', 'variables': {'effort': 'tau{index}'}}}, 'no {joint}'),
        ({'fmu': {'file': 'arm.fmu', 'variables': {'effort': '{joint}.tau'}}}, "'JOINT.tau'"),
    ],
)
def test_plants_that_are_none_are_rejected_by_line_and_key(units, plant, words):
    path = scenario_of(units, {'fmu': 'feedback3.fmu'}, robot=None, plant=plant)
    with pytest.raises(ScenarioError, match=f'(?s)scenario.yaml.*line.*{words}'):
        read_scenario(path)


def test_a_plant_without_a_joint_of_the_robot_is_rejected(tmp_path):
    write_unit(tmp_path / 'masses.fmu', '3.0', PLANT, MASSES)
    path = scenario_of(tmp_path, {'fmu': 'masses.fmu'}, plant={'fmu': 'masses.fmu'})
    words = "no variable 'shoulder.position'; give its name by variables"
    with pytest.raises(ValueError, match=words):
        Bench(read_scenario(path))


def test_a_controller_is_not_a_plant(units):
    path = scenario_of(units, {'fmu': 'feedback3.fmu'}, plant={'fmu': 'feedback3.fmu'})
    with pytest.raises(ValueError, match='shoulder.position is an input, but must be an output'):
        Bench(read_scenario(path))


def test_neither_robot_nor_plant_is_an_error(units):
    with pytest.raises(ScenarioError, match='robot is missing'):
        read_scenario(scenario_of(units, {'fmu': 'feedback3.fmu'}, robot=None))
