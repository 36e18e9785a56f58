# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Declarations of a node's interface: its parameters, topics, services and actions.

`NodeInterface` determines the parameter descriptors, the publishers and subscriptions with
their quality of service, the configuration file, the launch arguments and the tables of the
node's page (reference.py). Launch files import this module, so it imports nothing heavy.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
import re
from typing import Any, Callable, Dict, Optional, Tuple

NUMBERS = (int, float)
KINDS = {bool: 'bool', int: 'int', float: 'double', str: 'string'}
WORDS = {bool: 'true or false', int: 'an integer', float: 'a number', str: 'a string'}
#: Words that YAML 1.1 reads as booleans unless they are quoted, by their boolean value.
YAML_BOOLEANS = {True: ('true', 'yes', 'on', 'y'), False: ('false', 'no', 'off', 'n')}
#: Numbers that YAML 1.1 reads as texts, such as 1e-10; ros2 param set and load send texts.
EXPONENT = re.compile(r'[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+')
NUMBER = re.compile(r'[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?')
SHOWN = 80  # length to which an error message cuts a value


@dataclass(frozen=True)
class Parameter:
    """One parameter of a node.

    :param name: name of the parameter
    :param default: default value; its type is the parameter's type
    :param description: meaning, with the unit
    :param choices: legal values, if finitely many
    :param minimum: smallest legal value of a number or of every element of a list
    :param maximum: largest legal value, likewise
    :param positive: whether numbers must exceed zero
    :param length: number of elements of a list, if fixed
    :param element: type of a list's elements
    :param live: whether it can be changed while the node runs
    :param keep: converts a given text to its stored form
    """

    name: str
    default: Any
    description: str
    choices: Tuple[str, ...] = ()
    minimum: Optional[float] = None
    maximum: Optional[float] = None
    positive: bool = False
    length: Optional[int] = None
    element: type = float
    live: bool = False
    keep: Optional[Callable[[str], str]] = None

    @property
    def is_list(self) -> bool:
        """True if it holds a list."""
        return isinstance(self.default, tuple)

    @property
    def scalar(self) -> type:
        """Type of the value, or of the elements of the list."""
        return self.element if self.is_list else type(self.default)

    @property
    def kind(self) -> str:
        """Type in the words of ROS: bool, int, double, string, int[], double[] or string[]."""
        return KINDS[self.scalar] + ('[]' if self.is_list else '')

    @property
    def range(self) -> str:
        """Legal values in words; empty if the type has no limits."""
        parts = []
        if self.choices:
            parts.append('one of: ' + ', '.join(choice or "''" for choice in self.choices))
        if self.positive:
            parts.append('greater than 0')
        elif self.minimum is not None:
            parts.append(f'at least {self.minimum:g}')
        if self.maximum is not None:
            parts.append(f'at most {self.maximum:g}')
        if self.length is not None:
            parts.append(f'{self.length} elements')
        return ', '.join(parts)

    def convert(self, value: Any) -> Any:
        """Return `value` as this parameter holds it: a bool, int, float, str or tuple.

        An integer is accepted for a number, and None for an empty list (`[]` has no type).
        So are the results of YAML 1.1 for legal values: false for the choice 'off', texts of 1e-10
        and of [1, 0.5].

        :raises ValueError: if it is not legal, with the name of the parameter and the legal values
        """
        if not self.is_list:
            return self._convert_scalar(value, self.name)
        if value is None:
            value = ()
        if self.scalar is float and isinstance(value, str):
            inside = value.strip()
            if inside[:1] == '[' and inside[-1:] == ']':
                words = [word.strip() for word in inside[1:-1].split(',')]
                value = [float(word) if NUMBER.fullmatch(word) else word for word in words]
        if isinstance(value, (str, bytes)) or not hasattr(value, '__iter__'):
            example = '' if isinstance(value, (str, bytes)) else f': write [{value}]'
            raise ValueError(f'{self.name} must be a {self.kind}, got {shown(value)}{example}')
        values = tuple(self._convert_scalar(v, f'{self.name}[{i}]') for i, v in enumerate(value))
        if self.length is not None and len(values) != self.length:
            raise ValueError(f'{self.name} must have {self.length} elements, got {len(values)}')
        return values

    def _convert_scalar(self, value: Any, name: str) -> Any:
        kind = self.scalar
        if kind is float and type(value) is int:
            value = float(value)
        if kind is float and isinstance(value, str) and EXPONENT.fullmatch(value):
            value = float(value)
        if kind is str and isinstance(value, bool):
            meant = [word for word in self.choices if word.lower() in YAML_BOOLEANS[value]]
            value = meant[0] if len(meant) == 1 else value
        if type(value) is not kind:
            raise ValueError(
                f'{name} must be {WORDS[kind]}, got {shown(value)}{_cure(kind, value)}'
            )
        if kind in NUMBERS:
            self._check_range(value, name)
        if self.choices and value not in self.choices:
            raise ValueError(
                f'{name} must be one of {", ".join(self.choices)}; got {shown(value)}'
            )
        return self.keep(value) if self.keep else value

    def _check_range(self, value: float, name: str) -> None:
        if not math.isfinite(value):
            raise ValueError(f'{name} must be finite, got {value}')
        if self.positive and not value > 0:
            raise ValueError(f'{name} must be greater than 0, got {value:g}')
        if self.minimum == 0 and value < 0:
            raise ValueError(f'{name} must not be negative, got {value:g}')
        if self.minimum is not None and value < self.minimum:
            raise ValueError(f'{name} must be at least {self.minimum:g}, got {value:g}')
        if self.maximum is not None and value > self.maximum:
            raise ValueError(f'{name} must be at most {self.maximum:g}, got {value:g}')


@dataclass(frozen=True)
class Topic:
    """One topic that a node publishes or subscribes to.

    :param name: relative name, as used in code and documentation
    :param kind: message type, such as 'sensor_msgs/msg/JointState'
    :param direction: 'in' or 'out'
    :param description: content
    :param reliable: reliable or best effort
    :param depth: messages kept
    :param transient_local: whether late subscribers get the last messages
    :param optional: condition under which it exists; empty: always
    """

    name: str
    kind: str
    direction: str
    description: str
    reliable: bool = True
    depth: int = 1
    transient_local: bool = False
    optional: str = ''

    @property
    def quality(self) -> str:
        """Quality of service in words."""
        words = ['reliable' if self.reliable else 'best effort', f'depth {self.depth}']
        return ', '.join(words + ['transient local'] * self.transient_local)


@dataclass(frozen=True)
class Offer:
    """Service or action that a node offers.

    :param name: private name, such as '~/pause'
    :param kind: type, such as 'std_srvs/srv/SetBool'
    :param description: effect
    :param optional: package that it requires, or empty
    """

    name: str
    kind: str
    description: str
    optional: str = ''


class Service(Offer):
    """One service that a node offers."""


class Action(Offer):
    """One action that a node offers, such as '~/follow_joint_trajectory'."""


@dataclass(frozen=True)
class NodeInterface:
    """Public interface of a node.

    :param name: name of the node, its executable, its configuration file and its page
    :param summary: purpose of the node, in one sentence
    :param services: services in addition to those of every ROS node
    """

    name: str
    summary: str
    parameters: Tuple[Parameter, ...]
    topics: Tuple[Topic, ...]
    services: Tuple[Service, ...] = ()
    actions: Tuple[Action, ...] = ()

    @property
    def defaults(self) -> Dict[str, Any]:
        """Default value of every parameter, by name."""
        return {parameter.name: parameter.default for parameter in self.parameters}

    def topic(self, name: str) -> Topic:
        """Return the declaration of a topic.

        :raises KeyError: if it is not declared
        """
        return _by_name(self.topics, name)

    def service(self, name: str) -> Service:
        """Return the declaration of a service.

        :raises KeyError: if it is not declared
        """
        return _by_name(self.services, name)

    def action(self, name: str) -> Action:
        """Return the declaration of an action.

        :raises KeyError: if it is not declared
        """
        return _by_name(self.actions, name)


def _cure(kind: type, value: Any) -> str:
    """Return how to write a text that YAML reads as another type."""
    if kind is not str or isinstance(value, (bytes, tuple, list)):
        return ''
    return '; YAML reads this text as another type: put it in quotes, such as "\'on\'"'


def _by_name(declarations: Tuple[Any, ...], name: str) -> Any:
    for declaration in declarations:
        if declaration.name == name:
            return declaration
    raise KeyError(f'{name} is not declared; there are {[d.name for d in declarations]}')


def shown(value: Any) -> str:
    """Return the text of a value for an error message, cut to `SHOWN` characters."""
    text = repr(value)
    return text if len(text) <= SHOWN else f'{text[:SHOWN]}...'
