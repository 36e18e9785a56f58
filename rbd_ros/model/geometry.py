"""Shapes of links, for collision detection and for drawing; no dynamics algorithm uses them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple, Union

from rbd_ros.spatial import PluckerTransform


@dataclass(frozen=True)
class Sphere:
    """Sphere centred at the origin of the geometry frame.

    :param radius: radius [m]
    """

    radius: float


@dataclass(frozen=True)
class Box:
    """Box centred at the origin of the geometry frame.

    :param size: full lengths along x, y, z, (3,) [m]
    """

    size: Tuple[float, float, float]


@dataclass(frozen=True)
class Cylinder:
    """Cylinder about the z axis, centred at the origin of the geometry frame.

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
Colour = Tuple[float, float, float, float]


@dataclass(frozen=True)
class Geometry:
    """Shape fixed to a body.

    :param name: name in the URDF, '' if it has none
    :param link: name of the URDF link it belongs to
    :param body: index of the body that carries it (0 is the base)
    :param placement: transform from body to geometry coordinates
    :param shape: the shape
    :param role: 'collision' or 'visual'
    :param colour: colour of the material of the URDF, None if it gives none
    """

    name: str
    link: str
    body: int
    placement: PluckerTransform
    shape: Shape
    role: str
    colour: Optional[Colour] = None
