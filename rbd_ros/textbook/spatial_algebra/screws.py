# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Screws (book 2.5): line vectors, free vectors, and the axis and pitch of any spatial vector.

A spatial vector is the sum of a line vector and a free vector parallel to it: a rotation and a
translation of a motion, a linear force and a couple of a force. A twist is a motion with an axis,
a wrench a force with one.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Tuple, TypeVar

from rbd_ros.spatial import linear3
from rbd_ros.spatial.linear3 import Vector3, ZERO3
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.spatial.spatial_vectors import ForceVector, MotionVector

V = TypeVar('V', MotionVector, ForceVector)


class Screw(NamedTuple):
    """Axis, pitch and magnitude of a spatial vector.

    :param magnitude: angular velocity [rad/s] or linear force [N]; of a free vector, linear
        velocity [m/s] or couple [N m]
    :param direction: unit vector of the axis, (3,)
    :param point: point of the axis nearest to the origin, (3,) [m]; zero for a free vector
    :param pitch: translation per rotation, or couple per force [m]; infinite for a free vector

    >>> from rbd_ros.textbook.spatial_algebra.screws import screw
    >>> bolt = screw(MotionVector((0.0, 0.0, 2.0), (0.0, 0.0, 0.01)))  # advances as it turns
    >>> bolt.pitch, bolt.magnitude  # [m/rad], [rad/s]
    (0.005, 2.0)
    >>> bolt.motion().to_array(), bolt.force().to_array()
    (array([0.  , 0.  , 2.  , 0.  , 0.  , 0.01]), array([0.  , 0.  , 0.01, 0.  , 0.  , 2.  ]))
    """

    magnitude: float
    direction: Vector3
    point: Vector3
    pitch: float

    def motion(self) -> MotionVector:
        """Return the twist of this screw."""
        bound, moment = self._parts()
        return MotionVector(bound, moment)

    def force(self) -> ForceVector:
        """Return the wrench of this screw."""
        bound, moment = self._parts()
        return ForceVector(moment, bound)

    def _parts(self) -> Tuple[Vector3, Vector3]:
        along = linear3.scale(self.magnitude, self.direction)
        if math.isinf(self.pitch):
            return ZERO3, along
        moment = linear3.cross(self.point, along)
        return along, linear3.add(moment, linear3.scale(self.pitch, along))


def bound_and_moment(vector: V) -> Tuple[Vector3, Vector3]:
    """Return the line vector s, (3,), and the moment s_O about the origin, (3,), of a vector.

    >>> from rbd_ros.textbook.spatial_algebra.screws import bound_and_moment
    >>> bound_and_moment(ForceVector((0.0, -5.0, 0.0), (0.0, 0.0, 10.0)))
    ((0.0, 0.0, 10.0), (0.0, -5.0, 0.0))
    """
    if isinstance(vector, MotionVector):
        return vector.angular, vector.linear
    if isinstance(vector, ForceVector):
        return vector.linear, vector.moment
    raise TypeError(f'a {type(vector).__name__} is not a screw; give a motion or a force')


def pitch(vector: V) -> Scalar:
    """Return the pitch h = s . s_O / s . s of a spatial vector [m] (book eq 2.10).

    :raises ZeroDivisionError: for a free vector, whose pitch is infinite

    >>> from rbd_ros.textbook.spatial_algebra.screws import pitch
    >>> pitch(MotionVector((0.0, 0.0, 2.0), (0.0, 0.0, 0.01)))  # [m/rad]
    0.005
    """
    s, moment = bound_and_moment(vector)
    return linear3.dot(s, moment) / linear3.dot(s, s)


def axis_point(vector: V) -> Vector3:
    """Return the point of the axis that is nearest to the origin, s x s_O / s . s, (3,) [m].

    :raises ZeroDivisionError: for a free vector, which has no axis

    >>> from rbd_ros.textbook.spatial_algebra.screws import axis_point
    >>> axis_point(ForceVector.at_point((0.0, 0.0, 10.0), (0.5, 0.0, 0.0)))  # [m]
    (0.5, 0.0, -0.0)
    """
    s, moment = bound_and_moment(vector)
    return linear3.scale(1 / linear3.dot(s, s), linear3.cross(s, moment))


def is_free(vector: V, tolerance: float = 0.0) -> bool:
    """Return whether a vector of floats is free, s = 0: a translation, a couple.

    :param tolerance: maximum length of s that counts as zero [rad/s, N]

    >>> from rbd_ros.textbook.spatial_algebra.screws import is_free
    >>> is_free(ForceVector((1.0, 0.0, 0.0), (0.0, 0.0, 0.0)))  # a couple has no line
    True
    """
    s, _ = bound_and_moment(vector)
    return _length(s) <= tolerance


def is_line(vector: V, tolerance: float = 0.0) -> bool:
    """Return whether a vector of floats is a line vector: s . s_O = 0, s not zero.

    Line vectors are pure rotations and pure forces.

    :param tolerance: maximum length of the free part that counts as zero [m/s, N m]

    >>> from rbd_ros.textbook.spatial_algebra.screws import is_line
    >>> is_line(ForceVector.at_point((0.0, 0.0, 10.0), (0.5, 0.0, 0.0)))
    True
    """
    s, moment = bound_and_moment(vector)
    return _length(s) > 0.0 and abs(linear3.dot(s, moment)) <= tolerance * _length(s)


def line_and_free(vector: V) -> Tuple[V, V]:
    """Split a vector of floats into a line vector and a free vector parallel to it.

    Book 2.5.

    The pair is unique. The line vector of a free vector is zero.

    >>> from rbd_ros.textbook.spatial_algebra.screws import line_and_free
    >>> wrench = ForceVector((0.0, -5.0, 2.0), (0.0, 0.0, 10.0))
    >>> line, free = line_and_free(wrench)
    >>> line.moment, free.moment  # the force along its axis, and the couple about it
    ((0.0, -5.0, 0.0), (0.0, 0.0, 2.0))
    """
    s, moment = bound_and_moment(vector)
    space = type(vector)
    if is_free(vector):
        return space.zero(), vector
    free = linear3.scale(pitch(vector), s)
    rest = linear3.subtract(moment, free)
    if isinstance(vector, MotionVector):
        return space(s, rest), space(ZERO3, free)
    return space(rest, s), space(free, ZERO3)


def screw(vector: V) -> Screw:
    """Return the axis, pitch and magnitude of a spatial vector of floats.

    :raises ValueError: for the zero vector, which has no direction

    >>> from rbd_ros.textbook.spatial_algebra.screws import screw
    >>> screw(ForceVector((0.0, -5.0, 2.0), (0.0, 0.0, 10.0))).pitch  # [m/rad]
    0.2
    """
    s, moment = bound_and_moment(vector)
    free = is_free(vector)
    along = moment if free else s
    magnitude = _length(along)
    if magnitude == 0.0:
        raise ValueError('the zero vector is not a screw, since it has no direction')
    direction = linear3.scale(1.0 / magnitude, along)
    if free:
        return Screw(magnitude, direction, (0.0, 0.0, 0.0), math.inf)
    return Screw(magnitude, direction, axis_point(vector), pitch(vector))


def _length(v: Vector3) -> float:
    return math.sqrt(linear3.dot(v, v))
