# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Operation counts of the recursions for chains of hinges in general position.

The tables of Saha 1999 count for n hinges with all four Denavit-Hartenberg numbers, a mass, a
center of mass and an inertia in general position.
"""

import numpy as np

from rbd_ros.textbook.denoc.recursive_forward_dynamics import recursive_forward_dynamics
from rbd_ros.textbook.denoc.recursive_inverse_dynamics import recursive_inverse_dynamics
from rbd_ros.textbook.models.dh import DHLink, distal_chain
from support.counting import count, Counting


class Angle(Counting):
    """Joint variable of a hinge, whose sine and cosine come for free."""

    __slots__ = ('_sin', '_cos')

    def __init__(self, value):
        super().__init__(value)
        self._sin, self._cos = Counting(np.sin(value)), Counting(np.cos(value))

    def sin(self):
        return self._sin

    def cos(self):
        return self._cos


def general_chain(n):
    """Return the model of n hinges in general Denavit-Hartenberg form."""
    rng = np.random.default_rng(5)
    table = []
    for _ in range(n):
        A = rng.normal(size=(3, 3))
        I = A @ A.T
        table.append(
            DHLink(
                a=rng.uniform(0.1, 0.5),
                alpha=rng.uniform(0.2, 1.3),
                d=rng.uniform(0.1, 0.5),
                mass=rng.uniform(1.0, 2.0),
                center=tuple(rng.normal(size=3)),
                inertia=tuple(map(tuple, (I + I.T) / 2.0)),
            )
        )
    return distal_chain('general', table)


def inputs(n):
    rng = np.random.default_rng(6)
    q = [Angle(x) for x in rng.uniform(-1, 1, n)]
    return q, [Counting(x) for x in rng.normal(size=n)], [Counting(x) for x in rng.normal(size=n)]


def count_inverse_dynamics(n):
    """Return the multiplications, additions and divisions."""
    return count(recursive_inverse_dynamics(general_chain(n), *inputs(n)))


def count_forward_dynamics(n):
    """Return the multiplications, additions and divisions."""
    return count(recursive_forward_dynamics(general_chain(n), *inputs(n)))
