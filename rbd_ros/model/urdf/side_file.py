# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Armature (reflected rotor inertia), which URDF lacks, from a mapping or a YAML side file."""

from __future__ import annotations

import os
from typing import Dict, Mapping, Union

from rbd_ros.model.extension.extension_document import read_document
from rbd_ros.model.extension.fields import Field

Armature = Union[Mapping[str, float], str, 'os.PathLike[str]', None]


def read_armature(armature: Armature) -> Dict[str, float]:
    """Return the armature by joint name [kg m^2, or kg for prismatic joints].

    :param armature: the mapping itself, or the path of a YAML file with it, at the top or under
        the key 'armature'; None: no armature
    :raises ModelError: for an unreadable file, or an entry that is not a number, with the joint
    """
    if armature is None:
        return {}
    document = read_document(armature, 'armature', 'joint_1: 0.05', empty=False)
    content = document.item
    if not isinstance(armature, Mapping) and set(content.value) == {'armature'}:
        inner = content.value['armature']
        content = inner if isinstance(inner.value, dict) else content
    return {
        joint: Field(document, item, f'reflected rotor inertia of joint {joint!r}').number()
        for joint, item in content.value.items()
    }
