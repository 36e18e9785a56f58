# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Transposition of rows to lanes and back: any size of row and number of lanes, shared results."""

from collections import namedtuple
import ctypes

import numpy as np
import pytest

from rbd_ros.compiler import Definition, Output
from rbd_ros.compiler.runtime import native
from rbd_ros.compiler.targets.llvm import kernel_functions

BATCH = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64, ctypes.c_int64)
LANES = (2, 4, 8)
SURROUNDED = 1234.5  # around the results, where nothing may be written


def run(lanes, sizes, shapes, evaluate, inputs, rows=None):
    """Return results of a batch function for a number of lanes, on any machine.

    :param sizes: of the input arrays
    :param shapes: of the output arrays
    :param inputs: arrays (N, n), or (n,) for one that is the same for all rows
    :param rows: first row and last, all if None
    """
    definition = Definition(
        name='function',
        inputs=tuple((f'x{k}', size) for k, size in enumerate(sizes)),
        outputs=tuple(Output(f'y{k}', shape) for k, shape in enumerate(shapes)),
        evaluate=evaluate,
        key={},
        result=namedtuple('Result', [f'y{k}' for k in range(len(shapes))]),
    )
    program = definition.program()
    code = native.MachineCode(native.assemble([kernel_functions.batch_function(program, lanes)]))
    count = next(len(x) for x in inputs if x.ndim == 2)
    results = [np.full((count + 2, *shape), SURROUNDED) for shape in shapes]
    scratch = np.empty(lanes * (sum(size for _, size in definition.inputs) + definition.size) + 8)
    strides = np.array([x.shape[1] if x.ndim == 2 else 0 for x in inputs], dtype=np.int64)
    ins = np.array([x.ctypes.data for x in inputs], dtype=np.uintp)
    outs = np.array([y[1:].ctypes.data for y in results], dtype=np.uintp)
    first, last = rows or (0, count)
    aligned = scratch.ctypes.data + -scratch.ctypes.data % 64
    BATCH(code.address('batch'))(
        ins.ctypes.data, strides.ctypes.data, outs.ctypes.data, aligned, first, last
    )
    for y in results:
        assert (y[[0, -1]] == SURROUNDED).all()
    return [y[1:-1] for y in results]


def numbered(rows, columns):
    """Return the array in which every element says where it is."""
    return np.arange(1.0, rows + 1)[:, None] * 1000.0 + np.arange(columns)


@pytest.mark.parametrize('lanes', LANES)
@pytest.mark.parametrize('size', [*range(1, 26), 31, 33, 97, 100, 104, 107, 200])
def test_rows_of_every_size_come_out_as_they_went_in(lanes, size):
    x = numbered(3 * lanes, size)
    (y,) = run(lanes, [size], [(size,)], lambda x: (x,), [x])
    np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize('lanes', LANES)
def test_any_number_of_rows_that_fills_the_lanes(lanes):
    for rows in range(lanes, 3 * lanes + 2):
        x = numbered(rows, 5)
        (y,) = run(lanes, [5], [(5,)], lambda x: (x,), [x])
        np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize('lanes', LANES)
def test_only_requested_rows_are_written(lanes):
    x = numbered(4 * lanes, 7)
    first, last = lanes - 1, 3 * lanes - 1
    (y,) = run(lanes, [7], [(7,)], lambda x: (x,), [x], (first, last))
    np.testing.assert_array_equal(y[first:last], x[first:last])
    assert (y[:first] == SURROUNDED).all() and (y[last:] == SURROUNDED).all()


@pytest.mark.parametrize('lanes', LANES)
def test_several_inputs_and_outputs_are_separate(lanes):
    x, y, z = numbered(2 * lanes + 1, 3), -numbered(2 * lanes + 1, 10), np.arange(1.0, 5.0)
    a, b, c, d = run(
        lanes,
        [3, 10, 4, 0],
        [(), (2, 3), (11,), (0,)],
        lambda x, y, z, w: ([x[2]], [*y[:3], *x], [*z, *y[3:]], []),
        [x, y, z, np.zeros(0)],
    )
    np.testing.assert_array_equal(a, x[:, 2])
    np.testing.assert_array_equal(b.reshape(-1, 6), np.hstack([y[:, :3], x]))
    np.testing.assert_array_equal(c, np.hstack([np.tile(z, (len(x), 1)), y[:, 3:]]))
    assert d.shape == (len(x), 0)


@pytest.mark.parametrize('lanes', LANES)
@pytest.mark.parametrize('n', [3, 6, 12])
def test_equal_results_are_stored_wherever_they_belong(lanes, n):
    """A symmetric matrix with zeros and constants, and its negative."""

    def symmetric(x):
        def element(i, j):
            i, j = max(i, j), min(i, j)
            return 0.0 if (i + j) % 3 == 0 else 2.5 if i == j else x[i] * x[j]

        values = [element(i, j) for i in range(n) for j in range(n)]
        return values, [-value for value in values]

    x = np.random.default_rng(n).normal(size=(2 * lanes + 3, n))
    results = run(lanes, [n], [(n, n), (n, n)], symmetric, [x])
    for row, H, negative in zip(x, *results):
        np.testing.assert_array_equal(H.ravel(), symmetric(row)[0])
        np.testing.assert_array_equal(H, H.T)
        np.testing.assert_array_equal(negative, -H)
        assert not np.signbit(negative[H == 0.0]).any()


@pytest.mark.parametrize('lanes', LANES)
def test_a_nan_row_affects_its_constants_too(lanes):
    x = numbered(2 * lanes + 1, 2)
    bad = lanes + 1
    x[bad, 1] = np.nan
    (y,) = run(lanes, [2], [(9,)], lambda x: ([*[0.0] * 4, x[0], 1.0, *[0.0] * 3],), [x])
    good = np.arange(len(x)) != bad
    assert np.isnan(y[bad]).all()
    np.testing.assert_array_equal(y[good][:, :4], 0.0)
    np.testing.assert_array_equal(y[good][:, 4], x[good][:, 0])
