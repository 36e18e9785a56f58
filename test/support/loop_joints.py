# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joints that close loops: the package's, and independent versions of some of the book's."""

from dataclasses import dataclass

import numpy as np

from rbd_ros.model.joints import JointType, RackAndPinion, Reversed, SphereInCylinder, Universal
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
    """Rotation about z with a pitch: one degree of freedom that rotates and translates."""

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
#: All lower pairs with constraints.
PAIRS = [joint for joint in JOINTS if joint.is_lower_pair and joint.nv < 6] + OWN
#: All of these and a screw joint.
ALL_PAIRS = [*PAIRS, *ScrewPair.examples()]

#: Joints whose constraint forces depend on the placement of their frames.
HIGHER_PAIRS = [x for x in JOINTS if x.closes_loops and not x.is_lower_pair and x.nv < 6]
#: All types that close a loop.
CLOSING = [*ALL_PAIRS, *HIGHER_PAIRS]


def skew(a):
    """Return the matrix of the cross product with a vector, of its numeric type."""
    return np.array([[0 * a[0], -a[2], a[1]], [a[2], 0 * a[0], -a[0]], [-a[1], a[0], 0 * a[0]]])


def motion_matrix(E, r):
    """Return the Plucker transform of motion vectors, by blocks."""
    return np.block([[E, np.zeros((3, 3))], [-E @ skew(r), E]])


def textbook_T(joint, E, r):
    """Return the constraint forces (6, 6 - nv) of a loop joint, in successor coordinates.

    The result is computed with plain matrices.

    :param E: rotation from predecessor to successor coordinates, (3, 3), which may be complex
    :param r: position of the successor in predecessor coordinates, (3,)
    """
    none = [0.0, 0.0, 0.0]
    if isinstance(joint, Reversed):
        back = E @ -r
        return -np.linalg.inv(motion_matrix(E, r)).T @ textbook_T(joint.joint, E.T, back)
    if isinstance(joint, SphereInCylinder):
        columns = [[*none, *(E @ np.array(u))] for u in across(joint.axis)]
    elif isinstance(joint, Universal):
        couple = skew(E @ np.array(joint.first)) @ np.array(joint.second)
        columns = [[*couple, *none], *([*none, *row] for row in np.eye(3))]
    elif isinstance(joint, RackAndPinion):
        c, s = E[0, 0], E[0, 1]
        x, y, z = np.eye(3)
        columns = [[*x, *none], [*y, *none]]
        columns += [[*(-joint.radius * c * z), *x], [*(joint.radius * s * z), *y], [*none, *z]]
    else:
        columns = [force.to_array() for force in joint.constraint_forces(joint.neutral())]
    return np.array(columns).T
