"""Poses of all links, one array with a name for each part of it."""

from __future__ import annotations

from typing import Any, Iterator, Mapping

from rbd_ros.robot.compiled import Array


class LinkPoses(Mapping[str, Array]):
    """Pose of each link in the base frame by its name, (4, 4), or (N, 4, 4) for a batch.

    The poses are views of one array: `poses['tool0']` costs nothing that is not asked for.

    :param array: all poses, (links, 4, 4) or (N, links, 4, 4)
    :param places: place of each link in it
    """

    __slots__ = ('array', '_places')

    def __init__(self, array: Array, places: Mapping[str, int]):
        self.array, self._places = array, places

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
        return type(self), (self.array, dict(self._places))
