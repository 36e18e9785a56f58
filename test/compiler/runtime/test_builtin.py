# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Kernels as builtin functions: arguments, references that they keep, and leaks."""

import copy
import gc
import inspect
import multiprocessing
import pickle
import sys
import tracemalloc
import weakref

import numpy as np
import pytest
from support import fresh_python
from support.small_kernels import kernel

from rbd_ros import Robot
from rbd_ros.compiler.runtime import builtin

pytestmark = pytest.mark.skipif(not builtin.supported(), reason='other kind of interpreter')
MANY = 1_000_000


@pytest.fixture
def robot(two_links):
    """Return the robot with two joints whose method inverse_dynamics is a builtin already."""
    robot = Robot.from_urdf(two_links)
    robot.inverse_dynamics(np.zeros(2), np.zeros(2), np.zeros(2))
    return robot


@pytest.fixture
def q():
    """Return the configuration of two joints."""
    return np.array([0.3, -0.2])


def test_a_method_becomes_a_builtin_on_first_use(two_links, q):
    robot = Robot.from_urdf(two_links)
    assert inspect.ismethod(robot.gravity_torque)
    robot.gravity_torque(q)
    assert inspect.isbuiltin(robot.gravity_torque)


def test_keyword_arguments_are_those_of_the_method(robot, q):
    expected = robot.inverse_dynamics(q, q, 2 * q)
    np.testing.assert_array_equal(robot.inverse_dynamics(a=2 * q, q=q, v=q), expected)
    np.testing.assert_array_equal(robot.inverse_dynamics(q, q, a=2 * q), expected)
    forced = robot.inverse_dynamics(q, q, q, external_forces={'link2': np.ones(6)})
    np.testing.assert_array_equal(robot.inverse_dynamics(q, q, q, {'link2': np.ones(6)}), forced)


def test_an_unknown_keyword_is_a_type_error(robot, q):
    with pytest.raises(TypeError, match='torque'):
        robot.inverse_dynamics(q, q, torque=q)


@pytest.mark.parametrize('count', [0, 1, 2, 5])
def test_a_wrong_number_of_arguments_is_a_type_error(robot, q, count):
    with pytest.raises(TypeError):
        robot.inverse_dynamics(*[q] * count)


@pytest.mark.parametrize('bad', [np.zeros(3), np.zeros(0), np.zeros(()), np.zeros((1, 2, 2)), 1.0])
def test_a_wrong_shape_names_expected_and_given(robot, q, bad):
    with pytest.raises(ValueError, match=r'q must have shape \(2,\) or \(N, 2\), got \('):
        robot.inverse_dynamics(bad, q, q)


class Subclass(np.ndarray):
    """Array type of another package."""


EQUALS = {
    'list': lambda x: x.tolist(),
    'subclass': lambda x: x.view(Subclass),
    'read-only': lambda x: np.frombuffer(x.tobytes()),
    'every other element': lambda x: np.repeat(x, 2)[::2],
    'backwards': lambda x: x[::-1].copy()[::-1],
    'byte-swapped': lambda x: x.astype('>f8'),
    'unaligned': lambda x: np.frombuffer(b'x' + x.tobytes(), dtype=np.uint8)[1:].view(np.float64),
    'long double': lambda x: x.astype(np.longdouble),
    'column of a matrix': lambda x: np.stack([x, x], axis=1)[:, 0],
    'memory view': memoryview,
    'with metadata': lambda x: x.astype(np.dtype(np.float64, metadata={'unit': 'rad'})),
}


@pytest.mark.parametrize('kind', EQUALS)
def test_any_container_of_the_same_numbers_gives_the_same_result(robot, q, kind):
    expected = robot.inverse_dynamics(q, q, q)
    given = EQUALS[kind](q)
    result = robot.inverse_dynamics(q, given, q)
    assert type(result) is np.ndarray and result.dtype == np.float64
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(np.asarray(given, dtype=float), q)


def test_no_rows_give_no_rows(robot):
    none = np.zeros((0, 2))
    assert robot.inverse_dynamics(none, none, none).shape == (0, 2)
    assert robot.mass_matrix(none).shape == (0, 2, 2)


def test_the_result_is_a_plain_new_array(robot, q):
    one, two = robot.inverse_dynamics(q, q, q), robot.inverse_dynamics(q, q, q)
    assert one is not two and one.flags.owndata and one.flags.writeable and one.flags.carray
    assert one.base is None


def test_calls_leak_neither_references_nor_memory(robot, q):
    function, method = robot.inverse_dynamics, Robot.inverse_dynamics
    function.__self__(q, q, q)
    objects = [q, np.ndarray, np.dtype(np.float64), function, robot, method, None]
    gc.collect()
    before = [sys.getrefcount(x) for x in objects]
    tracemalloc.start()
    try:
        function(q, q, q)
        start = tracemalloc.get_traced_memory()[0]
        for _ in range(MANY):
            function(q, q, q)
        grown = tracemalloc.get_traced_memory()[0] - start
    finally:
        tracemalloc.stop()
    # None counts for what the collector and others do meanwhile, a thousandth of the calls at most
    change = [abs(sys.getrefcount(x) - b) for x, b in zip(objects, before)]
    assert max(change) < 50 and grown < 10_000


@pytest.mark.parametrize(
    'arguments',
    [
        lambda q: (q.tolist(), q, q),
        lambda q: (q[:1], q, q),
        lambda q: (q, q),
        lambda q: (q[None], q, q),
    ],
)
def test_calls_that_go_to_python_leak_no_references(robot, q, arguments):
    given, function = arguments(q), robot.inverse_dynamics
    gc.collect()
    before = [sys.getrefcount(x) for x in (q, robot, function)]  # numpy.empty leaks dtypes itself
    for _ in range(2000):
        try:
            function(*given)
        except (TypeError, ValueError):
            pass
    gc.collect()
    after = [sys.getrefcount(x) for x in (q, robot, function)]
    assert max(abs(x - y) for x, y in zip(after, before)) < 20


def test_a_function_outlives_its_robot(two_links, q):
    robot = Robot.from_urdf(two_links)
    expected = robot.gravity_torque(q)
    method, variant = robot.gravity_torque, robot.function('gravity_torque', ('gravity',))
    del robot
    gc.collect()
    np.testing.assert_array_equal(method(q), expected)
    np.testing.assert_allclose(variant(q, np.array([0, 0, -9.81])), expected, atol=1e-13)


def test_an_unreferenced_robot_is_freed_with_its_kernels(two_links, q):
    robot = Robot.from_urdf(two_links)
    robot.gravity_torque(q)
    robot.gravity_torque(np.tile(q, (9, 1)))
    kernel_reference = weakref.ref(robot.kernel('gravity_torque'))
    robot_reference = weakref.ref(robot)
    del robot
    gc.collect()
    assert robot_reference() is None and kernel_reference() is None


BIND_TWICE = """
import gc, sys
import numpy as np
from rbd_ros import Robot
from rbd_ros.compiler.runtime.builtin import Fallback
robot = Robot.from_urdf(sys.argv[1])
q = np.zeros(2)
functions = [robot.function('gravity_torque') for _ in range(5)]
robot.gravity_torque(q)
kernels = robot.kernel('gravity_torque')
functions += [kernels.bind(Fallback(kernels)) for _ in range(50)]
rubbish = [bytes([1]) * 30 + bytes(k % 7) for k in range(200000)]
for function in functions:
    assert function.__name__ == 'gravity_torque' and function(q).shape == (2,)
del robot, functions, function, kernels
gc.collect()
print('alive')
"""


def test_a_kernel_may_be_bound_many_times(two_links):
    assert 'alive' in fresh_python.run(BIND_TWICE, two_links).stdout


def test_the_same_function_is_the_same_object(robot):
    assert robot.function('gravity_torque') is robot.function('gravity_torque')


def test_signatures_are_those_of_the_methods(robot, q):
    for name in (
        'inverse_dynamics',
        'gravity_torque',
        'mass_matrix',
        'coriolis_matrix',
        'momentum',
    ):
        method = inspect.signature(getattr(Robot, name))
        required = [p for p in method.parameters.values() if p.default is p.empty]
        getattr(robot, name)(*[q] * (len(required) - 1))
        bound = inspect.signature(getattr(robot, name))
        assert list(bound.parameters) == list(method.parameters)[1:]
        assert [p.default for p in bound.parameters.values()] == [
            p.default for p in method.parameters.values()
        ][1:]


def test_help_is_that_of_the_method(robot):
    assert inspect.getdoc(robot.inverse_dynamics) == inspect.getdoc(Robot.inverse_dynamics)


def test_run_time_inputs_show_in_the_signature(robot):
    function = robot.function('gravity_torque', ('gravity', 'payload:link2'))
    assert str(inspect.signature(function)) == '(q, gravity, payload_link2)'


def test_robots_can_be_pickled_and_copied_after_use(robot, q):
    expected = robot.inverse_dynamics(q, q, q)
    for other in (pickle.loads(pickle.dumps(robot)), copy.deepcopy(robot), copy.copy(robot)):
        np.testing.assert_array_equal(other.inverse_dynamics(q, q, q), expected)
        assert other.joint_names == robot.joint_names


def test_methods_can_be_pickled_after_use(robot, q):
    method = pickle.loads(pickle.dumps(robot.inverse_dynamics))
    np.testing.assert_array_equal(method(q, q, q), robot.inverse_dynamics(q, q, q))


SPAWN = """
import multiprocessing, sys
import numpy as np
from rbd_ros import Robot
if __name__ == '__main__':
    robot = Robot.from_urdf(sys.argv[1])
    states = [np.full(2, 0.1 * k) for k in range(4)]
    expected = [robot.gravity_torque(q) for q in states]
    for method in ('fork', 'spawn'):
        with multiprocessing.get_context(method).Pool(2) as pool:
            results = pool.map(robot.gravity_torque, states)
        assert np.array_equal(results, expected), method
    print('alive')
"""


def test_methods_work_in_a_pool_of_processes(two_links, tmp_path):
    try:
        multiprocessing.Lock()
    except OSError as error:
        pytest.skip(f'no semaphores for processes, is /dev/shm there and writable? {error}')
    program = tmp_path / 'program.py'
    program.write_text(SPAWN)
    run = (
        'import subprocess, sys; '
        f'sys.exit(subprocess.call([sys.executable, {str(program)!r}, *sys.argv[1:]]))'
    )
    fresh_python.run(run, two_links)


def test_a_refined_method_of_a_subclass_is_not_bypassed(two_links, q):
    class Doubled(Robot):
        def gravity_torque(self, q):
            return 2.0 * super().gravity_torque(q)

    plain, doubled = Robot.from_urdf(two_links), Doubled.from_urdf(two_links)
    for _ in range(3):
        np.testing.assert_array_equal(doubled.gravity_torque(q), 2.0 * plain.gravity_torque(q))


@pytest.fixture
def unsupported(monkeypatch):
    """Pretend an interpreter whose objects look different: free-threaded, or no CPython."""
    monkeypatch.setattr(builtin, 'supported', lambda: False)


def test_other_interpreters_get_the_same_without_builtins(unsupported, two_links, q):
    robot = Robot.from_urdf(two_links)
    for _ in range(2):
        assert robot.inverse_dynamics(q, q, a=q).shape == (2,)
    assert inspect.ismethod(robot.inverse_dynamics)
    variant = robot.function('gravity_torque', ('gravity',))
    np.testing.assert_allclose(variant(q, robot.gravity), robot.gravity_torque(q), atol=1e-13)


@pytest.mark.parametrize(
    'attribute, value', [('TYPE', 16), ('DATA', 24), ('ND', 28), ('DESCR', 48), ('FLAGS', 24)]
)
def test_a_different_layout_of_arrays_is_detected(monkeypatch, attribute, value):
    monkeypatch.setattr(builtin, attribute, value)
    assert not builtin.supported.__wrapped__()


def test_a_builtin_allocates_any_number_of_axes(q):
    cube = kernel(lambda x: [x[0] + k for k in range(8)], [('x', 2)], (2, 2, 2)).function
    np.testing.assert_array_equal(cube(np.zeros(2)), np.arange(8.0).reshape(2, 2, 2))
