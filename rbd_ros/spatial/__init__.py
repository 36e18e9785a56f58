"""Spatial vector algebra (book chapter 2, appendix A): typed, compact, generic over the scalar.

Knows nothing else.
"""

from rbd_ros.spatial.inertia import ArticulatedBodyInertia, RigidBodyInertia
from rbd_ros.spatial.transform import PluckerTransform
from rbd_ros.spatial.vectors import ForceVector, MotionSubspace, MotionVector

__all__ = [
    'ArticulatedBodyInertia',
    'ForceVector',
    'MotionSubspace',
    'MotionVector',
    'PluckerTransform',
    'RigidBodyInertia',
]
