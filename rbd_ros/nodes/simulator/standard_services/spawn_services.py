# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Services of `simulation_interfaces` for spawnables and named poses."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Iterator, List, Optional, Tuple

from geometry_msgs.msg import Vector3
import numpy as np

from rbd_ros.collision.shapes.bounding_boxes import bounding_box
from rbd_ros.lookup.worlds import ENDING
from rbd_ros.model.errors import unknown_name
from rbd_ros.model.urdf.mesh_paths import MeshPaths
from rbd_ros.nodes.messages.conversions import pose_from_floating_joint
from rbd_ros.nodes.messages.text import short_name
from rbd_ros.nodes.simulator.standard_services.entity_filters import finite_box, has_tags
from rbd_ros.nodes.simulator.standard_services.spawned_entities import spawnable
from rbd_ros.nodes.simulator.standard_services.standard_answers import (
    answering,
    Callback,
    FAILED,
    NOT_FOUND,
    RequestError,
)
from rbd_ros.world.named_poses import NamedPose
from rbd_ros.world.world import WorldObject

# Constants of the standard.
BOUNDS_EMPTY, BOUNDS_BOX = 0, 1

WITH_WORLD = ('NAMED_POSES', 'POSE_BOUNDS', 'SPAWNABLES')
ENDINGS = ('.urdf', '.yaml')
MAX_FILES = 200  # maximum number of files read from all folders


class SpawnServices:
    """Callbacks of the services.

    :param simulator: node with `world_interface` (None without a world), `changes` and
        `parameters`
    :param msg: message module of the package
    """

    def __init__(self, simulator: Any, msg: Any):
        self._simulator, self._msg = simulator, msg

    @property
    def services(self) -> Tuple[Tuple[str, str, Callback], ...]:
        """Type, name and callback of each service."""
        return (
            ('GetNamedPoses', 'get_named_poses', answering(self._poses)),
            ('GetNamedPoseBounds', 'get_named_pose_bounds', answering(self._pose_bounds)),
            ('GetSpawnables', 'get_spawnables', answering(self._spawnables)),
        )

    @property
    def features(self) -> Tuple[str, ...]:
        """Names of supported features: poses and spawning need a world."""
        return WITH_WORLD if self._simulator.world_interface is not None else ()

    # -- poses ------------------------------------------------------------------------------------

    @property
    def _named(self) -> Tuple[NamedPose, ...]:
        if self._simulator.world_interface is None:
            return ()
        poses: Tuple[NamedPose, ...] = self._simulator.changes.world.poses
        return poses

    def _poses(self, request: Any, response: Any) -> None:
        requested = getattr(request, 'tags', None)
        response.poses = [
            self._message(each)
            for each in self._named
            if requested is None or has_tags(each.tags, requested)
        ]

    def _message(self, named: NamedPose) -> Any:
        made = self._msg.NamedPose()
        made.name, made.description, made.tags = named.name, named.description, list(named.tags)
        q = np.array([*named.placement.quaternion(), *named.placement.r])
        made.pose = pose_from_floating_joint(q)
        return made

    def _pose_bounds(self, request: Any, response: Any) -> None:
        found = {each.name: each for each in self._named}
        if request.name not in found:
            text = unknown_name('pose', short_name(request.name), found)
            raise RequestError(NOT_FOUND, text)
        size = found[request.name].size
        box = None if size is None else np.outer([-0.5, 0.5], size)
        self._fill(response.bounds, box)

    @staticmethod
    def _fill(bounds: Any, box: Optional[np.ndarray]) -> None:
        """Write a box, (2, 3), into bounds: upper right corner first."""
        bounds.type = BOUNDS_EMPTY if box is None else BOUNDS_BOX
        corners = [] if box is None else [box[1], box[0]]
        bounds.points = [
            Vector3(x=x, y=y, z=z) for x, y, z in (corner.tolist() for corner in corners)
        ]

    # -- spawnables -------------------------------------------------------------------------------

    def _spawnables(self, request: Any, response: Any) -> None:
        parameters = self._simulator.parameters
        sources = list(getattr(request, 'sources', ())) or parameters['spawnables']
        found: List[Any] = []
        if self._simulator.world_interface is None:  # nothing can be spawned
            response.spawnables = found
            return
        for path, is_requested in self._files(sources):
            try:
                found.append(self._spawnable(path))
            except ValueError as error:
                if is_requested:
                    text = f'{path} cannot be spawned: {error}'
                    raise RequestError(FAILED, text) from None
        response.spawnables = found

    def _files(self, sources: List[str]) -> Iterator[Tuple[Path, bool]]:
        """Yield the spawnable files of sources, and whether the source names the file itself.

        :raises RequestError: for a source that does not exist
        """
        left = MAX_FILES
        for source in sources:
            path = self._path(source)
            if path.is_file():
                yield path, True
            elif path.is_dir():
                files = [p for p in sorted(path.iterdir()) if self._may_be(p)][:left]
                left -= len(files)
                yield from ((file, False) for file in files)
            else:
                text = f'there is no folder or file {short_name(source)!r}'
                raise RequestError(FAILED, text)

    def _path(self, source: str) -> Path:
        if '\0' in source:
            raise RequestError(FAILED, f'there is no folder or file {short_name(source)!r}')
        paths = MeshPaths(None, tuple(self._simulator.parameters['package_paths']))
        found = paths.resolve(source) or paths.folder(source)
        return Path(found or source.removeprefix('file://')).expanduser()

    @staticmethod
    def _may_be(path: Path) -> bool:
        return path.suffix in ENDINGS and not path.stem.endswith(ENDING) and path.is_file()

    def _spawnable(self, path: Path) -> Any:
        """Return the message about a file.

        :raises ValueError: if it cannot be spawned
        """
        paths = tuple(self._simulator.parameters['package_paths'])
        surface = self._simulator.changes.world.surface
        uri = f'file://{path.absolute()}'
        try:
            each = spawnable(uri, surface, paths)
        except RequestError as error:
            raise ValueError(str(error)) from None
        made = self._msg.Spawnable()
        if hasattr(made, 'entity_resource'):
            made.entity_resource.uri = uri
        else:
            made.uri = uri
        made.description = _described(path, each)
        if hasattr(made, 'spawn_bounds'):
            self._fill(made.spawn_bounds, finite_box((bounding_box(each.shape, each.pose),)))
        return made


def _described(path: Path, each: WorldObject) -> str:
    kind = type(each.shape).__name__.lower()
    return f'{path.stem}: {kind}, {"movable" if each.movable else "fixed"}'
