# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Grammar of the used part of URDF, and the check of a document against it.

The rules are data: required and optional attributes of an element, types of their values, and
children. After `check_element` every attribute in the tree converts without error, so
`urdf_parser_py` reads it without warnings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
import math
import re
from typing import Dict, Mapping, Sequence
from xml.etree.ElementTree import Element

from rbd_ros.model.errors import ModelError

_NUMBER = re.compile(r'[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?', re.ASCII)
_INFINITE = re.compile(r'[+-]?inf(inity)?', re.ASCII | re.IGNORECASE)
# Maximum number of characters of a number; no double needs more.
_MAX_NUMBER = 400
# Products of larger masses and lengths could overflow. Limits may be larger.
MAX_MAGNITUDE = 1e30


@dataclass(frozen=True)
class AttributeRule:
    """Rule for the content of an attribute.

    :param count: count of numbers; 0: text
    :param empty: whether the text may be empty
    :param required: whether it is required
    :param infinite: whether an infinite number is accepted
    :param example: example numbers for messages; '' for zeros
    """

    count: int = 1
    required: bool = True
    infinite: bool = False
    empty: bool = False
    example: str = ''


@dataclass(frozen=True)
class ChildRule:
    """Rule for the presence and repetition of a child element."""

    rule: ElementRule
    required: bool = False
    many: bool = False


@dataclass(frozen=True)
class ElementRule:
    """Attributes and children of an element that are read.

    :param keeps_unknown: whether unknown children are kept (empty), for later checks
    """

    attributes: Mapping[str, AttributeRule] = field(default_factory=dict)
    children: Mapping[str, ChildRule] = field(default_factory=dict)
    keeps_unknown: bool = False


_TEXT = AttributeRule(0)
_NUMBER_RULE = AttributeRule()
_OPTIONAL = AttributeRule(required=False)
_RATIO = AttributeRule(required=False, example='1.0')
_LIMIT = AttributeRule(required=False, infinite=True)
_MAXIMUM = AttributeRule(required=False, infinite=True, example='1.0')
_OPTIONAL_VECTOR = AttributeRule(3, required=False)
_LENGTH = AttributeRule(example='0.1')
_MOMENT = AttributeRule(example='0.01')

_ORIGIN = ChildRule(
    ElementRule(
        {
            'xyz': _OPTIONAL_VECTOR,
            'rpy': _OPTIONAL_VECTOR,
            'quat_xyzw': AttributeRule(4, required=False, example='0.0 0.0 0.0 1.0'),
        }
    )
)
_LINK_REFERENCE = ChildRule(ElementRule({'link': _TEXT}), required=True)
_ROUND = {'radius': _LENGTH, 'length': _LENGTH}
_SCALE = AttributeRule(3, required=False, example='1.0 1.0 1.0')
_GEOMETRY = ElementRule(
    children={
        'box': ChildRule(ElementRule({'size': AttributeRule(3, example='0.1 0.1 0.1')})),
        'cylinder': ChildRule(ElementRule(_ROUND)),
        'capsule': ChildRule(ElementRule(_ROUND)),
        'sphere': ChildRule(ElementRule({'radius': _LENGTH})),
        'mesh': ChildRule(ElementRule({'filename': _TEXT, 'scale': _SCALE})),
    },
    keeps_unknown=True,
)
_SHAPE = ChildRule(
    ElementRule(
        {'name': AttributeRule(0, required=False)},
        {'origin': _ORIGIN, 'geometry': ChildRule(_GEOMETRY, required=True)},
    ),
    many=True,
)
# A wrong color does not affect the motion: urdf_description.py warns about it.
_MATERIAL = ChildRule(
    ElementRule(
        {'name': AttributeRule(0, required=False)},
        {'color': ChildRule(ElementRule({'rgba': AttributeRule(0, required=False)}), many=True)},
    ),
    many=True,
)
_VISUAL = ChildRule(
    ElementRule(_SHAPE.rule.attributes, {**_SHAPE.rule.children, 'material': _MATERIAL}),
    many=True,
)
_INERTIAL = ElementRule(
    children={
        'origin': _ORIGIN,
        'mass': ChildRule(ElementRule({'value': AttributeRule(example='1.0')}), required=True),
        'inertia': ChildRule(
            ElementRule(
                {
                    **dict.fromkeys(('ixx', 'iyy', 'izz'), _MOMENT),
                    **dict.fromkeys(('ixy', 'ixz', 'iyz'), _NUMBER_RULE),
                }
            ),
            required=True,
        ),
    }
)
_LINK = ElementRule(
    {'name': _TEXT}, {'inertial': ChildRule(_INERTIAL), 'collision': _SHAPE, 'visual': _VISUAL}
)
_JOINT = ElementRule(
    {'name': _TEXT, 'type': _TEXT},
    {
        'origin': _ORIGIN,
        'parent': _LINK_REFERENCE,
        'child': _LINK_REFERENCE,
        'axis': ChildRule(ElementRule({'xyz': AttributeRule(3, example='0.0 0.0 1.0')})),
        'limit': ChildRule(
            ElementRule(
                {'lower': _LIMIT, 'upper': _LIMIT, 'velocity': _MAXIMUM, 'effort': _MAXIMUM}
            )
        ),
        'dynamics': ChildRule(ElementRule({'damping': _OPTIONAL, 'friction': _OPTIONAL})),
        'mimic': ChildRule(
            ElementRule({'joint': _TEXT, 'multiplier': _RATIO, 'offset': _OPTIONAL})
        ),
        'safety_controller': ChildRule(
            ElementRule(dict.fromkeys(('soft_lower_limit', 'soft_upper_limit'), _LIMIT))
        ),
    },
)
ROBOT = ElementRule(
    {'name': AttributeRule(0, empty=True)},
    {
        'link': ChildRule(_LINK, many=True),
        'joint': ChildRule(_JOINT, many=True),
        'material': _MATERIAL,
    },
)


def shorten(text: str, width: int = 60) -> str:
    """Return the text in quotes, shortened to `width` characters."""
    return repr(text if len(text) <= width else text[:width] + '...')


class TooLargeError(ValueError):
    """A text is a number, but one larger than any robot needs."""


def parse_number(text: str, infinite: bool = False) -> float:
    """Return the number in URDF's notation: ASCII digits, a decimal point, an exponent.

    :param infinite: whether 'inf' and numbers beyond MAX_MAGNITUDE are accepted
    :raises ValueError: if the text is not a number, with the reason
    :raises TooLargeError: if the number is beyond MAX_MAGNITUDE
    """
    text = text.strip()
    if len(text) > _MAX_NUMBER:
        raise ValueError(f'{shorten(text)} is too long for a number')
    if infinite and _INFINITE.fullmatch(text):
        return float(text)
    if not _NUMBER.fullmatch(text):
        if text.lower().lstrip('+-') in ('nan', 'inf', 'infinity'):
            raise ValueError(f'{shorten(text)} is not a finite number')
        raise ValueError(f'{shorten(text)} is not a number' if text else 'a number is missing')
    value = float(text)
    if not (infinite and math.isfinite(value)) and abs(value) > MAX_MAGNITUDE:
        raise TooLargeError(f'{shorten(text)} is too large')
    return value


def line_of(node: Element) -> int:
    """Return the line of an element in the document, 0 without a document."""
    line: int = getattr(node, 'line', 0)
    return line


def check_element(node: Element, rule: ElementRule, owner: str, skip: Sequence[str] = ()) -> None:
    """Reject an element or child that breaks its rule.

    :param owner: owner of the element in messages, such as "link 'tool'"
    :param skip: children that are not checked
    :raises ModelError: with owner, element and attribute
    """
    where = f'{owner}: <{node.tag}> (line {line_of(node)})'
    for name, attribute in rule.attributes.items():
        text = node.get(name)
        if text is None:
            if attribute.required:
                raise ModelError(
                    f'{where} has no attribute {name!r}; add {_example(name, attribute)}'
                )
        elif attribute.count == 0:
            if attribute.required and not attribute.empty and not text.strip():
                raise ModelError(f'{where}: {name}="" is empty; give {_example(name, attribute)}')
        else:
            _check_numbers(where, name, text, attribute)
    counts: Dict[str, int] = {}
    for child in node:
        counts[child.tag] = counts.get(child.tag, 0) + 1
        child_rule = rule.children.get(child.tag)
        if child_rule is None:
            continue
        if counts[child.tag] > 1 and not child_rule.many:
            raise ModelError(
                f'{where} has more than one <{child.tag}> (line {line_of(child)}); keep one'
            )
        if child.tag not in skip:
            check_element(child, child_rule.rule, owner)
    for tag, child_rule in rule.children.items():
        if child_rule.required and tag not in counts:
            raise ModelError(f'{where} has no <{tag}> element; add it, or remove <{node.tag}>')


def _check_numbers(where: str, name: str, text: str, attribute: AttributeRule) -> None:
    words = text.split(None, attribute.count) if attribute.count > 1 else [text]
    if len(words) != attribute.count:
        raise ModelError(
            f'{where}: {name}={shorten(text)} must hold {attribute.count} numbers '
            f'separated by blanks; give {_example(name, attribute)}'
        )
    for word in words:
        try:
            parse_number(word, attribute.infinite)
        except TooLargeError as error:
            raise ModelError(
                f'{where}: {name}={shorten(text)}: {error}; it is implausible; give at most '
                f'{MAX_MAGNITUDE:g}, in m, rad, kg, s'
            ) from None
        except ValueError as error:
            raise ModelError(
                f'{where}: {name}={shorten(text)}: {error}; give {_example(name, attribute)}'
            ) from None


def _example(name: str, attribute: AttributeRule) -> str:
    if attribute.count == 0:
        return f'{name}="..."'
    numbers = attribute.example or ' '.join(['0.0'] * attribute.count)
    many = 'finite numbers' if attribute.count > 1 else 'a finite number'
    return f'{name}="{numbers}" ({many} with a decimal point)'
