# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Machine code of random expressions against direct evaluation, for one state and many."""

import math

from hypothesis import assume, given, HealthCheck, settings, strategies as st
import numpy as np
from support.small_kernels import kernel

from rbd_ros.spatial.scalar import cos, sin, sqrt, where_positive

INPUTS = 3
EPS = 2.0**-52
VALUES = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 3.0]), st.floats(-1e3, 1e3, allow_subnormal=False)
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(['+', '-', '*', '/', 'neg', 'sin', 'cos', 'sqrt', 'where', 'constant']),
        st.tuples(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99)),
        VALUES,
    ),
    min_size=1,
    max_size=25,
)


class Bounded:
    """A float with a bound of how far any order of rounding may lead from it."""

    def __init__(self, value, error):
        assume(abs(value) < 1e12)
        self.value, self.error = value, error + EPS * abs(value)

    def __add__(self, other):
        other = bounded(other)
        return Bounded(self.value + other.value, self.error + other.error)

    __radd__ = __add__

    def __neg__(self):
        return Bounded(-self.value, self.error)

    def __sub__(self, other):
        return self + -bounded(other)

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        other = bounded(other)
        error = abs(self.value) * other.error + self.error * (abs(other.value) + other.error)
        return Bounded(self.value * other.value, error)

    __rmul__ = __mul__

    def __truediv__(self, other):
        other = bounded(other)
        least = abs(other.value) - other.error
        assume(least > 1e-3)
        value = self.value / other.value
        return Bounded(value, (self.error + abs(value) * other.error) / least + EPS * abs(value))

    def __rtruediv__(self, other):
        return bounded(other) / self

    def sin(self):
        return Bounded(math.sin(self.value), self.error + EPS)

    def cos(self):
        return Bounded(math.cos(self.value), self.error + EPS)

    def sqrt(self):
        assume(self.value - self.error > 1e-6)
        return Bounded(math.sqrt(self.value), self.error / math.sqrt(self.value - self.error))

    def where_positive(self, yes, no):
        assume(abs(self.value) > self.error)
        return yes if self.value > 0 else no


def bounded(x):
    return x if isinstance(x, Bounded) else Bounded(float(x), 0.0)


def program(steps):
    """Return a function of scalars that runs the steps and returns all intermediate results."""

    def run(x):
        values = list(x)
        for operation, operands, constant in steps:
            a, b, c = (values[k % len(values)] for k in operands)
            if operation == '+':
                value = a + b
            elif operation == '-':
                value = a - b
            elif operation == '*':
                value = a * b
            elif operation == '/':
                value = a if isinstance(b, float) and b == 0.0 else a / b
            elif operation == 'neg':
                value = -a
            elif operation == 'where':
                value = where_positive(a, b, c)
            elif operation == 'constant':
                value = a * constant + constant
            else:
                function = {'sin': sin, 'cos': cos, 'sqrt': sqrt}[operation]
                value = function(a)
            values.append(value)
        return values[len(x) :]

    return run


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS, rows=st.lists(st.tuples(*[VALUES] * INPUTS), min_size=1, max_size=3))
def test_compiled_expressions_equal_their_direct_evaluation(steps, rows):
    run = program(steps)
    expected = [[bounded(x) for x in run([Bounded(v, 0.0) for v in row])] for row in rows]
    compiled = kernel(run, [('x', INPUTS)], (len(steps),))
    batch = compiled(np.array(rows))
    for row, result, values in zip(rows, batch, expected):
        one = compiled(np.array(row))
        for x, y, reference in zip(one, result, values):
            assert abs(x - reference.value) <= 4.0 * reference.error + 1e-290
            assert abs(y - reference.value) <= 4.0 * reference.error + 1e-290


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS, row=st.tuples(*[VALUES] * INPUTS))
def test_one_state_and_many_give_the_same_bits(steps, row):
    compiled = kernel(program(steps), [('x', INPUTS)], (len(steps),))
    one = compiled(np.array(row))
    many = compiled(np.repeat([row], 11, axis=0))
    assert (many.view(np.uint64) == one.view(np.uint64)).all() or np.isnan(one).any()


def test_constants_are_exact_bitwise():
    constants = [0.1, -1 / 3, 5e-324, 1.7976931348623157e308, 2.0**-1022, -math.pi]
    compiled = kernel(lambda x: list(constants), shape=(len(constants),))
    assert compiled(np.zeros(1)).tolist() == constants
    assert compiled(np.zeros((9, 1)))[8].tolist() == constants


def test_subnormal_numbers_are_kept():
    compiled = kernel(lambda x: [x[0] * 0.5])
    assert compiled(np.array([2e-310])) == 1e-310
    assert (compiled(np.full((20, 1), 2e-310)) == 1e-310).all()


def test_choices_depend_on_the_sign_alone():
    compiled = kernel(
        lambda x: [x[0].where_positive(1.0, 2.0), (-x[0]).where_positive(1.0, 2.0)], shape=(2,)
    )
    cases = [(0.0, (2, 2)), (-0.0, (2, 2)), (5e-324, (1, 2)), (-5e-324, (2, 1)), (3.0, (1, 2))]
    for value, results in cases:
        assert tuple(compiled(np.array([value]))) == results
        assert (compiled(np.full((17, 1), value)) == results).all()


def test_a_function_with_very_many_outputs_is_right_in_every_one():
    def evaluate(x):
        return [(x[0] * k + x[1]) * (x[1] - k) for k in range(3000)]

    compiled = kernel(evaluate, [('x', 2)], (3000,))
    x = np.array([0.3, -1.7])
    k = np.arange(3000)
    expected = (0.3 * k - 1.7) * (-1.7 - k)
    np.testing.assert_allclose(compiled(x), expected, rtol=1e-14, atol=1e-12)
    np.testing.assert_array_equal(
        compiled(np.repeat([x], 19, axis=0)), np.repeat([compiled(x)], 19, axis=0)
    )


def test_a_function_may_have_no_inputs_and_no_outputs():
    nothing = kernel(lambda x: [], [('x', 0)], (0,))
    assert nothing(np.zeros(0)).shape == (0,) and nothing(np.zeros((12, 0))).shape == (12, 0)
    constant = kernel(lambda x: [3.0], [('x', 0)], (1,))
    assert constant(np.zeros(0)) == 3.0 and (constant(np.zeros((12, 0))) == 3.0).all()


def test_a_result_may_have_any_number_of_axes():
    cube = kernel(lambda x: [x[0] * k for k in range(24)], shape=(2, 3, 4))
    np.testing.assert_array_equal(cube(np.ones(1)), np.arange(24.0).reshape(2, 3, 4))
    assert cube(np.ones((5, 1))).shape == (5, 2, 3, 4)
    number = kernel(lambda x: [x[0]], shape=())
    single = number(np.array([2.0]))
    assert type(single) is float and single == 2.0 == number.function(np.array([2.0]))
    assert number(np.ones((5, 1))).shape == (5,)
