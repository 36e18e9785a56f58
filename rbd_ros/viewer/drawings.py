# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Lines, balls and texts that a program adds to a live page."""

from __future__ import annotations

from typing import Any, Dict, List, Sequence

import numpy as np
from numpy.typing import ArrayLike

#: Default color of additions: red, green, blue from 0 to 1.
COLOR = (0.1, 0.46, 0.82)


class Drawings:
    """Lines, balls and texts by name: adding one again moves it.

    >>> from rbd_ros.viewer.drawings import Drawings
    >>> drawings = Drawings()
    >>> drawings.add_line('path', [[0, 0, 0], [0.5, 0, 0.2]])
    >>> drawings.add_text('goal', [0.5, 0, 0.2], 'goal')
    >>> len(drawings)
    2
    >>> drawings.remove('goal')
    """

    def __init__(self) -> None:
        self._items: Dict[str, Dict[str, Any]] = {}

    def __len__(self) -> int:
        return len(self._items)

    def add_line(self, name: str, points: ArrayLike, color: Sequence[float] = COLOR) -> None:
        """Add a line through points of the world.

        :param name: its name
        :param points: at least two, (N, 3) [m]
        :param color: red, green, blue from 0 to 1
        :raises ValueError: for a wrong shape, or numbers that are not finite

        >>> from rbd_ros.viewer.drawings import Drawings
        >>> drawings = Drawings()
        >>> drawings.add_line('path', [[0, 0, 0], [0.5, 0, 0.2]], color=(1, 0, 0))
        >>> drawings.items()[0]['color']
        [1.0, 0.0, 0.0]
        """
        line = np.asarray(points, dtype=float)
        if line.ndim != 2 or line.shape[1] != 3 or len(line) < 2:
            raise ValueError(f'points must have shape (N, 3) with N > 1, got {line.shape}')
        self._add(name, 'line', line, color)

    def add_ball(
        self, name: str, position: ArrayLike, radius: float, color: Sequence[float] = COLOR
    ) -> None:
        """Add a ball.

        :param name: its name
        :param position: its center in the world, (3,) [m]
        :param radius: its radius [m]
        :param color: red, green, blue from 0 to 1
        :raises ValueError: for a wrong shape, a radius that is not positive, or numbers that are
            not finite

        >>> from rbd_ros.viewer.drawings import Drawings
        >>> drawings = Drawings()
        >>> drawings.add_ball('goal', [0.5, 0, 0.2], radius=0.02)
        >>> drawings.items()[0]['radius']
        0.02
        """
        if not 0.0 < radius < np.inf:
            raise ValueError(f'radius must be positive, got {radius}')
        self._add(name, 'ball', _position(position), color, radius=float(radius))

    def add_text(
        self, name: str, position: ArrayLike, text: str, color: Sequence[float] = COLOR
    ) -> None:
        """Add a text, which is read from all sides.

        :param name: its name
        :param position: where its middle is in the world, (3,) [m]
        :param text: the text
        :param color: red, green, blue from 0 to 1
        :raises ValueError: for a wrong shape, or numbers that are not finite

        >>> from rbd_ros.viewer.drawings import Drawings
        >>> drawings = Drawings()
        >>> drawings.add_text('goal', [0.5, 0, 0.2], 'goal')
        >>> drawings.items()[0]['text']
        'goal'
        """
        self._add(name, 'text', _position(position), color, text=str(text))

    def remove(self, name: str) -> None:
        """Remove one.

        :raises KeyError: if there is none of that name

        >>> from rbd_ros.viewer.drawings import Drawings
        >>> drawings = Drawings()
        >>> drawings.add_text('goal', [0.5, 0, 0.2], 'goal')
        >>> drawings.remove('goal')
        >>> len(drawings)
        0
        """
        del self._items[name]

    def items(self) -> List[Dict[str, Any]]:
        """Return all of them as the page has them.

        >>> from rbd_ros.viewer.drawings import Drawings
        >>> Drawings().items()
        []
        """
        return list(self._items.values())

    def _add(self, name: str, kind: str, points: Any, color: Sequence[float], **more: Any) -> None:
        shade = np.asarray(color, dtype=float)
        if shade.shape != (3,) or not ((shade >= 0.0) & (shade <= 1.0)).all():
            raise ValueError(f'color must be three numbers from 0 to 1, got {color}')
        if not np.isfinite(points).all():
            raise ValueError(f'{kind} {name!r} must have finite coordinates')
        given = {'kind': kind, 'points': points.ravel().tolist(), 'color': shade.tolist(), **more}
        self._items[str(name)] = given


def _position(given: ArrayLike) -> Any:
    position = np.asarray(given, dtype=float)
    if position.shape != (3,):
        raise ValueError(f'position must have shape (3,), got {position.shape}')
    return position
