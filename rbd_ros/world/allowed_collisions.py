# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Allowed-collision matrix: the pairs of a robot's links that are never tested for contact.

Links that a joint connects overlap there, and links that are fixed to each other cannot separate.
An SRDF names further pairs, which always or never touch.
"""

from __future__ import annotations

from itertools import combinations
import os
from typing import Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Set, Tuple, Union
from xml.parsers import expat

from rbd_ros.bounded_files import FileRejectedError, MAX_TEXT, read_bytes
from rbd_ros.model import Model, ModelError
from rbd_ros.model.errors import unknown_name
from rbd_ros.model.urdf.schema import shorten

#: A pair of links, in alphabetical order.
LinkPair = Tuple[str, str]

MAX_BYTES = MAX_TEXT

_LINKS = {
    'disable_collisions': ('link1', 'link2'),
    'enable_collisions': ('link1', 'link2'),
    'disable_default_collisions': ('link',),
}


class SrdfError(ModelError):
    """An unusable SRDF; the message names file, line and cure."""


class Entry(NamedTuple):
    """An SRDF element about collisions.

    :param kind: name of the element
    :param links: its links, one or two
    :param line: line of the file
    """

    kind: str
    links: Tuple[str, ...]
    line: int


def allowed_pairs(
    model: Model, srdf: Optional[Union[str, os.PathLike[str]]] = None
) -> FrozenSet[LinkPair]:
    """Return the pairs of links that may overlap, and are not tested for contact.

    These are the links of one body, those of two connected bodies (`connected_bodies`), and those
    of an SRDF: `disable_collisions` adds a pair, `disable_default_collisions` all pairs of a link,
    `enable_collisions` removes a pair.

    :param model: system model
    :param srdf: path of an SRDF file, or its XML; None: none
    :return: pairs of link names, each in alphabetical order
    :raises SrdfError: with file, line and cure

    >>> from rbd_ros.world import allowed_pairs
    >>> pairs = allowed_pairs(robot.model)
    >>> ('forearm_link', 'upper_arm_link') in pairs, ('base_link', 'forearm_link') in pairs
    (True, False)
    """
    on_body: Dict[int, List[str]] = {}
    for name, link in model.links.items():
        on_body.setdefault(link.body, []).append(name)
    pairs: Set[LinkPair] = set()
    for names in on_body.values():
        # Links of one body do not move relative to each other.
        pairs.update(_pair(*two) for two in combinations(names, 2))
    for i, j in connected_bodies(model):
        pairs.update(_pair(a, b) for a in on_body.get(i, ()) for b in on_body.get(j, ()))
    if srdf is None:
        return frozenset(pairs)
    # `enable_collisions` is an exception to the others, so it is applied last.
    label, entries = read_srdf(srdf)
    enabled: Set[LinkPair] = set()
    for entry in entries:
        for named in entry.links:
            if named not in model.links:
                raise SrdfError(
                    f'{label}: line {entry.line}: <{entry.kind}>: '
                    + unknown_name('link', named[:80], model.links)
                )
        # `disable_default_collisions`: with all links of the robot.
        if len(entry.links) == 1:
            pairs.update(_pair(entry.links[0], b) for b in model.links if b != entry.links[0])
        elif entry.links[0] == entry.links[1]:
            raise SrdfError(
                f'{label}: line {entry.line}: <{entry.kind}>: both links are '
                f'{shorten(entry.links[0])}; name two different ones'
            )
        elif entry.kind == 'disable_collisions':
            pairs.add(_pair(*entry.links))
        else:
            enabled.add(_pair(*entry.links))
    return frozenset(pairs - enabled)


def connected_bodies(model: Model) -> Set[Tuple[int, int]]:
    """Return the pairs of bodies that joints, loop joints or intermediate bodies connect.

    Intermediate bodies have no collision shapes (MoveIt's rule), or no mass, as in a universal
    joint. The world connects nothing.

    :param model: system model
    :return: pairs of numbers of bodies, the smaller first; 0 is the world
    """
    joints = [(i, body.parent) for i, body in model.outward()]
    joints += [(loop.predecessor.body, loop.successor.body) for loop in model.loops]
    # Graph of bodies, with an edge for each joint.
    near: Dict[int, Set[int]] = {}
    for i, j in joints:
        near.setdefault(i, set()).add(j)
        near.setdefault(j, set()).add(i)
    shaped = {each.body for each in model.geometries if each.role == 'collision'}
    heavy = {i for i, body in model.outward() if body.inertia.mass != 0.0}
    # A robot without any masses has unknown masses.
    between = {i for i in near if i and (i not in shaped or (heavy and i not in heavy))}
    found: Set[Tuple[int, int]] = set()
    for i in near:
        reached, border = {i}, [i]
        # Only bodies in `between` are passed; the first body beyond them is included.
        while border:
            for j in near[border.pop()] - reached:
                reached.add(j)
                if j in between:
                    border.append(j)
        found.update((i, j) for j in reached if i < j)
    return found


def enabled_pairs(srdf: Union[str, os.PathLike[str]]) -> FrozenSet[LinkPair]:
    """Return the pairs of links of `enable_collisions` in an SRDF.

    :param srdf: path of an SRDF file, or its XML
    :raises SrdfError: if it cannot be read, or an entry lacks a link
    """
    _, entries = read_srdf(srdf)
    return frozenset(_pair(*each.links) for each in entries if each.kind == 'enable_collisions')


def _pair(a: str, b: str) -> LinkPair:
    # Pairs have no order: a normal form makes them comparable.
    return (a, b) if a <= b else (b, a)


def read_srdf(source: Union[str, os.PathLike[str]]) -> Tuple[str, List[Entry]]:
    """Read the collision entries of an SRDF; groups, states and all else are ignored.

    :param source: path of the file, or its XML, which begins with '<'
    :return: name of the file in messages, and the entries in order
    :raises SrdfError: if it cannot be read, or an entry lacks a link
    """
    label, elements = srdf_elements(source)
    entries: List[Entry] = []
    for element in elements:
        # Other elements belong to MoveIt (groups, end effectors) and are valid.
        if len(element.path) != 1 or element.path[0] not in _LINKS:
            continue
        (tag,) = element.path
        for name in _LINKS[tag]:
            if not element.attributes.get(name):
                raise SrdfError(
                    f'{label}: line {element.line}: <{tag}> has no {name}; add {name}="name of a '
                    'link"'
                )
        links = tuple(element.attributes[name] for name in _LINKS[tag])
        entries.append(Entry(tag, links, element.line))
    return label, entries


class Element(NamedTuple):
    """An element of an SRDF.

    :param path: names of its ancestors without the root, and its own
    :param line: line of the file
    """

    path: Tuple[str, ...]
    attributes: Dict[str, str]
    line: int


def srdf_elements(source: Union[str, os.PathLike[str]]) -> Tuple[str, List[Element]]:
    """Read all elements of an SRDF in order.

    :param source: path of the file, or its XML, which begins with '<'
    :return: name of the file in messages, and the elements
    :raises SrdfError: if it cannot be read
    """
    label, data = _read(source)
    elements: List[Element] = []
    open_tags: List[str] = []
    parser = expat.ParserCreate()

    def where() -> str:
        return f'{label}: line {parser.CurrentLineNumber}'

    def start(tag: str, attributes: Mapping[str, str]) -> None:
        # Another XML document, such as SDF, would be read as an SRDF without entries.
        if not open_tags and tag != 'robot':
            raise SrdfError(
                f'{where()}: the root element is <{shorten(tag)[1:-1]}>; an SRDF must have <robot>'
            )
        open_tags.append(tag)
        if len(open_tags) > 1:
            line = parser.CurrentLineNumber
            elements.append(Element(tuple(open_tags[1:]), dict(attributes), line))

    def end(tag: str) -> None:
        open_tags.pop()

    def reject_doctype(*details: object) -> None:
        raise SrdfError(f'{where()}: document types are not supported; remove it')

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    # Entities can expand without bound; rejecting the doctype rejects their declarations.
    parser.StartDoctypeDeclHandler = reject_doctype
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        reason = expat.errors.messages.get(error.code, '') or str(error)
        raise SrdfError(f'{label}: line {error.lineno}: {reason}; correct the XML there') from None
    except (LookupError, UnicodeError) as error:
        raise SrdfError(f'{label}: unusable encoding ({error}); save it as UTF-8') from None
    return label, elements


def _read(source: Union[str, os.PathLike[str]]) -> Tuple[str, bytes]:
    # All XML begins with it, and no path does.
    if isinstance(source, str) and source.lstrip().startswith('<'):
        label, data = 'SRDF', source.strip().encode('utf-8', 'replace')
    else:
        label = f'SRDF file {shorten(os.fspath(source), 200)}'
        try:
            data = read_bytes(source, MAX_BYTES)
        except FileNotFoundError:
            raise SrdfError(f'{label}: there is no such file; check the path') from None
        except IsADirectoryError:
            raise SrdfError(f'{label}: it is a folder; give a file') from None
        except FileRejectedError as error:
            raise SrdfError(f'{label}: {error.strerror}') from None
        except (OSError, ValueError) as error:
            raise SrdfError(f'{label} cannot be read ({error}); check the path') from None
    if len(data) > MAX_BYTES:
        raise SrdfError(f'{label} is larger than {MAX_BYTES} bytes; remove what is not needed')
    return label, data
