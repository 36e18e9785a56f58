# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A scalar that counts all operations executed on it.

No operation is shared or folded. Signs are free, as in the book's tables.
"""

from collections import Counter
import math


class Tally:
    """Number that counts its operations."""

    __slots__ = ('value', 'operations')

    def __init__(self, value, operations):
        self.value, self.operations = float(value), operations

    @classmethod
    def nested(cls, values, operations):
        """Return nested lists of numbers as lists of counting numbers."""
        if hasattr(values, '__iter__'):
            return [cls.nested(x, operations) for x in values]
        return cls(values, operations)

    def _of(self, operation, value):
        self.operations[operation] += 1
        return Tally(value, self.operations)

    def __add__(self, other):
        return self._of('additions', self.value + float(other))

    def __radd__(self, other):
        return self._of('additions', float(other) + self.value)

    def __sub__(self, other):
        return self._of('additions', self.value - float(other))

    def __rsub__(self, other):
        return self._of('additions', float(other) - self.value)

    def __mul__(self, other):
        return self._of('multiplications', self.value * float(other))

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self._of('divisions', self.value / float(other))

    def __rtruediv__(self, other):
        return self._of('divisions', float(other) / self.value)

    def __neg__(self):
        return Tally(-self.value, self.operations)

    def __float__(self):
        return self.value

    def sqrt(self):
        """Return the square root."""
        return self._of('square_roots', math.sqrt(self.value))

    def sin(self):
        """Return the sine, which does not count."""
        return Tally(math.sin(self.value), self.operations)

    def cos(self):
        """Return the cosine, which does not count."""
        return Tally(math.cos(self.value), self.operations)


def counted(function, *arguments):
    """Return the result of a function on counting numbers, and the operations that it executed.

    :param arguments: numbers, or nested lists of them
    """
    operations = Counter()
    result = function(*(Tally.nested(x, operations) for x in arguments))
    return result, dict(operations)
