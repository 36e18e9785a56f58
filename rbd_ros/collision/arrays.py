# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Types of the arrays of this package, kinds of shapes, and records of compiled loops."""

from typing import NamedTuple

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.compiler.loops import floats, integers

#: Kinds of shapes. In compiled loops a shape is its kind and three sizes (shapes.py); with more
#: sizes, the first one is its number in a table.
PLANE, SPHERE, CAPSULE, BOX, CYLINDER, HULL, MESH, HEIGHT_FIELD = 0, 1, 2, 3, 4, 5, 6, 7

#: Kind of a triangle of a mesh or a height field, whose nine sizes are its corners.
TRIANGLE = 8

#: Maximum number of contact points of two shapes: a body rests on each of two faces of a mesh.
#: Two convex shapes have at most half of them.
MAX_POINTS = 8


class FoundPoints(NamedTuple):
    """Buffers for the contact points of two shapes, all in the common frame.

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


class Tables(NamedTuple):
    """Tables of shapes with more than three sizes, in coordinates of each shape.

    :param hull: of each convex hull, first vertex, number of vertices, first face, (hulls, 3)
    :param vertex: vertices of the hulls, (vertices, 3) [m]
    :param around: of each vertex, first of its neighbors, number of neighbors, first of its
        faces, number of faces, (vertices, 4)
    :param neighbor: vertices at the other ends of edges, numbered within their hull, (edges,)
    :param face_at: faces around vertices, (incidences,)
    :param face: outward unit normal and height above the origin, (faces, 4) [1, m]
    :param ring: of each face, first of its corners, number of corners, (faces, 2)
    :param corner: vertices around faces, counterclockwise from outside, numbered in their hull,
        (corners,)
    :param mesh: of each triangle mesh, first node, number of leaves, first triangle, whether it is
        closed, hull, (meshes, 5)
    :param node: bounds of boxes of a binary tree, lower and upper, in heap order: the
        children of node i are 2 i + 1 and 2 i + 2, (nodes, 6) [m]
    :param triangle: corners, counterclockwise from outside; leaf k of a mesh has those from
        4 k on, (triangles, 9) [m]
    :param beside: neighbor in the mesh across the edge that begins at each corner, -1 for none,
        (triangles, 3)
    :param field: of each height field, first height, rows, columns, (fields, 3)
    :param grid: x of its first column, y of its first row, steps from column to column and from
        row to row, greatest height, (fields, 5) [m]
    :param height: heights row by row, (heights,) [m]
    :param by_support: whether any pair needs supports; if not, compilation is faster
    :param concave: whether any shape is a mesh or a height field; likewise
    """

    hull: IntArray = integers('hulls', 3)
    vertex: FloatArray = floats('vertices', 3)
    around: IntArray = integers('vertices', 4)
    neighbor: IntArray = integers('edges')
    face_at: IntArray = integers('incidences')
    face: FloatArray = floats('faces', 4)
    ring: IntArray = integers('faces', 2)
    corner: IntArray = integers('corners')
    mesh: IntArray = integers('meshes', 5)
    node: FloatArray = floats('nodes', 6)
    triangle: FloatArray = floats('triangles', 9)
    beside: IntArray = integers('triangles', 3)
    field: IntArray = integers('fields', 3)
    grid: FloatArray = floats('fields', 5)
    height: FloatArray = floats('heights')
    by_support: bool = True
    concave: bool = True


class PlacedShape(NamedTuple):
    """A shape and its pose, a value that compiled loops pass.

    :param size: its sizes, (3,) [m]
    :param pose: its rotation row by row, and its position, (12,)
    :param tables: tables of shapes with more sizes
    """

    kind: int
    size: FloatArray
    pose: FloatArray
    tables: Tables


#: Sizes with which `allocate` creates empty tables.
NO_TABLES = dict.fromkeys(
    (
        *('hulls', 'vertices', 'edges', 'incidences', 'faces', 'corners'),
        *('meshes', 'nodes', 'triangles', 'fields', 'heights'),
    ),
    0,
)

#: Supported pairs: the lower kind, the higher kind.
PAIRS = frozenset(
    (a, b)
    # Planes do not touch each other, nor do concave shapes: one of a pair must be convex.
    for a in (PLANE, SPHERE, CAPSULE, BOX, CYLINDER, HULL)
    for b in (SPHERE, CAPSULE, BOX, CYLINDER, HULL, MESH, HEIGHT_FIELD)
    if a <= b and (a, b) != (PLANE, HEIGHT_FIELD)
)


class Pair(NamedTuple):
    """Two shapes and their contact points, a record for compiled loops.

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
