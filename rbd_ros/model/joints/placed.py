"""A joint seen from frames that lie elsewhere on both of the bodies that it connects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional, Tuple

from rbd_ros.model.joints.joint_type import JointState, JointType, Scalars
from rbd_ros.model.joints.revolute import Revolute
from rbd_ros.model.joints.spherical import Spherical
from rbd_ros.spatial import (
    ForceVector,
    MotionSubspace,
    MotionVector,
    PluckerTransform,
    RigidBodyInertia,
)
from rbd_ros.spatial.scalar import Scalar


@dataclass(frozen=True)
class Placed(JointType):
    """The same joint between frames that are both moved by a constant displacement.

    Positions, velocities and forces mean what they mean for the joint itself; in motions and
    forces there is X instead of the identity. `rbd_ros.model.with_frames_placed` makes them.

    :param joint: the joint between its own frames
    :param X: transform from the joint's own coordinates to those of the frames that take their
        place, the same for predecessor and successor
    """

    joint: JointType
    X: PluckerTransform
    nq: int = field(init=False, repr=False, compare=False)
    nv: int = field(init=False, repr=False, compare=False)
    reach: Tuple[float, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Take the sizes over."""
        for name in ('nq', 'nv', 'reach'):
            object.__setattr__(self, name, getattr(self.joint, name))

    def transform(self, q: Scalars) -> PluckerTransform:
        """X_J' = X X_J X^-1."""
        return self.X * self.joint.transform(q) * self.X.inverse()

    def motion_subspace(self, q: Scalars) -> MotionSubspace:
        """S' = X S."""
        return self._moved(self.joint.motion_subspace(q))

    def constraint_forces(self, q: Scalars) -> Tuple[ForceVector, ...]:
        """T' = X* T."""
        return tuple(map(self.X.apply, self.joint.constraint_forces(q)))

    def motion_subspace_rate(self, q: Scalars, qd: Scalars) -> MotionSubspace:
        """Apparent derivative of S', X Sring."""
        return self._moved(self.joint.motion_subspace_rate(q, qd))

    def bias(self, q: Scalars, qd: Scalars) -> MotionVector:
        """C' = X c."""
        return self.X.apply(self.joint.bias(q, qd))

    def calc(self, q: Scalars, qd: Scalars) -> JointState:
        """All that jcalc returns, between the other frames."""
        X_J, S, v, c = self.joint.calc(q, qd)
        X = self.X * X_J * self.X.inverse()
        return JointState(X, self._moved(S), self.X.apply(v), self.X.apply(c))

    def neutral(self) -> Tuple[float, ...]:
        """Position at which the transform is the identity, in both."""
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

    @property
    def is_lower_pair(self) -> bool:
        """Whether the joint is one: only then it closes loops."""
        return self.joint.is_lower_pair

    def bracket(self, u: Scalars, v: Scalars) -> Tuple[Scalar, ...]:
        """Lie bracket of two velocities."""
        return self.joint.bracket(u, v)

    def opposite(self) -> Optional[JointType]:
        """Joint of opposite polarity between the same frames, if the joint has one."""
        opposite = self.joint.opposite()
        return None if opposite is None else Placed(opposite, self.X)

    def singularity(self, q: Scalars) -> Optional[str]:
        """What is wrong with the joint where it is."""
        return self.joint.singularity(q)

    def not_excited(self, inertia: RigidBodyInertia) -> Optional[RigidBodyInertia]:
        """Part of an inertia that the joint does not excite."""
        found = self.joint.not_excited(self.X.inverse_apply(inertia))
        return None if found is None else self.X.apply(found)

    def _moved(self, S: MotionSubspace) -> MotionSubspace:
        return MotionSubspace([self.X.apply(column) for column in S.columns])

    @classmethod
    def examples(cls) -> Tuple[Placed, ...]:
        """A hinge aside, and a ball elsewhere."""
        turned = PluckerTransform.rotation_x(0.4) * PluckerTransform.translation((0.3, -0.2, 0.5))
        return cls(Revolute((0.48, -0.6, 0.64)), turned), cls(Spherical(), turned)
