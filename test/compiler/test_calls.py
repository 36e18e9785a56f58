"""Calls that are not plain are done in machine code: by name, lists, batches, forces, results."""

from functools import partial
import gc
import sys

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from support import random_trees

from rbd_ros import Robot
from rbd_ros.compiler import set_threads
from rbd_ros.compiler.runtime import batches
from rbd_ros.compiler.runtime.kernel import BaseKernel, Kernel
from rbd_ros.robot.compiled import Compiled

SPECIAL = {
    'float32': lambda x: x.astype(np.float32),
    'int64': lambda x: np.arange(len(x)),
    'uint8': lambda x: np.arange(len(x), dtype=np.uint8),
    'big endian': lambda x: x.astype('>f8'),
    'strided': lambda x: np.repeat(x, 2)[::2],
    'list': lambda x: x.tolist(),
    'tuple': lambda x: tuple(x.tolist()),
    'list of integers': lambda x: list(range(len(x))),
    'list of numpy numbers': list,
}


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(random_trees.tree(5, bodies=4, types=('revolute', 'prismatic')))


@pytest.fixture
def state(robot):
    rng = np.random.default_rng(1)
    return list(rng.normal(size=(3, robot.nv)))


@pytest.fixture
def function(robot, state):
    """Inverse dynamics as a builtin."""
    robot.inverse_dynamics(*state)
    return robot.inverse_dynamics


@pytest.fixture
def no_python(function, monkeypatch):
    """From now on whatever is handed on to Python fails; `allow` before, for what compiles."""

    def fail(*arguments, **keywords):
        raise AssertionError('handed on to Python')

    def forbid():
        monkeypatch.setattr(BaseKernel, '__call__', fail)
        monkeypatch.setattr(Compiled, '_call', fail)

    return forbid


def test_arguments_go_by_name_in_any_order(function, state, no_python):
    q, v, a = state
    expected = function(q, v, a)
    no_python()
    assert_array_equal(function(a=a, q=q, v=v), expected)
    assert_array_equal(function(q, a=a, v=v), expected)
    assert_array_equal(function(q, v, a, None), expected)
    assert_array_equal(function(q, v, a=a, external_forces={}), expected)
    assert_array_equal(function(q, v, a, out=None), expected)


@pytest.mark.parametrize('kind', SPECIAL)
@pytest.mark.parametrize('place', range(3))
def test_other_numbers_are_converted(function, state, kind, place, no_python):
    given = SPECIAL[kind](state[place])
    plain = [*state]
    plain[place] = np.array(given, dtype=float)
    expected = function(*plain)
    no_python()
    assert_array_equal(function(*state[:place], given, *state[place + 1 :]), expected)


@pytest.mark.parametrize('rows', [0, 1, 2, 7, 8, 9, 16, 33, 500])
def test_batches_are_what_their_rows_are(function, robot, rows, no_python):
    rng = np.random.default_rng(rows)
    arrays = rng.normal(size=(3, rows, robot.nv))
    function(*rng.normal(size=(3, 40, robot.nv)))  # compiles
    no_python()
    for single in ((), (0,), (1, 2), (0, 2)):
        given = [x[0].copy() if k in single and rows else x for k, x in enumerate(arrays)]
        result = function(*given)
        assert result.shape == (rows, robot.nv)
        for k in range(rows):
            state = [x if x.ndim == 1 else x[k].copy() for x in given]
            assert_array_equal(result[k], function(*state))


@pytest.mark.parametrize('threads', [1, 2])
def test_long_batches_take_no_python_either(function, robot, threads, no_python, request):
    request.addfinalizer(partial(set_threads, batches.threads()))
    set_threads(threads)
    q, v, a = np.random.default_rng(1).normal(size=(3, 30000, robot.nv))
    expected = np.concatenate([function(*x) for x in zip(*(np.split(x, 100) for x in (q, v, a)))])
    function(q, v, a)  # provides the helpers
    no_python()
    assert_array_equal(function(q, v, a), expected)
    out = np.empty_like(expected)
    assert function(q, v, a=a, out=out) is out
    assert_array_equal(out, expected)


def test_forces_on_links_that_were_there_before_take_no_python(function, robot, state, no_python):
    rng = np.random.default_rng(2)
    forces = {name: rng.normal(size=6) for name in (robot.link_names[-1], robot.link_names[1])}
    q, v, a = state
    expected = function(q, v, a, forces)
    rows = function(np.tile(q, (20, 1)), v, a, forces)
    no_python()
    assert_array_equal(function(q, v, a, forces), expected)
    assert_array_equal(function(q, v, a, external_forces=dict(reversed(forces.items()))), expected)
    assert_array_equal(function(np.tile(q, (20, 1)), v, a, forces), rows)
    assert_allclose(rows, np.tile(expected, (20, 1)), rtol=1e-12)
    out = np.empty(robot.nv)
    assert function(q, v, a, forces, out=out) is out
    assert_array_equal(out, expected)
    assert not np.allclose(expected, function(q, v, a))


def test_other_links_are_found_again_by_python(robot, function, state):
    one, other = ({name: np.arange(6.0)} for name in robot.link_names[1:3])
    expected = [function(*state, each) for each in (one, other)]
    for _ in range(3):
        for each, result in zip((one, other), expected):
            assert_array_equal(function(*state, each), result)


def test_changing_links_leak_nothing(robot, function, state):
    choices = [{name: np.arange(6.0)} for name in robot.link_names[1:3]]
    counts = []
    for _ in range(4):
        for _ in range(300):
            for forces in choices:
                function(*state, forces)
        gc.collect()
        counts.append(sys.getallocatedblocks())
    assert counts[-1] - counts[1] < 300


def test_results_go_into_given_arrays(robot, function, state, no_python):
    q, v, a = state
    expected, energy = function(q, v, a), robot.energy(q, v)
    both = robot.equations_of_motion(q, v)
    rows = robot.equations_of_motion(np.tile(q, (20, 1)), v)
    robot.energy(np.tile(q, (20, 1)), v)
    single, many = np.empty(robot.nv), np.empty((5, robot.nv))
    H, C = np.empty((robot.nv, robot.nv)), np.empty(robot.nv)
    Hs, Cs = np.empty((20, robot.nv, robot.nv)), np.empty((20, robot.nv))
    kinetic = np.empty(20)
    no_python()
    assert function(q, v, a, out=single) is single
    assert_array_equal(single, expected)
    assert function(np.tile(q, (5, 1)), v, a, out=many) is many
    assert_array_equal(many, np.tile(expected, (5, 1)))
    found = robot.equations_of_motion(q, v, out=(H, C))
    assert found.H is H and found.C is C
    assert_array_equal(H, both.H)
    assert_array_equal(C, both.C)
    found = robot.equations_of_motion(np.tile(q, (20, 1)), v, out=(Hs, Cs))
    assert_array_equal(found.H, rows.H)
    assert_array_equal(Cs, rows.C)
    assert robot.energy(v=v, q=q) == energy
    found = robot.energy(np.tile(q, (20, 1)), v, out=(kinetic, np.empty(20)))
    assert found.kinetic is kinetic
    assert_allclose(kinetic, energy.kinetic, rtol=1e-14)


def test_a_result_that_overlaps_an_argument_is_still_right(function, robot, state):
    q, v, a = state
    expected = function(q, v, a)
    room = np.zeros(2 * robot.nv)
    room[1 : robot.nv + 1] = a
    function(q, v, room[1 : robot.nv + 1], out=room[: robot.nv])
    assert_array_equal(room[: robot.nv], expected)


@pytest.mark.parametrize(
    ('call', 'error'),
    [
        (lambda f, q: f(q, q), TypeError),
        (lambda f, q: f(q, q, q, None, None), TypeError),
        (lambda f, q: f(q, q, q, q=q), TypeError),
        (lambda f, q: f(q, q, q, torque=q), TypeError),
        (lambda f, q: f(q, q, q.tolist() + [1.0]), ValueError),
        (lambda f, q: f(q, q, ['one'] * len(q)), ValueError),
        (lambda f, q: f(q, q, [True] * len(q)), ValueError),
        (lambda f, q: f(q, q, [None] * len(q)), ValueError),
        (lambda f, q: f(q, q, q + 1j), ValueError),
        (lambda f, q: f(q, q, np.tile(q, (3, 1)), out=np.empty(len(q))), ValueError),
        (lambda f, q: f(np.tile(q, (2, 1)), q, np.tile(q, (3, 1))), ValueError),
        (lambda f, q: f(q, q, q, {'nobody': np.zeros(6)}), ValueError),
        (lambda f, q: f(q, q, q, [np.zeros(6)]), ValueError),
        (lambda f, q: f(q, q, q, out=q[:-1].copy()), ValueError),
        (lambda f, q: f(q, q, [10**400] * len(q)), (ValueError, OverflowError, TypeError)),
    ],
)
def test_what_is_wrong_is_said_by_python(function, state, call, error):
    with pytest.raises(error):
        call(function, state[0])
    assert function(*state).shape == state[0].shape  # no error is left behind


def test_methods_without_forces_take_none(robot, state):
    for _ in range(3):
        with pytest.raises(TypeError):
            robot.gravity_torque(state[0], None)
        with pytest.raises(TypeError):
            robot.gravity_torque(state[0], external_forces={})
        robot.gravity_torque(state[0])


@pytest.mark.parametrize('rows', [4, 40])
def test_two_results_do_not_go_to_one_place(robot, state, rows):
    q, room = np.tile(state[0], (rows, 1)), np.empty(rows + 1)
    robot.energy(q, state[1])
    for out in ((room[1:], room[1:]), (room[:-1], room[1:])):
        with pytest.raises(ValueError, match='shares memory'):
            robot.energy(q, state[1], out=out)


def test_nothing_leaks_on_any_way(robot, function, state):
    q, v, a = state
    link = robot.link_names[-1]
    force, out, single = np.ones(6), np.empty(robot.nv), np.arange(robot.nv, dtype=np.int32)
    listed, forces = v.tolist(), {link: force}
    rows = np.tile(q, (20, 1))
    together = robot.equations_of_motion(q, v)

    def all_ways():
        function(q=q, v=listed, a=single)
        function(q, v, a, forces, out=out)
        function(q, v, a, forces)
        function(rows, v, a)
        robot.equations_of_motion(rows, v)
        robot.equations_of_motion(q, v, out=together)
        robot.energy(rows, v)
        robot.energy(listed, v=v)

    watched = [q, v, a, force, out, single, listed, rows, forces, *together, link, None]
    for _ in range(10):
        all_ways()
    gc.collect()
    before = [sys.getrefcount(x) for x in watched[:-1]], sys.getallocatedblocks()
    for _ in range(2000):
        all_ways()
    gc.collect()
    after = [sys.getrefcount(x) for x in watched[:-1]], sys.getallocatedblocks()
    assert after[0] == before[0]
    assert after[1] - before[1] < 1000


def test_kernels_with_very_many_arrays_work_the_slow_way(robot, monkeypatch):
    from support.small_kernels import kernel

    inputs = [(f'x{k}', 1) for k in range(20)]
    total = kernel(lambda *arrays: [sum(x[0] for x in arrays)], inputs)
    assert isinstance(total, Kernel)
    ones = [np.ones(1)] * 20
    assert total.function(*ones) == 20.0
    assert total.function(*ones[:-1], [1]) == 20.0
