"""Not-a-number and infinity in an input spoil the whole result of their state, nothing else."""

import numpy as np
import pytest
from support.small_kernels import kernel

BAD = [np.nan, np.inf, -np.inf]


@pytest.fixture(scope='module')
def fussy():
    """Kernel whose outputs are a constant, a copy, and a function that needs one input only."""
    return kernel(lambda x, y: [5.0, 0.0, x[0], -x[1], y[1].sin()], [('x', 2), ('y', 9)], (5,))


@pytest.mark.parametrize('bad', BAD)
@pytest.mark.parametrize('place', range(11))
def test_one_bad_input_spoils_every_output(fussy, bad, place):
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
