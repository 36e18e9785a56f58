# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Base class of joints that show another joint from other frames or in reverse."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Tuple

from rbd_ros.model.joints.joint_type import JointType, Scalars
from rbd_ros.spatial.scalar import Scalar


@dataclass(frozen=True)
class JointView(JointType):
    """Another view of a joint with the same positions, velocities and forces.

    :param joint: the joint itself
    """

    joint: JointType
    nq: int = field(init=False, repr=False, compare=False)
    nv: int = field(init=False, repr=False, compare=False)
    reach: Tuple[float, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Copy the sizes."""
        for name in ('nq', 'nv', 'reach'):
            object.__setattr__(self, name, getattr(self.joint, name))

    def neutral(self) -> Tuple[float, ...]:
        """Return the position at which the transform is the identity, in both views."""
        return self.joint.neutral()

    @property
    def uniforms(self) -> int:
        """Number of uniform random numbers for `sample`."""
        return self.joint.uniforms

    def sample(self, u: Scalars, lower: float, upper: float) -> Tuple[Scalar, ...]:
        """Return a uniform position of the joint."""
        return self.joint.sample(u, lower, upper)

    def normalize(self, q: Scalars) -> Tuple[float, ...]:
        """Return the normalized position."""
        return self.joint.normalize(q)

    def position_rate(self, q: Scalars, v: Scalars) -> Tuple[Scalar, ...]:
        """Return the time derivative of the position: the joint's own."""
        return self.joint.position_rate(q, v)

    def integrate(self, q: Scalars, step: Scalars) -> Tuple[Scalar, ...]:
        """Return the position after a constant velocity."""
        return self.joint.integrate(q, step)

    def difference(self, q0: Scalars, q1: Scalars) -> Tuple[Scalar, ...]:
        """Return the constant velocity from one position to another."""
        return self.joint.difference(q0, q1)

    @property
    def is_flat(self) -> bool:
        """True if positions form a vector space."""
        return self.joint.is_flat

    @property
    def is_rheonomic(self) -> bool:
        """True if the joint depends on time."""
        return self.joint.is_rheonomic

    def bracket(self, u: Scalars, v: Scalars) -> Tuple[Scalar, ...]:
        """Return the Lie bracket of two velocities."""
        return self.joint.bracket(u, v)
