"""Algorithms of rigid-body dynamics, one a file, each readable against the book's table.

Scalars are generic: floats, arrays of them, or symbols. A text works on tree coordinates or on
independent ones, as its declaration says (declaration.py, kinds.py). The folders are the chapters
of the book; a new algorithm is a file in one of them: `catalogue` finds it.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
import pkgutil
from typing import Dict

from rbd_ros.algorithms.declaration import Declaration, declaration_of


@lru_cache(maxsize=1)
def catalogue() -> Dict[str, Declaration]:
    """All algorithms declared in this package, by name.

    :raises TypeError: if two have one name
    """
    found: Dict[str, Declaration] = {}
    for module in pkgutil.walk_packages(__path__, f'{__name__}.'):
        for value in vars(import_module(module.name)).values():
            declared = declaration_of(value)
            if declared and found.setdefault(declared.name, declared) is not declared:
                raise TypeError(f'two algorithms are called {declared.name!r}')
    return found
