# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Reader of properties that URDF cannot describe: joints, gears, springs, loops."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Dict, Union

from rbd_ros.model.errors import unknown_name
from rbd_ros.model.extension.extension_document import Document, Item, read_document, Source
from rbd_ros.model.extension.extension_loops import with_loops
from rbd_ros.model.extension.fields import Field
from rbd_ros.model.extension.gears import with_armature, with_gears, with_rotors
from rbd_ros.model.extension.joint_groups import with_joint_groups
from rbd_ros.model.model import Model


def with_springs(model: Model, section: Field) -> Model:
    """Return the model with the springs of the section `springs`.

    :param section: entries by joint names
    """
    joints = {body.joint_name: body.joint for body in model.bodies}
    stiffness: Dict[str, float] = {}
    rest: Dict[str, float] = {}
    for name, field in section.mapping((), None).items():
        if name not in joints:
            raise field.error(unknown_name('moving joint', name[:80], joints))
        if not joints[name].nq == joints[name].nv == 1:
            raise field.error(
                f'joint {name!r} has {joints[name].nv} degrees of freedom; give springs to joints '
                'that have one'
            )
        entries = field.mapping(('stiffness',), ('rest',))
        stiffness[name] = entries['stiffness'].number(0.0)
        if 'rest' in entries:
            rest[name] = entries['rest'].number()
    return model.with_springs(stiffness, rest)


def _with_actuated(model: Model, section: Field) -> Model:
    names = section.names()
    for name, field in zip(names, section.sequence()):
        if name not in model.joint_names:
            raise field.error(unknown_name('independent joint', name[:80], model.joint_names))
    if not names:
        raise section.error('the list is empty; leave it out, or name the joints with motors')
    return replace(model, actuated=names)


#: Sections in the order of their application; each may refer to results of earlier ones.
_SECTIONS: Dict[str, Callable[[Model, Field], Model]] = {
    'joints': with_joint_groups,
    'gears': with_gears,
    'armature': with_armature,
    'rotors': with_rotors,
    'springs': with_springs,
    'loops': with_loops,
    'actuated': _with_actuated,
}
SECTIONS = tuple(_SECTIONS)


class Extension:
    """An extension, read but not yet applied.

    :param document: content
    """

    def __init__(self, document: Document):
        self.document = document
        content = document.item
        # An armature file without a section name.
        if content.value and not set(content.value) & set(SECTIONS):
            if not any(isinstance(item.value, (dict, list)) for item in content.value.values()):
                content = Item({'armature': content}, 0, {'armature': content.line})
        self._entries = Field(replace(document, item=content), content, 'extension').mapping(
            (), SECTIONS
        )
        for name, entry in self._entries.items():
            entry.way = name

    def applied(self, model: Model) -> Model:
        """Return the model with the extension applied.

        :raises ModelError: with file, line, element and cure
        """
        for name, apply in _SECTIONS.items():
            entry = self._entries.get(name)
            if entry is not None and entry.item.value is not None:
                model = apply(model, entry)
        return model

    def where_is_loop(self, name: str) -> str:
        """Return the file and line of a loop joint, or that it is an argument."""
        loops = self._entries.get('loops')
        if loops is not None and isinstance(loops.item.value, dict) and name in loops.item.value:
            return f'{self.document.where(loops.item.lines[name])}: loops: {name!r}'
        return f'loop {name!r}'


def read_extension(source: Union[Source, Extension, None]) -> Extension:
    """Return the extension from a path, a mapping, or unchanged; None is an empty one.

    :raises ModelError: if it cannot be read, or has an unknown section
    """
    if isinstance(source, Extension):
        return source
    return Extension(read_document({} if source is None else source))


EXTENSIONS = Union[Source, Extension, None]
