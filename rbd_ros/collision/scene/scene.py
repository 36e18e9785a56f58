# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Scene: shapes of a robot and of the world around it, and the pairs of them that may touch."""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from dataclasses import dataclass
from itertools import combinations, product
import math
from typing import (
    AbstractSet,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

import numpy as np

from rbd_ros.algorithms.kinematics.kinematics import body_transforms
from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.collision.queries import pair_is_supported
from rbd_ros.collision.scene.scene_arrays import SceneTable, shapes_of_pairs, STIFFNESS
from rbd_ros.collision.scene.scene_search import LEFT_OUT, omission_notice, overlapping_links
from rbd_ros.collision.shapes import contact_shapes as shapes
from rbd_ros.collision.shapes.scene_shapes import reach, ShapeMaker, tables_for, tabulated
from rbd_ros.model import Model
from rbd_ros.model.floating_model import is_free_base
from rbd_ros.spatial import PluckerTransform
from rbd_ros.world.allowed_collisions import allowed_pairs, connected_bodies, enabled_pairs
from rbd_ros.world.surfaces import Surface
from rbd_ros.world.world import ROBOT, World, WorldObject, WorldRobot

#: Maximum friction coefficient: a contact sticks within 0.06 degrees of any push; larger values
#: would only spoil the conditioning.
STICKS = 1e3

#: Maximum number of movable objects whose pairs are listed; with more, a grid finds them
#: (near_pairs.py).
FEW_OBJECTS = 64

#: Phrase of notices for links or objects without contacts.
_NO_TOUCH = 'have no collision'


class SceneShape(NamedTuple):
    """A shape of a scene.

    :param name: its owner: 'robot/link', or the name of an object
    :param geometry: name of the geometry of the link, '' if it has none
    :param body_id: number of its body: 0 for the world, then the bodies of the robot, then
        the movable objects
    :param pose: pose in coordinates of the body, (4, 4)
    """

    name: str
    geometry: str
    shape: shapes.Shape
    body_id: int
    pose: FloatArray


@dataclass(frozen=True)
class Scene:
    """Shapes of a robot and of a world, and the pairs of them that may touch.

    :param objects: movable objects, in the order of their numbers
    :param body_count: number of bodies: the world, links, objects
    :param table: shapes and pairs for compiled loops
    :param notices: links and objects without a contact that one might expect, and why
    """

    shapes: Tuple[SceneShape, ...]
    objects: Tuple[WorldObject, ...]
    body_count: int
    table: SceneTable
    notices: Tuple[str, ...]

    def names_of(self, pair: int) -> Tuple[str, str]:
        """Return the owners of the shapes of a pair.

        :param pair: number of the pair
        """
        a, b = shapes_of_pairs(self.table, pair)
        return self.shapes[a].name, self.shapes[b].name


def make_scene(model: Model, world: World, q: Optional[Sequence[float]] = None) -> Scene:
    """Return the scene of a robot in a world.

    Links of one robot that overlap at the configuration q do not touch each other, nor do links
    that a joint connects, unless an entry of `pairs` or the SRDF of the robot enables them.
    Movable robots of the world that are part of the model (`combine_models`) move with it; others
    stay as configured.

    :param model: model of the robot
    :param world: its environment
    :param q: configuration, (nq,); None: links are not tested for overlap
    """
    notices: List[str] = []
    maker = ShapeMaker()
    found = [
        *_shapes_of_robots(model, world, maker, notices),
        *_shapes_of_standing_robots(model, world, maker, notices),
        *_shapes_of_objects(model, world, maker, notices),
    ]
    many = _many_objects(world, found)
    pairs, own, connected = _pairs(model, world, found, many, notices)
    body_count = len(model.bodies) + 1 + len(world.movable)
    table = _table(world, found, pairs, many, body_count)
    # Notices of missing collisions first; links may share a mesh with a notice.
    notices = sorted(dict.fromkeys(notices), key=lambda text: _NO_TOUCH not in text)
    # Overlaps are found by the machine code of steps, so both agree on the contacts.
    if own and q is not None:
        names = [(found[i].name, found[j].name) for i, j in pairs]
        deep = {names[p] for p in overlapping_links(model, table, own, body_count, q)}
        deep -= {each for each in deep if _touches_at_overlap(world, *each)}
        pairs = [pair for p, pair in enumerate(pairs) if names[p] not in deep]
        # Groups and surfaces are numbered per pair: again without the dropped ones.
        table = _table(world, found, pairs, many, body_count) if deep else table
        notices.extend(omission_notice(deep, 'are in contact at the neutral configuration'))
    why = 'are connected by links without shapes or without mass'
    notices.extend(omission_notice(connected, why))
    return Scene(tuple(found), world.movable, body_count, table, (*notices, *maker.notices))


def _shapes_of_robots(
    model: Model, world: World, maker: ShapeMaker, notices: List[str]
) -> List[SceneShape]:
    """Return the collision shapes of the model: the robot, and movable robots of the world."""
    slices = {model.body(i).joint_name: at for i, (_, at) in model.independent_slices.items()}
    others: Set[str] = set()
    for robot in world.moving_in(model):
        # Links of combined robots are named 'name/link' already; those of the robot itself are
        # not.
        others.update(f'{robot.name}/{link}' for link in robot.model.links)
        at = [slices[f'{robot.name}/{joint}'] for joint in robot.model.joint_names]
        notices.append(
            f'robot {robot.name!r} of the world is movable: v[{at[0].start}:{at[-1].stop}] holds '
            f'the velocity of its joints {robot.name}/...'
        )
    return _shapes_of_links(model, world, maker, notices, ROBOT, others)


def _shapes_of_links(
    model: Model,
    world: World,
    maker: ShapeMaker,
    notices: List[str],
    robot: str,
    others: AbstractSet[str] = frozenset(),
) -> List[SceneShape]:
    """Return the collision shapes of all links; meshes are convex hulls or convex parts.

    :param robot: name of the robot
    :param others: links whose names begin with that of their robot
    """
    found = []
    for each in model.geometries:
        if each.role != 'collision':
            continue
        name = each.link if each.link in others else f'{robot}/{each.link}'
        pose = _pose(each.placement)
        for made in maker.make_parts(each.shape, True, world.link_decompositions.get(name)):
            if made.shape is None:
                notices.append(
                    f'{name!r} has no collision with its {type(each.shape).__name__.lower()}: '
                    f'{made.notice}'
                )
                continue
            if made.notice:
                notices.append(made.notice)
            # The shape's origin is its middle (for a mesh, that of its bounding box), so that
            # bounding spheres are small; the pose is adjusted.
            moved = _moved(pose, made.center)
            found.append(SceneShape(name, each.name, made.shape, each.body, moved))
    return found


def _shapes_of_standing_robots(
    model: Model, world: World, maker: ShapeMaker, notices: List[str]
) -> List[SceneShape]:
    moving = world.moving_in(model)
    found = []
    for robot in world.robots:
        # It is part of the model: its shapes move with its bodies.
        if robot in moving:
            continue
        model = robot.model
        X0 = body_transforms(model, model.tree_position(start_configuration(robot)))
        notices.append(f'robot {robot.name!r} of the world is static')
        for each in _shapes_of_links(model, world, maker, notices, robot.name):
            # Body 0 does not move: the placement of the shape includes the start pose of the link.
            placed = _pose(X0[each.body_id] * robot.base_placement) @ each.pose
            found.append(each._replace(body_id=0, pose=placed))
    return found


def neutral_configuration(model: Model) -> List[float]:
    """Return the configuration of zeros within the limits of the joints, (nq,).

    :param model: model of a robot
    """
    q = [0.0] * model.nq
    for i, (at_q, _) in model.independent_slices.items():
        body = model.body(i)
        neutral = list(body.joint.neutral())
        # For joints with several degrees of freedom, limits are not per coordinate.
        if body.joint.nv == 1:
            limits = model.limits[i]
            neutral = [min(max(neutral[0], limits.lower), limits.upper)]
        q[at_q] = neutral
    return q


def start_configuration(robot: WorldRobot) -> List[float]:
    """Return the start configuration of a robot of a world, (nq,); its loops may be open."""
    model, q = robot.model, neutral_configuration(robot.model)
    for i, (at_q, _) in model.independent_slices.items():
        name = model.body(i).joint_name
        if name in robot.configuration:
            q[at_q] = [robot.configuration[name]]
        # The world places a free base, not at the origin.
        elif robot.floating and is_free_base(model.body(i)):
            q[at_q] = [*robot.placement.quaternion(), *robot.placement.r]
    return q


def _shapes_of_objects(
    model: Model, world: World, maker: ShapeMaker, notices: List[str]
) -> List[SceneShape]:
    found, body = [], len(model.bodies)
    for each in world.objects:
        if each.movable:
            body += 1
        # A movable object has its own body, whose pose changes; a static one is fixed to body 0.
        pose = np.eye(4) if each.movable else _pose(each.placement)
        for made in maker.make_parts(each.shape, each.convex, each.convex_decomposition):
            if made.shape is None:
                notices.append(f'object {each.name!r} has no collision: {made.notice}')
                continue
            if made.notice:
                notices.append(made.notice)
            found.append(
                SceneShape(
                    each.name,
                    '',
                    made.shape,
                    body if each.movable else 0,
                    _moved(pose, made.center),
                )
            )
    return found


def _pose(placement: PluckerTransform) -> FloatArray:
    return np.array(placement.pose(), dtype=float)


def _moved(pose: FloatArray, by: FloatArray) -> FloatArray:
    """Return the pose of a frame translated along its own axes, (4, 4)."""
    result = pose.copy()
    result[:3, 3] += pose[:3, :3] @ by
    return result


class _ManyObjects(NamedTuple):
    """Shapes of movable objects that are too many for a list of pairs.

    :param materials: surface and kind of each of these shapes, by its number
    :param named: pairs of them that the world names, which are listed nevertheless
    """

    materials: Dict[int, Tuple[Surface, int]]
    named: FrozenSet[Tuple[int, int]]


def _many_objects(world: World, found: Sequence[SceneShape]) -> _ManyObjects:
    movable = {each.name: each for each in world.movable}
    if len(movable) <= FEW_OBJECTS:
        return _ManyObjects({}, frozenset())
    numbers: Dict[str, List[int]] = {}
    for g, each in enumerate(found):
        if each.name in movable:
            numbers.setdefault(each.name, []).append(g)
    named = {
        (min(pair), max(pair))
        for a, b in (*world.pairs, *world.disabled_collisions)
        if a in numbers and b in numbers
        for pair in product(numbers[a], numbers[b])
    }
    # Parts of one object never touch: such pairs are found, and omitted.
    named.update(pair for parts in numbers.values() for pair in combinations(parts, 2))
    materials = {
        g: (movable[name].surface, found[g].shape.kind)
        for name, parts in numbers.items()
        for g in parts
    }
    return _ManyObjects(materials, frozenset(named))


def _listed(
    found: Sequence[SceneShape], many: _ManyObjects
) -> Iterator[Tuple[Tuple[int, SceneShape], Tuple[int, SceneShape]]]:
    """Yield the pairs of shapes, except those of many objects without own entries."""
    others = [j for j in range(len(found)) if j not in many.materials]
    partners: Dict[int, List[int]] = {}
    for i, j in many.named:
        partners.setdefault(i, []).append(j)
    for i, a in enumerate(found):
        after: Iterable[int] = range(i + 1, len(found))
        if i in many.materials:
            after = sorted((*others[bisect(others, i) :], *partners.get(i, ())))
        for j in after:
            yield (i, a), (j, found[j])


def _pairs(
    model: Model,
    world: World,
    found: Sequence[SceneShape],
    many: _ManyObjects,
    notices: List[str],
) -> Tuple[List[Tuple[int, int]], List[int], Set[Tuple[str, str]]]:
    """Return the listed pairs of shapes, those of them within one robot, and pairs of names.

    The latter are links of the robot that do not touch because bodies between them connect them.
    """
    allowed = allowed_pairs(model, world.srdf)
    # Links connected by a joint overlap by design: they need no notice.
    adjacent = {frozenset((i, body.parent)) for i, body in model.outward()}
    adjacent |= {frozenset((j.predecessor.body, j.successor.body)) for j in model.loops}
    linked, connected = connected_bodies(model), set()
    pairs: List[Tuple[int, int]] = []
    of_one: List[int] = []
    unknown = set()
    for (i, a), (j, b) in _listed(found, many):
        # Shapes of one body cannot move apart, and the world file may exclude pairs.
        if a.body_id == b.body_id or not world.can_collide(a.name, b.name):
            continue
        owner, other = (each.name.partition('/')[0] for each in (a, b))
        own = owner == other
        links = tuple(sorted(each.name.partition('/')[2] for each in (a, b)))
        # Pairs within a robot of the world are known to `touch`.
        if own and owner == ROBOT and links in allowed and not world.names_links(a.name, b.name):
            bodies = min(a.body_id, b.body_id), max(a.body_id, b.body_id)
            if bodies in linked and frozenset(bodies) not in adjacent:
                connected.add((a.name, b.name))
            continue
        if not pair_is_supported(a.shape, b.shape):
            unknown.add((a.name, b.name))
            continue
        if own:
            of_one.append(len(pairs))
        pairs.append((i, j))
    # Many objects: a shape that is not convex touches no other such shape.
    concave = [g for g in many.materials if not pair_is_supported(found[g].shape, found[g].shape)]
    unknown.update(
        (found[i].name, found[j].name) for i, j in _unnamed(concave, concave, many.named)
    )
    notices.extend(
        f'{a!r} and {b!r} have no collision with each other, because neither is convex; add '
        '"convex: true" or "convex_decomposition: 0.05" to a mesh'
        for a, b in sorted(unknown)
    )
    return pairs, of_one, connected


def _touches_at_overlap(world: World, first: str, second: str) -> bool:
    """Return whether two links of one robot touch although they overlap at q."""
    # An entry of the world or the SRDF is the user's decision.
    if world.names_links(first, second):
        return True
    owner = first.partition('/')[0]
    one, other = sorted(name.partition('/')[2] for name in (first, second))
    if owner == ROBOT:
        return world.srdf is not None and (one, other) in enabled_pairs(world.srdf)
    robot = world[owner]
    return isinstance(robot, WorldRobot) and (one, other) in robot.enabled_collisions


def self_collision_notices(model: Model) -> Tuple[str, ...]:
    """Return notices about links of a robot that do not touch each other by default.

    :param model: model of the robot

    >>> from rbd_ros.collision.scene.scene import self_collision_notices
    >>> self_collision_notices(robot.model)
    ()
    """
    scene = make_scene(model, World(), neutral_configuration(model))
    return tuple(text for text in scene.notices if LEFT_OUT in text)


def _table(
    world: World,
    found: Sequence[SceneShape],
    pairs: Sequence[Tuple[int, int]],
    many: _ManyObjects,
    body_count: int,
) -> SceneTable:
    surface, direction, directed_by = [], [], []
    for i, j in pairs:
        between = world.surface_between(found[i].name, found[j].name)
        properties = between.surface
        surface.append(_row(properties))
        # The directions of friction belong to one of the two objects and rotate with its body.
        first = between.directed_by.partition('/')[0] == found[i].name.partition('/')[0]
        leading = found[i] if first else found[j]
        along = np.zeros(3)
        if not properties.isotropic:
            # In coordinates of the object, which are those of its body if it is movable.
            along = np.array(properties.direction, dtype=float)
            if leading.body_id == 0:
                along = leading.pose[:3, :3] @ along
        direction.append(along)
        directed_by.append(leading.body_id)
    count = len(found)
    # Pairs of the same bodies and surface have the same contact model: contacts of several shapes
    # on one face are reduced to its corners (scene_reduction.py).
    alike = [
        (found[i].body_id, found[j].body_id, *surface[p], *direction[p], directed_by[p])
        for p, (i, j) in enumerate(pairs)
    ]
    common = {key: k for k, (key, n) in enumerate(Counter(alike).items()) if n > 1}
    # Each spring of compliant pairs acts at its own point: no reduction.
    groups = np.array(
        [-1 if surface[p][STIFFNESS] else common.get(key, -1) for p, key in enumerate(alike)],
        dtype=np.int64,
    )
    arms, body_arms = np.zeros(count), np.zeros(body_count)
    first_object = body_count - len(world.movable)
    for g, each in enumerate(found):
        # A plane is infinite, but its body never moves: no arm, no speed.
        if np.isfinite(reach(each.shape)):
            arms[g] = np.linalg.norm(each.pose[:3, 3]) + reach(each.shape)
        body_arms[each.body_id] = max(body_arms[each.body_id], arms[g])
    sizes, parts = tabulated([each.shape for each in found])
    material, meeting, met = _materials(world, found, many, len(pairs))
    for i, j in met:
        between = world.surface_between(found[i].name, found[j].name)
        surface.append(_row(between.surface))
        isotropic = between.surface.isotropic
        direction.append(np.zeros(3) if isotropic else np.array(between.surface.direction))
        directed_by.append(int(between.directed_by != found[i].name))
    level, width = _levels(found, many)
    kinds = [(found[i].shape.kind, found[j].shape.kind) for i, j in (*pairs, *met)]
    return SceneTable(
        kind=np.array([each.shape.kind for each in found], dtype=np.int64),
        size=np.array(sizes, dtype=float).reshape(count, 3),
        body_id=np.array([each.body_id for each in found], dtype=np.int64),
        placement=np.array(
            [[*each.pose[:3, :3].ravel(), *each.pose[:3, 3]] for each in found], dtype=float
        ).reshape(count, 12),
        reach=np.array([reach(each.shape) for each in found], dtype=float),
        arm=arms,
        body_arm=body_arms,
        pair=np.array(pairs, dtype=np.int64).reshape(-1, 2),
        surface=np.array(surface, dtype=float).reshape(-1, 9),
        direction=np.array(direction, dtype=float).reshape(-1, 3),
        directed_by=np.array(directed_by, dtype=np.int64),
        group=groups,
        of_robot=np.array(
            [any(0 < found[k].body_id < first_object for k in pair) for pair in pairs],
            dtype=np.int64,
        ),
        # Flags of the tables: only functions that some pair needs are compiled.
        tables=tables_for(kinds, parts),
        material=material,
        meeting=meeting,
        excluded=np.array(sorted(i * count + j for i, j in many.named), dtype=np.int64),
        level=level,
        width=width,
        has_object_pairs=bool(many.materials),
    )


def _row(surface: Surface) -> Tuple[float, ...]:
    """Return the columns of `SceneTable.surface`, in their order (scene_arrays.py)."""
    return (
        *(min(mu, STICKS) for mu in surface.friction),
        surface.restitution,
        surface.torsional,
        surface.rolling,
        surface.stiffness or 0.0,
        surface.damping,
        surface.exponent or 0.0,
        surface.dissipation,
    )


def _materials(
    world: World, found: Sequence[SceneShape], many: _ManyObjects, listed: int
) -> Tuple[IntArray, IntArray, List[Tuple[int, int]]]:
    """Return `material` and `meeting` of a table, and two shapes of each two materials in contact.

    :param listed: number of listed pairs
    """
    numbers = {each: k for k, each in enumerate(dict.fromkeys(many.materials.values()))}
    material = np.full(len(found), -1, dtype=np.int64)
    for g, each in many.materials.items():
        material[g] = numbers[each]
    meeting = np.full((len(numbers), len(numbers)), -1, dtype=np.int64)
    members: List[List[int]] = [[] for _ in numbers]
    for g, each in sorted(many.materials.items()):
        members[numbers[each]].append(g)
    met: List[Tuple[int, int]] = []
    for a, b in product(range(len(members)), repeat=2):
        # The shape with the lower number is the first of a pair. Materials without a common pair
        # may have incompatible surfaces.
        for i, j in _unnamed(members[a], members[b], many.named):
            if pair_is_supported(found[i].shape, found[j].shape):
                meeting[a, b] = listed + len(met)
                met.append((i, j))
            break
    return material, meeting, met


def _levels(found: Sequence[SceneShape], many: _ManyObjects) -> Tuple[IntArray, FloatArray]:
    """Return `level` and `width` of a table: sizes by powers of two."""
    sizes = {g: math.frexp(reach(found[g].shape)) for g in many.materials}
    numbers = {power: k for k, power in enumerate(sorted({each[1] for each in sizes.values()}))}
    level, width = np.zeros(len(found), dtype=np.int64), np.zeros(len(numbers))
    for g, (_, power) in sizes.items():
        level[g] = numbers[power]
        width[level[g]] = max(width[level[g]], 2.0 * reach(found[g].shape))
    return level, width


def _unnamed(
    first: Sequence[int], second: Sequence[int], named: AbstractSet[Tuple[int, int]]
) -> Iterator[Tuple[int, int]]:
    """Yield pairs of numbers in ascending order, without the named ones."""
    for i in first:
        for j in second[bisect(second, i) :]:
            if (i, j) not in named:
                yield i, j
