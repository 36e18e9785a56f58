# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""General calls in machine code: keywords, lists, batches, forces, caller's results."""

from functools import partial
import gc
import os
import pickle
import sys

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from support import fresh_python, random_trees

from rbd_ros import Robot
from rbd_ros.compiler import set_threads
from rbd_ros.compiler.runtime import batches
from rbd_ros.compiler.runtime.kernel import BaseKernel, Kernel
from rbd_ros.robot.kernels import Compiled

SPECIAL = {
    'float32': lambda x: x.astype(np.float32),
    'int64': lambda x: np.arange(-1, len(x) - 1),
    'int32': lambda x: np.arange(-1, len(x) - 1, dtype=np.int32),
    'float16': lambda x: x.astype(np.float16),
    'strided float32': lambda x: np.repeat(x.astype(np.float32), 2)[::2],
    'strided int64': lambda x: np.arange(-1, 2 * len(x) - 1)[::2],
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
    """Return the inverse dynamics as a builtin."""
    robot.inverse_dynamics(*state)
    return robot.inverse_dynamics


@pytest.fixture
def no_python(function, monkeypatch):
    """Make all later calls of Python fail; call `allow` before compilation."""

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


def test_a_number_that_is_not_given_is_the_usual_one(robot, state, no_python):
    q, v, _ = state
    by_all = robot.integrate(q, v, 1.0)
    no_python()
    assert_array_equal(robot.integrate(q, v), by_all)
    assert_array_equal(robot.integrate(q, v=v), by_all)
    assert_array_equal(robot.integrate(q, v, 0.0), q)
    assert_array_equal(robot.integrate(np.array([q, q]), v), [by_all, by_all])
    assert 'dt=1' in robot.kernel('integrate').function.__text_signature__


def test_kernels_know_the_usual_number_without_a_builtin(robot, state):
    q, v, _ = state
    kernel = robot.kernel('integrate')
    assert_array_equal(kernel(q, v), kernel(q, v, 1.0))
    assert_array_equal(kernel(np.array([q, q]), v)[1], kernel(q, v))
    with pytest.raises(TypeError, match='takes 3 arrays'):
        kernel(q)


def test_random_numbers_that_are_not_given_are_drawn(robot, no_python):
    robot.random_configuration()
    no_python()
    drawn = np.array([robot.random_configuration() for _ in range(2000)])
    assert len(np.unique(drawn[:, 0])) == len(drawn)
    # Uniform in the limits of these joints, or within pi where there are none.
    lower = np.where(np.isfinite(robot.lower_limits), robot.lower_limits, -np.pi)
    upper = np.where(np.isfinite(robot.upper_limits), robot.upper_limits, np.pi)
    unit = (drawn - lower) / (upper - lower)
    assert unit.min() >= 0.0 and unit.max() < 1.0
    assert_allclose(unit.mean(axis=0), 0.5, atol=5 / np.sqrt(12 * len(drawn)))
    assert_allclose(unit.std(axis=0), np.sqrt(1 / 12), rtol=0.1)
    out = np.empty(robot.nq)
    assert robot.random_configuration(out=out) is out


def test_a_source_of_randomness_may_be_given(robot):
    first = robot.random_configuration(np.random.default_rng(3))
    assert_array_equal(robot.random_configuration(rng=np.random.default_rng(3)), first)
    assert_array_equal(robot.random_configurations(2, np.random.default_rng(3))[0], first)


@pytest.mark.skipif(not hasattr(os, 'fork'), reason='needs fork')
def test_a_forked_process_draws_different_random_numbers(robot):
    code = (
        'import os, sys, numpy as np\n'
        'from rbd_ros import Robot\n'
        'robot = Robot.from_urdf(sys.argv[1])\n'
        'robot.random_configuration(), robot.random_configurations(1)\n'
        'reading, writing = os.pipe()\n'
        'child = os.fork()\n'
        'q = np.append(robot.random_configuration(), robot.random_configurations(2))\n'
        'if not child:\n'
        '    os.write(writing, q.tobytes()); os._exit(0)\n'
        'os.waitpid(child, 0)\n'
        'other = np.frombuffer(os.read(reading, q.nbytes))\n'
        'print(len(other) == len(q), not np.intersect1d(q, other).size)'
    )
    text = random_trees.tree(5, bodies=4, types=('revolute', 'prismatic'))
    assert fresh_python.run(code, text).stdout.split() == ['True', 'True']


@pytest.mark.parametrize('rows', [0, 1, 2, 7, 8, 9, 16, 33, 500])
def test_batches_equal_their_rows(function, robot, rows, no_python):
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
    H[...], C[...] = np.nan, np.nan
    found = robot.equations_of_motion(q, v, out=[H, C])
    assert found.H is H and found.C is C and type(found) is type(both)
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
def test_invalid_arguments_raise_python_errors(function, state, call, error):
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


# -- results in a holder --------------------------------------------------------------------------


def test_poses_of_links_come_by_name_from_machine_code(robot, state, no_python):
    q = state[0]
    array = robot.kernel('forward_kinematics').function(q)
    assert type(array) is np.ndarray
    by_python = robot.forward_kinematics(q)
    batch = np.array([q, 2 * q])
    no_python()
    for poses in (
        robot.forward_kinematics(q),
        robot.forward_kinematics(q=q),
        robot.forward_kinematics(q.tolist()),
    ):
        assert type(poses) is type(by_python)
        assert_array_equal(poses.array, array)
        assert dict(poses).keys() == by_python.keys() == set(robot.link_names)
    poses = robot.forward_kinematics(batch)
    assert poses.array.shape == (2, len(robot.link_names), 4, 4)
    last = robot.link_names[-1]
    assert_array_equal(poses[last][0], array[-1])
    out = np.empty_like(array)
    assert robot.forward_kinematics(q, out=out).array is out
    assert type(robot.kernel('forward_kinematics').function(q)) is np.ndarray


def test_poses_survive_pickling_and_leak_nothing(robot, state):
    q = state[0]
    robot.forward_kinematics(q)
    poses = robot.forward_kinematics(q)
    copy = pickle.loads(pickle.dumps(poses))
    assert type(copy) is type(poses)
    assert_array_equal(copy.array, poses.array)
    assert gc.is_tracked(poses)
    kind, array = type(poses), poses.array
    gc.collect()
    before, held = sys.getrefcount(kind), sys.getrefcount(array)
    for _ in range(100):
        robot.forward_kinematics(q)
        robot.forward_kinematics(q=q)
        with pytest.raises(ValueError, match='shape'):
            robot.forward_kinematics(q[:1])
    gc.collect()
    assert sys.getrefcount(kind) == before
    del poses
    assert sys.getrefcount(array) == held - 1
