# SPDX-License-Identifier: Apache-2.0
"""Kinds of arrays over the inertial parameters, ten of each body."""

from __future__ import annotations

from rbd_ros.algorithms.array_kinds.array import Array
from rbd_ros.algorithms.array_kinds.array_layouts import listed, row_by_row

TORQUE_REGRESSOR = Array(
    'Y',
    'generalized forces per inertial parameter',
    '',
    ('nv', 'parameters'),
    from_tree=lambda model, Y: row_by_row(
        list(zip(*(model.independent_force(column) for column in zip(*Y))))
    ),
    flat=row_by_row,
)
MOMENTUM_REGRESSOR = Array(
    'Y',
    'spatial momentum per inertial parameter',
    '',
    (6, 'parameters'),
    from_tree=lambda model, Y: row_by_row(Y),
    flat=row_by_row,
)
PARAMETER_ROW = Array(
    'y', 'a number per inertial parameter', '', ('parameters',), from_tree=listed
)
