# SPDX-License-Identifier: Apache-2.0
"""Kinds of arrays of points, frames and bodies, and of spatial vectors and matrices."""

from __future__ import annotations

from dataclasses import replace

from rbd_ros.algorithms.array_kinds.array import Array
from rbd_ros.algorithms.array_kinds.array_layouts import (
    as_it_is,
    body_frames,
    by_body,
    columns,
    listed,
    motion_columns,
    pose,
    poses,
    row_by_row,
    symmetric,
)

POINT = Array('point', 'point in the coordinates of the frame', '[m]', (3,), as_it_is)
POSITION = Array('p', 'point in base coordinates', '[m]', (3,), as_it_is, listed)
JACOBIAN = Array(
    'J',
    'Jacobian of a spatial velocity, angular rows first',
    '',
    (6, 'nv'),
    from_tree=columns,
    flat=row_by_row,
)
BASE_FORCES = replace(
    JACOBIAN,
    symbol='F',
    meaning='spatial force [n; f] on the base per unit of acceleration, in base coordinates',
    unit='[kg m^2, kg m, kg]',
)
POINT_JACOBIAN = replace(
    JACOBIAN, meaning='Jacobian of the velocity of a point', dimensions=(3, 'nv')
)
MOMENTUM = Array('h', 'spatial momentum in base coordinates', '[N m s, N s]', (6,), None, listed)
SPATIAL_MATRIX = Array(
    'M',
    'matrix over spatial vectors',
    '',
    (6, 6),
    None,
    lambda model, rows: row_by_row(rows),
    row_by_row,
)
SPATIAL_INERTIA = Array(
    'I',
    'spatial inertia',
    '[kg m^2, kg m, kg]',
    (6, 6),
    from_tree=lambda model, rows: symmetric(rows),
    flat=symmetric,
    symmetric=True,
)
POSE = Array(
    'T',
    'pose in the base frame',
    '[1, m]',
    (4, 4),
    from_tree=lambda model, X: pose(X),
)
TWIST = Array('velocity', 'spatial velocity, angular first', '[rad/s, m/s]', (6,), None, listed)
TWIST_RATE = replace(
    TWIST, symbol='acceleration', meaning='rate of a spatial velocity', unit='[rad/s^2, m/s^2]'
)
FRAMES_MATRIX = replace(
    SPATIAL_MATRIX,
    meaning='matrix over the spatial vectors of some frames',
    dimensions=('6 frames', '6 frames'),
)
FRAMES_TWIST_RATE = replace(
    TWIST_RATE, meaning='rates of the spatial velocities of some frames', dimensions=('6 frames',)
)
WRENCH = Array('force', 'spatial force [n; f] on a frame', '[N m, N]', (6,), None, listed)
LINK_POSES = Array(
    'poses',
    'pose of each link in the base frame',
    '[1, m]',
    ('links', 4, 4),
    from_tree=poses,
)
BODY_FRAMES = Array(
    'frames',
    'rotation by rows, and position, of each body in base coordinates, base first',
    '[1, m]',
    ('bodies + 1', 12),
    from_tree=body_frames,
)
MOTION_COLUMNS = Array(
    'columns',
    'columns of the motion subspaces of all joints of the tree in base coordinates',
    '',
    ('tree_nv', 6),
    from_tree=motion_columns,
)
BODY_WRENCHES = Array(
    'wrenches',
    'spatial force [n; f] for each body, in its coordinates',
    '[N m, N]',
    ('bodies', 6),
    from_tree=by_body,
)
BODY_VELOCITIES = replace(
    BODY_WRENCHES,
    symbol='velocities',
    meaning='spatial velocity of each body in base coordinates',
    unit='[rad/s, m/s]',
)
BODY_ACCELERATIONS = replace(
    BODY_WRENCHES,
    symbol='accelerations',
    meaning='spatial acceleration of each body in base coordinates',
    unit='[rad/s^2, m/s^2]',
)
JOINT_FORCES = replace(
    BODY_WRENCHES,
    symbol='forces',
    meaning='spatial force [n; f] on each body from its parent, in base coordinates',
)
CENTROIDAL_MATRIX = replace(
    JACOBIAN,
    symbol='A',
    meaning='momentum about the center of mass per velocity',
    unit='[kg m^2, kg m, kg]',
)
CENTROIDAL_MOMENTUM = replace(
    MOMENTUM, meaning='momentum about the center of mass along the axes of the base'
)
CENTROIDAL_FORCE = replace(
    CENTROIDAL_MOMENTUM,
    symbol='hdot',
    meaning='rate of the momentum about the center of mass',
    unit='[N m, N]',
)
