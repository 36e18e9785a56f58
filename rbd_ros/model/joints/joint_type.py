"""What a joint type is: the verbs that algorithms, configurations and integrators ask for.

A joint type knows kinematics only. A new type is one file with a class of its own: nothing else
in the package asks which type a joint is, and test/model/test_joints.py tries every type it finds
in this folder, by its `examples`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
import math
from typing import NamedTuple, Optional, Sequence, Tuple

import numpy as np

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


class JointState(NamedTuple):
    """What jcalc returns: X_J, S, v_J and c_J of a joint (book 4.4)."""

    X: PluckerTransform
    S: MotionSubspace
    v: MotionVector
    c: MotionVector


class JointType(ABC):
    """A type of joint with its parameters (book 4.4).

    Position variables q and velocity variables are those of the joint; the velocity need not be
    the rate of the position. All spatial quantities are in successor coordinates. Scalars are
    generic but where a verb says otherwise.

    :cvar nq: number of position variables
    :cvar nv: degrees of freedom
    :cvar reach: how far from zero positions without limits are drawn, (nq,) [rad or m]
    """

    nq: int
    nv: int
    reach: Tuple[float, ...]

    # -- kinematics

    @abstractmethod
    def transform(self, q: Scalars) -> PluckerTransform:
        """Joint transform X_J from predecessor to successor coordinates at `q`, (nq,)."""

    @abstractmethod
    def motion_subspace(self, q: Scalars) -> MotionSubspace:
        """Motion subspace S, (6, nv): the joint's velocity is S times its velocity variables."""

    @abstractmethod
    def constraint_forces(self, q: Scalars) -> Tuple[ForceVector, ...]:
        """Constraint-force subspace T, (6, 6 - nv), as its columns: T^T S = 0."""

    def motion_subspace_rate(self, q: Scalars, qd: Scalars) -> MotionSubspace:
        """Apparent derivative of S at velocity `qd`, (6, nv): zero unless S depends on q."""
        return MotionSubspace([MotionVector.zero()] * self.nv)

    def bias(self, q: Scalars, qd: Scalars) -> MotionVector:
        """Velocity-product acceleration c_J: the apparent derivative of S, times `qd`, (nv,)."""
        return self.motion_subspace_rate(q, qd) @ qd

    def calc(self, q: Scalars, qd: Scalars) -> JointState:
        """Joint calculation (jcalc) for position `q`, (nq,), and velocity `qd`, (nv,)."""
        S = self.motion_subspace(q)
        return JointState(self.transform(q), S, S @ qd, self.bias(q, qd))

    # -- configurations

    def neutral(self) -> Tuple[float, ...]:
        """Position with X_J = 1, (nq,)."""
        return (0.0,) * self.nq

    def random(self, rng: np.random.Generator, lower: float, upper: float) -> np.ndarray:
        """Position drawn uniformly between limits, (nq,); without them, within `reach`."""
        drawn = []
        for reach in self.reach:
            low, high = lower, upper
            if math.isinf(low):
                low = -reach if math.isinf(high) else high - 2.0 * reach
            if math.isinf(high):
                high = reach if math.isinf(lower) else low + 2.0 * reach
            drawn.append(rng.uniform(low, high))
        return np.array(drawn)

    def normalize(self, q: Scalars) -> Tuple[float, ...]:
        """Position that means the same, as `integrate` would give it, (nq,), of floats.

        :raises ValueError: if it means nothing
        """
        return tuple(q)

    def position_rate(self, q: Scalars, v: Scalars) -> tuple:
        """Rate of the position at velocity `v`, (nq,): dq/dt = Q(q) v (book 4.4, eq 3.7)."""
        return tuple(v)

    def integrate(self, q: Scalars, step: Scalars) -> tuple:
        """Position reached from `q` by the constant velocity `step` in unit time, (nq,)."""
        return tuple(position + change for position, change in zip(q, step))

    def difference(self, q0: Scalars, q1: Scalars) -> tuple:
        """Constant velocity that leads from `q0` to `q1` in unit time, (nv,), of arrays.

        The inverse of `integrate`.
        """
        return tuple(end - start for start, end in zip(q0, q1))

    @property
    def is_flat(self) -> bool:
        """Whether positions add like numbers: `integrate` is a sum."""
        return type(self).integrate is JointType.integrate

    def bracket(self, u: Scalars, v: Scalars) -> tuple:
        """Lie bracket of two velocities, (nv,): how far motions along them do not commute."""
        return (0.0,) * self.nv

    def pose_variables(self) -> Optional[Tuple[int, int]]:
        """Where q holds the pose of a body that moves freely; None if the joint constrains it.

        :return: the first variable of the unit quaternion (w, x, y, z) of R = E^T, and the first
            of the position in predecessor coordinates; S is then the identity
        """
        return None

    # -- dynamic equivalence (book 9.7)

    def frame_shift(self, r: Vector3) -> Vector3:
        """Where the body's frame may move to, in its own coordinates, so that X_T is shortest.

        :param r: translation of X_T, in the coordinates after its rotation [m]
        """
        return ZERO3

    def not_excited(self, inertia: RigidBodyInertia) -> Optional[RigidBodyInertia]:
        """Part of an inertia that may as well be the parent's (table 9.7), None if there is none.

        I_delta with I_delta S = 0 (up to a constant force) and X_J^T I_delta X_J = I_delta.
        """
        return None

    # -- tests

    @classmethod
    @abstractmethod
    def examples(cls) -> Tuple[JointType, ...]:
        """Joints of this type with parameters that leave nothing special, for the tests."""


def across(axis: Vector3) -> Tuple[Vector3, Vector3]:
    """Two unit vectors that with the unit vector `axis` as third make a right-handed frame.

    The first is the x axis turned as little as possible.
    """
    x, y, z = axis
    if z < -1.0 + 1e-9:
        return (1.0, 0.0, 0.0), (0.0, -1.0, 0.0)
    k = 1.0 / (1.0 + z)
    return (1.0 - k * x * x, -k * x * y, -x), (-k * x * y, 1.0 - k * y * y, -y)
