"""Armature (reflected rotor inertia), unknown to URDF, from a mapping or a YAML side file."""

from __future__ import annotations

import math
import os
from typing import Any, Dict, Mapping, Optional, Union

import yaml

from rbd_ros.model.errors import ModelError
from rbd_ros.model.urdf.schema import MAX_MAGNITUDE, parse_number, shorten

_MAX_BYTES = 1024 * 1024
Armature = Union[Mapping[str, float], str, 'os.PathLike[str]', None]


def read_armature(armature: Armature) -> Dict[str, float]:
    """Armature by joint name [kg m^2, or kg for prismatic joints].

    :param armature: the mapping itself, or the path of a YAML file that holds it, alone or under
        the key 'armature'; None: no armature
    :raises ModelError: for an unreadable file, or an entry that is not a number; naming the joint
    """
    if armature is None:
        return {}
    where = 'armature'
    entries: object = armature
    if isinstance(armature, (str, os.PathLike)):
        where = f'armature file {shorten(os.fspath(armature), 200)}'
        entries = _read_yaml(armature, where)
        if (
            isinstance(entries, dict)
            and set(entries) == {'armature'}
            and isinstance(entries['armature'], dict)
        ):
            entries = entries['armature']
    if not isinstance(entries, Mapping):
        raise ModelError(
            f'{where}: expected a mapping of joint names to numbers, got '
            f'{type(entries).__name__}; write lines like "joint_1: 0.05"'
        )
    return {
        _joint_name(joint, where): _value(joint, value, where) for joint, value in entries.items()
    }


def _joint_name(joint: object, where: str) -> str:
    if not isinstance(joint, str):
        raise ModelError(
            f'{where}: {shorten(str(joint))} is no joint name; '
            'put names that look like numbers in quotes'
        )
    return joint


def _value(joint: str, value: Any, where: str) -> float:
    try:
        if isinstance(value, str):
            return parse_number(value)  # YAML 1.1 reads 1e-3 as a text
        if isinstance(value, bool):
            raise ValueError
        number = float(value)
        if math.isfinite(number) and abs(number) > MAX_MAGNITUDE:
            raise ValueError
        return number
    except (TypeError, ValueError, OverflowError):
        raise ModelError(
            f'{where}: joint {joint!r} has {shorten(str(value))}, which is not a number of '
            'sensible size; give its reflected rotor inertia in kg m^2'
        ) from None


class _Loader(yaml.SafeLoader):
    """Loader that refuses a joint named twice, and aliases.

    Nothing here needs an alias, and a few of them can make a short file expand to gigabytes.
    """

    def compose_node(self, parent: Optional[yaml.Node], index: Any) -> Optional[yaml.Node]:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError('aliases are not accepted')
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise yaml.YAMLError(f'joint {key.value!r} is given twice')
                seen.add(key.value)
        return super().construct_mapping(node, deep)


def _read_yaml(path: Union[str, os.PathLike[str]], where: str) -> object:
    try:
        if not os.path.isfile(path):
            raise ModelError(f'{where}: there is no such file; check the path')
        if os.path.getsize(path) > _MAX_BYTES:
            raise ModelError(f'{where} is larger than {_MAX_BYTES} bytes; give one line a joint')
        with open(path, encoding='utf-8') as file:
            return yaml.load(file, _Loader)
    except (OSError, UnicodeError, yaml.YAMLError, RecursionError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        reason = ' '.join(str(error).split()) or type(error).__name__
        raise ModelError(
            f'{where}: {shorten(reason, 200)[1:-1]}; write lines like "joint_1: 0.05"'
        ) from None
