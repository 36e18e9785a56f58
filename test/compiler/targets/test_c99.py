# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Programs as C99: they compile without a warning, and agree with the kernels."""

import ctypes
from dataclasses import replace
import shutil
import subprocess

import numpy as np
import pytest
from support import all_joints, example_robots, outside, random_trees
from support.errors import relative_error
from support.programs import program
from support.small_kernels import kernel

from rbd_ros import Robot
from rbd_ros.compiler import Graph
from rbd_ros.compiler.targets import c99
from rbd_ros.model.joints import Spherical

COMPILER = shutil.which('cc') or shutil.which('gcc') or shutil.which('clang')
STRICT = ['-std=c99', '-pedantic', '-Wall', '-Wextra', '-Werror']
FUNCTIONS = ['inverse_dynamics', 'forward_dynamics', 'equations_of_motion', 'contact_kinematics']

pytestmark = outside.needs('C compiler')


@pytest.fixture
def build(tmp_path):
    """Return what compiles a program, without a warning, to a function of arrays."""

    def build(what, name=None):
        (tmp_path / 'it.c').write_text(c99.source(what, name), encoding='ascii')
        library = tmp_path / f'{len(list(tmp_path.iterdir()))}.so'
        files = ['-shared', '-fPIC', '-o', library, tmp_path / 'it.c', '-lm']
        subprocess.run([COMPILER, '-O1', *STRICT, *files], check=True)
        function = getattr(ctypes.CDLL(str(library)), name or what.name)

        def call(*arrays):
            outputs = [np.full(output.shape, 7.0) for output in what.outputs]
            function(*(ctypes.c_void_p(x.ctypes.data) for x in (*arrays, *outputs)))
            return outputs

        return call

    return build


def states(call, robot, seed=0):
    """Return the arrays for the inputs of a kernel."""
    rng = np.random.default_rng(seed)
    given = {'q': robot.random_configuration(rng), 'dt': np.array(0.1)}
    return [given.get(name, rng.normal(size=size)) for name, size in call.definition.inputs]


def check(build, robot, call):
    function, arrays = build(call.definition.program()), states(call, robot)
    expected = call(*arrays)
    expected = [expected] if call.definition.result is None else expected
    for ours, theirs in zip(function(*arrays), expected):
        assert relative_error(ours, np.asarray(theirs)) < 1e-12
    spoiled = [x.copy() for x in arrays]
    spoiled[0][-1] = np.inf
    assert all(np.isnan(output).all() for output in function(*spoiled))


@pytest.mark.parametrize('name', [*FUNCTIONS, 'inverse_dynamics_derivatives'])
def test_an_arm_in_c_agrees_with_its_kernels(build, name):
    robot = Robot.from_urdf(example_robots.path('ur5_robot'))
    check(build, robot, robot.kernel(name))


@pytest.mark.parametrize('name', ['inverse_dynamics', 'forward_dynamics'])
@pytest.mark.parametrize('robot', ['talos_reduced', 'solo12'])
def test_a_floating_robot_in_c_agrees_with_its_kernels(build, robot, name):
    robot = Robot.from_urdf(example_robots.path(robot), floating_base=True)
    check(build, robot, robot.kernel(name))


@pytest.mark.parametrize('name', ['mass_matrix', 'bias_force', 'integrate', 'difference'])
def test_joints_of_all_kinds_in_c_agree_with_their_kernels(build, name):
    robot = Robot.from_urdf(random_trees.mixed_tree(4))
    check(build, robot, robot.kernel(name))


def test_a_spherical_joint_in_c_agrees_with_its_kernels(build):
    robot = Robot(all_joints.tree(Spherical(), 0))
    check(build, robot, robot.kernel('inverse_dynamics'))


def test_forces_and_runtime_inputs_are_arguments_by_names_of_c(build):
    robot = Robot.from_urdf(random_trees.mixed_tree(4))
    link = robot.link_names[-1]
    call = robot.kernel('inverse_dynamics', forces=(link,), runtime=('gravity', f'payload:{link}'))
    text = c99.source(call.definition.program())
    assert f'const double external_forces_{link}[restrict 6]' in text
    assert f': external_forces:{link}\n' in text
    check(build, robot, call)


@pytest.mark.parametrize('size', [1, 7, 30])
def test_a_long_program_is_several_functions(build, size, monkeypatch):
    monkeypatch.setattr(c99, '_NODES_PER_PART', size)
    robot = Robot.from_urdf(random_trees.tree(8, bodies=2, types=('revolute', 'floating')))
    call = robot.kernel('bias_force')
    assert c99.source(call.definition.program()).count('static void bias_force_') > 2
    check(build, robot, call)


def everything(x):
    """Return every operation, and values that are ready from the start."""
    a, b, c = x
    return [
        a + b,
        a - b,
        -(a * b),
        a / b,
        (a * a + 1.0).sqrt(),
        a.sin() - c.cos(),
        a.where_positive(b / a, c),
        (-a).where_positive(b, c / a),
        a.where_positive(-b, 1.0),
        c,
        -c,
        -2.5,
        0.1,
        1e300,
        -0.0,
    ]


@pytest.mark.parametrize('x', [(0.3, -0.7, 1.9), (-2.0, 5.0, -0.1), (0.0, -0.5, 1e-300)])
def test_every_operation_is_right(build, x):
    compiled = kernel(everything, [('x', 3)], (15,))
    (found,) = build(compiled.definition.program())(np.array(x))
    np.testing.assert_allclose(found, compiled(np.array(x)), rtol=1e-15)


def angles():
    """Return angles of all sizes, and those whose sine or cosine is nearly zero, or far out."""
    rng = np.random.default_rng(11)
    near = np.arange(-300.0, 300.0) * (0.5 * np.pi) + rng.uniform(-1e-9, 1e-9, 600)
    far = np.arange(1.0, 99.0) * 200.0 * np.pi
    return np.concatenate(
        [
            rng.uniform(-np.pi, np.pi, 3000),
            rng.uniform(-9.9e4, 9.9e4, 3000),
            10.0 ** rng.uniform(-12.0, 5.0, 1000),
            near,
            far,
            [0.0, 1e5, -1e5, 1e6, 1e15],
        ]
    )


@pytest.mark.parametrize('count', [1, 5])
def test_sines_and_cosines_are_right_to_the_last_bit_or_two(build, count):
    """Against 60 digits; some with angles that are sums, as those of mimic joints are."""
    mpmath = outside.load('mpmath')
    graph = Graph()
    x = graph.inputs('x', count)
    first = x[0] * 1.0
    values = [each for k in range(count) for each in (x[k].sin(), x[k].cos())]
    shifted = x[-1] * 2.0 + 0.5
    function = build(program(graph, [*values, shifted.sin(), first]))
    worst = 0.0
    with mpmath.workdps(60):
        given = angles()
        for k in range(0, len(given) - count, count):
            some = given[k : k + count]
            (found,) = function(some.copy())
            exact = [f(mpmath.mpf(a)) for a in some for f in (mpmath.sin, mpmath.cos)]
            exact.append(mpmath.sin(mpmath.mpf(some[-1] * 2.0 + 0.5)))
            for ours, value in zip(found, exact):
                error = abs(mpmath.mpf(ours) - value)
                worst = max(worst, float(error / mpmath.mpf(np.spacing(abs(float(value))))))
            assert found[-1] == some[0]
    assert worst < 1.0  # measured 0.86


def test_a_branch_not_taken_affects_nothing(build):
    graph = Graph()
    (x,) = graph.inputs('x', 1)
    function = build(program(graph, [x.where_positive(1.0 / x, 3.0), (-x).where_positive(x, 4.0)]))
    assert function(np.array([0.0]))[0].tolist() == [3.0, 4.0]
    assert function(np.array([2.0]))[0].tolist() == [0.5, 4.0]


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
def test_a_nan_input_affects_every_output(build, bad):
    graph = Graph()
    x, y = graph.inputs('x', 2), graph.inputs('y', 1)
    function = build(program(graph, [x[0], 2.0], [y[0] * 2.0]))
    for place in range(3):
        arrays = [np.ones(2), np.ones(1)]
        arrays[place // 2][place % 2] = bad
        assert all(np.isnan(output).all() for output in function(*arrays))


def test_constants_that_are_no_numbers_are_written(build):
    graph = Graph()
    graph.inputs('x', 1)
    values = [graph.constant(np.inf), -graph.constant(np.inf), np.nan, -np.inf]
    (found,) = build(program(graph, values))(np.ones(1))
    np.testing.assert_array_equal(found, [np.inf, -np.inf, np.nan, -np.inf])


def test_arrays_may_be_empty(build):
    graph = Graph()
    (x,) = graph.inputs('x', 1)
    function = build(program(graph, [], [x], inputs=[('none', 0), ('x', 1)]))
    assert function(np.zeros(0), np.array([2.0]))[1].tolist() == [2.0]
    build(program(Graph()))()


def test_names_that_c_does_not_take_are_mended(build):
    graph = Graph()
    names = ['double', 'sin', 'v12', 'a:b', 'a_b', '1st', 'kept', 'i', 'it']
    symbols = [graph.inputs(name, 1)[0] for name in names]
    what = program(graph, [sum(symbols)], inputs=[(name, 1) for name in names])
    assert build(what, 'it')(*(np.full(1, float(k)) for k in range(9)))[0].tolist() == [36.0]


def test_an_argument_may_be_called_like_a_part(build):
    graph = Graph()
    (x,) = graph.inputs('it_0', 1)
    (y,) = graph.inputs('y', 1)
    value, expected = x, 0.25
    for _ in range(3000):
        value, expected = y - value * y, 0.5 - expected * 0.5
    what = program(graph, [value], inputs=[('it_0', 1), ('y', 1)])
    assert 'it_1(' in c99.source(what, 'it')
    assert build(what, 'it')(np.full(1, 0.25), np.full(1, 0.5))[0].tolist() == [expected]


@pytest.mark.parametrize('name', ['int', '2d', 'a-b', '', 'é'])
def test_a_function_must_have_a_name_of_c(name):
    with pytest.raises(ValueError, match='not a valid name of a function'):
        c99.source(program(Graph(), [1.0]), name)


def test_a_comment_has_the_summary_and_cannot_be_ended_by_it(build):
    graph = Graph()
    what = replace(program(graph, graph.inputs('x', 1)), doc='Ends */ never.')
    assert ' * small: Ends * / never.\n * in   x[1]\n' in c99.source(what)
    build(what)
