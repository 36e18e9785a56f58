# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Errors about a robot's description.

Every message names the element, link or joint at fault and what to do about it.
"""

from __future__ import annotations

import difflib
from itertools import islice
from typing import Any, Iterable, List

#: Names that a message lists rather than the one that is hardly alike.
FEW = 8


class ModelError(ValueError):
    """A robot description that cannot become a model."""


class SingularMassMatrixError(ModelError):
    """The mass matrix is singular in all configurations; the message names the joints."""


def unknown_name(what: str, name: str, known: Iterable[str]) -> str:
    """Return the message about an unknown name, with similar names, or all if none is.

    :param what: kind of thing that has the name, such as 'link'
    :param known: known names
    """
    known = list(known)
    close = similar_names(name, known, 5, 0.6 if len(known) <= FEW else 0.4)
    hint = did_you_mean(map(repr, close)) or f'; there are {", ".join(known[:40])}'
    return f'unknown {what} {name!r}{hint}'


def similar_names(
    name: Any, known: Iterable[str], count: int = 3, likeness: float = 0.6
) -> List[str]:
    """Return the known names that are like one, most alike first; only beginnings are compared.

    :param count: maximum number of names
    :param likeness: least likeness, from 0 to 1
    """
    if not isinstance(name, str):
        return []
    beginnings = {each[:64]: each for each in islice(known, 1000)}
    close = difflib.get_close_matches(name[:64], beginnings, count, likeness)
    return [beginnings[each] for each in close]


def did_you_mean(names: Iterable[str]) -> str:
    """Return the end of a message that names what may be meant, '' if there is nothing."""
    text = ', '.join(names)
    return f'; did you mean {text}?' if text else ''
