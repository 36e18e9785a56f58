# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Parents of numbered bodies: which joints support which bodies (book 4.1.4)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import List, Tuple

from rbd_ros.model.errors import ModelError


@dataclass(frozen=True)
class ParentArray:
    """Parents of numbered bodies, and the derived sets (book 4.1.4).

    :param parents: lambda(1), lambda(2), ...: number of each body's parent, 0 for the base
    :raises ModelError: if a child precedes its parent

    >>> from rbd_ros.model.parent_array import ParentArray
    >>> tree = ParentArray((0, 1, 1, 3))  # 2 and 3 hang on 1, and 4 on 3
    >>> tree.supports[4], tree.children[1], tree.subtrees[3]
    ((1, 3, 4), (2, 3), (3, 4))
    >>> tree.depth, tree.is_supported_by(4, 2)
    (3, False)
    """

    parents: Tuple[int, ...]

    def __post_init__(self) -> None:
        """Check that the numbering is regular."""
        for i, parent in enumerate(self.parents, start=1):
            if not 0 <= parent < i:
                raise ModelError(f'body {i}: its parent must come before it, got number {parent}')

    def __len__(self) -> int:
        return len(self.parents)

    @cached_property
    def _masks(self) -> Tuple[int, ...]:
        """Supports as bit masks, including the base: bit j of mask i means that j supports i."""
        masks = [0]
        for i, parent in enumerate(self.parents, start=1):
            masks.append(masks[parent] | 1 << i)
        return tuple(masks)

    def is_supported_by(self, i: int, j: int) -> bool:
        """Return whether joint `j` is on the path from body `i` to the base (book eq 4.5)."""
        return bool(self._masks[i] >> j & 1)

    @cached_property
    def supports(self) -> Tuple[Tuple[int, ...], ...]:
        """Support kappa(i) of each body and of the base: joints between it and the base.

        In ascending order, from the base outward; kappa(0) is empty.
        """
        sets: List[Tuple[int, ...]] = [()]
        for i, parent in enumerate(self.parents, start=1):
            sets.append((*sets[parent], i))
        return tuple(sets)

    @cached_property
    def children(self) -> Tuple[Tuple[int, ...], ...]:
        """Children mu(i) of the base and of each body, in ascending order."""
        sets: List[List[int]] = [[] for _ in range(len(self.parents) + 1)]
        for i, parent in enumerate(self.parents, start=1):
            sets[parent].append(i)
        return tuple(map(tuple, sets))

    @cached_property
    def subtrees(self) -> Tuple[Tuple[int, ...], ...]:
        """Subtree nu(i) of the base and of each body, itself included, in ascending order."""
        sets: List[List[int]] = [[i] for i in range(len(self.parents) + 1)]
        for i in range(len(self.parents), 0, -1):
            parent = sets[self.parents[i - 1]]
            parent.extend(sets[i])
        return tuple(tuple(sorted(members)) for members in sets)

    @cached_property
    def depth(self) -> int:
        """Number of joints between the base and the furthest body."""
        return max(map(len, self.supports))
