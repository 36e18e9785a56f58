# SPDX-License-Identifier: Apache-2.0
"""Faults in elements that the robot does not need: they are left out, with a notice.

A fixed joint has neither axis nor limits, a floating joint no axis, and what a
link looks like changes nothing that it does.
Faults in everything else reject the robot.
"""

from __future__ import annotations

from typing import List
from xml.etree.ElementTree import Element

from rbd_ros.model.errors import ModelError
from rbd_ros.model.urdf.schema import check_element, ElementRule, line_of
from rbd_ros.model.urdf.urdf_document import quote

# Elements without a meaning in joints of a type.
_MEANINGLESS = {
    'fixed': ('axis', 'limit', 'dynamics', 'mimic', 'safety_controller'),
    'floating': ('axis',),
}


def refuse_quaternion(node: Element, owner: str) -> None:
    """Reject an <origin> whose rotation is a quaternion."""
    origin = node.find('origin')
    if origin is not None and origin.get('quat_xyzw') is not None:
        raise ModelError(
            f'{owner}: quat_xyzw (line {line_of(origin)}) is not supported; give the rotation as '
            'rpy="..."'
        )


def omit_motion(joint: Element, rule: ElementRule, owner: str) -> List[str]:
    """Leave out the faulty elements that mean nothing in a joint; return the notices."""
    notices: List[str] = []
    kind = joint.get('type', '')
    for tag in _MEANINGLESS.get(kind, ()):
        found = joint.findall(tag)
        try:
            for node in found:
                check_element(node, rule.children[tag].rule, owner)
            if len(found) < 2:
                continue
            reason = f'{owner} has more than one <{tag}> (line {line_of(found[1])})'
        except ModelError as error:
            reason = str(error)
        for node in found:
            joint.remove(node)
        notices.append(f'{reason}; the joint is {kind}, so <{tag}> is left out')
    return notices


def omit_shapes(link: Element, rule: ElementRule, owner: str) -> List[str]:
    """Leave out second shapes of a <geometry>, and faulty visuals; return the notices."""
    notices: List[str] = []
    for shape in [*link.findall('collision'), *link.findall('visual')]:
        for geometry in shape.findall('geometry'):
            for surplus in geometry[1:]:
                geometry.remove(surplus)
                notices.append(
                    f'{owner}: <geometry> (line {line_of(geometry)}) holds a second shape, '
                    f'<{quote(surplus.tag)[1:-1]}>, which is left out, as in other ROS tools; '
                    f'give each shape its own <{shape.tag}>'
                )
    for visual in link.findall('visual'):
        try:
            check_element(visual, rule.children['visual'].rule, owner)
            refuse_quaternion(visual, owner)
            found = visual.find('geometry')
            if found is not None and not len(found):
                raise ModelError(f'{owner}: <geometry> (line {line_of(found)}) holds no shape')
        except ModelError as error:
            link.remove(visual)
            notices.append(without_visual(error))
    return notices


def without_visual(error: ModelError) -> str:
    """Return the notice that a visual is left out for its fault."""
    return f'{error}; the <visual> is left out'
