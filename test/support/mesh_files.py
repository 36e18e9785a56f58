"""Triangles of simple solids, and files with them."""

from itertools import product

import numpy as np

from rbd_ros.model.geometry import Sphere

#: Faces of a box, anticlockwise from outside, by corners in the order of `product`.
BOX_FACES = (
    (0, 1, 3, 2),
    (4, 6, 7, 5),
    (0, 4, 5, 1),
    (2, 3, 7, 6),
    (0, 2, 6, 4),
    (1, 5, 7, 3),
)


def box_triangles(size):
    """Triangles of a box about the origin, (12, 3, 3)."""
    corners = 0.5 * np.array(size) * np.array(list(product((-1.0, 1.0), repeat=3)))
    faces = [corner for a, b, c, d in BOX_FACES for corner in ((a, b, c), (a, c, d))]
    return corners[np.array(faces)]


def round_triangles(shape, count):
    """Triangles of a sphere, cylinder or capsule, `count` round its axis."""
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
    """STL file, binary or text."""
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
    """OBJ file, each triangle with vertices of its own."""
    lines = [f'v {x!r} {y!r} {z!r}' for x, y, z in triangles.reshape(-1, 3).tolist()]
    lines += [f'f {3 * k + 1} {3 * k + 2} {3 * k + 3}' for k in range(len(triangles))]
    path.write_text('\n'.join(lines))
