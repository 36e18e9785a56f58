# SPDX-License-Identifier: Apache-2.0
"""Kinds of arrays of the joints that close kinematic loops (book ch. 8)."""

from __future__ import annotations

from dataclasses import replace

from rbd_ros.algorithms.array_kinds.array import Array
from rbd_ros.algorithms.array_kinds.array_layouts import as_it_is, listed
from rbd_ros.algorithms.array_kinds.frames import JACOBIAN

LOOP_RESIDUAL = Array(
    'residual',
    'how far each loop joint is from being closed, along its constraint forces',
    '[rad, m]',
    ('constraints',),
    from_tree=listed,
)
LOOP_JACOBIAN = replace(
    JACOBIAN,
    symbol='K',
    meaning='velocity of the loop joints along their constraint forces per velocity',
    dimensions=('constraints', 'nv'),
)
LOOP_VELOCITY = replace(
    LOOP_RESIDUAL,
    symbol='velocity',
    meaning='velocity of the loop joints along their constraint forces',
    unit='[rad/s, m/s]',
)
LOOP_BIAS = replace(
    LOOP_RESIDUAL,
    symbol='k',
    meaning='right-hand side of K a = k, without stabilization',
    unit='[rad/s^2, m/s^2]',
)
LOOP_MULTIPLIERS = replace(
    LOOP_RESIDUAL,
    symbol='multipliers',
    meaning='constraint force variables lambda of the loop joints',
    unit='[N m, N]',
    to_tree=as_it_is,
)
LOOP_POSITION = Array(
    'position',
    'displacement of each loop joint along its degrees of freedom',
    '[rad, m]',
    ('loop freedoms',),
    from_tree=listed,
)
LOOP_RATE = replace(
    LOOP_POSITION,
    symbol='rate',
    meaning='velocity of each loop joint along its degrees of freedom',
    unit='[rad/s, m/s]',
)
LOOP_FORCES = replace(
    LOOP_POSITION,
    symbol='loop_forces',
    meaning='active generalized forces of the loop joints',
    unit='[N m, N]',
    to_tree=as_it_is,
)
LOOP_WRENCHES = Array(
    'wrenches',
    'spatial force [n; f] of each loop joint on its successor, in base coordinates',
    '[N m, N]',
    ('loops', 6),
    from_tree=lambda model, forces: [x for force in forces for x in force],
)
