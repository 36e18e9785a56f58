# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Functions to be measured: declared algorithms of joint-space arrays."""

from __future__ import annotations

from typing import List

from rbd_ros.robot.kernels import declared

#: Functions that are measured by default; any algorithm can be.
FUNCTIONS = (
    'inverse_dynamics',
    'mass_matrix',
    'forward_dynamics',
    'gravity_torque',
    'bias_force',
    'forward_kinematics',
    'jacobian',
)

# Random array q, v or a for an input.
_STANDS_FOR = {'q': 0, 'v': 1, 'step': 1}


def label(function: str) -> str:
    """Return the name of a function in a table.

    :raises ValueError: for an unknown function
    """
    return declared(function).name.replace('_', ' ')


def inputs(function: str) -> List[int]:
    """Return which of q, v and a (or arrays of that size) a function takes, 0 to 2, in order.

    :raises ValueError: for an unknown function, or one with other arguments
    """
    algorithm = declared(function)
    found = []
    for symbol, kind in algorithm.arrays.items():
        if kind.default is None:
            if kind.dimensions not in (('nq',), ('nv',)):
                raise ValueError(f'{function!r} cannot be measured: it takes a {symbol}')
            found.append(_STANDS_FOR.get(symbol, 2))
    return found
