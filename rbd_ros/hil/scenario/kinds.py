# SPDX-License-Identifier: Apache-2.0
"""Kinds of controllers and plants that a scenario names: each is a file of a folder."""

from __future__ import annotations

from importlib import import_module
import pkgutil
from typing import Any, Dict, Generic, List, Protocol, Tuple, TypeVar

from rbd_ros.model.extension.fields import Field


class ScenarioKind(Protocol):
    """What is common to kinds of controllers and of plants.

    :param keys: keys of an entry beside the name of the kind
    :param example: what may stand under that name
    """

    keys: Tuple[str, ...]
    example: Any


K = TypeVar('K', bound=ScenarioKind)


class Kinds(Generic[K]):
    """Kinds of one thing by name, each the object `KIND` of a file `<name>_<thing>.py`.

    :param thing: what they are kinds of
    :param package: package that the files are in
    """

    def __init__(self, thing: str, package: str):
        self._ending, self._package = f'_{thing}', package

    def names(self) -> List[str]:
        """Return the names of all kinds."""
        modules = pkgutil.iter_modules(import_module(self._package).__path__)
        ending = self._ending
        return sorted(x.name[: -len(ending)] for x in modules if x.name.endswith(ending))

    def __getitem__(self, name: str) -> K:
        """Return the kind of a name; no file of another one is imported."""
        kind: K = import_module(f'{self._package}.{name}{self._ending}').KIND
        return kind

    def read(self, field: Field) -> Tuple[str, K, Dict[str, Field]]:
        """Return the kind that an entry is of, its name, and what else the entry says.

        :raises ModelError: for none or several of them, or keys of other kinds
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
