# SPDX-License-Identifier: Apache-2.0
"""What joints share that are another joint, seen from other frames or the other way round."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Tuple

from rbd_ros.model.joints.joint_type import JointType, Scalars
from rbd_ros.spatial.scalar import Scalar


@dataclass(frozen=True)
class JointView(JointType):
    """Another view of a joint: positions, velocities and forces mean what they mean for it.

    :param joint: the joint itself
    """

    joint: JointType
    nq: int = field(init=False, repr=False, compare=False)
    nv: int = field(init=False, repr=False, compare=False)
    reach: Tuple[float, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Take the sizes over."""
        for name in ('nq', 'nv', 'reach'):
            object.__setattr__(self, name, getattr(self.joint, name))

    def neutral(self) -> Tuple[float, ...]:
        """Position at which the transform is the identity, either way."""
        return self.joint.neutral()

    @property
    def uniforms(self) -> int:
        """How many uniform numbers `sample` takes."""
        return self.joint.uniforms

    def sample(self, u: Scalars, lower: float, upper: float) -> Tuple[Scalar, ...]:
        """Uniform position of the joint."""
        return self.joint.sample(u, lower, upper)

    def normalize(self, q: Scalars) -> Tuple[float, ...]:
        """Same position with any redundancy removed."""
        return self.joint.normalize(q)

    def position_rate(self, q: Scalars, v: Scalars) -> Tuple[Scalar, ...]:
        """Derivative of the position by time: the joint's own."""
        return self.joint.position_rate(q, v)

    def integrate(self, q: Scalars, step: Scalars) -> Tuple[Scalar, ...]:
        """Position after a constant velocity."""
        return self.joint.integrate(q, step)

    def difference(self, q0: Scalars, q1: Scalars) -> Tuple[Scalar, ...]:
        """Constant velocity from one position to another."""
        return self.joint.difference(q0, q1)

    @property
    def is_flat(self) -> bool:
        """Whether positions form a vector space."""
        return self.joint.is_flat

    @property
    def is_rheonomic(self) -> bool:
        """Whether the joint depends on time."""
        return self.joint.is_rheonomic

    def bracket(self, u: Scalars, v: Scalars) -> Tuple[Scalar, ...]:
        """Lie bracket of two velocities."""
        return self.joint.bracket(u, v)
