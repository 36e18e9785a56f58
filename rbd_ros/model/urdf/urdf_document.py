# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Reading a URDF document, which may be hostile, into a small tree of the used elements.

Only the contents of `urdf_schema` are kept; vendor elements and unknown attributes are dropped. A
document must be plain XML with a <robot> root, of bounded size and depth and without a document
type definition; otherwise ModelError is raised.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Tuple, Union
from xml.etree import ElementTree
from xml.parsers import expat

from rbd_ros.bounded_files import FileRejectedError, MAX_TEXT, read_bytes
from rbd_ros.model.errors import ModelError
from rbd_ros.model.geometry import Color
from rbd_ros.model.urdf.schema import ElementRule, ROBOT

# Far above any robot's description, and far below the limits of memory and stack: a description
# may arrive on a topic from an untrusted sender.
MAX_BYTES = MAX_TEXT
MAX_ELEMENTS = 100_000
MAX_DEPTH = 64
_CHUNK = 1024 * 1024

Source = Union[str, bytes, 'os.PathLike[str]']


class Node(ElementTree.Element):
    """Element with its line, and its color if it is a shape with one."""

    line = 0
    color: Optional[Color] = None


class Document(NamedTuple):
    """A URDF document.

    :param root: the <robot> element with the elements of the schema only
    :param label: name of the document in messages
    :param directory: directory of the file, None for a string
    """

    root: Node
    label: str
    directory: Optional[str]


def quote(text: object, width: int = 80) -> str:
    """Return the text in quotes, shortened for a message."""
    text = str(text)
    return repr(
        text if len(text) <= width else f'{text[: width - 20]}... ({len(text)} characters)'
    )


def is_xacro(data: Union[str, bytes]) -> bool:
    """Return whether a document has xacro elements, or its namespace and expressions.

    Expanded documents may still declare the namespace.

    :param data: the document

    >>> from rbd_ros.model.urdf.urdf_document import is_xacro
    >>> is_xacro('<robot xmlns:xacro="http://wiki.ros.org/xacro"><xacro:include/></robot>')
    True
    >>> is_xacro('<robot xmlns:xacro="http://wiki.ros.org/xacro"><link name="a"/></robot>')
    False
    """
    if not ('xacro' in data if isinstance(data, str) else b'xacro' in data):
        return False
    found = declared = False

    def start(tag: str, attributes: Dict[str, str]) -> None:
        nonlocal found, declared
        declared |= 'xmlns:xacro' in attributes
        expressions = declared and any('${' in x or '$(' in x for x in attributes.values())
        found |= tag.startswith('xacro:') or expressions

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    try:
        parser.Parse(data.lstrip(), True)
    except (expat.ExpatError, UnicodeError, LookupError, ValueError):
        pass  # its reader reports the error
    return found


def urdf_of_file(path: str, package_paths: Iterable[Any] = ()) -> bytes:
    """Return the URDF of a file, which may be xacro.

    :param package_paths: directories that xacro searches first for packages
    :raises OSError: if it cannot be read
    :raises ModelError: see `expand_xacro`
    """
    data = read_bytes(path, MAX_TEXT)
    if not is_xacro(data):
        return data
    # Imported for xacro only: it runs in another process.
    from rbd_ros.model.urdf.xacro_expansion import expand_xacro

    return expand_xacro(path, package_paths=package_paths).encode()


def read_document(
    source: Source, package_paths: Iterable[Union[str, os.PathLike[str]]] = ()
) -> Document:
    """Return the reduced element tree of a URDF.

    :param source: path of a file, or the XML itself as text or bytes (recognized by its leading
        '<'); xacro is expanded
    :param package_paths: directories that xacro searches first for packages
    :raises ModelError: if it is not a readable URDF document
    """
    data, path = _content(source)
    label = 'XML string' if path is None else path
    directory = None if path is None else str(Path(path).resolve().parent)
    if is_xacro(data):
        # Imported for xacro only: it runs in another process.
        from rbd_ros.model.urdf.xacro_expansion import expand_xacro

        text = None if path is not None else data if isinstance(data, str) else data.decode()
        data = expand_xacro(path, text, package_paths=package_paths)
    return Document(_parse(data, label), label, directory)


def _content(source: Source) -> Tuple[Union[str, bytes], Optional[str]]:
    """Return the content of a source, and the path of its file; None for a text."""
    if isinstance(source, (bytes, bytearray)):
        return bytes(source), None
    if isinstance(source, str):
        if len(source) > MAX_BYTES:
            raise ModelError(_too_large('the description', len(source)))
        text = source.lstrip('\ufeff \t\r\n')
        if text.startswith('<'):
            return text, None
        if not text:
            raise ModelError(
                'the description is an empty string; give the path of a URDF file or its XML'
            )
        if len(source) > 4096 or '\n' in text:
            raise ModelError(
                f'the description {quote(source)} is neither XML (it does not start with "<") '
                'nor a path; give the path of a URDF file or its XML'
            )
    elif not isinstance(source, os.PathLike):
        raise ModelError(
            f'a description must be a path or an XML string, got {type(source).__name__}; give '
            'one of these'
        )
    return _read_file(source)


def _read_file(source: Union[str, os.PathLike[str]]) -> Tuple[bytes, str]:
    """Return the bytes of a file of bounded size, and its path as text."""
    path = os.fspath(source)
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    try:
        return read_bytes(path, MAX_BYTES), path
    except IsADirectoryError:
        raise ModelError(
            f'{quote(path, 200)} is a directory; give the path of a URDF file in it'
        ) from None
    except FileRejectedError as error:
        raise ModelError(f'cannot read {quote(path, 200)}: {error.strerror}') from None
    except FileNotFoundError:
        raise ModelError(
            f'there is no file {quote(path, 200)}; check the path '
            '(XML given as a string must start with "<")'
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or error
        raise ModelError(
            f'cannot read {quote(path, 200)}: {reason}; check the path and its permissions'
        ) from None


def _too_large(what: str, size: int) -> str:
    return (
        f'{what} has {size} bytes or more, more than the limit of {MAX_BYTES}; a URDF is far '
        'smaller: put meshes into separate files'
    )


def _parse(data: Union[str, bytes], label: str) -> Node:
    """Return the root element of a document, with the elements of the schema."""
    data = data.lstrip()  # blanks before an XML declaration are a common mistake
    if not data:
        raise ModelError(f'{label} is empty; give a URDF document with a <robot> element')
    if len(data) > MAX_BYTES:
        raise ModelError(_too_large(label, len(data)))
    builder = _Builder(label)
    try:
        for start in range(0, len(data), _CHUNK):
            builder.parser.Parse(data[start : start + _CHUNK], False)
        builder.parser.Parse(data[:0], True)
    except expat.ExpatError as error:
        raise ModelError(_expat_message(error, label, builder)) from None
    except UnicodeEncodeError as error:
        raise ModelError(
            f'{label} holds an invalid character at position {error.start}; save it as UTF-8'
        ) from None
    except (LookupError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f'{label}: unusable encoding ({error}); save it as UTF-8') from None
    if builder.root is None:
        raise ModelError(f'{label} has no <robot> element; give a URDF document')
    return builder.root


def _expat_message(error: expat.ExpatError, label: str, builder: _Builder) -> str:
    reason = expat.errors.messages.get(error.code, str(error)) if error.code else str(error)
    where = f'{label}, line {error.lineno}, column {error.offset + 1}'
    if error.code == expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS] and builder.open_tags:
        return (
            f'{where}: the document ends{builder.inside()}; it seems to be truncated, '
            'get the whole file'
        )
    cure = 'correct the XML there'
    if 'unclosed' in reason or 'no element' in reason:
        cure = 'the document seems to be truncated, get the whole file'
    elif 'token' in reason or 'encoding' in reason:
        cure = 'correct the XML there and save the file as UTF-8 without control characters'
    elif 'undefined entity' in reason:
        cure = 'entities are not supported in a URDF; write the text itself'
    return f'{where}: XML error{builder.inside()}: {reason}; {cure}'


class _Builder:
    """Handlers that keep the elements of the schema and reject dangerous content."""

    def __init__(self, label: str):
        self.label = label
        self.root: Optional[Node] = None
        self.open_tags: List[str] = []
        self._kept: List[Tuple[Node, ElementRule]] = []  # open elements that are kept
        self._skipped = 0  # depth below the outermost open element that is dropped
        self._elements = 0
        self.parser = parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._entity
        # External subsets are never fetched.
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def _where(self) -> str:
        return f'{self.label}, line {self.parser.CurrentLineNumber}'

    def inside(self) -> str:
        """Return the innermost open element, with its link or joint, for a message."""
        if not self.open_tags:
            return ''
        owner = ''
        if len(self._kept) > 1:
            node = self._kept[1][0]
            owner = f' of {node.tag} {quote(node.get("name"))}' if node.get('name') else ''
        return f' inside <{quote(self.open_tags[-1], 60)[1:-1]}>{owner}'

    def _doctype(self, name: str, *details: object) -> None:
        raise ModelError(
            f'{self._where()}: <!DOCTYPE {quote(name, 60)[1:-1]}> is rejected, since document '
            'types and entities can read files and exhaust memory; remove it and write entities '
            'out'
        )

    def _entity(self, name: str, *details: object) -> None:
        raise ModelError(f'{self._where()}: entity {quote(name)} is rejected; write its text out')

    def _start(self, tag: str, attributes: Dict[str, str]) -> None:
        self._elements += 1
        if self._elements > MAX_ELEMENTS:
            raise ModelError(
                f'{self._where()}: more than {MAX_ELEMENTS} elements; '
                'no robot has that many, check the file'
            )
        if len(self.open_tags) >= MAX_DEPTH:
            raise ModelError(
                f'{self._where()}: elements nested deeper than {MAX_DEPTH} '
                f'(in <{quote(tag, 60)[1:-1]}>); a URDF needs five levels, check the file'
            )
        self.open_tags.append(tag)
        if self._skipped:
            self._skipped += 1
        elif self.root is None:
            self._check_root(tag)
            self.root = self._keep(tag, attributes, ROBOT)
        else:
            parent, rule = self._kept[-1]
            child = rule.children.get(tag)
            if child is not None:
                parent.append(self._keep(tag, attributes, child.rule))
                return
            if rule.keeps_unknown:
                parent.append(self._keep(tag, {}, _NOTHING))
                return
            self._skipped = 1

    def _end(self, tag: str) -> None:
        self.open_tags.pop()
        if self._skipped:
            self._skipped -= 1
        else:
            self._kept.pop()

    def _keep(self, tag: str, attributes: Dict[str, str], rule: ElementRule) -> Node:
        kept = {}
        for name, value in attributes.items():
            if name in rule.attributes:
                if '${' in value or '$(' in value:
                    raise ModelError(
                        f'{self._where()}: {name}={quote(value)}{self.inside()} is an unexpanded '
                        'xacro expression; run xacro first (xacro robot.urdf.xacro > robot.urdf)'
                    )
                kept[name] = value
        node = Node(tag, kept)
        node.line = self.parser.CurrentLineNumber
        self._kept.append((node, rule))
        return node

    def _check_root(self, tag: str) -> None:
        if tag == 'robot':
            return
        cures = {
            'sdf': 'this is SDF; convert it to URDF',
            'mujoco': 'this is a MuJoCo model; convert it to URDF',
            'html': 'this is a web page; download the raw file',
            'COLLADA': 'this is a mesh; give the URDF that refers to it',
        }
        cure = cures.get(tag, 'give a URDF document, whose root element is <robot>')
        raise ModelError(
            f'{self._where()}: the root element is <{quote(tag, 60)[1:-1]}>, not <robot>; {cure}'
        )


_NOTHING = ElementRule()
