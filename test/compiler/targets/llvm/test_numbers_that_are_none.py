# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""NaN or infinity in an input makes the whole result of its state NaN, and no other."""

import numpy as np
import pytest
from support.small_kernels import kernel

from rbd_ros.compiler.targets.llvm import straight_line

BAD = [np.nan, np.inf, -np.inf]


@pytest.fixture(scope='module')
def fussy():
    """Return the kernel whose outputs are a constant, a copy.

    And a function that needs one input only.
    """
    return kernel(lambda x, y: [5.0, 0.0, x[0], -x[1], y[1].sin()], [('x', 2), ('y', 9)], (5,))


@pytest.mark.parametrize('bad', BAD)
@pytest.mark.parametrize('place', range(11))
def test_one_bad_input_affects_every_output(fussy, bad, place):
    inputs = np.ones(11)
    inputs[place] = bad
    assert np.isnan(fussy(inputs[:2], inputs[2:])).all()
    assert np.isnan(fussy.function(inputs[:2].copy(), inputs[2:].copy())).all()


@pytest.mark.parametrize('bad', BAD)
@pytest.mark.parametrize('rows', [1, 2, 7, 8, 9, 40])
def test_rows_without_a_bad_input_are_untouched(fussy, bad, rows, rng):
    x, y = rng.normal(size=(rows, 2)), rng.normal(size=(rows, 9))
    clean = fussy(x, y)
    y[rows // 2, 8] = bad
    result = fussy(x, y)
    assert np.isnan(result[rows // 2]).all()
    np.testing.assert_array_equal(np.delete(result, rows // 2, 0), np.delete(clean, rows // 2, 0))


def test_the_largest_numbers_are_numbers(fussy):
    x, y = np.full(2, 1.7e308), np.ones(9)
    assert fussy(x, y)[2:4].tolist() == [1.7e308, -1.7e308]
    assert np.isfinite(fussy(np.tile(x, (9, 1)), np.tile(y, (9, 1)))).all()


@pytest.mark.parametrize('widest', [1, 2, 4, 8])
@pytest.mark.parametrize('parts', [False, True])
def test_no_place_of_any_array_is_overlooked(widest, parts, monkeypatch):
    monkeypatch.setattr(straight_line, 'angles_together', lambda: widest)
    if parts:
        monkeypatch.setattr(straight_line, '_MANY_NODES', 0)
        monkeypatch.setattr(straight_line, '_NODES_PER_PART', 2)
    sizes = [1, 0, 2, 3, 5, 8, 11]
    compiled = kernel(
        lambda *arrays: [4.0, arrays[0][0], -arrays[2][1], arrays[0][0] * arrays[3][0] + 1.0],
        [(f'x{k}', size) for k, size in enumerate(sizes)],
        (4,),
    )
    for array, size in enumerate(sizes):
        for place in range(size):
            for bad in BAD:
                arguments = [np.ones(n) for n in sizes]
                arguments[array][place] = bad
                assert np.isnan(compiled(*arguments)).all()
                rows = [np.ones((19, n)) for n in sizes]
                rows[array][13, place] = bad
                result = compiled(*rows)
                assert np.isnan(result[13]).all()
                assert (np.delete(result, 13, 0) == [4.0, 1.0, -1.0, 2.0]).all()


@pytest.mark.parametrize(
    'value', [0.0, -0.0, 5e-324, -2e-310, 2.0**-1022, -1.7976931348623157e308]
)
def test_finite_inputs_give_no_nan_and_no_minus_zero(value):
    compiled = kernel(lambda x: [x[0], -x[0], x[0] * 0.5, x[1], 0.0, -0.0], [('x', 2)], (6,))
    expected = np.array([value, -value, value * 0.5, 1.0, 0.0, 0.0]) + 0.0
    x = np.array([value, 1.0])
    rows = np.tile(x, (9, 1))
    rows[3, 1] = np.inf  # beside a bad row, too
    assert compiled(x).tobytes() == expected.tobytes()
    result = compiled(rows)
    for k in (0, 2, 4, 8):
        assert result[k].tobytes() == expected.tobytes()
