# SPDX-License-Identifier: Apache-2.0
"""Colors of shapes: materials by name anywhere in the file, or given with the shape."""

from __future__ import annotations

from typing import Dict, Optional
from xml.etree.ElementTree import Element

from rbd_ros.model.geometry import Color
from rbd_ros.model.urdf.schema import line_of
from rbd_ros.model.urdf.urdf_document import Node, quote


class Materials:
    """Colors of the materials of a document.

    :param root: the <robot> element; its materials are taken out of it
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
