# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Python functions that create the controllers and plants of a scenario."""

from __future__ import annotations

from importlib import import_module
import importlib.util
from pathlib import Path
import pkgutil
from typing import Any, Callable, Dict, Generic, List, Mapping, Protocol, Tuple, TypeVar

from rbd_ros.extension_points import ExtensionError, load, module_of, names_of
from rbd_ros.model.errors import unknown_name
from rbd_ros.model.extension.extension_document import Item, Number
from rbd_ros.model.extension.fields import Field


class Factories:
    """Factories of one kind, given by 'module:name', 'path.py:name' or entry point.

    :param kind: kind of object that they create
    :param group: entry point group of other packages' factories
    """

    def __init__(self, kind: str, group: str):
        self._kind, self._group = kind, group

    def read(self, given: Field, folder: Path) -> str:
        """Return the name of a factory in a scenario, with an absolute path.

        :param folder: folder of the scenario
        :raises ModelError: if it is invalid
        """
        name = given.name()
        if ':' not in name and name in names_of(self._group):
            return name
        if name.count(':') != 1:
            known = ', '.join(names_of(self._group)) or 'none'
            raise given.error(
                f'give module:name, file.py:name, or a {self._kind} of an installed package '
                f'({self._group}: {known})'
            )
        module, attribute = name.split(':')
        return f'{(folder / module).resolve()}:{attribute}' if module.endswith('.py') else name

    def find(self, name: str) -> Callable[..., Any]:
        """Return the factory of a name.

        :raises ValueError: if it does not exist
        """
        module_name, _, attribute = name.rpartition(':')
        try:
            if not module_name:
                if name not in (known := names_of(self._group)):
                    raise ValueError(unknown_name(f'entry point of {self._group}', name, known))
                factory = load(self._group, name)[0]
            elif module_name.endswith('.py'):
                title = f'{self._kind}_under_test'
                spec = importlib.util.spec_from_file_location(title, module_name)
                if spec is None or spec.loader is None:
                    raise ImportError('it is not a Python file')
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
                factory = getattr(module, attribute)
            else:
                factory = getattr(import_module(module_name), attribute)
        except ExtensionError as error:
            raise ValueError(f'{self._kind} {error}') from None
        except Exception as error:  # a module may raise anything
            raise ValueError(
                f'{self._kind} {name}: {type(error).__name__}: {error}; give module:name or '
                'file.py:name'
            ) from None
        if not callable(factory):
            raise ValueError(f'{self._kind} {name} is not a function that creates a {self._kind}')
        return factory  # type: ignore[no-any-return]

    def make(self, name: str, *arguments: Any, **options: Any) -> Any:
        """Return the result of a factory.

        :raises ValueError: if it does not exist, or raises any exception
        """
        factory = self.find(name)
        try:
            return factory(*arguments, **options)
        except Exception as error:  # a function may raise anything
            raise ValueError(f'{self._kind} {name}: {type(error).__name__}: {error}') from None

    def files(self, name: str) -> List[str]:
        """Return the file of a factory, if known."""
        module = name.rpartition(':')[0] or module_of(self._group, name)
        if module.endswith('.py'):
            return [module]
        try:
            spec = importlib.util.find_spec(module)
        except Exception:  # `make` reports the error
            return []
        return [spec.origin] if spec is not None and spec.origin else []


def read_options(entries: Mapping[str, Field]) -> Dict[str, Any]:
    """Return the keyword arguments of a factory, from the key `options` of an entry."""
    if 'options' not in entries:
        return {}
    return {name: _plain(each.item) for name, each in entries['options'].mapping((), None).items()}


def _plain(item: Item) -> Any:
    """Return the value of an item as a Python type."""
    value = item.value
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return float(value) if isinstance(value, Number) else value


class ScenarioKind(Protocol):
    """Common interface of kinds of controllers and of plants.

    :param keys: keys of an entry besides the name of the kind
    :param example: example of its value
    """

    keys: Tuple[str, ...]
    example: Any


K = TypeVar('K', bound=ScenarioKind)


class Kinds(Generic[K]):
    """Kinds by name, each the object `KIND` of a file `<name>_<kind>.py`.

    :param kind: 'controller' or 'plant'
    :param package: package of the files
    """

    def __init__(self, kind: str, package: str):
        self._ending, self._package = f'_{kind}', package

    def names(self) -> List[str]:
        """Return the names of all kinds."""
        modules = pkgutil.iter_modules(import_module(self._package).__path__)
        ending = self._ending
        return sorted(x.name[: -len(ending)] for x in modules if x.name.endswith(ending))

    def __getitem__(self, name: str) -> K:
        """Return the kind of a name; import no other kind."""
        kind: K = import_module(f'{self._package}.{name}{self._ending}').KIND
        return kind

    def read(self, field: Field) -> Tuple[str, K, Dict[str, Field]]:
        """Return the name and kind of an entry, and its further entries.

        :raises ModelError: for none or several kinds, or keys of other kinds
        """
        names, given = self.names(), field.mapping((), None)
        found = [name for name in names if name in given]
        if len(found) != 1:
            field.mapping((), [*names, *(key for name in names for key in self[name].keys)])
            raise field.error(f'give one of {", ".join(names)}; got {len(found)} of them')
        name, kind = found[0], self[found[0]]
        for key in {*given} - {name, *kind.keys}:
            if others := [other for other in names if key in self[other].keys]:
                raise given[key].error(f'{key} is for {" and ".join(others)}; leave it out')
        return name, kind, field.mapping((name,), kind.keys)
