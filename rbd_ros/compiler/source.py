# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Digest of source text: of modules and of all modules that they import.

In the key of a cache, it invalidates entries after an edit or an upgrade. For a name imported from
a package, only the module that defines it counts, not all imports of the package's `__init__`.
"""

from __future__ import annotations

from functools import lru_cache
import hashlib
import inspect
import marshal
from pathlib import Path
import re
from typing import Any, Dict, Iterable, List, Optional, Set, Tuple

_PACKAGE = __name__.partition('.')[0]
_ROOT = Path(__file__).resolve().parents[1]
# Regular expressions, as each first call waits for this: a parser takes far longer. Imports for
# type checkers have no effect at run time; those of a package show the modules of names that it
# loads on first use.
_FOR_TYPES = re.compile(r'^if TYPE_CHECKING:\n(?:[ \t].*\n|\n)+', re.MULTILINE)
_IMPORT = re.compile(
    rf'^[ \t]*from[ \t]+({_PACKAGE}(?:\.\w+)*)[ \t]+import[ \t]+(?:\(([^)]*)\)|(.+))$',
    re.MULTILINE,
)


def source_digest(*roots: Any) -> str:
    """Return the digest of the source of functions, classes and modules with dependencies.

    :param roots: functions and classes, from anywhere, or names of modules of this package
    """
    modules: Set[str] = set()
    foreign: Dict[str, str] = {}
    for root in roots:
        if isinstance(root, str):
            modules.add(root)
        elif root.__module__.partition('.')[0] == _PACKAGE:
            modules.add(root.__module__)
        else:
            # A user's algorithm: its file counts, and its imports from this package.
            text, foreign[f'{root.__module__}.{root.__qualname__}'] = _foreign(root)
            modules.update(_homes(text))
    return _digest(frozenset(modules), tuple(sorted(foreign.items())))


@lru_cache(maxsize=None)
def _digest(modules: Iterable[str], more: Iterable[Tuple[str, str]]) -> str:
    digest = hashlib.sha256(repr(more).encode())
    for name in sorted(closure(modules)):
        # Whole files, docstrings included: fast, and recompilation takes a second.
        digest.update(name.encode() + b'\0' + _text(name).encode() + b'\0')
    return digest.hexdigest()


def closure(modules: Iterable[str]) -> Set[str]:
    """Return the names of the package's modules that some depend on, themselves included."""
    found: Set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(_homes(_text(name)))
    return found


def _homes(text: str) -> List[str]:
    """Return the modules that define the names that a text imports from this package."""
    return [_home(source, name) for source, name, _ in _imports(text)]


@lru_cache(maxsize=None)
def _home(source: str, name: str) -> str:
    # `from package import module`
    if _path(f'{source}.{name}') is not None:
        return f'{source}.{name}'
    for other, original, alias in _imports(_text(source), for_types=True):
        # A package re-exports names of its modules; imports of a module are not imported from it.
        if alias == name:
            return _home(other, original)
    return source


@lru_cache(maxsize=None)
def _imports(text: str, for_types: bool = False) -> Tuple[Tuple[str, str, str], ...]:
    """Return module, name there and local name of all imports from this package."""
    found = []
    for source, several, one in _IMPORT.findall(text if for_types else _FOR_TYPES.sub('', text)):
        for item in re.sub('#.*', '', several or one).split(','):
            name, _, alias = (part.strip() for part in item.partition(' as '))
            if name:
                found.append((source, name, alias or name))
    return tuple(found)


@lru_cache(maxsize=None)
def _text(module: str) -> str:
    path = _path(module)
    return '' if path is None else path.read_text(encoding='utf-8')


@lru_cache(maxsize=None)
def _path(module: str) -> Optional[Path]:
    base = _ROOT.joinpath(*module.split('.')[1:])
    for path in (base.with_suffix('.py'), base / '__init__.py'):
        if path.is_file():
            return path
    return None


@lru_cache(maxsize=None)
def _foreign(value: Any) -> Tuple[str, str]:
    """Return the source of a function or class from elsewhere, and a digest, else of its code."""
    try:
        text = Path(inspect.getfile(value)).read_text(encoding='utf-8')
        return text, hashlib.sha256(text.encode()).hexdigest()
    except (OSError, TypeError):  # typed into an interpreter: no file
        functions = [value, *(f for _, f in sorted(vars(value).items()))]
        codes = [marshal.dumps(f.__code__) for f in functions if hasattr(f, '__code__')]
        return '', hashlib.sha256(b''.join(codes)).hexdigest()
