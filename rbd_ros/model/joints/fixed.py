# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Zero-DoF joint, which connects two frames rigidly (book 8.3, table 8.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple

from rbd_ros.model.joints.joint_type import JointType, Scalars
from rbd_ros.spatial import ForceVector, MotionSubspace, PluckerTransform
from rbd_ros.spatial.linear3 import IDENTITY3, ZERO3


@dataclass(frozen=True)
class Fixed(JointType):
    """No degree of freedom.

    As a loop joint, with a massless body behind a joint of the tree, it closes a loop by any joint
    type. In a tree, welded bodies are better combined into one body.
    """

    nq = nv = 0
    reach = ()

    def transform(self, q: Scalars) -> PluckerTransform:
        """Return the identity."""
        return PluckerTransform.identity()

    def motion_subspace(self, q: Scalars) -> MotionSubspace:
        """Return no motion, (6, 0)."""
        return MotionSubspace([])

    def constraint_forces(self, q: Scalars) -> Tuple[ForceVector, ...]:
        """Return T = identity."""
        couples = tuple(ForceVector(row, ZERO3) for row in IDENTITY3)
        return (*couples, *(ForceVector(ZERO3, row) for row in IDENTITY3))

    @classmethod
    def examples(cls) -> Tuple[Fixed, ...]:
        """Return the only joint of this type, which has no parameters."""
        return (cls(),)
