# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Named poses in a world for spawning, picking or parking; they have no shape."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional, Tuple

from rbd_ros.spatial import PluckerTransform
from rbd_ros.spatial.linear3 import Vector3


@dataclass(frozen=True)
class NamedPose:
    """A pose with a name.

    :param placement: transform from world coordinates to those of the pose
    :param description: description for users
    :param tags: search words
    :param size: edges of the free box about the pose, along its axes [m]; None: not given

    >>> from rbd_ros.world import read_world
    >>> world = read_world({'poses': {'bin': {'xyz': [1, 0, 0.5], 'tags': ['place']}}})
    >>> world.poses[0].name, world.poses[0].placement.r
    ('bin', (1.0, 0.0, 0.5))
    """

    name: str
    placement: PluckerTransform = field(default_factory=PluckerTransform.identity)
    description: str = ''
    tags: Tuple[str, ...] = ()
    # As in the spawn points of simulation_interfaces (NamedPose, Bounds).
    size: Optional[Vector3] = None
