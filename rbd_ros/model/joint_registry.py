# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joint types by their names in files: those of joints/, and registered ones.

Files can only name registered types; nothing in a file imports code.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
import inspect
import re
from typing import Any, Callable, Dict, NamedTuple, Optional, Tuple, Type

from rbd_ros.extension_points import declared_in
from rbd_ros.model import joints
from rbd_ros.model.errors import ModelError
from rbd_ros.model.joint_checks import check_joint_type
from rbd_ros.model.joints import JointType
from rbd_ros.spatial.linear3 import Vector3

#: Types of a parameter of a joint type in a file.
NUMBER, DIRECTION = 'number', 'direction'

_KINDS = {'float': NUMBER, 'int': NUMBER, 'Vector3': DIRECTION}
_NAME = re.compile(r'[a-z][a-z0-9_]{0,60}', re.ASCII)


class RegisteredType(NamedTuple):
    """A joint type that files can name.

    :param name: name in files
    :param kind: the class
    :param make: returns a joint of it from its parameters
    :param parameters: type of each parameter, `NUMBER` or `DIRECTION`
    """

    name: str
    kind: Type[JointType]
    make: Callable[..., JointType]
    parameters: Dict[str, str]


_registered: Dict[str, RegisteredType] = {}


def register_joint_type(kind: Type[JointType], name: Optional[str] = None) -> Type[JointType]:
    """Register a joint type for extension files; usable as a decorator.

    Files can have numbers and unit vectors as parameters: fields of a dataclass that are annotated
    as `float` and `Vector3`. Registering the same class again has no effect.

    :param kind: class of the joints
    :param name: name in files; by default that of the class in snake_case
    :return: the class
    :raises ModelError: if methods are missing or contradict each other, a parameter is neither a
        number nor a vector, or the name belongs to another type

    >>> from rbd_ros.model import register_joint_type
    >>> from rbd_ros.model.joints import Revolute
    >>> class MyHinge(Revolute):
    ...     pass  # a type of your own; here, one by another name
    >>> register_joint_type(MyHinge).__name__  # files may say `type: my_hinge` now
    'MyHinge'
    """
    check_joint_type(kind)
    name = _snake(kind.__name__) if name is None else name
    if not _NAME.fullmatch(name):
        raise ModelError(
            f'joint type {kind.__name__}: the name {name!r} must consist of lowercase letters, '
            'digits and _; give another name'
        )
    known = registered_joint_types().get(name)
    if known is not None and known.kind is not kind:
        raise ModelError(
            f'joint type {kind.__name__}: the name {name!r} is the name of {known.kind.__name__} '
            'already; give another name'
        )
    entry = _entry(name, kind)
    if entry is None:
        raise ModelError(
            f'joint type {kind.__name__}: files support float and Vector3 parameters only; make '
            'it a dataclass of such fields, or create models with it in Python'
        )
    _registered[name] = entry
    return kind


def registered_joint_types() -> Dict[str, RegisteredType]:
    """Return the types that files can name, by name: those of the package first.

    >>> from rbd_ros.model.joint_registry import registered_joint_types
    >>> registered_joint_types()['helical'].parameters
    {'axis': 'direction', 'pitch': 'number'}
    """
    return {**_own_types(), **_registered}


def _own_types() -> Dict[str, RegisteredType]:
    found: Dict[str, RegisteredType] = {}
    for kind in declared_in(joints, JointType):
        entry = None if inspect.isabstract(kind) else _entry(_snake(kind.__name__), kind)
        if entry is not None:
            found[entry.name] = entry
    return found


def _entry(name: str, kind: Type[JointType]) -> Optional[RegisteredType]:
    about = getattr(kind, 'about', None)
    if about is not None:  # a type whose axes are computed from one of them
        names: Tuple[str, ...] = tuple(inspect.signature(about).parameters)
        return RegisteredType(name, kind, about, dict.fromkeys(names, DIRECTION))
    if not is_dataclass(kind):
        return None
    parameters = {}
    for field in fields(kind):
        if not field.init:
            continue
        annotation: Any = field.type
        word = annotation if isinstance(annotation, str) else getattr(annotation, '__name__', '')
        word = 'Vector3' if annotation == Vector3 else word
        if word not in _KINDS:
            return None
        parameters[field.name] = _KINDS[word]
    return RegisteredType(name, kind, kind, parameters)


def _snake(title: str) -> str:
    return re.sub(r'(?<!^)(?=[A-Z])', '_', title).lower()


def joint_name(joint: JointType) -> str:
    """Return the name of a joint's type in files."""
    return _snake(type(joint).__name__)
