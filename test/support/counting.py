# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A scalar that records its expression, to count the operations that a result needs.

As in any compiler of straight-line code, equal operations are shared, literal zeros and ones fold,
signs are free (as in the book's tables), and unused operations do not count.
"""

from numbers import Real


class Counting:
    """Number with its operation and operands; inputs have none."""

    __slots__ = ('value', 'operation', 'operands', 'key')
    _next_input = 0

    def __init__(self, value, operation=None, operands=()):
        self.value, self.operation, self.operands = float(value), operation, operands
        if operation is None:
            Counting._next_input += 1
            self.key = ('input', Counting._next_input)
        else:
            keys = [
                operand.key if isinstance(operand, Counting) else operand for operand in operands
            ]
            self.key = hash((operation, *(sorted(keys, key=hash) if operation != '/' else keys)))

    def __add__(self, other):
        if not _number(other):
            return NotImplemented
        return self if _is(other, 0) else Counting(self.value + float(other), '+', (self, other))

    __radd__ = __add__

    def __sub__(self, other):
        return NotImplemented if not _number(other) else self + (-other)

    def __rsub__(self, other):
        return NotImplemented if not _number(other) else -self + other

    def __mul__(self, other):
        if not _number(other):
            return NotImplemented
        if _is(other, 0):
            return 0.0
        if _is(other, 1):
            return self
        if _is(other, -1):
            return -self
        if (
            self.operation == 'sign'
        ):  # (-a) b = -(a b): signs move outward so that products are shared
            return -(self.operands[0] * other)
        if isinstance(other, Counting) and other.operation == 'sign':
            return -(self * other.operands[0])
        return Counting(self.value * float(other), '*', (self, other))

    __rmul__ = __mul__

    def __truediv__(self, other):
        return (
            NotImplemented
            if not _number(other)
            else Counting(self.value / float(other), '/', (self, other))
        )

    def __rtruediv__(self, other):
        return (
            NotImplemented
            if not _number(other)
            else Counting(float(other) / self.value, '/', (other, self))
        )

    def __neg__(self):
        return (
            self.operands[0]
            if self.operation == 'sign'
            else Counting(-self.value, 'sign', (self,))
        )

    def __float__(self):
        return self.value


def _number(x):
    return isinstance(x, (Counting, Real))


def _is(x, constant):
    return not isinstance(x, Counting) and x == constant


def count(results):
    """Return the multiplications, additions and divisions of all `results` together."""
    needed, stack = {}, [x for x in results if isinstance(x, Counting)]
    while stack:
        node = stack.pop()
        if node.key not in needed:
            needed[node.key] = node.operation
            stack.extend(x for x in node.operands if isinstance(x, Counting))
    operations = list(needed.values())
    return operations.count('*'), operations.count('+'), operations.count('/')
