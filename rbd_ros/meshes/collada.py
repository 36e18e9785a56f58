# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""COLLADA (DAE) files: triangles of the scene with the diffuse colors of their materials."""

from __future__ import annotations

from pathlib import Path
import re
from typing import Any, Dict, Iterator, List, Optional, Tuple
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.bounded_files import read_bytes
from rbd_ros.meshes.triangles import (
    MAX_FILE_SIZE,
    MAX_PARTS,
    MAX_TRIANGLES,
    Triangles,
)
from rbd_ros.model.bounded_xml import parse_xml
from rbd_ros.model.geometry import Color

#: Maximum number of elements; some writers create one for each polygon.
MAX_ELEMENTS = 4_000_000
#: Maximum depth of nodes, and number of nodes and geometries including all instances.
MAX_DEPTH = 64
MAX_INSTANCES = 50_000

_BLANK = re.compile(r'\s')
#: Number of characters that are split into words at a time.
_AT_ONCE = 1 << 20


def read_collada(path: Path) -> List[Triangles]:
    """Return the parts of the scene, in m.

    Axes are those of the file, as in RViz: <up_axis> is ignored. Textures, skins, lights and
    cameras are ignored.

    :raises ValueError: if the file is not COLLADA or is damaged
    """
    root = parse_xml(read_bytes(path, MAX_FILE_SIZE), MAX_ELEMENTS)
    if root.tag != 'COLLADA':
        raise ValueError(f'<{root.tag}> is not <COLLADA>')
    return _Reader(root).parts()


_Ids = Dict[str, List[Element]]


class _Reader:
    def __init__(self, root: Element):
        self.root = root
        self.by_id = _ids(root)
        self._visits = self._parts = self._vertices = self._triangles = 0

    def parts(self) -> List[Triangles]:
        unit = self.root.find('asset/unit')
        meter = 1.0 if unit is None else float(unit.get('meter', '1'))
        start = np.diag([meter, meter, meter, 1.0])
        named = self.root.find('scene/instance_visual_scene')
        scene = self._find(named) if named is not None else self.root.find('.//visual_scene')
        if scene is None:
            raise ValueError('no scene')
        found: List[Triangles] = []
        for node in scene.findall('node'):
            found.extend(self._node(node, start, ()))
        return found

    def _find(
        self, element: Optional[Element], key: str = 'url', inside: Optional[_Ids] = None
    ) -> Element:
        """Return the element of a reference.

        An id should be unique in a file. If writers repeat it in each geometry, the one in the
        same geometry is used.

        :param inside: elements of the same geometry by id
        """
        name = ('' if element is None else element.get(key, '')).lstrip('#')
        found = (inside or {}).get(name) or self.by_id.get(name, [])
        if not found:
            raise ValueError(f'the element {name!r} is missing')
        if len(found) > 1:
            raise ValueError(f'the id {name!r} occurs {len(found)} times')
        return found[0]

    def _only(self, element: Element, key: str) -> Optional[Element]:
        """Return the element of a reference; None if there is none or several."""
        found = self.by_id.get(element.get(key, '').lstrip('#'), [])
        return found[0] if len(found) == 1 else None

    def _node(
        self, node: Element, placement: FloatArray, above: Tuple[Element, ...]
    ) -> Iterator[Triangles]:
        if any(node is each for each in above):
            raise ValueError(f'the node {node.get("id")!r} is an instance of itself')
        if len(above) > MAX_DEPTH:
            raise ValueError(f'nodes are nested more than {MAX_DEPTH} deep')
        self._visit()
        above = (*above, node)
        for child in node:
            placement = placement @ _transform(child)
        for child in node:
            if child.tag == 'node':
                yield from self._node(child, placement, above)
            elif child.tag == 'instance_node':
                yield from self._node(self._find(child), placement, above)
            elif child.tag == 'instance_geometry':
                self._visit()
                colors = {
                    bound.get('symbol', ''): self._color(bound)
                    for bound in child.iter('instance_material')
                }
                for vertices, corners, symbol in self._geometry(self._find(child)):
                    self._count(len(vertices), len(corners))
                    moved = vertices @ placement[:3, :3].T + placement[:3, 3]
                    yield Triangles(moved, corners, colors.get(symbol))

    def _visit(self) -> None:
        self._visits += 1
        if self._visits > MAX_INSTANCES:
            raise ValueError(f'it has more than {MAX_INSTANCES} instances of nodes')

    def _count(self, vertices: int, triangles: int) -> None:
        self._parts += 1
        self._vertices += vertices
        self._triangles += triangles
        if self._triangles > MAX_TRIANGLES or self._vertices > 3 * MAX_TRIANGLES:
            raise ValueError(f'with all instances it has more than {MAX_TRIANGLES} triangles')
        if self._parts > MAX_PARTS:
            raise ValueError(f'with all instances it has more than {MAX_PARTS} parts')

    def _geometry(self, geometry: Element) -> Iterator[Tuple[FloatArray, IntArray, str]]:
        mesh = geometry.find('mesh')
        if mesh is None:
            return
        inside = _ids(mesh)
        for group in mesh:
            if group.tag not in ('triangles', 'polylist', 'polygons'):
                continue
            inputs = group.findall('input')
            stride = 1 + max((int(one.get('offset', '0')) for one in inputs), default=0)
            place = next((one for one in inputs if one.get('semantic') == 'VERTEX'), None)
            vertices = self._positions(self._find(place, 'source', inside), inside)
            offset = int('0' if place is None else place.get('offset', '0'))
            rings = [_integers(p)[offset::stride] for p in group.findall('p')]
            if group.tag == 'polylist':
                indices = np.concatenate(rings) if rings else np.zeros(0, dtype=np.int64)
                corners = _fans(indices, _integers(group.find('vcount')))
            elif group.tag == 'polygons':
                lengths = np.array([len(ring) for ring in rings], dtype=np.int64)
                indices = np.concatenate(rings) if rings else np.zeros(0, dtype=np.int64)
                corners = _fans(indices, lengths)
            else:
                corners = np.concatenate([ring.reshape(-1, 3) for ring in rings] or [_EMPTY])
            yield vertices, corners, group.get('material', '')

    def _positions(self, vertices: Element, inside: _Ids) -> FloatArray:
        inputs = vertices.findall('input')
        place = next((one for one in inputs if one.get('semantic') == 'POSITION'), None)
        source = self._find(place, 'source', inside)
        accessor = source.find('technique_common/accessor')
        stride = 3 if accessor is None else int(accessor.get('stride', '3'))
        numbers: FloatArray = _numbers(source.findtext('float_array') or '', float)
        return numbers.reshape(-1, stride)[:, :3]

    def _color(self, bound: Element) -> Optional[Color]:
        """Return the diffuse color of a material; None for a texture or an ambiguous color."""
        material = self._only(bound, 'target')
        instance = None if material is None else material.find('instance_effect')
        effect = None if instance is None else self._only(instance, 'url')
        color = None if effect is None else effect.find('.//diffuse/color')
        words = [] if color is None else (color.text or '').split()
        if len(words) < 3:
            return None
        r, g, b = (min(max(float(x), 0.0), 1.0) for x in words[:3])
        # Programs do not agree on transparency.
        return (r, g, b, 1.0)


_EMPTY = np.zeros((0, 3), dtype=np.int64)


def _ids(root: Element) -> _Ids:
    """Return the elements that are in another one, by id."""
    found: _Ids = {}
    for element in root.iter():
        if element.get('id'):
            found.setdefault(element.get('id', ''), []).append(element)
    return found


def _numbers(text: str, kind: type) -> Any:
    """Return the numbers of a text, parsed in parts, since words take many times the memory."""
    parts: List[NDArray[Any]] = [np.zeros(0, dtype=kind)]
    start = 0
    while start < len(text):
        blank = _BLANK.search(text, start + _AT_ONCE)
        end = len(text) if blank is None else blank.start()
        parts.append(np.array(text[start:end].split(), dtype=kind))
        start = end
    return np.concatenate(parts)


def _integers(element: Optional[Element]) -> IntArray:
    numbers: IntArray = _numbers('' if element is None else element.text or '', np.int64)
    return numbers


def _fans(indices: IntArray, counts: IntArray) -> IntArray:
    """Return the triangles of polygons: each a fan about its first vertex."""
    if counts.sum() != len(indices):
        raise ValueError(f'{len(indices)} corners, but polygons with {counts.sum()}')
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]) if len(counts) else counts
    fans = [_EMPTY]
    for size in np.unique(counts):
        first = starts[counts == size]
        k = np.arange(1, max(size - 1, 1))[:, None]
        ring = np.stack(np.broadcast_arrays(first, first + k, first + k + 1), -1)
        fans.append(indices[ring].reshape(-1, 3))
    return np.concatenate(fans)


def _transform(element: Element) -> FloatArray:
    """Return the matrix of an element of a node, the identity for other elements."""
    matrix = np.eye(4)
    if element.tag not in ('matrix', 'translate', 'rotate', 'scale'):
        return matrix
    numbers = np.array((element.text or '').split(), dtype=float)
    if element.tag == 'matrix':
        return numbers.reshape(4, 4)
    if element.tag == 'translate':
        matrix[:3, 3] = numbers
    elif element.tag == 'scale':
        matrix[:3, :3] = np.diag(numbers)
    else:
        x, y, z, angle = numbers
        length = float(np.sqrt(x * x + y * y + z * z)) or 1.0
        x, y, z = x / length, y / length, z / length
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        turn = np.radians(angle)
        matrix[:3, :3] += np.sin(turn) * cross + (1.0 - np.cos(turn)) * cross @ cross
    return matrix
