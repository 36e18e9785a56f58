# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joint reactions: the whole spatial force across each joint (book 5.3)."""

from typing import Dict, Mapping, Optional, Sequence

from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.inverse_dynamics.rnea import transmitted_forces
from rbd_ros.algorithms.kinds import (
    ACCELERATION,
    BODY_WRENCHES,
    CONFIGURATION,
    EXTERNAL_FORCES,
    VELOCITY,
)
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector
from rbd_ros.spatial.scalar import Scalar


@algorithm(
    'joint_reactions',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'qdd': ACCELERATION,
        'external_forces': EXTERNAL_FORCES,
    },
    outputs={'wrenches': BODY_WRENCHES},
    source='RBDA 5.3',
)
def joint_reactions(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> Dict[int, ForceVector]:
    """Return the force f_i from its parent on each body, in body coordinates, by body number.

    Its part along the joint's DoF, S^T f, is the joint force less the rotor's; the bearings carry
    the rest.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :param qdd: acceleration of the tree, (tree_nv,) [rad/s^2, m/s^2]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :return: [n; f], the moment n about the origin of the body's frame [N m, N]
    """
    _, f = transmitted_forces(model, q, qd, qdd, external_forces)
    return f
