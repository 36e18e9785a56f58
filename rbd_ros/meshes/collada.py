"""COLLADA (DAE) files: triangles of the scene with the diffuse colours of their materials."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, Iterator, List, Optional, Tuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from rbd_ros.meshes.triangles import FloatArray, IntArray, Triangles
from rbd_ros.model.geometry import Colour

_MAX_DEPTH = 64


def read_collada(path: Path) -> List[Triangles]:
    """Parts of the scene, in m.

    Axes are those of the file, as in RViz: <up_axis> turns nothing. Textures, skins, lights and
    cameras are left out.

    :raises ValueError: if the file is not COLLADA or is damaged
    """
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        raise ValueError(f'not XML: {error}') from error
    for element in root.iter():
        element.tag = element.tag.rpartition('}')[2]
    if root.tag != 'COLLADA':
        raise ValueError(f'<{root.tag}> is not <COLLADA>')
    return _Reader(root).parts()


class _Reader:
    def __init__(self, root: Element):
        self.root = root
        self.by_id: Dict[str, Element] = {}
        for element in root.iter():
            if element.get('id'):
                self.by_id.setdefault(element.get('id', ''), element)

    def parts(self) -> List[Triangles]:
        unit = self.root.find('asset/unit')
        metre = 1.0 if unit is None else float(unit.get('meter', '1'))
        start = np.diag([metre, metre, metre, 1.0])
        named = self.root.find('scene/instance_visual_scene')
        scene = self._find(named) if named is not None else self.root.find('.//visual_scene')
        if scene is None:
            raise ValueError('no scene')
        found: List[Triangles] = []
        for node in scene.findall('node'):
            found.extend(self._node(node, start, 0))
        return found

    def _find(self, element: Optional[Element], key: str = 'url') -> Element:
        name = '' if element is None else element.get(key, '')
        if name.lstrip('#') not in self.by_id:
            raise ValueError(f'{name!r} is not there')
        return self.by_id[name.lstrip('#')]

    def _node(self, node: Element, placement: FloatArray, depth: int) -> Iterator[Triangles]:
        if depth > _MAX_DEPTH:
            raise ValueError(f'nodes are nested more than {_MAX_DEPTH} deep')
        for child in node:
            placement = placement @ _transform(child)
        for child in node:
            if child.tag == 'node':
                yield from self._node(child, placement, depth + 1)
            elif child.tag == 'instance_node':
                yield from self._node(self._find(child), placement, depth + 1)
            elif child.tag == 'instance_geometry':
                colours = {
                    bound.get('symbol', ''): self._colour(bound)
                    for bound in child.iter('instance_material')
                }
                for vertices, corners, symbol in self._geometry(self._find(child)):
                    moved = vertices @ placement[:3, :3].T + placement[:3, 3]
                    yield Triangles(moved, corners, colours.get(symbol))

    def _geometry(self, geometry: Element) -> Iterator[Tuple[FloatArray, IntArray, str]]:
        mesh = geometry.find('mesh')
        for group in [] if mesh is None else mesh:
            if group.tag not in ('triangles', 'polylist', 'polygons'):
                continue
            inputs = group.findall('input')
            stride = 1 + max((int(one.get('offset', '0')) for one in inputs), default=0)
            place = next((one for one in inputs if one.get('semantic') == 'VERTEX'), None)
            vertices = self._positions(self._find(place, 'source'))
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

    def _positions(self, vertices: Element) -> FloatArray:
        inputs = vertices.findall('input')
        place = next((one for one in inputs if one.get('semantic') == 'POSITION'), None)
        source = self._find(place, 'source')
        accessor = source.find('technique_common/accessor')
        stride = 3 if accessor is None else int(accessor.get('stride', '3'))
        words = (source.findtext('float_array') or '').split()
        return np.array(words, dtype=float).reshape(-1, stride)[:, :3]

    def _colour(self, bound: Element) -> Optional[Colour]:
        """Diffuse colour of a material, None for a texture or none."""
        material = self.by_id.get(bound.get('target', '').lstrip('#'))
        instance = None if material is None else material.find('instance_effect')
        effect = None if instance is None else self._find(instance)
        color = None if effect is None else effect.find('.//diffuse/color')
        words = [] if color is None else (color.text or '').split()
        if len(words) < 3:
            return None
        r, g, b = (min(max(float(x), 0.0), 1.0) for x in words[:3])
        # What files say of transparency, no two programs agree on.
        return (r, g, b, 1.0)


_EMPTY = np.zeros((0, 3), dtype=np.int64)


def _integers(element: Optional[Element]) -> IntArray:
    words = '' if element is None else element.text or ''
    return np.array(words.split(), dtype=np.int64)


def _fans(indices: IntArray, counts: IntArray) -> IntArray:
    """Triangles of polygons: each a fan about its first vertex."""
    if counts.sum() != len(indices):
        raise ValueError(f'{len(indices)} corners in polygons of {counts.sum()}')
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]) if len(counts) else counts
    fans = [_EMPTY]
    for size in np.unique(counts):
        first = starts[counts == size]
        for k in range(1, size - 1):
            fans.append(np.stack([indices[first], indices[first + k], indices[first + k + 1]], 1))
    return np.concatenate(fans)


def _transform(element: Element) -> FloatArray:
    """Matrix of an element of a node, the identity for what moves nothing."""
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
