# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Triangles of simple solids, and files with them."""

from itertools import product

import numpy as np

from rbd_ros.model.geometry import Sphere

#: Faces of a box, counterclockwise from outside, by corners in the order of `product`.
BOX_FACES = (
    (0, 1, 3, 2),
    (4, 6, 7, 5),
    (0, 4, 5, 1),
    (2, 3, 7, 6),
    (0, 2, 6, 4),
    (1, 5, 7, 3),
)


def box_triangles(size):
    """Return the triangles of a box about the origin, (12, 3, 3)."""
    corners = 0.5 * np.array(size) * np.array(list(product((-1.0, 1.0), repeat=3)))
    faces = [corner for a, b, c, d in BOX_FACES for corner in ((a, b, c), (a, c, d))]
    return corners[np.array(faces)]


def round_triangles(shape, count):
    """Return the triangles of a sphere, cylinder or capsule, `count` around its axis."""
    half = 0.0 if isinstance(shape, Sphere) else 0.5 * shape.length
    angles = np.linspace(0.0, 0.5 * np.pi, count // 4 + 1)
    if type(shape).__name__ == 'Cylinder':
        upper = [(0.0, half), (shape.radius, half)]
    else:
        upper = [(shape.radius * np.sin(a), half + shape.radius * np.cos(a)) for a in angles]
    outline = upper + [(r, -z) for r, z in reversed(upper)]
    turns = 2.0 * np.pi * np.arange(count) / count
    rings = np.array([[(r * np.cos(t), r * np.sin(t), z) for t in turns] for r, z in outline])
    after = np.roll(rings, -1, axis=1)
    lower, upper = rings[1:], rings[:-1]
    first = np.stack([upper, lower, after[1:]], axis=2).reshape(-1, 3, 3)
    second = np.stack([upper, after[1:], after[:-1]], axis=2).reshape(-1, 3, 3)
    return np.concatenate([first, second])


def write_stl(path, triangles, text=False):
    """Write the STL file, binary or text."""
    if text:
        corners = '\n'.join(
            f'vertex {x!r} {y!r} {z!r}' for x, y, z in triangles.reshape(-1, 3).tolist()
        )
        path.write_text(f'solid it\n{corners}\nendsolid it\n')
        return
    facet = np.dtype([('normal', '<f4', 3), ('vertices', '<f4', (3, 3)), ('attribute', '<u2')])
    facets = np.zeros(len(triangles), facet)
    facets['vertices'] = triangles
    path.write_bytes(b'\0' * 80 + len(triangles).to_bytes(4, 'little') + facets.tobytes())


def write_obj(path, triangles):
    """Write the OBJ file, each triangle with separate vertices."""
    lines = [f'v {x!r} {y!r} {z!r}' for x, y, z in triangles.reshape(-1, 3).tolist()]
    lines += [f'f {3 * k + 1} {3 * k + 2} {3 * k + 3}' for k in range(len(triangles))]
    path.write_text('\n'.join(lines))


def grid_triangles(count, size, height=lambda x, y: 0.0 * x):
    """Return the triangles over a square about the origin, seen from above, (2 count^2, 3, 3)."""
    steps = np.linspace(-0.5 * size, 0.5 * size, count + 1)
    x, y = np.meshgrid(steps, steps[::-1])
    p = np.stack([x, y, height(x, y)], axis=-1)
    a, b, c, d = p[:-1, :-1], p[1:, :-1], p[1:, 1:], p[:-1, 1:]
    halves = [np.stack(corners, axis=2).reshape(-1, 3, 3) for corners in ((b, c, a), (d, a, c))]
    return np.concatenate(halves)


def ring_triangles(rings):
    """Return the closed surface through rings of equally many points, in a cycle.

    It is seen from outside if the rings run counterclockwise about z, and upward where they are
    outermost.
    """
    lower = np.array(rings)
    upper, before = np.roll(lower, -1, axis=0), np.roll(lower, 1, axis=1)
    above = np.roll(upper, 1, axis=1)
    one = np.stack([before, lower, upper], axis=2).reshape(-1, 3, 3)
    return np.concatenate([one, np.stack([before, upper, above], axis=2).reshape(-1, 3, 3)])


def plate_with_hole(sides, radius, half, thickness):
    """Return triangles of a square plate below z = 0 with a hole about a circle of this radius."""
    angles = 2.0 * np.pi * (np.arange(sides) + 0.5) / sides
    hole = np.column_stack([np.cos(angles), np.sin(angles)]) * radius / np.cos(np.pi / sides)
    border = hole / np.abs(hole).max(axis=1)[:, None] * half
    levels = (hole, -thickness), (border, -thickness), (border, 0.0), (hole, 0.0)
    return ring_triangles([np.column_stack([p, np.full(sides, z)]) for p, z in levels])


def bowl_triangles(radius, wall, sides=48, rings=24):
    """Return the triangles of half a spherical shell, open above, about the origin."""
    angles = 2.0 * np.pi * np.arange(sides) / sides
    around = np.column_stack([np.cos(angles), np.sin(angles)])
    tilts = np.linspace(0.02, 0.5 * np.pi, rings)
    outline = [((radius + wall) * np.sin(t), -(radius + wall) * np.cos(t)) for t in tilts]
    outline += [(radius * np.sin(t), -radius * np.cos(t)) for t in tilts[::-1]]
    return ring_triangles([np.column_stack([r * around, np.full(sides, z)]) for r, z in outline])


def angle_triangles(length, thickness):
    """Return the triangles of an L.

    It is the part of a square bar x, y >= 0 within `thickness` of 0.
    """
    t = thickness
    outline = [(0, 0), (length, 0), (length, t), (t, t), (t, length), (0, length)]
    low, high = ([(x, y, z) for x, y in outline] for z in (-0.5 * length, 0.5 * length))
    walls = ring_triangles([low, high])[: len(outline)].tolist()
    walls += ring_triangles([low, high])[2 * len(outline) : 3 * len(outline)].tolist()
    faces = []
    for k in range(1, 5):  # all others are visible from the first corner
        faces += [[high[0], high[k], high[k + 1]], [low[0], low[k + 1], low[k]]]
    return np.array(walls + faces, dtype=float)
