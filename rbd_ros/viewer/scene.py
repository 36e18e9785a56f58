"""What there is to see of a robot: shapes with colours on its links, and poses of these links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Sequence, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbd_ros.contact.mesh import MeshError
from rbd_ros.model import Model
from rbd_ros.model.geometry import Box, Colour, Cylinder, Geometry, Mesh, Shape
from rbd_ros.robot import Robot
from rbd_ros.spatial import PluckerTransform
from rbd_ros.viewer.triangles import read_triangles, simplified, Triangles

FloatArray = NDArray[np.float64]

SHAPES = ('visual', 'collision')
#: Triangles of a page, which it takes some 20 bytes each of: more are simplified.
MAX_TRIANGLES = 200_000
GREY: Colour = (0.7, 0.71, 0.73, 1.0)
ORANGE: Colour = (0.95, 0.6, 0.2, 1.0)


@dataclass(frozen=True)
class SceneShape:
    """A shape on a link.

    :param link: name of the link
    :param placement: pose in link coordinates, (4, 4): p_link = T p_shape
    :param kind: 'box', 'sphere', 'cylinder' (about z) or 'mesh'
    :param size: lengths along x, y, z; radius; radius and length; number of the mesh's part
    :param colour: its colour

    >>> shape = make_scene(robot.model).shapes[0]
    >>> shape.placement[:3, 3], shape.size, shape.colour[3]  # centre, radius and length [m]
    (array([0.  , 0.  , 0.05]), (0.08, 0.1), 1.0)
    """

    link: str
    placement: FloatArray
    kind: str
    size: Tuple[float, ...]
    colour: Colour


@dataclass(frozen=True)
class Scene:
    """Shapes of a robot and the ground below it.

    :param name: name of the robot
    :param links: links that carry shapes, whose poses are to be given
    :param shapes: the shapes
    :param parts: triangles of meshes, in metres
    :param notices: what is not drawn as the files have it, in words
    """

    name: str
    links: Tuple[str, ...]
    shapes: Tuple[SceneShape, ...]
    parts: Tuple[Triangles, ...]
    notices: Tuple[str, ...]

    def poses(self, robot: Robot, q: ArrayLike) -> FloatArray:
        """Poses of `links` in base coordinates: position [m] and unit quaternion (x, y, z, w).

        :param robot: the robot
        :param q: configurations, (N, nq) [rad, m]
        :return: (N, links, 7)

        >>> scene = make_scene(robot.model)
        >>> scene.poses(robot, [q]).shape == (1, len(scene.links), 7)
        True
        """
        configurations = np.asarray(q, dtype=float)
        result = np.empty((len(configurations), len(self.links), 7))
        found = robot.forward_kinematics(configurations)
        for k, link in enumerate(self.links):
            poses = found[link]
            result[:, k, :3] = poses[..., :3, 3]
            result[:, k, 3:] = quaternions(poses[..., :3, :3])
        return result


def make_scene(model: Model, shapes: str = 'visual', triangles: int = MAX_TRIANGLES) -> Scene:
    """Scene of a robot.

    Meshes that cannot be read are left out, and those of more than `triangles` together are drawn
    with fewer; `notices` says so.

    :param model: the robot's model
    :param shapes: 'visual', with the collision shapes of links that have no visual ones, or
        'collision'
    :param triangles: how many triangles the meshes may have together
    :raises ValueError: for other shapes

    >>> scene = make_scene(robot.model)
    >>> scene.shapes[0].link, scene.shapes[0].kind, scene.notices
    ('base_link_inertia', 'cylinder', ())
    """
    if shapes not in SHAPES:
        raise ValueError(f'shapes must be one of {", ".join(SHAPES)}, got {shapes!r}')
    maker = _Maker(model)
    for geometry in _chosen_geometries(model, shapes):
        maker.add(geometry)
    return maker.scene(triangles)


def _chosen_geometries(model: Model, shapes: str) -> List[Geometry]:
    """Visual shapes, and collision shapes of links without; or collision shapes alone."""
    if shapes == 'collision':
        return [geometry for geometry in model.geometries if geometry.role == 'collision']
    seen = {geometry.link for geometry in model.geometries if geometry.role == 'visual'}
    return [
        geometry
        for geometry in model.geometries
        if geometry.role == 'visual' or geometry.link not in seen
    ]


class _Maker:
    def __init__(self, model: Model):
        self.model = model
        self.shapes: List[SceneShape] = []
        self.parts: List[Triangles] = []
        self.read: Dict[Tuple[str, Tuple[float, ...]], List[int]] = {}
        self.failed: Dict[str, None] = {}

    def add(self, geometry: Geometry) -> None:
        link = self.model.links[geometry.link]
        placement = _pose(geometry.placement * link.placement.inverse())
        default = GREY if geometry.role == 'visual' else ORANGE
        colour = default if geometry.colour is None else geometry.colour
        if isinstance(geometry.shape, Mesh):
            for k in self.mesh(geometry.shape):
                # As RViz does: the colours of a mesh go before that of the URDF.
                own = self.parts[k].colour if geometry.role == 'visual' else None
                self.shapes.append(
                    SceneShape(link.name, placement, 'mesh', (k,), colour if own is None else own)
                )
        else:
            kind, size = _primitive(geometry.shape)
            self.shapes.append(SceneShape(link.name, placement, kind, size, colour))

    def mesh(self, mesh: Mesh) -> Sequence[int]:
        """Numbers of the parts of a mesh file, which is read once."""
        key = (mesh.path or mesh.uri, tuple(mesh.scale))
        if key not in self.read:
            self.read[key] = []
            if mesh.path is None:
                self.failed[f'{mesh.uri} was not found'] = None
                return []
            try:
                parts = read_triangles(mesh.path)
            except MeshError as error:
                self.failed[str(error)] = None
                return []
            for part in parts:
                self.read[key].append(len(self.parts))
                scaled = part.vertices * np.array(mesh.scale)
                self.parts.append(Triangles(scaled, part.corners, part.colour))
        return self.read[key]

    def scene(self, most: int) -> Scene:
        notices = []
        if self.failed:
            first, more = next(iter(self.failed)), len(self.failed) - 1
            others = f' (and {more} more)' if more else ''
            notices.append(f'meshes that are not drawn: {first}{others}')
        parts, total = self.parts, sum(len(part.corners) for part in self.parts)
        if total > most:
            # Small parts stay as they are; the others share what is left.
            share = _share([len(part.corners) for part in parts], most)
            parts = [simplified(part, share) for part in parts]
            drawn = sum(len(part.corners) for part in parts)
            notices.append(f'meshes are drawn with {drawn} triangles of their {total}')
        links = tuple(dict.fromkeys(shape.link for shape in self.shapes))
        return Scene(self.model.name, links, tuple(self.shapes), tuple(parts), tuple(notices))


def _share(sizes: Sequence[int], most: int) -> int:
    """Greatest size of a part such that all parts together do not exceed `most`."""
    left, rest = most, sorted(sizes)
    for k, size in enumerate(rest):
        share = left // (len(rest) - k)
        if size > share:
            return share
        left -= size
    return rest[-1]


def _primitive(shape: Shape) -> Tuple[str, Tuple[float, ...]]:
    if isinstance(shape, Box):
        return 'box', tuple(shape.size)
    if isinstance(shape, Cylinder):
        return 'cylinder', (shape.radius, shape.length)
    assert not isinstance(shape, Mesh)
    return 'sphere', (shape.radius,)


def _pose(transform: PluckerTransform) -> FloatArray:
    """Pose of a frame B in A of the transform from A to B coordinates, (4, 4)."""
    pose = np.eye(4)
    pose[:3, :3] = np.array(transform.E, dtype=float).reshape(3, 3).T
    pose[:3, 3] = transform.r
    return pose


def quaternions(rotations: ArrayLike) -> FloatArray:
    """Unit quaternions (x, y, z, w) of rotation matrices.

    :param rotations: (..., 3, 3)
    :return: (..., 4)

    >>> from rbd_ros.viewer.scene import quaternions
    >>> quaternions([[0, -1, 0], [1, 0, 0], [0, 0, 1]]).round(3)  # a quarter turn about z
    array([0.   , 0.   , 0.707, 0.707])
    """
    R = np.asarray(rotations, dtype=float)
    trace = np.trace(R, axis1=-2, axis2=-1)
    # Four times w q, x q, y q, z q: the one of greatest length has no cancellation.
    products = np.empty((*R.shape[:-2], 4, 4))
    for i, (j, k) in enumerate(((1, 2), (2, 0), (0, 1))):
        products[..., i, i] = 1.0 + 2.0 * R[..., i, i] - trace
        products[..., i, j] = R[..., i, j] + R[..., j, i]
        products[..., i, k] = R[..., i, k] + R[..., k, i]
        products[..., i, 3] = products[..., 3, i] = R[..., k, j] - R[..., j, k]
    products[..., 3, 3] = 1.0 + trace
    best = np.argmax(np.diagonal(products, axis1=-2, axis2=-1), axis=-1)
    q: FloatArray = np.take_along_axis(products, best[..., None, None], axis=-2)[..., 0, :]
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    return q
