# SPDX-License-Identifier: Apache-2.0
"""Contact of any two shapes, in machine code: chooses the function of the pair.

The kinds are numbered so that the function of a pair takes the shape of the lower number first.
Numbers of points at most:

    |          | sphere | capsule | box | cylinder | hull | mesh | height field |
    |----------|--------|---------|-----|----------|------|------|--------------|
    | plane    | 1      | 2       | 4   | 4        | 4 *  | 4 *  | none         |
    | sphere   | 1      | 1       | 1   | 1        | 1 *  | 8 *  | 8 *          |
    | capsule  |        | 2       | 2   | 2 *      | 2 *  | 8 *  | 8 *          |
    | box      |        |         | 4   | 4 *      | 4 *  | 8 *  | 8 *          |
    | cylinder |        |         |     | 4 *      | 4 *  | 8 *  | 8 *          |
    | hull     |        |         |     |          | 4 *  | 8 *  | 8 *          |

Those with a star are found by supports (convex_pairs.py, plane_hull.py, concave_search.py), others
in closed form. Distances are exact to rounding, and so are depths, but those that the triangles of
a mesh have each for itself; those of cylinders may be another minimum's within 1e-10 of the size.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from rbd_ros.collision.arrays import (
    BOX,
    CAPSULE,
    CYLINDER,
    FloatArray,
    FoundPoints,
    HEIGHT_FIELD,
    HULL,
    IntArray,
    MESH,
    PLANE,
    SPHERE,
    Tables,
)
from rbd_ros.collision.concave.concave_search import convex_concave
from rbd_ros.collision.convex.convex_pairs import convex_convex
from rbd_ros.collision.pairs.boxes import box_box
from rbd_ros.collision.pairs.capsule_box import capsule_box
from rbd_ros.collision.pairs.capsules import capsule_capsule
from rbd_ros.collision.pairs.plane_hull import plane_hull
from rbd_ros.collision.pairs.planes import plane_box, plane_capsule, plane_cylinder, plane_sphere
from rbd_ros.collision.pairs.spheres import (
    sphere_box,
    sphere_capsule,
    sphere_cylinder,
    sphere_sphere,
)
from rbd_ros.compiler.loops import compiled, entry_point, floats, integers

#: Pairs that there are: the lower kind, the higher kind.
PAIRS = frozenset(
    (a, b)
    # Planes do not touch each other, and neither do concave shapes: one of a pair has to be
    # convex.
    for a in (PLANE, SPHERE, CAPSULE, BOX, CYLINDER, HULL)
    for b in (SPHERE, CAPSULE, BOX, CYLINDER, HULL, MESH, HEIGHT_FIELD)
    if a <= b and (a, b) != (PLANE, HEIGHT_FIELD)
)


class Pair(NamedTuple):
    """Two shapes and the contact points of them, a record for compiled loops.

    :param kind: kinds of both, (2,)
    :param size: sizes as in shapes.py, (2, 3) [m]
    :param pose: poses in the common frame, (2, 12)
    :param tables: tables of hulls, meshes and height fields
    :param found: their contact points
    """

    kind: IntArray = integers(2)
    size: FloatArray = floats(2, 3)
    pose: FloatArray = floats(2, 12)
    tables: Tables = Tables  # type: ignore[assignment]
    found: FoundPoints = FoundPoints  # type: ignore[assignment]


@compiled
def find_ordered(
    kind_a: int,
    size_a: FloatArray,
    pose_a: FloatArray,
    kind_b: int,
    size_b: FloatArray,
    pose_b: FloatArray,
    margin: float,
    nearest: bool,
    tables: Tables,
    found: FoundPoints,
) -> int:
    """Return the contact points of a pair whose first kind is not above the second.

    See `find_contacts`.
    """
    # Kinds are data of a scene, which machine code does not know: these branches remain in it,
    # unlike those of flags of the tables.
    if kind_a == PLANE:
        if kind_b == SPHERE:
            return plane_sphere(size_a, pose_a, size_b, pose_b, margin, found)
        if kind_b == CAPSULE:
            return plane_capsule(size_a, pose_a, size_b, pose_b, margin, found)
        if kind_b == BOX:
            return plane_box(size_a, pose_a, size_b, pose_b, margin, found)
        if kind_b == CYLINDER:
            return plane_cylinder(size_a, pose_a, size_b, pose_b, margin, found)
        if kind_b == HULL:
            return plane_hull(pose_a, int(size_b[0]), pose_b, margin, nearest, tables, found)
        if kind_b == MESH:
            # A half-space touches a mesh where it touches its convex hull.
            hull = tables.mesh[int(size_b[0]), 4]
            # A mesh without a hull, whose points enclose no volume.
            if hull < 0:
                return 0
            return plane_hull(pose_a, hull, pose_b, margin, nearest, tables, found)
        return -1
    if kind_a >= MESH:
        return -1
    if kind_b >= MESH:
        # A bool of a record is decided when machine code is made: scenes without meshes do not
        # compile this.
        if tables.concave:
            return convex_concave(
                kind_a, size_a, pose_a, kind_b, size_b, pose_b, margin, nearest, tables, found
            )
        return -1
    # Closed forms are faster, and exact where supports would iterate.
    if kind_a == SPHERE:
        if kind_b == SPHERE:
            return sphere_sphere(size_a, pose_a, size_b, pose_b, margin, found)
        if kind_b == CAPSULE:
            return sphere_capsule(size_a, pose_a, size_b, pose_b, margin, found)
        if kind_b == BOX:
            return sphere_box(size_a, pose_a, size_b, pose_b, margin, found)
        if kind_b == CYLINDER:
            return sphere_cylinder(size_a, pose_a, size_b, pose_b, margin, found)
    if kind_a == CAPSULE and kind_b == CAPSULE:
        return capsule_capsule(size_a, pose_a, size_b, pose_b, margin, nearest, found)
    if kind_a == CAPSULE and kind_b == BOX:
        return capsule_box(size_a, pose_a, size_b, pose_b, margin, nearest, found)
    if kind_a == BOX and kind_b == BOX:
        return box_box(size_a, pose_a, size_b, pose_b, margin, nearest, found)
    if tables.by_support:
        return convex_convex(
            kind_a, size_a, pose_a, kind_b, size_b, pose_b, margin, nearest, tables, found
        )
    return -1


@compiled
def find_contacts(
    kind_a: int,
    size_a: FloatArray,
    pose_a: FloatArray,
    kind_b: int,
    size_b: FloatArray,
    pose_b: FloatArray,
    margin: float,
    nearest: bool,
    tables: Tables,
    found: FoundPoints,
) -> int:
    """Return the contact points of two shapes.

    :param kind_a: kind of the first shape
    :param size_a: its sizes (shapes.py), (3,) [m]
    :param pose_a: its rotation row by row, and its position, in the common frame, (12,)
    :param kind_b: kind of the second shape
    :param size_b: its sizes, (3,) [m]
    :param pose_b: its rotation and position, (12,)
    :param margin: maximum gap of what is found [m]
    :param nearest: whether the point of minimum gap is exact, and others do not matter
    :param tables: tables of hulls, meshes and height fields
    :param found: the points; a result
    :return: how many were found, none if a pose is not finite; -1 for a pair that there is no
        function of
    """
    finite = 0.0
    for r in range(12):
        finite += pose_a[r] + pose_b[r]
    # A pose that is not finite would send searches astray; it touches nothing.
    if not math.isfinite(finite):
        return 0
    if kind_a <= kind_b:
        return find_ordered(
            kind_a, size_a, pose_a, kind_b, size_b, pose_b, margin, nearest, tables, found
        )
    count = find_ordered(
        kind_b, size_b, pose_b, kind_a, size_a, pose_a, margin, nearest, tables, found
    )
    for i in range(count):
        for r in range(3):
            # The pair was exchanged: so are its points, and the normal turns round.
            found.on_a[i, r], found.on_b[i, r] = found.on_b[i, r], found.on_a[i, r]
            found.normal[i, r] = -found.normal[i, r]
    return count


@entry_point
def contacts_of(pair: Pair, margin: float, nearest: int) -> int:
    """Return the contact points of a pair; arguments and result are those of `find_contacts`."""
    return find_contacts(
        pair.kind[0],
        pair.size[0],
        pair.pose[0],
        pair.kind[1],
        pair.size[1],
        pair.pose[1],
        margin,
        nearest != 0,
        pair.tables,
        pair.found,
    )
