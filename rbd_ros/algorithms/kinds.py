# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Kinds of inputs and outputs of algorithms.

A kind has a user's view (a name, a shape in independent coordinates, a unit) and that of an
algorithm's function. Functions on tree coordinates have every joint; gears convert between the
two: q_tree = gamma(q), v_tree = G v, tau = G^T tau_tree (book 3.2, 9.6). Only the layouts in
array.py apply them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import FrozenSet, get_args, Iterable, Literal, Sequence, Tuple

from rbd_ros.algorithms.array import (
    Array,
    as_list,
    body_frames,
    by_body,
    Choice,
    columns,
    cube,
    motion_columns,
    pose,
    poses,
    position_rates,
    row_by_row,
    square,
    symmetric,
    unchanged,
    Wrenches,
)
from rbd_ros.model import Frame, Model
from rbd_ros.model.errors import unknown_name

# -- compile-time choices

#: Coordinates of a velocity, see `Robot.jacobian`.
Reference = Literal['body', 'base', 'aligned']
REFERENCES = get_args(Reference)


def _reference(model: Model, name: str) -> str:
    if name not in REFERENCES:
        raise ValueError(unknown_name('reference', name, REFERENCES))
    return name


def _frame(model: Model, name: str) -> Frame:
    if name is None:
        raise ValueError('no frame is given; name a link or a joint')
    return model.frame(name)


def _frames(model: Model, names: Sequence[str]) -> Tuple[Frame, ...]:
    if isinstance(names, str) or not names:
        raise ValueError('no frames are given; name at least one link or joint')
    return tuple(_frame(model, name) for name in names)


def _bodies_of_joints(model: Model, names: Iterable[str]) -> FrozenSet[int]:
    if names is None or isinstance(names, str):
        raise ValueError('no joints are given; give a tuple of names')
    numbers = {model.body(i).joint_name: i for i in model.independent}
    for name in names:
        if name not in numbers:
            raise ValueError(unknown_name('joint', name, numbers))
    return frozenset(numbers[name] for name in names)


FRAME = Choice('frame', 'link or joint by name', _frame)
FRAMES = Choice('frames', 'links or joints by name', _frames)
REFERENCE = Choice('reference', 'what a velocity is expressed in', _reference, 'body')
FORWARD_JOINTS = Choice(
    'forward_joints', 'joints whose forces are given, by name', _bodies_of_joints
)
EXTERNAL_FORCES = Wrenches()

# -- joint space

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
TIME = Array('dt', 'time', '[s]', (), call_default=1.0)
UNIFORM = Array('u', 'uniform random numbers', '', ('uniforms',))
SCALAR = Array('x', 'number', '', (), None, lambda model, x: [x], lambda x: [x])

# -- points, frames and bodies, spatial vectors and matrices

POINT = Array('point', 'point in the coordinates of the frame', '[m]', (3,), unchanged)
POSITION = Array('p', 'point in base coordinates', '[m]', (3,), unchanged, as_list)
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
MOMENTUM = Array('h', 'spatial momentum in base coordinates', '[N m s, N s]', (6,), None, as_list)
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
TWIST = Array('velocity', 'spatial velocity, angular first', '[rad/s, m/s]', (6,), None, as_list)
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
WRENCH = Array('force', 'spatial force [n; f] on a frame', '[N m, N]', (6,), None, as_list)
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

# -- joints that close kinematic loops (book ch. 8)

LOOP_RESIDUAL = Array(
    'residual',
    'how far each loop joint is from being closed, along its constraint forces',
    '[rad, m]',
    ('constraints',),
    from_tree=as_list,
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
    to_tree=unchanged,
)
LOOP_POSITION = Array(
    'position',
    'displacement of each loop joint along its degrees of freedom',
    '[rad, m]',
    ('loop dofs',),
    from_tree=as_list,
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
    to_tree=unchanged,
)
LOOP_WRENCHES = Array(
    'wrenches',
    'spatial force [n; f] of each loop joint on its successor, in base coordinates',
    '[N m, N]',
    ('loops', 6),
    from_tree=lambda model, forces: [x for force in forces for x in force],
)

# -- inertial parameters, ten of each body

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
    'y', 'a number per inertial parameter', '', ('parameters',), from_tree=as_list
)
