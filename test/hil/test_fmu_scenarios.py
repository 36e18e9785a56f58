"""FMUs in scenarios: as controllers and as plants, of both versions; what is refused, and how."""

import re
import shutil
import sys
import zipfile

import numpy as np
import pytest
from support import outside
from support.small_units import COMPILER, Number, numbers, write_unit
import yaml

from rbd_ros import Robot
from rbd_ros.cli.main import main
from rbd_ros.fmi import compile_unit, make_unit
from rbd_ros.hil import Bench, judge, read_scenario, ScenarioError
from rbd_ros.hil.controllers import make_controller
from rbd_ros.resources import resource_path

fmpy = outside.load('fmpy')
pytestmark = pytest.mark.skipif(COMPILER is None, reason='there is no C compiler: cc, gcc, clang')

JOINTS = ('shoulder', 'elbow')
ARRAYS = ('position', 'velocity', 'wanted_position', 'wanted_velocity', 'wanted_acceleration')
# Of two joints: positions at 0, velocities at 2, wanted ones at 4 to 9, efforts at 10.
FEEDBACK = """
    for (int k = 0; k < 2; ++k) x[10 + k] = x[12] * (x[4 + k] - x[k]) + 2.0 * (x[6 + k] - x[2 + k])
        + 0.1 * x[8 + k];
"""
PYTHON = """
def feedback(robot, trajectory, timestep, stiffness=40.0):
    def control(time, q, v):
        q_wanted, v_wanted, a_wanted = trajectory.sample(time)
        return stiffness * (q_wanted - q) + 2.0 * (v_wanted - v) + 0.1 * a_wanted
    return control
"""


def controller_variables(pattern='{joint}.'):
    given = [n for name in ARRAYS for n in numbers(pattern + name, JOINTS, 'input')]
    return [
        *given,
        *numbers(pattern + 'effort', JOINTS, 'output'),
        Number('stiffness', 'parameter', 40.0),
    ]


def scenario_of(folder, controller, **changes):
    content = {
        'robot': 'two_link_arm',
        'duration': 0.5,
        'trajectory': {'times': [0.0, 0.4], 'positions': [[0.2, 0.3], [0.5, 0.1]]},
        'controller': controller,
        **changes,
    }
    path = folder / 'scenario.yaml'
    path.write_text(yaml.safe_dump({k: v for k, v in content.items() if v is not None}))
    return path


def run_of(path):
    scenario = read_scenario(path)
    return Bench(scenario).run(make_controller(scenario))


@pytest.fixture(scope='module')
def units(tmp_path_factory):
    """FMUs that many tests share: controllers of both versions, an exported arm."""
    folder = tmp_path_factory.mktemp('units')
    for version in ('2.0', '3.0'):
        write_unit(folder / f'feedback{version[0]}.fmu', version, controller_variables(), FEEDBACK)
    arm = Robot.from_urdf(resource_path('urdf', 'two_link_arm.urdf'))
    unit = make_unit(arm, 0.001, 'semi_implicit')
    (folder / 'arm.fmu').write_bytes(unit.archive(compile_unit(unit)))
    (folder / 'feedback.py').write_text(PYTHON)
    return folder


# -- controllers ----------------------------------------------------------------------------------


@pytest.mark.parametrize('version', ['2', '3'])
def test_an_fmu_controls_as_the_same_law_in_python_does_to_the_bit(units, version):
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
    # Its torque is its own count of steps: one for each time step, whatever came.
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
        {'fault': 'drop', 'value': 0.3, 'way': 'state'},
        {'fault': 'jitter', 'value': 0.004, 'way': 'state'},
        {'fault': 'duplicate', 'value': 0.3, 'way': 'state'},
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
    assert 'asks to end' in run.failure and 50 <= len(run.time) <= 52


def test_a_torque_that_is_not_finite_ends_the_run(tmp_path):
    write_unit(tmp_path / 'nan.fmu', '3.0', controller_variables(), 'x[11] = 0.0 / 0.0;')
    assert 'not finite' in run_of(scenario_of(tmp_path, {'fmu': 'nan.fmu'})).failure


def test_a_campaign_of_an_fmu_is_done_and_replayed_to_the_bit(units, capsys):
    path = scenario_of(units, {'fmu': 'feedback3.fmu'}, duration=0.1)
    report = str(units / 'campaign')
    command = ['hil', str(path), '--report', report]
    assert main([*command, '--seeds', '4', '--jobs', '2', '--vary', 'latency=0:5ms']) == 0
    assert main([*command, '--vary', 'latency=0:5ms', '--replay', '2']) == 0
    assert 'the same to the bit' in capsys.readouterr().out


# -- what cannot be used --------------------------------------------------------------------------


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
        ('text', 'is no FMU'),
        ('no description', 'is no FMU.*modelDescription'),
        ('broken description', 'is no FMU'),
        ('1.0', 'has FMI 1.0; export it as FMI 2.0 or 3.0'),
        ('4.0', 'has FMI 4.0'),
        ('truncated', 'is no FMU'),
        ('damaged', 'cannot be unpacked'),
        ('model exchange', 'not for co-simulation'),
        ('no binary', 'cannot be loaded.*Cannot find shared library.*fmpy compile'),
        ('no effort', "no output 'shoulder.effort'.*variables"),
        ('half an input', "no input 'elbow.position'"),
        ('no inputs', 'no input at all'),
        ('a plant', 'shoulder.effort is an input, and must be an output'),
        ('integer', 'of the type Int32; it must be one Real or Float64'),
    ],
)
def test_what_is_no_controller_is_told(tmp_path, what, words):
    no_unit(tmp_path, what)
    scenario = read_scenario(scenario_of(tmp_path, {'fmu': 'bad.fmu'}))
    with pytest.raises(ValueError, match=f'(?s){words}') as error:
        make_controller(scenario)
    assert 'bad.fmu' in str(error.value)


def test_a_parameter_that_is_not_there_is_told(units):
    path = scenario_of(units, {'fmu': {'file': 'feedback3.fmu', 'parameters': {'mass': 1.0}}})
    with pytest.raises(ValueError, match="no variable 'mass'"):
        make_controller(read_scenario(path))


def test_without_fmpy_the_cure_is_told(tmp_path, units, monkeypatch):
    shutil.copy(units / 'feedback3.fmu', tmp_path / 'lonely.fmu')
    monkeypatch.setitem(sys.modules, 'fmpy', None)
    with pytest.raises(ValueError, match='pip install'):
        make_controller(read_scenario(scenario_of(tmp_path, {'fmu': 'lonely.fmu'})))


def test_an_fmu_that_was_replaced_is_read_anew(tmp_path):
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
            'variables: effort.*only',
        ),
        ({'fmu': {'file': 'a.fmu', 'variables': {'torque': '{joint}'}}}, 'unknown key.*torque'),
        ({'fmu': {'file': 'a.fmu', 'parameters': {'k': 'much'}}}, 'parameters: k.*finite number'),
    ],
)
def test_wrong_entries_are_refused_by_line_and_key(tmp_path, controller, words):
    with pytest.raises(ScenarioError, match=f'(?s)scenario.yaml.*line.*controller: fmu.*{words}'):
        read_scenario(scenario_of(tmp_path, controller))


# -- plants ---------------------------------------------------------------------------------------


def test_an_exported_arm_moves_as_the_bench_does_to_rounding(units):
    controller = {'python': 'rbd_ros.hil.controllers:computed_torque'}
    faults = [
        {'fault': 'velocity_noise', 'value': 0.01},
        {'fault': 'dead', 'joints': ['elbow'], 'at': 0.2, 'for': 0.05},
        {'fault': 'saturated', 'value': 0.1, 'at': 0.3, 'for': 0.05},
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
    faults = [{'fault': 'power_cut', 'at': 0.1, 'for': 0.1}]
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
    with pytest.raises(ValueError, match='name the robot beside it'):
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
        faults=[{'fault': 'saturated', 'value': 0.5, 'at': 0.3}],
    )
    run = run_of(path)
    assert not run.failure
    torque = np.where(run.time[:, None] < 0.3, [3.0, -1.0], [1.5, -1.0])
    np.testing.assert_array_equal(run.torque, torque)
    v = np.cumsum(1e-3 * torque, axis=0)
    np.testing.assert_allclose(run.v[1:], v[:-1], atol=1e-12)
    np.testing.assert_allclose(run.q[1:], np.cumsum(1e-3 * v, axis=0)[:-1], atol=1e-12)


def test_a_plant_begins_where_the_trajectory_does_or_is_refused(tmp_path):
    # Positions count from the first step on, so what is set before it is seen at the start.
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
    with pytest.raises(ValueError, match='a.position begins at 0, the trajectory at 0.5'):
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
def test_a_plant_that_fails_is_told_and_no_controller_blamed(tmp_path, step, words):
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
        ({'fault': 'friction', 'value': 1.0}, 'friction is in the physics'),
        ({'fault': 'stuck'}, 'stuck is in the physics'),
        ({'fault': 'payload', 'value': 1.0, 'link': 'tool0'}, 'payload is in the physics'),
    ],
)
def test_faults_inside_the_fmu_are_refused_by_line_and_name(units, fault, words):
    faults = [{'fault': 'latency', 'value': 0.001}, fault]
    path = scenario_of(units, {'fmu': 'feedback3.fmu'}, plant={'fmu': 'arm.fmu'}, faults=faults)
    with pytest.raises(ScenarioError, match=rf'(?s)line \d+.*faults\[2\].*{words}'):
        read_scenario(path)


def test_a_saturated_actuator_needs_known_limits(units):
    faults = [{'fault': 'saturated', 'value': 0.5}]
    given = {'plant': {'fmu': 'arm.fmu'}, 'faults': faults}
    read_scenario(scenario_of(units, {'fmu': 'feedback3.fmu'}, **given))
    path = scenario_of(units, {'fmu': 'feedback3.fmu'}, robot=None, **given)
    with pytest.raises(ScenarioError, match='which the FMU does not tell; name the robot'):
        read_scenario(path)


def test_a_campaign_may_not_vary_what_is_inside_the_fmu(units, capsys):
    path = scenario_of(units, {'fmu': 'feedback3.fmu'}, plant={'fmu': 'arm.fmu'}, duration=0.05)
    report = str(units / 'inside')
    command = ['hil', str(path), '--report', report, '--seeds', '2', '--jobs', '1']
    assert main([*command, '--vary', 'friction=0:1']) != 0
    assert 'friction is in the physics' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('plant', 'words'),
    [
        ({}, 'plant: fmu is missing'),
        ({'mujoco': 'a.xml'}, 'plant.*unknown key.*mujoco'),
        ({'fmu': 'none.fmu'}, 'plant.*none.fmu.*No such file'),
        ({'fmu': {'file': 'arm.fmu', 'variables': {'effort': 'tau{index}'}}}, 'no {joint}'),
        ({'fmu': {'file': 'arm.fmu', 'variables': {'effort': '{joint}.tau'}}}, "'JOINT.tau'"),
    ],
)
def test_plants_that_are_none_are_refused_by_line_and_key(units, plant, words):
    path = scenario_of(units, {'fmu': 'feedback3.fmu'}, robot=None, plant=plant)
    with pytest.raises(ScenarioError, match=f'(?s)scenario.yaml.*line.*{words}'):
        read_scenario(path)


def test_a_plant_without_a_joint_of_the_robot_is_refused(tmp_path):
    write_unit(tmp_path / 'masses.fmu', '3.0', PLANT, MASSES)
    path = scenario_of(tmp_path, {'fmu': 'masses.fmu'}, plant={'fmu': 'masses.fmu'})
    with pytest.raises(ValueError, match="no variable 'shoulder.position'; say by variabl"):
        Bench(read_scenario(path))


def test_a_controller_is_no_plant(units):
    path = scenario_of(units, {'fmu': 'feedback3.fmu'}, plant={'fmu': 'feedback3.fmu'})
    with pytest.raises(ValueError, match='shoulder.position is an input, and must be an output'):
        Bench(read_scenario(path))


def test_neither_robot_nor_plant_is_an_error(units):
    with pytest.raises(ScenarioError, match='robot is missing'):
        read_scenario(scenario_of(units, {'fmu': 'feedback3.fmu'}, robot=None))
