# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Shapes for collision detection, with the sizes of a URDF."""

from __future__ import annotations

from dataclasses import dataclass, field
import math
from typing import ClassVar, Tuple, Union

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.arrays import (
    BOX,
    CAPSULE,
    CYLINDER,
    HULL,
    PLANE,
    SPHERE,
    Tables,
)
from rbd_ros.collision.shapes.concave_shapes import HeightField, TriangleMesh

Sizes = Tuple[float, float, float]


def _check(shape: str, **sizes: float) -> None:
    for name, size in sizes.items():
        if not 0.0 <= size < math.inf:
            raise ValueError(
                f'{name} of a {shape} must not be negative or infinite, got {size} (in meters)'
            )


@dataclass(frozen=True)
class Plane:
    """Half-space below the plane z = 0 of its frame: the z axis is the outward normal.

    >>> from rbd_ros.collision import Plane
    >>> Plane()
    Plane()
    """

    kind: ClassVar[int] = PLANE

    @property
    def half_sizes(self) -> Sizes:
        """Sizes for compiled loops: zeros, (3,)."""
        return 0.0, 0.0, 0.0


@dataclass(frozen=True)
class Sphere:
    """Sphere centered at the origin of its frame.

    :param radius: radius [m]
    :raises ValueError: if it is negative or not finite

    >>> from rbd_ros.collision import Sphere
    >>> Sphere(0.1)
    Sphere(radius=0.1)
    """

    radius: float
    kind: ClassVar[int] = SPHERE

    def __post_init__(self) -> None:
        _check('sphere', radius=self.radius)

    @property
    def half_sizes(self) -> Sizes:
        """Sizes for compiled loops: its radius, (3,) [m]."""
        return self.radius, 0.0, 0.0


@dataclass(frozen=True)
class Capsule:
    """Capsule about the z axis, centered at the origin of its frame.

    :param radius: radius [m]
    :param length: length of its axis, without the half spheres at both ends; may be zero [m]
    :raises ValueError: if one is negative or not finite

    >>> from rbd_ros.collision import Capsule
    >>> Capsule(0.05, 0.3)
    Capsule(radius=0.05, length=0.3)
    """

    radius: float
    length: float
    kind: ClassVar[int] = CAPSULE

    def __post_init__(self) -> None:
        _check('capsule', radius=self.radius, length=self.length)

    @property
    def half_sizes(self) -> Sizes:
        """Sizes for compiled loops: its radius and half its length, (3,) [m]."""
        return self.radius, 0.5 * self.length, 0.0


@dataclass(frozen=True)
class Box:
    """Box centered at the origin of its frame.

    :param size: full lengths along x, y, z, (3,) [m]
    :raises ValueError: if there are not three, or one is negative or not finite

    >>> from rbd_ros.collision import Box
    >>> Box((0.3, 0.2, 0.1))
    Box(size=(0.3, 0.2, 0.1))
    """

    size: Sizes
    kind: ClassVar[int] = BOX

    def __post_init__(self) -> None:
        if len(self.size) != 3:
            raise ValueError(f'size of a box must have shape (3,), got ({len(self.size)},)')
        _check('box', **{f'size[{k}]': size for k, size in enumerate(self.size)})

    @property
    def half_sizes(self) -> Sizes:
        """Sizes for compiled loops: half its lengths, (3,) [m]."""
        return 0.5 * self.size[0], 0.5 * self.size[1], 0.5 * self.size[2]


@dataclass(frozen=True)
class Cylinder:
    """Cylinder about the z axis, centered at the origin of its frame.

    :param radius: radius [m]
    :param length: full length along z [m]
    :raises ValueError: if one is negative or not finite

    >>> from rbd_ros.collision import Cylinder
    >>> Cylinder(0.05, 0.3)
    Cylinder(radius=0.05, length=0.3)
    """

    radius: float
    length: float
    kind: ClassVar[int] = CYLINDER

    def __post_init__(self) -> None:
        _check('cylinder', radius=self.radius, length=self.length)

    @property
    def half_sizes(self) -> Sizes:
        """Sizes for compiled loops: its radius and half its length, (3,) [m]."""
        return self.radius, 0.5 * self.length, 0.0


@dataclass(frozen=True, eq=False)
class ConvexHull:
    """Convex hull of points, a polytope.

    :param vertices: points in its frame, (N, 3) [m]; points inside their hull are ignored, and a
        hull of more than 256 vertices is thinned evenly
    :raises ValueError: if the points are not finite or enclose no volume

    >>> from rbd_ros.collision import ConvexHull
    >>> wedge = ConvexHull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0.2], [0.1, 0.1, 0.1]])
    >>> len(wedge.vertices), wedge.notice
    (4, '')
    """

    vertices: FloatArray = field(repr=False)
    kind: ClassVar[int] = HULL
    #: Omitted parts of it, '' if there are none
    notice: str = field(default='', init=False)
    #: Resulting decrease of its extent [m]
    lost: float = field(default=0.0, init=False)
    #: Its vertices, edges and faces, for compiled loops
    tables: Tables = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # Imported with the first hull: scipy is slow to import, and other shapes do not need it.
        from rbd_ros.collision.shapes.hulls import hull_of

        for name, value in hull_of(self.vertices)._asdict().items():
            object.__setattr__(self, name, value)

    @property
    def half_sizes(self) -> Sizes:
        """Sizes for compiled loops: its number in its own tables of one hull, (3,)."""
        return 0.0, 0.0, 0.0


Shape = Union[Plane, Sphere, Capsule, Box, Cylinder, ConvexHull, TriangleMesh, HeightField]
