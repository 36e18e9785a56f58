# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""An extension or armature file as mappings, lists and scalars with their lines.

A YAML file is composed, never constructed, so that it cannot create objects; a Python mapping
gives the same structure without lines. Size, depth and number of entries are bounded.
"""

from __future__ import annotations

from dataclasses import dataclass
import os
from typing import Any, Dict, Mapping, Sequence, Union

import yaml

from rbd_ros.bounded_files import FileRejectedError, read_text
from rbd_ros.model.bounded_yaml import BoundedDepth
from rbd_ros.model.errors import ModelError
from rbd_ros.model.urdf.schema import shorten

MAX_BYTES = 1024 * 1024
MAX_ENTRIES = 20_000
#: For a Python mapping, which has no aliases and needs no parsing.
MAX_PYTHON_ENTRIES = 1_000_000
MAX_DEPTH = 16

#: Source of an extension: path of a YAML file, or its content.
Source = Union[str, 'os.PathLike[str]', Mapping[str, Any]]

_TAGS = {f'tag:yaml.org,2002:{name}': name for name in ('bool', 'float', 'int', 'null')}
#: Text for files that are not text, and the cure.
_UNREADABLE, _READABLE = 'an unreadable', 'give a YAML file in UTF-8'
#: Tags of names: texts, and booleans such as `off`, which are texts where a name is expected.
_NAMES = ('tag:yaml.org,2002:str', 'tag:yaml.org,2002:bool')
_TRUE, _FALSE = ('true', 'yes', 'on'), ('false', 'no', 'off')
_ADMITTED = (*_TAGS, *(f'tag:yaml.org,2002:{name}' for name in ('str', 'map', 'seq', 'timestamp')))


@dataclass(frozen=True)
class Item:
    """A value of an extension.

    :param value: dict of items by name, list of items, or a scalar: a number, bool, None or str
    :param line: line of the file, 0 if there is no file
    :param lines: lines of the names of a mapping
    :param word: text of a boolean, which may be a name: YAML 1.1 reads `on` as one
    """

    value: Any
    line: int = 0
    lines: Mapping[str, int] = ()  # type: ignore[assignment]
    word: str = ''


@dataclass(frozen=True)
class Document:
    """The outermost mapping of an extension.

    :param label: name of the document in messages
    :param item: the mapping
    """

    label: str
    item: Item

    def where(self, line: int) -> str:
        """Return the label, and the line if there is one."""
        return f'{self.label}: line {line}' if line else self.label


def read_document(
    source: Source,
    kind: str = 'extension',
    example: str = 'loops: {...}',
    empty: bool = True,
    page: str = 'docs/extension.md',
) -> Document:
    """Read an extension from a file or a mapping.

    :param kind: kind of document in messages
    :param example: example of its content
    :param empty: whether it may be empty
    :param page: page that describes it
    :raises ModelError: for a file that cannot be read, is not YAML, or is too large
    """
    if isinstance(source, Mapping):
        document = Document(kind, _Converter(kind).item(source))
    elif isinstance(source, (str, os.PathLike)):
        label = f'{kind} file {shorten(os.fspath(source), 200)}'
        document = Document(label, _read_file(source, label))
    else:
        raise ModelError(
            f'{kind}: expected a mapping or the path of a YAML file, got '
            f'{type(source).__name__}; see {page}'
        )
    if document.item.value is None and empty:
        return Document(document.label, Item({}, 0, {}))
    if not isinstance(document.item.value, dict):
        raise _no_mapping(document, example, page)
    return document


def parse_document(
    text: str,
    kind: str,
    example: str = 'loops: {...}',
    page: str = 'docs/extension.md',
    key_of_list: str = '',
) -> Document:
    """Read the text of an extension file.

    :param text: YAML
    :param kind: kind of document in messages
    :param example: example of its content
    :param page: page that describes it
    :param key_of_list: key for a list at the top; empty: it is rejected
    :raises ModelError: as `read_document`
    """
    if len(text) > MAX_BYTES:
        raise ModelError(f'{kind}: larger than {MAX_BYTES} bytes; give one entry for each element')
    item = _parsed(text, kind)
    if key_of_list and isinstance(item.value, list):
        item = Item({key_of_list: item}, item.line, {key_of_list: item.line})
    document = Document(kind, item)
    if not isinstance(document.item.value, dict):
        raise _no_mapping(document, example, page)
    return document


def _no_mapping(document: Document, example: str, page: str) -> ModelError:
    where = document.where(document.item.line)
    return ModelError(f'{where}: expected a mapping such as "{example}" at the top; see {page}')


# -- Python mappings


class _Converter:
    """Converter of Python values to items, with the limits of a file."""

    def __init__(self, label: str):
        self.label, self.entries = label, 0

    def item(self, value: Any, depth: int = 0) -> Item:
        self.entries += 1
        if depth > MAX_DEPTH or self.entries > MAX_PYTHON_ENTRIES:
            raise ModelError(
                f'{self.label}: too deep or too long; give one entry for each element'
            )
        if isinstance(value, Mapping):
            wrong = next((key for key in value if not isinstance(key, str)), None)
            if wrong is not None:
                raise ModelError(
                    f'{self.label}: {shorten(str(wrong))} is not a name; put names in quotes'
                )
            inside = {key: self.item(each, depth + 1) for key, each in value.items()}
            return Item(inside, 0, dict.fromkeys(inside, 0))
        if hasattr(value, 'tolist'):  # numbers and arrays of NumPy
            value = value.tolist()
        if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
            return Item([self.item(each, depth + 1) for each in value])
        return Item(value)


# -- files


class _Loader(BoundedDepth, yaml.SafeLoader):
    """Composer that rejects aliases, deep nesting and too many entries.

    Aliases are not needed, and a few of them can expand a short file to gigabytes.
    """

    deepest = MAX_DEPTH
    entries = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem='aliases are not supported', problem_mark=mark)
        self.entries += 1
        if self.entries > MAX_ENTRIES:
            raise yaml.MarkedYAMLError(
                problem=f'there are more than {MAX_ENTRIES} entries', problem_mark=mark
            )
        return super().compose_node(parent, index)


def _read_file(path: Union[str, os.PathLike[str]], label: str) -> Item:
    try:
        text = read_text(path, MAX_BYTES)
    except FileNotFoundError:
        raise ModelError(f'{label}: there is no such file; check the path') from None
    except IsADirectoryError:
        raise ModelError(f'{label}: it is a folder; give a file') from None
    except FileRejectedError as error:
        raise ModelError(f'{label}: {error.strerror}') from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b'\n') + 1
        raise ModelError(f'{label}: line {line}: {_UNREADABLE} byte; {_READABLE}') from None
    except (OSError, ValueError) as error:
        reason = ' '.join(str(error).split()) or type(error).__name__
        raise ModelError(f'{label}: {shorten(reason, 200)[1:-1]}; {_READABLE}') from None
    return _parsed(text, label)


def _parsed(text: str, label: str) -> Item:
    try:
        return _item(yaml.compose(text, _Loader), label)
    except ModelError:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f': line {mark.line + 1}' if mark is not None else ''
        reason = shorten(' '.join(str(error.problem or error.context).split()), 200)[1:-1]
        raise ModelError(f'{label}{line}: {reason}; correct the YAML there') from None
    except yaml.reader.ReaderError as error:
        number = text[: error.position].count('\n') + 1
        raise ModelError(f'{label}: line {number}: {_UNREADABLE} character; {_READABLE}') from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        reason = ' '.join(str(error).split()) or type(error).__name__
        raise ModelError(f'{label}: {shorten(reason, 200)[1:-1]}; {_READABLE}') from None


def _item(node: Any, label: str) -> Item:
    if node is None:
        return Item(None)
    line = node.start_mark.line + 1
    if node.tag not in _ADMITTED:
        raise ModelError(
            f'{label}: line {line}: {shorten(node.tag)} is not supported; write plain names, '
            'numbers, lists and mappings'
        )
    if isinstance(node, yaml.MappingNode):
        inside: Dict[str, Item] = {}
        lines: Dict[str, int] = {}
        for key, value in node.value:
            at = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode) or key.tag not in _NAMES:
                shown = key.value if isinstance(key, yaml.ScalarNode) else 'a list or mapping'
                raise ModelError(
                    f'{label}: line {at}: {shorten(str(shown))} is not a name; put names that '
                    'look like numbers in quotes'
                )
            if key.value in inside:
                raise ModelError(
                    f'{label}: line {at}: {shorten(key.value)} is given twice, first in line '
                    f'{lines[key.value]}; keep one'
                )
            inside[key.value], lines[key.value] = _item(value, label), at
        return Item(inside, line, lines)
    if isinstance(node, yaml.SequenceNode):
        return Item([_item(each, label) for each in node.value], line)
    value = _scalar(_TAGS.get(node.tag, 'str'), node.value)
    return Item(value, line, word=node.value if isinstance(value, bool) else '')


def _scalar(kind: str, text: str) -> Any:
    """Return the value of a plain scalar; numbers stay texts, parsed like those of a URDF."""
    if kind == 'null':
        return None
    if kind == 'bool' and text.lower() in (*_TRUE, *_FALSE):
        return text.lower() in _TRUE
    return Number(text) if kind in ('int', 'float') else text


class Number(str):
    """Text of an unquoted number in a file, which therefore is not a name."""
