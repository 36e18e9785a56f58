# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Spatial vector algebra (book chapter 2, appendix A): typed, compact, generic over the scalar.

Joints, bodies and algorithms are elsewhere; this folder imports no other one.
"""

from rbd_ros.spatial.inertia import ArticulatedBodyInertia, RigidBodyInertia
from rbd_ros.spatial.spatial_vectors import ForceVector, MotionSubspace, MotionVector
from rbd_ros.spatial.transform import PluckerTransform

__all__ = [
    'ArticulatedBodyInertia',
    'ForceVector',
    'MotionSubspace',
    'MotionVector',
    'PluckerTransform',
    'RigidBodyInertia',
]
