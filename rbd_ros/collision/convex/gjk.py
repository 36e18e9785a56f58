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

from rbd_ros.collision.arrays import FloatArray, Tables
from rbd_ros.collision.convex.simplices import reduce_to_nearest
from rbd_ros.collision.shapes.supports import NUMBER_A, NUMBER_B, SHARE, support_of_difference
from rbd_ros.collision.vectors import COINCIDENT, dot
from rbd_ros.compiler.loops import compiled, stack_array

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
    kind_a: int,
    size_a: FloatArray,
    kind_b: int,
    size_b: FloatArray,
    pose: FloatArray,
    tables: Tables,
    limit: float,
    agreement: float,
    simplex: FloatArray,
    nearest: FloatArray,
) -> Tuple[int, int]:
    """Return the nearest points of two cores.

    Arguments are those of `support_of_difference`, and

    :param limit: distance from which on nothing is asked for [m]
    :param agreement: relative difference of the squares of both bounds on the distance at which
        they agree
    :param simplex: points of the difference with their shares in the nearest one; a result,
        (4, 12)
    :param nearest: nearest point of the difference, from the second core to the first one; a
        result, (3,) [m]
    :return: BEYOND (the limit), APART or OVERLAPPING, and the number of points
    """
    direction = stack_array(3)
    for r in range(3):
        # From the middle of the difference toward the origin, roughly: the first support is on its
        # near side.
        direction[r] = pose[9 + r]
    if not dot(direction, direction) > 0.0:
        direction[0] = 1.0
    number_a, number_b = support_of_difference(
        kind_a, size_a, kind_b, size_b, pose, tables, direction, 0, 0, simplex[0]
    )
    simplex[0, SHARE] = 1.0
    for r in range(3):
        nearest[r] = simplex[0, r]
    count, squared = 1, dot(nearest, nearest)
    largest = squared
    for _ in range(MAX_STEPS):
        # No direction can be taken from a distance that is rounding: the depth is found by faces
        # (epa.py).
        if squared <= max(TOUCHING * TOUCHING * largest, COINCIDENT * COINCIDENT):
            return OVERLAPPING, count
        for r in range(3):
            direction[r] = -nearest[r]
        row = simplex[count]
        number_a, number_b = support_of_difference(
            kind_a, size_a, kind_b, size_b, pose, tables, direction, number_a, number_b, row
        )
        largest = max(largest, dot(row, row))
        # Along `nearest` the difference begins at bound / |nearest|: the distance is at least
        # that.
        bound = dot(nearest, row)
        if bound > 0.0 and bound * bound > limit * limit * squared:
            return BEYOND, count
        rounding = ROUNDING * math.sqrt(squared * largest)
        if squared - bound <= agreement * squared + rounding:
            return APART, count
        # A point that is there already: of polytopes the nearest feature is found, exactly.
        for i in range(count):
            if (
                simplex[i, NUMBER_A] == row[NUMBER_A]
                and simplex[i, NUMBER_B] == row[NUMBER_B]
                and simplex[i, 0] == row[0]
                and simplex[i, 1] == row[1]
                and simplex[i, 2] == row[2]
            ):
                return APART, count
        count = reduce_to_nearest(simplex, count + 1, nearest)
        if count == 4:
            return OVERLAPPING, count
        before = squared
        squared = dot(nearest, nearest)
        # In exact arithmetic the distance falls with each step: rounding has taken over.
        if squared >= before:
            return APART, count
    return APART, count
