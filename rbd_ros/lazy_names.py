# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Names of a package that are imported at first access (PEP 562).

A process that needs three of a package's names does not wait for the files of the other thirty.
"""

from __future__ import annotations

from importlib import import_module
import re
import sys
from typing import Any, Callable, List, Tuple

_FOR_TYPES = re.compile(r'^if TYPE_CHECKING:\n((?: .*\n|\n)+)', re.MULTILINE)
_IMPORT = re.compile(r'^ +from (\S+) import (?:\(([^)]*)\)|(.+))$', re.MULTILINE)


def lazy_names(package: str) -> Tuple[Callable[[str], Any], Callable[[], List[str]]]:
    """Return the functions `__getattr__` and `__dir__` of a package.

    Its names are those that its text imports for type checkers, `if TYPE_CHECKING:`.

    :param package: name of the package, which calls it

    >>> import rbd_ros.world
    >>> rbd_ros.world.__getattr__('World').__module__
    'rbd_ros.world.world'
    """
    module = sys.modules[package]
    with open(str(module.__file__), encoding='utf-8') as file:  # pathlib takes long to import
        text = file.read()
    homes = {
        name.strip(): home
        for block in _FOR_TYPES.findall(text)
        for home, several, one in _IMPORT.findall(block)
        for name in (several or one).split(',')
        if name.strip()
    }

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f'module {package!r} has no attribute {name!r}')
        value = getattr(import_module(homes[name]), name)
        setattr(module, name, value)  # accessed once only
        return value

    def names() -> List[str]:
        return sorted({*vars(module), *homes})

    return get, names
