# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Distance of two separated convex cores: the algorithm of Gilbert, Johnson and Keerthi.

Where the shapes are nearest to each other, their difference, all a - b, is nearest to the origin.
Simplices of points of its surface approach that point (Gilbert et al. 1988). For polytopes the
algorithm ends at the exact features; for curved shapes, when a lower bound on the distance and the
distance of the simplex agree. The first three columns of a simplex are its vertices (supports.py).
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.arrays import (
    PlacedShape,
)
from rbd_ros.collision.shapes.supports import NUMBER_A, NUMBER_B, support_of_difference, WEIGHT
from rbd_ros.collision.vectors import are_equal, COINCIDENT, origin
from rbd_ros.compiler.loops import compiled, cross, load_vec, Vec, Vec3


@compiled
def nearest_on_edge(p: Vec3, q: Vec3) -> Tuple[float, float]:
    """Return the squared distance of a segment from the origin [m^2], and the weight of its end.

    :param p: its start [m]
    :param q: its end [m]
    """
    step = q - p
    length, ahead = step @ step, -(p @ step)
    t = 0.0
    if ahead > 0.0:
        t = min(1.0, ahead / length) if length > 0.0 else 0.0
    # p + (q - p) equals q only up to rounding.
    point = q if t == 1.0 else p + t * step
    return point @ point, t


@compiled
def nearest_on_triangle(p: Vec3, q: Vec3, r: Vec3) -> Tuple[float, Vec3, Vec3]:
    """Return the squared distance of a triangle from the origin.

    :param p: its vertices [m]
    :return: the square [m^2], the weights of p, q and r in the nearest point, and that [m]
    """
    # Relative to the vertex nearest to the origin: in a long triangle with a short edge near it,
    # differences with a far vertex would have the rounding of that one.
    at_p, at_q, at_r = p @ p, q @ q, r @ r
    base, following, last = p, q, r
    if at_q < at_p and at_q <= at_r:
        base, following, last = q, r, p
    elif at_r < at_p:
        base, following, last = r, p, q
    normal = cross(following - base, last - base)
    square = normal @ normal
    if square > 0.0:
        # Volumes of the origin with the edges: if all are positive, it is above the triangle.
        weights = Vec(normal @ cross(q, r), normal @ cross(r, p), normal @ cross(p, q))
        if weights[0] > 0.0 and weights[1] > 0.0 and weights[2] > 0.0:
            # Along the normal, which is exact for small distances too.
            nearest = normal @ base / square * normal
            return nearest @ nearest, weights / (weights[0] + weights[1] + weights[2]), nearest
    # Else the nearest point is on an edge. All three are compared, which is safer than signs at
    # rounding level (van den Bergen 2003, section 4.3.3, on the pitfalls of Johnson's recursion).
    least, t = nearest_on_edge(p, q)
    weights = Vec(1.0 - t, t, 0.0)
    squared, t = nearest_on_edge(p, r)
    if squared < least:
        least, weights = squared, Vec(1.0 - t, 0.0, t)
    squared, t = nearest_on_edge(q, r)
    if squared < least:
        least, weights = squared, Vec(0.0, 1.0 - t, t)
    nearest = weights[0] * p + weights[1] * q + weights[2] * r
    return nearest @ nearest, weights, nearest


@compiled
def side(p: Vec3, q: Vec3, r: Vec3, s: Vec3) -> float:
    """Return six times the signed volume of a tetrahedron [m^3]."""
    return cross(q - p, r - p) @ (s - p)


@compiled
def encloses_origin(simplex: FloatArray) -> bool:
    """Return whether the origin is within a tetrahedron that has a volume.

    Sets the weights if it is.
    """
    a, b = load_vec(simplex[0], 3), load_vec(simplex[1], 3)
    c, d = load_vec(simplex[2], 3), load_vec(simplex[3], 3)
    zero = Vec(0.0, 0.0, 0.0)
    # Barycentric coordinates: volumes with the origin in place of each vertex, over the volume.
    whole = side(a, b, c, d)
    if whole == 0.0:
        return False
    of_a, of_b = side(b, d, c, zero), side(a, c, d, zero)
    weights = Vec(of_a, of_b, side(a, d, b, zero), side(a, b, c, zero)) / whole
    if not min(weights[0], weights[1], weights[2], weights[3]) >= 0.0:
        return False
    for k in range(4):
        simplex[k, WEIGHT] = weights[k]
    return True


@compiled
def barycentric_point(simplex: FloatArray, count: int, column: int) -> Vec3:
    """Return the sum of some points of a simplex, each by its weight.

    :param column: first column of the points
    """
    point = Vec(0.0, 0.0, 0.0)
    for i in range(count):
        point += simplex[i, WEIGHT] * load_vec(simplex[i], 3, column)
    return point


@compiled
def reduce_to_nearest(simplex: FloatArray, count: int) -> Tuple[int, Vec3]:
    """Reduce a simplex to the part that has its nearest point to the origin.

    :param simplex: vertices; the remaining ones come first, with their weights, (4, 12)
    :param count: number of vertices, up to 4
    :return: number of remaining vertices, 4 if the tetrahedron encloses the origin; the point [m]
    """
    best, nearest = Vec(1.0, 0.0, 0.0, 0.0), Vec(0.0, 0.0, 0.0)
    if count == 2:
        _, t = nearest_on_edge(load_vec(simplex[0], 3), load_vec(simplex[1], 3))
        best = Vec(1.0 - t, t, 0.0, 0.0)
    elif count > 2:
        least = math.inf
        # The nearest of the four triangles, unless the tetrahedron encloses the origin: triangles
        # are robust where volumes are flat.
        for vertex in range(4):
            if count == 3 and vertex < 3:
                continue
            i, j, k = 0, 1, 2
            if vertex < 3:
                i, j, k = (vertex + 1) % 3, (vertex + 2) % 3, 3
            squared, weights, point = nearest_on_triangle(
                load_vec(simplex[i], 3), load_vec(simplex[j], 3), load_vec(simplex[k], 3)
            )
            if squared < least:
                least, nearest = squared, point
                best = Vec(weights[0], weights[1], weights[2], 0.0)
                if vertex == 0:
                    best = Vec(0.0, weights[0], weights[1], weights[2])
                elif vertex == 1:
                    best = Vec(weights[1], 0.0, weights[0], weights[2])
                elif vertex == 2:
                    best = Vec(weights[0], weights[1], 0.0, weights[2])
        if count == 4 and encloses_origin(simplex):
            return 4, nearest
    kept = 0
    for i in range(count):
        # Vertices without weight do not define the nearest point: dropping them keeps simplices
        # small and independent.
        if best[i] > 0.0:
            if kept < i:
                for c in range(WEIGHT):
                    simplex[kept, c] = simplex[i, c]
            simplex[kept, WEIGHT] = best[i]
            kept += 1
    # The foot along a triangle's normal is more exact than by weights.
    if count < 3 or kept < 3:
        nearest = barycentric_point(simplex, kept, 0)
    return kept, nearest


#: Results of `nearest_of_cores`.
BEYOND, SEPARATED, OVERLAPPING = 0, 1, 2

#: Distance, relative to the size of the difference, below which cores count as overlapping: their
#: direction would be a rounding error.
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
    :param limit: maximum distance of interest [m]
    :param agreement: relative difference of the squared bounds on the distance at convergence
    :param simplex: points of the difference with their weights in the nearest one; a result,
        (4, 12)
    :return: BEYOND (the limit), SEPARATED or OVERLAPPING, number of points, and the nearest point
        of the difference, from the second core to the first one [m]
    """
    # Roughly from the middle of the difference to the origin: the first support is on the near
    # side.
    direction = origin(b.pose)
    if not direction @ direction > 0.0:
        direction = Vec(1.0, direction[1], direction[2])
    nearest, number_a, number_b = support_of_difference(a, b, direction, 0, 0, simplex[0])
    simplex[0, WEIGHT] = 1.0
    count, squared = 1, nearest @ nearest
    largest = squared
    for _ in range(MAX_STEPS):
        # A distance at rounding level has no direction: EPA finds the depth (epa.py).
        if squared <= max(TOUCHING * TOUCHING * largest, COINCIDENT * COINCIDENT):
            return OVERLAPPING, count, nearest
        point, number_a, number_b = support_of_difference(
            a, b, -nearest, number_a, number_b, simplex[count]
        )
        largest = max(largest, point @ point)
        # Along `nearest` the difference begins at bound / |nearest|, a lower bound on the
        # distance.
        bound = nearest @ point
        if bound > 0.0 and bound * bound > limit * limit * squared:
            return BEYOND, count, nearest
        rounding = ROUNDING * math.sqrt(squared * largest)
        if squared - bound <= agreement * squared + rounding:
            return SEPARATED, count, nearest
        # The point is already in the simplex: for polytopes, the nearest feature is exact.
        for i in range(count):
            if simplex[i, NUMBER_A] == number_a and simplex[i, NUMBER_B] == number_b:
                if are_equal(load_vec(simplex[i], 3), point):
                    return SEPARATED, count, nearest
        count, nearest = reduce_to_nearest(simplex, count + 1)
        if count == 4:
            return OVERLAPPING, count, nearest
        before = squared
        squared = nearest @ nearest
        # In exact arithmetic each step reduces the distance; here rounding prevents it.
        if squared >= before:
            return SEPARATED, count, nearest
    return SEPARATED, count, nearest
