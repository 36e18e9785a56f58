# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Position errors of lower pairs, from the relative transform of two frames (book 8.3).

A lower pair has constant motion subspace S and constraint forces T. These functions are the
defaults of `JointType.loop_error` and `displacement_at`; a screw is a pair with a DoF that rotates
and slides along one axis. If the axis misses the frame's origin, they use the same pair in frames
with origins on it.
"""

from __future__ import annotations

from typing import List, Sequence, Tuple

from rbd_ros.model.joints.exponential import rotation_vector
from rbd_ros.spatial import linear3, MotionSubspace, MotionVector, PluckerTransform
from rbd_ros.spatial.linear3 import Matrix3, Vector3
from rbd_ros.spatial.scalar import cos, four_quadrant_angle, Scalar, sin

# Squared lengths below this are rounding
_ROUNDING = 1e-28


def position_error(X: PluckerTransform, S: MotionSubspace) -> MotionVector:
    """Return the displacement from the closed position of a lower pair, to first order, table 8.1.

    Only its components along the constraint forces T are meaningful: they are zero if the pair is
    closed, in any position, and their rate there is T^T times the relative velocity.

    :param X: transform from predecessor to successor coordinates
    :param S: motion subspace of the pair
    :return: the displacement in successor coordinates [rad, m]
    """
    center = _center(S)
    if any(center):
        moved = PluckerTransform.translation(center)
        error = position_error(moved * X * moved.inverse(), _seen_from(moved, S))
        return moved.inverse_apply(error)
    axes = _axes(S)
    E = X.E
    turned = linear3.ZERO3  # a pair with three rotations has no wrong orientation
    if not axes:
        turned = linear3.scale(0.5, twice_sine(E))
    elif len(axes) == 1:
        turned = tilt(E, axes[0])
    # Translation along the predecessor's directions, which may be long.
    r = linear3.apply(E, X.r)
    r = linear3.add(r, linear3.cross(turned, r))
    for s in S.columns:
        if any(s.angular) and any(s.linear):
            # The angle of a screw depends on its position along the axis, for any number of turns:
            # the error is the excess angle.
            along = linear3.dot(r, s.angular)
            more = angle_beyond(E, s.angular, along / _pitch(s))
            turned = linear3.add(turned, linear3.scale(more, s.angular))
            r = linear3.subtract(r, linear3.scale(along, s.angular))
    return MotionVector(turned, r)


def displacement(X: PluckerTransform, S: MotionSubspace) -> Tuple[Scalar, ...]:
    """Return the displacement of a lower pair along its degrees of freedom.

    A rotational DoF has the angle about its axis, between -pi and pi; three of them have the
    rotation vector. A screw has the angle of its position along the axis, for any number of turns.
    A translational DoF has the successor's position along it, in predecessor coordinates.

    :param X: transform from predecessor to successor coordinates
    :param S: motion subspace of the pair
    """
    center = _center(S)
    if any(center):
        moved = PluckerTransform.translation(center)
        return displacement(moved * X * moved.inverse(), _seen_from(moved, S))
    turned = _rotation(X.E, _axes(S))
    result: List[Scalar] = []
    for s in S.columns:
        if not any(s.angular):
            result.append(linear3.dot(X.r, s.linear))
        elif any(s.linear):
            result.append(linear3.dot(X.r, s.angular) / _pitch(s))
        else:
            result.append(linear3.dot(turned, s.angular))
    return tuple(result)


def tilt(E: Matrix3, axis: Vector3) -> Vector3:
    """Return the tilt of the predecessor's axis against the successor's, (3,) [rad].

    :param E: coordinate rotation, (3, 3)
    :param axis: unit vector, (3,)
    """
    return linear3.cross(linear3.apply(E, axis), axis)


def twice_sine(E: Matrix3) -> Vector3:
    """Return the axis of a rotation R = E^T, with twice its sine as the length, (3,).

    :param E: coordinate rotation, (3, 3)
    """
    return E[1][2] - E[2][1], E[2][0] - E[0][2], E[0][1] - E[1][0]


def angle_about(E: Matrix3, axis: Vector3) -> Scalar:
    """Return the angle of a rotation about an invariant axis, between -pi and pi [rad].

    :param E: coordinate rotation, (3, 3)
    :param axis: unit vector, (3,)
    """
    return four_quadrant_angle(*_sine_cosine(E, axis))


def angle_beyond(E: Matrix3, axis: Vector3, angle: Scalar) -> Scalar:
    """Return the angle of a rotation minus another angle, between -pi and pi [rad].

    :param E: coordinate rotation, (3, 3)
    :param axis: unit vector, (3,)
    :param angle: the other angle, any number of turns [rad]
    """
    y, x = _sine_cosine(E, axis)
    c, s = cos(angle), sin(angle)
    return four_quadrant_angle(y * c - x * s, x * c + y * s)


def rotation_of(E: Matrix3) -> Tuple[Scalar, Scalar, Scalar]:
    """Return the rotation vector of R = E^T, shorter than half a turn [rad].

    :param E: coordinate rotation, (3, 3)
    """
    # The quaternion of R, not normalized
    return rotation_vector((1.0 + E[0][0] + E[1][1] + E[2][2], *twice_sine(E)))


def _sine_cosine(E: Matrix3, axis: Vector3) -> Tuple[Scalar, Scalar]:
    """Return twice the sine and cosine of a rotation about an axis."""
    return linear3.dot(twice_sine(E), axis), E[0][0] + E[1][1] + E[2][2] - 1.0


def _center(S: MotionSubspace) -> Vector3:
    """Return the point on the axis or axes of a pair nearest to the origin, (3,)."""
    turning = [s for s in S.columns if any(s.angular)]
    center = linear3.ZERO3
    for s in turning:
        foot = linear3.cross(s.angular, s.linear)
        # For a screw, the part across the axis may be rounding.
        if linear3.dot(foot, foot) > _ROUNDING * linear3.dot(s.linear, s.linear):
            # Axes at right angles: each defines the center except for its own component.
            center = linear3.add(center, linear3.scale(1.0 if len(turning) == 1 else 0.5, foot))
    return center


def _seen_from(moved: PluckerTransform, S: MotionSubspace) -> MotionSubspace:
    """Return the motion subspace in another frame, with exact zeros."""
    columns = []
    for s in S.columns:
        m = moved * s
        if linear3.dot(m.linear, m.linear) <= _ROUNDING * linear3.dot(s.linear, s.linear):
            m = MotionVector(m.angular, linear3.ZERO3)
        columns.append(m)
    return MotionSubspace(columns)


def _axes(S: MotionSubspace) -> List[Vector3]:
    return [column.angular for column in S.columns if any(column.angular)]


def _rotation(E: Matrix3, axes: Sequence[Vector3]) -> Vector3:
    """Return the rotation vector; its direction is given for a single axis."""
    if not axes:
        return linear3.ZERO3
    if len(axes) == 1:
        return linear3.scale(angle_about(E, axes[0]), axes[0])
    return rotation_of(E)


def _pitch(s: MotionVector) -> Scalar:
    """Return the displacement along the axis of a screw per angle [m/rad]."""
    return linear3.dot(s.angular, s.linear)
