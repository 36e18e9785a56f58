# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""URDFs for all engines of the benchmark: few shapes, possible inertias, no limits."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Iterator, Mapping, Optional, Sequence, Tuple
import warnings
from xml.etree import ElementTree

import numpy as np
import robots
from scipy.spatial.transform import Rotation

ANYMAL = robots.ANYMAL
_WIDE = '1e6'
_AXES = 'xyz'

#: A shape of a link: tag of the geometry, its attributes, and its center.
LinkShape = Tuple[str, Mapping[str, str], Tuple[float, float, float]]


@lru_cache(maxsize=None)
def text_of(robot: robots.RealRobot) -> str:
    """Return the text of a URDF of example-robot-data.

    :raises FileNotFoundError: if it is not installed
    """
    return robots.find(robot).read_text(encoding='utf-8')


def prepared(
    text: str,
    keep: Optional[Sequence[str]] = None,
    add: Optional[Mapping[str, Sequence[LinkShape]]] = None,
    limits: bool = False,
    dynamics: bool = False,
    meshes: Optional[Path] = None,
) -> str:
    """Prepare a URDF for all engines.

    Visual elements, transmissions and a link named world are removed, and mimic joints become
    independent. Links fixed to others are merged with them, because some engines assign a mass to
    massless links.

    :param keep: prefixes of names of links that keep their shapes; None for all
    :param add: additional shapes of links
    :param limits: whether joints keep their position limits
    :param dynamics: whether joints keep their friction and damping
    :param meshes: folder of the packages whose meshes remain; None: meshes are removed
    """
    root = ElementTree.fromstring(text)
    for tag in ('transmission', 'gazebo', 'material'):
        for element in root.findall(tag):
            root.remove(element)
    for link in root.findall('link'):
        _prepare_link(link, keep, meshes)
        for tag, size, center in (add or {}).get(link.get('name'), ()):
            collision = ElementTree.SubElement(link, 'collision')
            ElementTree.SubElement(collision, 'origin', xyz=' '.join(map(repr, center)))
            geometry = ElementTree.SubElement(collision, 'geometry')
            ElementTree.SubElement(geometry, tag, dict(size))
        if link.get('name') == 'world':
            root.remove(link)
    for joint in root.findall('joint'):
        for tag in (
            'safety_controller',
            'calibration',
            'mimic',
            *([] if dynamics else ['dynamics']),
        ):
            for element in joint.findall(tag):
                joint.remove(element)
        for limit in joint.findall('limit'):
            kept = {side: limit.get(side, '0') for side in ('lower', 'upper')}
            wide = {'lower': f'-{_WIDE}', 'upper': _WIDE}
            limit.attrib = {**(kept if limits else wide), 'effort': _WIDE, 'velocity': _WIDE}
        if joint.find('parent').get('link') == 'world':
            root.remove(joint)
    _merge(root)
    for link in root.findall('link'):
        _make_possible(link)
    return ElementTree.tostring(root, encoding='unicode')


def _prepare_link(
    link: ElementTree.Element, keep: Optional[Sequence[str]], meshes: Optional[Path]
) -> None:
    for visual in link.findall('visual'):
        link.remove(visual)
    name = link.get('name')
    kept = keep is None or any(name.startswith(begin) for begin in keep)
    for collision in link.findall('collision'):
        mesh = collision.find('geometry/mesh')
        if not kept or (mesh is not None and meshes is None):
            link.remove(collision)
        elif mesh is not None:
            mesh.set('filename', mesh.get('filename').replace('package:/', str(meshes)))


def _pose(element: Optional[ElementTree.Element]) -> np.ndarray:
    """Return the homogeneous transform of an <origin>, (4, 4)."""
    T = np.eye(4)
    if element is not None:
        T[:3, 3] = [float(x) for x in element.get('xyz', '0 0 0').split()]
        roll, pitch, yaw = (float(x) for x in element.get('rpy', '0 0 0').split())
        T[:3, :3] = Rotation.from_euler('xyz', [roll, pitch, yaw]).as_matrix()
    return T


def _move(element: ElementTree.Element, by: np.ndarray) -> None:
    """Transform the <origin> of an element into the frame of `by`."""
    origin = element.find('origin')
    T = by @ _pose(origin)
    if origin is None:
        origin = ElementTree.SubElement(element, 'origin')
    origin.set('xyz', ' '.join(repr(float(x)) for x in T[:3, 3]))
    with warnings.catch_warnings():
        # Rotation as three angles, of which one is arbitrary at the singularity.
        warnings.simplefilter('ignore')
        turn = Rotation.from_matrix(T[:3, :3]).as_euler('xyz')
    origin.set('rpy', ' '.join(repr(float(x)) for x in turn))


def _inertia(link: ElementTree.Element) -> Tuple[float, np.ndarray, np.ndarray]:
    """Return the mass, center and inertia about it along the link's axes."""
    inertial = link.find('inertial')
    if inertial is None:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    found = inertial.find('inertia')
    matrix = np.array(
        [[float(found.get(f'i{min(a, b)}{max(a, b)}')) for b in _AXES] for a in _AXES]
    )
    T = _pose(inertial.find('origin'))
    mass = float(inertial.find('mass').get('value'))
    return mass, T[:3, 3], T[:3, :3] @ matrix @ T[:3, :3].T


def _set_inertia(
    link: ElementTree.Element, mass: float, center: np.ndarray, matrix: np.ndarray
) -> None:
    for inertial in link.findall('inertial'):
        link.remove(inertial)
    if mass == 0.0:
        return
    inertial = ElementTree.SubElement(link, 'inertial')
    ElementTree.SubElement(inertial, 'origin', xyz=' '.join(repr(float(x)) for x in center))
    ElementTree.SubElement(inertial, 'mass', value=repr(float(mass)))
    made = ElementTree.SubElement(inertial, 'inertia')
    for a in range(3):
        for b in range(a, 3):
            made.set(f'i{_AXES[a]}{_AXES[b]}', repr(float(matrix[a, b])))


def _merge(root: ElementTree.Element) -> None:
    """Merge links that are fixed to others."""
    links = {link.get('name'): link for link in root.findall('link')}
    while (joint := next(_fixed(root), None)) is not None:
        parent = links[joint.find('parent').get('link')]
        child = links[joint.find('child').get('link')]
        T = _pose(joint.find('origin'))
        for collision in child.findall('collision'):
            _move(collision, T)
            parent.append(collision)
        for other in root.findall('joint'):
            if other.find('parent').get('link') == child.get('name'):
                _move(other, T)
                other.find('parent').set('link', parent.get('name'))
        (m1, c1, I1), (m2, c2, I2) = _inertia(parent), _inertia(child)
        if m2 > 0.0:
            c2, I2 = T[:3, :3] @ c2 + T[:3, 3], T[:3, :3] @ I2 @ T[:3, :3].T
            mass = m1 + m2
            center = (m1 * c1 + m2 * c2) / mass
            total = I1 + I2
            for m, c in ((m1, c1 - center), (m2, c2 - center)):
                total = total + m * ((c @ c) * np.eye(3) - np.outer(c, c))
            _set_inertia(parent, mass, center, total)
        root.remove(joint)
        root.remove(child)


def _fixed(root: ElementTree.Element) -> Iterator[ElementTree.Element]:
    return (joint for joint in root.findall('joint') if joint.get('type') == 'fixed')


def _make_possible(link: ElementTree.Element) -> None:
    mass, center, matrix = _inertia(link)
    if mass > 0.0:
        _set_inertia(link, mass, center, possible_inertia(matrix))


def possible_inertia(matrix: np.ndarray) -> np.ndarray:
    """Return a physically possible inertia about the same axes: the matrix itself, if it is one.

    The maximum moment is at most the sum of the others, and none is below a thousandth of it.
    """
    moments, axes = np.linalg.eigh(matrix)
    found = np.maximum(moments, 1e-3 * moments[-1])
    lacking = found[2] - found[0] - found[1]
    if lacking > 0.0:
        found[:2] += 0.5 * lacking * (1.0 + 1e-6)
    if np.array_equal(found, moments):
        return matrix
    return axes @ np.diag(found) @ axes.T
