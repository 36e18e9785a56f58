# SPDX-License-Identifier: Apache-2.0
"""Choices that are made when an algorithm is compiled.

Frames, references, joints, loaded links.
"""

from __future__ import annotations

from typing import FrozenSet, Iterable, Sequence, Tuple

from rbd_ros.algorithms.array_kinds.array import Choice, Wrenches
from rbd_ros.model import Frame, Model

REFERENCES = ('body', 'base', 'aligned')


def _reference(model: Model, name: str) -> str:
    if name not in REFERENCES:
        raise ValueError(f'unknown reference {name!r}; there are {", ".join(REFERENCES)}')
    return name


def _frame(model: Model, name: str) -> Frame:
    if name is None:
        raise ValueError('no frame is given; name a link or a joint')
    return model.frame(name)


def _frames(model: Model, names: Sequence[str]) -> Tuple[Frame, ...]:
    if isinstance(names, str) or not names:
        raise ValueError('no frames are given; name at least one link or joint')
    return tuple(_frame(model, name) for name in names)


def _bodies_of_joints(model: Model, names: Iterable[str]) -> FrozenSet[int]:
    if names is None or isinstance(names, str):
        raise ValueError('no joints are given; give a tuple of names')
    numbers = {model.body(i).joint_name: i for i in model.independent}
    unknown = [name for name in names if name not in numbers]
    if unknown:
        raise ValueError(
            f'unknown joint {", ".join(map(repr, unknown))}; there are {", ".join(numbers)}'
        )
    return frozenset(numbers[name] for name in names)


FRAME = Choice('frame', 'link or joint by name', _frame)
FRAMES = Choice('frames', 'links or joints by name', _frames)
REFERENCE = Choice('reference', 'what a velocity is expressed in', _reference, 'body')
FORWARD_JOINTS = Choice(
    'forward_joints', 'joints whose forces are given, by name', _bodies_of_joints
)
EXTERNAL_FORCES = Wrenches()
