# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joints of any type, from their entries in an extension."""

from __future__ import annotations

from typing import Dict, Mapping, Tuple

from rbd_ros.model.extension.fields import Field
from rbd_ros.model.joint_registry import NUMBER, registered_joint_types
from rbd_ros.model.joints import JointType, reverse
from rbd_ros.spatial.linear3 import Vector3


def joint_type(
    field: Field, known: Tuple[str, ...], directions: Mapping[str, Vector3] = {}
) -> Tuple[JointType, Dict[str, Field]]:
    """Return the joint of an entry with `type`, its parameters and `reversed`.

    :param field: the entry, a mapping
    :param known: further keys that it may have
    :param directions: default unit vectors of parameters
    :return: the joint, and the entries
    :raises ModelError: for an unknown type, or unknown or missing parameters
    """
    types = registered_joint_types()
    kind = types[field.mapping(('type',), None)['type'].choice(types)]
    entries = field.mapping(('type',), (*known, 'reversed', *kind.parameters))
    given = {}
    for name, what in kind.parameters.items():
        if name in entries:
            value = entries[name]
            given[name] = value.number() if what == NUMBER else value.direction()
        elif name in directions:
            given[name] = directions[name]
        else:
            example = '0.01' if what == NUMBER else '[0, 0, 1]'
            raise field.error(f'a {kind.name} joint needs {name}; add "{name}: {example}"')
    try:
        joint = kind.make(**given)
        if 'reversed' in entries and entries['reversed'].boolean():
            joint = reverse(joint)
    except (TypeError, ValueError, ArithmeticError) as error:
        reason = ' '.join(str(error).split())[:200]
        raise field.error(
            f'these parameters are not valid for a {kind.name} joint: {reason}; correct them'
        ) from None
    return joint, entries
