# SPDX-License-Identifier: Apache-2.0
"""Shapes as compiled loops take them: a kind, three sizes, and tables for those that need more."""

from __future__ import annotations

from typing import Dict, List, Sequence, Tuple

from rbd_ros.collision.arrays import CAPSULE, CYLINDER, HEIGHT_FIELD, HULL, MESH, PLANE, Tables
from rbd_ros.collision.shapes.concave_shapes import HeightField, TriangleMesh
from rbd_ros.collision.shapes.contact_shapes import ConvexHull, Shape, Sizes
from rbd_ros.collision.shapes.hulls import join_tables

#: Shapes that are tables and not three sizes.
WITH_TABLES = (ConvexHull, TriangleMesh, HeightField)


def tabulated(shapes: Sequence[Shape]) -> Tuple[List[Sizes], List[Tables]]:
    """Return the sizes of shapes and the parts of their tables.

    The first size is a number in tables for some.

    :param shapes: the shapes; one that comes again has the same number
    :return: sizes of each, (3,), and parts for `join_tables`

    >>> from rbd_ros.collision import ConvexHull, Sphere
    >>> from rbd_ros.collision.shapes.shape_tables import tabulated
    >>> wedge = ConvexHull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> cube = ConvexHull([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    >>> tabulated([Sphere(0.1), wedge, cube, wedge])[0]
    [(0.1, 0.0, 0.0), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)]
    """
    sizes: List[Sizes] = []
    numbers: Dict[int, Sizes] = {}
    parts: List[Tables] = []
    done = {HULL: 0, MESH: 0, HEIGHT_FIELD: 0}
    for shape in shapes:
        if not isinstance(shape, WITH_TABLES):
            sizes.append(shape.half_sizes)
            continue
        if id(shape.tables) not in numbers:
            numbers[id(shape.tables)] = (float(done[shape.kind]), 0.0, 0.0)
            parts.append(shape.tables)
            # A mesh has a hull of its own.
            done[HULL] += len(shape.tables.hull)
            done[MESH] += len(shape.tables.mesh)
            done[HEIGHT_FIELD] += len(shape.tables.field)
        sizes.append(numbers[id(shape.tables)])
    return sizes, parts


def code_of(kind_a: int, kind_b: int) -> Tuple[bool, bool]:
    """Return whether a pair is found by supports, and whether among triangles of a mesh.

    Or those of a height field.

    :param kind_a: kind of one shape
    :param kind_b: kind of the other one

    >>> from rbd_ros.collision.arrays import BOX, CYLINDER, MESH, PLANE
    >>> from rbd_ros.collision.shapes.shape_tables import code_of
    >>> code_of(PLANE, CYLINDER), code_of(CYLINDER, BOX), code_of(BOX, MESH)
    ((False, False), (True, False), (False, True))
    """
    lower, higher = sorted((kind_a, kind_b))
    if lower == PLANE:
        return False, False
    if higher >= MESH:
        return False, True
    return higher == HULL or (higher == CYLINDER and lower >= CAPSULE), False


def tables_for(pairs: Sequence[Tuple[int, int]], parts: Sequence[Tables]) -> Tables:
    """Return the tables of all shapes of a scene, and what machine code its pairs need.

    :param pairs: kinds of the shapes of each pair
    :param parts: tables of the shapes, in the order of `tabulated`

    >>> from rbd_ros.collision.arrays import BOX, CYLINDER, PLANE
    >>> from rbd_ros.collision.shapes.shape_tables import tables_for
    >>> tables_for([(PLANE, CYLINDER)], []).by_support
    False
    >>> tables_for([(PLANE, CYLINDER), (BOX, CYLINDER)], []).by_support
    True
    """
    needed = [code_of(*pair) for pair in set(pairs)]
    return join_tables(parts)._replace(
        by_support=any(by_support for by_support, _ in needed),
        concave=any(concave for _, concave in needed),
    )
