# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact of any two shapes, in machine code: dispatch to the function of the pair.

Kinds are numbered so that the function of a pair takes the shape of the lower number first.
Maximum numbers of points:

    |          | sphere | capsule | box | cylinder | hull | mesh | height field |
    |----------|--------|---------|-----|----------|------|------|--------------|
    | plane    | 1      | 2       | 4   | 4        | 4 *  | 4 *  | none         |
    | sphere   | 1      | 1       | 1   | 1        | 1 *  | 8 *  | 8 *          |
    | capsule  |        | 2       | 2   | 2 *      | 2 *  | 8 *  | 8 *          |
    | box      |        |         | 4   | 4 *      | 4 *  | 8 *  | 8 *          |
    | cylinder |        |         |     | 4 *      | 4 *  | 8 *  | 8 *          |
    | hull     |        |         |     |          | 4 *  | 8 *  | 8 *          |

Pairs with a star use supports (convex_pairs.py, planes.py, concave_search.py), others closed
forms. Distances are exact up to rounding, and so are depths, with two exceptions: each triangle of
a mesh has its own, and cylinders may have another minimum's within 1e-10 of the size.
"""

from __future__ import annotations

import math

from rbd_ros.collision.arrays import (
    BOX,
    CAPSULE,
    CYLINDER,
    FoundPoints,
    HULL,
    MESH,
    Pair,
    PlacedShape,
    PLANE,
    SPHERE,
)
from rbd_ros.collision.concave.concave_search import convex_concave
from rbd_ros.collision.convex.convex_pairs import convex_convex
from rbd_ros.collision.pairs.boxes import box_box
from rbd_ros.collision.pairs.capsule_box import capsule_box
from rbd_ros.collision.pairs.capsules import capsule_capsule
from rbd_ros.collision.pairs.planes import (
    plane_box,
    plane_capsule,
    plane_cylinder,
    plane_hull,
    plane_sphere,
)
from rbd_ros.collision.pairs.spheres import (
    sphere_box,
    sphere_capsule,
    sphere_cylinder,
    sphere_sphere,
)
from rbd_ros.compiler.loops import compiled, entry_point, load_vec


@compiled
def find_ordered(
    a: PlacedShape, b: PlacedShape, margin: float, nearest: bool, found: FoundPoints
) -> int:
    """Return the contact points of a pair whose first kind is not above the second.

    See `find_contacts`.
    """
    # Unlike flags of the tables, kinds are data of a scene, unknown at compile time.
    tables = a.tables
    if a.kind == PLANE:
        if b.kind == SPHERE:
            return plane_sphere(a, b, margin, found)
        if b.kind == CAPSULE:
            return plane_capsule(a, b, margin, found)
        if b.kind == BOX:
            return plane_box(a, b, margin, found)
        if b.kind == CYLINDER:
            return plane_cylinder(a, b, margin, found)
        if b.kind == HULL:
            return plane_hull(a, b, int(b.size[0]), margin, nearest, found)
        if b.kind == MESH:
            # A half-space touches a mesh where it touches its convex hull.
            hull = tables.mesh[int(b.size[0]), 4]
            # A mesh whose points enclose no volume has no hull.
            if hull < 0:
                return 0
            return plane_hull(a, b, hull, margin, nearest, found)
        return -1
    if a.kind >= MESH:
        return -1
    if b.kind >= MESH:
        # A bool of a record is a compile-time constant: scenes without meshes do not compile this.
        if tables.concave:
            return convex_concave(a, b, margin, nearest, found)
        return -1
    # Closed forms are faster, and exact where supports iterate.
    if a.kind == SPHERE:
        if b.kind == SPHERE:
            return sphere_sphere(a, b, margin, found)
        if b.kind == CAPSULE:
            return sphere_capsule(a, b, margin, found)
        if b.kind == BOX:
            return sphere_box(a, b, margin, found)
        if b.kind == CYLINDER:
            return sphere_cylinder(a, b, margin, found)
    if a.kind == CAPSULE and b.kind == CAPSULE:
        return capsule_capsule(a, b, margin, nearest, found)
    if a.kind == CAPSULE and b.kind == BOX:
        return capsule_box(a, b, margin, nearest, found)
    if a.kind == BOX and b.kind == BOX:
        return box_box(a, b, margin, nearest, found)
    if tables.by_support:
        return convex_convex(a, b, margin, nearest, found)
    return -1


@compiled
def find_contacts(
    a: PlacedShape, b: PlacedShape, margin: float, nearest: bool, found: FoundPoints
) -> int:
    """Return the contact points of two shapes.

    :param a: the first shape, with its pose in the common frame
    :param b: the second shape
    :param margin: maximum gap [m]
    :param nearest: whether only the point of minimum gap is needed, exactly
    :param found: the points; a result
    :return: number of points, none if a pose is not finite; -1 for an unsupported pair
    """
    finite = 0.0
    for r in range(12):
        finite += a.pose[r] + b.pose[r]
    # Searches need finite poses.
    if not math.isfinite(finite):
        return 0
    if a.kind <= b.kind:
        return find_ordered(a, b, margin, nearest, found)
    count = find_ordered(b, a, margin, nearest, found)
    for i in range(count):
        # Undo the exchange of the shapes: exchange points and reverse normals.
        found.on_a[i], found.on_b[i] = load_vec(found.on_b[i], 3), load_vec(found.on_a[i], 3)
        found.normal[i] = -load_vec(found.normal[i], 3)
    return count


@entry_point
def contacts_of(pair: Pair, margin: float, nearest: int) -> int:
    """Return the contact points of a pair; arguments and result are those of `find_contacts`."""
    a = PlacedShape(pair.kind[0], pair.size[0], pair.pose[0], pair.tables)
    b = PlacedShape(pair.kind[1], pair.size[1], pair.pose[1], pair.tables)
    return find_contacts(a, b, margin, nearest != 0, pair.found)
