# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Shapes of links and of objects around a robot, for collision detection and for drawing.

Dynamics algorithms do not use them. `Shape` has the types of URDF; world files have more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from rbd_ros.spatial import PluckerTransform


@dataclass(frozen=True)
class Sphere:
    """Sphere centered at the origin of the geometry frame.

    :param radius: radius [m]
    """

    radius: float


@dataclass(frozen=True)
class Box:
    """Box centered at the origin of the geometry frame.

    :param size: full lengths along x, y, z, (3,) [m]
    """

    size: Tuple[float, float, float]


@dataclass(frozen=True)
class Cylinder:
    """Cylinder about the z axis, centered at the origin of the geometry frame.

    :param radius: radius [m]
    :param length: full length along z [m]
    """

    radius: float
    length: float


@dataclass(frozen=True)
class Mesh:
    """Triangle mesh in a file.

    :param uri: file name as the URDF gives it
    :param path: absolute path, None if it could not be resolved without ROS
    :param scale: factors along x, y, z, (3,)
    """

    uri: str
    path: Optional[str]
    scale: Tuple[float, float, float] = (1.0, 1.0, 1.0)


Shape = Union[Sphere, Box, Cylinder, Mesh]

#: Red, green, blue and opacity, each from 0 to 1.
Color = Tuple[float, float, float, float]


@dataclass(frozen=True)
class Capsule:
    """Cylinder about the z axis with a half sphere at each end, centered at the origin.

    :param radius: radius [m]
    :param length: length of the cylinder along z, without the half spheres [m]
    """

    radius: float
    length: float


@dataclass(frozen=True)
class Plane:
    """Half-space z <= 0 of the geometry frame, whose z axis is the outward normal."""


@dataclass(frozen=True, eq=False)
class HeightField:
    """Ground of varying height over a rectangle centered at the origin, solid below.

    Two are equal if their sizes and heights are.

    :param size: lengths of the rectangle along x and y, (2,) [m]
    :param heights: z on a regular grid as seen from above, (rows, columns), both at least 2 [m]:
        the first row lies at the largest y, the first column at the smallest x
    """

    size: Tuple[float, float]
    heights: NDArray[np.float64]

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, HeightField):
            return NotImplemented
        return self.size == other.size and np.array_equal(self.heights, other.heights)

    def __hash__(self) -> int:
        return hash((self.size, self.heights.shape))


@dataclass(frozen=True)
class Geometry:
    """Shape fixed to a body.

    :param name: name in the URDF, '' without one
    :param link: name of its URDF link
    :param body: index of its body (0 is the base)
    :param placement: transform from body to geometry coordinates
    :param role: 'collision' or 'visual'
    :param color: color of the material in the URDF; None without one
    """

    name: str
    link: str
    body: int
    placement: PluckerTransform
    shape: Shape
    role: str
    color: Optional[Color] = None
