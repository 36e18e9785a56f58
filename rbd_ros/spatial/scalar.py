# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Elementary functions of a generic scalar.

A scalar supports ``+ - * /``: a float, a fraction, a dual number, a symbol. A scalar type may have
methods sin, cos, ...; floats use `math`, and all others NumPy. The functions in this module (but
no spatial quantity) also accept arrays.
"""

from itertools import chain
import math
from typing import Any, Callable, Iterable, List, Sequence

import numpy as np
from numpy.typing import NDArray

# No type means "closed under + - * / with floats and integers", so a scalar is typed as Any.
Scalar = Any
# An array of scalars: of floats, or of objects where the scalars are symbols.
ScalarArray = NDArray[Any]


def sin(x: Scalar) -> Scalar:
    """Return the sine of `x` [rad]."""
    return _call('sin', x)


def cos(x: Scalar) -> Scalar:
    """Return the cosine of `x` [rad]."""
    return _call('cos', x)


def sqrt(x: Scalar) -> Scalar:
    """Return the square root of `x`."""
    return _call('sqrt', x)


def tanh(x: Scalar) -> Scalar:
    """Return the hyperbolic tangent of `x`."""
    return _call('tanh', x)


def arctan2(y: Scalar, x: Scalar) -> Scalar:
    """Return the angle of the point (x, y) of the first quadrant, 0 to pi/2 [rad]."""
    method = getattr(y, 'arctan2', None)
    return method(x) if method is not None else np.arctan2(y, x)


def four_quadrant_angle(y: Scalar, x: Scalar) -> Scalar:
    """Return the angle of the point (x, y), -pi to pi [rad]; not for the origin."""
    first = arctan2(absolute(y), absolute(x))
    upper = where_positive(x, first, math.pi - first)
    return where_positive(y, upper, -upper)


def is_zero(x: Scalar) -> bool:
    """Return whether `x` is a known zero, unlike a symbol or an array."""
    return isinstance(x, (int, float)) and x == 0


def where_positive(condition: Scalar, yes: Scalar, no: Scalar) -> Scalar:
    """Return `yes` where `condition` > 0, otherwise `no`; both are evaluated."""
    method = getattr(condition, 'where_positive', None)
    if method is not None:
        return method(yes, no)
    if isinstance(condition, np.ndarray):
        return np.where(condition > 0, yes, no)
    return yes if condition > 0 else no


def inner(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """Return the scalar product of two sequences of equal length.

    It is for functions with many of them: a scalar type may treat each as one operation.
    """
    for x in chain(a, b):
        method = getattr(x, 'inner_product', None)
        if method is not None:
            return method(a, b)
    return sum((x * y for x, y in zip(a, b)), 0)


def simd_hint(*sequences: Iterable[Scalar]) -> None:
    """Declare that corresponding elements of sequences come from the same operations.

    It affects results by rounding only, but may affect speed: machine code of such sequences is
    ordered for few registers.
    """
    for values in zip(*sequences):
        for k, x in enumerate(values):
            method = getattr(x, 'declare_isomorphic', None)
            if method is not None:
                method(values[k + 1 :])
                break


def derivatives(
    function: Callable[[List[Scalar]], Sequence[Scalar]],
    at: Sequence[Scalar],
    rates: Sequence[Sequence[Scalar]],
) -> List[List[Scalar]]:
    """Return the derivatives of a function along directions of its arguments.

    Only for scalars that record their operations, such as symbols.

    :param function: function from a list of scalars to its values
    :param at: arguments at which to differentiate
    :param rates: rates of the arguments along each direction, (directions, len(at)); arguments
        with only zero rates are constant
    :return: a row for each value, a column for each direction
    :raises TypeError: if no argument records its operations
    """
    for x in at:
        method = getattr(x, 'derivatives', None)
        if method is not None:
            found: List[List[Scalar]] = method(function, at, rates)
            return found
    raise TypeError('a plain number has no derivatives; use a symbol')


def absolute(x: Scalar) -> Scalar:
    """Return the magnitude of `x`."""
    return where_positive(x, x, -x)


def maximum(values: Iterable[Scalar]) -> Scalar:
    """Return the maximum of at least one value."""
    values = iter(values)
    result = next(values)
    for value in values:
        result = where_positive(value - result, value, result)
    return result


def clip(x: Scalar, bound: Scalar) -> Scalar:
    """Limit `x` to the range from -`bound` to `bound`; NaN stays NaN."""
    return where_positive(x - bound, bound, where_positive(-bound - x, -bound, x))


def _call(function: str, x: Scalar) -> Scalar:
    if type(x) is float:
        try:
            return getattr(math, function)(x)
        except ValueError:  # sin(inf) is NaN, like inf - inf; math alone would raise
            return math.nan
    method = getattr(x, function, None)
    return method() if method is not None else getattr(np, function)(x)
