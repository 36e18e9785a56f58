# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A joint with opposite polarity: predecessor and successor are exchanged (book table 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple

from rbd_ros.model.joints.floating import Floating
from rbd_ros.model.joints.joint_type import JointState, JointType, Scalars
from rbd_ros.model.joints.joint_view import JointView
from rbd_ros.model.joints.planar import Planar
from rbd_ros.model.joints.rack_and_pinion import RackAndPinion
from rbd_ros.spatial import ForceVector, MotionSubspace, MotionVector, PluckerTransform
from rbd_ros.spatial.scalar import Scalar


@dataclass(frozen=True)
class Reversed(JointView):
    """A joint with its successor and predecessor exchanged.

    A joint that is reversed in a spanning tree has its polarity from the mechanism, not from the
    tree: a rack carried by a pinion is not a pinion on a rack. Positions, velocities and forces
    are those of the joint itself. `reverse` creates one.

    :param joint: the joint as in the mechanism
    """

    def transform(self, q: Scalars) -> PluckerTransform:
        """Return X' = X^-1."""
        return self.joint.transform(q).inverse()

    def motion_subspace(self, q: Scalars) -> MotionSubspace:
        """Return S' = -pXs S."""
        X, S = self.joint.transform(q), self.joint.motion_subspace(q)
        return MotionSubspace([-X.inverse_apply(column) for column in S.columns])

    def constraint_forces(self, q: Scalars) -> Tuple[ForceVector, ...]:
        """Return T' = -pXs* T."""
        X = self.joint.transform(q)
        return tuple(-X.inverse_apply(T) for T in self.joint.constraint_forces(q))

    def motion_subspace_rate(self, q: Scalars, qd: Scalars) -> MotionSubspace:
        """Return the apparent derivative of S' in the predecessor: -pXs (Sring + v_J x S)."""
        X, S, v, _ = self.joint.calc(q, qd)
        rates = self.joint.motion_subspace_rate(q, qd)
        return MotionSubspace(
            [-X.inverse_apply(r + v.cross(s)) for r, s in zip(rates.columns, S.columns)]
        )

    def bias(self, q: Scalars, qd: Scalars) -> MotionVector:
        """Return C' = -pXs c."""
        return self.calc(q, qd).c

    def calc(self, q: Scalars, qd: Scalars) -> JointState:
        """Return the results of jcalc with opposite polarity (book table 4.2)."""
        X, S, v, c = self.joint.calc(q, qd)
        columns = [-X.inverse_apply(column) for column in S.columns]
        back = -X.inverse_apply(v), -X.inverse_apply(c)
        return JointState(X.inverse(), MotionSubspace(columns), *back)

    @property
    def closes_loops(self) -> bool:
        """True if the joint may be a loop joint."""
        return self.joint.closes_loops

    def loop_error(self, X: PluckerTransform) -> Tuple[Scalar, ...]:
        """Return the position error of the joint: T'^T v_J' is T^T v_J."""
        return self.joint.loop_error(X.inverse())

    def constraint_forces_at(self, X: PluckerTransform) -> Tuple[ForceVector, ...]:
        """Return T' = -pXs* T."""
        return tuple(-X.apply(T) for T in self.joint.constraint_forces_at(X.inverse()))

    def motion_subspace_at(self, X: PluckerTransform) -> MotionSubspace:
        """Return S' = -pXs S."""
        S = self.joint.motion_subspace_at(X.inverse())
        return MotionSubspace([-X.apply(column) for column in S.columns])

    def displacement_at(self, X: PluckerTransform) -> Tuple[Scalar, ...]:
        """Return the displacement of the joint itself."""
        return self.joint.displacement_at(X.inverse())

    @classmethod
    def examples(cls) -> Tuple[Reversed, ...]:
        """Return a plane, a rack on its pinion, and the world as seen from a floating body."""
        return tuple(map(cls, (Planar.about((0.48, -0.6, 0.64)), RackAndPinion(0.3), Floating())))


def reverse(joint: JointType) -> JointType:
    """Return the joint with opposite polarity; reversing twice returns the joint itself.

    :param joint: joint to reverse
    """
    if isinstance(joint, Reversed):
        return joint.joint
    return joint.opposite() or Reversed(joint)
