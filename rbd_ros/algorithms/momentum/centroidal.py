# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Momentum about the center of mass: centroidal dynamics (Orin, Goswami and Lee 2013).

The axes are those of the base, the origin is the center of mass c of all moving bodies. The linear
momentum p is the same about any point; the angular momentum about c is n - c x p, with n that
about the origin of the base. Its rate is ndot - c x pdot, because c itself moves along p. Rotors
(armature) rotate within their bodies, and do not count.

Source: Orin, Goswami and Lee, "Centroidal dynamics of a humanoid robot", Autonomous Robots, 2013.
"""

import math
from typing import Dict, List, Sequence, Tuple, Union

from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.inverse_dynamics.rnea import transmitted_forces
from rbd_ros.algorithms.kinds import (
    ACCELERATION,
    CENTROIDAL_FORCE,
    CENTROIDAL_MATRIX,
    CENTROIDAL_MOMENTUM,
    CONFIGURATION,
    SPATIAL_INERTIA,
    VELOCITY,
)
from rbd_ros.algorithms.kinematics.kinematics import body_transforms, motion_columns
from rbd_ros.algorithms.momentum.center_of_mass import require_mass
from rbd_ros.algorithms.momentum.energy import momentum
from rbd_ros.model import Model
from rbd_ros.spatial import (
    ArticulatedBodyInertia,
    ForceVector,
    linear3,
    MotionVector,
    PluckerTransform,
    RigidBodyInertia,
)
from rbd_ros.spatial.linear3 import Vector3
from rbd_ros.spatial.scalar import is_zero, Scalar

Matrix = List[List[Scalar]]
SOURCE = 'Orin, Goswami and Lee, Autonomous Robots 2013'
_UNIT_MOTIONS = tuple(MotionVector.from_array([float(i == j) for j in range(6)]) for i in range(6))


@algorithm(
    'centroidal_momentum_matrix',
    inputs={'q': CONFIGURATION},
    outputs={'A': CENTROIDAL_MATRIX},
    source=SOURCE,
    check=require_mass,
)
def centroidal_momentum_matrix(model: Model, q: Sequence[Scalar]) -> Matrix:
    """Return the momentum about the center of mass per velocity of each joint, (6, tree_nv).

    A joint moves its subtree as one body: its columns are I^c_i S_i.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    """
    X0 = body_transforms(model, q)
    Ic = _composites(model, X0)
    center = _center(Ic[0])
    columns: List[Tuple[Scalar, ...]] = []
    for i, S in motion_columns(model, q, X0).items():
        columns += [tuple(_about(center, Ic[i] * s)) for s in S]
    return [list(row) for row in zip(*columns)] if columns else [[] for _ in range(6)]


@algorithm(
    'centroidal_momentum',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY},
    outputs={'h': CENTROIDAL_MOMENTUM},
    source=SOURCE,
    check=require_mass,
)
def centroidal_momentum(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> ForceVector:
    """Return the angular and linear momentum about the center of mass, (6,) [N m s, N s].

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    """
    center = _center(_composites(model, body_transforms(model, q))[0])
    return _about(center, momentum(model, q, qd))


@algorithm(
    'centroidal_inertia',
    inputs={'q': CONFIGURATION},
    outputs={'I': SPATIAL_INERTIA},
    source=SOURCE,
    check=require_mass,
)
def centroidal_inertia(model: Model, q: Sequence[Scalar]) -> Matrix:
    """Return the inertia with all joints locked, about the center of mass, (6, 6).

    Mass and rotational inertia are decoupled there: [[I_C, 0], [0, m 1]].

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    """
    whole = _composites(model, body_transforms(model, q))[0]
    moved = whole.moved(_center(whole))
    return rows_of(RigidBodyInertia(moved.mass, linear3.ZERO3, moved.I))


def rows_of(inertia: Union[RigidBodyInertia, ArticulatedBodyInertia]) -> Matrix:
    """Return the matrix of an inertia, (6, 6), of scalars of any kind."""
    return [list(inertia * e) for e in _UNIT_MOTIONS]  # symmetric: its columns are its rows


@algorithm(
    'centroidal_momentum_rate',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY, 'qdd': ACCELERATION},
    outputs={'hdot': CENTROIDAL_FORCE},
    source=SOURCE,
    check=require_mass,
)
def centroidal_momentum_rate(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> ForceVector:
    """Return the rate of `centroidal_momentum`, A qdd + Adot qd, (6,) [N m, N].

    It is the sum of all forces on the robot, including gravity, about the center of mass.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :param qdd: acceleration of the tree, (tree_nv,) [rad/s^2, m/s^2]
    """
    X0 = body_transforms(model, q)
    _, f = transmitted_forces(model.with_gravity((0.0, 0.0, 0.0)), q, qd, qdd)
    total = ForceVector.zero()
    for i, body in model.outward():
        if body.parent == 0:
            total = total + X0[i].inverse_apply(f[i])
    return _about(_center(_composites(model, X0)[0]), total)


@algorithm(
    'centroidal_bias',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY},
    outputs={'hdot': CENTROIDAL_FORCE},
    source=SOURCE,
    check=require_mass,
)
def centroidal_bias(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> ForceVector:
    """Return the rate of `centroidal_momentum` at constant velocities, Adot qd, (6,) [N m, N].

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    """
    return centroidal_momentum_rate(model, q, qd, [0.0] * model.tree_nv)


def _composites(model: Model, X0: Dict[int, PluckerTransform]) -> Dict[int, RigidBodyInertia]:
    """Return the composite inertia of each body, in base coordinates, by body number.

    Number 0 is the whole robot.

    :param X0: transforms from base to body coordinates, by body number
    """
    Ic = {0: RigidBodyInertia.zero()}
    for i, body in model.outward():
        Ic[i] = X0[i].inverse_apply(body.inertia)
    for i, body in model.inward():
        Ic[body.parent] = Ic[body.parent] + Ic[i]
    return Ic


def _center(inertia: RigidBodyInertia) -> Vector3:
    """Return the center of mass; NaN without mass."""
    return linear3.scale(math.nan if is_zero(inertia.mass) else 1.0 / inertia.mass, inertia.h)


def _about(center: Vector3, force: ForceVector) -> ForceVector:
    """Return a force or momentum in coordinates with the origin at `center`."""
    return ForceVector(force.moment_about(center), force.linear)
