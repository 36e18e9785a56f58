# SPDX-License-Identifier: Apache-2.0
"""Algorithms of rigid-body dynamics, one a file, each readable against the book's table.

Scalars are generic: floats, arrays of them, or symbols. A text works on tree coordinates or on
independent ones, as its declaration says (declaration.py, kinds.py). The folders are the chapters
of the book; a new algorithm is a file in one of them: `catalog` finds it. Algorithms that the
package itself does not run are in rbd_ros.textbook; they go by their names as well.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
import pkgutil
import re
from typing import Any, Dict, Iterator, List, Optional

from rbd_ros.algorithms.declaration import Declaration, declaration_of

#: Packages with algorithms, in the order in which they are searched.
_PACKAGES = (__name__, 'rbd_ros.textbook')

_found: Dict[str, Declaration] = {}
_QUOTED = re.compile(r"'(\w+)'")


@lru_cache(maxsize=1)
def catalog() -> Dict[str, Declaration]:
    """Return all algorithms, those of rbd_ros.textbook too, by name.

    :raises TypeError: if two have one name
    """
    found: Dict[str, Declaration] = {}
    for module in (each for package in _PACKAGES for each in _modules(package)):
        for declared in _declared_in(module) if 'declaration' in _source(module) else ():
            if found.setdefault(declared.name, declared) is not declared:
                raise TypeError(f'two algorithms are called {declared.name!r}')
    return found


def find(name: str) -> Optional[Declaration]:
    """Return the declaration of an algorithm, None if there is none of that name.

    Nothing is imported but the files that name it: a process that needs five algorithms does not
    wait for a hundred.
    """
    if name not in _found:
        if not any(name in _files_by_name(package) for package in _PACKAGES):
            _files_by_name.cache_clear()  # there may be a file that was not there before
        for package in _PACKAGES:
            for module in _files_by_name(package).get(name, ()):
                _found.update((each.name, each) for each in _declared_in(module))
            if name in _found:
                break
    return _found.get(name)


@lru_cache
def _files_by_name(package: str) -> Dict[str, List[str]]:
    """Return the modules of a package whose text has a word in quotes, by the word."""
    found: Dict[str, List[str]] = {}
    for module in _modules(package):
        for word in set(_QUOTED.findall(_source(module))):
            found.setdefault(word, []).append(module)
    return found


def _modules(package: str) -> Iterator[str]:
    path = import_module(package).__path__
    return (module.name for module in pkgutil.walk_packages(path, f'{package}.'))


def _declared_in(module: str) -> Iterator[Declaration]:
    return filter(None, map(declaration_of, vars(import_module(module)).values()))


def _source(module: str) -> str:
    spec = find_spec(module)
    loader: Any = spec and spec.loader
    return loader.get_source(module) or ''
