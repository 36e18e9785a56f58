# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Values of an extension by type: names, numbers, vectors, placements, with error messages."""

from __future__ import annotations

import math
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple

from rbd_ros.model.errors import ModelError, unknown_name
from rbd_ros.model.extension.extension_document import Document, Item, Number
from rbd_ros.model.urdf.schema import MAX_MAGNITUDE, parse_number, shorten
from rbd_ros.spatial import linear3, PluckerTransform
from rbd_ros.spatial.linear3 import Vector3
from rbd_ros.spatial.rotation import rpy_rotation

#: Minimum length of an axis, relative to a unit vector.
SHORTEST_AXIS = 1e-12

#: Keys of SDF, MJCF, SRDF and MoveIt, by our keys of the same meaning. Similar spelling alone
#: would suggest wrong keys.
_KEYS_ELSEWHERE = {
    'initial_joint_positions': 'configuration initial_positions joint_positions keyframe qpos q',
    'static': 'movable fixed is_static dynamic freejoint',
    'floating': 'floating_base free freejoint',
    'disable_collisions': 'ignore exclude acm allowed_collisions allowed_collision_matrix',
    'links': 'between pair bodies geoms link1 link2 geom1 geom2 body1 body2',
    'objects': 'bodies models geoms collision_objects world',
    'type': 'shape geometry',
    'surface': 'contact material solref solimp',
    'friction': 'mu mu1 sliding',
    'torsional': 'torsional_friction patch_radius',
    'rolling': 'rolling_friction',
    'restitution': 'restitution_coefficient bounce',
    'stiffness': 'kp soft_cfm hydroelastic_modulus',
    'damping': 'kd soft_erp',
    'color': 'rgba diffuse ambient',
    'xyz': 'position pos pose translation origin',
    'rpy': 'euler orientation rotation',
    'quaternion': 'quat wxyz xyzw',
    'center_of_mass': 'com inertial_pos ipos',
    'size': 'extents dimensions',
    'urdf': 'path uri filename model',
}


class Field:
    """A value with its location for error messages: file, line and key path.

    :param document: the extension
    :param item: the value
    :param way: keys on the path to it, such as "loops: 'pin': axis"
    """

    def __init__(self, document: Document, item: Item, way: str):
        self.document, self.item, self.way = document, item, way

    def error(self, problem: str) -> ModelError:
        """Return the error that names this value."""
        return ModelError(f'{self.document.where(self.item.line)}: {self.way}: {problem}')

    # -- values

    def mapping(
        self, required: Iterable[str] = (), optional: Optional[Iterable[str]] = ()
    ) -> Dict[str, Field]:
        """Return the entries by name.

        :param required: required names
        :param optional: optional names; None: any
        """
        if not isinstance(self.item.value, dict):
            raise self.error(f'expected a mapping, got {self._shown()}; write "name: value" lines')
        required = tuple(required)
        if optional is not None:
            known = (*required, *optional)
            for name in self.item.value:
                if name not in known:
                    line = self.item.lines[name]
                    same = [k for k, words in _KEYS_ELSEWHERE.items() if name in words.split()]
                    text = unknown_name('key', name[:80], known)
                    if here := [k for k in same if k in known]:
                        text = f'unknown key {name!r}; did you mean {here[0]!r}?'
                    elif same:  # key of another entry of the file
                        text = f'unknown key {name!r}; there are {", ".join(known)}'
                    raise ModelError(f'{self.document.where(line)}: {self.way}: {text}')
        for name in required:
            if name not in self.item.value:
                raise self.error(f'{name} is missing; add "{name}: ..."')
        return {
            name: Field(self.document, item, f'{self.way}: {shorten(name)[1:-1]}')
            for name, item in self.item.value.items()
        }

    def sequence(self) -> List[Field]:
        """Return the elements in order."""
        if not isinstance(self.item.value, list):
            raise self.error(f'expected a list, got {self._shown()}; write "[a, b]"')
        return [
            Field(self.document, item, f'{self.way}[{k}]')
            for k, item in enumerate(self.item.value, start=1)
        ]

    def name(self) -> str:
        """Return a name."""
        value = self.item.word or self.item.value
        if isinstance(value, Number):
            raise self.error(
                f'{shorten(value)} is not a name; put names that look like numbers in quotes'
            )
        if not isinstance(value, str) or not value:
            raise self.error(f'expected a name, got {self._shown()}; write the name alone')
        return value

    def names(self) -> Tuple[str, ...]:
        """Return several different names."""
        fields = self.sequence()
        names = [field.name() for field in fields]
        for k, name in enumerate(names):
            if name in names[:k]:
                raise fields[k].error(f'{shorten(name)} is given twice; keep one')
        return tuple(names)

    def choice(self, words: Iterable[str]) -> str:
        """Return one of several words."""
        name, words = self.name(), tuple(words)
        if name not in words:
            raise self.error(unknown_name(self.way.rpartition(': ')[2], name[:80], words))
        return name

    def boolean(self) -> bool:
        """Return either true or false."""
        if not isinstance(self.item.value, bool):
            raise self.error(f'expected true or false, got {self._shown()}; write one of them')
        return self.item.value

    def number(self, minimum: float = -math.inf) -> float:
        """Return a finite number.

        :param minimum: minimum
        """
        value = self.item.value
        try:
            if isinstance(value, bool) or value is None:
                raise ValueError
            number = parse_number(value) if isinstance(value, str) else float(value)
            if not abs(number) <= MAX_MAGNITUDE:
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            raise self.error(
                f'{self._shown()} is not a finite number of plausible size; give a number such '
                'as 0.5'
            ) from None
        if number < minimum:
            raise self.error(
                f'{number:g} is below the minimum of {minimum:g}; give at least {minimum:g}'
            )
        return number

    def vector(self) -> Vector3:
        """Return three finite numbers."""
        fields = self.sequence()
        if len(fields) != 3:
            raise self.error(f'expected 3 numbers, got {len(fields)}; write "[0, 0, 1]"')
        x, y, z = (field.number() for field in fields)
        return x, y, z

    def direction(self) -> Vector3:
        """Return the unit vector along three numbers."""
        axis = self.vector()
        unit = unit_vector(axis)
        if unit is None:
            raise self.error(
                f'{list(axis)} has no direction; give a unit vector such as [0, 0, 1]'
            )
        return unit

    def _shown(self) -> str:
        value = self.item.value
        if isinstance(value, (dict, list)):
            return 'a mapping' if isinstance(value, dict) else 'a list'
        return shorten(str(value)) if value is not None else 'nothing'


def unit_vector(axis: Vector3) -> Optional[Vector3]:
    """Return the unit vector along a vector, None if it is too short."""
    largest = max(map(abs, axis))
    if largest < SHORTEST_AXIS:
        return None
    scaled = tuple(x / largest for x in axis)
    scaled = tuple(0.0 if abs(x) < 1e-15 else x for x in scaled)
    length = math.sqrt(linear3.dot(scaled, scaled))
    x, y, z = (x / length for x in scaled)
    return x, y, z


def placement(entries: Mapping[str, Field]) -> PluckerTransform:
    """Return the transform into the frame at `xyz` [m], rotated by `rpy` [rad]; both optional."""
    xyz = entries['xyz'].vector() if 'xyz' in entries else linear3.ZERO3
    E: Any = linear3.IDENTITY3
    if 'rpy' in entries:
        rpy = entries['rpy'].vector()
        for angle, field in zip(rpy, entries['rpy'].sequence()):
            if abs(angle) > 100.0:
                raise field.error(
                    f'{angle:g} rad is too large for an angle; give radians, such as 1.5708'
                )
        E = linear3.transpose(rpy_rotation(*rpy))
    return PluckerTransform(E, xyz)
