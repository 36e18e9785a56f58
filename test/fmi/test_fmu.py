# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""FMUs, validated and run by fmpy: they move as the simulator, and reject invalid calls."""

from pathlib import Path
import shutil
import subprocess

import numpy as np
import pytest
from support import example_robots, outside, random_trees, simulated_robots

from rbd_ros import Robot, Simulator
from rbd_ros.contact import HalfSpace
from rbd_ros.fmi import compile_fmu, make_fmu

fmpy = outside.load('fmpy')
fmi1 = outside.load('fmpy.fmi1')
fmi3 = outside.load('fmpy.fmi3')
validation = outside.load('fmpy.validation')

COMPILERS = [name for name in ('gcc', 'clang') if shutil.which(name)]
STRICT = ['-std=c99', '-Wall', '-Wextra', '-Wpedantic', '-Werror']
OK, DISCARD, ERROR = 0, 2, 3

pytestmark = outside.needs('gcc or clang')


class Running:
    """An FMU in a folder, of which instances are made."""

    def __init__(self, folder, unit):
        self.path = Path(folder, f'{unit.identifier}.fmu')
        self.path.write_bytes(unit.archive(compile_fmu(unit)))
        assert validation.validate_fmu(str(self.path)) == []
        self.description = fmpy.read_model_description(str(self.path))
        self.references = {v.name: v.valueReference for v in self.description.modelVariables}
        self._folder = fmpy.extract(str(self.path), unzipdir=str(Path(folder, 'unzipped')))
        self.messages = []

    def instance(self, start=None, begin=True):
        """Return one instance; `start` holds values by name."""
        made = fmi3.FMU3Slave(
            guid=self.description.guid,
            unzipDirectory=self._folder,
            modelIdentifier=self.description.coSimulation.modelIdentifier,
            instanceName='it',
        )

        def log(environment, status, category, message):
            self.messages.append(message.decode())

        made.instantiate(loggingOn=True, logMessage=fmi3.fmi3LogMessageCallback(log))
        for name, value in (start or {}).items():
            made.setFloat64([self.references[name]], [value])
        if begin:
            made.enterInitializationMode()
            made.exitInitializationMode()
        return made


@pytest.fixture(scope='module')
def arm(tmp_path_factory):
    """Return the robot and its FMU, which many tests share."""
    robot = Robot.from_urdf(example_robots.path('ur5_robot'))
    return robot, Running(tmp_path_factory.mktemp('arm'), make_fmu(robot))


@pytest.fixture(scope='module')
def panda(tmp_path_factory):
    """Return a robot with sliding joints and its FMU with steps of 2 ms."""
    robot = Robot.from_urdf(example_robots.path('panda'))
    unit = make_fmu(robot, 0.002, tool='a tool')
    return robot, Running(tmp_path_factory.mktemp('panda'), unit)


def efforts(robot):
    return list(range(1, 1 + robot.nv))


def outputs(robot):
    """Return the value references of positions, velocities and accelerations."""
    return list(range(1 + robot.nv, 1 + 3 * robot.nv + robot.nq))


def state(simulator):
    return np.concatenate([simulator.q, simulator.v, simulator.a])


def starting_at(running, robot, q, v):
    """Return the instance whose positions and velocities have been set."""
    made = running.instance(begin=False)
    made.setFloat64(outputs(robot)[: robot.nq + robot.nv], [*q, *v])
    made.enterInitializationMode()
    made.exitInitializationMode()
    return made


def worst_difference(robot, made, simulator, steps, effort, seed=0):
    """Return the largest difference of states, relative to 1 and to the largest speed.

    Over a motion.
    """
    rng = np.random.default_rng(seed)
    worst, now = 0.0, 0.0
    scale = np.minimum(robot.effort_limits, effort)
    for k in range(steps):
        if k % 100 == 0:
            push = rng.normal(size=robot.nv) * scale
        tau = push - 0.05 * scale * simulator.v if k % 7 else push
        made.setFloat64(efforts(robot), tau.tolist())
        made.doStep(now, simulator.timestep)
        now += simulator.timestep
        simulator.step(tau)
        found, expected = np.array(made.getFloat64(outputs(robot))), state(simulator)
        # Accelerations are differences of velocities, divided by the time step.
        weight = np.ones(len(found))
        weight[-robot.nv :] = simulator.timestep
        size = 1.0 + np.abs(simulator.v).max()
        worst = max(worst, np.max(weight * np.abs(found - expected)) / size)
    return worst


@pytest.mark.parametrize(
    'name, integrator',
    [
        ('panda', 'semi_implicit'),
        ('panda', 'midpoint'),
        ('panda', 'rk4'),
        ('ur5_robot', 'semi_implicit'),
    ],
)
def test_an_arm_moves_as_in_the_simulator(tmp_path, name, integrator):
    robot = Robot.from_urdf(example_robots.path(name))
    running = Running(tmp_path, make_fmu(robot, 1e-3, integrator))
    simulator = Simulator(robot, 1e-3, integrator)
    worst = worst_difference(robot, running.instance(), simulator, 2000, 20.0)
    # The difference is rounding (kernels fuse products with sums, C does not), grown in 2 s.
    assert worst < 1e-9
    assert simulator.status.limit_steps + simulator.status.velocity_clamped_steps > 0
    assert np.isfinite(state(simulator)).all()


@pytest.mark.slow
def test_friction_limits_damping_and_fast_rotation_are_the_simulators(tmp_path):
    limit = '<limit lower="-2" upper="2.5" effort="30" velocity="9"/>'
    for k, robot in enumerate(
        [
            simulated_robots.pendulum(damping=0.3, friction=1.5, limit=limit, kind='revolute'),
            simulated_robots.turntable(0.001, damping=2.0, friction=0.01),
            simulated_robots.turntable(0.001),
        ]
    ):
        folder = tmp_path / str(k)
        folder.mkdir()
        running, simulator = Running(folder, make_fmu(robot, 2e-3)), Simulator(robot, 2e-3)
        worst = worst_difference(robot, running.instance(), simulator, 1500, 12.0)
        assert worst < 1e-12
    assert simulator.status.substeps > 0


@pytest.mark.slow
def test_a_legged_robot_flies_as_in_the_simulator(tmp_path):
    robot = Robot.from_urdf(example_robots.path('solo12'), floating_base=True)
    running, simulator = Running(tmp_path, make_fmu(robot)), Simulator(robot)
    rng = np.random.default_rng(3)
    q, v = robot.random_configuration(rng), 0.3 * rng.normal(size=robot.nv)
    # Quaternions of any length are set, unit ones used.
    simulator.reset(q, v)
    q[:4] *= 3.0  # of variables with names of their own, any length does
    made = starting_at(running, robot, q, v)
    assert np.allclose(made.getFloat64(outputs(robot)), state(simulator), rtol=0, atol=1e-15)
    assert worst_difference(robot, made, simulator, 600, 0.02) < 1e-9
    names = running.references
    joint = robot.joint_names[0]
    assert {f'{joint}.orientation.w', f'{joint}.velocity.z', f'{joint}.moment.x'} <= set(names)


@pytest.fixture(scope='module')
def box(tmp_path_factory):
    """Return a box as a robot and its FMU with the ground."""
    shape = simulated_robots.collision('box size="0.2 0.3 0.1"')
    robot = simulated_robots.body(2.0, (0.02, 0.03, 0.04), shape)
    return robot, Running(tmp_path_factory.mktemp('box'), make_fmu(robot, ground=HalfSpace()))


def test_contact_with_the_ground_is_the_simulators(box):
    robot, running = box
    simulator = Simulator(robot, ground=HalfSpace())
    q = simulated_robots.at((0.0, 0.0, 0.4), (0.9, 0.1, 0.3, 0.2))
    v = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    made = starting_at(running, robot, q, v)
    simulator.reset(q, v)
    touched = 0
    for k in range(800):
        made.doStep(1e-3 * k, 1e-3)
        simulator.step()
        touched += bool(simulator.contacts)
        found = np.array(made.getFloat64(outputs(robot)))[: robot.nq]
        assert np.abs(found - simulator.q).max() < 1e-7
    assert touched > 300


def test_a_start_within_the_ground_throws_nothing(box):
    robot, running = box
    simulator, q = Simulator(robot, ground=HalfSpace()), simulated_robots.at((0.0, 0.0, 0.04))
    made = starting_at(running, robot, q, np.zeros(6))
    simulator.reset(q)
    for k in range(20):
        made.doStep(1e-3 * k, 1e-3)
        simulator.step()
        found = np.array(made.getFloat64(outputs(robot)))[: robot.nq]
        assert np.abs(found - simulator.q).max() < 1e-10


def test_efforts_that_are_set_before_the_start_act(arm):
    robot, running = arm
    made = running.instance({f'{robot.joint_names[1]}.effort': 5.0})
    assert made.getFloat64(efforts(robot)) == [0.0, 5.0, 0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize('seed', range(3))
def test_random_trees_with_gears_move_as_in_the_simulator(tmp_path, seed):
    text = random_trees.tree(seed, bodies=5, mimics=1)
    robot = Robot.from_urdf(text)
    running, simulator = Running(tmp_path, make_fmu(robot)), Simulator(robot)
    assert worst_difference(robot, running.instance(), simulator, 400, 0.5, seed) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize('compiler', COMPILERS)
@pytest.mark.parametrize(('integrator', 'ground'), [('semi_implicit', True), ('rk4', False)])
def test_sources_compile_without_a_warning(tmp_path, compiler, integrator, ground):
    robot = Robot.from_urdf(example_robots.path('solo12'), floating_base=True)
    unit = make_fmu(robot, 1e-3, integrator, HalfSpace() if ground else None)
    for name, text in unit.files.items():
        (tmp_path / Path(name).name).write_text(text, encoding='utf-8')
    sources = sorted(tmp_path.glob('*.c'))
    command = [compiler, *STRICT, '-O1', '-shared', '-fPIC', '-o', tmp_path / 'it.so', *sources]
    subprocess.run([*command, '-lm'], check=True)
    text = '\n'.join(path.read_text() for path in sources if path.name != 'fmu.c')
    assert 'malloc' not in text and 'alloca' not in text


def test_fmpy_simulates_it_from_start_values(arm):
    (robot, running), simulator = arm, Simulator(arm[0])
    q = np.array([0.1, -1.0, 0.5, 0.2, 0.3, -0.4])
    found = fmpy.simulate_fmu(
        str(running.path),
        stop_time=0.5,
        step_size=0.001,
        output_interval=0.01,
        start_values={f'{n}.position': x for n, x in zip(robot.joint_names, q)},
        output=[f'{name}.position' for name in robot.joint_names],
    )
    simulator.reset(q)
    simulator.step(n=500)
    last = np.array([found[f'{name}.position'][-1] for name in robot.joint_names])
    assert np.abs(last - simulator.q).max() < 1e-12


def test_states_go_back_exactly_also_as_bytes(arm):
    robot, running = arm
    made, other = running.instance(), running.instance()

    def go(which, first, count):
        for k in range(first, first + count):
            which.doStep(1e-3 * k, 1e-3)
        return which.getFloat64([0, *outputs(robot)])

    made.setFloat64(efforts(robot), [1.0, -2.0, 0.5, 0.1, 0.2, 0.3])
    go(made, 0, 100)
    kept = made.getFMUState()
    data = made.serializeFMUState(kept)
    expected = go(made, 100, 200)
    made.setFMUState(kept)
    assert go(made, 100, 200) == expected
    # Another instance has gone its own way meanwhile.
    assert go(other, 0, 10) != expected
    other.setFMUState(other.deserializeFMUState(data))
    assert go(other, 100, 200) == expected
    made.freeFMUState(kept)
    with pytest.raises(Exception, match='status'):
        other.deserializeFMUState(bytes([data[0] ^ 1, *data[1:]]))
    assert 'not a state of this FMU' in running.messages[-1]


def test_a_reset_starts_again(panda):
    robot, running = panda
    made = running.instance()
    first = made.getFloat64([0, *efforts(robot), *outputs(robot)])
    made.setFloat64(efforts(robot), [1.0] * robot.nv)
    made.doStep(0.0, 0.05)
    assert made.getFloat64([0])[0] == pytest.approx(0.05)
    made.terminate()
    made.reset()
    made.enterInitializationMode(startTime=2.0)
    made.exitInitializationMode()
    assert made.getFloat64([0, *efforts(robot), *outputs(robot)]) == [2.0, *first[1:]]
    simulator = Simulator(robot)
    assert np.array_equal(first[1 + robot.nv :], state(simulator))
    made.doStep(2.0, 0.05)
    assert made.getFloat64([0])[0] == pytest.approx(2.05)


def rejected(running, status, words, call, *arguments):
    with pytest.raises(fmi1.FMICallException) as error:
        call(*arguments)
    assert error.value.status == status
    assert words in running.messages[-1]


def test_an_invalid_call_is_rejected_and_changes_nothing(arm):
    robot, running = arm
    made, twin = running.instance(), running.instance()
    n, last = robot.nv, outputs(robot)[-1]
    everything = [0, *efforts(robot), *outputs(robot)]
    for each in (made, twin):
        each.setFloat64(efforts(robot), [0.5] * n)
        each.doStep(0.0, 0.01)
    for bad in (np.nan, np.inf, -np.inf):
        words = 'value reference 3 must be finite'
        rejected(running, DISCARD, words, made.setFloat64, [1, 2, 3], [7.0, 8.0, bad])
    unknown = f'unknown value reference {last + 1}'
    rejected(running, ERROR, unknown, made.getFloat64, [last + 1])
    rejected(running, ERROR, unknown, made.setFloat64, [last + 1], [0.0])
    rejected(running, ERROR, 'is a start value', made.setFloat64, [1 + n], [0.0])
    rejected(running, ERROR, 'cannot be set', made.setFloat64, [0], [0.0])
    rejected(running, ERROR, 'cannot be set', made.setFloat64, [last], [0.0])
    for size in (0.0015, 0.0, -0.001, 4e-4, np.nan, np.inf):
        rejected(running, DISCARD, 'is not a multiple of 0.001', made.doStep, 0.01, size)
    rejected(running, ERROR, 'the step starts at 0.02', made.doStep, 0.02, 0.001)
    rejected(running, ERROR, 'is not supported by this FMU', made.getInt32, [1])
    rejected(running, ERROR, 'not be called now', made.enterInitializationMode)
    assert made.getFloat64(everything) == twin.getFloat64(everything)
    for each in (made, twin):
        each.doStep(0.01, 0.003)
    assert made.getFloat64(everything) == twin.getFloat64(everything)
    early = running.instance(begin=False)
    rejected(running, ERROR, 'fmi3DoStep must not be called now', early.doStep, 0.0, 0.001)


def test_wrong_sizes_and_tokens_are_rejected(arm, monkeypatch):
    _, running = arm
    made = running.instance()
    references = (fmi3.fmi3ValueReference * 2)(1, 2)
    values = (fmi3.fmi3Float64 * 3)(1.0, 2.0, 3.0)
    for call in (made.fmi3GetFloat64, made.fmi3SetFloat64):
        with pytest.raises(fmi1.FMICallException):
            call(made.component, references, 2, values, 3)
        assert '2 variables' in running.messages[-1]
    monkeypatch.setattr(running.description, 'guid', '{another}')
    with pytest.raises(Exception, match='instantiate'):
        running.instance()
    assert 'token belongs to another FMU' in running.messages[-1]


def test_an_orientation_of_zero_is_rejected(box):
    robot, running = box
    made = running.instance(begin=False)
    made.setFloat64(outputs(robot)[:4], [0.0] * 4)
    made.enterInitializationMode()
    rejected(running, ERROR, 'orientation', made.exitInitializationMode)


def test_the_description_has_names_units_and_start_values(panda):
    robot, running = panda
    description = running.description
    by_name = {v.name: v for v in description.modelVariables}
    for joint, limit in zip(robot.joint_names, robot.effort_limits):
        turns = 'finger' not in joint
        assert by_name[f'{joint}.effort'].causality == 'input'
        assert by_name[f'{joint}.effort'].unit == ('N.m' if turns else 'N')
        assert f'cut at {limit:g}' in by_name[f'{joint}.effort'].description
        for quantity, unit in (('position', ''), ('velocity', '/s'), ('acceleration', '/s2')):
            assert by_name[f'{joint}.{quantity}'].unit == ('rad' if turns else 'm') + unit
            assert by_name[f'{joint}.{quantity}'].causality == 'output'
    start = [float(by_name[f'{joint}.position'].start) for joint in robot.joint_names]
    assert np.array_equal(start, Simulator(robot).q)
    assert len(by_name) == 1 + 3 * robot.nv + robot.nq
    assert float(description.coSimulation.fixedInternalStepSize) == 0.002
    assert description.generationTool == 'a tool'


def test_names_of_any_kind_are_written(tmp_path):
    text = random_trees.tree(1, bodies=2)
    first = Robot.from_urdf(text).joint_names[0]
    text = text.replace(f'"{first}"', '"a &lt;joint&gt; */ &quot;ü&quot;"')
    unit = make_fmu(Robot.from_urdf(text))
    running = Running(tmp_path, unit)
    assert any(name.startswith('a <joint> */ "ü".') for name in running.references)


def test_the_same_robot_makes_the_same_archive():
    robot = Robot.from_urdf(example_robots.path('ur5_robot'))
    first = make_fmu(robot).archive()
    assert make_fmu(Robot.from_urdf(example_robots.path('ur5_robot'))).archive() == first
    assert make_fmu(robot, 2e-3).archive() != first


def test_models_that_are_not_simulated_are_rejected_by_name():
    robot = simulated_robots.pendulum()
    with pytest.raises(ValueError, match='unknown integrator'):
        make_fmu(robot, integrator='euler')
    with pytest.raises(ValueError, match='timestep must be positive'):
        make_fmu(robot, 0.0)
    with pytest.raises(ValueError, match='not a valid name in C'):
        make_fmu(robot, name='7 axes')
    with pytest.raises(ValueError, match='no movable joint'):
        make_fmu(Robot.from_urdf('<robot name="r"><link name="a"/></robot>'))
