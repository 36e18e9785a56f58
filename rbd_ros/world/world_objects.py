# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Object entries of a world file: shapes, poses, surfaces, masses."""

from __future__ import annotations

import math
from typing import Callable, Dict, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from rbd_ros.meshes import MeshError
from rbd_ros.model import Model
from rbd_ros.model.extension.fields import Field, placement as fixed_angles
from rbd_ros.model.geometry import Box, Capsule, Cylinder, HeightField, Mesh, Plane, Sphere
from rbd_ros.model.urdf.mesh_paths import MeshPaths
from rbd_ros.spatial import MotionVector, PluckerTransform, RigidBodyInertia
from rbd_ros.spatial.inertia import violated_conditions
from rbd_ros.world.height_fields import heights
from rbd_ros.world.solids import solid_inertia
from rbd_ros.world.surfaces import EXPONENTS, HERTZ, Surface
from rbd_ros.world.world import is_solid, ObjectShape, ROBOT, STATIC_SHAPES, World, WorldObject

#: Permitted lengths and densities [m, kg/m^3].
LENGTHS, DENSITIES = (1e-6, 1e6), (1e-6, 1e6)
#: Maximum of friction, stiffness and other numbers except lengths.
MAX_NUMBER = 1e15
#: Permitted masses of movable objects [kg].
MASSES = (1e-20, MAX_NUMBER)
#: Permitted stiffnesses of a surface [N/m, N/m^n].
STIFFNESSES = (1e-6, MAX_NUMBER)
#: Tolerance of the norm of a quaternion, for three digits.
NORM_TOLERANCE = 2e-3

POSE = ('xyz', 'rpy', 'quaternion')
SURFACE = ('friction', 'direction', 'torsional', 'rolling', 'restitution', 'compliance')
#: Key of the concavity of convex parts, and its range.
DECOMPOSITION, CONCAVITIES = 'convex_decomposition', (0.01, 1.0)
_MASS = ('mass', 'density', 'inertia', 'center_of_mass', 'velocity')


class Defaults(NamedTuple):
    """Defaults of objects.

    :param density: density of movable objects [kg/m^3]; None: required
    """

    surface: Surface = Surface()
    density: Optional[float] = None
    color: Optional[Tuple[float, float, float, float]] = None


def world_object(name: str, field: Field, defaults: Defaults, paths: MeshPaths) -> WorldObject:
    """Return the object of an entry.

    :param paths: search paths of files
    :raises ModelError: with file, line, entry and cure
    """
    # Read twice, since the permitted keys depend on the type.
    entries = field.mapping(('type',), None)
    kind = entries['type'].choice(_SHAPES)
    keys, make = _SHAPES[kind]
    known = (*keys, *POSE, 'surface', 'color', 'static', *_MASS)
    entries = field.mapping(('type',), known)
    shape = make(field, entries, paths)
    convex = 'convex' in entries and entries['convex'].boolean()
    concavity = None
    if DECOMPOSITION in entries:
        if convex:
            raise entries[DECOMPOSITION].error('convex is given as well; keep one of them')
        concavity = bounded(entries[DECOMPOSITION], CONCAVITIES)
    movable = 'static' in entries and not entries['static'].boolean()
    if movable and isinstance(shape, STATIC_SHAPES):
        raise entries['static'].error(f'a {kind} has no bounded volume; leave "static" out')
    # A mass without `static: false` is probably a mistake, so it is rejected.
    for key in _MASS:
        if key in entries and not movable:
            raise entries[key].error('only movable objects can have it; add "static: false"')
    pose = placement(field, entries)
    surface = defaults.surface
    if 'surface' in entries:
        surface = read_surface(entries['surface'], surface)
    inertia = _inertia(name, field, entries, shape, convex, defaults) if movable else None
    velocity = MotionVector.zero()
    if 'velocity' in entries:
        parts = entries['velocity'].mapping((), ('linear', 'angular'))
        linear, angular = (
            parts[key].vector() if key in parts else (0.0, 0.0, 0.0)
            for key in ('linear', 'angular')
        )
        # given along the world's axes, stored along those of the object
        velocity = PluckerTransform.rotation(pose.E) * MotionVector(angular, linear)
    return WorldObject(
        name,
        shape,
        pose,
        surface,
        inertia,
        velocity,
        read_color(entries['color']) if 'color' in entries else defaults.color,
        convex,
        concavity,
    )


# -- values


def bounded(field: Field, bounds: Tuple[float, float], unit: str = '') -> float:
    """Return a positive number within bounds."""
    number = field.number()
    if not bounds[0] <= number <= bounds[1]:
        raise field.error(
            f'{number:g}{unit} is not between {bounds[0]:g} and {bounds[1]:g}{unit}; give a '
            'number in this range'
        )
    return number


def length(field: Field) -> float:
    """Return a positive length [m]."""
    return bounded(field, LENGTHS, ' m')


def _lengths(count: int, field: Field) -> Tuple[float, ...]:
    parts = field.sequence()
    if len(parts) != count:
        raise field.error(f'expected {count} lengths, got {len(parts)}; give one for each axis')
    return tuple(map(length, parts))


def _not_negative(field: Field) -> float:
    return bounded(field, (0.0, MAX_NUMBER))


def placement(field: Field, entries: Dict[str, Field]) -> PluckerTransform:
    """Return the transform from world to object coordinates: `xyz`, `rpy` or `quaternion`."""
    if 'quaternion' not in entries:
        return fixed_angles(entries)
    quaternion = entries['quaternion']
    if 'rpy' in entries:
        raise quaternion.error('rpy is given as well; keep one of them')
    if isinstance(quaternion.item.value, list):
        raise quaternion.error(
            'a list does not say the order of the quaternion; write "{w: 1, x: 0, y: 0, z: 0}"'
        )
    parts = quaternion.mapping(('w', 'x', 'y', 'z'))
    w, x, y, z = (parts[key].number() for key in ('w', 'x', 'y', 'z'))
    # Rounding to a few digits leaves an error of 1e-3; a larger one is a mistake.
    norm = math.hypot(w, x, y, z)
    if abs(norm - 1.0) > NORM_TOLERANCE:
        raise quaternion.error(f'its norm is {norm:.6g}; give a unit quaternion')
    # R rotates object to world coordinates, E back.
    turn = PluckerTransform.from_quaternion((w / norm, x / norm, y / norm, z / norm))
    moved = fixed_angles({key: each for key, each in entries.items() if key == 'xyz'})
    return turn * moved


def read_color(field: Field) -> Tuple[float, float, float, float]:
    """Return red, green, blue, and opacity if given, each from 0 to 1."""
    parts = field.sequence()
    if len(parts) not in (3, 4):
        raise field.error(f'expected 3 or 4 numbers, got {len(parts)}; write "[0.8, 0.2, 0.2]"')
    red, green, blue, *rest = (bounded(part, (0.0, 1.0)) for part in parts)
    return red, green, blue, (rest or [1.0])[0]


def read_surface(field: Field, base: Surface) -> Surface:
    """Return the surface of an entry; missing keys are those of `base`."""
    return surface_of(field.mapping((), SURFACE), base)


def surface_of(entries: Dict[str, Field], base: Surface) -> Surface:
    """Return the surface of the present keys; missing keys are those of `base`."""
    friction, direction = base.friction, base.direction
    if 'friction' in entries:
        field = entries['friction']
        if isinstance(field.item.value, list):
            parts = field.sequence()
            if len(parts) != 2:
                raise field.error(
                    f'expected one number or two, got {len(parts)}; write "[1, 0.5]"'
                )
            friction = (_not_negative(parts[0]), _not_negative(parts[1]))
        else:
            # One number: the same in all directions.
            friction = (_not_negative(field),) * 2
    if 'direction' in entries:
        direction = entries['direction'].direction()
    spring = base
    if 'compliance' in entries:
        spring = _spring(entries['compliance'])
    restitution = base.restitution
    if 'restitution' in entries:
        restitution = bounded(entries['restitution'], (0.0, 1.0))
    return Surface(
        friction,
        direction,
        _not_negative(entries['torsional']) if 'torsional' in entries else base.torsional,
        _not_negative(entries['rolling']) if 'rolling' in entries else base.rolling,
        restitution,
        spring.stiffness,
        spring.damping,
        spring.exponent,
        spring.dissipation,
    )


def _spring(field: Field) -> Surface:
    """Return the surface with the compliance of an entry: linear, or of Hunt and Crossley."""
    entries = field.mapping(('stiffness',), ('damping', 'exponent', 'dissipation'))
    linear = not ('exponent' in entries or 'dissipation' in entries)
    stiffness = bounded(entries['stiffness'], STIFFNESSES, ' N/m' if linear else ' N/m^n')
    # Kelvin-Voigt's law without keys of Hunt and Crossley's.
    if linear:
        damping = _not_negative(entries['damping']) if 'damping' in entries else 0.0
        return Surface(stiffness=stiffness, damping=damping)
    if 'damping' in entries:
        raise entries['damping'].error(
            'damping applies to a linear spring only; keep either it or exponent and dissipation'
        )
    return Surface(
        stiffness=stiffness,
        exponent=bounded(entries['exponent'], EXPONENTS) if 'exponent' in entries else HERTZ,
        dissipation=_not_negative(entries['dissipation']) if 'dissipation' in entries else 0.0,
    )


# -- shapes

_Entries = Dict[str, Field]


def _needed(field: Field, entries: _Entries, *keys: str) -> Tuple[Field, ...]:
    for key in keys:
        if key not in entries:
            raise field.error(f'{key} is missing; add "{key}: ..."')
    return tuple(entries[key] for key in keys)


def file_of(field: Field, paths: MeshPaths) -> str:
    """Return the path of the file in an entry."""
    uri = field.name()
    path = paths.resolve(uri) if '\0' not in uri else None
    if path is None:
        raise field.error(
            f'there is no file {uri[:200]!r}; give its path from the world file, or package://...'
        )
    return path


def _plane(field: Field, entries: _Entries, paths: MeshPaths) -> Plane:
    return Plane()


def _box(field: Field, entries: _Entries, paths: MeshPaths) -> Box:
    x, y, z = _lengths(3, *_needed(field, entries, 'size'))
    return Box((x, y, z))


def _sphere(field: Field, entries: _Entries, paths: MeshPaths) -> Sphere:
    return Sphere(*map(length, _needed(field, entries, 'radius')))


def _cylinder(field: Field, entries: _Entries, paths: MeshPaths) -> Cylinder:
    return Cylinder(*map(length, _needed(field, entries, 'radius', 'length')))


def _capsule(field: Field, entries: _Entries, paths: MeshPaths) -> Capsule:
    return Capsule(*map(length, _needed(field, entries, 'radius', 'length')))


def _mesh(field: Field, entries: _Entries, paths: MeshPaths) -> Mesh:
    (file,) = _needed(field, entries, 'file')
    path = file_of(file, paths)
    scale = (1.0, 1.0, 1.0)
    if 'scale' in entries:
        x, y, z = scale = entries['scale'].vector()
        # Negative factors mirror the mesh; its triangles are reversed to face outward.
        if not all(LENGTHS[0] <= abs(factor) <= LENGTHS[1] for factor in (x, y, z)):
            raise entries['scale'].error(
                f'{list(scale)} flattens the mesh or is too large; give [1, 1, 1] for meters'
            )
    return Mesh(file.name(), path, scale)


def _height_field(field: Field, entries: _Entries, paths: MeshPaths) -> HeightField:
    x, y = _lengths(2, *_needed(field, entries, 'size'))
    # Exactly one of the two.
    if ('heights' in entries) == ('file' in entries):
        raise field.error('give either heights or a file; write "heights: [[0, 0], [0, 0.1]]"')
    if 'heights' in entries and 'range' in entries:
        raise entries['range'].error('range applies to images only; leave it out')
    path = file_of(entries['file'], paths) if 'file' in entries else ''
    return HeightField((x, y), heights(entries, path))


#: Keys of each shape type, and its constructor.
_SHAPES: Dict[str, Tuple[Tuple[str, ...], Callable[[Field, _Entries, MeshPaths], ObjectShape]]] = {
    'plane': ((), _plane),
    'box': (('size',), _box),
    'sphere': (('radius',), _sphere),
    'cylinder': (('radius', 'length'), _cylinder),
    'capsule': (('radius', 'length'), _capsule),
    'mesh': (('file', 'scale', 'convex', DECOMPOSITION), _mesh),
    'height_field': (('size', 'heights', 'file', 'range'), _height_field),
}


# -- masses


def _inertia(
    name: str,
    field: Field,
    entries: _Entries,
    shape: ObjectShape,
    convex: bool,
    defaults: Defaults,
) -> RigidBodyInertia:
    """Return the inertia of a movable object, in its coordinates."""
    if 'mass' in entries and 'density' in entries:
        raise entries['density'].error('mass is given as well; keep one of them')
    mass = None
    if 'mass' in entries:
        if entries['mass'].number() == 0.0:
            raise entries['mass'].error(
                f'{name!r} is movable and has no mass; give a positive mass, or leave "static" out'
            )
        mass = bounded(entries['mass'], MASSES, ' kg')
    if 'inertia' in entries:
        if mass is None:
            raise entries['inertia'].error('mass is missing; add "mass: ..."')
        return _given_inertia(entries, mass)
    if 'center_of_mass' in entries:
        raise entries['center_of_mass'].error(
            'without an inertia the center of mass is that of the shape; give both or none'
        )
    density = defaults.density
    if 'density' in entries:
        density = bounded(entries['density'], DENSITIES, ' kg/m^3')
    if mass is None and density is None:
        raise field.error(
            f'{name!r} is movable and has no mass; add "mass: ..." or "density: ..."'
        )
    try:
        solid = solid_inertia(shape, 1.0, convex)  # type: ignore[arg-type]
    except MeshError as error:
        raise entries['file'].error(str(error)) from None
    factor = density if mass is None else mass / solid.mass
    assert factor is not None
    numbers = [factor * float(number) for number in solid.parameters()]
    if not (np.isfinite(numbers).all() and 0.0 < numbers[0]):
        raise field.error(f'{name!r} has a mass of {numbers[0]:g} kg; correct size or density')
    return RigidBodyInertia.from_parameters(numbers)


def _given_inertia(entries: _Entries, mass: float) -> RigidBodyInertia:
    field = entries['inertia']
    parts = field.mapping(('ixx', 'iyy', 'izz'), ('ixy', 'ixz', 'iyz'))
    xx, yy, zz, xy, xz, yz = (
        bounded(parts[key], (-MAX_NUMBER, MAX_NUMBER)) if key in parts else 0.0
        for key in ('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz')
    )
    center = (0.0, 0.0, 0.0)
    if 'center_of_mass' in entries:
        x, y, z = (
            bounded(each, (-LENGTHS[1], LENGTHS[1])) for each in _three(entries['center_of_mass'])
        )
        center = (x, y, z)
    matrix = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    wrong = violated_conditions(mass, center, matrix)
    if not wrong and not is_solid(matrix):
        wrong = ['a principal moment of inertia is zero; give the inertia of a solid']
    if wrong:
        raise field.error(f'{wrong[0]}; correct it')
    return RigidBodyInertia.from_mass_center(mass, center, matrix)


def _three(field: Field) -> Tuple[Field, ...]:
    field.vector()
    return tuple(field.sequence())


#: Name of the plane.
GROUND = 'ground'


def level_ground(
    model: Model,
    height: float = 0.0,
    friction: float = 0.8,
    links: Optional[Sequence[str]] = None,
) -> World:
    """Return a world with solid ground z <= height only.

    :param model: model of the robot, whose gravity the world gets
    :param height: height of the plane [m]
    :param friction: coefficient of Coulomb friction, also between links
    :param links: links that may touch the ground; None: all moving links
    :raises ValueError: for a negative friction, or an unknown link

    >>> from rbd_ros.world import level_ground
    >>> world = level_ground(robot.model, height=-0.5, links=['tool0'])
    >>> world.names, world['ground'].pose[2, 3]
    (('robot', 'ground'), -0.5)
    >>> [world.can_collide(f'robot/{link}', 'ground') for link in ('tool0', 'wrist_3_link')]
    [True, False]
    """
    # `model.link` raises ValueError with similar names; a misspelled link must not be ignored.
    for link in links or ():
        model.link(link)
    # Links have the surface of the world as well, so their pair with the ground has this
    # friction, the mean of two equal coefficients.
    surface = Surface((float(friction), float(friction)))
    placement = PluckerTransform.translation((0.0, 0.0, float(height)))
    return World(
        (WorldObject(GROUND, Plane(), placement, surface),),
        # A world lists pairs without contact; `links` lists those with contact.
        disabled_collisions=frozenset(
            (f'{ROBOT}/{link}', GROUND)
            for link in model.links
            if links is not None and link not in links
        ),
        gravity=model.gravity,
        surface=surface,
    )
