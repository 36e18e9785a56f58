# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""World of a robot as data: static and movable objects, and further robots.

It has no physics and reads no files; world_file.py reads a world from a file.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Dict, FrozenSet, get_args, Iterator, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.model.errors import unknown_name
from rbd_ros.model.geometry import Box, Capsule, Cylinder, HeightField, Mesh, Plane, Sphere
from rbd_ros.model.model import Model
from rbd_ros.spatial import MotionVector, PluckerTransform, RigidBodyInertia
from rbd_ros.spatial.linear3 import Vector3
from rbd_ros.spatial.scalar import ScalarArray
from rbd_ros.world.allowed_collisions import allowed_pairs
from rbd_ros.world.named_poses import NamedPose
from rbd_ros.world.surfaces import combine_surfaces, directed_by_first, Surface

ObjectShape = Union[Plane, Box, Sphere, Cylinder, Capsule, Mesh, HeightField]

#: Name of the simulated robot, which the world does not describe.
ROBOT = 'robot'

#: Shapes without a bounded volume, which cannot move.
STATIC_SHAPES = (Plane, HeightField)

#: Minimum moment of inertia [kg m^2], such that the product of three does not underflow, and
#: minimum relative to the largest one.
MIN_MOMENT, MIN_PART = 1e-40, 1e-14


def is_solid(inertia: ArrayLike) -> bool:
    """Return whether the principal moments of a rotational inertia are finite and nonzero.

    :param inertia: inertia about the center of mass, (3, 3) [kg m^2]
    """
    matrix = np.asarray(inertia, dtype=float)
    if not np.isfinite(matrix).all():
        return False
    # The inverse of a tiny moment is a huge angular acceleration; moments below rounding of the
    # largest one count as zero.
    moments = np.linalg.eigvalsh(matrix)
    return bool(moments[0] > max(MIN_MOMENT, MIN_PART * moments[2]))


@dataclass(frozen=True)
class WorldObject:
    """An object of the world.

    :param placement: initial transform from world to object coordinates
    :param inertia: inertia in object coordinates; None: static
    :param velocity: initial velocity, angular and of the object's origin, in object coordinates
    :param color: red, green, blue and opacity, 0 to 1, (4,); None: the viewer's default
    :param convex: whether to use the convex hull of a mesh
    :param convex_decomposition: concavity of the convex parts of a mesh for contact, 0.01 to 1;
        None: not decomposed
    :raises ValueError: if its shape is not one of `rbd_ros.model.geometry`, or it is movable
        without mass, inertia or a bounded volume; with its name

    >>> from rbd_ros.world import Surface, WorldObject
    >>> from rbd_ros.model.geometry import Box
    >>> table = WorldObject('table', Box((1.2, 0.8, 0.04)), surface=Surface((0.5, 0.5)))
    >>> table.movable, table.pose[:3, 3]
    (False, array([0., 0., 0.]))
    """

    name: str
    shape: ObjectShape
    placement: PluckerTransform = field(default_factory=PluckerTransform.identity)
    surface: Surface = Surface()
    inertia: Optional[RigidBodyInertia] = None
    velocity: MotionVector = field(default_factory=MotionVector.zero)
    color: Optional[Tuple[float, float, float, float]] = None
    convex: bool = False
    convex_decomposition: Optional[float] = None

    def __post_init__(self) -> None:
        if not isinstance(self.shape, get_args(ObjectShape)):
            kind = type(self.shape)
            raise ValueError(
                f'the shape of object {self.name!r} is a {kind.__module__}.{kind.__name__}; use '
                'one of rbd_ros.model.geometry'
            )
        # Static objects need no mass, and may have any shape.
        if self.inertia is None:
            return
        if isinstance(self.shape, STATIC_SHAPES):
            raise ValueError(
                f'object {self.name!r} has no bounded volume and must be static; leave its '
                'inertia out'
            )
        if not self.inertia.mass > 0.0:
            raise ValueError(
                f'object {self.name!r} is movable and has the mass {self.inertia.mass:g} kg; '
                'give a positive mass'
            )
        if not is_solid(self.inertia.mass_center()[2]):
            raise ValueError(
                f'object {self.name!r} is movable, and a principal moment of its inertia is not '
                'positive; give the inertia of a solid'
            )

    @property
    def movable(self) -> bool:
        """True if it is a free body."""
        return self.inertia is not None

    @property
    def pose(self) -> ScalarArray:
        """Initial pose in the world, (4, 4)."""
        return self.placement.pose()


@dataclass(frozen=True)
class WorldRobot:
    """A further robot of the world.

    :param path: path of its URDF
    :param model: its model; with a floating base, the joint of that name comes first
    :param placement: initial transform from world coordinates to those of its root link
    :param floating: whether its root link floats
    :param configuration: initial positions by joint [rad or m]; others are neutral
    :param surface: surface of its links
    :param allowed_collisions: pairs of its links that never touch each other; None: those of
        `allowed_pairs`
    :param movable: whether it moves, as a part of the simulated robot
    :param enabled_collisions: pairs of its links that an SRDF enables, even if they overlap
    :param placed_on_surface: whether a floating base starts at the height at which the robot
        touches the surface below

    >>> from rbd_ros.world import WorldRobot
    >>> WorldRobot('other_arm', 'urdf/six_axis_arm.urdf', robot.model).floating
    False
    """

    name: str
    path: str
    model: Model
    placement: PluckerTransform = field(default_factory=PluckerTransform.identity)
    floating: bool = False
    configuration: Mapping[str, float] = field(default_factory=dict)
    surface: Surface = Surface()
    allowed_collisions: Optional[FrozenSet[Tuple[str, str]]] = None
    movable: bool = False
    enabled_collisions: FrozenSet[Tuple[str, str]] = frozenset()
    placed_on_surface: bool = False

    def __post_init__(self) -> None:
        if self.allowed_collisions is None:
            # The class is frozen; this default depends on another field.
            object.__setattr__(self, 'allowed_collisions', allowed_pairs(self.model))

    @property
    def base_placement(self) -> PluckerTransform:
        """Transform from world coordinates to those of its base.

        A floating base has its world pose in its joint variables.
        """
        return PluckerTransform.identity() if self.floating else self.placement


class PairSurface(NamedTuple):
    """Surface properties of a pair.

    :param surface: friction, restitution and compliance of the pair
    :param directed_by: name of the object or link in whose coordinates `surface.direction` is
    """

    surface: Surface
    directed_by: str


Pair = Tuple[str, str]


@dataclass(frozen=True)
class World:
    """Objects and robots around a robot, with their surfaces.

    Names in pairs are those of objects and of robots, 'robot' for the simulated one, or those of
    links: 'robot/tool0'.

    :param robots: further robots
    :param pairs: surfaces of pairs, with directions of friction of the first
    :param disabled_collisions: pairs without contact
    :param gravity: acceleration of gravity in world coordinates, (3,) [m/s^2]
    :param surface: default surface
    :param poses: named poses, without contact
    :param robot_surface: surface of the links of the simulated robot; None: as `surface`
    :param link_surfaces: surfaces of single links, by 'robot/tool0'
    :param link_decompositions: concavity of the convex parts of meshes of single links, likewise
    :param srdf: path of the SRDF of the simulated robot, or its XML; None: its links may have
        contacts unless they are connected, or overlap in the neutral configuration
    :raises ValueError: for duplicate names, or unknown names in pairs or surfaces of links

    >>> from rbd_ros.world import World, WorldObject
    >>> from rbd_ros.model.geometry import Plane
    >>> world = World((WorldObject('floor', Plane()),))
    >>> world.names, world.movable, world.can_collide('robot/tool0', 'floor')
    (('robot', 'floor'), (), True)
    >>> world.surface_between('robot/tool0', 'floor').surface == world.surface_of('floor')
    True
    >>> world.check_name('flor')
    Traceback (most recent call last):
        ...
    ValueError: unknown object or robot 'flor'; did you mean 'floor'?
    """

    objects: Tuple[WorldObject, ...] = ()
    robots: Tuple[WorldRobot, ...] = ()
    pairs: Mapping[Pair, Surface] = field(default_factory=dict)
    disabled_collisions: FrozenSet[Pair] = frozenset()
    gravity: Vector3 = (0.0, 0.0, -9.81)
    surface: Surface = Surface()
    poses: Tuple[NamedPose, ...] = ()
    robot_surface: Optional[Surface] = None
    link_surfaces: Mapping[str, Surface] = field(default_factory=dict)
    srdf: Optional[str] = None
    link_decompositions: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = self.names
        twice = len(set(names)) < len(names)
        for k, name in enumerate(names):
            if twice and name in names[:k]:
                raise ValueError(f'two objects or robots are named {name!r}; choose another name')
            if not name or '/' in name:
                raise ValueError(
                    f'{name!r} is not a valid name; a name must not be empty and must not '
                    'contain a slash'
                )
        # A misspelled name would silently have no effect.
        for pair in (*self.pairs, *self.disabled_collisions):
            for name in pair:
                self.check_name(name)
        for name in (*self.link_surfaces, *self.link_decompositions):
            self.check_name(name)
            if '/' not in name:
                raise ValueError(f'{name!r} does not name a link; write "robot/link"')

    # -- content

    @cached_property
    def names(self) -> Tuple[str, ...]:
        """Names of all bodies with contacts: 'robot', further robots, objects."""
        return (ROBOT, *(r.name for r in self.robots), *(o.name for o in self.objects))

    @cached_property
    def _by_name(self) -> Dict[str, Union[WorldObject, WorldRobot]]:
        every: Tuple[Union[WorldObject, WorldRobot], ...] = (*self.robots, *self.objects)
        return {each.name: each for each in every}

    def __getitem__(self, name: str) -> Union[WorldObject, WorldRobot]:
        """Return the object or robot of a name.

        :raises ValueError: if it does not exist, with similar names
        """
        if name not in self._by_name:
            raise ValueError(unknown_name('object or robot', str(name)[:80], self._by_name))
        return self._by_name[name]

    @property
    def movable(self) -> Tuple[WorldObject, ...]:
        """Objects that are free bodies."""
        return tuple(each for each in self.objects if each.movable)

    def moving_in(self, model: Model) -> Tuple[WorldRobot, ...]:
        """Return the movable robots that are part of a model, with links 'robot/link'.

        :param model: model of the simulated robot, see `combine_models`
        """
        return tuple(
            each
            for each in self.robots
            if each.movable
            # `combine_models` prefixes the names of its links.
            and all(f'{each.name}/{link}' in model.links for link in each.model.links)
        )

    def check_name(self, name: str) -> None:
        """Reject an unknown name.

        :param name: name of an object, robot, or link of a robot as 'robot/link'
        :raises ValueError: with similar names
        """
        owner, slash, link = name.partition('/')
        if owner != ROBOT and owner not in self._by_name:
            raise ValueError(unknown_name('object or robot', owner[:80], self.names))
        # Links of the simulated robot are unknown here: the world does not have its model.
        if not slash or owner == ROBOT:
            if slash and not link:
                raise ValueError(
                    f'{name!r} does not name a link after the slash; write "{owner}/link"'
                )
            return
        robot = self._by_name[owner]
        if not isinstance(robot, WorldRobot):
            raise ValueError(
                f'{owner!r} is an object without link {link!r}; write {owner!r} alone'
            )
        if link not in robot.model.links:
            raise ValueError(unknown_name(f'link of {owner!r}', link[:80], robot.model.links))

    # -- variants

    def with_objects(self, *objects: WorldObject) -> World:
        """Return the world with further objects.

        :param objects: the objects to add
        :raises ValueError: for a duplicate name

        >>> from rbd_ros.world import World, WorldObject
        >>> from rbd_ros.model.geometry import Plane
        >>> World().with_objects(WorldObject('floor', Plane())).names
        ('robot', 'floor')
        """
        return replace(self, objects=(*self.objects, *objects))

    def without(self, name: str) -> World:
        """Return the world without an object and the entries of its pairs.

        :param name: name of the object
        :raises ValueError: if there is no such object, with similar names

        >>> from rbd_ros.world import read_world
        >>> world = read_world('config/table_world.yaml').without('box')
        >>> [each.name for each in world.movable], ('box', 'table') in world.pairs
        (['peg', 'ball', 'roller'], False)
        """
        objects = {each.name: each for each in self.objects}
        if name not in objects:
            raise ValueError(unknown_name('object', str(name)[:80], objects))
        return replace(
            self,
            objects=tuple(each for each in self.objects if each.name != name),
            pairs={pair: each for pair, each in self.pairs.items() if name not in pair},
            disabled_collisions=frozenset(
                pair for pair in self.disabled_collisions if name not in pair
            ),
        )

    # -- pairs

    def can_collide(self, first: str, second: str) -> bool:
        """Return whether two objects, links or robots are tested for contact.

        False for two static bodies, disabled pairs, and allowed pairs of links of a further robot.

        :param first: name of an object, robot, or link of a robot as 'robot/link'
        :param second: likewise
        :raises ValueError: for an unknown name
        """
        self.check_name(first)
        self.check_name(second)
        if first == second:
            return False
        # Entries may name robots or links, in either order.
        if any(pair in self.disabled_collisions for pair, _ in _ways(first, second)):
            return False
        a, b = (self._by_name.get(name.partition('/')[0]) for name in (first, second))
        if isinstance(a, WorldObject) and isinstance(b, WorldObject):
            return a.movable or b.movable
        if isinstance(a, WorldRobot) and a is b and not self.names_links(first, second):
            one, other = sorted(name.partition('/')[2] for name in (first, second))
            return (one, other) not in (a.allowed_collisions or ())
        return True

    def names_links(self, first: str, second: str) -> bool:
        """Return whether `pairs` names two links, which enables their contact.

        :param first: name of a link, as 'robot/link'
        :param second: likewise
        """
        return (first, second) in self.pairs or (second, first) in self.pairs

    def surface_between(self, first: str, second: str) -> PairSurface:
        """Return the surface of a pair: its entry, or the combined surfaces of both.

        Entries of links have priority over those of their robots.

        :param first: name of an object, robot, or link of a robot as 'robot/link'
        :param second: likewise
        :raises ValueError: for an unknown name, and for springs that cannot be combined
        """
        self.check_name(first)
        self.check_name(second)
        for pair, leading in _ways(first, second):
            if pair in self.pairs:
                return PairSurface(self.pairs[pair], leading)
        a, b = self.surface_of(first), self.surface_of(second)
        try:
            surface = combine_surfaces(a, b)
        except ValueError as error:
            raise ValueError(f'{first!r} and {second!r} touch: {error}') from None
        return PairSurface(surface, first if directed_by_first(a, b) else second)

    def surface_of(self, name: str) -> Surface:
        """Return the surface of an object or robot, by its name or that of one of its links."""
        # From specific to general: link, its robot, the world.
        if name in self.link_surfaces:
            return self.link_surfaces[name]
        owner = self._by_name.get(name.partition('/')[0])
        if owner is not None:
            return owner.surface
        return self.surface if self.robot_surface is None else self.robot_surface


def _ways(first: str, second: str) -> Iterator[Tuple[Pair, str]]:
    """Yield pairs by which an entry may name two bodies, most specific first, and the first."""
    # The name itself precedes that of its owner; without a slash, both are equal.
    for a in dict.fromkeys((first, first.partition('/')[0])):
        for b in dict.fromkeys((second, second.partition('/')[0])):
            yield (a, b), first
            yield (b, a), second
