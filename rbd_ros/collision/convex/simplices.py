# SPDX-License-Identifier: Apache-2.0
"""Nearest points of segments, triangles and tetrahedra to the origin.

Simplices are rows whose first three columns are their vertices (supports.py).
"""

from __future__ import annotations

import math

from rbd_ros.collision.arrays import FloatArray
from rbd_ros.collision.shapes.supports import SHARE
from rbd_ros.collision.vectors import cross, dot
from rbd_ros.compiler.loops import compiled, stack_array


@compiled
def nearest_on_edge(p: FloatArray, q: FloatArray, shares: FloatArray) -> float:
    """Return the squared distance of a segment from the origin [m^2].

    :param p: one end, (3,) [m]
    :param q: the other end, (3,) [m]
    :param shares: shares of both in the nearest point; a result, (2,)
    """
    x, y, z = q[0] - p[0], q[1] - p[1], q[2] - p[2]
    length, ahead = x * x + y * y + z * z, -(p[0] * x + p[1] * y + p[2] * z)
    t = 0.0
    if ahead > 0.0:
        t = min(1.0, ahead / length) if length > 0.0 else 0.0
    shares[0], shares[1] = 1.0 - t, t
    x, y, z = p[0] + t * x, p[1] + t * y, p[2] + t * z
    # p + (q - p) is q only up to rounding.
    if t == 1.0:
        x, y, z = q[0], q[1], q[2]
    squared: float = x * x + y * y + z * z
    return squared


@compiled
def nearest_on_triangle(
    p: FloatArray, q: FloatArray, r: FloatArray, shares: FloatArray, nearest: FloatArray
) -> float:
    """Return the squared distance of a triangle from the origin [m^2].

    :param p: its vertices, (3,) [m]
    :param shares: shares of p, q and r in the nearest point; a result, (3,)
    :param nearest: the nearest point; a result, (3,) [m]
    """
    e, f, normal, other = stack_array(3), stack_array(3), stack_array(3), stack_array(3)
    # From the vertex that is nearest to the origin: of a long triangle with a short edge that is
    # near, differences with a vertex far away would be rounded as that one is.
    at_p, at_q, at_r = dot(p, p), dot(q, q), dot(r, r)
    base, next_one, last = p, q, r
    if at_q < at_p and at_q <= at_r:
        base, next_one, last = q, r, p
    elif at_r < at_p:
        base, next_one, last = r, p, q
    for k in range(3):
        e[k], f[k] = next_one[k] - base[k], last[k] - base[k]
    cross(e, f, normal)
    square = dot(normal, normal)
    if square > 0.0:
        # Volumes that the origin spans with the edges: where all are positive, it is above the
        # triangle itself.
        cross(q, r, other)
        at_p = dot(normal, other)
        cross(r, p, other)
        at_q = dot(normal, other)
        cross(p, q, other)
        at_r = dot(normal, other)
        total = at_p + at_q + at_r
        if at_p > 0.0 and at_q > 0.0 and at_r > 0.0:
            shares[0], shares[1], shares[2] = at_p / total, at_q / total, at_r / total
            # Along the normal, which is exact also where the distance is small.
            height = dot(normal, base) / square
            for k in range(3):
                nearest[k] = height * normal[k]
            return dot(nearest, nearest)
    two = stack_array(2)
    # Else the nearest point is on an edge: all three are compared, which is safer than deciding by
    # signs that are rounding (van den Bergen 2003, section 4.3.3, on the pitfalls of Johnson's
    # recursion).
    least = nearest_on_edge(p, q, two)
    shares[0], shares[1], shares[2] = two[0], two[1], 0.0
    squared = nearest_on_edge(p, r, two)
    if squared < least:
        least = squared
        shares[0], shares[1], shares[2] = two[0], 0.0, two[1]
    squared = nearest_on_edge(q, r, two)
    if squared < least:
        least = squared
        shares[0], shares[1], shares[2] = 0.0, two[0], two[1]
    for k in range(3):
        nearest[k] = shares[0] * p[k] + shares[1] * q[k] + shares[2] * r[k]
    return dot(nearest, nearest)


@compiled
def side(p: FloatArray, q: FloatArray, r: FloatArray, s: FloatArray) -> float:
    """Return six times the signed volume of a tetrahedron [m^3]."""
    e, f, g, normal = stack_array(3), stack_array(3), stack_array(3), stack_array(3)
    for k in range(3):
        e[k], f[k], g[k] = q[k] - p[k], r[k] - p[k], s[k] - p[k]
    cross(e, f, normal)
    return dot(normal, g)


@compiled
def encloses_origin(simplex: FloatArray) -> bool:
    """Return whether the origin is within a tetrahedron that has a volume.

    Sets the shares if it is.
    """
    origin, shares = stack_array(3), stack_array(4)
    for k in range(3):
        origin[k] = 0.0
    # Barycentric coordinates: volumes with the origin in place of each vertex, by the whole
    # volume.
    whole = side(simplex[0], simplex[1], simplex[2], simplex[3])
    if whole == 0.0:
        return False
    shares[3] = side(simplex[0], simplex[1], simplex[2], origin) / whole
    shares[2] = side(simplex[0], simplex[3], simplex[1], origin) / whole
    shares[1] = side(simplex[0], simplex[2], simplex[3], origin) / whole
    shares[0] = side(simplex[1], simplex[3], simplex[2], origin) / whole
    if not min(shares[0], shares[1], shares[2], shares[3]) >= 0.0:
        return False
    for k in range(4):
        simplex[k, SHARE] = shares[k]
    return True


@compiled
def reduce_to_nearest(simplex: FloatArray, count: int, nearest: FloatArray) -> int:
    """Return the nearest point of a simplex to the origin.

    Of the simplex remains the part that it is on.

    :param simplex: vertices; those that remain come first, with their shares, (4, 12)
    :param count: how many there are, up to 4
    :param nearest: the nearest point; a result, (3,) [m]
    :return: how many vertices remain, 4 if the origin is within the tetrahedron
    """
    shares, best, point = stack_array(4), stack_array(4), stack_array(3)
    for k in range(4):
        best[k] = 0.0
    if count == 1:
        best[0] = 1.0
    elif count == 2:
        nearest_on_edge(simplex[0], simplex[1], best)
    elif count == 3:
        nearest_on_triangle(simplex[0], simplex[1], simplex[2], best, nearest)
    else:
        least = math.inf
        # Of a tetrahedron the nearest of four triangles, unless it encloses the origin: triangles
        # are robust where volumes are flat.
        for left_out in range(4):
            i, j, k = 0, 1, 2
            if left_out < 3:
                i, j, k = (left_out + 1) % 3, (left_out + 2) % 3, 3
            squared = nearest_on_triangle(simplex[i], simplex[j], simplex[k], shares, point)
            if squared < least:
                least = squared
                best[left_out] = 0.0
                best[i], best[j], best[k] = shares[0], shares[1], shares[2]
                for r in range(3):
                    nearest[r] = point[r]
        if encloses_origin(simplex):
            return 4
    kept = 0
    for i in range(count):
        # Vertices without a share do not carry the nearest point: dropping them keeps simplices
        # small and independent.
        if best[i] > 0.0:
            if kept < i:
                for c in range(11):
                    simplex[kept, c] = simplex[i, c]
            simplex[kept, SHARE] = best[i]
            kept += 1
    # The foot on a triangle was found along its normal, more exactly than by shares.
    if count < 3 or kept < 3:
        for r in range(3):
            nearest[r] = 0.0
            for i in range(kept):
                nearest[r] += simplex[i, SHARE] * simplex[i, r]
    return kept
