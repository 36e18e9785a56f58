# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Loop joints of an extension (book 4.1.3, 8.2)."""

from __future__ import annotations

from typing import Any, Iterable, List, Mapping, Sequence, Union

from rbd_ros.model.errors import ModelError, unknown_name
from rbd_ros.model.extension.extension_document import Document, Item, read_document
from rbd_ros.model.extension.fields import Field, placement
from rbd_ros.model.extension.joint_entries import joint_type
from rbd_ros.model.model import Frame, LoopJoint, Model

#: Loops as an argument: loop joints, or entries as in a file, each with its `name`.
Loops = Iterable[Union[LoopJoint, Mapping[str, Any]]]


def with_loops(model: Model, section: Field) -> Model:
    """Return the model with the loops of the section `loops`.

    :param section: entries by names of loop joints
    """
    for name, field in section.mapping((), None).items():
        model = _closed(model, name, field)
    return model


def with_extension_loops(model: Model, loops: Loops) -> Model:
    """Return the model with further loops, from an argument.

    :param loops: loop joints, or mappings with a name
    :raises ModelError: with the loop
    """
    listed: Sequence[Any] = list(loops)
    for k, loop in enumerate(listed, start=1):
        if isinstance(loop, LoopJoint):
            model = model.with_loops((*model.loops, loop))
            continue
        if not isinstance(loop, Mapping):
            raise ModelError(
                f'loops[{k}]: expected a LoopJoint or a mapping, got {type(loop).__name__}; give '
                'entries such as dict(name=..., type=..., predecessor=..., successor=...)'
            )
        document = Document('loops', read_document({'entry': loop}).item)
        entry: Item = document.item.value['entry']
        name = Field(document, entry, f'loops[{k}]').mapping(('name',), None)['name'].name()
        rest = {key: item for key, item in entry.value.items() if key != 'name'}
        model = _closed(
            model, name, Field(document, Item(rest, 0, dict.fromkeys(rest, 0)), repr(name))
        )
    return model


def _closed(model: Model, name: str, field: Field) -> Model:
    joint, entries = joint_type(field, ('predecessor', 'successor'))
    ends: List[Frame] = []
    for end in ('predecessor', 'successor'):
        if end not in entries:
            raise field.error(f'{end} is missing; add "{end}: link"')
        ends.append(_frame(model, entries[end]))
    if ends[0].body == ends[1].body:
        raise field.error('both ends are on one body, so no loop is closed; name another link')
    try:
        return model.with_loops((*model.loops, LoopJoint(name, ends[0], ends[1], joint)))
    except ModelError as error:
        raise field.error(str(error)) from None


def _frame(model: Model, field: Field) -> Frame:
    """Return the frame of a link or joint, or one placed relative to it."""
    named = isinstance(field.item.value, dict)
    entries = field.mapping(('frame',), ('xyz', 'rpy')) if named else {'frame': field}
    name = entries['frame'].name()
    known = (*model.links, *model.joint_frames)
    if name not in known:
        raise entries['frame'].error(unknown_name('link or joint', name[:80], known))
    frame = model.frame(name)
    return Frame(frame.body, placement(entries) * frame.placement) if named else frame
