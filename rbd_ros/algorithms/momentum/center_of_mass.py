# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Center of mass of the moving bodies and its Jacobian (book 2.13)."""

import math
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import CONFIGURATION, POINT_JACOBIAN, POSITION
from rbd_ros.algorithms.kinematics.kinematics import body_transforms, motion_columns
from rbd_ros.model import Model, ModelError
from rbd_ros.spatial import linear3, PluckerTransform
from rbd_ros.spatial.linear3 import Vector3, ZERO3
from rbd_ros.spatial.scalar import is_zero, Scalar


def require_mass(model: Model, runtime_bodies: Sequence[int], chosen: Mapping[str, Any]) -> None:
    """Check that the center of mass is defined.

    :param runtime_bodies: bodies that get inertia at run time
    :param chosen: compile-time choices
    :raises ModelError: if nothing that moves has mass
    """
    if not runtime_bodies and not sum(body.inertia.mass for body in model.bodies):
        raise ModelError(
            'the center of mass is undefined, because no moving body has mass; give the links '
            'their <inertial>'
        )


@algorithm(
    'center_of_mass',
    inputs={'q': CONFIGURATION},
    outputs={'p': POSITION},
    source='RBDA 2.13',
    check=require_mass,
    pinocchio_equivalent='centerOfMass',
)
def center_of_mass(model: Model, q: Sequence[Scalar]) -> Vector3:
    """Return the center of mass of all moving bodies in base coordinates, (3,) [m].

    Links fixed to the base do not count. NaN if no moving link has mass.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    """
    mass, moment = _subtree_moments(model, body_transforms(model, q))
    return linear3.scale(_reciprocal(mass[0]), moment[0])


@algorithm(
    'center_of_mass_jacobian',
    inputs={'q': CONFIGURATION},
    outputs={'J': POINT_JACOBIAN},
    source='RBDA 2.13, example 4.2',
    check=require_mass,
    pinocchio_equivalent='jacobianCenterOfMass',
)
def center_of_mass_jacobian(model: Model, q: Sequence[Scalar]) -> List[List[Scalar]]:
    """Return the Jacobian of the velocity of the center of mass in base coordinates, (3, tree_nv).

    A joint moves only the bodies that it carries: its column is the rate of their first
    moment of mass, m v + w x h with [w; v] its motion in base coordinates, over the total mass.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    """
    X0 = body_transforms(model, q)
    mass, moment = _subtree_moments(model, X0)
    columns: List[Vector3] = []
    for j, S in motion_columns(model, q, X0).items():
        for s in S:
            moved = linear3.add(
                linear3.scale(mass[j], s.linear), linear3.cross(s.angular, moment[j])
            )
            columns.append(linear3.scale(_reciprocal(mass[0]), moved))
    return [list(row) for row in zip(*columns)] if columns else [[] for _ in range(3)]


def _reciprocal(mass: Scalar) -> Scalar:
    return math.nan if is_zero(mass) else 1.0 / mass


def _subtree_moments(
    model: Model,
    X0: Dict[int, PluckerTransform],
) -> Tuple[Dict[int, Scalar], Dict[int, Vector3]]:
    """Return the mass [kg] and first moment of mass about the base origin [kg m] of each subtree.

    :param X0: transforms from base to body coordinates, by body number
    :return: both by the number of the subtree's root; number 0 is the whole robot
    """
    mass: Dict[int, Scalar] = {0: 0.0}
    moment: Dict[int, Vector3] = {0: ZERO3}
    for i, body in model.outward():
        X, inertia = X0[i], body.inertia
        mass[i] = inertia.mass
        moment[i] = linear3.add(
            linear3.apply_transpose(X.E, inertia.h), linear3.scale(inertia.mass, X.r)
        )
    for i, body in model.inward():
        mass[body.parent] = mass[body.parent] + mass[i]
        moment[body.parent] = linear3.add(moment[body.parent], moment[i])
    return mass, moment
