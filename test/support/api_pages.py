# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pages of the public API, docs/api/*.md, generated from docstrings by api_contents.py.

An example is the end of a docstring, with input and output. scripts/update_python_api writes the
pages, and test_api_examples.py runs the examples.
"""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
import inspect
from pathlib import Path
import pkgutil
import re
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple

from rbd_ros.algorithms.declaration import Declaration, declaration_of
from rbd_ros.robot.kernels import Compiled
from rbd_ros.robot.other_names import FOREIGN
from support import public_functions as reference
from support.api_contents import (
    ARM,
    FOLDERS_OF_PARTS,
    MODULES,
    MORE,
    NOT_FOR_USERS,
    PARTS_OF_ALGORITHMS,
    SETUPS,
    TITLES,
)

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / 'docs' / 'api'
ENTRY = ROOT / 'docs' / 'python_api.md'
COMING_FROM = ROOT / 'docs' / 'coming_from.md'


class Entry(NamedTuple):
    """A name on a page.

    :param call: call, as a user writes it
    :param path: module and qualified name
    :param value: function, property or class
    :param computed: algorithm of a compiled method
    :param owner: class that it is a member of
    """

    call: str
    path: str
    value: Any
    computed: Optional[reference.PublicFunction] = None
    owner: Optional[type] = None

    @property
    def text(self) -> str:
        """Docstring."""
        return inspect.getdoc(self.value) or ''

    @property
    def example(self) -> str:
        """Example: the end of the docstring, '' without one."""
        start = self.text.find('>>> ')
        return '' if start < 0 else self.text[start:].rstrip()

    @property
    def is_of_family(self) -> bool:
        """Whether it is a member of `Robot` or of a family."""
        module = '' if self.owner is None else self.owner.__module__
        return module.startswith('rbd_ros.robot.') or module.endswith('_family')

    @property
    def is_shown(self) -> bool:
        """Whether an example of its class uses it."""
        name = self.path.rpartition('.')[2]
        text = '' if self.owner is None else inspect.getdoc(self.owner) or ''
        return bool(re.search(rf'>>> .*[.]{name}\b', text)) and not self.computed


class Page:
    """A page: docs/api/<name>.md.

    :param name: its name
    """

    def __init__(self, name: str):
        self.name = name
        self.setup = SETUPS.get(name, ARM)
        self.title, self.summary = TITLES.get(name) or _title(name)

    @cached_property
    def entries(self) -> List[Entry]:
        """Public names of the page."""
        found = [*_of_family(self.name)]
        for module in MODULES.get(self.name, ()):
            found.extend(_of_module(import_module(module)))
        if self.name == 'algorithms':
            found.extend(_of_algorithms())
        return [entry for entry in found if entry.path not in NOT_FOR_USERS]

    def _is_mere_heading(self, entry: Entry) -> bool:
        """Return whether it is a class that is described by its members."""
        is_class = inspect.isclass(entry.value) and not entry.example
        return is_class and entry is not self.entries[0]

    @property
    def shown(self) -> int:
        """Number of examples."""
        return sum(1 for entry in self.entries if entry.example)

    @property
    def missing(self) -> List[Entry]:
        """Names without an example that should have one.

        One example of a class may be enough for its members; members of a family that are
        functions need
        their own.
        """
        found = [entry for entry in self.entries if not entry.example and not entry.is_shown]
        owners = {entry.owner for entry in self.entries}
        lacking = {e.owner for e in found if not (e.is_of_family and inspect.isfunction(e.value))}
        return [e for e in found if e.value not in owners or e.value in lacking]

    def help(self, entry: Entry) -> str:
        """Return what to do about a missing example."""
        names = re.findall(r'^(\w+(?:, \w+)*) = ', self.setup, re.MULTILINE)
        return (
            f'{entry.path} has no example. Put one at the end of its docstring, one to three '
            'lines with what they give, then run scripts/update_python_api. It may use the names '
            f'that docs/api/{self.name}.md begins with: {", ".join(names)}. (What a new page '
            'begins with is in test/support/api_contents.py, SETUPS.)\n\n'
            '    >>> robot.mass_matrix(q).shape\n    (6, 6)\n'
        )

    @property
    def text(self) -> str:
        """Text of the page, in Markdown."""
        parts = [
            f'# {self.title}',
            'Written by scripts/update_python_api. Conventions: [Python API](../python_api.md). '
            'Examples begin with',
            f'```python\n{self.setup}```',
        ]
        for entry in self.entries:
            shown = entry.example or entry.owner is None or entry in self.missing
            if shown and not self._is_mere_heading(entry):
                parts.extend(_section(entry))
                of_it = [x for x in self.entries if x.owner is entry.value]
                members = [x for x in of_it if x.is_shown and not x.example]
                if members:
                    parts.append(_table(members))
        return '\n\n'.join(parts) + '\n'


def pages() -> List[Page]:
    """Return all pages: the families in the order of `reference.HOMES`, then the rest."""
    families = [_family(home) for home, _ in reference.HOMES]
    return [Page(name) for name in dict.fromkeys([*families, *MODULES, 'algorithms'])]


def contents() -> str:
    """Return the table of the pages, for docs/python_api.md."""
    rows = [f'| [{p.title}](api/{p.name}.md) | {p.summary} |' for p in pages()]
    return '| page | what |\n|---|---|\n' + '\n'.join(rows) + '\n'


def _title(name: str) -> Tuple[str, str]:
    """Return the title and summary of the page of a family that has no other."""
    kinds = [kind for home, kind in reference.HOMES if _family(home) == name]
    return name.replace('_', ' ').capitalize(), (inspect.getdoc(kinds[0]) or '').partition('\n')[0]


def updated_entry(text: str) -> str:
    """Return the text of docs/python_api.md with a new table of the pages between its marks.

    :raises ValueError: if the marks are missing
    """
    start, end = '<!-- pages: written by scripts/update_python_api -->\n', '<!-- end -->\n'
    if start not in text or end not in text:
        raise ValueError(f'the page lacks the marks {start.strip()} and {end.strip()}')
    before, _, rest = text.partition(start)
    return before + start + contents() + end + rest.partition(end)[2]


def updated_names(text: str) -> str:
    """Return the page for users of other libraries with its present table of names.

    :param text: the page as it is
    """
    start, end = '<!-- names: written by scripts/update_python_api -->\n', '<!-- end -->\n'
    first, rest = text.split(start)
    rows = ['| there | here |', '|---|---|']
    for library in dict.fromkeys(each.library for each in FOREIGN):
        there: Dict[str, List[str]] = {}
        for each in FOREIGN:
            if each.library == library:
                there.setdefault(each.here, []).append(f'`{each.name}`')
        rows += [f'| **{library}** | |']
        rows += [
            f'| {", ".join(names)} | {", ".join(f"`{x}`" for x in here.split(", "))} |'
            for here, names in there.items()
        ]
    return first + start + '\n'.join(rows) + '\n' + end + rest.split(end, 1)[1]


def found(path: str) -> Any:
    """Return the object with a module and a qualified name, 'package.module:Class.method'.

    :raises AttributeError: without such an object
    """
    module, _, name = path.partition(':')
    value: Any = import_module(module)
    for part in name.split('.'):
        value = getattr(value, part)
    return value


def _section(entry: Entry) -> Iterator[str]:
    yield f'## `{entry.call}`'
    yield _summary(entry)
    if entry.computed:
        yield f'{entry.computed.results} ({entry.computed.algorithm.source})'
    if entry.example:
        yield f'```pycon\n{entry.example}\n```'


def _table(members: List[Entry]) -> str:
    """Return the table of the members that an example of a class shows."""
    rows = [f'| `{member.call}` | {_summary(member)} |' for member in members]
    return '| name | what |\n|---|---|\n' + '\n'.join(rows)


def _summary(entry: Entry) -> str:
    """Return the first sentence of its docstring."""
    return _flow(entry.text.partition('>>> ')[0].partition('\n\n')[0])


def _flow(text: str) -> str:
    return ' '.join(text.split())


def _family(home: str) -> str:
    return re.match(r'\w*', home).group() or 'robot'


def _of_family(name: str) -> Iterator[Entry]:
    computed = {f.method: f for f in reference.public_functions()}
    objects = [(home, kind) for home, kind in reference.HOMES if _family(home) == name]
    for path in MORE.get(name, ()):
        kind = found(path)
        if kind.__name__.endswith('Functions'):
            objects.insert(0, (f'{name}.', kind))
        else:
            objects.append(('', kind))
    for home, kind in objects:
        shown = f'robot.{home}' if home or kind is dict(reference.HOMES)[''] else ''
        yield from of_class(kind, shown, computed)


def of_class(kind: type, home: str, computed: Mapping[Any, Any] = {}) -> Iterator[Entry]:
    """Yield a class and its public members.

    :param kind: the class
    :param home: expression for an object of it, such as 'robot.loops.'; '' for its name
    :param computed: algorithms of its methods, by method
    """
    whole = Entry(
        home.rstrip('.') or kind.__name__, f'{kind.__module__}:{kind.__qualname__}', kind
    )
    members = [*_members(kind, home, computed)]
    if (
        members or whole.example or not issubclass(kind, tuple)
    ):  # a result is shown by its function
        yield whole
    yield from members


def _members(kind: type, home: str, computed: Mapping[Any, Any]) -> Iterator[Entry]:
    ours = [part for part in kind.__mro__ if part.__module__.startswith('rbd_ros.')]
    elsewhere = {module for modules in MODULES.values() for module in modules}
    parts = [kind, *(x for x in ours[1:] if x is not Compiled and x.__module__ not in elsewhere)]
    members: Dict[str, Any] = {}
    for part in reversed(parts):
        members.update(vars(part))
    made = [name for name, value in members.items() if isinstance(value, classmethod)]
    fields = getattr(kind, '_fields', ())
    for name in dict.fromkeys([*made, *members]):  # constructors first
        value = members[name]
        inner = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        is_property = isinstance(value, (property, cached_property))
        if (
            name.startswith('_')
            or name in fields
            or not (is_property or inspect.isfunction(inner))
        ):
            continue
        if is_property and name in {_family(home) for home, _ in reference.HOMES}:
            continue  # it has a separate page
        path = f'{kind.__module__}:{kind.__qualname__}.{name}'
        call = f'{kind.__name__ + "." if name in made or not home else home}{name}'
        if not is_property:
            call += _arguments(inner, skip=not isinstance(value, staticmethod))
        yield Entry(call, path, inner, computed.get(inner), kind)


def _arguments(function: Any, skip: bool) -> str:
    parameters = list(inspect.signature(function).parameters.values())[skip:]
    shown = []
    for x in parameters:
        star = {x.VAR_POSITIONAL: '*', x.VAR_KEYWORD: '**'}.get(x.kind, '')
        if x.name != 'out':
            plain = isinstance(x.default, (int, float, str, bool, type(None), tuple))
            default = '' if x.default is x.empty else f'={x.default!r}' if plain else '=...'
            shown.append(f'{star}{x.name}{default}')
    return f'({", ".join(shown)})'


def _of_module(module: Any) -> Iterator[Entry]:
    for name, value in vars(module).items():
        if name.startswith('_') or getattr(value, '__module__', None) != module.__name__:
            continue
        path = f'{module.__name__}:{name}'
        if path in NOT_FOR_USERS:
            continue
        if inspect.isclass(value) and not issubclass(value, Exception):
            yield from of_class(value, '')
        elif inspect.isfunction(value):
            yield Entry(name + _arguments(value, skip=False), path, value)


def _of_algorithms() -> Iterator[Entry]:
    """Yield the declared algorithms without a method, and all other objects with an example."""
    from rbd_ros import algorithms, textbook

    methods = {function.algorithm.name for function in reference.public_functions()}
    elsewhere = {module for modules in MODULES.values() for module in modules}
    for found in (*_files_of(algorithms), *_files_of(textbook)):
        if found.name in elsewhere or found.name.endswith('_family'):
            continue
        module = import_module(found.name)
        place = found.name.partition('.')[2]
        entries: List[Entry] = []
        covered = False
        for name, value in vars(module).items():
            declared = declaration_of(value)
            path = f'{found.name}:{name}'
            if isinstance(value, Declaration) or name.startswith('_'):
                covered = covered or isinstance(value, Declaration)
                continue
            if getattr(value, '__module__', None) != found.name or path in _SHOWN_ELSEWHERE:
                continue
            if declared and declared.name in methods:
                covered = True
                continue
            if not (inspect.isfunction(value) or inspect.isclass(value)):
                continue
            entry = Entry(_call(name, value, declared), path, value)
            if entry.example or declared:
                entries.append(entry)
        is_part = found.ispkg or place in PARTS_OF_ALGORITHMS or place.startswith(FOLDERS_OF_PARTS)
        if not (entries or covered or is_part):
            entries.append(Entry(place.partition('.')[2], found.name, module))
        yield from entries


def _files_of(package: Any) -> Iterator[pkgutil.ModuleInfo]:
    return pkgutil.walk_packages(package.__path__, f'{package.__name__}.')


_SHOWN_ELSEWHERE = {path for paths in MORE.values() for path in paths}


def _call(name: str, value: Any, declared: Optional[Declaration]) -> str:
    if declared is not None:
        return f"robot.kernel('{declared.name}')"
    return name if inspect.isclass(value) else name + _arguments(value, skip=False)
