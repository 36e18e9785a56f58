# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Planar vector algebra (book 2.16, table A.1), in three coordinates.

Motion vectors are [omega, v_x, v_y], force vectors [n, f_x, f_y]: coordinates 3, 4 and 5 of the
spatial ones. The types have the methods of the spatial types, so algorithms run on them unchanged
(rbd_ros/textbook/planar/planar_algorithms.py).
"""

from rbd_ros.textbook.planar.planar_inertia import PlanarArticulatedInertia, PlanarInertia
from rbd_ros.textbook.planar.planar_transform import PlanarTransform
from rbd_ros.textbook.planar.planar_vectors import (
    PlanarForceVector,
    PlanarMotionSubspace,
    PlanarMotionVector,
    Vector2,
)

__all__ = [
    'COORDINATES',
    'PlanarArticulatedInertia',
    'PlanarForceVector',
    'PlanarInertia',
    'PlanarMotionSubspace',
    'PlanarMotionVector',
    'PlanarTransform',
    'Vector2',
]

#: Indices of the planar coordinates among the six Pluecker coordinates.
COORDINATES = (2, 3, 4)
