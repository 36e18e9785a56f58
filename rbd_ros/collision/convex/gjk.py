# SPDX-License-Identifier: Apache-2.0
"""Distance of two convex cores that are apart: the algorithm of Gilbert, Johnson and Keerthi.

The difference of two shapes, all a - b, has its point nearest to the origin where the shapes are
nearest to each other. Simplices of points of its surface approach it (Gilbert et al. 1988). For
polytopes it ends at the exact features; for curved shapes, where a bound on the distance from
below and the distance of the simplex agree.
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.collision.arrays import FloatArray, PlacedShape
from rbd_ros.collision.convex.simplices import reduce_to_nearest
from rbd_ros.collision.shapes.supports import NUMBER_A, NUMBER_B, SHARE, support_of_difference
from rbd_ros.collision.vectors import are_equal, COINCIDENT, origin
from rbd_ros.compiler.loops import compiled, load_vec, Vec, Vec3

#: What `nearest_of_cores` finds.
BEYOND, APART, OVERLAPPING = 0, 1, 2

#: Distance, relative to the size of the difference, below which cores count as overlapping: the
#: direction between them would be made of rounding errors.
TOUCHING = 1e-10

#: Relative rounding of a point of the difference.
ROUNDING = 4e-16

MAX_STEPS = 200


@compiled
def nearest_of_cores(
    a: PlacedShape, b: PlacedShape, limit: float, agreement: float, simplex: FloatArray
) -> Tuple[int, int, Vec3]:
    """Return the nearest points of two cores.

    :param b: the second shape, with its pose in coordinates of the first one
    :param limit: distance from which on nothing is asked for [m]
    :param agreement: relative difference of the squares of both bounds on the distance at which
        they agree
    :param simplex: points of the difference with their shares in the nearest one; a result,
        (4, 12)
    :return: BEYOND (the limit), APART or OVERLAPPING, the number of points, and the nearest point
        of the difference, from the second core to the first one [m]
    """
    # From the middle of the difference toward the origin, roughly: the first support is on its
    # near side.
    direction = origin(b.pose)
    if not direction @ direction > 0.0:
        direction = Vec(1.0, direction[1], direction[2])
    nearest, number_a, number_b = support_of_difference(a, b, direction, 0, 0, simplex[0])
    simplex[0, SHARE] = 1.0
    count, squared = 1, nearest @ nearest
    largest = squared
    for _ in range(MAX_STEPS):
        # No direction can be taken from a distance that is rounding: the depth is found by faces
        # (epa.py).
        if squared <= max(TOUCHING * TOUCHING * largest, COINCIDENT * COINCIDENT):
            return OVERLAPPING, count, nearest
        point, number_a, number_b = support_of_difference(
            a, b, -nearest, number_a, number_b, simplex[count]
        )
        largest = max(largest, point @ point)
        # Along `nearest` the difference begins at bound / |nearest|: the distance is at least
        # that.
        bound = nearest @ point
        if bound > 0.0 and bound * bound > limit * limit * squared:
            return BEYOND, count, nearest
        rounding = ROUNDING * math.sqrt(squared * largest)
        if squared - bound <= agreement * squared + rounding:
            return APART, count, nearest
        # A point that is there already: of polytopes the nearest feature is found, exactly.
        for i in range(count):
            if simplex[i, NUMBER_A] == number_a and simplex[i, NUMBER_B] == number_b:
                if are_equal(load_vec(simplex[i], 3), point):
                    return APART, count, nearest
        count, nearest = reduce_to_nearest(simplex, count + 1)
        if count == 4:
            return OVERLAPPING, count, nearest
        before = squared
        squared = nearest @ nearest
        # In exact arithmetic the distance falls with each step: rounding has taken over.
        if squared >= before:
            return APART, count, nearest
    return APART, count, nearest
