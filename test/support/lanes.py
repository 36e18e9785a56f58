# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A scalar that is an array of numbers, to run an algorithm on a batch without the compiler."""

import numpy as np


class Lanes:
    """Array of values that behaves like one number.

    It supports + - * /, sine, cosine, square root and choice by sign.
    """

    __slots__ = ('x',)
    __array_ufunc__ = None  # so that numpy.float64 * Lanes calls the method of Lanes

    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return Lanes(self.x + _plain(other))

    __radd__ = __add__

    def __sub__(self, other):
        return Lanes(self.x - _plain(other))

    def __rsub__(self, other):
        return Lanes(_plain(other) - self.x)

    def __mul__(self, other):
        if type(other) is not Lanes and not isinstance(other, (int, float, np.number)):
            return NotImplemented
        return Lanes(self.x * _plain(other))

    __rmul__ = __mul__

    def __truediv__(self, other):
        return Lanes(self.x / _plain(other))

    def __rtruediv__(self, other):
        return Lanes(_plain(other) / self.x)

    def __neg__(self):
        return Lanes(-self.x)

    def sin(self):
        return Lanes(np.sin(self.x))

    def cos(self):
        return Lanes(np.cos(self.x))

    def sqrt(self):
        return Lanes(np.sqrt(self.x))

    def where_positive(self, yes, no):
        return Lanes(np.where(np.real(self.x) > 0, _plain(yes), _plain(no)))


def _plain(other):
    return other.x if type(other) is Lanes else other


def evaluate(definition, *arrays):
    """Return the result of a function's `Definition` on arrays (N, n), by the interpreter.

    Several outputs are concatenated, flat.
    """
    rows = max(len(x) for x in arrays if np.ndim(x) == 2)
    columns = [
        [Lanes(column) for column in np.broadcast_to(x, (rows, np.shape(x)[-1])).T] for x in arrays
    ]
    with np.errstate(all='ignore'):
        flat = [x for values in definition.evaluate(*columns) for x in values]
    out = np.empty((rows, len(flat)), dtype=np.result_type(float, *arrays))
    for k, value in enumerate(flat):
        out[:, k] = _plain(value)
    shape = definition.outputs[0].shape if len(definition.outputs) == 1 else (-1,)
    return out.reshape(rows, *shape)
