# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Kinds of arrays of a floating base, without those of its joints."""

from __future__ import annotations

from dataclasses import replace

from rbd_ros.algorithms.array import Array, row_by_row, symmetric

BASE_ACCELERATION = Array(
    'a0',
    'spatial acceleration of the base in its coordinates',
    '[rad/s^2, m/s^2]',
    (6,),
)
BASE_FORCE = Array('f0', 'spatial force on the base in its coordinates', '[N m, N]', (6,))
BASE_MOMENTUM = replace(
    BASE_FORCE, symbol='h', meaning='spatial momentum in base coordinates', unit='[N m s, N s]'
)
JOINT_ACCELERATION = Array('qdd', 'acceleration of the joints', '[rad/s^2, m/s^2]', ('nv - 6',))
JOINT_FORCE = Array('tau', 'generalized force of the joints', '[N m, N]', ('nv - 6',))
JOINT_INERTIA = Array(
    'H',
    'inertia matrix of the joints',
    '[kg m^2, kg m, kg]',
    ('nv - 6', 'nv - 6'),
    flat=symmetric,
    symmetric=True,
)
JOINT_MOMENTUM = Array(
    'F',
    'momentum in base coordinates per velocity of the joints',
    '[kg m^2, kg m, kg]',
    (6, 'nv - 6'),
    flat=row_by_row,
)
JOINT_JACOBIAN = Array(
    'J',
    'Jacobian of a spatial velocity by those of the joints, angular rows first',
    '',
    (6, 'nv - 6'),
    flat=row_by_row,
)
