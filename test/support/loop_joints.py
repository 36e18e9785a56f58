"""Lower pairs that close loops, those of the package and two of the book's that it has not got."""

from dataclasses import dataclass

from rbd_ros.model.joints import JointType
from rbd_ros.model.joints.joint_type import across
from rbd_ros.spatial import ForceVector, MotionSubspace, MotionVector, PluckerTransform
from rbd_ros.spatial.linear3 import add, IDENTITY3, scale, transpose, Vector3, ZERO3
from rbd_ros.spatial.rotation import axis_rotation
from support.all_joints import JOINTS


@dataclass(frozen=True)
class ZeroDof(JointType):
    """Weld: no motion at all (book 8.3)."""

    nq = nv = 0
    reach = ()

    def transform(self, q):
        return PluckerTransform.identity()

    def motion_subspace(self, q):
        return MotionSubspace([])

    def constraint_forces(self, q):
        couples = tuple(ForceVector(row, ZERO3) for row in IDENTITY3)
        return (*couples, *(ForceVector(ZERO3, row) for row in IDENTITY3))

    @classmethod
    def examples(cls):
        return (cls(),)


@dataclass(frozen=True)
class CylindricalPair(JointType):
    """Rotation about an axis and translation along it (book table 4.1)."""

    axis: Vector3
    nq = nv = 2
    reach = (3.0, 1.0)

    def transform(self, q):
        return PluckerTransform(transpose(axis_rotation(self.axis, q[0])), scale(q[1], self.axis))

    def motion_subspace(self, q):
        return MotionSubspace([MotionVector(self.axis, ZERO3), MotionVector(ZERO3, self.axis)])

    def constraint_forces(self, q):
        pair = across(self.axis)
        couples = tuple(ForceVector(u, ZERO3) for u in pair)
        return (*couples, *(ForceVector(ZERO3, u) for u in pair))

    @classmethod
    def examples(cls):
        return cls((0.0, 0.0, 1.0)), cls((0.48, -0.6, 0.64))


@dataclass(frozen=True)
class ScrewPair(JointType):
    """Rotation about z with a pitch: a pair whose one freedom both turns and slides."""

    pitch: float
    nq = nv = 1
    reach = (3.0,)

    def transform(self, q):
        E = transpose(axis_rotation((0.0, 0.0, 1.0), q[0]))
        return PluckerTransform(E, add(ZERO3, (0.0, 0.0, self.pitch * q[0])))

    def motion_subspace(self, q):
        return MotionSubspace([MotionVector((0.0, 0.0, 1.0), (0.0, 0.0, self.pitch))])

    def constraint_forces(self, q):
        x, y = IDENTITY3[:2]
        across_z = [ForceVector(u, ZERO3) for u in (x, y)] + [
            ForceVector(ZERO3, u) for u in (x, y)
        ]
        return (*across_z, ForceVector((0.0, 0.0, -self.pitch), (0.0, 0.0, 1.0)))

    @classmethod
    def examples(cls):
        return (cls(0.3),)


OWN = [joint for kind in (ZeroDof, CylindricalPair) for joint in kind.examples()]
#: All lower pairs that constrain something.
PAIRS = [joint for joint in JOINTS if joint.is_lower_pair and joint.nv < 6] + OWN
#: Such pairs with one that screws.
ALL_PAIRS = [*PAIRS, *ScrewPair.examples()]
