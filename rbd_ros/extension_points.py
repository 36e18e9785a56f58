# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Things that declare themselves: in files of a folder of this package, or in other packages.

Another package declares a thing by an entry point (importlib.metadata) of a group such as
`rbd_ros.sensors`. It is loaded when its name is first requested.
"""

from __future__ import annotations

from importlib import import_module
import pkgutil
from types import ModuleType
from typing import Any, Iterator, List, Tuple


class ExtensionError(ValueError):
    """An entry point that cannot be used; the message names its package and the cure."""


def declared_in(package: ModuleType, base: type) -> Iterator[Any]:
    """Yield the subclasses and instances of a class that the files of a package define, by file.

    >>> from rbd_ros.extension_points import declared_in
    >>> from rbd_ros.model import joints
    >>> 'Revolute' in [kind.__name__ for kind in declared_in(joints, joints.JointType)]
    True
    """
    for each in sorted(pkgutil.iter_modules(package.__path__), key=lambda each: each.name):
        module = import_module(f'{package.__name__}.{each.name}')
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, base):
                if value is not base and value.__module__ == module.__name__:
                    yield value
            elif isinstance(value, base):
                yield value


def names_of(group: str) -> List[str]:
    """Return the names that other packages declare in a group of entry points."""
    return sorted({each.name for each in _entry_points(group)})


def load(group: str, name: str) -> Tuple[Any, str]:
    """Return the thing that another package declares by a name, and the package.

    :param group: group of entry points, such as 'rbd_ros.sensors'
    :param name: name of one, which `names_of` has
    :raises ExtensionError: if several packages declare it, or it cannot be imported
    """
    found = {_package(each): each for each in _entry_points(group) if each.name == name}
    if len(found) > 1:
        raise ExtensionError(
            f'{name!r} is in the entry points {group} of the packages '
            f'{" and ".join(sorted(found))}; uninstall all but one'
        )
    ((package, entry),) = found.items()
    try:
        return entry.load(), package
    except Exception as error:  # any exception of the other package
        raise ExtensionError(
            f'{name!r} of the package {package} cannot be imported from {entry.value} (entry '
            f'point of {group}): {type(error).__name__}: {error}; repair or uninstall it'
        ) from None


def module_of(group: str, name: str) -> str:
    """Return the module that a name in a group is imported from, without importing it."""
    return next((each.module for each in _entry_points(group) if each.name == name), '')


def _entry_points(group: str) -> Any:
    # Imported here: few processes ask, and it takes 30 ms.
    from importlib.metadata import entry_points

    return entry_points(group=group)


def _package(entry: Any) -> str:
    return f'{entry.dist.name} {entry.dist.version}' if entry.dist else 'unknown'
