# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joint whose motion is a given function of time (book 3.4, 3.5): a rheonomic constraint.

It has no degree of freedom: the force of the motion is a constraint force. If that force is
needed, or the motion is not known in advance, use hybrid dynamics (book 9.1) with an ordinary
joint and its acceleration.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, Tuple

from rbd_ros.model.joints.joint_type import JointState, JointType, Scalars
from rbd_ros.spatial import ForceVector, MotionSubspace, MotionVector, PluckerTransform
from rbd_ros.spatial.scalar import cos, Scalar, sin


class Motion(Protocol):
    """A motion as a function of time; its `repr` must be unique, like that of a dataclass.

    The key of the cache includes its source only if it is in this module.
    """

    def at(self, t: Scalar) -> Tuple[Scalar, Scalar, Scalar]:
        """Return position, velocity and acceleration at time `t` [s]; [rad or m], per second."""


@dataclass(frozen=True)
class Harmonic:
    """Motion offset + amplitude sin(rate t + phase).

    :param amplitude: amplitude of the oscillation [rad or m]
    :param rate: angular frequency [rad/s]
    :param phase: phase at time zero [rad]
    :param offset: mean position [rad or m]
    """

    amplitude: float
    rate: float
    phase: float = 0.0
    offset: float = 0.0

    def at(self, t: Scalar) -> Tuple[Scalar, Scalar, Scalar]:
        """Return the position, velocity and acceleration."""
        angle = self.rate * t + self.phase
        a, w = self.amplitude, self.rate
        s = sin(angle)
        return self.offset + a * s, a * w * cos(angle), -(a * w * w) * s


@dataclass(frozen=True)
class Polynomial:
    """Motion c0 + c1 t + c2 t^2 + ...

    :param coefficients: c0, c1, ... [rad or m, per power of a second]
    """

    coefficients: Tuple[float, ...]

    def at(self, t: Scalar) -> Tuple[Scalar, Scalar, Scalar]:
        """Return the position, velocity and acceleration, by Horner's scheme for all three."""
        position: Scalar = 0.0
        velocity: Scalar = 0.0
        half_acceleration: Scalar = 0.0
        for c in reversed(self.coefficients):
            half_acceleration = half_acceleration * t + velocity
            velocity = velocity * t + position
            position = position * t + c
        return position, velocity, 2.0 * half_acceleration


@dataclass(frozen=True)
class Rheonomic(JointType):
    """A joint of one degree of freedom whose position is a given function of time.

    Its only position variable is the time [s], which the integrator sets; `integrate` does not
    change it, and the simulator rejects such joints. There is no velocity variable, S is empty,
    and sigma of v_J = S qd + sigma (book eq 3.33) is the v_J of `calc`. So Jacobians and the
    Coriolis matrix do not include the motion; forward and inverse dynamics and the bias force do,
    and the gravity torque includes the acceleration of the motion.

    :param joint: the joint, with one position variable whose rate is the velocity
    :raises ValueError: if the joint has more variables
    """

    joint: JointType
    motion: Motion
    nq: int = field(default=1, init=False, repr=False)
    nv: int = field(default=0, init=False, repr=False)
    reach: Tuple[float, ...] = field(default=(1.0,), init=False, repr=False)

    def __post_init__(self) -> None:
        """Check that the motion of the joint has one variable."""
        if not (self.joint.nq == self.joint.nv == 1 and self.joint.is_flat):
            raise ValueError(
                f'{self.joint!r} cannot follow a motion of one variable: it has {self.joint.nq} '
                f'position and {self.joint.nv} velocity variables'
            )

    def transform(self, q: Scalars) -> PluckerTransform:
        """Return the transform of the joint at time q[0] [s]."""
        return self.joint.transform((self.motion.at(q[0])[0],))

    def motion_subspace(self, q: Scalars) -> MotionSubspace:
        """Return no columns, (6, 0)."""
        return MotionSubspace(())

    def constraint_forces(self, q: Scalars) -> Tuple[ForceVector, ...]:
        """Return all forces: T is any basis, (6, 6)."""
        rows = [[1.0 if i == j else 0.0 for j in range(6)] for i in range(6)]
        return tuple(map(ForceVector.from_array, rows))

    def calc(self, q: Scalars, qd: Scalars) -> JointState:
        """Return the joint calculation: sigma = S s' for v_J, and c_J = S s'' + Sring s'.

        S is that of the joint.

        :param q: time, (1,) [s]
        :param qd: empty, (0,)
        """
        s, rate, acceleration = self.motion.at(q[0])
        X, S, v, c = self.joint.calc((s,), (rate,))
        return JointState(X, MotionSubspace(()), v, c + S @ (acceleration,))

    def bias(self, q: Scalars, qd: Scalars) -> MotionVector:
        """Return the velocity-product acceleration c_J with the acceleration of the motion."""
        return self.calc(q, qd).c

    def integrate(self, q: Scalars, step: Scalars) -> Tuple[Scalar, ...]:
        """Return the time unchanged: it does not depend on velocity variables."""
        return tuple(q)

    def difference(self, q0: Scalars, q1: Scalars) -> Tuple[Scalar, ...]:
        """Return an empty velocity, (0,)."""
        return ()

    def position_rate(self, q: Scalars, v: Scalars) -> Tuple[Scalar, ...]:
        """Return the rate of the time: zero, consistent with `integrate`."""
        return (0.0,)

    @property
    def is_lower_pair(self) -> bool:
        """False: the constraint depends on time, so the joint closes no loop."""
        return False

    @property
    def is_rheonomic(self) -> bool:
        """True: the joint depends on time."""
        return True

    @classmethod
    def examples(cls) -> Tuple[Rheonomic, ...]:
        """Return none: the conformance tests move joints by velocities, which this one lacks."""
        return ()
