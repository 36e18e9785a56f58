# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact points of many triangles, reduced to at most eight.

At most four of each direction are kept (reduction.py); of more directions, those farthest from
each other.
"""

from __future__ import annotations

import math

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.arrays import (
    FoundPoints,
)
from rbd_ros.collision.convex.reduction import choose, LAYER
from rbd_ros.collision.vectors import perpendicular
from rbd_ros.compiler.loops import compiled, cross, load_vec, stack_array, stack_matrix, Vec

#: Maximum number of candidates, and the number above which they are reduced.
CAPACITY, FULL = 64, 56

#: Columns of a candidate: point of the mesh, normal from the mesh, gap, feature.
NORMAL, GAP, FEATURE = 3, 6, 7

#: Minimum cosine of the angle between normals of one direction.
ONE_DIRECTION = 0.995


@compiled
def reduce_candidates(candidates: FloatArray, count: int, max_count: int) -> int:
    """Keep the points of each direction that span the most, then those farthest from each other.

    :param candidates: points; those that are kept come first, (CAPACITY, 8)
    :param count: number of points
    :param max_count: maximum number of points to keep
    :return: number of points kept
    """
    kept, flat, number_of = stack_matrix(64, 8), stack_matrix(64, 3), stack_array(64)
    chosen, left, total = stack_array(4), count, 0
    while left > 0:
        deepest = 0
        for i in range(1, left):
            if candidates[i, GAP] < candidates[deepest, GAP] - 1e-13:
                deepest = i
        normal = load_vec(candidates[deepest], 3, NORMAL)
        u = perpendicular(normal)
        v = cross(normal, u)
        members, rest = 0, 0
        for i in range(left):
            point = load_vec(candidates[i], 3)
            along_normal = normal @ load_vec(candidates[i], 3, NORMAL)
            if along_normal >= ONE_DIRECTION or i == deepest:
                here = Vec(u @ point, v @ point, candidates[i, GAP])
                flat[members], kept[total + members] = here, load_vec(candidates[i], 8)
                # Neighboring triangles share points.
                double = False
                for j in range(members):
                    offset = load_vec(flat[j], 3) - here
                    if offset @ offset < 1e-18:
                        double = True
                if not double:
                    members += 1
            else:
                if rest < i:
                    candidates[rest] = load_vec(candidates[i], 8)
                rest += 1
        left = rest
        number = choose(flat, members, chosen)
        # In ascending order, so that none is overwritten before it is moved.
        for n in range(number):
            for m in range(n + 1, number):
                if chosen[m] < chosen[n]:
                    chosen[n], chosen[m] = chosen[m], chosen[n]
        for n in range(number):
            kept[total + n] = load_vec(kept[total + int(chosen[n])], 8)
        total += number
    size = 0.0
    for i in range(1, total):
        for r in range(3):
            size = max(size, abs(kept[i, r] - kept[0, r]))
    result = 0
    for i in range(total):
        number_of[i] = math.inf
    last = 0
    for i in range(1, total):
        if kept[i, GAP] < kept[last, GAP] - LAYER:
            last = i
    for _ in range(min(max_count, total)):
        # The first is the deepest.
        candidates[result] = load_vec(kept[last], 8)
        result += 1
        number_of[last] = -1.0
        following, farthest = -1, -1.0
        for i in range(total):
            if number_of[i] < 0.0:
                continue
            offset = load_vec(kept[i], 3) - load_vec(kept[last], 3)
            turn = load_vec(kept[i], 3, NORMAL) - load_vec(kept[last], 3, NORMAL)
            away = offset @ offset + size * size * (turn @ turn)
            number_of[i] = min(number_of[i], away)
            if number_of[i] > farthest:
                following, farthest = i, number_of[i]
        last = following
    return result


@compiled
def collect(
    found: FoundPoints, number: int, triangle: int, candidates: FloatArray, count: int
) -> int:
    """Add the contact points of a triangle to the candidates; return their number."""
    for i in range(number):
        candidates[count, 0:NORMAL] = load_vec(found.on_a[i], 3)
        candidates[count, NORMAL:GAP] = load_vec(found.normal[i], 3)
        candidates[count, GAP] = found.gap[i]
        candidates[count, FEATURE] = float(
            (triangle % (1 << 26)) * (1 << 26) + found.feature[i] % (1 << 26)
        )
        count += 1
    return count if count <= FULL else reduce_candidates(candidates, count, 24)
