# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pose, velocity and acceleration of a frame (book 2.2, 2.11, example 4.3)."""

from typing import Sequence

from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import (
    ACCELERATION,
    CONFIGURATION,
    FRAME,
    POSE,
    REFERENCE,
    TWIST,
    TWIST_RATE,
    VELOCITY,
)
from rbd_ros.algorithms.kinematics.kinematics import body_transforms, body_velocities
from rbd_ros.model import Frame, Model
from rbd_ros.spatial import linear3, MotionVector, PluckerTransform
from rbd_ros.spatial.scalar import Scalar


@algorithm(
    'frame_pose',
    inputs={'q': CONFIGURATION, 'frame': FRAME},
    outputs={'T': POSE},
    source='RBDA example 4.3',
)
def frame_pose(model: Model, q: Sequence[Scalar], frame: Frame) -> PluckerTransform:
    """Return the pose of a frame, as the transform from base to frame coordinates.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param frame: the frame, with its placement on its body
    """
    return frame.placement * body_transforms(model, q)[frame.body]


@algorithm(
    'frame_velocity',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY, 'frame': FRAME, 'reference': REFERENCE},
    outputs={'velocity': TWIST},
    source='RBDA example 4.3',
)
def frame_velocity(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], frame: Frame, reference: str
) -> MotionVector:
    """Return the spatial velocity of a frame: J qd with the Jacobian of the same reference.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :param frame: the frame, with its placement on its body
    :param reference: its coordinates; see `kinematics.jacobians.jacobian`
    :return: angular part first, (6,) [rad/s, m/s]
    """
    X0, v = body_velocities(model, q, qd)
    return express(frame.placement * v[frame.body], frame.placement * X0[frame.body], reference)


@algorithm(
    'frame_acceleration',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'qdd': ACCELERATION,
        'frame': FRAME,
        'reference': REFERENCE,
    },
    outputs={'acceleration': TWIST_RATE},
    source='RBDA 2.11, example 4.4',
)
def frame_acceleration(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    frame: Frame,
    reference: str,
) -> MotionVector:
    """Return the rate of `frame_velocity`, component by component: J qdd + dJ/dt qd.

    That is the spatial acceleration for 'body' and 'base', and for 'aligned' the classical
    acceleration of the frame's origin (book 2.11). It excludes gravity.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :param qdd: acceleration of the tree, (tree_nv,) [rad/s^2, m/s^2]
    :param frame: the frame, with its placement on its body
    :param reference: its coordinates; see `kinematics.jacobians.jacobian`
    :return: angular part first, (6,) [rad/s^2, m/s^2]
    """
    X0, v, a = {0: PluckerTransform.identity()}, {0: MotionVector.zero()}, {0: MotionVector.zero()}
    for i, body in model.outward():
        joint = body.joint.calc(q[body.q], qd[body.v])
        X = joint.X * body.tree_transform
        X0[i] = X * X0[body.parent]
        v[i] = X * v[body.parent] + joint.v
        a[i] = X * a[body.parent] + joint.S @ qdd[body.v] + joint.c + v[i].cross(joint.v)
    XF = frame.placement * X0[frame.body]
    acceleration, velocity = (frame.placement * each[frame.body] for each in (a, v))
    if reference == 'aligned':
        # Acceleration of the origin: that of the body-fixed point there, plus w x v (eq 2.53).
        turning = linear3.cross(velocity.angular, velocity.linear)
        acceleration = acceleration + MotionVector((0.0, 0.0, 0.0), turning)
    return express(acceleration, XF, reference)


def express(m: MotionVector, XF: PluckerTransform, reference: str) -> MotionVector:
    """Transform a motion vector from the coordinates of a frame to those of a reference.

    :param m: motion vector in frame coordinates
    :param XF: transform from base to frame coordinates
    :param reference: see `rbd_ros.algorithms.kinematics.jacobians.jacobian`
    """
    if reference == 'body':
        return m
    if reference == 'base':
        return XF.inverse_apply(m)
    return MotionVector(
        linear3.apply_transpose(XF.E, m.angular), linear3.apply_transpose(XF.E, m.linear)
    )
