# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""XML of bounded depth and length, without entities, whose expansion is unbounded."""

from __future__ import annotations

from typing import Any, Dict
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

MAX_DEPTH = 256


def parse_xml(data: bytes, max_elements: int) -> Element:
    """Return the root of a document; tags have no namespaces.

    :param data: the document
    :param max_elements: maximum number of elements
    :raises ValueError: if it is not XML, declares entities, or is too deep or too long

    >>> from rbd_ros.model.bounded_xml import parse_xml
    >>> [each.tag for each in parse_xml(b'<a xmlns="urn:x"><b/></a>', 10).iter()]
    ['a', 'b']
    """
    if b'\0' not in data[:4]:  # one byte per letter
        data = data.rstrip(b'\0 \t\r\n')  # some writers add a terminating NUL
    parser = expat.ParserCreate(namespace_separator='}')
    parser.buffer_text = True
    parser.buffer_size = 1 << 20
    builder = TreeBuilder()
    depth = count = 0

    def start(tag: str, attributes: Dict[str, str]) -> None:
        nonlocal depth, count
        depth, count = depth + 1, count + 1
        if depth > MAX_DEPTH:
            raise ValueError(f'elements are nested more than {MAX_DEPTH} deep')
        if count > max_elements:
            raise ValueError(f'it has more than {max_elements} elements')
        builder.start(
            tag.rpartition('}')[2],
            {name.rpartition('}')[2]: value for name, value in attributes.items()},
        )

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag.rpartition('}')[2])

    def entity(name: str, *details: Any) -> None:
        raise ValueError(f'it declares the entity {name[:80]!r}; write out its text')

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = entity
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise ValueError(f'not XML: {error}') from None
    except LookupError as error:  # an unknown encoding
        raise ValueError(f'not XML: {error}') from None
    root: Element = builder.close()
    return root
