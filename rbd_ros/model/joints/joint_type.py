# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Interface of joint types: the methods that algorithms, configurations and integrators call.

A joint type contains kinematics only. A new type is one file with one class: no other module
depends on the type of a joint, and test/model/joints/test_joints.py tests every type in this
folder, by its `examples`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
import math
from typing import NamedTuple, Optional, Sequence, Tuple

from rbd_ros.model.joints import lower_pair
from rbd_ros.spatial import (
    ForceVector,
    MotionSubspace,
    MotionVector,
    PluckerTransform,
    RigidBodyInertia,
)
from rbd_ros.spatial.linear3 import Vector3, ZERO3
from rbd_ros.spatial.scalar import Scalar

Scalars = Sequence[Scalar]

#: Limits beyond this count as no limits [rad or m].
MAX_LIMIT = 1e6


class JointState(NamedTuple):
    """Results of jcalc for a joint (book 4.4).

    :param X: joint transform X_J, from predecessor to successor coordinates
    :param S: motion subspace, (6, nv)
    :param v: joint velocity v_J
    :param c: velocity-product acceleration c_J
    """

    X: PluckerTransform
    S: MotionSubspace
    v: MotionVector
    c: MotionVector


class JointType(ABC):
    """A type of joint with its parameters (book 4.4).

    Position variables q and velocity variables are those of the joint; the velocity need not be
    the derivative of the position. All spatial quantities are in successor coordinates. Scalars
    are generic unless a method says otherwise.

    :cvar nq: number of position variables
    :cvar nv: number of degrees of freedom
    :cvar reach: range of `random` without limits, (nq,) [rad or m]
    """

    nq: int
    nv: int
    reach: Tuple[float, ...]

    # -- kinematics

    @abstractmethod
    def transform(self, q: Scalars) -> PluckerTransform:
        """Return the joint transform X_J, predecessor to successor coordinates, at `q`, (nq,)."""

    @abstractmethod
    def motion_subspace(self, q: Scalars) -> MotionSubspace:
        """Return the motion subspace S, (6, nv): the joint velocity is S times the velocity."""

    @abstractmethod
    def constraint_forces(self, q: Scalars) -> Tuple[ForceVector, ...]:
        """Return the constraint-force subspace T, (6, 6 - nv), as its columns: T^T S = 0."""

    def motion_subspace_rate(self, q: Scalars, qd: Scalars) -> MotionSubspace:
        """Return the apparent derivative of S at `qd`, (6, nv); zero unless S depends on q."""
        return MotionSubspace([MotionVector.zero()] * self.nv)

    def bias(self, q: Scalars, qd: Scalars) -> MotionVector:
        """Return the velocity-product acceleration c_J: the derivative of S times `qd`, (nv,)."""
        return self.motion_subspace_rate(q, qd) @ qd

    def calc(self, q: Scalars, qd: Scalars) -> JointState:
        """Return all results of jcalc for position `q`, (nq,), and velocity `qd`, (nv,)."""
        S = self.motion_subspace(q)
        return JointState(self.transform(q), S, S @ qd, self.bias(q, qd))

    # -- configurations

    def neutral(self) -> Tuple[float, ...]:
        """Return the position at which the joint transform X_J is the identity, (nq,)."""
        return (0.0,) * self.nq

    @property
    def uniforms(self) -> int:
        """Number of uniform random numbers for `sample`."""
        return self.nq

    def sample(self, u: Scalars, lower: float, upper: float) -> Tuple[Scalar, ...]:
        """Return a position uniform between the limits, or within `reach` without them, (nq,).

        Limits farther than `MAX_LIMIT` from zero count as no limits.

        :param u: numbers uniform in [0, 1), (uniforms,)
        :param lower: lower limit of each variable, -inf: no limit [rad or m]
        :param upper: upper limit, inf: no limit [rad or m]
        """
        lower = lower if lower >= -MAX_LIMIT else -math.inf
        upper = upper if upper <= MAX_LIMIT else math.inf
        drawn = []
        for reach, x in zip(self.reach, u):
            low, high = lower, upper
            if math.isinf(low):
                low = -reach if math.isinf(high) else high - 2.0 * reach
            if math.isinf(high):
                high = reach if math.isinf(lower) else low + 2.0 * reach
            drawn.append(low + (high - low) * x)
        return tuple(drawn)

    def normalize(self, q: Scalars) -> Tuple[float, ...]:
        """Return the position without redundancy, such as the length of a quaternion, (nq,).

        :param q: position of floats, (nq,)
        :raises ValueError: if it is not a position of the joint, such as a zero quaternion
        """
        return tuple(q)

    def position_rate(self, q: Scalars, v: Scalars) -> Tuple[Scalar, ...]:
        """Return the time derivative of the position, dq/dt = Q(q) v (book 4.4, eq 3.7).

        :param q: position, (nq,)
        :param v: velocity, (nv,)
        :return: rate of the position, (nq,)
        """
        return tuple(v)

    def integrate(self, q: Scalars, step: Scalars) -> Tuple[Scalar, ...]:
        """Return the position after unit time at the constant velocity `step` from `q`, (nq,)."""
        return tuple(position + change for position, change in zip(q, step))

    def difference(self, q0: Scalars, q1: Scalars) -> Tuple[Scalar, ...]:
        """Return the velocity from `q0` to `q1` in unit time, the inverse of `integrate`.

        :param q0: initial position, (nq,)
        :param q1: final position, likewise
        :return: velocity, (nv,)
        """
        return tuple(end - start for start, end in zip(q0, q1))

    @property
    def is_flat(self) -> bool:
        """True if positions form a vector space, so that `integrate` is a sum."""
        return type(self).integrate is JointType.integrate

    @property
    def is_lower_pair(self) -> bool:
        """True if the motion subspace is constant: surfaces that slide in themselves."""
        return type(self).motion_subspace_rate is JointType.motion_subspace_rate

    @property
    def is_rheonomic(self) -> bool:
        """True if the joint depends on time, which is then its first position variable [s]."""
        return False

    # -- loop joints, from the transform between their frames (implicit jcalc, book 4.4)

    @property
    def closes_loops(self) -> bool:
        """True if it may be a loop joint: a lower pair, or a type with its own `loop_error`.

        Such a type also has `constraint_forces_at`, `motion_subspace_at` and `displacement_at`.
        """
        return self.is_lower_pair or type(self).loop_error is not JointType.loop_error

    def loop_error(self, X: PluckerTransform) -> Tuple[Scalar, ...]:
        """Return the position error delta, (6 - nv,); zero only at poses of the joint.

        At zero, its rate is T^T v_J (book 8.3).

        :param X: transform from predecessor to successor coordinates
        """
        error = lower_pair.position_error(X, self.motion_subspace(self.neutral()))
        return tuple(error.dot(T) for T in self.constraint_forces(self.neutral()))

    def constraint_forces_at(self, X: PluckerTransform) -> Tuple[ForceVector, ...]:
        """Return 6 - nv constraint forces T for frames at `X`, like those at q."""
        return self.constraint_forces(self.neutral())

    def motion_subspace_at(self, X: PluckerTransform) -> MotionSubspace:
        """Return the motion subspace S for frames at `X`, (6, nv), like that at q."""
        return self.motion_subspace(self.neutral())

    def displacement_at(self, X: PluckerTransform) -> Tuple[Scalar, ...]:
        """Return the displacement along each DoF, (nv,), zero at the neutral position.

        Its rates are the velocity variables, except for rotations about several axes, which have a
        rotation vector.
        """
        return lower_pair.displacement(X, self.motion_subspace(self.neutral()))

    def bracket(self, u: Scalars, v: Scalars) -> Tuple[Scalar, ...]:
        """Return the Lie bracket of two velocities, (nv,), zero if their motions commute."""
        return (0.0,) * self.nv

    def opposite(self) -> Optional[JointType]:
        """Return this joint with opposite polarity, if its type has one.

        Its transform is the inverse at the same q, its motion subspace -pXs S (book table 4.2).
        `reverse` (reversed.py) makes one for every joint.
        """
        return None

    def pose_variables(self) -> Optional[Tuple[int, int]]:
        """Return the indices in q of the pose of a free body; None if the joint constrains it.

        :return: index of the unit quaternion (w, x, y, z) of R = E^T, and index of the position in
            predecessor coordinates; S is then the identity
        """
        return None

    def singularity(self, q: Scalars) -> Optional[str]:
        """Return a warning if `q`, floats, is at a singularity of the position variables, or None.

        There, S loses rank: some velocities of the body have no velocity variables.
        """
        return None

    # -- dynamic equivalence (book 9.7)

    def frame_shift(self, r: Vector3) -> Vector3:
        """Return the shift of the body's frame that keeps its motion and minimizes X_T.

        :param r: translation of X_T, in the coordinates after its rotation, (3,) [m]
        :return: new origin in the body's present coordinates, (3,) [m]
        """
        return ZERO3

    def not_excited(self, inertia: RigidBodyInertia) -> Optional[RigidBodyInertia]:
        """Return the part of the inertia that can be moved to the parent (book table 9.7).

        It is an I_delta with I_delta S = 0, X_J^T I_delta X_J = I_delta and S^T v x* I_delta v = 0
        for all positions and velocities (book eq 9.30), so the motion of the joint does not depend
        on its body; of these, it leaves the fewest nonzero parameters.

        :param inertia: inertia of the body in its own coordinates
        :return: I_delta in the same coordinates, linear in `inertia`; None if there is none
        """
        return None

    # -- tests

    @classmethod
    @abstractmethod
    def examples(cls) -> Tuple[JointType, ...]:
        """Return joints of this type for the tests, with simple and with general parameters."""


def equal_across(inertia: RigidBodyInertia, axis: Vector3) -> RigidBodyInertia:
    """Return the rotational inertia c (1 - k k^T): equal across the unit vector k, none about it.

    A body that only rotates about k relative to another one may have it in either body.

    :param inertia: defines c, such that one more diagonal element becomes zero without this part
    :param axis: the unit vector k, (3,)
    """
    x, y, z = axis
    most = max(range(3), key=lambda k: abs(axis[k]))
    diagonal = (inertia.I[0], inertia.I[2], inertia.I[5])
    other = (most + 1) % 3
    c = diagonal[other] / (1.0 - axis[other] ** 2)
    rotational = (
        c * (1.0 - x * x),
        -c * y * x,
        c * (1.0 - y * y),
        -c * z * x,
        -c * z * y,
        c * (1.0 - z * z),
    )
    return RigidBodyInertia(0.0, ZERO3, rotational)


def across(axis: Vector3) -> Tuple[Vector3, Vector3]:
    """Return two unit vectors u and v that complete `axis` to a right-handed frame (u, v, axis).

    They are the x and y axes after the smallest rotation that takes z to `axis`.
    """
    x, y, z = axis
    square = x * x + y * y
    if z > 0.0:
        k = 1.0 / (1.0 + z)
    elif square > 1e-280:  # smaller ones have lost digits
        k = (1.0 - z) / square  # equal, since 1 + z loses all digits near -z
    else:  # opposite: all half turns are equally small
        return (1.0, 0.0, 0.0), (0.0, -1.0, 0.0)
    return (1.0 - k * x * x, -k * x * y, -x), (-k * x * y, 1.0 - k * y * y, -y)
