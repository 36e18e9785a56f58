# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Errors about a robot's description.

Every message names the element, link or joint at fault and what to do about it.
"""

from __future__ import annotations

import difflib
from typing import Iterable, List, Optional


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
    close: Optional[List[str]] = (
        difflib.get_close_matches(name, known, 5, 0.4) if isinstance(name, str) else None
    )
    hint = (
        f'; did you mean {", ".join(map(repr, close))}?'
        if close
        else f'; there are {", ".join(known[:40])}'
    )
    return f'unknown {what} {name!r}{hint}'
