# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Algorithms of rigid-body dynamics, one a file, each readable against the book's table.

Scalars are generic: floats, arrays of them, or symbols. A function works on tree coordinates or on
independent ones, as its declaration says (declaration.py, kinds.py). The folders are the chapters
of the book; `catalog` finds any new file in them. rbd_ros.textbook has algorithms that the package
itself does not run; they are found by name as well.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from pathlib import Path
import re
from typing import Dict, Iterator, Optional, Tuple

from rbd_ros.algorithms.declaration import Declaration, declaration_of

#: Packages with algorithms, in the order in which they are searched.
_PACKAGES = (__name__, 'rbd_ros.textbook')
_NAMED = re.compile(r"^(?:@algorithm\(|\w+ = derivatives_of\(\s*\w+,)\s*'(\w+)'", re.MULTILINE)


@lru_cache(maxsize=1)
def catalog() -> Dict[str, Declaration]:
    """Return all algorithms, those of rbd_ros.textbook too, by name.

    :raises TypeError: if two have one name
    """
    found: Dict[str, Declaration] = {}
    for module, text in (each for package in _PACKAGES for each in _files(package)):
        for declared in _declared_in(module) if 'declaration' in text else ():
            if found.setdefault(declared.name, declared) is not declared:
                raise TypeError(f'two algorithms are called {declared.name!r}')
    return found


@lru_cache(maxsize=None)
def find(name: str) -> Optional[Declaration]:
    """Return the declaration of an algorithm, None if there is none of that name.

    Only the file that declares the name is imported: a process that needs five algorithms does not
    import a hundred.
    """
    for package in _PACKAGES:
        module = _modules_by_name(package).get(name)
        if module is not None:
            return next(each for each in _declared_in(module) if each.name == name)
    return catalog().get(name)


@lru_cache
def _modules_by_name(package: str) -> Dict[str, str]:
    """Return the modules of a package that declare algorithms, by the names of these."""
    return {name: module for module, text in _files(package) for name in _NAMED.findall(text)}


def _files(package: str) -> Iterator[Tuple[str, str]]:
    """Yield the name and source of each module below a package, without importing any."""
    for folder in import_module(package).__path__:
        for path in sorted(Path(folder).rglob('*.py')):
            parts = path.relative_to(folder).with_suffix('').parts
            yield '.'.join((package, *parts)).removesuffix('.__init__'), path.read_text('utf-8')


def _declared_in(module: str) -> Iterator[Declaration]:
    return filter(None, map(declaration_of, vars(import_module(module)).values()))
