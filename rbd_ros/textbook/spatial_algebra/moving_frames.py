# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Derivatives in moving coordinates, and the two accelerations of a body (book 2.10, 2.11).

The derivative of a vector and the derivative of its coordinates differ by v x: the second is the
apparent derivative, that of an observer in the moving frame (the book's ring).
"""

from __future__ import annotations

from typing import Tuple, TypeVar

from rbd_ros.spatial import linear3
from rbd_ros.spatial.linear3 import Vector3, ZERO3
from rbd_ros.spatial.scalar import ScalarArray
from rbd_ros.spatial.spatial_vectors import ForceVector, MotionVector
from rbd_ros.spatial.transform import PluckerTransform

V = TypeVar('V', MotionVector, ForceVector)


def derivative(vector: V, apparent: V, velocity: MotionVector) -> V:
    """Return the derivative of a motion or a force, given that of its coordinates (eq 2.36, 2.37).

    :param vector: the vector in coordinates of a moving frame
    :param apparent: rates of these coordinates
    :param velocity: velocity of the frame in its own coordinates
    :return: derivative in the frame's coordinates, apparent + velocity x vector (x* for forces)

    >>> from rbd_ros.textbook.spatial_algebra.moving_frames import derivative
    >>> axis = MotionVector((1.0, 0.0, 0.0), (0.0, 0.0, 0.0))  # fixed in a frame that turns
    >>> spin = MotionVector((0.0, 0.0, 2.0), (0.0, 0.0, 0.0))
    >>> derivative(axis, MotionVector.zero(), spin).angular
    (0.0, 2.0, 0.0)
    """
    return apparent + velocity.cross(vector)


def apparent_derivative(vector: V, derivative: V, velocity: MotionVector) -> V:
    """Return the rates of a vector's coordinates in a moving frame, given its derivative.

    Eq 2.43, 2.44.

    :param vector: the vector in coordinates of a moving frame
    :param derivative: its derivative in the same coordinates
    :param velocity: velocity of the frame in its own coordinates

    >>> from rbd_ros.textbook.spatial_algebra.moving_frames import apparent_derivative
    >>> weight = ForceVector((0.0, 0.0, 0.0), (10.0, 0.0, 0.0))  # constant
    >>> spin = MotionVector((0.0, 0.0, 2.0), (0.0, 0.0, 0.0))
    >>> apparent_derivative(weight, ForceVector.zero(), spin).linear
    (0.0, -20.0, 0.0)
    """
    return derivative - velocity.cross(vector)


def transform_rate(X: PluckerTransform, velocity: MotionVector) -> ScalarArray:
    """Return the derivative of the matrix BXA between moving frames, (6, 6) (book eq 2.45).

    :param X: transform from A to B coordinates
    :param velocity: velocity of A relative to B, v_A - v_B, in B coordinates

    >>> from rbd_ros.textbook.spatial_algebra.moving_frames import transform_rate
    >>> spin = MotionVector((0.0, 0.0, 2.0), (0.0, 0.0, 0.0))
    >>> transform_rate(PluckerTransform.identity(), spin)[:2, :2]
    array([[ 0., -2.],
           [ 2.,  0.]])
    """
    result: ScalarArray = velocity.cross_matrix() @ X.matrix()
    return result


def classical_acceleration(
    acceleration: MotionVector, velocity: MotionVector, point: Vector3 = ZERO3
) -> Tuple[Vector3, Vector3]:
    """Return the angular acceleration and acceleration of a body-fixed point (book eq 2.48, 2.50).

    Accelerometers measure it (less gravity), and messages contain it. It does not transform like a
    motion vector.

    :param acceleration: spatial acceleration of the body
    :param velocity: its spatial velocity, in the same coordinates
    :param point: the point, (3,) [m]; the origin by default
    :return: (3,) [rad/s^2] and (3,) [m/s^2]

    >>> from rbd_ros.textbook.spatial_algebra.moving_frames import classical_acceleration
    >>> spin = MotionVector((0.0, 0.0, 2.0), (0.0, 0.0, 0.0))  # steady [rad/s]
    >>> classical_acceleration(MotionVector.zero(), spin, (0.5, 0.0, 0.0))[1]  # inward [m/s^2]
    (-2.0, 0.0, 0.0)
    """
    at_point = linear3.add(acceleration.linear, linear3.cross(acceleration.angular, point))
    centripetal = linear3.cross(velocity.angular, velocity.velocity_at(point))
    return acceleration.angular, linear3.add(at_point, centripetal)


def spatial_acceleration(
    angular: Vector3, linear: Vector3, velocity: MotionVector, point: Vector3 = ZERO3
) -> MotionVector:
    """Return the spatial acceleration of a body, the inverse of `classical_acceleration`.

    :param angular: angular acceleration, (3,) [rad/s^2]
    :param linear: acceleration of the body-fixed point, (3,) [m/s^2]
    :param velocity: spatial velocity of the body
    :param point: the point, (3,) [m]; the origin by default

    >>> from rbd_ros.textbook.spatial_algebra.moving_frames import spatial_acceleration
    >>> spin = MotionVector((0.0, 0.0, 2.0), (0.0, 0.0, 0.0))
    >>> spatial_acceleration((0, 0, 0), (-2.0, 0, 0), spin, (0.5, 0.0, 0.0)).to_array()
    array([0., 0., 0., 0., 0., 0.])
    """
    centripetal = linear3.cross(velocity.angular, velocity.velocity_at(point))
    turning = linear3.cross(angular, point)
    return MotionVector(angular, linear3.subtract(linear3.subtract(linear, centripetal), turning))
