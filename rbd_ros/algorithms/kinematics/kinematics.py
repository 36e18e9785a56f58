# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forward kinematics: positions and velocities of all bodies (book 4.2, examples 4.3 and 4.4)."""

from typing import Any, Dict, NamedTuple, Sequence, Tuple

from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import BODY_FRAMES, CONFIGURATION, LINK_POSES, MOTION_COLUMNS
from rbd_ros.model import Model
from rbd_ros.spatial import MotionVector, PluckerTransform
from rbd_ros.spatial.scalar import Scalar


def body_transforms(model: Model, q: Sequence[Scalar]) -> Dict[int, PluckerTransform]:
    """Return the transforms iX0 from base to body coordinates, by body number (0 is the identity).

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    """
    X0 = {0: PluckerTransform.identity()}
    for i, body in model.outward():
        X0[i] = body.joint.transform(q[body.q]) * body.tree_transform * X0[body.parent]
    return X0


def body_velocities(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
) -> Tuple[Dict[int, PluckerTransform], Dict[int, MotionVector]]:
    """Return the transforms from the base, and velocities in body coordinates, by body number.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    """
    X0, v = {0: PluckerTransform.identity()}, {0: MotionVector.zero()}
    for i, body in model.outward():
        joint = body.joint.calc(q[body.q], qd[body.v])
        X = joint.X * body.tree_transform
        X0[i] = X * X0[body.parent]
        v[i] = X * v[body.parent] + joint.v
    return X0, v


def motion_columns(
    model: Model, q: Sequence[Scalar], X0: Dict[int, PluckerTransform]
) -> Dict[int, Tuple[MotionVector, ...]]:
    """Return the columns of the motion subspaces in base coordinates, by body number.

    Book example 4.2.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param X0: transforms from base to body coordinates, by body number
    """
    return {
        i: tuple(X0[i].inverse_apply(s) for s in body.joint.motion_subspace(q[body.q]).columns)
        for i, body in model.outward()
    }


def apparent_column_rates(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], X0: Dict[int, PluckerTransform]
) -> Dict[int, Tuple[MotionVector, ...]]:
    """Return the apparent rates of the motion subspaces' columns, in base coordinates, by number.

    These are the changes of the columns within their bodies, zero for joints with a constant S.
    The columns also move with their bodies, d/dt 0S_i = 0v_i x 0S_i + 0X_i Sring_i
    (book eq 2.45, 4.5).

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :param X0: transforms from base to body coordinates, by body number
    """
    return {
        i: tuple(
            X0[i].inverse_apply(s)
            for s in body.joint.motion_subspace_rate(q[body.q], qd[body.v]).columns
        )
        for i, body in model.outward()
    }


@algorithm(
    'forward_kinematics',
    inputs={'q': CONFIGURATION},
    outputs={'poses': LINK_POSES},
    source='RBDA example 4.3',
    pinocchio_equivalent='framesForwardKinematics',
)
def forward_kinematics(model: Model, q: Sequence[Scalar]) -> Dict[str, PluckerTransform]:
    """Return the pose of each link, as the transform from base to link coordinates, by name.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    """
    X0 = body_transforms(model, q)
    return {name: link.placement * X0[link.body] for name, link in model.links.items()}


class BodyKinematics(NamedTuple):
    """Kinematics of all bodies, for contact and external forces.

    :param frames: rotation row by row, and position, of each body in base coordinates, base first,
        (bodies + 1, 12) [1, m]
    :param columns: columns of the motion subspaces in base coordinates, (tree_nv, 6)
    """

    frames: Any
    columns: Any


@algorithm(
    'contact_kinematics',
    inputs={'q': CONFIGURATION},
    outputs={'frames': BODY_FRAMES, 'columns': MOTION_COLUMNS},
    result=BodyKinematics,
    source='RBDA examples 4.2 and 4.3',
)
def body_kinematics(model: Model, q: Sequence[Scalar]) -> BodyKinematics:
    """Return the transforms from base to bodies, and the motion subspaces in base coordinates.

    :param q: configuration of the tree, (tree_nq,) [rad, m]

    >>> motion = robot.kernel('contact_kinematics').function(q)
    >>> motion.frames.shape, motion.columns.shape
    ((7, 12), (6, 6))
    """
    X0 = body_transforms(model, q)
    return BodyKinematics(X0, motion_columns(model, q, X0))
