# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Reader of world files: YAML with the environment of a robot. See docs/world.md."""

from __future__ import annotations

from dataclasses import replace
import os
from typing import Any, Dict, FrozenSet, Iterator, List, Mapping, Optional, Tuple, Union

from rbd_ros.model import load_urdf, Model, ModelError
from rbd_ros.model.errors import unknown_name
from rbd_ros.model.extension.extension_document import (
    Document,
    parse_document,
    read_document,
    Source,
)
from rbd_ros.model.extension.fields import Field
from rbd_ros.model.geometry import Mesh
from rbd_ros.model.urdf.mesh_paths import MeshPaths
from rbd_ros.world.allowed_collisions import allowed_pairs, enabled_pairs, read_srdf
from rbd_ros.world.named_poses import NamedPose
from rbd_ros.world.surfaces import combine_surfaces, directed_by_first, rigid, Surface
from rbd_ros.world.world import ROBOT, World, WorldObject, WorldRobot
from rbd_ros.world.world_objects import (
    bounded,
    CONCAVITIES,
    DECOMPOSITION,
    Defaults,
    DENSITIES,
    file_of,
    placement,
    POSE,
    read_color,
    read_surface,
    SURFACE,
    surface_of,
    world_object,
)

#: Page that describes the format.
PAGE = 'docs/world.md'

#: Sections of a world file.
SECTIONS = (
    'gravity', 'defaults', 'robot', 'objects', 'robots', 'poses', 'pairs', 'disable_collisions',
)  # fmt: skip

#: Sections for further objects.
FURTHER = ('defaults', 'objects', 'pairs', 'disable_collisions')

_MORE_OF_ROBOTS = (
    'floating', 'static', 'initial_joint_positions', 'extension', 'srdf', 'surface', 'links',
)  # fmt: skip

#: Maximum acceleration of gravity along an axis [m/s^2].
MAX_GRAVITY = 1e4

#: Tolerance of initial positions to limits, for rounding [rad or m].
LIMIT_TOLERANCE = 1e-6


class WorldFileError(ModelError):
    """An unusable world file; the message names file, line, entry and cure."""


def read_world(
    source: Source,
    robot: Optional[Model] = None,
    package_paths: Tuple[str, ...] = (),
) -> World:
    """Return the world of a world file (docs/world.md).

    :param source: path of the YAML file, or a mapping with the same content; other files are
        relative to the file's directory, or to the working directory
    :param robot: model of the robot in this world, to check its links in pairs
    :param package_paths: directories that are searched first for package:// names
    :raises WorldFileError: for an error in it, with file, line, entry and cure

    >>> from rbd_ros.world import read_world
    >>> world = read_world('config/table_world.yaml')
    >>> world.names[:3], [each.name for each in world.movable]
    (('robot', 'second_arm', 'floor'), ['box', 'peg', 'ball', 'roller'])
    >>> round(world.surface_between('robot/tool0', 'box').surface.friction[0], 3)
    0.693
    """
    try:
        document = read_document(source, 'world', 'objects: {...}', page=PAGE)
        directory = os.getcwd()
        # Files named in a world are relative to the world file, for any working directory.
        if isinstance(source, (str, os.PathLike)):
            directory = os.path.dirname(os.path.abspath(os.fsdecode(source)))
        paths = MeshPaths(directory, package_paths)
        return _Reader(document, robot, paths, SECTIONS).world()
    except WorldFileError:
        raise
    except ModelError as error:
        # Fields raise ModelError with file and line; callers see one type of error.
        raise WorldFileError(str(error)) from None


def extend_world(
    world: World,
    source: Union[str, Mapping[str, Any]],
    robot: Optional[Model] = None,
    package_paths: Tuple[str, ...] = (),
) -> World:
    """Return the world with further objects, and the entries of their pairs.

    :param world: the world to extend
    :param source: YAML text, or a mapping with the same content: the sections `objects`,
        `defaults` for these objects, `pairs` and `disable_collisions` of a world file, all
        optional; files are relative to the working directory. An entry of `pairs` replaces that
        of the world for the same pair
    :param robot: model of the robot in this world, to check its links
    :param package_paths: directories that are searched first for package:// names
    :raises WorldFileError: for an error in it, and for duplicate names

    >>> from rbd_ros.world import extend_world, read_world
    >>> world = read_world('config/push_world.yaml')
    >>> ball = '{type: sphere, radius: 0.05, static: false, mass: 0.2}'
    >>> pair = '{links: [ball, table], restitution: 0.8}'
    >>> world = extend_world(world, f'{{objects: {{ball: {ball}}}, pairs: [{pair}]}}')
    >>> world.names[-1], world.surface_between('ball', 'table').surface.restitution
    ('ball', 0.8)
    """
    try:
        if isinstance(source, str):
            document = parse_document(source, 'objects', 'objects: {...}', PAGE)
        else:
            document = read_document(source, 'objects', 'objects: {...}', page=PAGE)
        paths = MeshPaths(os.getcwd(), package_paths)
        return _Reader(document, robot, paths, FURTHER).world(world)
    except WorldFileError:
        raise
    except ModelError as error:
        raise WorldFileError(str(error)) from None


def read_object(
    name: str,
    text: str,
    surface: Optional[Surface] = None,
    package_paths: Tuple[str, ...] = (),
) -> WorldObject:
    """Return the object of a single entry of a world file.

    :param text: YAML of the entry, without its name
    :param surface: default of its surface
    :param package_paths: directories that are searched first for package:// names
    :raises WorldFileError: for an error in it, with line, key and cure

    >>> from rbd_ros.world.world_file import read_object
    >>> read_object('ball', '{type: sphere, radius: 0.05, static: false, density: 700}').movable
    True
    """
    try:
        document = parse_document(text, 'object', 'type: box', PAGE)
        field = Field(document, document.item, name[:80])
        paths = MeshPaths(os.getcwd(), package_paths)
        return world_object(name, field, Defaults(surface or Surface()), paths)
    except ModelError as error:
        raise WorldFileError(str(error)) from None


def _named_pose(name: str, entry: Field) -> NamedPose:
    """Return the pose of an entry of a world file.

    :raises ModelError: for an error in it, with line, key and cure
    """
    entries = entry.mapping((), (*POSE, 'description', 'tags', 'size'))
    size = None
    if 'size' in entries:
        size = entries['size'].vector()
        if not min(size) > 0.0:
            raise entries['size'].error('edges must be positive [m]')
    return NamedPose(
        name,
        placement(entry, entries),
        entries['description'].name() if 'description' in entries else '',
        tuple(tag.name() for tag in entries['tags'].sequence()) if 'tags' in entries else (),
        size,
    )


class _Reader:
    """A world file during reading.

    :param document: the file
    :param robot: model of the robot, if known
    :param paths: search paths of files
    :param sections: permitted sections
    """

    def __init__(
        self,
        document: Document,
        robot: Optional[Model],
        paths: MeshPaths,
        sections: Tuple[str, ...],
    ):
        self.paths = paths
        self.robot = robot
        entries = Field(document, document.item, 'world').mapping((), sections)
        self.entries: Dict[str, Field] = {}
        for name, entry in entries.items():
            # Messages name the section only, without 'world'.
            entry.way = name
            # An empty section is ignored.
            if entry.item.value is not None:
                self.entries[name] = entry

    def world(self, base: Optional[World] = None) -> World:
        """Return the world with the content of the file."""
        # Defaults first, since entries use them.
        defaults = self._defaults(Surface() if base is None else base.surface)
        base = base or World(surface=defaults.surface)
        objects: List[WorldObject] = list(base.objects)
        robots: List[WorldRobot] = list(base.robots)
        links = dict(base.link_surfaces)
        self.decompositions = dict(base.link_decompositions)
        # Line by name; 0 for names of an extended world.
        taken: Dict[str, int] = dict.fromkeys(base.names, 0)
        for name, field in self._named('objects', taken):
            objects.append(world_object(name, field, defaults, self.paths))
        for name, field in self._named('robots', taken):
            robots.append(self._robot(name, field, defaults, links))
        base = self._own_robot(base, defaults, links)
        gravity = base.gravity
        if 'gravity' in self.entries:
            gravity = self.entries['gravity'].vector()
            for part in self.entries['gravity'].sequence():
                bounded(part, (-MAX_GRAVITY, MAX_GRAVITY), ' m/s^2')
        poses = [_named_pose(*each) for each in self._named('poses', {})]
        world = replace(
            base,
            objects=tuple(objects),
            robots=tuple(robots),
            gravity=gravity,
            poses=(*base.poses, *poses),
            link_surfaces=links,
            link_decompositions=self.decompositions,
        )
        # Pairs last, since they refer to objects, robots and links.
        return replace(
            world,
            pairs=self._pairs(world),
            disabled_collisions=world.disabled_collisions | self._disabled_collisions(world),
        )

    def _named(self, section: str, taken: Dict[str, int]) -> Iterator[Tuple[str, Field]]:
        """Yield the entries of a section, with unique names."""
        if section not in self.entries:
            return
        whole = self.entries[section]
        for name, field in whole.mapping((), None).items():
            line = whole.item.lines[name]
            problem = ''
            # In pairs, the slash separates robot and link.
            if not name.strip() or '/' in name:
                problem = (
                    'is not a valid name; a name must not be empty and must not contain a slash'
                )
            elif name == ROBOT:
                problem = 'is the name of the simulated robot; choose another name'
            elif name in taken:
                first = f' in line {taken[name]}' if taken[name] else ''
                problem = f'is the name of an object{first}; choose another name'
            if problem:
                where = whole.document.where(line)
                raise ModelError(f'{where}: {section}: {name[:80]!r} {problem}')
            # Objects and robots share a namespace, since pairs refer to both.
            taken[name] = line
            yield name, field

    def _defaults(self, surface: Surface) -> Defaults:
        if 'defaults' not in self.entries:
            return Defaults(surface)
        entries = self.entries['defaults'].mapping((), ('surface', 'density', 'color'))
        if 'surface' in entries:
            surface = read_surface(entries['surface'], surface)
        return Defaults(
            surface,
            bounded(entries['density'], DENSITIES, ' kg/m^3') if 'density' in entries else None,
            read_color(entries['color']) if 'color' in entries else None,
        )

    # -- robots

    def _own_robot(self, base: World, defaults: Defaults, links: Dict[str, Surface]) -> World:
        """Return the world with the entry of the simulated robot.

        :param links: surfaces of links by 'robot/link', extended by those of this robot
        """
        if 'robot' not in self.entries:
            return base
        entries = self.entries['robot'].mapping((), ('srdf', 'surface', 'links'))
        surface, srdf = base.robot_surface, base.srdf
        if 'surface' in entries:
            surface = read_surface(entries['surface'], defaults.surface)
        if 'links' in entries:
            own = defaults.surface if surface is None else surface
            links.update(self._surfaces_of_links(ROBOT, entries['links'], own, self.robot))
        if 'srdf' in entries:
            srdf = file_of(entries['srdf'], self.paths)
            try:
                # Without a model, links are checked later.
                if self.robot is None:
                    read_srdf(srdf)
                else:
                    allowed_pairs(self.robot, srdf)
            except ModelError as error:
                raise entries['srdf'].error(str(error)) from None
        return replace(base, robot_surface=surface, srdf=srdf)

    def _robot(
        self, name: str, field: Field, defaults: Defaults, links: Dict[str, Surface]
    ) -> WorldRobot:
        """Return the robot of an entry.

        :param links: surfaces of links by 'robot/link', extended by those of this robot
        """
        keys = (*POSE, *_MORE_OF_ROBOTS)
        entries = field.mapping(('urdf',), keys)
        path = file_of(entries['urdf'], self.paths)
        floating = 'floating' in entries and entries['floating'].boolean()
        extension = None
        if 'extension' in entries:
            extension = file_of(entries['extension'], self.paths)
        try:
            # Errors of the URDF are reported with the line of the world file.
            model = load_urdf(
                path,
                floating_base=floating,
                extension=extension,
                package_paths=self.paths.roots,
            )
        except ModelError as error:
            raise entries['urdf'].error(str(error)) from None
        movable = 'static' in entries and not entries['static'].boolean()
        # The simulation cannot integrate a robot without velocity variables.
        if movable and not model.nv:
            raise entries['static'].error(
                'it has no movable joint; add "floating: true", or leave "static" out'
            )
        surface = defaults.surface
        if 'surface' in entries:
            surface = read_surface(entries['surface'], surface)
        if 'links' in entries:
            links.update(self._surfaces_of_links(name, entries['links'], surface, model))
        configuration: Dict[str, float] = {}
        if 'initial_joint_positions' in entries:
            positions = entries['initial_joint_positions'].mapping((), None)
            for joint, position in positions.items():
                configuration[joint] = _position(model, joint, position)
        srdf = file_of(entries['srdf'], self.paths) if 'srdf' in entries else None
        try:
            allowed = allowed_pairs(model, srdf)
            enabled = frozenset() if srdf is None else enabled_pairs(srdf)
        except ModelError as error:
            raise entries['srdf'].error(str(error)) from None
        return WorldRobot(
            name,
            path,
            model,
            placement(field, entries),
            floating,
            configuration,
            surface,
            allowed,
            movable,
            enabled,
            # Without a position it is placed on the surface below.
            'xyz' not in entries,
        )

    def _surfaces_of_links(
        self, robot: str, field: Field, surface: Surface, model: Optional[Model]
    ) -> Dict[str, Surface]:
        """Return the surfaces of single links of a robot, by 'robot/link'.

        Concavities of their convex parts are entered in `decompositions`.

        :param surface: that of the robot, for properties without an entry
        :param model: its model, if known
        """
        found: Dict[str, Surface] = {}
        for link, entry in field.mapping((), None).items():
            if not link or (model is not None and link not in model.links):
                known = () if model is None else model.links
                raise entry.error(unknown_name('link', link[:80], known))
            entries = entry.mapping((), (*SURFACE, DECOMPOSITION))
            found[f'{robot}/{link}'] = surface_of(entries, surface)
            if DECOMPOSITION in entries:
                if model is not None and not _has_mesh(model, link):
                    raise entries[DECOMPOSITION].error('the link has no collision mesh; remove it')
                concavity = bounded(entries[DECOMPOSITION], CONCAVITIES)
                self.decompositions[f'{robot}/{link}'] = concavity
        return found

    # -- pairs

    def _pairs(self, world: World) -> Dict[Tuple[str, str], Surface]:
        pairs: Dict[Tuple[str, str], Surface] = {}
        if 'pairs' not in self.entries:
            return dict(world.pairs)
        for field in self.entries['pairs'].sequence():
            entries = field.mapping(('links',), SURFACE)
            first, second = self._pair(entries['links'], world)
            if len(entries) == 1:
                raise field.error(
                    'it has no surface property; add "friction: ...", or use disable_collisions'
                )
            if (first, second) in pairs or (second, first) in pairs:
                raise field.error(f'{first!r} and {second!r} have two entries; keep one')
            a, b = world.surface_of(first), world.surface_of(second)
            try:
                # An entry with its own compliance does not need a combination of both springs.
                base = combine_surfaces(a, rigid(b) if 'compliance' in entries else b)
            except ValueError as error:
                raise field.error(str(error)) from None
            # Given directions are in coordinates of the entry's first object; otherwise they are
            # those of the surface that has them.
            if 'friction' in entries or 'direction' in entries:
                base = replace(base, direction=a.direction)
            elif not directed_by_first(a, b):
                first, second = second, first
            pairs[first, second] = surface_of(entries, base)
        # This entry replaces an earlier one for the same pair.
        given = {frozenset(pair) for pair in pairs}
        before = {p: each for p, each in world.pairs.items() if frozenset(p) not in given}
        return {**before, **pairs}

    def _disabled_collisions(self, world: World) -> FrozenSet[Tuple[str, str]]:
        if 'disable_collisions' not in self.entries:
            return frozenset()
        pairs = self.entries['disable_collisions'].sequence()
        # Check both names here, where file and line are known.
        return frozenset(self._pair(field, world) for field in pairs)

    def _pair(self, field: Field, world: World) -> Tuple[str, str]:
        """Return two known names."""
        parts = field.sequence()
        if len(parts) != 2:
            raise field.error(f'expected 2 names, got {len(parts)}; write "[box, table]"')
        for part in parts:
            name = part.name()
            try:
                world.check_name(name)
            except ValueError as error:
                raise part.error(str(error)) from None
            owner, _, link = name.partition('/')
            if owner == ROBOT and link and self.robot is not None:
                if link not in self.robot.links:
                    raise part.error(unknown_name('link', link[:80], self.robot.links))
        first, second = (part.name() for part in parts)
        # A robot may have an entry for pairs of its links, an object not.
        objects = [each.name for each in world.objects]
        if first == second and ('/' in first or first in objects):
            raise field.error(f'both are {first!r}; name two different ones')
        return first, second


def _has_mesh(model: Model, link: str) -> bool:
    return any(
        each.link == link and each.role == 'collision' and isinstance(each.shape, Mesh)
        for each in model.geometries
    )


def _position(model: Model, joint: str, field: Field) -> float:
    """Return the initial position of a joint."""
    bodies: Dict[str, Any] = {body.joint_name: (i, body) for i, body in model.outward()}
    if joint not in bodies:
        raise field.error(unknown_name('moving joint', joint[:80], bodies))
    i, body = bodies[joint]
    # The master determines the position of a mimic joint.
    for coupling in model.couplings:
        if coupling.body == i:
            master = model.body(coupling.master).joint_name
            raise field.error(
                f'it mimics joint {master!r}; give the position of {master!r} instead'
            )
    # An entry has one number, so one position variable.
    if body.joint.nq != 1:
        raise field.error(
            'only joints with one degree of freedom can have an initial position; leave it out'
        )
    position = field.number()
    limits = model.limits[i]
    if not limits.lower - LIMIT_TOLERANCE <= position <= limits.upper + LIMIT_TOLERANCE:
        raise field.error(
            f'{position:g} is outside the limits of the joint, {limits.lower:g} to '
            f'{limits.upper:g}; give a position within them'
        )
    return position
