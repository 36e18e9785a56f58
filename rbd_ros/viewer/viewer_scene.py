# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Scene to draw: a robot and the world around it, with all poses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, get_args, List, Literal, Optional, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.scene.scene import start_configuration
from rbd_ros.meshes import Triangles
from rbd_ros.model import Model
from rbd_ros.model.extension.extension_document import Source
from rbd_ros.model.geometry import Color, Geometry, Plane
from rbd_ros.robot import Robot
from rbd_ros.spatial import PluckerTransform
from rbd_ros.viewer.drawn_shapes import ROBOT, SceneShape, ShapeCollector
from rbd_ros.viewer.scene_annotations import joints_and_masses, SceneJoint, SceneMass
from rbd_ros.world import read_world, World, WorldRobot

Shapes = Literal['visual', 'collision']
SHAPES = get_args(Shapes)
#: Maximum number of triangles of a page, of about 20 bytes each; more are simplified.
MAX_TRIANGLES = 200_000
#: Default colors: visual shapes, collision shapes, static and movable objects.
GRAY: Color = (0.7, 0.71, 0.73, 1.0)
ORANGE: Color = (0.95, 0.6, 0.2, 1.0)
STONE: Color = (0.78, 0.76, 0.72, 1.0)
RED: Color = (0.82, 0.3, 0.25, 1.0)

_G = 9.81  # [m/s^2]


@dataclass(frozen=True)
class Ground:
    """A plane of the world.

    :param pose: pose of a frame in it with its normal as z axis, (4, 4)
    :param color: its color; None: only the viewer's grid

    >>> make_scene(robot.model, world='config/table_world.yaml').grounds[0].pose[2, 2]
    1.0
    """

    pose: FloatArray
    color: Optional[Color] = None


@dataclass(frozen=True)
class Scene:
    """Shapes of a robot and of a world.

    :param name: name of the robot or the world
    :param links: links with shapes, whose poses are required
    :param parts: triangles of meshes, in meters
    :param notices: texts about shapes that differ from their files
    :param objects: movable objects of the world, whose poses may be given
    :param start: their initial poses, (O, 4, 4)
    :param grounds: planes of the world; None without a world
    :param weight: weight of all that moves, which arrows of forces are drawn to the scale of [N]
    :param collision: collision shapes of links that are drawn by other ones
    :param joints: joints of one degree of freedom of the robot
    :param masses: masses that move with the links

    >>> scene = make_scene(robot.model, world='config/table_world.yaml')
    >>> scene.objects, len(scene.grounds), scene.start[0, :3, 3]
    (('box', 'peg', 'ball', 'roller'), 1, array([0.7 , 0.  , 0.45]))
    >>> {shape.owner for shape in scene.shapes if shape.kind == 'capsule'}
    {'roller'}
    """

    name: str
    links: Tuple[str, ...]
    shapes: Tuple[SceneShape, ...]
    parts: Tuple[Triangles, ...]
    notices: Tuple[str, ...]
    objects: Tuple[str, ...] = ()
    start: FloatArray = field(default_factory=lambda: np.empty((0, 4, 4)))
    grounds: Optional[Tuple[Ground, ...]] = None
    weight: float = 0.0
    collision: Tuple[SceneShape, ...] = ()
    joints: Tuple[SceneJoint, ...] = ()
    masses: Tuple[SceneMass, ...] = ()

    @property
    def frames(self) -> Tuple[str, ...]:
        """Names of moving frames, links and then objects, each once.

        >>> make_scene(robot.model, world='config/table_world.yaml').frames[-4:]
        ('box', 'peg', 'ball', 'roller')
        """
        taken = set(self.links)
        return (*self.links, *(f'object/{o}' if o in taken else o for o in self.objects))

    def frame_of(self, shape: SceneShape) -> int:
        """Return the index of the frame with which a shape moves, -1 if it is static.

        >>> scene = make_scene(robot.model, world='config/table_world.yaml')
        >>> {scene.frames[scene.frame_of(shape)] for shape in scene.shapes if shape.owner == 'peg'}
        {'peg'}
        """
        if shape.owner == ROBOT:
            return self.links.index(shape.link)
        if shape.owner in self.objects:
            return len(self.links) + self.objects.index(shape.owner)
        return -1

    def poses(
        self, robot: Optional[Robot], q: ArrayLike, objects: Optional[ArrayLike] = None
    ) -> FloatArray:
        """Return poses of `frames` in the world: position [m] and unit quaternion (x, y, z, w).

        :param robot: the robot; None: none
        :param q: configurations, (N, nq) [rad, m]
        :param objects: poses of the objects, (N, O, 4, 4) or (O, 4, 4); None: their start
        :return: (N, links + O, 7)

        >>> scene = make_scene(robot.model)
        >>> scene.poses(robot, [q]).shape == (1, len(scene.links), 7)
        True
        """
        configurations, count = np.asarray(q, dtype=float), len(self.links)
        result = np.empty((len(configurations), count + len(self.objects), 7))
        if robot is not None and count:
            found = robot.forward_kinematics(configurations)
            for k, link in enumerate(self.links):
                poses = found[link]
                result[:, k, :3] = poses[..., :3, 3]
                result[:, k, 3:] = quaternions(poses[..., :3, :3])
        if self.objects:
            moved = self.start if objects is None else np.asarray(objects, dtype=float)
            result[:, count:, :3] = moved[..., :3, 3]
            result[:, count:, 3:] = quaternions(moved[..., :3, :3])
        return result


def make_scene(
    model: Optional[Model],
    shapes: Shapes = 'visual',
    triangles: int = MAX_TRIANGLES,
    world: Union[None, World, Source] = None,
) -> Scene:
    """Return the scene of a robot, of a world, or of both.

    Unreadable meshes are not drawn, and those with more than `triangles` in total are simplified;
    `notices` lists them. Further robots of the world are drawn at their start, except those that
    are part of the model, as in `Simulator.robot`.

    :param model: the robot's model; None: none
    :param shapes: 'visual', with the collision shapes of links that have no visual ones, or
        'collision'
    :param triangles: how many triangles the meshes may have together, of collision shapes that are
        hidden behind visual ones a fifth of it in addition
    :param world: a world file or its content (docs/world.md), or the result of `read_world`
    :raises ValueError: for other shapes
    :raises WorldFileError: for an error in the world

    >>> scene = make_scene(robot.model)
    >>> scene.shapes[0].link, scene.shapes[0].kind, scene.notices
    ('base_link_inertia', 'cylinder', ())
    """
    if shapes not in SHAPES:
        raise ValueError(f'shapes must be one of {", ".join(SHAPES)}, got {shapes!r}')
    collector, mass, g = ShapeCollector(triangles), 0.0, _G
    around = None
    if world is not None:
        around = world if isinstance(world, World) else read_world(world, model)
    if model is not None:
        _add_links(collector, model, _chosen_geometries(model, shapes), around)
        mass = sum(body.inertia.mass for body in model.bodies)
    links = tuple(dict.fromkeys(shape.link for shape in collector.shapes))
    more: Dict[str, Any] = {}
    if model is not None:
        more['joints'], more['masses'] = joints_and_masses(model, links)
    if around is not None:
        g = float(np.linalg.norm(around.gravity)) or _G
        mass += sum(each.inertia.mass for each in around.movable if each.inertia is not None)
        more |= {
            'objects': tuple(each.name for each in around.movable),
            'start': np.array([each.pose for each in around.movable]).reshape(-1, 4, 4),
            'grounds': _add_world(collector, model, around, shapes),
        }
    hidden = ShapeCollector(triangles // 5, collector)
    if model is not None and shapes == 'visual':
        _add_links(hidden, model, _hidden_geometries(model, links), around)
    return Scene(
        'world' if model is None else model.name,
        links,
        tuple(collector.shapes),
        (*collector.parts(), *hidden.parts()),
        collector.notices(),
        weight=mass * g,
        collision=tuple(hidden.shapes),
        **more,
    )


def _chosen_geometries(model: Model, shapes: str) -> List[Geometry]:
    """Return visual shapes, with collision shapes of links without; or only collision shapes."""
    if shapes == 'collision':
        return [geometry for geometry in model.geometries if geometry.role == 'collision']
    seen = {geometry.link for geometry in model.geometries if geometry.role == 'visual'}
    return [
        geometry
        for geometry in model.geometries
        if geometry.role == 'visual' or geometry.link not in seen
    ]


def _hidden_geometries(model: Model, links: Tuple[str, ...]) -> List[Geometry]:
    """Return the collision shapes of links that show visual ones."""
    visual = {geometry.link for geometry in model.geometries if geometry.role == 'visual'}
    return [
        geometry
        for geometry in model.geometries
        if geometry.role == 'collision' and geometry.link in visual.intersection(links)
    ]


def _add_links(
    collector: ShapeCollector, model: Model, geometries: List[Geometry], world: Optional[World]
) -> None:
    for geometry in geometries:
        at = model.links[geometry.link].placement
        placement = _pose(geometry.placement * at.inverse())
        _add_geometry(collector, ROBOT, geometry, placement, world)


def _add_geometry(
    collector: ShapeCollector,
    owner: str,
    geometry: Geometry,
    placement: FloatArray,
    world: Optional[World],
) -> None:
    is_visual = geometry.role == 'visual'
    color = geometry.color or (GRAY if is_visual else ORANGE)
    concavity = None
    if world is not None and not is_visual:
        # Links of movable robots that are part of the model have 'robot/link' as their names.
        given = world.link_decompositions
        concavity = given.get(f'{owner}/{geometry.link}', given.get(geometry.link))
    # As in RViz: the colors of a mesh have priority over that of the URDF.
    collector.add(
        owner, geometry.link, placement, geometry.shape, color, is_visual, concavity=concavity
    )


def _add_world(
    collector: ShapeCollector, model: Optional[Model], world: World, shapes: str
) -> Tuple[Ground, ...]:
    """Add objects and robots that are not in the model, and return the planes."""
    grounds, moving = [], () if model is None else world.moving_in(model)
    for each in world.objects:
        if isinstance(each.shape, Plane):
            grounds.append(Ground(each.pose, each.color))
            continue
        placement = np.eye(4) if each.movable else each.pose
        color = each.color or (RED if each.movable else STONE)
        given = each.color is None
        concavity = each.convex_decomposition if shapes == 'collision' else None
        collector.add(each.name, '', placement, each.shape, color, given, each.convex, concavity)
    for robot in world.robots:
        if robot not in moving:
            _add_robot(collector, world, robot, shapes)
    return tuple(grounds)


def _add_robot(collector: ShapeCollector, world: World, given: WorldRobot, shapes: str) -> None:
    """Add a further static robot, at its start."""
    base = _pose(given.base_placement)
    found = Robot(given.model).forward_kinematics(start_configuration(given))
    for geometry in _chosen_geometries(given.model, shapes):
        at = given.model.links[geometry.link].placement
        placement = base @ found[geometry.link] @ _pose(geometry.placement * at.inverse())
        _add_geometry(collector, given.name, geometry, placement, world)


def _pose(transform: PluckerTransform) -> FloatArray:
    """Return the pose of frame B in A, from the transform from A to B coordinates, (4, 4)."""
    pose: FloatArray = np.array(transform.pose(), dtype=float)
    return pose


def quaternions(rotations: ArrayLike) -> FloatArray:
    """Return the unit quaternions (x, y, z, w) of rotation matrices.

    :param rotations: (..., 3, 3)
    :return: (..., 4)
    """
    R = np.asarray(rotations, dtype=float)
    trace = np.trace(R, axis1=-2, axis2=-1)
    # Four times w q, x q, y q, z q: the longest one has no cancellation.
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
