# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Links and joints of a URDF, parsed by urdf_parser_py, in the order of the file.

urdf_parser_py gets only known elements with checked values, so it prints no warnings to the
terminal.

Faulty elements that the robot does not need are dropped, with a notice: a fixed joint has neither
axis nor limits, a floating joint no axis, and the appearance of a link has no effect on motion.
Other faults reject the robot.
"""

from __future__ import annotations

from dataclasses import dataclass, field
import os
from typing import Any, Dict, Iterable, List, Optional, Tuple, Union
from xml.etree.ElementTree import Element

from urdf_parser_py import urdf as urdf_parser
from urdf_parser_py.xml_reflection.core import Path as ParserPath

from rbd_ros.model.errors import ModelError
from rbd_ros.model.geometry import Color
from rbd_ros.model.urdf.schema import check_element, ElementRule, line_of, parse_number, ROBOT
from rbd_ros.model.urdf.urdf_document import Document, Node, quote, read_document, Source
from rbd_ros.spatial import linear3
from rbd_ros.spatial.rotation import rpy_rotation

JOINT_TYPES = ('revolute', 'continuous', 'prismatic', 'planar', 'floating', 'fixed')

# Elements that are ignored in joints of a type.
_MEANINGLESS = {
    'fixed': ('axis', 'limit', 'dynamics', 'mimic', 'safety_controller'),
    'floating': ('axis',),
}


@dataclass
class Description:
    """Parsed links and joints of a robot.

    :param name: name of the robot
    :param links: links of urdf_parser_py by name, in file order
    :param joints: joints of urdf_parser_py by name, in file order
    :param missing_limits: for each joint whose <limit> lacks required attributes, their names
    :param colors: for each link, the colors of its visuals, in file order
    :param directory: directory of the file, None for a string
    :param warnings: warnings and notices
    """

    name: str
    directory: Optional[str] = None
    links: Dict[str, Any] = field(default_factory=dict)
    joints: Dict[str, Any] = field(default_factory=dict)
    missing_limits: Dict[str, Tuple[str, ...]] = field(default_factory=dict)
    colors: Dict[str, List[Optional[Color]]] = field(default_factory=dict)
    warnings: List[str] = field(default_factory=list)


def read_description(
    source: Source, package_paths: Iterable[Union[str, os.PathLike[str]]] = ()
) -> Description:
    """Return the links and joints of a URDF.

    :raises ModelError: with the link, joint or element at fault
    """
    document = read_document(source, package_paths)
    root = document.root
    if not len(root):
        raise ModelError(
            f'{document.label}: <robot> has no links; give a URDF with at least one <link>'
        )
    check_element(root, ROBOT, document.label, skip=('link', 'joint', 'material'))
    materials = _Materials(root)
    description = Description(
        root.get('name', ''), document.directory, warnings=materials.warnings
    )
    rules = {tag: child.rule for tag, child in ROBOT.children.items()}
    for node in root:
        owner = _owner(node, document)
        found = description.links if node.tag == 'link' else description.joints
        omit = omit_shapes if node.tag == 'link' else omit_motion
        description.warnings.extend(omit(node, rules[node.tag], owner))
        check_element(node, rules[node.tag], owner)
        name = node.get('name', '')
        if name in found:
            raise ModelError(
                f'{owner} is defined twice (again in line {line_of(node)}); rename or remove one'
            )
        if node.tag == 'link':
            _prepare_link(node, owner, description, materials)
            description.colors[name] = [
                getattr(shape, 'color', None) for shape in node.findall('visual')
            ]
            found[name] = _parse(urdf_parser.Link, node, owner)
        else:
            _prepare_joint(node, owner, description)
            found[name] = _parse(urdf_parser.Joint, node, owner)
    if not description.links:
        raise ModelError(
            f'{document.label}: <robot> has no links; give a URDF with at least one <link>'
        )
    return description


def _owner(node: Element, document: Document) -> str:
    name = node.get('name')
    return (
        f'{node.tag} {quote(name)}'
        if name
        else f'{document.label}: nameless {node.tag} (line {line_of(node)})'
    )


def _parse(kind: Any, node: Element, owner: str) -> Any:
    try:
        return kind.from_xml(node, ParserPath(node.tag))
    except Exception as error:  # the user always gets a ModelError
        reason = ' '.join(str(error).split())
        raise ModelError(f'{owner}: {reason}; correct the element') from error


def _prepare_joint(node: Element, owner: str, description: Description) -> None:
    kind = node.get('type', '')
    if kind not in JOINT_TYPES:
        hint = {
            'ball': 'three revolute joints',
            'spherical': 'three revolute joints',
            'slider': 'prismatic',
            'hinge': 'revolute',
        }.get(kind.lower())
        raise ModelError(
            f'{owner} has the unknown type {quote(kind)}; use '
            + (hint or f'one of {", ".join(JOINT_TYPES)}')
        )
    reject_quaternion(node, owner)
    soft = node.find('safety_controller')
    if soft is not None:
        for gain in ('k_position', 'k_velocity'):
            soft.set(gain, '0')  # required by the parser, not used here
    limit = node.find('limit')
    if limit is not None:
        missing = [name for name in ('effort', 'velocity') if limit.get(name) is None]
        for name in missing:
            limit.set(name, 'inf')
        if limit.get('lower') is None and limit.get('upper') is None:
            # By URDF's defaults both are 0, but files without them mean an unlimited joint.
            limit.set('lower', '-inf')
            limit.set('upper', 'inf')
            if kind in ('revolute', 'prismatic'):
                missing.append('lower and upper')
        if missing and kind != 'fixed':
            description.missing_limits[node.get('name', '')] = tuple(missing)


def _prepare_link(
    node: Element, owner: str, description: Description, materials: _Materials
) -> None:
    inertial = node.find('inertial')
    if inertial is not None:
        reject_quaternion(inertial, owner)
    for shape in [*node.findall('collision'), *node.findall('visual')]:
        reject_quaternion(shape, owner)
        materials.paint(shape)
        geometry = shape.find('geometry')
        assert geometry is not None  # guaranteed by check_element
        if not len(geometry):
            raise ModelError(
                f'{owner}: <geometry> (line {line_of(geometry)}) holds no shape; add one, or '
                f'remove the <{shape.tag}>'
            )
        tag = geometry[0].tag
        if tag == 'capsule':
            _split_capsule(node, shape, geometry)
        elif tag not in ('box', 'cylinder', 'sphere', 'mesh'):
            node.remove(shape)
            description.warnings.append(
                f'{owner}: <{shape.tag}> of the unknown shape <{quote(tag)[1:-1]}> is left out'
            )


def _split_capsule(link: Element, shape: Element, geometry: Element) -> None:
    """Replace a capsule (URDF 1.1) by a cylinder and a sphere at each end."""
    capsule = geometry[0]
    radius, length = capsule.get('radius', ''), parse_number(capsule.get('length', ''))
    capsule.tag = 'cylinder'
    origin = shape.find('origin')
    xyz, rpy = (
        [
            parse_number(x)
            for x in (origin.get(name, '0 0 0') if origin is not None else '0 0 0').split()
        ]
        for name in ('xyz', 'rpy')
    )
    axis = linear3.apply(rpy_rotation(*rpy), (0.0, 0.0, 1.0))
    for half in (0.5 * length, -0.5 * length):
        sphere = Node(shape.tag, {'name': shape.get('name', '')} if shape.get('name') else {})
        end = linear3.add(linear3.vector3(xyz), linear3.scale(half, axis))
        sphere.append(Node('origin', {'xyz': ' '.join(map(repr, end))}))
        sphere.append(Node('geometry'))
        sphere[-1].append(Node('sphere', {'radius': radius}))
        sphere.color = getattr(shape, 'color', None)
        link.append(sphere)


def reject_quaternion(node: Element, owner: str) -> None:
    """Reject an <origin> with a quaternion."""
    origin = node.find('origin')
    if origin is not None and origin.get('quat_xyzw') is not None:
        raise ModelError(
            f'{owner}: quat_xyzw (line {line_of(origin)}) is not supported; give the rotation as '
            'rpy="..."'
        )


def omit_motion(joint: Element, rule: ElementRule, owner: str) -> List[str]:
    """Remove faulty elements without an effect in their joint; return the notices."""
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
    """Drop additional shapes of a <geometry>, and faulty visuals; return the notices."""
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
            reject_quaternion(visual, owner)
            found = visual.find('geometry')
            if found is not None and not len(found):
                raise ModelError(f'{owner}: <geometry> (line {line_of(found)}) holds no shape')
        except ModelError as error:
            link.remove(visual)
            notices.append(without_visual(error))
    return notices


def without_visual(error: ModelError) -> str:
    """Return the notice that a faulty visual is dropped."""
    return f'{error}; the <visual> is left out'


class _Materials:
    """Colors of the materials of a document.

    :param root: the <robot> element; its materials are removed
    """

    def __init__(self, root: Element):
        self.warnings: list[str] = []
        self._named: Dict[str, Color] = {}
        for material in root.iter('material'):
            name, color = material.get('name'), self._own(material)
            if name and color is not None:
                self._named.setdefault(name, color)
        for material in root.findall('material'):
            root.remove(material)

    def paint(self, shape: Element) -> None:
        """Replace the material of a shape by its color."""
        for material in shape.findall('material'):
            shape.remove(material)
            if isinstance(shape, Node) and shape.color is None:
                shape.color = self._color(material)

    def _color(self, material: Element) -> Optional[Color]:
        color = material.find('color')
        own = None if color is None else _numbers(color.get('rgba', ''))
        return self._named.get(material.get('name', '')) if own is None else own

    def _own(self, material: Element) -> Optional[Color]:
        color = material.find('color')
        if color is None:
            return None
        own = _numbers(color.get('rgba', ''))
        if own is None:
            self.warnings.append(
                f'<color> (line {line_of(color)}): rgba={quote(color.get("rgba", ""))} is not '
                'four numbers from 0 to 1 and is left out'
            )
        return own


def _numbers(text: str) -> Optional[Color]:
    try:
        r, g, b, a = (float(word) for word in text.split(None, 4))
    except ValueError:
        return None
    return (r, g, b, a) if all(0.0 <= x <= 1.0 for x in (r, g, b, a)) else None
