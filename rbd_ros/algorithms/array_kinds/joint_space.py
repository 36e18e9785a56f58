# SPDX-License-Identifier: Apache-2.0
"""Kinds of arrays in joint space: positions, velocities, forces, inertia."""

from __future__ import annotations

from dataclasses import replace

from rbd_ros.algorithms.array_kinds.array import Array
from rbd_ros.algorithms.array_kinds.array_layouts import (
    cube,
    position_rates,
    row_by_row,
    square,
    symmetric,
)
from rbd_ros.model import Model

CONFIGURATION = Array(
    'q',
    'configuration',
    '[rad, m]',
    ('nq',),
    to_tree=Model.tree_position,
    tangents=position_rates,
)
VELOCITY = Array(
    'v',
    'velocity',
    '[rad/s, m/s]',
    ('nv',),
    to_tree=Model.tree_velocity,
    from_tree=Model.independent_velocity,
)
ACCELERATION = replace(VELOCITY, symbol='a', meaning='acceleration', unit='[rad/s^2, m/s^2]')
FORCE = Array('tau', 'generalized force', '[N m, N]', ('nv',), from_tree=Model.independent_force)
INERTIA_MATRIX = Array(
    'H',
    'joint-space inertia matrix',
    '[kg m^2, kg m, kg]',
    ('nv', 'nv'),
    from_tree=lambda model, H: symmetric(model.independent_matrix(H)),
    flat=symmetric,
    symmetric=True,
)
INVERSE_INERTIA_MATRIX = replace(
    INERTIA_MATRIX,
    symbol='H_inverse',
    meaning='inverse of the joint-space inertia matrix',
    unit='[1/(kg m^2), 1/(kg m), 1/kg]',
)
MATRIX = Array('C', 'matrix over joint space', '', ('nv', 'nv'), from_tree=square, flat=row_by_row)
CORIOLIS_TENSOR = Array(
    'C',
    'Coriolis and centrifugal force per product of two velocities',
    '[kg m^2, kg m, kg]',
    ('nv', 'nv', 'nv'),
    from_tree=cube,
    flat=lambda C: [x for matrix in C for row in matrix for x in row],
)
TENSOR = replace(
    CORIOLIS_TENSOR, symbol='D', meaning='second derivatives over joint space', unit=''
)
DIAGONAL = Array(
    'diagonal',
    'constants added to the diagonal of the inertia matrix',
    '[kg m^2, kg]',
    ('nv',),
    default=lambda model: (0.0,) * model.nv,
)
KNOWN = Array(
    'known',
    'generalized force or acceleration, whichever is given',
    '[N m, N or rad/s^2, m/s^2]',
    ('nv',),
)
PARTITION = Array(
    'forward',
    '1 for each degree of freedom with a given force, 0 for one with a given acceleration',
    '',
    ('nv',),
)
TIME = Array('dt', 'time', '[s]', (), usual=1.0)
UNIFORM = Array('u', 'uniform random numbers', '', ('uniforms',))
SCALAR = Array('x', 'number', '', (), None, lambda model, x: [x], lambda x: [x])
