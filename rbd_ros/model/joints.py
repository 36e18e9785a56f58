"""Joint types and their jcalc (book 4.4, table 4.1): one class a type, all with the same verbs.

A joint type knows kinematics only. `calc` is the book's jcalc: from position and velocity
variables to the joint transform X_J, the motion subspace S, the joint velocity v_J and the
velocity-product acceleration c_J, all in the successor's coordinates. `integrate` and `difference`
move on the joint's configuration manifold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Sequence, Tuple

import numpy as np

from rbd_ros.spatial import linear3, MotionSubspace, MotionVector, PluckerTransform
from rbd_ros.spatial.linear3 import IDENTITY3, Vector3, ZERO3
from rbd_ros.spatial.rotation import axis_rotation, quaternion_product, quaternion_to_rotation
from rbd_ros.spatial.scalar import cos, Scalar, sin, sqrt, where_positive

Scalars = Sequence[Scalar]


class JointState(NamedTuple):
    """What jcalc returns: X_J, S, v_J and c_J of a joint (book 4.4)."""

    X: PluckerTransform
    S: MotionSubspace
    v: MotionVector
    c: MotionVector


class JointType:
    """Verbs that every joint type has.

    :cvar nq: number of position variables
    :cvar nv: degrees of freedom
    """

    nq: int
    nv: int
    kind: str

    def transform(self, q: Scalars) -> PluckerTransform:
        """Joint transform X_J from predecessor to successor coordinates."""
        raise TypeError(f'{type(self).__name__} defines no joint transform')

    @property
    def motion_subspace(self) -> MotionSubspace:
        """Motion subspace S, (6, nv).

        Constant in successor coordinates for all types of this module.
        """
        raise TypeError(f'{type(self).__name__} defines no motion subspace')

    def calc(self, q: Scalars, qd: Scalars) -> JointState:
        """Joint calculation (jcalc) for position `q`, (nq,), and velocity `qd`, (nv,)."""
        S = self.motion_subspace
        return JointState(self.transform(q), S, S @ qd, MotionVector.zero())

    def neutral(self) -> Tuple[float, ...]:
        """Position with X_J = 1, (nq,)."""
        return (0.0,) * self.nq

    def integrate(self, q: Scalars, step: Scalars) -> tuple:
        """Position reached from `q` by the constant velocity `step` in unit time, (nq,)."""
        return tuple(position + change for position, change in zip(q, step))

    def difference(self, q0: Scalars, q1: Scalars) -> tuple:
        """Constant velocity that leads from `q0` to `q1` in unit time, (nv,).

        The inverse of `integrate`.
        """
        return tuple(end - start for start, end in zip(q0, q1))


@dataclass(frozen=True)
class Revolute(JointType):
    """Rotation about a fixed axis.

    :param axis: unit vector in joint coordinates, (3,)
    """

    axis: Vector3
    nq = nv = 1
    kind = 'revolute'

    def transform(self, q: Scalars) -> PluckerTransform:
        """Rotation by q[0] [rad] about the axis."""
        return PluckerTransform.rotation(linear3.transpose(axis_rotation(self.axis, q[0])))

    @property
    def motion_subspace(self) -> MotionSubspace:
        """S = [axis; 0]."""
        return MotionSubspace([MotionVector(self.axis, ZERO3)])


@dataclass(frozen=True)
class Prismatic(JointType):
    """Translation along a fixed axis.

    :param axis: unit vector in joint coordinates, (3,)
    """

    axis: Vector3
    nq = nv = 1
    kind = 'prismatic'

    def transform(self, q: Scalars) -> PluckerTransform:
        """Translation by q[0] [m] along the axis."""
        return PluckerTransform.translation(linear3.scale(q[0], self.axis))

    @property
    def motion_subspace(self) -> MotionSubspace:
        """S = [0; axis]."""
        return MotionSubspace([MotionVector(ZERO3, self.axis)])


@dataclass(frozen=True)
class Planar(JointType):
    """Motion in a plane: q = (theta, x, y), velocity (omega, v_x, v_y) in successor coordinates.

    x and y are the successor's position in predecessor coordinates (the variant of book 4.4 whose
    position does not depend on the angle), so the velocity is not the derivative of q.

    :param axes: the plane's unit vectors x, y and its normal z in joint coordinates, (3, 3) by
        rows
    """

    axes: Tuple[Vector3, Vector3, Vector3]
    nq = nv = 3
    kind = 'planar'

    @classmethod
    def about(cls, normal: Vector3) -> Planar:
        """Plane with the unit vector `normal`.

        Its x axis is the joint's x axis turned as little as possible.
        """
        x, y, z = normal
        if z < -1.0 + 1e-9:
            return cls(((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), normal))
        k = 1.0 / (1.0 + z)
        return cls(((1.0 - k * x * x, -k * x * y, -x), (-k * x * y, 1.0 - k * y * y, -y), normal))

    def transform(self, q: Scalars) -> PluckerTransform:
        """Translation by (x, y) in the plane, then rotation by theta [rad] about its normal."""
        x_axis, y_axis, normal = self.axes
        r = linear3.add(linear3.scale(q[1], x_axis), linear3.scale(q[2], y_axis))
        return PluckerTransform(linear3.transpose(axis_rotation(normal, q[0])), r)

    @property
    def motion_subspace(self) -> MotionSubspace:
        """S = [normal 0 0; 0 x y]."""
        x_axis, y_axis, normal = self.axes
        return MotionSubspace(
            [MotionVector(normal, ZERO3), MotionVector(ZERO3, x_axis), MotionVector(ZERO3, y_axis)]
        )

    def integrate(self, q: Scalars, step: Scalars) -> tuple:
        """Exponential of the plane: the exact screw motion of a constant body velocity."""
        theta, x, y = q
        omega, dx, dy = step
        a, b = _sine_quotients(omega)
        u, v = a * dx - b * dy, b * dx + a * dy
        c, s = cos(theta), sin(theta)
        return theta + omega, x + c * u - s * v, y + s * u + c * v

    def difference(self, q0: Scalars, q1: Scalars) -> tuple:
        """Logarithm of the plane: the inverse of `integrate`; the angle is not wrapped."""
        omega = q1[0] - q0[0]
        c, s = cos(q0[0]), sin(q0[0])
        dx, dy = q1[1] - q0[1], q1[2] - q0[2]
        u, v = c * dx + s * dy, c * dy - s * dx
        a, b = _sine_quotients(omega)
        k = 1.0 / (a * a + b * b)
        return omega, k * (a * u + b * v), k * (a * v - b * u)


@dataclass(frozen=True)
class Floating(JointType):
    """Six degrees of freedom: velocity in successor coordinates.

    q = (quaternion w, x, y, z; position x, y, z).

    The quaternion turns successor into predecessor coordinates (R = E^T); its length does not
    matter. The position is that of the successor's origin in predecessor coordinates (the variant
    of book 4.5 that is accurate for spinning bodies).
    """

    nq = 7
    nv = 6
    kind = 'floating'

    def transform(self, q: Scalars) -> PluckerTransform:
        """Rotation by the quaternion, translation by the position."""
        return PluckerTransform(linear3.transpose(quaternion_to_rotation(q[:4])), tuple(q[4:]))

    @property
    def motion_subspace(self) -> MotionSubspace:
        """S = identity."""
        return MotionSubspace(
            [MotionVector(row, ZERO3) for row in IDENTITY3]
            + [MotionVector(ZERO3, row) for row in IDENTITY3]
        )

    def neutral(self) -> Tuple[float, ...]:
        """Identity quaternion at the origin."""
        return 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0

    def integrate(self, q: Scalars, step: Scalars) -> tuple:
        """Exponential of SE(3): the exact screw motion of a constant body velocity.

        The quaternion stays unit.
        """
        omega, v = tuple(step[:3]), tuple(step[3:])
        angle2 = linear3.dot(omega, omega)
        half_sine, half_cosine = _half_angle(angle2)
        turn = (half_cosine, *linear3.scale(half_sine, omega))
        p = quaternion_product(q[:4], turn)
        norm = 1.0 / sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3])
        b, c = _screw_quotients(angle2)
        wv = linear3.cross(omega, v)
        shift = linear3.add(
            v, linear3.add(linear3.scale(b, wv), linear3.scale(c, linear3.cross(omega, wv)))
        )
        position = linear3.add(tuple(q[4:]), linear3.apply(quaternion_to_rotation(q[:4]), shift))
        return (*(norm * x for x in p), *position)

    def difference(self, q0: Scalars, q1: Scalars) -> tuple:
        """Logarithm of SE(3): the inverse of `integrate`, the shorter way round."""
        conjugate = (q0[0], -q0[1], -q0[2], -q0[3])
        omega = _rotation_vector(quaternion_product(conjugate, q1[:4]))
        R0 = quaternion_to_rotation(q0[:4])
        shift = linear3.apply_transpose(R0, linear3.subtract(tuple(q1[4:]), tuple(q0[4:])))
        k = _inverse_screw_quotient(linear3.dot(omega, omega))
        turn = linear3.cross(omega, shift)
        v = linear3.add(
            shift,
            linear3.add(linear3.scale(-0.5, turn), linear3.scale(k, linear3.cross(omega, turn))),
        )
        return (*omega, *v)


def _rotation_vector(quaternion: Scalars) -> tuple:
    """Rotation vector, of length at most pi, of a quaternion (w, x, y, z) of floats or arrays."""
    w, x, y, z = quaternion
    sine = np.sqrt(x * x + y * y + z * z)
    angle = 2.0 * np.arctan2(np.where(w < 0, -sine, sine), np.abs(w))
    scale = np.where(sine > 0, angle / np.where(sine > 0, sine, 1.0), 2.0 / w)
    return scale * x, scale * y, scale * z


def _inverse_screw_quotient(angle2: Scalar) -> Scalar:
    """(1 - (x/2) cot(x/2))/x^2 of the squared angle, by series near zero."""
    safe = np.where(angle2 > 1e-4, angle2, 1.0)
    half = 0.5 * np.sqrt(safe)
    series = 1.0 / 12.0 + angle2 * (1.0 / 720.0) * (1.0 + angle2 * (1.0 / 42.0))
    return np.where(angle2 > 1e-4, (1.0 - half / np.tan(half)) / safe, series)


def _sine_quotients(angle: Scalar) -> tuple:
    """sin(x)/x and (1 - cos(x))/x, by series near zero."""
    square = angle * angle
    safe = where_positive(1e-6 - square, 1.0, angle)
    half = sin(0.5 * safe)
    series = 1.0 - square * (1.0 / 6.0) * (1.0 - square * (1.0 / 20.0))
    series_cosine = angle * (0.5 - square * (1.0 / 24.0) * (1.0 - square * (1.0 / 30.0)))
    return (
        where_positive(1e-6 - square, series, sin(safe) / safe),
        where_positive(1e-6 - square, series_cosine, 2.0 * half * half / safe),
    )


def _half_angle(angle2: Scalar) -> tuple:
    """sin(x/2)/x and cos(x/2) of the squared angle, by series near zero."""
    safe = sqrt(where_positive(1e-6 - angle2, 1.0, angle2))
    series = 0.5 - angle2 * (1.0 / 48.0) * (1.0 - angle2 * (1.0 / 80.0))
    series_cosine = 1.0 - angle2 * (1.0 / 8.0) * (1.0 - angle2 * (1.0 / 48.0))
    return (
        where_positive(1e-6 - angle2, series, sin(0.5 * safe) / safe),
        where_positive(1e-6 - angle2, series_cosine, cos(0.5 * safe)),
    )


def _screw_quotients(angle2: Scalar) -> tuple:
    """(1 - cos x)/x^2 and (x - sin x)/x^3 of the squared angle, by series near zero."""
    limit = 1e-3
    safe2 = where_positive(limit - angle2, 1.0, angle2)
    safe = sqrt(safe2)
    half = sin(0.5 * safe)
    b = 0.5 - angle2 * (1.0 / 24.0) * (1.0 - angle2 * (1.0 / 30.0) * (1.0 - angle2 * (1.0 / 56.0)))
    c = (
        1.0 - angle2 * (1.0 / 20.0) * (1.0 - angle2 * (1.0 / 42.0) * (1.0 - angle2 * (1.0 / 72.0)))
    ) * (1.0 / 6.0)
    return (
        where_positive(limit - angle2, b, 2.0 * half * half / safe2),
        where_positive(limit - angle2, c, (safe - sin(safe)) / (safe2 * safe)),
    )
