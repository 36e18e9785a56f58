"""Types of the arrays of this room, and the record of contact points that compiled loops fill."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rbd_ros.compiler.loops import floats, integers

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Maximum number of contact points of two shapes: what a body needs to rest on a face.
MAX_POINTS = 4


class FoundPoints(NamedTuple):
    """Room for the contact points of two shapes, all in the common frame.

    :param on_a: points on the surface of the first shape, (MAX_POINTS, 3) [m]
    :param on_b: points on the surface of the second one, (MAX_POINTS, 3) [m]
    :param normal: unit normals from the first shape to the second, (MAX_POINTS, 3)
    :param gap: signed gaps, negative where the shapes penetrate, (MAX_POINTS,) [m]
    :param feature: numbers of the features that touch, (MAX_POINTS,)
    """

    on_a: FloatArray = floats(MAX_POINTS, 3)
    on_b: FloatArray = floats(MAX_POINTS, 3)
    normal: FloatArray = floats(MAX_POINTS, 3)
    gap: FloatArray = floats(MAX_POINTS)
    feature: IntArray = integers(MAX_POINTS)
