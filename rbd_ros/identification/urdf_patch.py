# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A URDF with other inertias and joint friction; all other bytes are unchanged.

Only the elements <inertial> of links and <dynamics> of joints are replaced or added.
"""

from __future__ import annotations

from dataclasses import dataclass
import re
from typing import Dict, List, Mapping, Optional, Tuple, Union
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np

from rbd_ros.algorithms.regressors.physical_consistency import inconsistent_bodies
from rbd_ros.control.robot_joints import listed
from rbd_ros.identification.payload_identification import LIGHTEST, PayloadEstimate
from rbd_ros.identification.recording import Floats
from rbd_ros.identification.robot_identification import ModelEstimate
from rbd_ros.robot import Robot
from rbd_ros.spatial import RigidBodyInertia

Text = Union[str, bytes]
#: Change of a joint's viscous and Coulomb friction.
Friction = Tuple[float, float]


def patched_urdf(urdf: Text, robot: Robot, found: Union[PayloadEstimate, ModelEstimate]) -> bytes:
    """Return the URDF with the identified parameters.

    A payload becomes part of its link; if the recording does not determine all of it, a body that
    agrees with the estimate is used. If a body has several fixed links, its main link gets the
    estimate minus the other links; if that is unphysical, it gets all of it, and the others none.

    :param urdf: text of the URDF
    :param robot: the robot of the URDF
    :param found: identified parameters
    :raises ValueError: if links or joints of the robot are not in the text

    >>> from rbd_ros.identification import identify_payload, patched_urdf
    >>> carried = payload_parameters(1.5, (0.0, 0.02, 0.08))
    >>> found = identify_payload(robot, recorded(payload=carried), 'tool0')
    >>> from pathlib import Path
    >>> text = Path('urdf/six_axis_arm.urdf').read_text()
    >>> heavier = Robot.from_urdf(patched_urdf(text, robot, found).decode())
    >>> abs(heavier.model.link('tool0').inertia.mass - found.mass) < 1e-9
    True
    """
    if isinstance(found, PayloadEstimate):
        link = robot.model.link(found.link)
        added = RigidBodyInertia.from_parameters(found.body.tolist())
        return with_inertials(urdf, {found.link: link.inertia + added}, {})
    inertias: Dict[str, RigidBodyInertia] = {}
    for i, _ in robot.model.outward():
        inertias.update(_of_body(robot, i, found.parameters[10 * (i - 1) : 10 * i]))
    friction = {}
    for j, name in enumerate(robot.joint_names):
        change = (
            float(found.damping[j] - robot.damping[j]),
            float(found.friction[j] - robot.friction[j]),
        )
        if any(change):
            friction[name] = _joint_friction(robot, name, change)
    return with_inertials(urdf, inertias, friction)


def _joint_friction(robot: Robot, name: str, change: Friction) -> Friction:
    """Return the friction of a joint, excluding that of joints that mimic it."""
    body = next(body for body in robot.model.bodies if body.joint_name == name)
    return max(body.damping + change[0], 0.0), max(body.friction + change[1], 0.0)


def _of_body(robot: Robot, number: int, parameters: Floats) -> Dict[str, RigidBodyInertia]:
    """Return the inertias of the links of a body, in their own coordinates."""
    body = robot.model.body(number)
    whole = RigidBodyInertia.from_parameters(parameters.tolist())
    others = [
        link
        for link in robot.model.links.values()
        if link.body == number and link.name != body.name and any(link.inertia.parameters())
    ]
    left = whole
    for link in others:
        left = left + link.placement.inverse_apply(link.inertia) * -1.0
    if not inconsistent_bodies(np.array(left.parameters(), dtype=float)):
        return {body.name: left}
    return {body.name: whole, **{link.name: RigidBodyInertia.zero() for link in others}}


# -- text -----------------------------------------------------------------------------------------


@dataclass
class _Place:
    """Positions in bytes of an element, and of the child to be replaced."""

    begin: int
    inside: int = 0  # after the start tag
    child: Optional[Tuple[int, int]] = None
    attributes: Mapping[str, str] = ()  # type: ignore[assignment]


def with_inertials(
    urdf: Text, inertias: Mapping[str, RigidBodyInertia], friction: Mapping[str, Friction]
) -> bytes:
    """Return the URDF with other inertias and friction.

    :param urdf: text of the URDF
    :param inertias: inertias of links, by name, in link coordinates
    :param friction: viscous and Coulomb friction of joints, by name
    :raises ValueError: if a link or a joint is not in the text, or it is not XML in UTF-8

    >>> from rbd_ros.identification.urdf_patch import with_inertials
    >>> with_inertials('<robot><joint name="a"/></robot>', {}, {'a': (0.5, 0.25)})
    b'<robot><joint name="a"><dynamics damping="0.5" friction="0.25"/></joint></robot>'
    """
    data = urdf.encode() if isinstance(urdf, str) else bytes(urdf)
    places = _places(data)
    missing = [n for n in inertias if ('link', n) not in places]
    missing += [n for n in friction if ('joint', n) not in places]
    if missing:
        raise ValueError(f'{listed(missing)} was not found in the text of the URDF')
    edits: List[Tuple[int, int, bytes]] = []
    for name, inertia in inertias.items():
        edits.append(_edit(data, places['link', name], 'link', _inertial(inertia)))
    for name, values in friction.items():
        place = places['joint', name]
        kept = {k: v for k, v in dict(place.attributes).items() if k not in _FRICTION}
        kept = {**dict(zip(_FRICTION, map(_number, values))), **kept}
        words = ' '.join(f'{key}={quoteattr(value)}' for key, value in kept.items())
        edits.append(_edit(data, place, 'joint', f'<dynamics {words}/>'))
    for begin, end, new in sorted(edits, reverse=True):
        data = data[:begin] + new + data[end:]
    return data


_FRICTION = ('damping', 'friction')
_CHILD = {'link': 'inertial', 'joint': 'dynamics'}


def _edit(data: bytes, place: _Place, tag: str, child: str) -> Tuple[int, int, bytes]:
    """Return the range of bytes to be replaced, and the new bytes."""
    if place.child is not None:
        return (*place.child, child.encode())
    if data[place.inside - 2 : place.inside] == b'/>':
        return place.inside - 2, place.inside, f'>{child}</{tag}>'.encode()
    return place.inside, place.inside, child.encode()


def _inertial(inertia: RigidBodyInertia) -> str:
    mass = float(inertia.mass)
    if mass < LIGHTEST:
        return '<inertial><mass value="0"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>'  # noqa: E501
    _, center, about = inertia.mass_center()
    words = [
        f'i{"xyz"[row]}{"xyz"[column]}="{_number(about[row][column])}"'
        for row in range(3)
        for column in range(row, 3)
    ]
    return (
        f'<inertial><origin xyz="{" ".join(map(_number, center))}" rpy="0 0 0"/>'
        f'<mass value="{_number(mass)}"/><inertia {" ".join(words)}/></inertial>'
    )


def _number(value: float) -> str:
    return repr(float(value) + 0.0)


def _places(data: bytes) -> Dict[Tuple[str, str], _Place]:
    """Return the places of the links and joints right below the root, by tag and name."""
    parser = expat.ParserCreate()
    path: List[str] = []
    found: Dict[Tuple[str, str], _Place] = {}
    now: List[_Place] = []
    pending: List[int] = []  # begin of the child to be replaced

    def start(tag: str, attributes: Dict[str, str]) -> None:
        here = parser.CurrentByteIndex
        path.append(tag)
        if len(path) == 2 and tag in _CHILD:
            place = _Place(here, _end_of_tag(data, here))
            now[:] = [place]
            found[tag, attributes.get('name', '')] = place
        elif len(path) == 3 and now and _CHILD.get(path[1]) == tag:
            now[0].attributes = attributes
            pending[:] = [here]

    def end(tag: str) -> None:
        if len(path) == 3 and pending and now and _CHILD.get(path[1]) == tag:
            after = _end_of_tag(data, pending[0])
            if data[after - 2 : after] != b'/>':
                after = _end_of_tag(data, parser.CurrentByteIndex)
            now[0].child = pending[0], after
            pending.clear()
        if len(path) == 2:
            now.clear()
        path.pop()

    parser.StartElementHandler, parser.EndElementHandler = start, end
    encoding = re.match(rb'\s*<\?xml[^>]*encoding=["\']([^"\']+)', data)
    if encoding and encoding.group(1).lower() not in (b'utf-8', b'us-ascii', b'ascii'):
        raise ValueError('the URDF is not in UTF-8; convert it')
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise ValueError(f'the URDF is not XML: {error}') from None
    return found


def _end_of_tag(data: bytes, begin: int) -> int:
    """Return the position after a tag, whose attributes may contain its last character."""
    quoted = 0
    for at in range(begin, len(data)):
        byte = data[at]
        if quoted:
            quoted = 0 if byte == quoted else quoted
        elif byte in b'"\'':
            quoted = byte
        elif byte == ord('>'):
            return at + 1
    return len(data)
