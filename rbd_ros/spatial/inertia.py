# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inertia of a rigid body (10 numbers) and of an articulated body (21 numbers).

Sources: book 2.13, 7.1, A.3 and A.4.
"""

from __future__ import annotations

from typing import List, overload, Sequence, Tuple

import numpy as np

from rbd_ros.spatial import linear3
from rbd_ros.spatial.linear3 import Matrix3, Symmetric3, Vector3, ZERO3
from rbd_ros.spatial.quantities import require_scalar, SpatialQuantity
from rbd_ros.spatial.scalar import Scalar, ScalarArray
from rbd_ros.spatial.spatial_vectors import ForceVector, MotionVector

_ZERO_SYMMETRIC: Symmetric3 = (0, 0, 0, 0, 0, 0)


def _add(a: Symmetric3, b: Symmetric3) -> Symmetric3:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]


def _subtract(a: Symmetric3, b: Symmetric3) -> Symmetric3:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3], a[4] - b[4], a[5] - b[5]


def _scale(s: Scalar, a: Symmetric3) -> Symmetric3:
    return a[0] * s, a[1] * s, a[2] * s, a[3] * s, a[4] * s, a[5] * s


class RigidBodyInertia(SpatialQuantity):
    """Spatial inertia of a rigid body, [[I, h x], [-h x, m 1]] (book eq 2.63).

    :param mass: mass m [kg]
    :param h: first moment of mass, m c with c the center of mass, (3,) [kg m]
    :param I: lower triangle (xx, yx, yy, zx, zy, zz) of the rotational inertia about the ORIGIN,
        (6,) [kg m^2]
    :raises ValueError: if `h` or `I` has another length

    >>> inertia = np.diag([0.01, 0.01, 0.004])  # about the center of mass [kg m^2]
    >>> tool = RigidBodyInertia.from_mass_center(2.0, (0.0, 0.0, 0.1), inertia)
    >>> tool.mass, np.round(tool.parameters(), 3)  # inertia about the origin
    (2.0, array([2.   , 0.   , 0.   , 0.2  , 0.03 , 0.   , 0.   , 0.03 , 0.   ,
           0.004]))
    >>> (tool * MotionVector((1.0, 0.0, 0.0), (0.0, 0.0, 0.0))).to_array()  # momentum
    array([ 0.03,  0.  ,  0.  ,  0.  , -0.2 ,  0.  ])
    >>> tool.mass_center()[1]  # center of mass [m]
    (0.0, 0.0, 0.1)
    >>> same = RigidBodyInertia.from_parameters(tool.parameters())
    >>> np.allclose(RigidBodyInertia.from_matrix(same.matrix()).matrix(), tool.matrix())
    True
    >>> tool.moved((0.0, 0.0, 0.1)).h, tool.rotated(np.eye(3)).mass
    ((0.0, 0.0, 0.0), 2.0)
    >>> (tool + RigidBodyInertia.zero()).mass
    2.0
    """

    __slots__ = ('mass', 'h', 'I')

    def __init__(self, mass: Scalar, h: Vector3, I: Symmetric3):
        self.mass = mass
        self.h = linear3.vector3(h, 'h')
        self.I: Symmetric3 = tuple(I)
        if len(self.I) != 6:
            raise ValueError(f'I must be the 6 numbers of a lower triangle, got {len(self.I)}')

    @classmethod
    def zero(cls) -> RigidBodyInertia:
        """Return the inertia without mass."""
        return cls(0, ZERO3, _ZERO_SYMMETRIC)

    @classmethod
    def from_mass_center(cls, mass: Scalar, center: Vector3, I_C: Matrix3) -> RigidBodyInertia:
        """Return the inertia with a given mass, center of mass and rotational inertia about it.

        The book's mcI (eq 2.62).

        :param mass: mass [kg]
        :param center: center of mass, (3,) [m]
        :param I_C: rotational inertia about the center of mass, symmetric, (3, 3) [kg m^2]
        """
        center = linear3.vector3(center, 'center')
        h = linear3.scale(mass, center)
        parallel_axis = linear3.lower_skew_skew(h, center)
        return cls(
            mass, h, _subtract(linear3.symmetric(linear3.matrix3(I_C, 'I_C')), parallel_axis)
        )

    @classmethod
    def from_parameters(cls, parameters: Sequence[Scalar]) -> RigidBodyInertia:
        """Return the inertia with parameters (m, m cx, m cy, m cz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz).

        The rotational inertia is that about the origin. The dynamics are linear in these
        parameters.

        :param parameters: (10,) [kg, kg m, kg m^2]
        """
        m, hx, hy, hz, xx, xy, xz, yy, yz, zz = parameters
        return cls(m, (hx, hy, hz), (xx, xy, yy, xz, yz, zz))

    @classmethod
    def from_matrix(cls, M: ScalarArray) -> RigidBodyInertia:
        """Return the inertia with a given matrix, (6, 6).

        :raises ValueError: for another shape
        """
        M = np.asarray(M)
        if M.shape != (6, 6):
            raise ValueError(f'a spatial inertia is 6x6, got {M.shape}')
        return cls(
            M[5, 5].item(),
            linear3.unskew(linear3.matrix3(M[:3, 3:])),
            linear3.symmetric(linear3.matrix3(M[:3, :3])),
        )

    def parameters(self) -> Tuple[Scalar, ...]:
        """Return ten inertial parameters, (10,), in the order of `from_parameters`."""
        xx, xy, yy, xz, yz, zz = self.I
        return (self.mass, *self.h, xx, xy, xz, yy, yz, zz)

    def mass_center(self) -> Tuple[Scalar, Vector3, Matrix3]:
        """Return the mass, center of mass (3,) and rotational inertia about it (3, 3).

        These are the arguments of `from_mass_center`.

        :raises ZeroDivisionError: for a massless body, which has no center of mass
        """
        center = (self.h[0] / self.mass, self.h[1] / self.mass, self.h[2] / self.mass)
        about_center = _add(self.I, linear3.lower_skew_skew(self.h, center))
        return self.mass, center, linear3.full(about_center)

    def matrix(self) -> ScalarArray:
        """Return the matrix [[I, h x], [-h x, m 1]], (6, 6)."""
        h: ScalarArray = np.array(linear3.skew(self.h))
        return np.block([[np.array(linear3.full(self.I)), h], [-h, self.mass * np.eye(3)]])

    @overload
    def __mul__(self, other: MotionVector) -> ForceVector: ...

    @overload
    def __mul__(self, other: Scalar) -> RigidBodyInertia: ...

    def __mul__(self, other: Scalar) -> SpatialQuantity:
        """Return momentum I v of a velocity (24m + 18a), or the inertia times a scalar (10m)."""
        if isinstance(other, MotionVector):
            omega, v = other.angular, other.linear
            return ForceVector(
                linear3.add(linear3.apply(linear3.full(self.I), omega), linear3.cross(self.h, v)),
                linear3.subtract(linear3.scale(self.mass, v), linear3.cross(self.h, omega)),
            )
        require_scalar(other, 'inertia *')
        return self._times(other)

    def __rmul__(self, factor: Scalar) -> RigidBodyInertia:
        require_scalar(factor, '* inertia')
        return self._times(factor)

    def _times(self, factor: Scalar) -> RigidBodyInertia:
        return RigidBodyInertia(
            self.mass * factor, linear3.scale(factor, self.h), _scale(factor, self.I)
        )

    @overload
    def __add__(self, other: RigidBodyInertia) -> RigidBodyInertia: ...

    @overload
    def __add__(self, other: ArticulatedBodyInertia) -> ArticulatedBodyInertia: ...

    def __add__(self, other: object) -> SpatialQuantity:
        """Return the inertia of two bodies joined rigidly (10a, with an articulated body 15a)."""
        if isinstance(other, ArticulatedBodyInertia):
            return other + self
        if not isinstance(other, RigidBodyInertia):
            raise TypeError(
                f'inertia + {type(other).__name__}: only inertias can be added to an inertia'
            )
        return RigidBodyInertia(
            self.mass + other.mass, linear3.add(self.h, other.h), _add(self.I, other.I)
        )

    def rotated(self, E: Matrix3) -> RigidBodyInertia:
        """Return the inertia in coordinates rotated by `E`, (3, 3)."""
        return RigidBodyInertia(
            self.mass, linear3.apply(E, self.h), linear3.rotate_symmetric(E, self.I)
        )

    def moved(self, r: Vector3) -> RigidBodyInertia:
        """Return the inertia in coordinates whose origin lies at `r`, (3,) [m].

        The first moment becomes y = h - m r and I becomes I + r x h x + y x r x (book A.3).
        """
        y = linear3.subtract(self.h, linear3.scale(self.mass, r))
        change = _add(linear3.lower_skew_skew(r, self.h), linear3.lower_skew_skew(y, r))
        return RigidBodyInertia(self.mass, y, _add(self.I, change))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RigidBodyInertia) and self.parameters() == other.parameters()

    def __hash__(self) -> int:
        return hash(self.parameters())

    def __repr__(self) -> str:
        return f'RigidBodyInertia(mass={self.mass}, h={self.h}, I={self.I})'


class ArticulatedBodyInertia(SpatialQuantity):
    """Articulated-body inertia [[I, H], [H^T, M]] (book 7.1): apparent inertia of a body.

    :param M: lower triangle of the linear block, (6,) [kg]
    :param H: coupling block, (3, 3) [kg m]
    :param I: lower triangle of the rotational block, (6,) [kg m^2]

    >>> IA = ArticulatedBodyInertia.from_rigid(tool)
    >>> S = MotionVector((1.0, 0.0, 0.0), (0.0, 0.0, 0.0))  # a hinge about x
    >>> U, D = IA * S, S.dot(IA * S)
    >>> Ia = IA.minus_dyad(U * (1.0 / D), U)
    >>> (Ia * S).to_array()  # free to turn about it
    array([0., 0., 0., 0., 0., 0.])
    >>> np.allclose(ArticulatedBodyInertia.from_matrix(IA.matrix()).matrix(), tool.matrix())
    True
    >>> turned, shifted = IA.rotated(np.eye(3)), IA.moved((0.0, 0.0, 0.0))
    >>> np.allclose((turned + ArticulatedBodyInertia.zero()).matrix(), shifted.matrix())
    True
    """

    __slots__ = ('M', 'H', 'I')

    def __init__(self, M: Symmetric3, H: Matrix3, I: Symmetric3):
        self.M: Symmetric3 = tuple(M)
        self.H: Matrix3 = linear3.matrix3(H, 'H')
        self.I: Symmetric3 = tuple(I)

    @classmethod
    def zero(cls) -> ArticulatedBodyInertia:
        """Return the inertia without mass."""
        return cls(_ZERO_SYMMETRIC, (ZERO3, ZERO3, ZERO3), _ZERO_SYMMETRIC)

    @classmethod
    def from_rigid(cls, inertia: RigidBodyInertia) -> ArticulatedBodyInertia:
        """Return the inertia of an articulated body with a single rigid body."""
        m = inertia.mass
        return cls((m, 0, m, 0, 0, m), linear3.skew(inertia.h), inertia.I)

    @classmethod
    def from_matrix(cls, A: ScalarArray) -> ArticulatedBodyInertia:
        """Return the inertia with a given symmetric matrix, (6, 6).

        :raises ValueError: for another shape
        """
        A = np.asarray(A)
        if A.shape != (6, 6):
            raise ValueError(f'an articulated-body inertia is 6x6, got {A.shape}')
        return cls(
            linear3.symmetric(linear3.matrix3(A[3:, 3:])),
            linear3.matrix3(A[:3, 3:]),
            linear3.symmetric(linear3.matrix3(A[:3, :3])),
        )

    def matrix(self) -> ScalarArray:
        """Return the matrix [[I, H], [H^T, M]], (6, 6)."""
        H: ScalarArray = np.array(self.H)
        return np.block(
            [[np.array(linear3.full(self.I)), H], [H.T, np.array(linear3.full(self.M))]]
        )

    @overload
    def __mul__(self, other: MotionVector) -> ForceVector: ...

    @overload
    def __mul__(self, other: Scalar) -> ArticulatedBodyInertia: ...

    def __mul__(self, other: Scalar) -> SpatialQuantity:
        """Return the force IA a of an acceleration (36m + 30a), or the scaled inertia (21m)."""
        if isinstance(other, MotionVector):
            omega, v = other.angular, other.linear
            return ForceVector(
                linear3.add(linear3.apply(linear3.full(self.I), omega), linear3.apply(self.H, v)),
                linear3.add(
                    linear3.apply(linear3.full(self.M), v), linear3.apply_transpose(self.H, omega)
                ),
            )
        require_scalar(other, 'inertia *')
        return self._times(other)

    def __rmul__(self, factor: Scalar) -> ArticulatedBodyInertia:
        require_scalar(factor, '* inertia')
        return self._times(factor)

    def _times(self, factor: Scalar) -> ArticulatedBodyInertia:
        x, y, z = self.H
        H = (linear3.scale(factor, x), linear3.scale(factor, y), linear3.scale(factor, z))
        return ArticulatedBodyInertia(_scale(factor, self.M), H, _scale(factor, self.I))

    def __add__(self, other: object) -> ArticulatedBodyInertia:
        """Return the inertia of two bodies joined rigidly (21a, with a rigid body 15a)."""
        if isinstance(other, ArticulatedBodyInertia):
            return ArticulatedBodyInertia(
                _add(self.M, other.M), linear3.add_matrices(self.H, other.H), _add(self.I, other.I)
            )
        if isinstance(other, RigidBodyInertia):
            m, (hx, hy, hz) = other.mass, other.h
            xx, yx, yy, zx, zy, zz = self.M
            (a, b, c), (d, e, f), (g, h, i) = self.H
            H = ((a, b - hz, c + hy), (d + hz, e, f - hx), (g - hy, h + hx, i))
            return ArticulatedBodyInertia(
                (xx + m, yx, yy + m, zx, zy, zz + m), H, _add(self.I, other.I)
            )
        raise TypeError(
            f'inertia + {type(other).__name__}: only inertias can be added to an inertia'
        )

    def minus_dyad(self, W: ForceVector, U: ForceVector) -> ArticulatedBodyInertia:
        """Return IA - W U^T for dyads W U^T whose sum is symmetric, as single ones need not be.

        Such are the dyads of U D^-1 U^T in the articulated-body algorithm (book table 7.1). Only
        one triangle of the symmetric blocks is computed.
        """
        (a, b, c), (d, e, f) = W.moment, W.linear
        (p, q, r), (s, t, u) = U.moment, U.linear
        return ArticulatedBodyInertia(
            _subtract(self.M, (d * s, e * s, e * t, f * s, f * t, f * u)),
            linear3.subtract_matrices(
                self.H, ((a * s, a * t, a * u), (b * s, b * t, b * u), (c * s, c * t, c * u))
            ),
            _subtract(self.I, (a * p, b * p, b * q, c * p, c * q, c * r)),
        )

    def rotated(self, E: Matrix3) -> ArticulatedBodyInertia:
        """Return the inertia in coordinates rotated by `E`, (3, 3)."""
        return ArticulatedBodyInertia(
            linear3.rotate_symmetric(E, self.M),
            linear3.rotate_general(E, self.H),
            linear3.rotate_symmetric(E, self.I),
        )

    def moved(self, r: Vector3) -> ArticulatedBodyInertia:
        """Return the inertia in coordinates whose origin lies at `r`, (3,) [m].

        H becomes H' = H - r x M, and I becomes I - r x H^T + H' r x (book A.3).
        """
        H = linear3.subtract_matrices(self.H, linear3.cross_matrix(r, linear3.full(self.M)))
        rH = linear3.symmetric(linear3.cross_matrix(r, linear3.transpose(self.H)))
        Hr = linear3.symmetric(linear3.matrix_cross(H, r))
        return ArticulatedBodyInertia(self.M, H, _add(_subtract(self.I, rH), Hr))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArticulatedBodyInertia) and (self.M, self.H, self.I) == (
            other.M,
            other.H,
            other.I,
        )

    def __hash__(self) -> int:
        return hash((self.M, self.H, self.I))

    def __repr__(self) -> str:
        return f'ArticulatedBodyInertia(M={self.M}, H={self.H}, I={self.I})'


# URDFs have few digits: an inequality is violated only beyond this fraction of the largest moment,
# or beyond the moment of the mass at this distance (a micrometer).
RELATIVE_TOLERANCE = 1e-6
TOLERANCE_LENGTH = 1e-6


def violated_conditions(
    mass: float, center: Sequence[float], inertia: Sequence[Sequence[float]]
) -> List[str]:
    """Return texts about violated conditions of a physical inertia; empty without violations.

    :param mass: mass [kg]
    :param center: center of mass, (3,) [m]
    :param inertia: rotational inertia about the center of mass, (3, 3) symmetric [kg m^2]
    """
    found = []
    rotates = any(value != 0.0 for row in inertia for value in row)
    if mass < 0.0:
        found.append(f'the mass is negative ({mass:g} kg)')
    elif mass == 0.0:
        if rotates:
            found.append('the mass is zero but the rotational inertia is not')
        if any(value != 0.0 for value in center):
            found.append('a center of mass is given but the mass is zero')
    if not rotates:
        return found
    scale = max(abs(value) for row in inertia for value in row)
    eigenvalues = scale * np.linalg.eigvalsh(np.array(inertia) / scale)
    tolerance = max(
        RELATIVE_TOLERANCE * float(np.abs(eigenvalues).max()), abs(mass) * TOLERANCE_LENGTH**2
    )
    moments = [float(moment) for moment in eigenvalues]
    words = ', '.join(f'{moment if abs(moment) > tolerance else 0.0:.6g}' for moment in moments)
    if moments[0] < -tolerance:
        found.append(
            f'the rotational inertia is not positive definite (principal moments {words} kg m^2)'
        )
    elif moments[0] + moments[1] < moments[2] - tolerance:
        found.append(
            f'the principal moments {words} kg m^2 violate the triangle inequality '
            '(none may exceed the sum of the others)'
        )
    return found
