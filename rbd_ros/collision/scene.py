"""Scene: shapes of a robot and of the world around it, and the pairs of them that may touch."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from rbd_ros.algorithms.kinematics.kinematics import body_transforms
from rbd_ros.collision import shapes
from rbd_ros.collision.arrays import FloatArray
from rbd_ros.collision.environment import Environment, ROBOT, WorldObject
from rbd_ros.collision.queries import contacts, supported
from rbd_ros.collision.scene_contacts import SceneTable
from rbd_ros.collision.self_collision import allowed_pairs
from rbd_ros.model import geometry, Model
from rbd_ros.spatial import PluckerTransform

#: Depth at which two links at a robot's neutral configuration count as made to overlap [m].
OVERLAP = 1e-6


class SceneShape(NamedTuple):
    """A shape of a scene.

    :param name: whose it is: 'robot/link', or the name of an object
    :param geometry: name of the geometry of the link, '' if it has none
    :param shape: the shape
    :param carrier: number of what carries it: 0 for the world, then the bodies of the robot, then
        the movable objects
    :param pose: pose in coordinates of the carrier, (4, 4)
    """

    name: str
    geometry: str
    shape: shapes.Shape
    carrier: int
    pose: FloatArray


@dataclass(frozen=True)
class Scene:
    """Shapes of a robot and of a world, and the pairs of them that may touch.

    :param shapes: the shapes
    :param objects: movable objects, in the order of their carriers
    :param carriers: how many carriers there are
    :param table: the same for compiled loops
    :param notices: what cannot touch although it might be expected to, and why
    """

    shapes: Tuple[SceneShape, ...]
    objects: Tuple[WorldObject, ...]
    carriers: int
    table: SceneTable
    notices: Tuple[str, ...]

    def names_of(self, pair: int) -> Tuple[str, str]:
        """Return whose the shapes of a pair are.

        :param pair: number of the pair
        """
        a, b = self.table.pair[pair]
        return self.shapes[a].name, self.shapes[b].name


def make_scene(model: Model, world: Environment, q: Optional[Sequence[float]] = None) -> Scene:
    """Scene of a robot in a world.

    Links that overlap at the configuration q do not touch each other, as links that a joint
    connects. Further robots of the world stand still as they are configured.

    :param model: model of the robot
    :param world: what is around it
    :param q: configuration, (nq,); None: no links are looked at for overlapping
    """
    notices: List[str] = []
    found = [
        *_shapes_of_robot(model, notices),
        *_shapes_of_standing_robots(world, notices),
        *_shapes_of_objects(model, world, notices),
    ]
    pairs = _pairs(model, world, found, q, notices)
    return Scene(
        tuple(found),
        world.movable,
        len(model.bodies) + 1 + len(world.movable),
        _table(world, found, pairs),
        tuple(notices),
    )


def _collision_shape(shape: object) -> Optional[shapes.Shape]:
    """Shape that loops know; None if there is none."""
    if isinstance(shape, geometry.Sphere):
        return shapes.Sphere(shape.radius)
    if isinstance(shape, geometry.Box):
        return shapes.Box(shape.size)
    if isinstance(shape, geometry.Cylinder):
        return shapes.Cylinder(shape.radius, shape.length)
    if isinstance(shape, geometry.Capsule):
        return shapes.Capsule(shape.radius, shape.length)
    if isinstance(shape, geometry.Plane):
        return shapes.Plane()
    return None


def _shapes_of_robot(model: Model, notices: List[str]) -> List[SceneShape]:
    found = []
    for each in model.geometries:
        if each.role != 'collision':
            continue
        shape = _collision_shape(each.shape)
        if shape is None:
            notices.append(
                f'link {each.link!r} will not touch anything with its collision '
                f'{type(each.shape).__name__.lower()}'
            )
            continue
        found.append(
            SceneShape(f'{ROBOT}/{each.link}', each.name, shape, each.body, _pose(each.placement))
        )
    return found


def _shapes_of_standing_robots(world: Environment, notices: List[str]) -> List[SceneShape]:
    found = []
    for robot in world.robots:
        model = robot.model
        q = neutral_configuration(model)
        for i, (at_q, _) in model.independent_slices.items():
            name = model.body(i).joint_name
            if name in robot.configuration:
                q[at_q] = [robot.configuration[name]]
        X0 = body_transforms(model, model.tree_position(q))
        notices.append(f'robot {robot.name!r} of the world stands still as it is configured')
        for each in model.geometries:
            shape = _collision_shape(each.shape)
            if each.role != 'collision' or shape is None:
                continue
            # A floating base has its placement from the joint.
            placed = each.placement * X0[each.body] * robot.placement
            found.append(
                SceneShape(f'{robot.name}/{each.link}', each.name, shape, 0, _pose(placed))
            )
    return found


def neutral_configuration(model: Model) -> List[float]:
    """Configuration of zeros within the limits of the joints, (nq,).

    :param model: model of a robot
    """
    q = [0.0] * model.nq
    for i, (at_q, _) in model.independent_slices.items():
        body = model.body(i)
        neutral = list(body.joint.neutral())
        if body.joint.nv == 1:
            limits = body.limits
            neutral = [min(max(neutral[0], limits.lower), limits.upper)]
        q[at_q] = neutral
    return q


def _shapes_of_objects(model: Model, world: Environment, notices: List[str]) -> List[SceneShape]:
    found, carrier = [], len(model.bodies)
    for each in world.objects:
        if each.movable:
            carrier += 1
        shape = _collision_shape(each.shape)
        if shape is None:
            notices.append(
                f'object {each.name!r} will not touch anything: it is a '
                f'{type(each.shape).__name__}'
            )
            continue
        if each.movable:
            found.append(SceneShape(each.name, '', shape, carrier, np.eye(4)))
        else:
            found.append(SceneShape(each.name, '', shape, 0, _pose(each.placement)))
    return found


def _pose(placement: PluckerTransform) -> FloatArray:
    return np.array(placement.pose(), dtype=float)


def _pairs(
    model: Model,
    world: Environment,
    found: Sequence[SceneShape],
    q: Optional[Sequence[float]],
    notices: List[str],
) -> List[Tuple[int, int]]:
    """Pairs of shapes that may touch."""
    allowed = allowed_pairs(model)
    X0: Dict[int, PluckerTransform] = {}
    pairs: List[Tuple[int, int]] = []
    unknown = set()
    for (i, a), (j, b) in combinations(enumerate(found), 2):
        if a.carrier == b.carrier or not world.touch(a.name, b.name):
            continue
        own = all(each.name.startswith(f'{ROBOT}/') for each in (a, b))
        links = tuple(sorted(each.name.partition('/')[2] for each in (a, b)))
        if own and links in allowed:
            continue
        if not supported(a.shape, b.shape):
            unknown.add((a.name, b.name))
            continue
        if own and q is not None:
            X0 = X0 or body_transforms(model, model.tree_position(q))
            placed = [_pose(X0[each.carrier]) @ each.pose for each in (a, b)]
            gaps = contacts(a.shape, placed[0], b.shape, placed[1]).gap
            if gaps.min(initial=0.0) < -OVERLAP:
                continue
        pairs.append((i, j))
    notices.extend(
        f'{a!r} and {b!r} will not touch: their shapes cannot' for a, b in sorted(unknown)
    )
    return pairs


def _reach(shape: shapes.Shape) -> float:
    if isinstance(shape, shapes.Plane):
        return float('inf')
    if isinstance(shape, shapes.Capsule):
        return shape.radius + 0.5 * shape.length
    if isinstance(shape, shapes.Cylinder):
        return float(np.hypot(shape.radius, 0.5 * shape.length))
    return float(np.linalg.norm(shape.half_sizes))


def _table(
    world: Environment, found: Sequence[SceneShape], pairs: Sequence[Tuple[int, int]]
) -> SceneTable:
    surface, direction, directed_by = [], [], []
    for i, j in pairs:
        between = world.surface_between(found[i].name, found[j].name)
        properties = between.surface
        surface.append(
            (
                *properties.friction,
                properties.restitution,
                properties.torsional,
                properties.rolling,
            )
        )
        first = between.directed_by.partition('/')[0] == found[i].name.partition('/')[0]
        leading = found[i] if first else found[j]
        along = np.zeros(3)
        if not properties.isotropic:
            # In coordinates of the object, which are those of its carrier if it moves.
            along = np.array(properties.direction, dtype=float)
            if leading.carrier == 0:
                along = leading.pose[:3, :3] @ along
        direction.append(along)
        directed_by.append(leading.carrier)
    count = len(found)
    return SceneTable(
        kind=np.array([each.shape.kind for each in found], dtype=np.int64),
        size=np.array([each.shape.half_sizes for each in found], dtype=float).reshape(count, 3),
        carrier=np.array([each.carrier for each in found], dtype=np.int64),
        placement=np.array(
            [[*each.pose[:3, :3].ravel(), *each.pose[:3, 3]] for each in found], dtype=float
        ).reshape(count, 12),
        reach=np.array([_reach(each.shape) for each in found], dtype=float),
        pair=np.array(pairs, dtype=np.int64).reshape(-1, 2),
        surface=np.array(surface, dtype=float).reshape(-1, 5),
        direction=np.array(direction, dtype=float).reshape(-1, 3),
        directed_by=np.array(directed_by, dtype=np.int64),
    )
