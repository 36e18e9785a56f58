# SPDX-License-Identifier: Apache-2.0
"""Poses of all links, one array with a name for each part of it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar, Dict, Iterator, Mapping, Tuple, Type

from rbd_ros.robot.compiled import Array


class LinkPoses(Mapping[str, Array]):
    """Pose of each link in the base frame by its name, (4, 4), or (N, 4, 4) for a batch.

    The poses are views of one array: `poses['tool0']` costs nothing that is not asked for.

    :param array: all poses, (links, 4, 4) or (N, links, 4, 4)
    """

    # One slot and nothing else: machine code makes these objects
    # (compiler/runtime/kernel_builtin.py).
    __slots__ = ('array',)
    _places: ClassVar[Dict[str, int]] = {}

    def __init__(self, array: Array):
        self.array = array

    def __getitem__(self, link: str) -> Array:
        pose: Array = self.array[..., self._places[link], :, :]
        return pose

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        return f'<LinkPoses of {len(self)} links, {self.array.shape}>'

    def __reduce__(self) -> Any:
        return _made, (tuple(self._places), self.array)


@lru_cache(maxsize=None)
def link_poses(links: Tuple[str, ...]) -> Type[LinkPoses]:
    """Return the class of the poses of these links."""
    places = {name: k for k, name in enumerate(links)}
    names = {'__slots__': (), '__module__': __name__, '_places': places}
    return type('LinkPoses', (LinkPoses,), names)


def _made(links: Tuple[str, ...], array: Array) -> LinkPoses:
    return link_poses(links)(array)
