# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Errors in a robot's description.

Every message names the element, link or joint, and the cure.
"""

from __future__ import annotations

import difflib
from itertools import islice
from typing import Any, Iterable, List

#: Maximum number of names that are all listed instead of similar ones.
FEW = 8


class ModelError(ValueError):
    """A robot description that cannot be converted to a model."""


class SingularMassMatrixError(ModelError):
    """The mass matrix is singular in all configurations; the message names the joints."""


def unknown_name(what: str, name: str, known: Iterable[str]) -> str:
    """Return the message about an unknown name, with similar names, or all if there are none.

    :param what: kind of the named element, such as 'link'
    :param known: known names
    """
    known = list(known)
    close = similar_names(name, known, 5, 0.6 if len(known) <= FEW else 0.4)
    hint = did_you_mean(map(repr, close)) or f'; there are {", ".join(known[:40])}'
    return f'unknown {what} {name!r}{hint}'


def similar_names(
    name: Any, known: Iterable[str], count: int = 3, likeness: float = 0.6
) -> List[str]:
    """Return similar known names, most similar first; only prefixes are compared.

    :param count: maximum number of names
    :param likeness: minimum similarity, from 0 to 1
    """
    if not isinstance(name, str):
        return []
    beginnings = {each[:64]: each for each in islice(known, 1000)}
    close = difflib.get_close_matches(name[:64], beginnings, count, likeness)
    return [beginnings[each] for each in close]


def did_you_mean(names: Iterable[str]) -> str:
    """Return the end of a message that suggests names, '' without names."""
    text = ', '.join(names)
    return f'; did you mean {text}?' if text else ''
