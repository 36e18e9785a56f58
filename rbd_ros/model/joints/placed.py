# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A joint between other frames on the two bodies that it connects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

from rbd_ros.model.joints.joint_type import JointState, JointType, Scalars
from rbd_ros.model.joints.joint_view import JointView
from rbd_ros.model.joints.revolute import Revolute
from rbd_ros.model.joints.spherical import Spherical
from rbd_ros.spatial import (
    ForceVector,
    MotionSubspace,
    MotionVector,
    PluckerTransform,
    RigidBodyInertia,
)


@dataclass(frozen=True)
class Placed(JointView):
    """The same joint between frames that are both moved by a constant displacement.

    Positions, velocities and forces are those of the joint itself; motions and forces contain X
    instead of the identity. `rbd_ros.textbook.models.with_frames_placed` creates them.

    :param joint: the joint between its own frames
    :param X: transform from the joint's own coordinates to those of the new frames, the same for
        predecessor and successor
    """

    X: PluckerTransform

    def transform(self, q: Scalars) -> PluckerTransform:
        """Return X_J' = X X_J X^-1."""
        return self.X * self.joint.transform(q) * self.X.inverse()

    def motion_subspace(self, q: Scalars) -> MotionSubspace:
        """Return S' = X S."""
        return self._moved(self.joint.motion_subspace(q))

    def constraint_forces(self, q: Scalars) -> Tuple[ForceVector, ...]:
        """Return T' = X* T."""
        return tuple(map(self.X.apply, self.joint.constraint_forces(q)))

    def motion_subspace_rate(self, q: Scalars, qd: Scalars) -> MotionSubspace:
        """Return the apparent derivative of S', X Sring."""
        return self._moved(self.joint.motion_subspace_rate(q, qd))

    def bias(self, q: Scalars, qd: Scalars) -> MotionVector:
        """Return C' = X c."""
        return self.X.apply(self.joint.bias(q, qd))

    def calc(self, q: Scalars, qd: Scalars) -> JointState:
        """Return the results of jcalc between the other frames."""
        X_J, S, v, c = self.joint.calc(q, qd)
        X = self.X * X_J * self.X.inverse()
        return JointState(X, self._moved(S), self.X.apply(v), self.X.apply(c))

    @property
    def is_lower_pair(self) -> bool:
        """True if the joint is a lower pair, as required for a loop joint."""
        return self.joint.is_lower_pair

    def opposite(self) -> Optional[JointType]:
        """Return the joint of opposite polarity between the same frames, if the joint has one."""
        opposite = self.joint.opposite()
        return None if opposite is None else Placed(opposite, self.X)

    def singularity(self, q: Scalars) -> Optional[str]:
        """Return the warning of the joint."""
        return self.joint.singularity(q)

    def not_excited(self, inertia: RigidBodyInertia) -> Optional[RigidBodyInertia]:
        """Return the part of an inertia that the joint does not excite."""
        found = self.joint.not_excited(self.X.inverse_apply(inertia))
        return None if found is None else self.X.apply(found)

    def _moved(self, S: MotionSubspace) -> MotionSubspace:
        return MotionSubspace([self.X.apply(column) for column in S.columns])

    @classmethod
    def examples(cls) -> Tuple[Placed, ...]:
        """Return a displaced hinge, and a displaced ball joint."""
        turned = PluckerTransform.rotation_x(0.4) * PluckerTransform.translation((0.3, -0.2, 0.5))
        return cls(Revolute((0.48, -0.6, 0.64)), turned), cls(Spherical(), turned)
