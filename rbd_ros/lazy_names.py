# SPDX-License-Identifier: Apache-2.0
"""Names of a package that are imported when they are first asked for (PEP 562).

A process that needs three of a package's names does not wait for the files of the other thirty.
"""

from __future__ import annotations

from importlib import import_module
import sys
from typing import Any, Callable, List, Mapping, Tuple


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> Tuple[Callable[[str], Any], Callable[[], List[str]]]:
    """Return the functions `__getattr__` and `__dir__` of a package.

    :param package: name of the package
    :param homes: module that defines each public name, by the name

    >>> from rbd_ros.lazy_names import lazy_names
    >>> __getattr__, __dir__ = lazy_names('json', {'JSONDecoder': 'json.decoder'})
    >>> __getattr__('JSONDecoder').__module__
    'json.decoder'
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f'module {package!r} has no attribute {name!r}')
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)  # asked for once
        return value

    def names() -> List[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return get, names
