# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Models from other sources than URDF: connectivity graphs, assembly, DH tables (book ch. 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.textbook.models.connectivity_graph import (
        Arc,
        ConnectivityGraph,
        Numbering,
        SpanningTree,
    )
    from rbd_ros.textbook.models.frame_placement import with_frames_placed
    from rbd_ros.textbook.models.model_assembly import assemble, Connection, connectivity

__all__ = [
    'Arc',
    'Connection',
    'ConnectivityGraph',
    'Numbering',
    'SpanningTree',
    'assemble',
    'connectivity',
    'with_frames_placed',
]

__getattr__, __dir__ = lazy_names(__name__)
