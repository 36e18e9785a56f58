# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Batches of any size and layout, also with single states; rows are independent."""

import threading

import numpy as np
import pytest
from support import layout, random_trees
from support.functions import ARGUMENTS, call, FRAME_FUNCTIONS, State

from rbd_ros import Robot
from rbd_ros.compiler.runtime.native import simd_lanes

TEXT = random_trees.mixed_tree(11)
LINK = layout.read(TEXT).links[-1]
BIG = 4097
NAMES = [name for name in ARGUMENTS if name != 'integrate']


@pytest.fixture(scope='module')
def robot():
    """Return a random tree with every joint type."""
    return Robot.from_urdf(TEXT)


@pytest.fixture(scope='module')
def state(robot):
    """Return 4097 random states.

    More than one task for the threads, and one row left over for any vector width.
    """
    return State(robot, layout.read(TEXT), np.random.default_rng(1), BIG)


@pytest.fixture(scope='module')
def results(robot, state):
    """Return the results of all functions for all states."""
    return {name: call(robot, name, state.of(name), LINK) for name in NAMES}


def equal_bits(x, y):
    return np.array_equal(
        np.ascontiguousarray(x).view(np.uint64), np.ascontiguousarray(y).view(np.uint64)
    )


@pytest.mark.slow
@pytest.mark.parametrize('name', NAMES)
def test_same_inputs_same_bits(robot, state, results, name):
    assert equal_bits(call(robot, name, state.of(name), LINK), results[name])
    again = Robot.from_urdf(TEXT)
    assert equal_bits(
        call(again, name, [x[:40] for x in state.of(name)], LINK), results[name][:40]
    )


@pytest.mark.parametrize(
    'name', ['inverse_dynamics', 'forward_dynamics', 'mass_matrix', 'jacobian']
)
def test_a_row_does_not_depend_on_its_place(robot, state, results, name, rng):
    order = rng.permutation(BIG)
    assert equal_bits(
        call(robot, name, [x[order] for x in state.of(name)], LINK), results[name][order]
    )


def sizes():
    lanes = simd_lanes()
    return sorted({*range(3 * lanes + 2), 511, 512, 513, BIG})


@pytest.mark.parametrize('size', sizes())
@pytest.mark.parametrize(
    'name', ['inverse_dynamics', 'forward_dynamics', 'mass_matrix', 'forward_kinematics', 'energy']
)
def test_any_number_of_rows(robot, state, results, name, size):
    out = call(robot, name, [x[:size] for x in state.of(name)], LINK)
    assert out.shape == (size, *results[name].shape[1:])
    assert equal_bits(out, results[name][:size])


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize('name', NAMES)
def test_a_bad_number_affects_its_row_and_no_other(robot, state, results, name, bad):
    rows = 37
    for letter in ARGUMENTS[name]:
        arrays = [x[:rows].copy() for x in state.of(name)]
        broken = arrays[ARGUMENTS[name].index(letter)]
        broken[20, -1] = bad
        out = call(robot, name, arrays, LINK)
        good = np.arange(rows) != 20
        assert equal_bits(out[good], results[name][:rows][good]), f'{letter} of {name}'
        assert np.isnan(out[20]).all(), f'{letter} of {name}: {bad} left numbers behind'
        if name == 'inverse_dynamics':
            assert np.isnan(call(robot, name, [x[20] for x in arrays], LINK)).all()


@pytest.mark.parametrize('name', [name for name in NAMES if len(ARGUMENTS[name]) > 1])
def test_one_state_is_repeated_for_a_batch(robot, state, name):
    """Each argument in turn is the single one; repeating it by hand gives the same bits."""
    arrays = [x[:9] for x in state.of(name)]
    for k in range(len(arrays)):
        mixed = [x if i != k else x[0] for i, x in enumerate(arrays)]
        repeated = [x if i != k else np.repeat(x[:1], 9, axis=0) for i, x in enumerate(arrays)]
        assert equal_bits(call(robot, name, mixed, LINK), call(robot, name, repeated, LINK))


@pytest.mark.parametrize('rows', [1, 7, 8, 9, 30])
def test_a_number_may_be_one_for_each_row(robot, state, rows):
    q, v = state.q[:rows], state.v[:rows]
    dt = np.linspace(-0.2, 0.3, rows)
    expected = [robot.integrate(*row) for row in zip(q, v, dt)]
    found = robot.integrate(q, v, dt)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
    # one number counts for every row, one configuration as well
    assert equal_bits(robot.integrate(q, v, dt[-1]), robot.integrate(q, v, np.full(rows, dt[-1])))
    assert equal_bits(robot.integrate(q[0], v, dt), robot.integrate(q[:1].repeat(rows, 0), v, dt))


LAYOUTS = {
    'every second row': lambda x: np.repeat(x, 2, axis=0)[::2],
    'columns of a wider array': lambda x: np.hstack([x, x])[:, : x.shape[1]],
    'Fortran order': np.asfortranarray,
    'reversed twice': lambda x: x[::-1].copy()[::-1],
    'big endian': lambda x: x.astype('>f8'),
    'read only': lambda x: np.frombuffer(x.tobytes()).reshape(x.shape),
    'nested lists': lambda x: x.tolist(),
    'lists of arrays': list,
    'tuples': lambda x: tuple(map(tuple, x.tolist())),
}


@pytest.mark.parametrize('kind', LAYOUTS)
@pytest.mark.parametrize('name', ['inverse_dynamics', 'mass_matrix'])
def test_any_layout_of_the_same_numbers_gives_the_same_bits(robot, state, results, name, kind):
    arrays = [LAYOUTS[kind](x[:9].copy()) for x in state.of(name)]
    assert equal_bits(call(robot, name, arrays, LINK), results[name][:9])


@pytest.mark.parametrize(
    'convert',
    [
        lambda x: x[::1],
        lambda x: np.repeat(x, 3)[::3],
        lambda x: x[::-1].copy()[::-1],
        list,
        tuple,
        lambda x: x.astype('>f8'),
    ],
)
def test_any_layout_of_a_single_state_gives_the_same_bits(robot, state, convert):
    arrays = [x[3] for x in state.of('inverse_dynamics')]
    assert equal_bits(
        robot.inverse_dynamics(*map(convert, arrays)), robot.inverse_dynamics(*arrays)
    )


@pytest.mark.parametrize('dtype', [np.float32, np.float16, np.int64, np.int32, np.uint8])
def test_other_real_types_are_converted(robot, state, dtype):
    for rows in (slice(0, 5), 0):
        arrays = [np.abs(x[rows] * 3).astype(dtype) for x in state.of('inverse_dynamics')]
        expected = robot.inverse_dynamics(*(x.astype(float) for x in arrays))
        assert equal_bits(robot.inverse_dynamics(*arrays), expected)


def wrong_shapes(robot):
    nq, nv = robot.nq, robot.nv
    q, v = np.zeros(nq), np.zeros(nv)
    Q, V = np.zeros((4, nq)), np.zeros((4, nv))
    return [
        ((q[:-1], v, v), nq, nq - 1),
        ((np.zeros(nq + 1), v, v), nq, nq + 1),
        ((q, v[:-1], v), nv, nv - 1),
        ((q, v, np.zeros(nv + 1)), nv, nv + 1),
        ((Q[:, :-1], V, V), nq, nq - 1),
        ((Q, V, V[:, 1:]), nv, nv - 1),
        ((Q.T, V, V), nq, 4),
        ((Q, V[:3], V), 4, 3),
        ((Q[None], V, V), nq, 4),
        ((q, 0.0, v), nv, '()'),
        ((np.zeros(0), v, v), nq, 0),
        ((Q, V, V[:0]), 4, 0),
    ]


@pytest.mark.parametrize('which', range(12))
def test_wrong_shape_names_expected_and_given(robot, which):
    arrays, expected, given = wrong_shapes(robot)[which]
    with pytest.raises(ValueError) as error:
        robot.inverse_dynamics(*arrays)
    assert str(expected) in str(error.value) and str(given) in str(error.value), str(error.value)


@pytest.mark.parametrize(
    'bad',
    [
        np.zeros(23, complex),
        np.array(['a'] * 23),
        [None] * 23,
        np.zeros(23, bool),
        'text',
        {'a': 1},
        [[1.0], [1.0, 2.0]],
        np.zeros(23, object),
    ],
)
def test_wrong_type_is_a_value_error(robot, bad):
    zeros = np.zeros(robot.nv)
    if isinstance(bad, (np.ndarray, list)) and len(bad) == 23:
        bad = (
            bad[:1]
            if robot.nq == 1
            else (list(bad) * robot.nq)[: robot.nq]
            if isinstance(bad, list)
            else np.resize(bad, robot.nq)
        )
    with pytest.raises(ValueError):
        robot.inverse_dynamics(bad, zeros, zeros)
    with pytest.raises(ValueError):
        robot.mass_matrix(bad)


@pytest.mark.parametrize('name', NAMES)
def test_missing_and_surplus_arguments_are_type_errors(robot, name):
    q = np.zeros(robot.nq)
    if name in FRAME_FUNCTIONS:
        with pytest.raises(TypeError):
            getattr(robot, name)(q)
        return
    with pytest.raises(TypeError):
        getattr(robot, name)()
    with pytest.raises(TypeError):
        getattr(robot, name)(*[q] * (len(ARGUMENTS[name]) + 2))


def test_inputs_are_unchanged_and_results_are_new(robot, state):
    for rows in (slice(0, 9), 0):
        arrays = [x[rows].copy() for x in state.of('inverse_dynamics')]
        before = [x.copy() for x in arrays]
        first = robot.inverse_dynamics(*arrays)
        kept = first.copy()
        second = robot.inverse_dynamics(*(x + 0.1 for x in arrays))
        assert all(map(equal_bits, arrays, before))
        assert equal_bits(first, kept) and not np.shares_memory(first, second)
        assert first.flags.writeable and first.dtype == np.float64


def test_keyword_arguments_work_on_the_first_and_later_calls(state):
    robot = Robot.from_urdf(TEXT)
    q, v, a = (x[0] for x in state.of('inverse_dynamics'))
    results = [robot.inverse_dynamics(q=q, v=v, a=a) for _ in range(2)]
    results += [robot.inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a=a)]
    results += [
        robot.inverse_dynamics(q, v, a, None),
        robot.inverse_dynamics(q, v, a, external_forces=None),
    ]
    results += [robot.inverse_dynamics(q, v, a, {}), robot.inverse_dynamics(a=a, v=v, q=q)]
    assert all(equal_bits(x, results[0]) for x in results)


def test_threads_do_not_disturb_each_other(robot, state, results):
    """Four threads, single calls and batches mixed; every result must keep its bits."""
    failures = []
    single = np.array(
        [robot.inverse_dynamics(*(x[k] for x in state.of('inverse_dynamics'))) for k in range(200)]
    )

    def work(offset):
        for k in range(offset, 200, 4):
            if not equal_bits(
                robot.inverse_dynamics(*(x[k] for x in state.of('inverse_dynamics'))), single[k]
            ):
                failures.append(k)
            if k % 20 == offset and not equal_bits(
                robot.mass_matrix(state.q[:1000]), results['mass_matrix'][:1000]
            ):
                failures.append(('batch', k))

    threads = [threading.Thread(target=work, args=(offset,)) for offset in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
